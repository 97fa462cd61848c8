"""Metrics against scikit-learn, and against the definition written out."""

import math
import pickle

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score
from ubauc import metrics


def cases():
    random = np.random.default_rng(3)
    for n, digits in ((20, 0), (300, 1), (3000, 12)):
        y = (random.random(n) < 0.3).astype(int)
        y[:2] = [0, 1]
        yield pytest.param(
            y, (random.normal(size=n) + y).round(digits), id=f"n={n}, {digits} digits"
        )


@pytest.mark.parametrize("y, scores", list(cases()))
def test_auc(y, scores):
    expected = roc_auc_score(y, scores)
    assert metrics.roc_auc(y, scores) == pytest.approx(expected, abs=1e-14)
    assert metrics.roc_auc(y, scores.astype(np.float32)) == pytest.approx(
        roc_auc_score(y, scores.astype(np.float32)), abs=1e-14
    )
    weights = np.random.default_rng(0).random(len(y))
    expected = roc_auc_score(y, scores, sample_weight=weights)
    assert metrics.roc_auc(y, scores, sample_weight=weights) == pytest.approx(expected, abs=1e-12)
    for max_fpr in (0.1, 0.5, 1.0):
        expected = roc_auc_score(y, scores, max_fpr=max_fpr)
        assert metrics.partial_auc(y, scores, max_fpr=max_fpr) == pytest.approx(expected, abs=1e-12)
        expected = roc_auc_score(y, scores, max_fpr=max_fpr, sample_weight=weights)
        found = metrics.partial_auc(y, scores, max_fpr=max_fpr, sample_weight=weights)
        assert found == pytest.approx(expected, abs=1e-12)
    for rates in ({}, {"max_fpr": 0.1, "min_tpr": 0.9}):
        with pytest.raises(ValueError, match="one of max_fpr and min_tpr"):
            metrics.partial_auc(y, scores, **rates)


@pytest.mark.parametrize("y, scores", list(cases()))
def test_average_precision(y, scores):
    weights = np.random.default_rng(0).random(len(y))
    weights[2] = 0.0
    for given in ({}, {"sample_weight": weights}):
        expected = average_precision_score(y, scores, **given)
        assert metrics.average_precision(y, scores, **given) == pytest.approx(expected, abs=1e-12)
    for label in (0, 1):
        expected = average_precision_score(y, -scores, pos_label=label)
        found = metrics.average_precision(y, -scores, pos_label=label)
        assert found == pytest.approx(expected, abs=1e-12)
    with pytest.raises(ValueError, match="one class"):
        metrics.average_precision(np.ones_like(y), scores)
    with pytest.raises(ValueError, match="inconsistent"):
        metrics.average_precision(y, scores, sample_weight=weights[1:])


@pytest.mark.parametrize("y, scores", list(cases()))
def test_groups_by_definition(y, scores):
    """Obuchowski's sums over groups, from each example against all of the other class."""
    random = np.random.default_rng(4)
    names = np.array([f"patient {k}" for k in range(len(y) // 3)])
    groups = random.choice(names, size=len(y))
    other = random.normal(size=len(y)) + 0.3 * y
    codes = np.unique(groups, return_inverse=True)[1]

    def sums(scores):
        wins = np.sign(scores[y == 1][:, None] - scores[y == 0][None, :]) / 2 + 0.5
        pos, neg = wins.mean(axis=1) - wins.mean(), wins.mean(axis=0) - wins.mean()
        return np.bincount(codes[y == 1], pos, names.size), np.bincount(
            codes[y == 0], neg, names.size
        )

    def covariance(a, b):
        m, n = (y == 1).sum(), (y == 0).sum()
        i, i10, i01 = (np.unique(codes[rows]).size for rows in (y >= 0, y == 1, y == 0))
        s10 = i10 / ((i10 - 1) * m) * (a[0] @ b[0])
        s01 = i01 / ((i01 - 1) * n) * (a[1] @ b[1])
        s11 = i / (i - 1) * (a[0] @ b[1] + a[1] @ b[0])
        return s10 / m + s01 / n + s11 / (m * n)

    a, b = sums(scores), sums(other)
    found = metrics.roc_auc_ci(y, scores, groups=groups)
    assert found.auc == metrics.roc_auc(y, scores)
    assert found.variance == pytest.approx(covariance(a, a), rel=1e-9)
    test = metrics.delong_test(y, scores, other, groups=groups)
    variance = covariance(a, a) + covariance(b, b) - 2 * covariance(a, b)
    assert test.z == pytest.approx(test.difference / math.sqrt(variance), rel=1e-9)
    compared = metrics.compare_models(y, [scores, other], groups=groups)
    assert compared.aucs[0] == found and compared.pairs[0].test == test

    alone = np.arange(len(y))
    found, plain = metrics.roc_auc_ci(y, scores, groups=alone), metrics.roc_auc_ci(y, scores)
    assert found.variance == pytest.approx(plain.variance, rel=1e-12)
    with pytest.raises(ValueError, match="two groups have negative"):
        metrics.roc_auc_ci(y, scores, groups=np.where(y == 0, -1, alone))
    with pytest.raises(ValueError, match="not both"):
        metrics.roc_auc_ci(y, scores, groups=alone, sample_weight=alone)
    with pytest.raises(ValueError, match="inconsistent"):
        metrics.roc_auc_ci(y, scores, groups=alone[1:])


@pytest.mark.parametrize("y, scores", list(cases()))
def test_delong_by_definition(y, scores):
    """Variances of the placements, each example against all of the other class."""
    other = np.random.default_rng(5).normal(size=len(y)) + 0.3 * y

    def placements(scores):
        wins = np.sign(scores[y == 1][:, None] - scores[y == 0][None, :]) / 2 + 0.5
        return wins.mean(axis=1), wins.mean(axis=0)

    (a_pos, a_neg), (b_pos, b_neg) = placements(scores), placements(other)
    found = metrics.roc_auc_ci(y, scores)
    variance = a_pos.var(ddof=1) / a_pos.size + a_neg.var(ddof=1) / a_neg.size
    assert found.auc == pytest.approx(a_pos.mean(), abs=1e-13)
    assert found.variance == pytest.approx(variance, rel=1e-9)
    logit = math.log(found.auc / (1 - found.auc))
    half = 1.959964 * variance**0.5 / (found.auc * (1 - found.auc))
    assert found.low == pytest.approx(1 / (1 + math.exp(half - logit)), abs=1e-6)
    test = metrics.delong_test(y, scores, other)
    difference, pos, neg = a_pos.mean() - b_pos.mean(), a_pos - b_pos, a_neg - b_neg
    z = difference / math.sqrt(pos.var(ddof=1) / pos.size + neg.var(ddof=1) / neg.size)
    assert test.z == pytest.approx(z, rel=1e-9)
    assert test.pvalue == pytest.approx(math.erfc(abs(z) / math.sqrt(2)), rel=1e-9)


def test_holm():
    random = np.random.default_rng(6)
    y = random.random(200) < 0.4
    scorers = [random.normal(size=200) + strength * y for strength in (0.0, 0.5, 1.0, 2.0)]
    found = metrics.compare_models(y, scorers)
    p = np.array([pair.test.pvalue for pair in found.pairs])
    order, running, expected = np.argsort(p), 0.0, np.empty(6)
    for rank, k in enumerate(order):
        running = max(running, min(1.0, (6 - rank) * p[k]))
        expected[k] = running
    np.testing.assert_allclose([pair.pvalue_holm for pair in found.pairs], expected, rtol=1e-12)
    assert [auc.auc for auc in found.aucs] == [metrics.roc_auc(y, s) for s in scorers]
    same = metrics.delong_test(y, scorers[0], scorers[0])
    assert (same.difference, same.z, same.pvalue) == (0.0, 0.0, 1.0)
    perfect = metrics.delong_test([0, 1], [0, 1], [1, 0])
    assert perfect.z == math.inf and math.isnan(perfect.pvalue)


def test_hand_till():
    random = np.random.default_rng(7)
    y = random.integers(0, 4, size=400)
    scores = random.random((400, 4)) + np.eye(4)[y]
    scores /= scores.sum(axis=1, keepdims=True)
    for average in ("macro", "weighted"):
        expected = roc_auc_score(y, scores, multi_class="ovo", average=average)
        assert metrics.hand_till(y, scores, average=average) == pytest.approx(expected, abs=1e-12)
    names = np.array(["d", "c", "b", "a"])
    found = metrics.hand_till(names[y], scores, labels=names)
    assert found == metrics.hand_till(y, scores)
    with pytest.raises(ValueError, match="columns"):
        metrics.hand_till(y, scores[:, :3])
    with pytest.raises(ValueError, match="not in labels"):
        metrics.hand_till(y, scores, labels=[0, 1, 2, 7])


def test_univariate_bound():
    random = np.random.default_rng(8)
    y, scores = random.random(100) < 0.4, random.normal(size=100)
    found = metrics.univariate_bound(y, scores)
    low, high = found.threshold
    sign = np.where(y, 1.0, -1.0)
    for threshold in (low, high, (low + high) / 2):
        hinge = np.maximum(0.0, sign * (threshold - scores)).sum()
        assert found.l_tilde == pytest.approx(hinge / (y.sum() * (~y).sum()), rel=1e-12)
    gaps = np.diff(np.sort(scores))
    assert found.alpha_lower == pytest.approx(1 / gaps.max())
    assert found.alpha_upper == pytest.approx(1 / gaps.min())
    assert found.risk_lower <= found.auc_risk <= found.risk_upper
    tied = metrics.univariate_bound([0, 1, 0, 1], [1, 1, 2, 3])
    assert (tied.alpha_upper, tied.risk_upper, tied.tied_pairs) == (math.inf, 1.0, 1)


def test_streaming():
    random = np.random.default_rng(9)
    y, scores = random.random(5000) < 0.2, random.normal(size=5000)
    exact = metrics.roc_auc(y, scores)
    whole = metrics.StreamingAUC().update(y, scores)
    assert abs(whole.value() - exact) <= whole.error_bound() <= 0.01
    low, high = whole.interval()
    assert low <= exact <= high
    parts = [metrics.StreamingAUC().update(y[k::3], scores[k::3]) for k in range(3)]
    merged = pickle.loads(pickle.dumps(parts[2])).merge(parts[0]).merge(parts[1])
    assert merged.interval() == whole.interval()
    assert (merged.n_pos, merged.n_neg) == (int(y.sum()), int((~y).sum()))
    assert merged.merge(merged).n_pos == 2 * int(y.sum())
    one = metrics.StreamingAUC().update(["b"], [1.0], pos_label="b")
    with pytest.raises(ValueError, match="one class"):
        one.value()
    with pytest.raises(ValueError, match="NaN"):
        one.update([0, 1], [1.0, np.nan])
    assert (one.n_pos, one.n_neg) == (1, 0)
    with pytest.raises(ValueError, match="bits"):
        one.merge(metrics.StreamingAUC(bits=4))
    with pytest.raises(ValueError, match="bits"):
        metrics.StreamingAUC(bits=99)


def test_labels_of_any_kind():
    scores = [0.1, 0.4, 0.35, 0.8]
    for y in ([0, 0, 1, 1], [-1, -1, 1, 1], ["a", "a", "b", "b"], [False, False, True, True]):
        assert metrics.roc_auc(y, scores) == 0.75
    assert metrics.roc_auc([2, 2, 1, 1], scores) == 0.25
    assert metrics.roc_auc([2, 2, 1, 1], scores, pos_label=1) == 0.75
    assert metrics.roc_auc([3, 1, 2, 2], scores, pos_label=2) == 0.75


@pytest.mark.parametrize(
    "y, scores, what",
    [
        ([0, 1, 2], [1, 2, 3], "3 classes"),
        ([1, 1], [1, 2], "one class"),
        ([0, 1], [1, np.nan], "NaN"),
        ([0, 1], [1], "inconsistent"),
        ([], [], "no examples"),
        ([[0, 1]], [[1, 2]], "1d|shape"),
        ([0.1, 0.2, 0.3], [1, 2, 3], "continuous"),
    ],
)
def test_what_has_no_auc_is_refused(y, scores, what):
    with pytest.raises(ValueError, match=what):
        metrics.roc_auc(y, scores)


def test_intervals_by_other_methods():
    y = np.arange(200) % 4 == 0
    scores = np.random.default_rng(1).normal(size=200) + y
    by_logit, by_delong = (metrics.roc_auc_ci(y, scores, method=m) for m in ("logit", "delong"))
    half = 1.959963984540054 * np.sqrt(by_delong.variance)
    assert by_delong.low == pytest.approx(by_delong.auc - half)
    assert by_logit.low < by_delong.low  # the logit scale is wider below where AUC is above a half
    drawn = metrics.roc_auc_ci(y, scores, method="bootstrap", n_resamples=400, random_state=3)
    assert abs(drawn.low - by_logit.low) < 0.05 and abs(drawn.high - by_logit.high) < 0.05
    same = metrics.roc_auc_ci(
        y, scores, method="bootstrap", n_resamples=400, random_state=3, n_jobs=2
    )
    assert same == drawn
    other = metrics.roc_auc_ci(y, scores, method="bootstrap", n_resamples=400, random_state=4)
    assert other != drawn
    groups = np.arange(200) // 8
    grouped = metrics.roc_auc_ci(y, scores, method="bootstrap", groups=groups, n_resamples=200)
    weighted = metrics.roc_auc_ci(
        y, scores, method="bootstrap", sample_weight=np.ones(200), n_resamples=200
    )
    assert grouped.low < grouped.auc < grouped.high and weighted.low < drawn.auc
    for wrong in ({"method": "wald"}, {"method": "bootstrap", "n_resamples": 99}):
        with pytest.raises(ValueError, match="must be"):
            metrics.roc_auc_ci(y, scores, **wrong)


def test_average_precision_and_recall_have_intervals():
    y = np.arange(300) % 5 == 0
    scores = np.random.default_rng(2).normal(size=300) + 1.5 * y
    found = metrics.average_precision_ci(y, scores)
    assert found.average_precision == pytest.approx(metrics.average_precision(y, scores))
    assert (found.n_pos, found.n_neg) == (60, 240)
    drawn = metrics.average_precision_ci(y, scores, method="bootstrap", n_resamples=400)
    assert abs(drawn.low - found.low) < 0.1 and abs(drawn.high - found.high) < 0.1
    recall = metrics.recall_at_fpr_ci(y, scores, 0.1)
    above = scores >= recall.threshold
    assert recall.fpr == above[~y].mean() <= 0.1
    assert recall.recall == above[y].mean()
    drawn = metrics.recall_at_fpr_ci(y, scores, 0.1, method="bootstrap", n_resamples=400)
    assert abs(drawn.low - recall.low) < 0.15 and abs(drawn.high - recall.high) < 0.15
    groups = np.arange(300) // 6
    for function in (
        metrics.average_precision_ci,
        lambda *a, **k: metrics.recall_at_fpr_ci(*a, 0.1, **k),
    ):
        grouped = function(y, scores, groups=groups)
        assert grouped[0] == function(y, scores)[0]
        assert grouped[1] < grouped[0] < grouped[2]
        drawn = function(y, scores, groups=groups, method="bootstrap", n_resamples=400)
        # Recall counts a group as one example: here too wide.
        assert grouped[1] < drawn[1] + 0.1 and grouped[2] > drawn[2] - 0.1
    nothing = metrics.recall_at_fpr_ci([0, 1, 0], [3, 2, 1], 0.1)
    assert (nothing.recall, nothing.threshold) == (0, np.inf)
    for rate in (0, 1.1, np.nan):
        with pytest.raises(ValueError, match="max_fpr"):
            metrics.recall_at_fpr_ci(y, scores, rate)


@pytest.mark.parametrize("missing", [np.nan, None])
def test_a_missing_group_is_refused(missing):
    y, scores = [0, 1, 0, 1], [0.1, 0.4, 0.2, 0.8]
    for groups in ([1.0, missing, 2.0, 3.0], np.array(["a", missing, "b", "c"], dtype=object)):
        with pytest.raises(ValueError, match="group of row 1 is missing"):
            metrics.roc_auc_ci(y, scores, groups=groups)
