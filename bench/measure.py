"""What all benchmarks need: the Rust side's times, best of several, tables, rows to read."""

import json
import os
import pathlib
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
CACHE = ROOT / "bench" / ".cache"


def measure(*arguments, threads=None):
    """What the Rust side, `crates/ubauc/benches/measure.rs`, measured."""
    return json.loads(measure_text(*arguments, threads=threads))


def measure_text(*arguments, threads=None):
    command = ["cargo", "bench", "-q", "-p", "ubauc", "--bench", "measure", "--"]
    env = dict(os.environ)
    if threads is not None:
        env["RAYON_NUM_THREADS"] = str(threads)
    done = subprocess.run(
        [*command, *map(str, arguments)], cwd=ROOT, env=env, capture_output=True, text=True
    )
    if done.returncode != 0:
        raise SystemExit(done.stderr)
    return done.stdout


def best(repeats, work, *arguments):
    """The shortest of `repeats` runs, and the answer."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        answer = work(*arguments)
        times.append(time.perf_counter() - start)
    return min(times), answer


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines)


def seconds(t):
    return f"{t * 1000:.1f} ms" if t < 1 else f"{t:.2f} s"


def svmlight_text():
    """a9a if the real data are there, generated rows of the same shape if not."""
    data = os.environ.get("UBAUC_DATA")
    if data:
        path = pathlib.Path(data) / "a9a" / "train.svm.zst"
        out = CACHE / "a9a.svm"
        measure_text("plain", path, out)
        return "a9a", out.read_bytes()
    print("NOTE: UBAUC_DATA is not set: generated rows take the place of a9a")
    out = CACHE / "rows.svm"
    generate = (
        "cargo run --release -q -- data generate --rows 32561 --dim 123 --density 0.11".split()
    )
    subprocess.run([*generate, "--quiet", "--output", str(out)], cwd=ROOT, check=True)
    return "generated", out.read_bytes()
