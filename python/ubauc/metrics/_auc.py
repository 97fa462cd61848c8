"""AUC, whole and in part."""

import json
from typing import NamedTuple

from joblib import effective_n_jobs

from .. import _core
from ._given import given, grouped, weights_of


class AUCInterval(NamedTuple):
    """AUC with its 95 % interval."""

    auc: float
    low: float
    high: float
    variance: float
    n_pos: int
    n_neg: int
    ties: int | None


def interval(found):
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


def roc_auc_ci(
    y_true,
    y_score,
    *,
    sample_weight=None,
    groups=None,
    method="logit",
    n_resamples=2000,
    random_state=1,
    pos_label=None,
    n_jobs=None,
):
    """Area under the ROC curve with its variance and 95 % interval.

    The variance is DeLong's, and the interval is on the logit scale. Where the sample shows no
    variation, as when the classes are separated without error, the interval is the
    exact bound for this number of examples, not a point.

    If examples come in groups (visits of a patient, clicks of a user), DeLong's variance is too
    small as a rule: give ``groups``, and it is Obuchowski's, by which only examples of different
    groups are independent.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes.
    y_score : array-like of shape (n_samples,)
        Scores; not NaN.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights, at least 0; the variance is then the linearised one.
    groups : array-like of shape (n_samples,), default=None
        The group of each example; not together with weights. Each class must be in two groups.
    method : {"logit", "student", "delong", "bootstrap"}, default="logit"
        The interval: by the variance on the logit scale; the same with the points of Student's
        distribution where few examples decide; by the variance, symmetric and clipped to [0, 1]; or
        by a bootstrap (BCa) of examples drawn again, as many of each class as there are, or of
        whole groups.
    n_resamples : int, default=2000
        Draws of the bootstrap, at least 100.
    random_state : int, RandomState instance or None, default=1
        Seed of the bootstrap.
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
    >>> roc_auc_ci([0, 0, 0, 0, 1, 1, 1], [1, 2, 3, 4, 5, 6, 7])[:3]  # perfect, but seven examples
    (1.0, 0.2924017738212866, 1.0)

    Two visits of each of four patients:

    >>> y, scores = [0, 0, 0, 0, 1, 1, 1, 1], [0.1, 0.2, 0.4, 0.5, 0.3, 0.3, 0.7, 0.8]
    >>> found = roc_auc_ci(y, scores, groups=["a", "a", "b", "b", "c", "c", "d", "d"])
    >>> round(found.variance / roc_auc_ci(y, scores).variance, 12)
    3.0
    """
    if sample_weight is not None and groups is not None:
        raise ValueError("give one of sample_weight and groups, not both")
    interval_by = (method, n_resamples, random_state)
    scores, positive, groups, asked = grouped(y_true, y_score, pos_label, groups, interval_by)
    weights, threads = weights_of(sample_weight, scores), effective_n_jobs(n_jobs)
    found = _core.auc(scores, positive, weights, groups, asked, threads)
    return interval(json.loads(found))


def partial_auc(
    y_true,
    y_score,
    *,
    max_fpr=None,
    min_tpr=None,
    standardised=True,
    sample_weight=None,
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
    sample_weight : array-like of shape (n_samples,), default=None
        Weights, at least 0.
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
    if (max_fpr is None) == (min_tpr is None):
        raise ValueError("give one of max_fpr and min_tpr")
    part = ("max_fpr", max_fpr) if min_tpr is None else ("min_tpr", min_tpr)
    scores, positive = given(y_true, y_score, pos_label)
    weights, threads = weights_of(sample_weight, scores), effective_n_jobs(n_jobs)
    raw, standard = _core.partial_auc(scores, positive, weights, part, threads)
    return standard if standardised else raw
