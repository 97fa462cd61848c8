"""10⁹ rows on 100 workers, on paper: what `make bench` shows as "scale", for docs/scale.md.

What `cluster.py` measured is put into the formula of that page; nothing is measured here.
"""

import json
from types import SimpleNamespace

from cluster import FEATURES, MEASURED, PARTITIONS, WORKERS, mean
from measure import seconds, table


def constants(found, which=-1):
    """What the formula of docs/scale.md needs, from one of the two sizes."""
    far, wire = found["dask"][which], found["wire"]
    a_thread = found["rows"][which] / WORKERS
    (few, many), (low, high) = wire["partitions"], wire["latency"]
    of_partition = max(0.0, (high - low) / (many - few))
    base = max(0.0, low - few * of_partition)
    latency = base + PARTITIONS * of_partition
    rest = [r for r in far["rounds"] if not r["matrix"]]
    grams = [r for r in far["rounds"] if r["matrix"]]
    in_rounds = sum(r["end"] - r["begin"] for r in far["rounds"])
    rate = wire["bytes"] / max(wire["large"] - low, 1e-9)

    def of_rows(rounds):
        """Seconds a row in these rounds, what is due to the wire taken off."""
        spent = sum(r["end"] - r["begin"] - latency for r in rounds)
        spent -= sum(PARTITIONS * (r["sent"] + r["received"]) / rate for r in rounds)
        return max(0.0, spent) / a_thread

    return SimpleNamespace(
        rounds=len(far["rounds"]),
        load=(far["seconds"] - far["solve"]) / a_thread,
        gram=of_rows(grams),
        row=of_rows(rest) / len(far["rounds"]),
        base=base,
        of_partition=of_partition,
        driver=max(0.0, far["solve"] - in_rounds) / len(far["rounds"]),
        sent=mean(rest, "sent"),
        received=mean(rest, "received"),
        rate=rate,
    )


def predicted(c, rows, threads, partitions, d=FEATURES):
    """The formula: seconds for rows, for the rounds themselves, and for the wire."""
    a_thread = rows / threads
    of_rows = a_thread * (c.load + c.gram + c.rounds * c.row)
    of_rounds = c.rounds * (c.base + c.of_partition * partitions + c.driver)
    moved = c.rounds * (c.sent + c.received) + 8 * d * (d + 1) / 2
    return of_rows, of_rounds, partitions * moved / c.rate


def bench_scale(kept=MEASURED):
    """Measured constants, a check of the formula, and 10⁹ rows on paper."""
    if not kept.exists():
        raise SystemExit("nothing measured yet: run `bench/run.py dask scale`")
    found = json.loads(kept.read_text())
    return f"{_constants(found)}\n\n{_check(found)}\n\n{_paper(found)}"


def _constants(found):
    c = constants(found)
    lines = [
        ["R", "rounds", f"{c.rounds} ({constants(found, 0).rounds} for a quarter of the rows)"],
        ["a", "a row, once: looked at and counted", f"{c.load * 1e9:,.0f} ns"],
        ["g", "a row, once: the Gram matrix", f"{c.gram * 1e9:,.0f} ns"],
        ["r", "a row in a round, mean of all rounds", f"{c.row * 1e9:,.1f} ns"],
        ["l", "latency of a round", f"{c.base * 1e3:.1f} ms"],
        ["m", "and for each partition", f"{c.of_partition * 1e3:.3f} ms"],
        ["o", "the driver's own work in a round", f"{c.driver * 1e3:.2f} ms"],
        ["s", "bytes sent, a round and partition", f"{c.sent:,.0f}"],
        ["b", "bytes received, likewise", f"{c.received:,.0f}"],
        ["B", "bytes a second that the driver takes", f"{c.rate / 1e6:,.0f} MB"],
    ]
    return table(["symbol", "what", "measured"], lines)


def _check(found):
    """Do the constants of a quarter of the rows predict the time for all of them?"""
    small = constants(found, 0)
    small.rounds = constants(found).rounds
    predicted_seconds = sum(predicted(small, found["rows"][1], WORKERS, PARTITIONS))
    took = found["dask"][1]["seconds"]
    return (
        f"From {found['rows'][0]:,} rows the formula predicts {seconds(predicted_seconds)} for "
        f"{found['rows'][1]:,} in as many rounds as there were; it took {seconds(took)}."
    )


def _paper(found):
    lines = []
    rows = 10**9
    for times in (1, 2):
        for workers, threads, partitions in [(100, 1, 100), (100, 1, 1000), (100, 8, 800)]:
            c = constants(found)
            c.rounds *= times
            parts = predicted(c, rows, workers * threads, partitions)
            memory = rows / workers * 8 * (FEATURES + 6)
            lines.append(
                [
                    f"{workers} × {threads}",
                    f"{partitions:,}",
                    f"{c.rounds}",
                    *(f"{t:,.0f} s" for t in parts),
                    f"{sum(parts) / 60:,.1f} min",
                    f"{memory / 1e9:.1f} GB",
                ]
            )
    head = [
        "workers × threads",
        "partitions",
        "rounds",
        "rows",
        "rounds, latency",
        "wire",
        "together",
        "memory of a worker",
    ]
    return table(head, lines)
