"""Data for the tests, and the program beside which the package must stand.

`UBAUC_BIN` names another binary than the one `cargo test` leaves in target/debug.
"""

import os
import pathlib
import subprocess

import numpy as np
import pytest
from scipy.sparse import csr_matrix

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def program():
    """Runs the command line; its standard output."""
    path = ROOT / "target" / "debug" / "ubauc"
    if "UBAUC_BIN" in os.environ:
        path = pathlib.Path(os.environ["UBAUC_BIN"]).resolve()
    elif not path.exists():
        subprocess.run(["cargo", "build", "--quiet", "--bin", "ubauc"], cwd=ROOT, check=True)

    def run(*arguments):
        done = subprocess.run([path, *map(str, arguments)], capture_output=True, text=True)
        assert done.returncode == 0, f"{arguments}: {done.stderr}"
        return done.stdout

    return run


@pytest.fixture(scope="session")
def dense():
    """600 examples of 8 features, a fifth of them positive."""
    random = np.random.default_rng(7)
    y = np.where(random.random(600) < 0.2, 1, -1)
    X = random.normal(size=(600, 8)) + (y == 1)[:, None] * np.linspace(0, 1, 8)
    return X, y


@pytest.fixture(scope="session")
def sparse():
    """500 examples of 40 features, a tenth of the entries there."""
    random = np.random.default_rng(8)
    y = np.where(random.random(500) < 0.3, 1, -1)
    X = random.normal(size=(500, 40)) + (y == 1)[:, None]
    X[random.random(X.shape) < 0.9] = 0.0
    return csr_matrix(X), y
