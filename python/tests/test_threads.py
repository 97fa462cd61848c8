"""The GIL is released, and nothing breaks when many threads or processes work at once."""

import os
import subprocess
import sys
import threading
from multiprocessing.pool import ThreadPool

import numpy as np
from joblib import Parallel, delayed
from ubauc import UBAUCClassifier, metrics

PARAMS = {"beta": 0.5, "gamma": 1e-3}


def test_python_goes_on_while_the_library_works():
    """A thread that held the GIL for the whole of a fit would let no other one tick."""
    random = np.random.default_rng(0)
    X = random.standard_normal((20_000, 60))
    y = X[:, 0] + random.standard_normal(20_000) > 1
    done = threading.Event()

    def work():
        UBAUCClassifier(**PARAMS, tol=1e-9).fit(X, y)
        done.set()

    thread = threading.Thread(target=work)
    thread.start()
    ticks = 0
    while not done.is_set():
        done.wait(0.001)
        ticks += 1
    thread.join()
    # Validation takes a few ticks; a fit that held the GIL would add a single one.
    assert ticks > 50


def test_threads_agree(dense):
    X, y = dense
    expected = UBAUCClassifier(**PARAMS).fit(X, y).coef_

    def fit(k):
        return UBAUCClassifier(**PARAMS, n_jobs=1 + k % 3).fit(X, y).coef_

    with ThreadPool(8) as pool:
        for coef in pool.map(fit, range(24)):
            np.testing.assert_array_equal(coef, expected)


def test_joblib_agrees(dense):
    X, y = dense
    expected = UBAUCClassifier(**PARAMS).fit(X, y).coef_
    for backend in ("loky", "threading", "multiprocessing"):
        models = Parallel(n_jobs=2, backend=backend)(
            delayed(UBAUCClassifier(**PARAMS).fit)(X, y) for _ in range(3)
        )
        for model in models:
            np.testing.assert_array_equal(model.coef_, expected)


def test_a_fork_after_use_does_not_hang():
    """Threads do not survive a fork: none may be left to wait for."""
    if not hasattr(os, "fork"):
        return
    code = """
import os, numpy as np
from ubauc import metrics
y, scores = np.arange(50_000) % 2, np.random.default_rng(0).random(50_000)
before = metrics.roc_auc(y, scores, n_jobs=2)
child = os.fork()
if child == 0:
    os._exit(0 if metrics.roc_auc(y, scores, n_jobs=2) == before else 1)
raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], timeout=60)
    assert done.returncode == 0


def test_metrics_do_not_depend_on_threads():
    random = np.random.default_rng(1)
    y, scores = random.random(100_000) < 0.1, random.normal(size=100_000).round(3)
    assert len({metrics.roc_auc_ci(y, scores, n_jobs=n) for n in (1, 2, 3)}) == 1
