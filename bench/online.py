"""The online learner: in memory, from file to model, and on a stream that does not end."""

import contextlib
import importlib.metadata
import json
import os
import pathlib
import re
import subprocess
import sys
import time

import numpy as np
from measure import CACHE, ROOT, best, measure, measure_text, seconds, svmlight_text, table
from sklearn.datasets import load_svmlight_file
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import roc_auc_score
from threadpoolctl import threadpool_limits

TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
UBAUC = TARGET / "release" / "ubauc"

# Vowpal Wabbit's own driver, which parses on one thread and learns on another, in the process that
# Python has started already: neither that start nor the import is counted.
VW = """
import json, sys, time
import vowpalwabbit
start, cpu = time.perf_counter(), time.process_time()
vw = vowpalwabbit.Workspace(arg_list=sys.argv[1:])
examples, loss = vw.get_weighted_examples(), vw.get_sum_loss()
vw.finish()
wall, cpu = time.perf_counter() - start, time.process_time() - cpu
print(json.dumps({"wall": wall, "cpu": cpu, "examples": examples, "loss": loss / examples}))
"""


def learn(path, *options, feed=None):
    """`ubauc learn`: what it took, and what it says. `feed` writes to its standard input.

    Peak memory is looked up while the program runs: what the system tells of a process that has
    ended counts the memory of its parent as well.
    """
    command = [UBAUC, "learn", path, *options, "--json", "--quiet"]
    start = time.perf_counter()
    with subprocess.Popen(
        list(map(str, command)), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        with contextlib.suppress(BrokenPipeError), process.stdin as stdin:
            if feed is not None:
                feed(stdin)
        peak, pid = 0, 0
        while pid == 0:
            peak = max(peak, peak_memory(process.pid))
            time.sleep(0.002)
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        wall = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        report = process.stdout.read()
    if process.returncode != 0:
        raise SystemExit(f"failed: {' '.join(map(str, command))}")
    cpu = usage.ru_utime + usage.ru_stime
    return {"wall": wall, "cpu": cpu, "peak_bytes": peak}, json.loads(report)


def peak_memory(pid):
    """The most bytes that a running process has had so far; 0 where that is not reported."""
    status = pathlib.Path(f"/proc/{pid}/status")
    peak = re.search(r"VmHWM:\s*(\d+) kB", status.read_text()) if status.exists() else None
    return int(peak[1]) * 1024 if peak else 0


def vowpal_wabbit(*options):
    """One pass of Vowpal Wabbit over a file: what it took, and what it has learned from."""
    command = [sys.executable, "-c", VW, *map(str, options), "--loss_function", "logistic"]
    done = subprocess.run([*command, "--quiet"], check=True, capture_output=True)
    return json.loads(done.stdout)


def build():
    subprocess.run("cargo build --release -q -p ubauc-cli".split(), cwd=ROOT, check=True)


@contextlib.contextmanager
def two_cores():
    """Whatever is started inside has two cores, where the system can say so."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    all_cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(all_cores)[:2])
    try:
        yield
    finally:
        os.sched_setaffinity(0, all_cores)


def epochs(n, loss, average, x, y):
    """Seconds of a fit of SGDClassifier of n epochs."""
    model = SGDClassifier(loss=loss, average=average, max_iter=n, tol=None, random_state=0)
    took, model = best(1, model.fit, x, y)
    assert roc_auc_score(y, model.decision_function(x)) > 0.8
    return took


def bench_online():
    """A pass of ol-UBAUC against an epoch of SGDClassifier and against x·w of every row.

    The same on both sides: a9a in memory as CSR of 64-bit floats with 32-bit indices, one thread,
    every example visited once a pass in an order that changes from pass to pass, the mean of 20
    passes without what is done once before them, best of ten in turn.

    Not the same: hinge skips the update of an example beyond its margin, log_loss and ours make one
    on every example. SGDClassifier takes single rows at random in each epoch; ours copies the rows
    in a random order before the first pass and then takes blocks of 32 at random.
    """
    data = os.environ.get("UBAUC_DATA")
    if not data:
        return "SKIPPED: UBAUC_DATA is not set"
    path = CACHE / "rows.svm"
    measure_text("plain", pathlib.Path(data) / "a9a" / "train.svm.zst", path)
    x, y = load_svmlight_file(str(path))
    # With 64-bit indices SGDClassifier would copy them in every fit.
    x.indices, x.indptr = x.indices.astype(np.int32), x.indptr.astype(np.int32)
    minimum = measure("fit", path, "-", 0.5, 1e-4, 1e-6, 1)["answer"]
    kinds = [(loss, average) for loss in ["hinge", "log_loss"] for average in [False, True]]
    one, more = ({kind: [] for kind in kinds} for _ in range(2))
    ours, floor = {False: [], True: []}, []
    for _ in range(10):
        run = measure("online", path, 20, threads=1)
        assert minimum <= run["answer"] < 1.01 * minimum, (run, minimum)
        ours[False].append(np.mean(run["seconds"]))
        ours[True].append(np.mean(run["seconds_average"]))
        floor += measure("dot", path, 20, threads=1)["seconds"]
        with threadpool_limits(1):
            for kind in kinds:
                one[kind].append(epochs(1, *kind, x, y))
                more[kind].append(epochs(21, *kind, x, y))
    path.unlink()
    rows = []
    for name, average in [("last", False), ("averaged", True)]:
        # What a fit does before its first epoch is in both, and falls out.
        hinge, log = (
            (min(more[loss, average]) - min(one[loss, average])) / 20
            for loss in ["hinge", "log_loss"]
        )
        own, dot = min(ours[average]), min(floor)
        times = [f"{t * 1000:.2f} ms" for t in (own, hinge, log, dot)]
        ratios = [f"{ratio:.1f}×" for ratio in (hinge / own, log / own, own / dot)]
        rows.append([name, *times, *ratios])
    head = [
        "weights",
        "ours",
        "SGDClassifier, hinge",
        "SGDClassifier, log_loss",
        "x·w alone",
        "hinge / ours",
        "log_loss / ours",
        "ours / x·w",
    ]
    return table(head, rows)


def vw_text(text, short):
    """svmlight as Vowpal Wabbit writes it; `short` leaves out values that are 1, as it may."""
    text = re.sub(rb" +$", b"", re.sub(rb"^(\S+)", rb"\1 |", text, flags=re.M), flags=re.M)
    return re.sub(rb":1(?=\s)", b"", text) if short else text


def bench_stream():
    """From file to model in one pass: `ubauc learn` against Vowpal Wabbit.

    The same on both sides: the rows and their order, a plain text file in the page cache, no binary
    cache of it, one pass, each program's own default step, a model file written at the end, two
    cores, best of three in turn. Each reads the text it calls its own; Vowpal Wabbit's once with
    every value and once in its shortest form. Ours counts the start of the process, and makes the
    AUC on the way.
    """
    build()
    name, text = svmlight_text()
    copies = max(1, round(200e6 / len(text)))
    lines = copies * text.count(b"\n")
    files = {
        "rows.svm": text,
        "values.vw": vw_text(text, short=False),
        "short.vw": vw_text(text, short=True),
    }
    for file, block in files.items():
        with open(CACHE / file, "wb") as out:
            for _ in range(copies):
                out.write(block)
    ours = [("ubauc learn", []), ("ubauc learn --threads 1", ["--threads", 1])]
    theirs = [
        ("Vowpal Wabbit", "values.vw", []),
        ("Vowpal Wabbit, values of 1 left out", "short.vw", []),
        ("the same, --sgd", "short.vw", ["--sgd"]),
    ]
    model = CACHE / "stream.model"
    took = {}
    with two_cores():
        for _ in range(3):
            for label, options in ours:
                model.unlink(missing_ok=True)
                found, report = learn(CACHE / "rows.svm", "--model", model, *options)
                assert report["n"] == lines and model.stat().st_size > 0, report
                took.setdefault(label, ("rows.svm", []))[1].append(found)
            for label, file, options in theirs:
                model.unlink(missing_ok=True)
                found = vowpal_wabbit("-d", CACHE / file, "-f", model, *options)
                assert found["examples"] == lines and model.stat().st_size > 0, found
                assert found["loss"] < np.log(2), found
                took.setdefault(label, (file, []))[1].append(found)
    model.unlink()
    fastest = min(found["wall"] for found in took["ubauc learn"][1])
    rows = []
    for label, (file, found) in took.items():
        run = min(found, key=lambda run: run["wall"])
        rows.append(
            [
                label,
                f"{(CACHE / file).stat().st_size / 1e6:.0f} MB",
                seconds(run["wall"]),
                seconds(run["cpu"]),
                f"{lines / run['wall'] / 1e6:.2f} million",
                f"{run['wall'] / fastest:.2f}×",
            ]
        )
    for file in files:
        (CACHE / file).unlink()
    head = ["program", "text", "wall time", "CPU time", "rows a second", "wall time / ours"]
    auc, loss = report["progressive_auc"], took["Vowpal Wabbit"][1][0]["loss"]
    version = importlib.metadata.version("vowpalwabbit")
    facts = (
        f"{name}, {copies} times over: {lines:,} rows. Progressive AUC of ours {auc['auc']:.4f} ± "
        f"{auc['error_bound']:.1e}; progressive log loss of Vowpal Wabbit {version} {loss:.4f}."
    )
    return f"{table(head, rows)}\n\n{facts}"


def bench_endless():
    """Memory and speed of `ubauc learn` on 10⁷ and 10⁸ stored entries through a pipe.

    One block of 10⁶ entries (20,000 generated rows of 50 features) is written again and again by
    this process, the same for both lengths: the disk holds the block only, and the generator does
    not set the pace. Peak memory is the largest of the runs, the time the best of three in turn.
    """
    build()
    block = CACHE / "block.svm"
    generate = [UBAUC, "data", "generate", "--rows", "20000", "--dim", "50", "--quiet", "-o", block]
    subprocess.run(generate, check=True)
    text = block.read_bytes()
    block.unlink()
    lengths = [10, 100]
    runs = {times: [] for times in lengths}
    for _ in range(3):
        for times in lengths:

            def feed(stdin, times=times):
                for _ in range(times):
                    stdin.write(text)

            found, report = learn("-", feed=feed)
            assert report["n"] == times * 20_000, report
            runs[times].append(found)
    peaks = [max(run["peak_bytes"] for run in runs[times]) for times in lengths]
    speeds = [times * 20_000 / min(run["wall"] for run in runs[times]) for times in lengths]
    cpus = [min(run["cpu"] for run in runs[times]) / times / 20_000 for times in lengths]
    rows = [
        [f"{times * 10**6:,}", f"{times * len(text) / 1e6:,.0f} MB", f"{peak / 1e6:.1f} MB"]
        + [f"{speed:,.0f}", f"{cpu * 1e6:.2f} µs", f"{peak / peaks[0]:.3f}"]
        + [f"{speed / speeds[0]:.3f}"]
        for times, peak, speed, cpu in zip(lengths, peaks, speeds, cpus, strict=True)
    ]
    head = ["entries", "text", "peak memory", "rows a second", "CPU time a row"]
    head += ["memory / first", "speed / first"]
    return table(head, rows)
