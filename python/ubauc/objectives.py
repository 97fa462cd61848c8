"""AUC as an objective for gradient boosting, without comparing pairs: O(N) a round.

The univariate bound of AUC risk (Eq. 5 of Lyu and Ying, UAI 2018) is, up to a factor,

.. code-block:: text

    min_λ Σ_i [ y_i(λ − c_i) ]₊ ,    c_i the scores, y_i = ±1

a sum over examples and not over pairs. Boosting needs a gradient and a positive Hessian of every
score, so the hinge is smoothed with a temperature τ, [z]₊ ≈ τ log(1 + exp(z/τ)), which is above it
by at most τ log 2. Alone it is least where all scores are equal; the least squares of Eq. (8) keep
them apart. With weights s_i, and v_i = 1 or, balanced, v_i = S/(2 S_{y_i}), S being sums of
weights:

.. code-block:: text

    L(c) = min_λ Σ_i s_i { τ log(1 + exp(y_i(λ − c_i)/τ)) + β/2 v_i (1 − y_i c_i)² }

*λ.* With p_i = 1/(1 + exp(−y_i(λ − c_i)/τ)) the derivative by λ is Σ s_i y_i p_i, which increases:
below 0 for small λ and above 0 for large, so that λ* is found by Newton steps within a bracket that
bisection shrinks, from the N⁺-th highest score, which is λ* for τ → 0. Each costs O(N); some five
are needed. With q_i = 1/(1 + exp(−(λ − c_i)/τ)) the derivative is Σ s_i q_i − S_{−1}.

*Gradient.* At λ* the derivative by λ is 0, so λ* may be held still (envelope theorem):

.. code-block:: text

    ∂L/∂c_i = − s_i y_i p_i − s_i β v_i y_i (1 − y_i c_i)

*Hessian.* With h_i = s_i p_i(1 − p_i)/τ the derivative of the gradient, λ* now moving along, is

.. code-block:: text

    diag(h_i + s_i β v_i) − h hᵀ / Σ h

Boosting takes a diagonal. What is subtracted is positive semidefinite, so diag(h_i + s_i β v_i) is
at least the Hessian, in every direction: a step by it is never too bold, and it is above 0.
"""

import numpy as np
from scipy.special import expit

__all__ = ["UnivariateBoundObjective", "lightgbm_objective", "xgboost_objective"]


class UnivariateBoundObjective:
    """The smoothed bound with least squares: its value, gradient and Hessian, in O(N).

    It can be given to XGBoost and LightGBM as it is; see `xgboost_objective` and
    `lightgbm_objective`. Labels above 0 are positive.

    Parameters
    ----------
    beta : float, default=0.5
        Weight of the least squares, above 0.
    temperature : float, default=0.1
        τ, above 0. Least squares draw scores to -1 and 1, so a tenth is smooth and near the bound.
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

    def __init__(self, *, beta=0.5, temperature=0.1, balanced=True):
        for name, value in (("beta", beta), ("temperature", temperature)):
            if not (value > 0 and np.isfinite(value)):
                raise ValueError(f"{name} = {value!r}: must be finite and above 0")
        self.beta = float(beta)
        self.temperature = float(temperature)
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
        y, c, s, v = self._given(y_true, y_score, sample_weight)
        margin = y * (self._threshold(y, c, s) - c) / self.temperature
        hinge = self.temperature * np.logaddexp(0.0, margin)
        return float(s @ (hinge + self.beta / 2 * v * (1 - y * c) ** 2))

    def derivatives(self, y_true, y_score, sample_weight=None):
        """Gradient, and the diagonal that is at least the Hessian."""
        y, c, s, v = self._given(y_true, y_score, sample_weight)
        p = expit(y * (self._threshold(y, c, s) - c) / self.temperature)
        gradient = -s * y * (p + self.beta * v * (1 - y * c))
        hessian = s * (p * (1 - p) / self.temperature + self.beta * v)
        return gradient, hessian

    def _given(self, y_true, y_score, sample_weight):
        y = np.where(np.asarray(y_true).ravel() > 0, 1.0, -1.0)
        c = np.asarray(y_score, dtype=np.float64).ravel()
        s = np.ones_like(c) if sample_weight is None else np.asarray(sample_weight, np.float64)
        if not (y.shape == c.shape == s.shape):
            raise ValueError(f"{y.size} labels, {c.size} scores and {s.size} weights")
        positive, total = s[y > 0].sum(), s.sum()
        if not 0 < positive < total:
            raise ValueError("both classes are needed: labels above 0 are positive")
        v = 1.0
        if self.balanced:
            v = np.where(y > 0, total / (2 * positive), total / (2 * (total - positive)))
        return y, c, s, v

    def _threshold(self, y, c, s):
        """λ*, to rounding."""
        tau = self.temperature
        # Sums by numpy: BLAS would use other threads, and other bits with other numbers of them.
        positive, negative = s[y > 0].sum(), s[y < 0].sum()
        # At these ends all p of one class are below half of what balances the other's.
        room = tau * (2.0 + np.log((positive + negative) / min(positive, negative)))
        low, high = c.min() - room, c.max() + room
        n_neg = int((y < 0).sum())
        at, scaled = float(np.partition(c, n_neg)[n_neg]), c / tau
        for _ in range(200):
            # p_i of a positive, and 1 - p_i of a negative example.
            q = expit(at / tau - scaled)
            weighted = s * q
            slope = weighted.sum() - negative
            low, high = (low, at) if slope > 0 else (at, high)
            weighted *= 1 - q
            curvature = weighted.sum() / tau
            step = -slope / curvature if curvature > 0 else np.inf
            # After a Newton step the error is about the square of the step, over tau.
            if abs(step) <= 1e-7 * tau:
                return at + step
            after = at + step if low < at + step < high else (low + high) / 2
            if not low < after < high:
                return at
            at = after
        return at


def xgboost_objective(*, beta=0.5, temperature=0.1, balanced=True):
    """AUC as the objective of XGBoost.

    ``XGBClassifier(objective=xgboost_objective())`` or ``xgboost.train(…, obj=…)``. The scores are
    ``predict(X, output_margin=True)``: there are no probabilities. Positive labels are above 0.

    Parameters
    ----------
    beta, temperature, balanced
        Of `UnivariateBoundObjective`.

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
    return UnivariateBoundObjective(beta=beta, temperature=temperature, balanced=balanced)


def lightgbm_objective(*, beta=0.5, temperature=0.1, balanced=True):
    """AUC as the objective of LightGBM.

    ``LGBMClassifier(objective=lightgbm_objective())`` or ``lightgbm.train({"objective": …}, …)``.
    The scores are ``predict(X, raw_score=True)``: there are no probabilities.

    Parameters
    ----------
    beta, temperature, balanced
        Of `UnivariateBoundObjective`.

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
    return UnivariateBoundObjective(beta=beta, temperature=temperature, balanced=balanced)
