"""Ctrl-C ends a fit soon, and what is raised while progress is reported comes out of it."""

import sys
import time

import pytest
from child import interrupt, running
from ubauc import OPAUCClassifier, UBAUCClassifier, _core
from ubauc._problem import context, defaults, encoded

# Each takes many seconds, in one call of the library.
LONG = {
    "batch": "UBAUCClassifier(beta=1e-3, gamma=1e-6, tol=1e-13).fit(X40, y40)",
    "tuning": "UBAUCClassifier().fit(X3, y3)",
    "online": "UBAUCClassifier(solver='online', tol=0.0, max_iter=10**9).fit(X, y)",
    "solam": "SOLAMClassifier(tol=0.0, max_iter=10**9).fit(X, y)",
    "opauc, within a pass": "OPAUCClassifier(tau=0).fit(wide, np.arange(len(wide)) % 2)",
    "stream": "OPAUCClassifier(tau=0).partial_fit(wide, np.arange(len(wide)) % 2, classes=[0, 1])",
    "two threads": "UBAUCClassifier(n_jobs=2).fit(X3, y3)",
}


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT to send")
@pytest.mark.parametrize("case", LONG)
def test_ctrl_c(case):
    code = f"""
import time, warnings, numpy as np
from ubauc import *
random = np.random.default_rng(0)
X = random.standard_normal((20_000, 30))
y = X[:, 0] + random.standard_normal(20_000) > 1
X3, y3 = np.tile(X, (3, 1)), np.tile(y, 3)
X40, y40 = np.tile(X, (40, 1)), np.tile(y, 40)
wide = random.standard_normal((20_000, 900)) if "wide" in {LONG[case]!r} else None
warnings.simplefilter("ignore")
print("ready", flush=True)
try:
    {LONG[case]}
except KeyboardInterrupt:
    print("interrupted", UBAUCClassifier(beta=1.0, gamma=1.0).fit(X, y).coef_.shape, flush=True)
"""
    with running(code) as child:
        assert child.stdout.readline() == "ready\n"
        time.sleep(1.0)
        assert child.poll() is None
        sent = time.monotonic()
        interrupt(child)
        # And the library works on.
        assert child.stdout.readline() == "interrupted (1, 30)\n"
        # About a second is wanted; the machine may be busy, and the fit above takes its time.
        assert time.monotonic() - sent < 5.0
        assert child.wait(timeout=20) == 0


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
