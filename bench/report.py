"""The report of a million scored rows beside `evaluate` alone, and how soon a browser shows it.

Every time is that of a whole process, reading included. Set UBAUC_BIN to measure another build.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from measure import CACHE, ROOT, best, seconds, table

ROWS = [10**5, 10**6]
REPEATS = 3
# Loads of a page; the first one warms the browser up.
LOADS = 6


def bench_report():
    """`evaluate`, the same with a page, the same with draws; first paint of the page."""
    rows = []
    for n in ROWS:
        scores, page = CACHE / f"report{n}.csv", CACHE / f"report{n}.html"
        write_scores(scores, n)
        plain, _ = best(REPEATS, run, "evaluate", scores)
        with_page, _ = best(REPEATS, run, "evaluate", scores, "--report", page)
        drawn, _ = best(1, run, "evaluate", scores, "--interval", "bootstrap")
        allowed = 2 * plain + 1
        rows.append(
            [
                f"{n:,}",
                seconds(plain),
                seconds(with_page),
                seconds(allowed) + (" (kept)" if with_page <= allowed else " (missed)"),
                seconds(drawn),
                f"{page.stat().st_size / 1e3:.0f} kB",
                first_paint(page),
            ]
        )
        scores.unlink()
        page.unlink()
    head = [
        "scores",
        "evaluate",
        "with --report",
        "allowed: 2 × evaluate + 1 s",
        "with --interval bootstrap",
        "page",
        "first contentful paint",
    ]
    return table(head, rows)


def write_scores(path, n):
    random = np.random.default_rng(n)
    positive = random.random(n) < 0.1
    scores = random.normal(size=n) + 1.5 * positive
    lines = [f"{int(p)},{s!r}" for p, s in zip(positive, scores.tolist(), strict=True)]
    path.write_text("label,score\n" + "\n".join(lines) + "\n")


def run(*arguments):
    program = os.environ.get("UBAUC_BIN")
    if program is None:
        subprocess.run("cargo build -q --release -p ubauc-cli".split(), cwd=ROOT, check=True)
        program = ROOT / "target" / "release" / "ubauc"
    subprocess.run([program, *map(str, arguments), "--quiet"], check=True, capture_output=True)


def first_paint(page):
    """From the navigation to the first content, the median of several loads."""
    sys.path.insert(0, str(ROOT / "python" / "tests"))
    from browser import Page, open_browser

    script = """
        const paint = performance.getEntriesByName("first-contentful-paint")[0];
        return paint ? paint.startTime : null"""
    with tempfile.TemporaryDirectory() as profile:
        driver = open_browser(profile)
        try:
            times = [Page(driver, pathlib.Path(page)).painted(script) for _ in range(LOADS)]
        finally:
            driver.quit()
    return seconds(float(np.median(times[1:])) / 1000)
