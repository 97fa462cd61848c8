"""Average precision."""

from joblib import effective_n_jobs

from .. import _core
from ._given import given, weights_of


def average_precision(y_true, y_score, *, sample_weight=None, pos_label=None, n_jobs=None):
    """Mean precision over the positives, each at its own score; ties are one threshold.

    The definition is scikit-learn's, ``average_precision_score``. A scorer of no use has about the
    share of the positives.

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
