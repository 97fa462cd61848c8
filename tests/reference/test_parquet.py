"""Parquet files as pyarrow and polars write them, beside the same table as CSV.

Every column holds the same values in both: a model learned from one scores the other to the last
bit, and the models have the same map.
"""

import datetime
import decimal
import json
import math
import subprocess

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
pl = pytest.importorskip("polars")

ROWS = 400


def columns():
    """Values with gaps, as Python has them."""
    random = np.random.default_rng(7)
    day = datetime.date(2024, 1, 1)
    moment = datetime.datetime(2024, 1, 1, 6, 30)

    def gaps(values, every):
        return [None if i % every == 3 else value for i, value in enumerate(values)]

    n = range(ROWS)
    number = random.normal(size=ROWS).round(6).tolist()
    city = [["Bern", "Zürich", "Lausanne, VD", 'the "old" town'][i * 7 % 4] for i in n]
    return {
        "number": gaps(number, 11),
        "whole": [i * 37 % 101 for i in n],
        "small": gaps([i % 5 for i in n], 13),
        "price": gaps([decimal.Decimal(i * 129 % 10007) / 100 for i in n], 17),
        "city": gaps(city, 7),
        "vip": gaps([i % 3 == 0 for i in n], 19),
        "since": gaps([day + datetime.timedelta(days=i * 13 % 700) for i in n], 23),
        "seen": gaps([moment + datetime.timedelta(minutes=i * 977) for i in n], 29),
        "label": [int(x + (c == "Bern") > 0.4) for x, c in zip(number, city, strict=True)],
    }


def csv_text(table):
    """As a person would write it."""

    def field(value):
        if value is None:
            return ""
        if isinstance(value, bool):
            return "true" if value else "false"
        text = repr(value) if isinstance(value, float) else str(value)
        return '"' + text.replace('"', '""') + '"' if set(text) & set(',"') else text

    lines = [",".join(table)]
    lines += [",".join(map(field, row)) for row in zip(*table.values(), strict=True)]
    return "\n".join(lines) + "\n"


def arrow(table, **types):
    known = {
        "small": pa.int8(),
        "price": pa.decimal128(9, 2),
        "since": pa.date32(),
        "seen": pa.timestamp("us"),
        **types,
    }
    arrays = {name: pa.array(values, type=known.get(name)) for name, values in table.items()}
    return pa.table(arrays)


def writers():
    """Name, and how a table is written to a path."""

    def by_pyarrow(types, **options):
        return lambda table, path: pq.write_table(arrow(table, **types), path, **options)

    dictionary = pa.dictionary(pa.int16(), pa.string())
    narrow = {"since": pa.date64(), "price": pa.decimal128(30, 2), "small": pa.uint16()}
    zoned = {"seen": pa.timestamp("ms", tz="UTC"), "city": pa.large_string()}
    yield "pyarrow", by_pyarrow({})
    yield "pyarrow dictionary", by_pyarrow({"city": dictionary}, row_group_size=90)
    yield "pyarrow plain pages", by_pyarrow(narrow, use_dictionary=False, compression="zstd")
    yield "pyarrow version 1", by_pyarrow(zoned, version="1.0", compression="gzip")
    yield "pyarrow data pages 2", by_pyarrow({}, data_page_version="2.0", compression="snappy")

    def by_polars(categorical):
        def write(table, path):
            frame = pl.DataFrame(table, schema_overrides={"price": pl.Decimal(9, 2)})
            if categorical:
                frame = frame.with_columns(pl.col("city").cast(pl.Categorical))
            frame.write_parquet(path)

        return write

    yield "polars", by_polars(categorical=False)
    yield "polars categorical", by_polars(categorical=True)


@pytest.fixture
def program(binary, tmp_path):
    def run(*words):
        done = subprocess.run(
            [binary, *map(str, words), "--quiet"], cwd=tmp_path, capture_output=True, text=True
        )
        if "no Parquet reader" in done.stderr:
            pytest.skip("the program is built without Parquet")
        assert done.returncode == 0, f"{words}: {done.stderr}"
        return done.stdout

    return run


@pytest.mark.parametrize("name, write", list(writers()), ids=lambda x: x if type(x) is str else "")
def test_the_same_values_have_the_same_scores(name, write, program, tmp_path):
    table = columns()
    (tmp_path / "x.csv").write_text(csv_text(table))
    write(table, tmp_path / "x.parquet")
    kinds = {}
    for file in ("x.csv", "x.parquet"):
        given = ["--beta", "0.5", "--gamma", "0.01"]
        program("train", file, *given, "--model", f"{file}.json")
        shown = json.loads(program("data", "show", file, "--json"))
        kinds[file] = {c["name"]: (c["kind"], c["missing"]) for c in shown["columns"]}
    assert kinds["x.csv"] == kinds["x.parquet"]
    models = [json.loads((tmp_path / f"{f}.json").read_text()) for f in ("x.csv", "x.parquet")]
    assert models[0]["features"] == models[1]["features"]
    assert models[0]["weights"] == models[1]["weights"]
    scores = [
        program("predict", file, "--model", "x.csv.json").split() for file in ("x.csv", "x.parquet")
    ]
    assert len(scores[0]) == ROWS + 1
    assert scores[0] == scores[1]
    assert all(math.isfinite(float(score)) for score in scores[0][1:])
