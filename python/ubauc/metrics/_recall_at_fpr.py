"""Recall at a limited false positive rate."""

import json
import math
from typing import NamedTuple

from joblib import effective_n_jobs

from .. import _core
from ._given import grouped


class RecallInterval(NamedTuple):
    """Recall at a false positive rate, with its 95 % interval."""

    recall: float
    low: float
    high: float
    fpr: float
    threshold: float


def recall_at_fpr_ci(
    y_true,
    y_score,
    max_fpr,
    *,
    groups=None,
    method="order",
    n_resamples=2000,
    random_state=1,
    pos_label=None,
    n_jobs=None,
):
    """Recall (true positive rate) at a false positive rate, with its 95 % interval.

    The threshold is the lowest at which no more than a share ``max_fpr`` of the negatives is called
    positive. It is estimated from the negatives as the recall is from the positives, and the
    interval counts both errors.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes.
    y_score : array-like of shape (n_samples,)
        Scores; not NaN.
    max_fpr : float
        The largest false positive rate that is allowed, in (0, 1].
    groups : array-like of shape (n_samples,), default=None
        The group of each example: only groups are independent, and a bootstrap draws whole ones.
        Each class must be in two groups.
    method : {"order", "bootstrap"}, default="order"
        "order" combines, in quadrature, Wilson's interval of the recall and order statistics of the
        negatives for the threshold; "bootstrap" is a BCa bootstrap of the examples.
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
    found : RecallInterval
        ``recall``, ``low``, ``high``, the ``fpr`` that is used, and the ``threshold``: call
        positive what scores at least that (infinite if nothing may be).

    Examples
    --------
    >>> from ubauc.metrics import recall_at_fpr_ci
    >>> y = [0] * 200 + [1] * 50
    >>> scores = list(range(200)) + list(range(170, 220))
    >>> found = recall_at_fpr_ci(y, scores, 0.05)
    >>> found.recall, found.fpr, found.threshold
    (0.6, 0.05, 190.0)
    >>> found.low < found.recall < found.high
    True
    """
    if method not in ("order", "bootstrap"):
        raise ValueError(f"method = {method!r}: must be 'order' or 'bootstrap'")
    interval = (method, n_resamples, random_state)
    scores, positive, groups, asked = grouped(y_true, y_score, pos_label, groups, interval)
    threads = effective_n_jobs(n_jobs)
    text, threshold = _core.recall_at_fpr(scores, positive, max_fpr, groups, asked, threads)
    found = json.loads(text)
    threshold = math.inf if threshold is None else threshold
    return RecallInterval(found["recall"], *found["ci95"], found["fpr"], threshold)
