"""`ubauc evaluate` against scikit-learn, and DeLong's variance against all pairs."""

import numpy as np
import pytest
from cases import binary_case, variance_of_mean, wins
from scipy.special import expit, logit
from scipy.stats import binomtest, norm
from sklearn.metrics import average_precision_score, roc_auc_score, roc_curve

EXACT = {"rel": 0, "abs": 1e-12}


@pytest.mark.parametrize("seed", range(80))
def test_auc_and_its_variance(seed, ubauc, write_csv):
    labels, scores, _ = binary_case(seed)
    found = ubauc("evaluate", write_csv("x.csv", label=labels, score=scores))
    psi = wins(labels, scores)
    assert found["auc"] == pytest.approx(roc_auc_score(labels, scores), **EXACT)
    assert found["auc"] == pytest.approx(psi.mean(), **EXACT)
    assert (found["n_pos"], found["n_neg"]) == psi.shape
    assert found["ties"] == np.count_nonzero(psi == 0.5)
    assert found["half_wins"] == 2 * psi.sum()
    assert found["variance"] == pytest.approx(variance_of_mean(psi), **EXACT)
    assert found["ci95"] == pytest.approx(logit_interval(found, min(psi.shape)), **EXACT)
    symmetric = ubauc("evaluate", "x.csv", "--interval", "delong")["ci95"]
    if found["variance"] > 0:
        half = norm.ppf(0.975) * np.sqrt(found["variance"])
        low, high = max(found["auc"] - half, 0), min(found["auc"] + half, 1)
        assert symmetric == pytest.approx([low, high], **EXACT)


def logit_interval(found, pairs):
    auc = found["auc"]
    if found["variance"] == 0:  # Clopper and Pearson's for so many outcomes that are all alike
        q = binomtest(pairs, pairs).proportion_ci(0.95, "exact").low
        return [q * auc, 1 - q * (1 - auc)]
    half = norm.ppf(0.975) * np.sqrt(found["variance"]) / (auc * (1 - auc))
    return expit([logit(auc) - half, logit(auc) + half])


@pytest.mark.parametrize("seed", range(20))
def test_average_precision_and_recall(seed, ubauc, write_csv):
    labels, scores, rng = binary_case(seed)
    rates = [float(rate) for rate in rng.uniform(0.001, 1, size=3)]
    asked = ",".join(map(str, rates))
    found = ubauc("evaluate", write_csv("x.csv", label=labels, score=scores), "--at-fpr", asked)
    expected = average_precision_score(labels, scores)
    assert found["average_precision"]["value"] == pytest.approx(expected, **EXACT)
    fpr, tpr, _ = roc_curve(labels, scores, drop_intermediate=False)
    for rate, recall in zip(rates, found["recall_at_fpr"], strict=True):
        assert recall["recall"] == pytest.approx(tpr[fpr <= rate].max(), **EXACT)
        assert recall["ci95"][0] <= recall["recall"] <= recall["ci95"][1]


@pytest.mark.parametrize("seed", range(60))
def test_weighted_auc(seed, ubauc, write_csv):
    labels, scores, rng = binary_case(seed)
    weights = [
        rng.exponential(size=labels.size),
        rng.integers(0, 4, size=labels.size),
        10.0 ** rng.uniform(-6, 6, size=labels.size),
    ][seed % 3]
    for label in (0, 1):  # some weight in each class
        weights[np.argmax(labels == label)] += 1
    name = write_csv("x.csv", label=labels, score=scores, w=weights)
    found = ubauc("evaluate", name, "--weight", "w")
    expected = roc_auc_score(labels, scores, sample_weight=weights)
    assert found["auc"] == pytest.approx(expected, **EXACT)
    for label, side in [(1, "pos"), (0, "neg")]:
        of_class = weights[labels == label]
        assert found[f"weight_{side}"] == pytest.approx(of_class.sum(), rel=1e-12)
        assert found[f"n_{side}"] == np.count_nonzero(of_class)


@pytest.mark.parametrize("seed", range(30))
def test_equal_weights_have_delongs_variance(seed, ubauc, write_csv):
    labels, scores, rng = binary_case(seed)
    weights = np.full(labels.size, rng.uniform(0.1, 10))
    name = write_csv("x.csv", label=labels, score=scores, w=weights)
    found = ubauc("evaluate", name, "--weight", "w")
    assert found["variance"] == pytest.approx(variance_of_mean(wins(labels, scores)), **EXACT)


RATES = [1e-6, 0.001, 0.01, 0.05, 0.1, 0.25, 1 / 3, 0.5, 0.75, 0.9, 0.999]


@pytest.mark.parametrize("seed", range(24))
def test_partial_auc(seed, ubauc, write_csv):
    labels, scores, rng = binary_case(seed)
    name = write_csv("x.csv", label=labels, score=scores)
    n_neg = np.count_nonzero(labels == 0)
    on_a_point = rng.integers(1, n_neg) / n_neg
    for f in [*rng.choice(RATES, size=3, replace=False), rng.uniform(0.001, 1), on_a_point]:
        f = float(f)
        # The range of high true positive rates is that of low false positive rates for the
        # negated scores of swapped classes.
        found = ubauc("evaluate", name, "--max-fpr", f, "--min-tpr", 1 - f)
        low_fpr, high_tpr = found["partial_auc"]
        assert low_fpr["part"] == {"max_fpr": f}
        assert high_tpr["part"] == {"min_tpr": 1 - f}
        width = 1 - (1 - f)  # what is left of f
        for part, expected, f_used in [
            (low_fpr, roc_auc_score(labels, scores, max_fpr=f), f),
            (high_tpr, roc_auc_score(1 - labels, -scores, max_fpr=width), width),
        ]:
            assert part["standardised"] == pytest.approx(expected, **EXACT), f
            chance = f_used**2 / 2
            raw = chance + (2 * expected - 1) * (f_used - chance)
            assert part["raw"] == pytest.approx(raw, **EXACT), f


@pytest.mark.parametrize("seed", range(8))
def test_partial_auc_of_all_rates_is_auc(seed, ubauc, write_csv):
    labels, scores, _ = binary_case(seed)
    name = write_csv("x.csv", label=labels, score=scores)
    found = ubauc("evaluate", name, "--max-fpr", 1, "--min-tpr", 0)
    for part in found["partial_auc"]:
        assert part["raw"] == part["standardised"] == found["auc"]


@pytest.mark.parametrize("seed", range(40))
def test_roc_curve(seed, ubauc, write_csv, tmp_path):
    labels, scores, _ = binary_case(seed)
    found = ubauc("evaluate", write_csv("x.csv", label=labels, score=scores), "--roc", "roc.csv")
    thresholds, fpr, tpr = np.loadtxt(tmp_path / "roc.csv", delimiter=",", skiprows=1).T
    their_fpr, their_tpr, their_thresholds = roc_curve(labels, scores, drop_intermediate=False)
    # Ours leaves out what lies on a straight line; every point is one of theirs, digit for digit...
    kept = np.isin(their_thresholds, thresholds)
    np.testing.assert_array_equal(thresholds, their_thresholds[kept])
    np.testing.assert_allclose(fpr, their_fpr[kept], rtol=0, atol=1e-15)
    np.testing.assert_allclose(tpr, their_tpr[kept], rtol=0, atol=1e-15)
    # ...and those left out lie on it: beside the area, which bounds them, the lines themselves.
    assert (fpr[0], tpr[0], fpr[-1], tpr[-1]) == (0, 0, 1, 1)
    assert np.trapezoid(tpr, fpr) == pytest.approx(found["auc"], **EXACT)
    position = np.searchsorted(-thresholds, -their_thresholds[~kept])
    for k, x, y in zip(position, their_fpr[~kept], their_tpr[~kept], strict=True):
        cross = (fpr[k] - fpr[k - 1]) * (y - tpr[k - 1]) - (tpr[k] - tpr[k - 1]) * (x - fpr[k - 1])
        assert abs(cross) < 1e-15
