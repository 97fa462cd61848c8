"""All tests, those in Rust and those in Python side by side; the last line is their total.

`make test` builds everything first: pytest needs the program and the package.
"""

import re
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path
from queue import SimpleQueue

ROOT = Path(__file__).resolve().parents[1]
CARGO = ["cargo", "test", "--workspace", "--all-features", "--no-fail-fast"]
# Files that start clusters take longest. They come first, so that none is left alone at the end.
SLOWEST = ["test_dask_glass.py", "test_dask_killed.py", "test_dask.py", "test_dask_folds.py"]
SLOWEST += ["test_docs.py", "test_page.py"]
PYTEST = [
    *(sys.executable, "-m", "pytest", "-n", "3", "--dist", "loadfile", "--no-loadscope-reorder"),
    "--durations=25",
    *(f"python/tests/{name}" for name in SLOWEST),
    *("python/tests", "tests/reference", "tests/test_run.py"),
]


def of_cargo(lines):
    """The tests in the output of `cargo test`.

    One that lacks its data passes, and says SKIPPED with its name, perhaps more than once.
    """
    totals, skipped = Counter(), set()
    for line in lines:
        if line.startswith("test result: "):
            for number, kind in re.findall(r"(\d+) (passed|failed|ignored);", line):
                totals["skipped" if kind == "ignored" else kind] += int(number)
        skipped.update(re.findall(r"SKIPPED: .*", line))
    return totals + Counter(skipped=len(skipped)) - Counter(passed=len(skipped))


def of_pytest(lines):
    """The tests in the output of pytest, by its last line: `2 failed, 8 passed, 1 xfailed in 3s`.

    A failure that is expected counts as skipped, and one that does not come as failed, as an error
    in a fixture does.
    """
    kinds = {"xfailed": "skipped", "xpassed": "failed", "error": "failed", "errors": "failed"}
    totals = Counter()
    for line in lines:
        found = re.findall(r"(\d+) (passed|failed|skipped|xfailed|xpassed|errors?)\b", line)
        if found and re.search(r" in [\d.]+s", line):
            totals = Counter()
            for number, kind in found:
                totals[kinds.get(kind, kind)] += int(number)
    return totals


def sentence(totals):
    return ", ".join(f"{totals[kind]} {kind}" for kind in ("passed", "failed", "skipped"))


class Suite:
    """A command that runs, and its lines as they come."""

    def __init__(self, command):
        self.process = subprocess.Popen(
            command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        self.queue, self.lines = SimpleQueue(), []
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.queue.put(line)
        self.queue.put(None)

    def show(self):
        """Prints its lines to the end; its exit code."""
        while (line := self.queue.get()) is not None:
            print(line, end="", flush=True)
            self.lines.append(line)
        return self.process.wait()


def main():
    cargo, pytest = Suite(CARGO), Suite(PYTEST)
    codes = [cargo.show(), pytest.show()]
    rust, python = of_cargo(cargo.lines), of_pytest(pytest.lines)
    print(f"\ncargo test: {sentence(rust)}\npytest: {sentence(python)}")
    print(sentence(rust + python))
    return any(codes) or not (rust["passed"] and python["passed"])


if __name__ == "__main__":
    sys.exit(main())
