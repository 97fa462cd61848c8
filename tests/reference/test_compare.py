"""`ubauc compare` against DeLong's paired test by all pairs."""

import numpy as np
import pytest
from cases import binary_case, variance_of_mean, wins
from scipy.stats import norm
from sklearn.metrics import roc_auc_score


def similar_scores(scores, labels, rng):
    """Scorers from nearly the same to unrelated, one of them with ties."""
    noise = rng.normal(size=(3, scores.size))
    scale = np.median(np.abs(scores)) or 1.0
    return {
        "a": scores,
        "b": scores + 0.1 * scale * noise[0],
        "c": noise[1] + rng.uniform(0, 2) * labels,
        "d": np.round(noise[2] + labels),
    }


@pytest.mark.parametrize("seed", range(50))
def test_paired_tests(seed, ubauc, write_csv):
    labels, scores, rng = binary_case(seed)
    scorers = similar_scores(scores, labels, rng)
    name = write_csv("x.csv", label=labels, **scorers)
    found = ubauc("compare", name, "--score", ",".join(scorers))
    psi = {key: wins(labels, column) for key, column in scorers.items()}
    assert [s["name"] for s in found["scorers"]] == list(scorers)
    for scorer in found["scorers"]:
        key = scorer["name"]
        assert scorer["auc"] == pytest.approx(roc_auc_score(labels, scorers[key]), rel=0, abs=1e-12)
        assert scorer["variance"] == pytest.approx(variance_of_mean(psi[key]), rel=0, abs=1e-12)
    assert [t["a"] + t["b"] for t in found["tests"]] == ["ab", "ac", "ad", "bc", "bd", "cd"]
    for test in found["tests"]:
        check_test(test, psi[test["a"]] - psi[test["b"]])


def check_test(test, psi):
    difference, variance = psi.mean(), variance_of_mean(psi)
    assert test["difference"] == pytest.approx(difference, rel=0, abs=1e-12)
    assert test["variance"] == pytest.approx(variance, rel=0, abs=1e-12)
    if abs(difference) < 1e-14:  # none but for rounding
        assert (test["z"], test["p"]) == (0, 1)
        return
    if variance < 1e-30:
        assert (test["z"], test["p"]) == (None, None)
        return
    z = difference / np.sqrt(variance)
    assert test["z"] == pytest.approx(z, rel=1e-12, abs=1e-12)
    assert test["p"] == pytest.approx(2 * norm.sf(abs(z)), rel=1e-9)
    half = norm.ppf(0.975) * np.sqrt(variance)
    low, high = max(difference - half, -1), min(difference + half, 1)
    assert test["ci95"] == pytest.approx([low, high], rel=0, abs=1e-12)


@pytest.mark.parametrize("seed", range(10))
def test_holm(seed, ubauc, write_csv):
    labels, scores, rng = binary_case(seed)
    scorers = similar_scores(scores, labels, rng)
    name = write_csv("x.csv", label=labels, **scorers)
    tests = ubauc("compare", name, "--score", ",".join(scorers))["tests"]
    assert all(test["p_holm"] is None for test in tests if test["p"] is None)
    tests = [test for test in tests if test["p"] is not None]
    p = np.array([test["p"] for test in tests])
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1)).clip(max=1)
    holm = np.empty_like(p)
    holm[order] = stepped
    assert [test["p_holm"] for test in tests] == pytest.approx(holm, rel=1e-15)


def test_tiny_p_values_keep_their_digits(ubauc, write_csv):
    rng = np.random.default_rng(7)
    labels = np.repeat([0, 1], 300)
    good, bad = rng.normal(size=600) + 3 * labels, rng.normal(size=600)
    name = write_csv("x.csv", label=labels, good=good, bad=bad)
    (test,) = ubauc("compare", name, "--score", "good,bad")["tests"]
    assert 0 < test["p"] < 1e-50
    check_test(test, wins(labels, good) - wins(labels, bad))
