"""`ubauc train --algorithm logistic`, and the soft bound that it is a corner of: scikit-learn.

Both minimise Σ a ln(1 + exp(−y(w·x + b))) + ‖w‖²/(2C), C = 1/(Nγ), N the sum of the sample weights;
the weights a of the examples are their sample weights times those of their classes.
"""

import json

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression

GAMMAS = [0.1, 1e-3]


def examples(seed):
    """Rows with zeros, labels 0 and 1, rare positives now and then, weights, some of them 0."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(80, 400)), int(rng.integers(2, 12))
    y = (rng.random(n) < rng.choice([0.1, 0.3, 0.6])).astype(int)
    y[:4] = [1, 0, 1, 0]
    x = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.7) + rng.normal(size=d)
    x += rng.normal(size=d) * y[:, None] / np.sqrt(d)
    weights = rng.uniform(0.1, 3, size=n) * (rng.random(n) < 0.8)
    weights[:4] = 1.0
    return x, y, weights


def write(write_csv, x, y, weights):
    columns = {f"x{j}": column for j, column in enumerate(x.T)}
    return write_csv("x.csv", label=y, weight=weights, **columns)


def fitted(ubauc, tmp_path, name, *options):
    """w, b and what was answered, of features as they are."""
    found = ubauc(
        *("train", name, "--scale", "none", "--model", "m.json"),
        *("--tolerance", "1e-14", *options),
    )
    model = json.loads((tmp_path / "m.json").read_text())
    return np.array(model["weights"]), model["intercept"], found


def scikit_learn(x, y, weights, gamma, class_weight):
    model = LogisticRegression(
        C=1 / (gamma * weights.sum()),
        tol=1e-12,
        max_iter=10**4,
        solver="newton-cholesky",
        class_weight=class_weight,
    )
    return model.fit(x, y, sample_weight=weights)


@pytest.mark.parametrize("gamma", GAMMAS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("balanced", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_coefficients(seed, balanced, weighted, gamma, ubauc, tmp_path, write_csv):
    x, y, weights = examples(seed)
    if not weighted:
        weights = np.ones(len(y))
    class_weight = None
    if balanced:
        # Of the sample weights, not of the rows.
        of_class = np.bincount(y, weights=weights)
        class_weight = dict(enumerate(weights.sum() / (2 * of_class)))
    theirs = scikit_learn(x, y, weights, gamma, class_weight)
    name = write(write_csv, x, y, weights)
    kind = "balanced" if balanced else "none"
    options = ["--gamma", gamma, "--weight", "weight", "--class-weight", kind]
    corners = [["--algorithm", "logistic"], ["--beta", 0, "--softness", 1]]
    for corner in corners:
        w, b, found = fitted(ubauc, tmp_path, name, *options, *corner)
        np.testing.assert_allclose(w, theirs.coef_[0], rtol=0, atol=1e-6)
        assert b == pytest.approx(theirs.intercept_[0], abs=1e-6)
        assert found["dual"] <= found["objective"]
    if balanced and not weighted:
        # Then it is what scikit-learn calls balanced.
        by_name = scikit_learn(x, y, weights, gamma, "balanced")
        np.testing.assert_allclose(by_name.coef_, theirs.coef_, rtol=0, atol=1e-9)


@pytest.mark.parametrize("softness", [0.02, 0.3, 4])
@pytest.mark.parametrize("beta", [0, 0.5])
@pytest.mark.parametrize("balanced", [False, True])
def test_objective_of_any_softness(balanced, beta, softness, ubauc, tmp_path, write_csv):
    """P by its definition, no smaller anywhere that BFGS can find."""
    x, y, weights = examples(11)
    n, d = x.shape
    gamma, sign = 1e-2, 2 * y - 1
    total = weights.sum()
    a = weights.copy()
    if balanced:
        a *= (total / (2 * np.bincount(y, weights=weights)))[y]

    def objective(at):
        w, b, threshold = at[:d], at[d], at[d + 1]
        score = x @ w
        t = sign * (threshold - score) / softness
        residual = score + b - sign
        value = softness * np.logaddexp(0, t) + beta / 2 * residual**2
        p = 1 / (1 + np.exp(-np.clip(t, -500, 500)))
        by_score = a / total * (beta * residual - sign * p)
        slopes = [a @ (beta * residual) / total, a @ (sign * p) / total]
        slope = np.concatenate([x.T @ by_score + gamma * w, slopes])
        return a @ value / total + gamma / 2 * w @ w, slope

    name = write(write_csv, x, y, weights)
    w, b, found = fitted(
        *(ubauc, tmp_path, name, "--beta", beta, "--softness", softness, "--gamma", gamma),
        *("--weight", "weight", "--class-weight", "balanced" if balanced else "none"),
    )
    # The threshold of the answer is one of w·x + b.
    threshold = np.mean(found["lambda"]) - b
    value, slope = objective(np.concatenate([w, [b if beta else 0.0, threshold]]))
    assert found["objective"] == pytest.approx(value, rel=1e-10)
    # λ is stored with all its digits; the slope vanishes with the root of the gap.
    assert np.abs(slope).max() < 1e-5
    best = minimize(objective, np.zeros(d + 2), jac=True, method="BFGS", options={"gtol": 1e-9})
    assert value <= best.fun * (1 + 1e-9)
    assert found["dual"] <= best.fun * (1 + 1e-12)
