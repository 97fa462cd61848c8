"""AUC of many classes."""

import json

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils import check_array, check_consistent_length, column_or_1d

from .. import _core
from ._given import scores_of


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
        "macro" weights all pairs of classes equally, "weighted" by their examples, or by the sum
        of the weights of these.
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
    # What has crossed the wire of a cluster may not be aligned.
    scores = np.require(scores, requirements=["C", "ALIGNED"])
    check_consistent_length(y_true, scores)
    classes = np.unique(y_true) if labels is None else column_or_1d(labels)
    if classes.size != scores.shape[1]:
        raise ValueError(f"{classes.size} classes, but y_score has {scores.shape[1]} columns")
    order = np.argsort(classes)
    places = np.searchsorted(classes, y_true, sorter=order)
    codes = order[np.minimum(places, classes.size - 1)]
    if not np.array_equal(classes[codes], y_true):
        raise ValueError("y_true has a class that is not in labels")
    if sample_weight is not None:
        check_consistent_length(scores, sample_weight)
        sample_weight = scores_of(sample_weight)
    found = _core.hand_till(
        scores.ravel(), classes.size, codes.tolist(), sample_weight, effective_n_jobs(n_jobs)
    )
    return json.loads(found)["m" if average == "macro" else "weighted"]
