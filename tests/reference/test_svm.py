"""`ubauc train --algorithm svm` against LIBLINEAR, through scikit-learn.

Both minimise ½(‖w‖² + b²) + C Σ [1 − y(w·x + b)]₊, the bias penalised.
"""

import json

import numpy as np
import pytest
from sklearn.svm import LinearSVC


def examples(seed):
    """Rows with zeros and labels ±1, more or less separable, rare positives now and then."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(60, 400)), int(rng.integers(2, 15))
    y = np.where(rng.random(n) < rng.choice([0.1, 0.3, 0.5]), 1, -1)
    y[:4] = [1, -1, 1, -1]
    x = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.7)
    x += rng.uniform(0, 1) * rng.normal(size=d) * y[:, None] / np.sqrt(d)
    return x, y


def write_svmlight(path, x, y):
    """All digits, so that both see the same numbers; entries that are 0 are left out."""
    with open(path, "w") as out:
        for row, label in zip(x, y, strict=True):
            entries = (f"{j + 1}:{value!r}" for j, value in enumerate(row.tolist()) if value)
            print(label, *entries, file=out)


def objective(x, y, c, w, b):
    loss = np.maximum(0, 1 - y * (x @ w + b))
    return 0.5 * (w @ w + b * b) + c * loss.sum()


@pytest.mark.parametrize("c", [0.01, 1, 10])
@pytest.mark.parametrize("seed", range(8))
def test_objective_and_weights(seed, c, ubauc, tmp_path):
    x, y = examples(seed)
    half = len(y) // 2
    write_svmlight(tmp_path / "x.svm", x[:half], y[:half])
    found = ubauc(
        *("train", "x.svm", "--algorithm", "svm", "--C", c, "--scale", "none"),
        *("--tolerance", "1e-8", "--passes", 10**6, "--model", "m.json"),
    )
    liblinear = LinearSVC(loss="hinge", dual=True, C=c, tol=1e-10, max_iter=10**6)
    liblinear.fit(x[:half], y[:half])
    w, b = liblinear.coef_[0], liblinear.intercept_[0]
    theirs = objective(x[:half], y[:half], c, w, b)
    assert found["objective"] == pytest.approx(theirs, rel=1e-4)
    assert found["stop"] == "converged"
    assert found["objective"] <= theirs * (1 + 1e-8)  # its gap is proved
    assert found["dual"] <= theirs * (1 + 1e-9)
    model = json.loads((tmp_path / "m.json").read_text())
    ours = np.zeros(x.shape[1])
    ours[: len(model["weights"])] = model["weights"]  # a last feature may be 0 throughout
    recomputed = objective(x[:half], y[:half], c, ours, model["intercept"])
    assert recomputed == pytest.approx(found["objective"], rel=1e-9)
    # The objective is 1-strongly convex: from the optimum, which lies above the dual, each is at
    # most √(2(P − D)) away.
    apart = np.hypot(np.linalg.norm(ours - w), model["intercept"] - b)
    room = sum(np.sqrt(2 * max(p - found["dual"], 0)) for p in (found["objective"], theirs))
    assert apart <= room + 1e-9
    assert room < 0.1
