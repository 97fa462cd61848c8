"""Workers that are killed at any moment of a fit, and a scheduler that is gone."""

import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")

from dask_processes import cluster  # noqa: E402
from ubauc import metrics  # noqa: E402
from ubauc.dask import DaskUBAUCClassifier, SchedulerGone, _workers, roc_auc_ci  # noqa: E402

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")


@pytest.fixture(scope="module")
def killable():
    """Three workers; tests leave at least as many."""
    with cluster(3) as (processes, client):
        yield processes, client


def rows(n=60_000, d=20, parts=4):
    """From a graph: Dask can make them again."""
    random = da.random.default_rng(5)
    X = random.normal(size=(n, d), chunks=(n // parts, d))
    y = (X[:, 0] + X[:, 1] + random.normal(size=n, chunks=n // parts) > 2).astype(int)
    return X, y


def numbers(clf):
    """All that a fit has found, bit for bit."""
    found = [clf.coef_, clf.threshold_, clf.objective_, clf.dual_objective_, clf.gap_, clf.n_iter_]
    found += [np.asarray(values, float) for values in clf.trace_.values()]
    return b"".join(np.asarray(x).tobytes() for x in found)


def classifier(client, **params):
    return DaskUBAUCClassifier(client, **{"beta": 0.5, "gamma": 1e-4, "tol": 1e-6, **params})


def later(seconds, do):
    """Do it from a thread of its own after so many seconds."""
    timer = threading.Timer(seconds, do)
    timer.daemon = True
    timer.start()
    return timer


def replaced(processes):
    """One worker dies, another one is started."""
    processes.start()
    processes.kill(processes.workers[0])


def test_kills_at_any_moment_leave_the_bits_as_they_are(killable):
    processes, client = killable
    X, y = rows()
    undisturbed = classifier(client).fit(X, y)
    start = time.monotonic()
    assert numbers(classifier(client).fit(X, y)) == numbers(undisturbed)
    seconds = time.monotonic() - start
    assert undisturbed.rounds_["replayed"] == 0
    random = np.random.default_rng(20)
    replayed = 0
    for moment in range(20):
        client.wait_for_workers(2, timeout=60)
        # One in each twentieth of the time, the first ones while partitions are loaded.
        kill = later((moment + random.random()) / 20 * seconds, lambda: replaced(processes))
        fitted = classifier(client).fit(X, y)
        kill.join()
        assert numbers(fitted) == numbers(undisturbed), f"moment {moment}"
        replayed += fitted.rounds_["replayed"]
    # Most of the kills were felt.
    assert replayed >= 10
