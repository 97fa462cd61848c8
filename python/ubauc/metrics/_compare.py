"""Several scorers of the same examples."""

import json
import math
from typing import NamedTuple

from joblib import effective_n_jobs
from sklearn.utils import check_consistent_length

from .. import _core
from ._auc import AUCInterval, interval
from ._given import groups_of, positives_of, scores_of


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


def compare_models(y_true, y_scores, *, groups=None, pos_label=None, n_jobs=None):
    """DeLong's paired test between all pairs of several scorers, with Holm's correction.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes.
    y_scores : sequence of array-like of shape (n_samples,)
        The scores of each scorer, of the same examples.
    groups : array-like of shape (n_samples,), default=None
        The group of each example, if examples come in groups: variances are then Obuchowski's, by
        which only examples of different groups are independent. Each class must be in two groups.
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
    scorers = [scores_of(scores) for scores in y_scores]
    check_consistent_length(y_true, *scorers)
    positive = positives_of(y_true, pos_label)
    groups = groups_of(groups, positive)
    found = json.loads(_core.compare(scorers, positive, groups, effective_n_jobs(n_jobs)))
    return ModelComparison(
        [interval(auc) for auc in found["aucs"]],
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


def delong_test(y_true, y_score_a, y_score_b, *, groups=None, pos_label=None, n_jobs=None):
    """DeLong's test of whether two scorers of the same examples have the same AUC.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes.
    y_score_a, y_score_b : array-like of shape (n_samples,)
        The scores of both.
    groups : array-like of shape (n_samples,), default=None
        The group of each example, if examples come in groups: the variance is then Obuchowski's, by
        which only examples of different groups are independent. Each class must be in two groups.
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
    scorers = [y_score_a, y_score_b]
    found = compare_models(y_true, scorers, groups=groups, pos_label=pos_label, n_jobs=n_jobs)
    return found.pairs[0].test
