"""The solver on a Dask cluster beside that in one process: what `make bench` shows as "dask".

    .venv/bin/python bench/cluster.py 40000       try it on few rows; nothing is written

Two worker processes of one thread each, against one process of two threads: the same rows, the same
gap. The rows are made where they are needed, partition by partition, each from a seed of its own.
Each side is a process of its own, one after the other, so that never more than one copy of the
whole is in memory but for what Dask keeps of it. What is measured goes to `scale.py`, too.
"""

import json
import statistics
import subprocess
import sys
import time

import numpy as np
from measure import CACHE, best, seconds, table

FEATURES = 200
PARTITIONS = 8
WORKERS = 2
MEASURED = CACHE / "dask.json"
# The problem of the tables: no intercept.
PARAMS = {"beta": 0.5, "gamma": 1e-4, "tol": 1e-6, "fit_intercept": False}


# The rows.


def block(k, rows):
    """Partition k: normal features, a linear score and as much noise, a tenth positive."""
    random = np.random.default_rng([7, k])
    w = np.random.default_rng(7).normal(size=FEATURES)
    X = random.normal(size=(rows, FEATURES))
    score = X @ (w / np.linalg.norm(w)) + random.normal(size=rows)
    return X, (score > 1.2816 * np.sqrt(2)).astype(np.int8)


def sizes(rows):
    """Rows of each partition."""
    return [(k + 1) * rows // PARTITIONS - k * rows // PARTITIONS for k in range(PARTITIONS)]


def collections(rows):
    """X and y as dask arrays that the workers make."""
    import dask.array as da
    from dask import delayed

    Xs, ys = [], []
    for k, n in enumerate(sizes(rows)):
        made = delayed(block, nout=2)(k, n)
        Xs.append(da.from_delayed(made[0], (n, FEATURES), np.float64))
        ys.append(da.from_delayed(made[1], (n,), np.int8))
    return da.concatenate(Xs), da.concatenate(ys)


# One process of two threads.


def fit_here(rows, repeats):
    from ubauc import UBAUCClassifier

    X, y = np.empty((rows, FEATURES)), np.empty(rows, np.int8)
    end = 0
    for k, n in enumerate(sizes(rows)):
        X[end : end + n], y[end : end + n] = block(k, n)
        end += n
    clf = UBAUCClassifier(**PARAMS, n_jobs=WORKERS)
    took, clf = best(repeats, clf.fit, X, y)
    return {"seconds": took, "objective": clf.objective_, "gap": clf.gap_, "steps": clf.n_iter_}


# Two processes of one thread.


def watch():
    """Every round from now on: what was asked, how long it took, the bytes of a partition."""
    import ubauc.dask._fit as fits
    from ubauc import _core

    seen = []

    class Watched(fits.Rounds):
        def __call__(self, round, add):
            start = time.perf_counter()
            answers = super().__call__(round, add)
            seen.append(
                {
                    "begin": start,
                    "end": time.perf_counter(),
                    "matrix": _core.asks_for_matrix(round),
                    "sent": len(round),
                    "received": max(answer.nbytes for answer in answers),
                }
            )
            return answers

    fits.Rounds = Watched
    return seen


def fit_cluster(rows, repeats):
    """Fits of rows that are yet to be made, and of rows that are there."""
    from dask.distributed import Client, LocalCluster, wait
    from ubauc.dask import DaskUBAUCClassifier

    seen = watch()
    with (
        LocalCluster(
            n_workers=WORKERS, threads_per_worker=1, dashboard_address=":0", memory_limit=0
        ) as cluster,
        Client(cluster) as client,
    ):
        client.run(warm_up)
        clf = DaskUBAUCClassifier(client, **PARAMS)
        made, _ = best(1, lambda: clf.fit(*collections(rows)))
        X, y = client.persist(collections(rows))
        wait([X, y])
        took = np.inf
        for _ in range(repeats):
            seen.clear()
            again, clf = best(1, clf.fit, X, y)
            if again < took:
                took, rounds = again, list(seen)
        found = {
            "made": made,
            "seconds": took,
            "solve": rounds[-1]["end"] - rounds[0]["begin"],
            "objective": clf.objective_,
            "gap": clf.gap_,
            "steps": clf.n_iter_,
            "rounds": rounds,
        }
        X = y = None
        return found


def warm_up():
    """What a worker loads once."""
    import ubauc.dask  # noqa: F401


def probe(partition, number, round, size):
    return np.ones(size)


def wire(partitions, size, repeats):
    """The median of rounds in which nothing is done but asked, and answered with `size` numbers."""
    from dask.distributed import Client, LocalCluster, wait
    from ubauc.dask._workers import Partitions

    with (
        LocalCluster(
            n_workers=WORKERS, threads_per_worker=1, dashboard_address=":0", memory_limit=0
        ) as cluster,
        Client(cluster) as client,
    ):
        futures = client.map(abs, range(partitions), pure=False)
        wait(futures)
        asked = Partitions(client, futures)
        sent = {"round": bytes(8 * FEATURES), "size": size}
        asked.each("probe", probe, is_brief=True, **sent)
        times = []
        for _ in range(repeats):
            start = time.perf_counter()
            answers = asked.each("probe", probe, is_brief=True, **sent)
            sum(np.require(answer, np.float64, ["C", "ALIGNED"]) for answer in answers)
            times.append(time.perf_counter() - start)
        return statistics.median(times)


# The tables.


def apart(part, rows, repeats=1):
    """One side in a process of its own."""
    done = subprocess.run(
        [sys.executable, __file__, part, str(rows), str(repeats)], capture_output=True, text=True
    )
    if done.returncode != 0:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def measure_all(rows, repeats):
    import dask

    found = {"rows": [rows // 4, rows], "dask": [], "here": [], "version": dask.__version__}
    for n in found["rows"]:
        far = apart("dask", n, repeats)
        here = apart("here", n, repeats)
        for fit in (far, here):
            assert fit["gap"] <= PARAMS["tol"], fit["gap"]
        far_from = abs(far["objective"] - here["objective"])
        assert far_from <= 1e-6 * here["objective"], (far["objective"], here["objective"])
        found["dask"].append(far)
        found["here"].append(here)
    found["wire"] = apart("wire", rows)
    return found


def wires():
    """Latency at few and at many partitions, and large answers."""
    few, many, large = PARTITIONS, 8 * PARTITIONS, 1 << 17
    return {
        "partitions": [few, many],
        "latency": [wire(few, FEATURES, 50), wire(many, FEATURES, 50)],
        "bytes": 8 * large * few,
        "large": wire(few, large, 20),
    }


def bench_dask(rows=2_000_000, repeats=2, kept=MEASURED):
    found = measure_all(rows, repeats)
    CACHE.mkdir(parents=True, exist_ok=True)
    kept.write_text(json.dumps(found))
    return f"{_times(found)}\n\n{_traffic(found)}\n\n{_latency(found)}"


def _times(found):
    lines = []
    for n, far, here in zip(found["rows"], found["dask"], found["here"], strict=True):
        lines.append(
            [
                f"{n:,} × {FEATURES}",
                seconds(far["made"]),
                seconds(far["seconds"]),
                seconds(far["solve"]),
                seconds(here["seconds"]),
                f"{far['seconds'] / here['seconds']:.2f}×",
                f"{far['solve'] / here['seconds']:.2f}×",
                f"{far['steps']}, {here['steps']}",
                f"{far['gap']:.0e}, {here['gap']:.0e}",
            ]
        )
    head = [
        "rows",
        "Dask, rows made on the way",
        "Dask, rows in memory",
        "of it the solve",
        "one process",
        "Dask / one process",
        "solve / one process",
        "Newton steps",
        "gaps",
    ]
    return table(head, lines)


def _traffic(found):
    lines = []
    for n, far in zip(found["rows"], found["dask"], strict=True):
        rounds = far["rounds"]
        rest = [r for r in rounds if not r["matrix"]]
        matrices = [r for r in rounds if r["matrix"]]
        lines.append(
            [
                f"{n:,}",
                f"{len(rounds)}",
                f"{mean(rounds, 'sent'):,.0f}",
                f"{max(r['sent'] for r in rounds):,}",
                f"{mean(rest, 'received'):,.0f}",
                f"{max(r['received'] for r in rest):,}",
                f"{len(matrices)}",
                f"{max((r['received'] for r in matrices), default=0):,}",
                seconds(statistics.median(r["end"] - r["begin"] for r in rest)),
            ]
        )
    head = [
        "rows",
        "rounds",
        "bytes sent, mean",
        "largest",
        "bytes received, mean",
        "largest",
        "rounds with a matrix",
        "bytes received, largest",
        "median of a round",
    ]
    return table(head, lines)


def _latency(found):
    wire = found["wire"]
    text = ", ".join(
        f"{seconds(t)} for {p} partitions"
        for p, t in zip(wire["partitions"], wire["latency"], strict=True)
    )
    return f"A round in which nothing is computed: {text} (median). Dask {found['version']}."


def mean(rounds, what):
    return statistics.mean(r[what] for r in rounds)


def main():
    sides = {"dask": fit_cluster, "here": fit_here, "wire": lambda *_: wires()}
    match sys.argv[1:]:
        case [side, rows, repeats] if side in sides:
            print(json.dumps(sides[side](int(rows), int(repeats)), default=float))
        case [rows] if rows.isdigit():
            from scale import bench_scale

            tried = CACHE / "dask-tried.json"
            print(f"{bench_dask(int(rows), 1, tried)}\n\n{bench_scale(tried)}")
        case _:
            raise SystemExit("usage: cluster.py ROWS")


if __name__ == "__main__":
    main()
