"""The Python package beside the Rust library and scikit-learn: what `make bench` shows as "python".

Build it as it is shipped first: `maturin develop --profile dist`, which `make bench` does.
"""

import json
import subprocess
import sys

import numpy as np
import ubauc
from measure import CACHE, best, measure, seconds, svmlight_text, table
from sklearn.datasets import load_svmlight_file
from sklearn.metrics import roc_auc_score
from ubauc.metrics import roc_auc_ci

# As a process of its own, whose peak memory is that of the array and of `fit`.
MEMORY = """
import json, sys
import numpy as np
from ubauc import UBAUCClassifier

def peak():
    lines = open("/proc/self/status").read().splitlines()
    return 1024 * int(next(line for line in lines if line.startswith("VmHWM")).split()[1])

# Once on few examples: libraries load what they load at first use.
small = np.random.default_rng(0).normal(size=(1000, 10))
UBAUCClassifier(beta=0.5, gamma=1e-4, fit_intercept=False).fit(small, small[:, 0] > 1)
rows = int(sys.argv[1])
X = np.empty((rows, 100))
random = np.random.default_rng(1)
y = np.empty(rows, dtype=np.int8)
for i in range(0, rows, 10000):
    part = random.normal(size=(min(10000, rows - i), 100))
    X[i : i + len(part)] = part
    y[i : i + len(part)] = part[:, 0] + random.normal(size=len(part)) > 2
before = peak()
UBAUCClassifier(beta=0.5, gamma=1e-4, fit_intercept=False, n_jobs=-1).fit(X, y)
print(json.dumps({"bytes": X.nbytes, "added": peak() - before}))
"""


def bench_python(rows=2_500_000):
    lines = [_fit(), _auc(), _read(), _memory(rows)]
    return table(["what", "ours", "beside", "ratio", "wanted"], lines)


def _fit():
    """The same fit here and in the library, one thread each, in turn."""
    name, text = svmlight_text()
    path = CACHE / "fit.svm"
    path.write_bytes(text)
    X, y = ubauc.load_svmlight(path)
    clf = ubauc.UBAUCClassifier(beta=0.5, gamma=1e-4, fit_intercept=False)
    rust = here = np.inf
    for _ in range(3):
        of_library = measure("fit", path, "-", 0.5, 1e-4, 1e-6, 15, threads=1)
        took, fitted = best(15, clf.fit, X, y)
        assert of_library["answer"] == fitted.objective_, (of_library["answer"], fitted.objective_)
        rust, here = min(rust, *of_library["seconds"]), min(here, took)
    path.unlink()
    what = f"`fit` on {name} from CSR, beside the Rust library"
    return [what, seconds(here), seconds(rust), f"{here / rust:.2f}×", "at most 1.10×"]


def _auc():
    random = np.random.default_rng(0)
    y = random.random(10**7) < 0.1
    scores = random.normal(size=y.size) + y
    theirs, auc = best(1, roc_auc_score, y, scores)
    ours, found = best(3, lambda: roc_auc_ci(y, scores, n_jobs=-1))
    assert abs(found.auc - auc) < 1e-9
    what = "`roc_auc_ci` of 10⁷, beside scikit-learn's `roc_auc_score`, which has no interval"
    return [what, seconds(ours), seconds(theirs), f"{theirs / ours:.1f}×", "at least 10×"]


def _read():
    name, text = svmlight_text()
    path = CACHE / "rows.svm"
    path.write_bytes(text * max(1, round(40e6 / len(text))))
    theirs, (X, y) = best(1, load_svmlight_file, str(path))
    ours, (X_ours, y_ours) = best(5, lambda: ubauc.load_svmlight(path, n_jobs=-1))
    assert (X != X_ours).nnz == 0 and (y == y_ours).all()
    size = path.stat().st_size / 1e6
    path.unlink()
    what = f"`load_svmlight` of {name}, {size:.0f} MB, beside `load_svmlight_file`"
    return [what, seconds(ours), seconds(theirs), f"{theirs / ours:.1f}×", "at least 30×"]


def _memory(rows):
    done = subprocess.run(
        [sys.executable, "-c", MEMORY, str(rows)], capture_output=True, text=True, check=True
    )
    found = json.loads(done.stdout)
    array, added = found["bytes"] / 1e6, found["added"] / 1e6
    what = f"memory that `fit` adds to a C-order array of {array:,.0f} MB"
    return [what, f"{added:,.0f} MB", f"{array:,.0f} MB", f"{added / array:.1%}", "less than 10 %"]
