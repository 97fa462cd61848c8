"""Ctrl-C ends a fit soon, and what is raised while progress is reported comes out of it."""

import sys

import pytest
from child import running
from ubauc import OPAUCClassifier, UBAUCClassifier, _core
from ubauc._problem import context, defaults, encoded

# Each takes more than four seconds of CPU time in a build for tests, "batch" a minute and more, in
# one call of the library.
LONG = {
    "batch": "UBAUCClassifier(beta=1e-3, gamma=1e-9, tol=1e-15).fit(X900, y900)",
    "tuning": "UBAUCClassifier().fit(X, y)",
    "online": "UBAUCClassifier(solver='online', tol=0.0, max_iter=10**9).fit(X, y)",
    "solam": "SOLAMClassifier(tol=0.0, max_iter=10**9).fit(X, y)",
    "opauc, within a pass": "OPAUCClassifier(tau=0).fit(X900, y900)",
    "stream": "OPAUCClassifier(tau=0).partial_fit(X900, y900, classes=[0, 1])",
    "two threads": "UBAUCClassifier(n_jobs=2).fit(X, y)",
}
# Reads statements and interrupts each when it has taken half a second of CPU time; prints how much
# more it took to end. The time by the clock depends on what else the machine has to do.
CODE = """
import os, signal, sys, threading, time, warnings, numpy as np
from ubauc import *

def interrupt():
    start = time.process_time()
    while time.process_time() - start < 0.5:
        time.sleep(0.01)
    sent.append(time.process_time())
    os.kill(os.getpid(), signal.SIGINT)

warnings.simplefilter("ignore")
random = np.random.default_rng(0)
X = np.tile(random.standard_normal((20_000, 30)), (20, 1))
y = X[:, 0] + random.standard_normal(400_000) > 1
X900 = random.standard_normal((8_000, 900))
y900 = (X900[:, 0] + random.standard_normal(8_000) > 1).astype(int)
for statement in sys.stdin:
    sent = []
    threading.Thread(target=interrupt, daemon=True).start()
    try:
        exec(statement)
        print("not interrupted", flush=True)
    except KeyboardInterrupt:
        print("interrupted", time.process_time() - sent[0], flush=True)
    print(UBAUCClassifier(beta=1.0, gamma=1.0).fit(X[:2000], y[:2000]).coef_.shape, flush=True)
"""


@pytest.fixture(scope="module")
def child():
    with running(CODE, patience=600.0) as child:
        yield child


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT to send")
@pytest.mark.parametrize("case", LONG)
def test_ctrl_c(case, child):
    child.stdin.write(LONG[case] + "\n")
    child.stdin.flush()
    said, seconds = child.stdout.readline().split()
    assert said == "interrupted"
    # A tenth of a second or so, and in "batch" a step.
    assert float(seconds) < 2.0
    # And the library works on.
    assert child.stdout.readline() == "(1, 30)\n"


def test_what_progress_raises_comes_out(dense):
    X, y = dense
    seen = []

    def progress(step, objective, gap):
        seen.append(step)
        if step == 2:
            raise ZeroDivisionError("of the one who watches")

    given = defaults("ba-ubauc") | {"gamma": 1e-3, "intercept": False, "tolerance": 1e-9}
    with pytest.raises(ZeroDivisionError, match="who watches"):
        _core.fit(X, y == 1, None, encoded(given), context(["-1", "1"], 2, progress))
    assert seen[-1] == 2 and seen.count(2) == 1


def test_progress_is_reported_by_the_thread_that_called(dense, monkeypatch):
    import builtins
    import threading

    threads = set()
    monkeypatch.setattr(builtins, "print", lambda *_, **__: threads.add(threading.get_ident()))
    UBAUCClassifier(beta=0.5, gamma=1e-3, verbose=1, n_jobs=2).fit(*dense)
    OPAUCClassifier(verbose=1).fit(*dense)
    assert threads == {threading.get_ident()}
