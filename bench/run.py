"""Speed of ubauc beside that of others: ours, theirs and the ratio, from one run on one machine.

    make bench                                    print the tables
    .venv/bin/python bench/run.py --write         and put them into docs/

Each time is the best of several runs of the same work on the same data, both sides in turn.
Absolute times mean little on a shared machine; ratios of one run mean more.
"""

import argparse
import os
import pathlib
import platform
import time
import warnings

import numpy as np
import sklearn
from cluster import bench_dask
from glass import (
    bench_glass,
    bench_glass_fit,
    bench_glass_numbers,
    bench_glass_rows,
    bench_glass_scores,
)
from measure import CACHE, ROOT, best, measure, measure_text, seconds, svmlight_text, table
from online import bench_endless, bench_online, bench_stream
from package import bench_python
from report import bench_report
from scale import bench_scale
from sklearn.datasets import load_svmlight_file
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV
from soft import bench_good, bench_memory, bench_search, bench_soft, bench_start
from tables import bench_tables
from threadpoolctl import threadpool_limits

DOCS = ROOT / "docs"


def bench_auc():
    """AUC with the DeLong interval against roc_auc_score, which has none."""
    rows = []
    for n in [10**5, 10**6, 10**7]:
        rng = np.random.default_rng(n)
        positive = rng.random(n) < 0.1
        scores = rng.normal(size=n) + positive
        scores_file, labels_file = CACHE / f"scores{n}.f64", CACHE / f"labels{n}.u8"
        scores.tofile(scores_file)
        positive.astype(np.uint8).tofile(labels_file)
        repeats = 5 if n < 10**7 else 3
        theirs, auc = best(repeats, roc_auc_score, positive, scores)
        two = measure("auc", scores_file, labels_file, 5)
        one = measure("auc", scores_file, labels_file, 5, threads=1)
        for ours in (one, two):
            assert abs(ours["answer"] - auc) < 1e-9, (ours["answer"], auc)
        both, single = min(two["seconds"]), min(one["seconds"])
        rows.append(
            [
                f"{n:,}",
                seconds(both),
                seconds(single),
                seconds(theirs),
                f"{theirs / both:.1f}×",
                f"{theirs / single:.1f}×",
                f"{both / n * 1e9:.1f} ns",
                f"{two['peak_bytes'] / two['input_bytes']:.2f}×",
            ]
        )
        scores_file.unlink()
        labels_file.unlink()
    head = [
        "scores",
        "ours",
        "ours, one thread",
        "roc_auc_score",
        "ratio",
        "ratio, one thread",
        "ours a score",
        "peak memory / input",
    ]
    return table(head, rows)


def bench_read():
    """svmlight text into CSR against load_svmlight_file, and against reading the bytes at all."""
    name, text = svmlight_text()
    rows = []
    for megabytes in [2, 20, 200]:
        path = CACHE / "rows.svm"
        with open(path, "wb") as file:
            for _ in range(max(1, round(megabytes * 1e6 / len(text)))):
                file.write(text)
        theirs, (x, _) = best(3 if megabytes < 200 else 1, load_svmlight_file, str(path))
        two = measure("read", path, 7)
        one = measure("read", path, 5, threads=1)
        floor = min(measure("memchr", path, 7)["seconds"])
        assert two["answer"] == x.shape[0] + x.nnz, (two["answer"], x.shape, x.nnz)
        both, single = min(two["seconds"]), min(one["seconds"])
        size = path.stat().st_size / 1e6
        rows.append(
            [
                f"{name}, {size:.0f} MB",
                seconds(both),
                seconds(single),
                seconds(theirs),
                seconds(floor),
                f"{theirs / both:.1f}×",
                f"{both / floor:.2f}×",
                f"{size / both:.0f} MB/s",
            ]
        )
        path.unlink()
    head = [
        "file",
        "ours",
        "ours, one thread",
        "load_svmlight_file",
        "read + memchr",
        "theirs / ours",
        "ours / (read + memchr)",
        "ours, rate",
    ]
    return table(head, rows)


def halves(labels):
    """Two classes: as they are, or one random halving of many."""
    classes = np.unique(labels)
    if len(classes) == 2:
        return "-", labels == classes.max()
    chosen = np.sort(np.random.default_rng(1).permutation(classes)[: len(classes) // 2])
    return ",".join(f"{c:g}" for c in chosen), np.isin(labels, chosen)


def bench_fit():
    """The certified minimum against LogisticRegression() on the same matrix, one thread each."""
    data = os.environ.get("UBAUC_DATA")
    if not data:
        return "SKIPPED: UBAUC_DATA is not set"
    rows = []
    for name in ["a9a", "w8a", "ijcnn1", "usps", "mnist", "sector", "news20"]:
        path = CACHE / "rows.svm"
        measure_text("plain", pathlib.Path(data) / name / "train.svm.zst", path)
        x, y = load_svmlight_file(str(path))
        classes, positive = halves(y)
        repeats = 5 if name in ("a9a", "w8a", "ijcnn1", "usps") else 1
        with warnings.catch_warnings(), threadpool_limits(1):
            warnings.simplefilter("ignore", ConvergenceWarning)
            theirs, model = best(repeats, LogisticRegression().fit, x, positive)
        steps = int(model.n_iter_[0])
        ours = measure("fit", path, classes, 0.5, 1e-4, 1e-6, repeats, threads=1)
        ours_best = min(ours["seconds"])
        rows.append(
            [
                name,
                f"{x.shape[0]:,} × {x.shape[1]:,}",
                seconds(ours_best),
                seconds(theirs),
                f"{ours_best / theirs:.2f}",
                f"{steps} steps" + (", not converged" if steps >= 100 else ""),
            ]
        )
    head = ["set", "size", "ours, gap ≤ 1e-6", "LogisticRegression()", "ours / theirs", "theirs"]
    path = CACHE / "rows.svm"
    measure_text("plain", pathlib.Path(data) / "a9a" / "train.svm.zst", path)
    ours = min(measure("fit", path, "-", 0.5, 1e-4, 1e-6, 5, threads=1)["seconds"])
    theirs = min(measure("clarabel", path, 0.5, 1e-4, 1)["seconds"])
    path.unlink()
    clarabel = f"Clarabel, the same problem on a9a: {seconds(theirs)}, {theirs / ours:.0f}× ours."
    return f"{table(head, rows)}\n\n{clarabel}"


def bench_rows():
    """Time and memory against the number of rows, 50 dense features."""
    rows = []
    for n in [10**5, 10**6, 10**7]:
        ours = measure("rows", n, 50, 1e-6)
        t = ours["seconds"][0]
        memory = ours["peak_bytes"] / ours["input_bytes"]
        rows.append([f"{n:,}", seconds(t), f"{t / n * 1e6:.2f} µs", f"{memory:.2f}×"])
    head = ["rows", "solve, both cores", "a row", "peak memory / CSR of the data"]
    return table(head, rows)


def bench_tune():
    """60 points on 5 folds each, ours and GridSearchCV's, on the same matrix, one thread each."""
    data = os.environ.get("UBAUC_DATA")
    if not data:
        return "SKIPPED: UBAUC_DATA is not set"
    path = CACHE / "rows.svm"
    measure_text("plain", pathlib.Path(data) / "a9a" / "train.svm.zst", path)
    x, y = load_svmlight_file(str(path))
    positive = y == y.max()
    # C = 1/(Nγ), N the examples of four folds: the same span of penalties as ours.
    n = 0.8 * x.shape[0]
    grid = {"C": 1 / (n * np.logspace(-1, -5, 60))}
    search = GridSearchCV(
        LogisticRegression(), grid, scoring="roc_auc", cv=5, n_jobs=1, refit=False
    )
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore", ConvergenceWarning)
        theirs, _ = best(1, search.fit, x, positive)
    ours = measure("tune", path, 3, threads=1)
    ours_best = min(ours["seconds"])
    path.unlink()
    head = ["set", "points × folds", "ours", "GridSearchCV", "theirs / ours", "best mean AUC"]
    aucs = f"{ours['answer']:.4f}, {search.best_score_:.4f}"
    ratio = f"{theirs / ours_best:.1f}×"
    return table(head, [["a9a", "60 × 5", seconds(ours_best), seconds(theirs), ratio, aucs]])


def machine():
    cpu = platform.processor() or "unknown"
    info = pathlib.Path("/proc/cpuinfo")
    if info.exists():
        models = [line for line in info.read_text().splitlines() if line.startswith("model name")]
        if models:
            cpu = models[0].split(":")[1].strip()
    return (
        f"{cpu}, {os.cpu_count()} cores; Python {platform.python_version()}, "
        f"scikit-learn {sklearn.__version__}, numpy {np.__version__}; "
        f"{time.strftime('%Y-%m-%d')}."
    )


BENCHMARKS = {
    "auc": bench_auc,
    "read": bench_read,
    "fit": bench_fit,
    "rows": bench_rows,
    "tune": bench_tune,
    "soft": bench_soft,
    "start": bench_start,
    "search": bench_search,
    "memory": bench_memory,
    "good": bench_good,
    "tables": bench_tables,
    "report": bench_report,
    "glass": bench_glass,
    "glass-fit": bench_glass_fit,
    "glass-scores": bench_glass_scores,
    "glass-rows": bench_glass_rows,
    "glass-numbers": bench_glass_numbers,
    "online": bench_online,
    "stream": bench_stream,
    "endless": bench_endless,
    "python": bench_python,
    "dask": bench_dask,
    "scale": bench_scale,
}
# Tables that are not in docs/benchmarks.md.
PAGES = {"python": "python.md", "scale": "scale.md"}


def write(name, text):
    """Puts a table between its marks in docs/benchmarks.md, or on the page it belongs to."""
    page = DOCS / PAGES.get(name, "benchmarks.md")
    begin, end = f"<!-- {name} -->\n", f"<!-- /{name} -->"
    before, rest = page.read_text().split(begin)
    _, after = rest.split(end)
    page.write_text(before + begin + text + "\n" + end + after)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", help="which ones; all without")
    parser.add_argument("--write", action="store_true", help="update docs/")
    args = parser.parse_args()
    unknown = set(args.names) - set(BENCHMARKS)
    if unknown:
        parser.error(f"unknown: {', '.join(unknown)}; there are {', '.join(BENCHMARKS)}")
    CACHE.mkdir(parents=True, exist_ok=True)
    measure()
    for name in args.names or BENCHMARKS:
        text = f"{BENCHMARKS[name]()}\n\n{machine()}"
        print(f"\n{name}\n\n{text}")
        if args.write:
            write(name, text)


if __name__ == "__main__":
    main()
