"""AUC and its statistics, from labels and scores.

Labels are of two classes, the larger one being positive unless `pos_label` says otherwise; scores
are higher for what is more likely positive. Ties count one half. What is counted is counted in
integers, so nothing depends on `n_jobs` or on the order of the examples.
"""

import json
import math
from itertools import combinations
from typing import NamedTuple

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils import check_array, check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from . import _core

__all__ = [
    "AUCInterval",
    "DeLongTest",
    "ModelComparison",
    "PairedComparison",
    "StreamingAUC",
    "UnivariateBound",
    "compare_models",
    "delong_test",
    "hand_till",
    "partial_auc",
    "roc_auc",
    "roc_auc_ci",
    "univariate_bound",
]


class AUCInterval(NamedTuple):
    """AUC with its 95 % interval."""

    auc: float
    low: float
    high: float
    variance: float
    n_pos: int
    n_neg: int
    ties: int | None


class DeLongTest(NamedTuple):
    """Whether two scorers of the same examples have the same AUC."""

    auc_a: float
    auc_b: float
    difference: float
    low: float
    high: float
    z: float
    pvalue: float


class PairedComparison(NamedTuple):
    """One pair of a `ModelComparison`."""

    a: int
    b: int
    test: DeLongTest
    pvalue_holm: float


class ModelComparison(NamedTuple):
    """Several scorers of the same examples."""

    aucs: list[AUCInterval]
    pairs: list[PairedComparison]


class UnivariateBound(NamedTuple):
    """What Theorem 1 says of a list of scores."""

    auc_risk: float
    l_tilde: float
    threshold: tuple[float, float]
    risk_lower: float
    risk_upper: float
    alpha_lower: float
    alpha_upper: float
    tied_pairs: int
    svm_objective: float


def _positive(y_true, pos_label):
    """The positive examples as a boolean array."""
    y_true = column_or_1d(y_true)
    if pos_label is not None:
        return np.ascontiguousarray(y_true == pos_label)
    if y_true.dtype == bool:
        return np.ascontiguousarray(y_true)
    if y_true.dtype.kind in "iuf" and y_true.size:
        # Two passes in place of a sort.
        low, high = y_true.min(), y_true.max()
        positive = y_true == high
        if np.isfinite([low, high]).all() and (positive | (y_true == low)).all():
            # One class: the library says so, unless the class can be guessed.
            return np.ascontiguousarray(positive if low < high else y_true > 0)
    if not y_true.size:
        return np.zeros(0, dtype=bool)
    check_classification_targets(y_true)
    classes = np.unique(y_true)
    if classes.size > 2:
        raise ValueError(
            f"y_true has {classes.size} classes: name the positive one, pos_label, or use hand_till"
        )
    return np.ascontiguousarray(y_true == classes[-1])


def _scores(y_score):
    scores = column_or_1d(y_score)
    return np.require(scores, dtype=np.float64, requirements=["C", "ALIGNED"])


def _given(y_true, y_score, pos_label):
    check_consistent_length(y_true, y_score)
    return _scores(y_score), _positive(y_true, pos_label)


def _interval(found):
    low, high = found["ci95"]
    return AUCInterval(
        found["auc"],
        low,
        high,
        found["variance"],
        found["n_pos"],
        found["n_neg"],
        found.get("ties"),
    )


def roc_auc(y_true, y_score, *, sample_weight=None, pos_label=None, n_jobs=None):
    """Area under the ROC curve.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes.
    y_score : array-like of shape (n_samples,)
        Scores; not NaN.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights, at least 0.
    pos_label : scalar or str, default=None
        The positive class; the larger of two if None.
    n_jobs : int, default=None
        Threads. None is 1, and -1 one for each core.

    Returns
    -------
    auc : float
        The probability that a positive scores above a negative, a tie counted one half.

    Examples
    --------
    >>> from ubauc.metrics import roc_auc
    >>> roc_auc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.75
    """
    return roc_auc_ci(
        y_true, y_score, sample_weight=sample_weight, pos_label=pos_label, n_jobs=n_jobs
    ).auc


def roc_auc_ci(y_true, y_score, *, sample_weight=None, pos_label=None, n_jobs=None):
    """Area under the ROC curve with DeLong's variance and 95 % interval.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes.
    y_score : array-like of shape (n_samples,)
        Scores; not NaN.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights, at least 0; the variance is then the linearised one.
    pos_label : scalar or str, default=None
        The positive class; the larger of two if None.
    n_jobs : int, default=None
        Threads. None is 1, and -1 one for each core.

    Returns
    -------
    found : AUCInterval
        ``auc``, ``low``, ``high``, ``variance``, ``n_pos``, ``n_neg``, and ``ties``, the tied pairs
        of opposite classes (None with weights).

    Examples
    --------
    >>> from ubauc.metrics import roc_auc_ci
    >>> found = roc_auc_ci([0, 0, 1, 0, 1], [0.1, 0.4, 0.35, 0.2, 0.8])
    >>> found.auc, found.n_pos, found.ties
    (0.8333333333333334, 2, 0)
    >>> found.low < found.auc <= found.high
    True
    """
    scores, positive = _given(y_true, y_score, pos_label)
    threads = effective_n_jobs(n_jobs)
    if sample_weight is None:
        return _interval(json.loads(_core.auc(scores, positive, threads)))
    check_consistent_length(scores, sample_weight)
    weights = _scores(sample_weight)
    return _interval(json.loads(_core.weighted_auc(scores, positive, weights, threads)))


def _delong(test):
    low, high = test["ci95"]
    z, p = test["z"], test["p"]
    return DeLongTest(
        test["auc_a"],
        test["auc_b"],
        test["difference"],
        low,
        high,
        # JSON has no infinity.
        math.copysign(math.inf, test["difference"]) if z is None else z,
        math.nan if p is None else p,
    )


def compare_models(y_true, y_scores, *, pos_label=None, n_jobs=None):
    """DeLong's paired test between all pairs of several scorers, with Holm's correction.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes.
    y_scores : sequence of array-like of shape (n_samples,)
        The scores of each scorer, of the same examples.
    pos_label : scalar or str, default=None
        The positive class; the larger of two if None.
    n_jobs : int, default=None
        Threads. None is 1, and -1 one for each core.

    Returns
    -------
    found : ModelComparison
        ``aucs``, one for each scorer, and ``pairs`` in the order (0, 1), (0, 2), …, each with its
        test and ``pvalue_holm``. A p-value is NaN where two AUCs differ without any variance.

    Examples
    --------
    >>> from ubauc.metrics import compare_models
    >>> y = [0, 0, 1, 0, 1, 0, 1]
    >>> scores = [[1, 3, 3, 2, 5, 4, 2], [2, 1, 5, 3, 4, 2, 6], [1, 2, 2, 3, 4, 4, 5]]
    >>> found = compare_models(y, scores)
    >>> [(pair.a, pair.b) for pair in found.pairs]
    [(0, 1), (0, 2), (1, 2)]
    >>> round(found.pairs[0].test.pvalue, 4), round(found.pairs[0].pvalue_holm, 4)
    (0.1595, 0.4784)
    """
    scorers = [_scores(scores) for scores in y_scores]
    check_consistent_length(y_true, *scorers)
    positive = _positive(y_true, pos_label)
    found = json.loads(_core.compare(scorers, positive, effective_n_jobs(n_jobs)))
    return ModelComparison(
        [_interval(auc) for auc in found["aucs"]],
        [
            PairedComparison(
                pair["a"],
                pair["b"],
                _delong(pair["test"]),
                math.nan if pair["p_holm"] is None else pair["p_holm"],
            )
            for pair in found["pairs"]
        ],
    )


def delong_test(y_true, y_score_a, y_score_b, *, pos_label=None, n_jobs=None):
    """DeLong's test of whether two scorers of the same examples have the same AUC.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes.
    y_score_a, y_score_b : array-like of shape (n_samples,)
        The scores of both.
    pos_label : scalar or str, default=None
        The positive class; the larger of two if None.
    n_jobs : int, default=None
        Threads. None is 1, and -1 one for each core.

    Returns
    -------
    found : DeLongTest
        ``auc_a``, ``auc_b``, their ``difference`` with its 95 % interval ``low`` to ``high``, ``z``
        and the two-sided ``pvalue``.

    Examples
    --------
    >>> from ubauc.metrics import delong_test
    >>> found = delong_test([0, 0, 1, 0, 1, 0, 1], [1, 3, 3, 2, 5, 4, 2], [2, 1, 5, 3, 4, 2, 6])
    >>> round(found.difference, 4), round(found.pvalue, 4)
    (-0.3333, 0.1595)
    """
    found = compare_models(y_true, [y_score_a, y_score_b], pos_label=pos_label, n_jobs=n_jobs)
    return found.pairs[0].test


def partial_auc(
    y_true,
    y_score,
    *,
    max_fpr=None,
    min_tpr=None,
    standardised=True,
    pos_label=None,
    n_jobs=None,
):
    """Area under a part of the ROC curve.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes.
    y_score : array-like of shape (n_samples,)
        Scores; not NaN.
    max_fpr : float, default=None
        Count false positive rates from 0 to this one, in (0, 1].
    min_tpr : float, default=None
        Count true positive rates from this one, in [0, 1), to 1. One of the two must be given.
    standardised : bool, default=True
        McClish's scale, ½ for chance and 1 for a perfect scorer; otherwise the area itself.
    pos_label : scalar or str, default=None
        The positive class; the larger of two if None.
    n_jobs : int, default=None
        Threads. None is 1, and -1 one for each core.

    Returns
    -------
    auc : float
        The partial AUC.

    Examples
    --------
    >>> from ubauc.metrics import partial_auc
    >>> partial_auc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], max_fpr=0.5, standardised=False)
    0.25
    """
    scores, positive = _given(y_true, y_score, pos_label)
    threads = effective_n_jobs(n_jobs)
    raw, standard = _core.partial_auc(scores, positive, max_fpr, min_tpr, threads)
    return standard if standardised else raw


def hand_till(y_true, y_score, *, labels=None, average="macro", sample_weight=None, n_jobs=None):
    """AUC for many classes: the mean over all pairs of classes (Hand & Till, 2001).

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels.
    y_score : array-like of shape (n_samples, n_classes)
        A score for each class; they need not add up to one.
    labels : array-like of shape (n_classes,), default=None
        The classes in the order of the columns; those of `y_true`, ascending, if None.
    average : {"macro", "weighted"}, default="macro"
        Every pair alike, or by its number of examples, or their weight.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights, at least 0; every class needs some.
    n_jobs : int, default=None
        Threads. None is 1, and -1 one for each core.

    Returns
    -------
    m : float
        The mean.

    Examples
    --------
    >>> from ubauc.metrics import hand_till
    >>> hand_till([0, 1, 2, 2], [[3, 1, 1], [1, 3, 2], [1, 2, 3], [1, 1, 1]])
    0.875
    """
    if average not in ("macro", "weighted"):
        raise ValueError(f"average = {average!r}: must be 'macro' or 'weighted'")
    y_true = column_or_1d(y_true)
    scores = check_array(y_score, dtype=np.float64, order="C", ensure_all_finite=False)
    check_consistent_length(y_true, scores)
    classes = np.unique(y_true) if labels is None else column_or_1d(labels)
    if classes.size != scores.shape[1]:
        raise ValueError(f"{classes.size} classes, but y_score has {scores.shape[1]} columns")
    order = np.argsort(classes)
    places = np.searchsorted(classes, y_true, sorter=order)
    codes = order[np.minimum(places, classes.size - 1)]
    if not np.array_equal(classes[codes], y_true):
        raise ValueError("y_true has a class that is not in labels")
    threads = effective_n_jobs(n_jobs)
    if sample_weight is not None:
        check_consistent_length(scores, sample_weight)
        return _weighted_hand_till(scores, codes, _scores(sample_weight), average, threads)
    found = json.loads(_core.hand_till(scores.ravel(), classes.size, codes.tolist(), threads))
    return found["m" if average == "macro" else "weighted"]


def _weighted_hand_till(scores, codes, weights, average, threads):
    """The mean over pairs of classes of both weighted AUCs, each by the column of its class."""
    pairs = list(combinations(range(scores.shape[1]), 2))
    aucs, sizes = np.empty(len(pairs)), np.empty(len(pairs))
    for k, pair in enumerate(pairs):
        rows = np.isin(codes, pair)
        of_pair = weights[rows]
        both = [
            json.loads(
                _core.weighted_auc(
                    np.ascontiguousarray(scores[rows, j]), codes[rows] == j, of_pair, threads
                )
            )["auc"]
            for j in pair
        ]
        aucs[k], sizes[k] = np.mean(both), of_pair.sum()
    return float(np.average(aucs, weights=None if average == "macro" else sizes))


def univariate_bound(y_true, y_score, *, pos_label=None, n_jobs=None):
    """The univariate bound of AUC risk, with both constants of Theorem 1 of Lyu & Ying (2018).

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes.
    y_score : array-like of shape (n_samples,)
        Scores, finite.
    pos_label : scalar or str, default=None
        The positive class; the larger of two if None.
    n_jobs : int, default=None
        Threads. None is 1, and -1 one for each core.

    Returns
    -------
    found : UnivariateBound
        ``risk_lower <= auc_risk <= risk_upper``; ``auc_risk`` is 1 − AUC, ``l_tilde`` the bound
        without its constants, ``threshold`` the interval of thresholds that attain it. Where scores
        tie there is no upper bound: ``alpha_upper`` is infinite and ``risk_upper`` is 1.

    Examples
    --------
    >>> from ubauc.metrics import univariate_bound
    >>> found = univariate_bound([0, 0, 1, 1], [0.0, 2.0, 1.0, 3.0])
    >>> found.auc_risk, found.l_tilde, found.threshold
    (0.25, 0.25, (1.0, 2.0))
    >>> found.risk_lower, found.risk_upper
    (0.25, 0.25)
    """
    scores, positive = _given(y_true, y_score, pos_label)
    found = json.loads(_core.bound(scores, positive, effective_n_jobs(n_jobs)))
    lower, upper = found["alpha_lower"], found["alpha_upper"]
    return UnivariateBound(
        found["auc_risk"],
        found["l_tilde"],
        tuple(found["lambda"]),
        found["risk_lower"],
        found["risk_upper"],
        math.inf if lower is None else lower,
        math.inf if upper is None else upper,
        found["tied_pairs"],
        found["svm_objective"],
    )


class StreamingAUC:
    """AUC of a stream in constant memory, with a computed bound of its error.

    Scores are counted in ``2 ** bits`` buckets by their leading bits, whatever their scale. Counts
    are integers: any order of updates and merges gives the same answer.

    Parameters
    ----------
    bits : int, default=16
        Buckets are ``2 ** bits``, of 16 bytes each; from 1 to 24.

    Examples
    --------
    >>> from ubauc.metrics import StreamingAUC
    >>> auc = StreamingAUC()
    >>> auc.update([False, True], [0.1, 0.9]).update([False, True], [0.8, 0.7]).value()
    0.75
    >>> auc.error_bound()
    0.0
    """

    def __init__(self, bits=16):
        self._buckets = _core.Buckets(bits)

    def update(self, y_true, y_score, *, pos_label=None):
        """Count examples, of one class or both.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            Labels: booleans, or numbers of which those above 0 are positive, as one batch may have
            one class only.
        y_score : array-like of shape (n_samples,)
            Scores; with NaN among them nothing is counted.
        pos_label : scalar or str, default=None
            The positive class, for labels of another kind.

        Returns
        -------
        self : StreamingAUC
        """
        check_consistent_length(y_true, y_score)
        y_true = column_or_1d(y_true)
        if pos_label is not None:
            positive = y_true == pos_label
        elif y_true.dtype.kind in "biuf":
            positive = y_true > 0
        else:
            raise ValueError(
                "labels are neither booleans nor numbers: name the positive one, pos_label"
            )
        self._buckets.update(_scores(y_score), np.ascontiguousarray(positive))
        return self

    def merge(self, other):
        """Add the counts of another one with as many bits.

        Parameters
        ----------
        other : StreamingAUC

        Returns
        -------
        self : StreamingAUC
        """
        self._buckets.merge(other._buckets if other is not self else _copy(other._buckets))
        return self

    def value(self):
        """The middle of the possible AUCs of all examples so far."""
        return self._estimate()["auc"]

    def error_bound(self):
        """How far the AUC of all examples so far can be from `value`."""
        return self._estimate()["error_bound"]

    def interval(self):
        """The smallest and the largest possible AUC of all examples so far."""
        found = self._estimate()
        return found["lower"], found["upper"]

    @property
    def n_neg(self):
        """Negatives so far."""
        return self._buckets.counts[0]

    @property
    def n_pos(self):
        """Positives so far."""
        return self._buckets.counts[1]

    def _estimate(self):
        return json.loads(self._buckets.estimate())

    def __getstate__(self):
        return self._buckets.to_json()

    def __setstate__(self, state):
        self._buckets = _core.Buckets.from_json(state)

    def __repr__(self):
        return f"StreamingAUC(bits={self._buckets.bits})"


def _copy(buckets):
    return _core.Buckets.from_json(buckets.to_json())
