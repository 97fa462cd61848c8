"""Tables with strings and missing values: from a file to the rows of the solver, beside others.

Two tables of $UBAUC_DATA/tables, each repeated to about 200 MB of CSV. Every time and every peak
of memory is that of a process of its own, with two threads.
"""

import json
import os
import pathlib
import subprocess
import sys

from measure import CACHE, ROOT, measure, measure_text, seconds, table

# File, and the column of labels.
TABLES = [("give_me_some_credit", "SeriousDlqin2yrs"), ("adult", "classification")]
BYTES = 200_000_000
REPEATS = 3

PANDAS = """
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.preprocessing import OneHotEncoder, StandardScaler

def work(path, label):
    frame = pd.read_csv(path, na_values="?").drop(columns=label)
    numbers = list(frame.select_dtypes("number"))
    texts = [name for name in frame if name not in numbers]
    one_hot = OneHotEncoder(min_frequency=3, handle_unknown="infrequent_if_exist")
    columns = [("numbers", StandardScaler(), numbers), ("texts", one_hot, texts)]
    return ColumnTransformer(columns).fit_transform(frame)
"""
POLARS = """
import polars as pl

def work(path, label):
    return pl.read_csv(path, null_values=["NA", "?"])
"""
CHILD = """
import json, resource, sys, time
start = time.perf_counter()
work(sys.argv[1], sys.argv[2])
took = time.perf_counter() - start
print(json.dumps([took, 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss]))
"""


def bench_tables():
    """Reading, recognising and mapping a table, and the scores of a file by a saved model."""
    subprocess.run("cargo build -q --release -p ubauc-cli".split(), cwd=ROOT, check=True)
    rows = []
    for name, label in TABLES:
        path = repeated(name)
        size = path.stat().st_size
        ours = [measure("table", path, label, 1, threads=2) for _ in range(REPEATS)]
        took = min(run["seconds"][0] for run in ours)
        peak = max(run["peak_bytes"] for run in ours)
        others = [python(work, path, label) for work in (PANDAS, POLARS)]
        (pandas, pandas_peak), (polars, polars_peak) = others
        scored, scoring_peak = predicted(path, name, label)
        rows.append(
            [
                f"{name}, {size / 1e6:.0f} MB",
                seconds(took),
                seconds(pandas),
                seconds(polars),
                f"{took / pandas:.2f}",
                f"{took / polars:.2f}",
                " / ".join(f"{p / 1e6:,.0f}" for p in (peak, pandas_peak, polars_peak)),
                f"{size / 1e6 / scored:.0f} MB/s, {scoring_peak / 1e6:,.0f} MB",
            ]
        )
        path.unlink()
    head = [
        "table",
        "ours",
        "pandas + scikit-learn",
        "polars, reading alone",
        "ours / pandas",
        "ours / polars",
        "peak memory, MB",
        "`predict`",
    ]
    return table(head, rows)


def repeated(name):
    """A table whose rows are repeated."""
    once = CACHE / f"{name}.csv"
    source = pathlib.Path(os.environ["UBAUC_DATA"]) / "tables" / f"{name}.csv.zst"
    measure_text("plain", source, once)
    header, rows = once.read_bytes().split(b"\n", 1)
    rows = rows if rows.endswith(b"\n") else rows + b"\n"
    path = CACHE / f"{name}-repeated.csv"
    with path.open("wb") as file:
        file.write(header + b"\n")
        for _ in range(-(-BYTES // len(rows))):
            file.write(rows)
    return path


def python(work, path, label):
    """The shortest time of several processes, and their largest peak of memory."""
    threads = {"OMP_NUM_THREADS": "2", "POLARS_MAX_THREADS": "2"}
    command = [sys.executable, "-W", "ignore", "-c", work + CHILD, path, label]
    runs = []
    for _ in range(REPEATS):
        done = subprocess.run(
            command, env={**os.environ, **threads}, check=True, capture_output=True
        )
        runs.append(json.loads(done.stdout))
    return min(took for took, _ in runs), max(peak for _, peak in runs)


def predicted(path, name, label):
    """Seconds of `ubauc predict` on the long file by a model of the short one, and its peak."""
    program = ROOT / "target" / "release" / "ubauc"
    model, scores = CACHE / f"{name}.json", CACHE / "scores.csv"
    train = ["train", CACHE / f"{name}.csv", "--label", label, "--model", model, "--quiet"]
    train += ["--beta", "0.5", "--gamma", "1e-4"]
    subprocess.run([program, *train], check=True, stdout=subprocess.DEVNULL)
    words = [program, "predict", path, "--model", model, "--output", scores, "--quiet"]
    child = (
        "import json, resource, subprocess, sys, time; start = time.perf_counter(); "
        "subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL); "
        "took = time.perf_counter() - start; "
        "print(json.dumps([took, 1024 * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss]))"
    )
    runs = []
    for _ in range(REPEATS):
        command = [sys.executable, "-c", child, *map(str, words)]
        env = {**os.environ, "RAYON_NUM_THREADS": "2"}
        done = subprocess.run(command, env=env, check=True, capture_output=True)
        runs.append(json.loads(done.stdout))
    scores.unlink()
    return min(took for took, _ in runs), max(peak for _, peak in runs)
