"""Average precision."""

import json
from typing import NamedTuple

from joblib import effective_n_jobs

from .. import _core
from ._given import given, grouped, weights_of


class AveragePrecisionInterval(NamedTuple):
    """Average precision with its 95 % interval."""

    average_precision: float
    low: float
    high: float
    variance: float
    n_pos: int
    n_neg: int


def average_precision(y_true, y_score, *, sample_weight=None, pos_label=None, n_jobs=None):
    """Mean precision over the positives, each at its own score; ties are one threshold.

    The definition is scikit-learn's, ``average_precision_score``. A random scorer has
    about the share of positives.

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
    precision : float
        The average precision.

    Examples
    --------
    >>> from ubauc.metrics import average_precision
    >>> average_precision([0, 1, 0, 1, 0], [1, 2, 2, 3, 2])
    0.75
    """
    scores, positive = given(y_true, y_score, pos_label)
    weights = weights_of(sample_weight, scores)
    return _core.average_precision(scores, positive, weights, effective_n_jobs(n_jobs))


def average_precision_ci(
    y_true,
    y_score,
    *,
    groups=None,
    method="logit",
    n_resamples=2000,
    random_state=1,
    pos_label=None,
    n_jobs=None,
):
    """Average precision with its variance and 95 % interval.

    It holds for data with the same share of positives.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes.
    y_score : array-like of shape (n_samples,)
        Scores; not NaN.
    groups : array-like of shape (n_samples,), default=None
        The group of each example: only groups are independent, and a bootstrap draws whole ones.
        Each class must be in two groups.
    method : {"logit", "delong", "bootstrap"}, default="logit"
        By the linearised variance on the logit scale, by the same, symmetric and clipped to [0, 1],
        or by a bootstrap (BCa) of examples drawn again, as many of each class as there are.
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
    found : AveragePrecisionInterval
        ``average_precision``, ``low``, ``high``, ``variance``, ``n_pos`` and ``n_neg``.

    Examples
    --------
    >>> from ubauc.metrics import average_precision_ci
    >>> found = average_precision_ci([0, 1, 0, 1, 0, 1], [1, 2, 3, 4, 5, 6])
    >>> round(found.average_precision, 4), round(found.low, 2), round(found.high, 2)
    (0.7556, 0.31, 0.95)
    """
    interval = (method, n_resamples, random_state)
    scores, positive, groups, asked = grouped(y_true, y_score, pos_label, groups, interval)
    threads = effective_n_jobs(n_jobs)
    text, n_pos, n_neg = _core.average_precision_interval(scores, positive, groups, asked, threads)
    found = json.loads(text)
    low, high = found["ci95"]
    return AveragePrecisionInterval(found["value"], low, high, found["variance"], n_pos, n_neg)
