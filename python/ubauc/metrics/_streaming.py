"""AUC of a stream."""

import json

import numpy as np
from sklearn.utils import check_consistent_length, column_or_1d

from .. import _core
from ._given import scores_of


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
        self._buckets.update(scores_of(y_score), np.ascontiguousarray(positive))
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
