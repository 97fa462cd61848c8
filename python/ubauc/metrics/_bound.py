"""The univariate bound."""

import json
import math
from typing import NamedTuple

from joblib import effective_n_jobs

from .. import _core
from ._given import given


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
    scores, positive = given(y_true, y_score, pos_label)
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
