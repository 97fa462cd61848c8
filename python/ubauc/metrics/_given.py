"""Labels and scores as the library takes them."""

from numbers import Integral

import numpy as np
from sklearn.utils import check_consistent_length, check_random_state, column_or_1d
from sklearn.utils.multiclass import check_classification_targets


def positives_of(y_true, pos_label):
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


def scores_of(y_score):
    """Scores, or weights, as a contiguous array."""
    scores = column_or_1d(y_score)
    return np.require(scores, dtype=np.float64, requirements=["C", "ALIGNED"])


def given(y_true, y_score, pos_label):
    """Both, of one length."""
    check_consistent_length(y_true, y_score)
    return scores_of(y_score), positives_of(y_true, pos_label)


def weights_of(sample_weight, scores):
    """Weights of the scores, if there are any."""
    if sample_weight is None:
        return None
    check_consistent_length(scores, sample_weight)
    return scores_of(sample_weight)


def missing_values(values):
    """Where values of an array are NaN, NaT or None."""
    if values.dtype.kind in "fcmM":
        return np.isnan(values) if values.dtype.kind in "fc" else np.isnat(values)
    if values.dtype == object:
        # Of pandas' NA nothing is known, not even whether it is itself.
        return np.array([value is None or (value == value) is not True for value in values], bool)
    return np.zeros(values.shape, dtype=bool)


def groups_of(groups, scores):
    """Numbers for the groups of the scores, if there are any."""
    if groups is None:
        return None
    check_consistent_length(scores, groups)
    groups = column_or_1d(groups)
    missing = missing_values(groups)
    if missing.any():
        raise ValueError(f"the group of row {np.flatnonzero(missing)[0]} is missing")
    _, numbers = np.unique(groups, return_inverse=True)
    return np.ascontiguousarray(numbers, dtype=np.uint32)


def bootstrap_of(method, n_resamples, random_state):
    """How an interval is made, as the library takes it."""
    if not isinstance(n_resamples, Integral) or n_resamples < 100:
        raise ValueError(f"n_resamples = {n_resamples!r}: must be an integer of at least 100")
    if isinstance(random_state, Integral):
        return method, int(n_resamples), int(random_state)
    return method, int(n_resamples), int(check_random_state(random_state).randint(2**31))


def grouped(y_true, y_score, pos_label, groups, interval):
    """Scores, positives and groups, and how an interval is made: all that one needs."""
    scores, positive = given(y_true, y_score, pos_label)
    return scores, positive, groups_of(groups, scores), bootstrap_of(*interval)
