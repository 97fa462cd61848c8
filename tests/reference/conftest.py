"""The program under test, and how to ask it.

`UBAUC_BIN` names another binary than the one `cargo test` leaves in target/debug.
"""

import json
import os
import pathlib
import subprocess

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session", autouse=True)
def binary():
    """The path of the program, built if it is not there."""
    if "UBAUC_BIN" in os.environ:
        return pathlib.Path(os.environ["UBAUC_BIN"]).resolve()
    path = ROOT / "target" / "debug" / "ubauc"
    if not path.exists():
        subprocess.run(
            ["cargo", "build", "--quiet", "--package", "ubauc-cli"], cwd=ROOT, check=True
        )
    return path


@pytest.fixture
def ubauc(binary, tmp_path):
    """Runs the program in the test's own directory: the JSON object it answers with."""

    def run(*arguments):
        done = subprocess.run(
            [binary, *map(str, arguments), "--json", "--quiet"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, f"{arguments}: {done.stderr}"
        return json.loads(done.stdout)

    return run


@pytest.fixture
def write_csv(tmp_path):
    """Writes columns to a file, numbers with all their digits."""

    def write(name, **columns):
        lists = [np.asarray(column).tolist() for column in columns.values()]
        rows = (",".join(map(str, row)) for row in zip(*lists, strict=True))
        (tmp_path / name).write_text("\n".join([",".join(columns), *rows]) + "\n")
        return name

    return write
