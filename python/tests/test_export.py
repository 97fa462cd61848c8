"""Models in other forms, run where they go: Python, SQLite, DuckDB, PostgreSQL, ONNX Runtime."""

import csv
import io
import json
import math
import os
import pathlib
import re
import sqlite3
import subprocess
import sys

import numpy as np
import pandas
import pytest
from postgres import open_server
from ubauc import UBAUCClassifier

TABLES = {
    "adult": ["--label", "classification"],
    "bank_additional": ["--label", "y", "--ignore", "duration"],
    "taiwan_default": ["--label", "default.payment.next.month"],
    "give_me_some_credit": ["--label", "SeriousDlqin2yrs"],
    "amazon_employee_access": ["--label", "ACTION", "--positive", "0", "--categorical", "all"],
}
LOGISTIC = ["--beta", "0", "--softness", "1", "--gamma", "1e-3", "--class-weight", "none"]
# Separators of the shared tables; quotes and what stands for a missing value are the same.
MISSING = {"", "NA", "N/A", "NaN", "null", "None", "?", "<NA>", "#N/A"}


def rows_of(path):
    """A CSV file as dicts of texts, None where missing."""
    text = path.read_text()
    separator = max(",;", key=text.split("\n", 1)[0].count)
    rows = csv.reader(io.StringIO(text), delimiter=separator)
    names = next(rows)
    names = [name or f"column_{at}" for at, name in enumerate(names, 1)]
    value = lambda text: None if text.strip() in MISSING else text.strip()  # noqa: E731
    return [dict(zip(names, map(value, row), strict=True)) for row in rows]


@pytest.fixture(scope="module")
def postgres():
    with open_server() as server:
        yield server


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A table with everything: gaps, quotes in names and levels, a boolean, rare levels."""
    folder = tmp_path_factory.mktemp("made")
    random = np.random.default_rng(3)
    n = 900
    age = random.integers(18, 80, n)
    income = np.round(random.lognormal(3, 1, n), 2)
    city = random.choice(["Bern", "Zürich", "L'Aquila", 'say "hi"', "a,b", "rare one"], n)
    city[:5] = [f"only {i}" for i in range(5)]
    vip = random.choice(["true", "false"], n)
    logit = (age > 40) * (city == "Bern") * 2 - (income > 30) + (vip == "true") - 0.3
    y = np.where(random.random(n) < 1 / (1 + np.exp(-logit)), "yes", "no")
    frame = pandas.DataFrame({'the "age"': age, "income": income, "city; of": city, "vip": vip})
    frame["y"] = y
    frame.loc[random.random(n) < 0.1, "income"] = np.nan
    frame.loc[random.random(n) < 0.1, "city; of"] = None
    frame[:700].to_csv(folder / "train.csv", index=False)
    frame[700:].to_csv(folder / "test.csv", index=False)
    return folder


def trained(program, folder, kind, *options, pairs=3):
    model = folder / f"{kind}.json"
    how = ["--features", kind, *(["--pairs", pairs] if kind == "pairs" else [])]
    label = options or ("--label", "y")
    program("train", folder / "train.csv", *label, *how, *LOGISTIC, "--model", model, "--quiet")
    return model


def scores_of(program, model, rows):
    return np.array(program("predict", "--model", model, rows).split()[1:], float)


def exported(program, model, target):
    path = model.with_suffix({"python": ".py", "onnx": ".onnx"}.get(target, f".{target}"))
    report = json.loads(program("export", model, "--to", target, "-o", path, "--json"))
    assert report["self_test_rows"] >= 3 and report["bytes"] == path.stat().st_size
    return path


def by_python(path, rows):
    done = subprocess.run(
        [sys.executable, "-I", path, rows], capture_output=True, text=True, check=True
    )
    found = list(csv.DictReader(io.StringIO(done.stdout)))
    return np.array([float(row["score"]) for row in found]), [row["class"] for row in found]


def split_sql(path):
    """The query, and that of the self-test."""
    lines = path.read_text().splitlines()
    test = "\n".join(line[4:] for line in lines if line.startswith("--| "))
    return "\n".join(line for line in lines if not line.startswith("--")), test


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def number(text):
    try:
        return float(text)
    except (TypeError, ValueError):
        return None


def as_columns(rows):
    """Columns of numbers as such where all values are, others as texts."""
    columns = {}
    for name in rows[0]:
        values = [row[name] for row in rows]
        spelled = [number(value) for value in values]
        is_number = all(
            x is not None for x, v in zip(spelled, values, strict=True) if v is not None
        )
        if is_number and all(x is not None and x == int(x) for x in spelled):
            spelled = list(map(int, spelled))
        columns[name] = spelled if is_number else values
    return columns


def by_sqlite(path, rows):
    connection = sqlite3.connect(":memory:")
    names = list(rows[0])
    connection.execute(f"CREATE TABLE rows ({', '.join(map(quoted, names))})")
    marks = ", ".join("?" * len(names))
    values = [tuple(row.values()) for row in rows]
    connection.executemany(f"INSERT INTO rows VALUES ({marks})", values)
    query, test = split_sql(path)
    (wrong,) = connection.execute(test).fetchone()
    assert wrong == 0
    cursor = connection.execute(query)
    at = [column[0] for column in cursor.description].index("score")
    return np.array([row[at] for row in cursor])


def by_duckdb(path, rows):
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    frame = pandas.DataFrame(as_columns(rows))
    connection.register("rows", frame)
    query, test = split_sql(path)
    (wrong,) = connection.execute(test).fetchone()
    assert wrong == 0
    return connection.execute(query).df()["score"].to_numpy()


def by_postgres(server, path, rows):
    # A table has no order: a short row may go where a long one had no room.
    server.load("rows", as_columns(rows) | {"row number": list(range(len(rows)))})
    query, test = split_sql(path)
    ((wrong,),) = (row.values() for row in server.run(test))
    assert wrong == "0"
    found = sorted(server.run(query), key=lambda row: int(row["row number"]))
    return np.array([float(row["score"]) for row in found])


def by_onnx(path, columns):
    runtime = pytest.importorskip("onnxruntime")
    session = runtime.InferenceSession(path, providers=["CPUExecutionProvider"])
    run = lambda columns: run_session(session, columns)  # noqa: E731
    test = json.loads(session.get_modelmeta().custom_metadata_map["self_test"])
    own = {name: [row[at] for row in test["rows"]] for at, name in enumerate(test["columns"])}
    if own:
        np.testing.assert_allclose(run(own), test["scores"], rtol=1e-9, atol=1e-9)
    return run(columns)


def run_session(session, columns):
    feed = {}
    for wanted in session.get_inputs():
        values = columns[wanted.name]
        if "string" in wanted.type:
            texts = ["" if v is None else text_of(v) for v in values]
            feed[wanted.name] = np.array(texts, object)[:, None]
        else:
            numbers = [math.nan if v is None else float(v) for v in values]
            feed[wanted.name] = np.array(numbers)[:, None]
    return session.run(["score"], feed)[0][:, 0]


def text_of(value):
    return f"{value:g}" if isinstance(value, float) else str(value)


@pytest.mark.parametrize("kind", ["linear", "additive", "pairs"])
def test_every_form_has_the_scores_of_the_model(program, made, kind):
    model = trained(program, made, kind)
    expected = scores_of(program, model, made / "test.csv")
    rows = rows_of(made / "test.csv")
    found, classes = by_python(exported(program, model, "python"), made / "test.csv")
    assert found.tolist() == expected.tolist()
    predicted = program("predict", "--model", model, made / "test.csv", "--classes")
    assert classes == [line.split(",")[1] for line in predicted.split()[1:]]
    sql = exported(program, model, "sql")
    np.testing.assert_allclose(by_sqlite(sql, rows), expected, rtol=0, atol=1e-9)
    np.testing.assert_allclose(by_duckdb(sql, rows), expected, rtol=0, atol=1e-9)
    found = by_onnx(exported(program, model, "onnx"), as_columns(rows))
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("kind", ["linear", "additive", "pairs"])
def test_postgresql_has_the_scores_of_the_model(program, made, postgres, kind):
    model = trained(program, made, kind)
    expected = scores_of(program, model, made / "test.csv")
    rows = rows_of(made / "test.csv")
    # Blanks and tabs around a text are none of it.
    for row in rows[::3]:
        if row["city; of"] is not None:
            row["city; of"] = f" \t{row['city; of']}\t"
    sql = exported(program, model, "sql")
    for found in (by_postgres(postgres, sql, rows), by_sqlite(sql, rows), by_duckdb(sql, rows)):
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)


@pytest.fixture(scope="module", params=TABLES)
def shared_table(program, tmp_path_factory, request):
    """A model with pairs of a part of a table, a file of other rows, the rows and their scores."""
    name = request.param
    data = os.environ.get("UBAUC_DATA")
    if not data:
        pytest.skip("SKIPPED: UBAUC_DATA is not set")
    source = pathlib.Path(data) / "tables" / f"{name}.csv.zst"
    folder, label = tmp_path_factory.mktemp(name), TABLES[name]
    # Thousands of levels make long queries, which take their time to be planned.
    has_many = name == "amazon_employee_access"
    share, stratify = "0.97" if has_many else "0.9", ["--stratify", label[1]]
    program("data", "split", source, "--test-share", share, *stratify, "--output-train",
            folder / "train.csv", "--output-test", folder / "rest.csv")  # fmt: skip
    with open(folder / "rest.csv") as rest, open(folder / "test.csv", "w") as test:
        test.writelines(line for _, line in zip(range(501), rest, strict=False))
    model = trained(program, folder, "pairs", *label, pairs=1 if has_many else 3)
    expected = scores_of(program, model, folder / "test.csv")
    return model, folder / "test.csv", rows_of(folder / "test.csv"), expected


def test_the_shared_tables_in_postgresql(program, postgres, shared_table):
    model, _, rows, expected = shared_table
    found = by_postgres(postgres, exported(program, model, "sql"), rows)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)


def test_the_shared_tables(program, shared_table):
    model, test, rows, expected = shared_table
    found, _ = by_python(exported(program, model, "python"), test)
    assert found.tolist() == expected.tolist()
    sql = exported(program, model, "sql")
    np.testing.assert_allclose(by_sqlite(sql, rows), expected, rtol=0, atol=1e-9)
    np.testing.assert_allclose(by_duckdb(sql, rows), expected, rtol=0, atol=1e-9)
    found = by_onnx(exported(program, model, "onnx"), as_columns(rows))
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)


def test_infinity_is_a_level_like_others(program, made):
    model = trained(program, made, "linear")
    path = exported(program, model, "python")
    code = (
        "import runpy, sys; of = runpy.run_path(sys.argv[1])['score'];"
        "row = {'the \\\"age\\\"': 30};"
        "print(of(row | {'city; of': float('inf')}) == of(row | {'city; of': 'never seen'}))"
    )
    done = subprocess.run([sys.executable, "-I", "-c", code, path], capture_output=True, text=True)
    assert done.stdout == "True\n", done.stderr


def test_times_go_to_python_alone(program, tmp_path):
    random = np.random.default_rng(5)
    seconds = random.integers(1_300_000_000, 1_400_000_000, 400)
    when = pandas.to_datetime(seconds, unit="s")
    y = (when.hour > 12).astype(int) ^ (random.random(400) < 0.1)
    frame = pandas.DataFrame({"when": when.strftime("%d/%m/%Y %H:%M"), "y": y})
    frame.loc[::17, "when"] = ""
    frame[:300].to_csv(tmp_path / "train.csv", index=False)
    frame[300:].to_csv(tmp_path / "test.csv", index=False)
    model = trained(program, tmp_path, "additive")
    path = exported(program, model, "python")
    expected = scores_of(program, model, tmp_path / "test.csv")
    assert by_python(path, tmp_path / "test.csv")[0].tolist() == expected.tolist()
    done = subprocess.run([sys.executable, "-I", path, "--self-test"], capture_output=True)
    assert done.returncode == 0, done.stderr
    binary = pathlib.Path(os.environ.get("UBAUC_BIN", ROOT / "target/debug/ubauc"))
    for target in ("sql", "onnx", "liblinear"):
        out = tmp_path / "out"
        command = [binary, "export", model, "--to", target, "-o", out]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 1 and not out.exists()
        assert re.search(f"cannot be exported to {target}: ", done.stderr), done.stderr


ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_a_linear_model_of_numbers_is_one_of_liblinear(program, tmp_path):
    program("data", "generate", "--rows", "300", "--dim", "6", "--output", tmp_path / "x.svm")
    model = tmp_path / "x.json"
    program("train", tmp_path / "x.svm", "--beta", ".5", "--gamma", "1e-3", "--model", model)
    lines = exported(program, model, "liblinear").read_text().splitlines()
    head = dict(line.split(" ", 1) for line in lines[:5])
    assert head["nr_class"] == "2" and head["label"] == "1 -1" and head["bias"] == "1"
    start, width = lines.index("w") + 1, int(head["nr_feature"])
    weights = np.array(lines[start : start + width + 1], float)
    rows = [line.split() for line in (tmp_path / "x.svm").read_text().splitlines()]

    def decision(pairs):
        entries = (pair.split(":") for pair in pairs)
        return weights[-1] + sum(weights[int(j) - 1] * float(x) for j, x in entries)

    found = np.array([decision(row[1:]) for row in rows])
    threshold = json.loads(model.read_text())["threshold"]
    expected = scores_of(program, model, tmp_path / "x.svm") - threshold
    np.testing.assert_allclose(found, expected, atol=1e-12)
    tests = [line[2:].split() for line in lines if re.match(r"# -?\d", line)]
    assert len(tests) > 3
    for value, *pairs in tests:
        assert abs(decision(pairs) - float(value)) < 1e-9 * max(1, abs(float(value)))
    found, _ = by_python(exported(program, model, "python"), as_csv(rows, tmp_path))
    np.testing.assert_array_equal(found, expected + threshold)


def as_csv(rows, folder):
    names = [str(j) for j in range(1, 7)]
    with open(folder / "x.csv", "w") as file:
        file.write(",".join(names) + "\n")
        for _, *pairs in rows:
            values = dict(pair.split(":") for pair in pairs)
            file.write(",".join(values.get(name, "") for name in names) + "\n")
    return folder / "x.csv"


def test_the_package_exports_what_it_has_learned(made):
    train, test = (pandas.read_csv(made / f"{part}.csv") for part in ("train", "test"))
    model = UBAUCClassifier(features="additive", beta=0.0, softness=1.0, gamma=1e-3)
    model.fit(train.drop(columns="y"), train["y"])
    model.export(made / "own.py", to="python")
    found, classes = by_python(made / "own.py", made / "test.csv")
    rows = test.drop(columns="y")
    assert found.tolist() == model.decision_function(rows).tolist()
    assert classes == model.predict(rows).tolist()
    model.export(made / "own.sql", to="sql", table="people")
    assert '"people"' in (made / "own.sql").read_text()
    with pytest.raises(ValueError, match="must be one of python, sql, onnx, liblinear"):
        model.export(made / "own.txt", to="pmml")
    with pytest.raises(ValueError, match="cannot be exported to liblinear"):
        model.export(made / "own.txt", to="liblinear")
    assert not (made / "own.txt").exists()


def test_points_add_up_to_the_log_odds(program, made):
    model = trained(program, made, "additive")
    points = "pdo=20,odds=50,base=600"
    card = json.loads(program("export", model, "--points", points, "--json"))
    text = program("export", model, "--points", points)
    assert "600 for odds of 50 to 1 against the positive class" in text
    scores = scores_of(program, model, made / "test.csv")
    threshold = json.loads(model.read_text())["threshold"]
    # The scores of logistic regression are log-odds of the positive class.
    log_odds = scores - threshold
    expected = 600 + 20 / math.log(2) * (-log_odds - math.log(50))
    found = [points_of(card, row) for row in rows_of(made / "test.csv")]
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_points_of_weighted_and_balanced_classes(program, made, tmp_path):
    """A weight of 3 is three rows: the same model, and the same points."""
    frame = pandas.read_csv(made / "train.csv")
    frame["w"] = np.where(frame["y"] == "yes", 3, 1)
    frame.to_csv(tmp_path / "weighted.csv", index=False)
    repeated = frame.loc[frame.index.repeat(frame["w"])].drop(columns="w")
    repeated.to_csv(tmp_path / "repeated.csv", index=False)
    loss = [*LOGISTIC[:-1], "balanced", "--features", "linear", "--label", "y", "--quiet"]
    cards = []
    for name, more in (("weighted", ["--weight", "w"]), ("repeated", [])):
        model = tmp_path / f"{name}.json"
        program("train", tmp_path / f"{name}.csv", *loss, *more, "--model", model)
        points = ["--points", "pdo=20,odds=50,base=600", "--json"]
        cards.append(json.loads(program("export", model, *points)))
    assert abs(cards[0]["base_points"] - cards[1]["base_points"]) < 0.2


def points_of(card, row):
    total = card["base_points"]
    for term in card["terms"]:
        value = row[term["name"]]
        x = number(value)
        is_number = "slope" in term
        if is_number and x is not None:
            total += term["slope"]["points"] * (x - term["slope"]["from"])
        inside = [c for c in term["cells"] if holds(c["names"][0], term["name"], value, is_number)]
        other = [c for c in term["cells"] if c["names"][0] == f"{term['name']}=(rare)"]
        if not inside and not is_number and value is not None:
            inside = other
        total += inside[0]["points"] if inside else term["outside"]
    return total


def holds(name, column, value, is_number):
    """Whether a value is in a cell of this name."""
    if value is None:
        return name in (f"{column} is missing", f"{column}=(missing)")
    if not is_number:
        return name == f"{column}={value}"
    found = re.fullmatch(rf"(?:(\S+) <= )?{re.escape(column)}(?: < (\S+))?", name)
    if not found:
        return False
    low, high = found.groups()
    x = float(value)
    return (low is None or float(low) <= x) and (high is None or x < float(high))
