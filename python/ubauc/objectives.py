"""AUC as an objective for gradient boosting, without comparing pairs: O(N) a round.

The univariate bound of AUC risk (Eq. 5 of Lyu and Ying, UAI 2018) is, up to a factor,

.. code-block:: text

    min_λ Σ_i [ y_i(λ − c_i) ]₊ ,    c_i the scores, y_i = ±1

a sum over examples and not over pairs. Boosting needs a gradient and a positive Hessian of every
score, so the hinge is softened, [t]₊ ≈ κ log(1 + exp(t/κ)), which is above it by at most κ log 2.
Alone it is least where all scores are equal; the least squares of Eq. (8) keep them apart. With
weights s_i, and v_i = 1 or, balanced, v_i = S/(2 S_{y_i}), S being sums of weights:

.. code-block:: text

    L(c) = min_λ Σ_i s_i { κ log(1 + exp(y_i(λ − c_i)/κ)) + β/2 v_i (1 − y_i c_i)² }

The loss is that of `UBAUCClassifier(softness=κ)`, computed by the same code;
``crates/ubauc/src/solver/boosting.rs`` derives the gradient, and a diagonal that is at least the
Hessian and above 0.
"""

import numpy as np

from ubauc import _core

__all__ = ["UnivariateBoundObjective", "lightgbm_objective", "xgboost_objective"]


class UnivariateBoundObjective:
    """The smoothed bound with least squares: its value, gradient and Hessian, in O(N).

    It can be given to XGBoost and LightGBM as it is; see `xgboost_objective` and
    `lightgbm_objective`. Labels above 0 are positive.

    Parameters
    ----------
    beta : float, default=0.5
        Weight of the least squares, above 0.
    softness : float, default=0.1
        κ, above 0. Least squares draw scores to -1 and 1, so a tenth is smooth and near the bound.
    balanced : bool, default=True
        Each class with half of the weight in the least squares.

    Examples
    --------
    >>> import numpy as np
    >>> from ubauc.objectives import UnivariateBoundObjective
    >>> bound = UnivariateBoundObjective()
    >>> gradient, hessian = bound(np.array([0, 1, 0, 1]), np.array([-0.5, 0.5, 0.0, 0.2]))
    >>> bool(gradient[1] < 0 < gradient[0]), bool((hessian > 0).all())
    (True, True)
    """

    def __init__(self, *, beta=0.5, softness=0.1, balanced=True):
        for name, value in (("beta", beta), ("softness", softness)):
            if not (value > 0 and np.isfinite(value)):
                raise ValueError(f"{name} = {value!r}: must be finite and above 0")
        self.beta = float(beta)
        self.softness = float(softness)
        self.balanced = bool(balanced)

    def __call__(self, first, second, sample_weight=None):
        """Gradient and Hessian, for ``(y_true, y_score)`` or for ``(y_score, data set)``.

        The first is the order of the scikit-learn interfaces of both libraries, the second that of
        their own ``train``, where the data set knows labels and weights.
        """
        if hasattr(second, "get_label"):
            weight = second.get_weight()
            # XGBoost has an empty array where there are none.
            sample_weight = weight if weight is not None and len(weight) else None
            first, second = second.get_label(), first
        return self.derivatives(first, second, sample_weight)

    def value(self, y_true, y_score, sample_weight=None):
        """L of the scores."""
        return self._objective(y_true, y_score, sample_weight)[0]

    def derivatives(self, y_true, y_score, sample_weight=None):
        """Gradient, and the diagonal that is at least the Hessian."""
        return self._objective(y_true, y_score, sample_weight)[1:]

    def _objective(self, y_true, y_score, sample_weight):
        positive = np.ascontiguousarray(np.asarray(y_true).ravel() > 0)
        scores = np.ascontiguousarray(y_score, dtype=np.float64).ravel()
        weights = sample_weight
        if weights is not None:
            weights = np.ascontiguousarray(weights, dtype=np.float64).ravel()
        n_weights = scores.size if weights is None else weights.size
        if not positive.size == scores.size == n_weights:
            raise ValueError(f"{positive.size} labels, {scores.size} scores, {n_weights} weights")
        of_positives = positive.sum() if weights is None else weights[positive].sum()
        total = positive.size if weights is None else weights.sum()
        if not 0 < of_positives < total:
            raise ValueError("both classes are needed: labels above 0 are positive")
        return _core.score_objective(
            scores, positive, weights, self.beta, self.softness, self.balanced
        )


def xgboost_objective(*, beta=0.5, softness=0.1, balanced=True):
    """AUC as the objective of XGBoost.

    ``XGBClassifier(objective=xgboost_objective())`` or ``xgboost.train(…, obj=…)``. The scores are
    ``predict(X, output_margin=True)``: there are no probabilities. Positive labels are above 0.

    Parameters
    ----------
    beta, softness, balanced
        As in `UnivariateBoundObjective`.

    Returns
    -------
    objective : UnivariateBoundObjective
        Called with labels and scores, it gives gradient and Hessian; it can be pickled.

    Examples
    --------
    >>> from xgboost import XGBClassifier
    >>> from sklearn.datasets import make_classification
    >>> from ubauc.metrics import roc_auc
    >>> from ubauc.objectives import xgboost_objective
    >>> X, y = make_classification(random_state=0)
    >>> clf = XGBClassifier(objective=xgboost_objective(), n_estimators=5).fit(X, y)
    >>> roc_auc(y, clf.predict(X, output_margin=True)) > 0.9
    True
    """
    return UnivariateBoundObjective(beta=beta, softness=softness, balanced=balanced)


def lightgbm_objective(*, beta=0.5, softness=0.1, balanced=True):
    """AUC as the objective of LightGBM.

    ``LGBMClassifier(objective=lightgbm_objective())`` or ``lightgbm.train({"objective": …}, …)``.
    The scores are ``predict(X, raw_score=True)``: there are no probabilities.

    Parameters
    ----------
    beta, softness, balanced
        As in `UnivariateBoundObjective`.

    Returns
    -------
    objective : UnivariateBoundObjective
        Called with labels and scores, it gives gradient and Hessian; it can be pickled.

    Examples
    --------
    >>> from lightgbm import LGBMClassifier
    >>> from sklearn.datasets import make_classification
    >>> from ubauc.metrics import roc_auc
    >>> from ubauc.objectives import lightgbm_objective
    >>> X, y = make_classification(random_state=0)
    >>> clf = LGBMClassifier(objective=lightgbm_objective(), n_estimators=5, verbose=-1).fit(X, y)
    >>> roc_auc(y, clf.predict(X, raw_score=True)) > 0.9
    True
    """
    return UnivariateBoundObjective(beta=beta, softness=softness, balanced=balanced)
