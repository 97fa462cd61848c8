"""The objective for boosting: gradient and Hessian of what it says, and both libraries take it."""

import pickle

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from sklearn.metrics import roc_auc_score
from ubauc.metrics import univariate_bound
from ubauc.objectives import UnivariateBoundObjective, lightgbm_objective, xgboost_objective

CASES = [
    {},
    {"beta": 2.0, "softness": 0.5, "balanced": False},
    {"beta": 1e-3, "softness": 0.02},
]


@pytest.fixture(scope="module")
def scored():
    random = np.random.default_rng(3)
    y = (random.random(60) < 0.2).astype(int)
    return y, random.normal(size=60) + y, random.integers(1, 4, size=60).astype(float)


def written_out(y, c, s, lam, beta=0.5, softness=0.1, balanced=True):
    """L at a threshold, as the docstring has it."""
    sign = np.where(y > 0, 1.0, -1.0)
    share = np.where(y > 0, s[y > 0].sum(), s[y == 0].sum()) / s.sum()
    v = 1 / (2 * share) if balanced else 1.0
    hinge = softness * np.logaddexp(0, sign * (lam - c) / softness)
    return np.sum(s * (hinge + beta / 2 * v * (1 - sign * c) ** 2))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_value_is_the_least_over_thresholds(case, scored):
    y, c, s = scored
    found = minimize_scalar(lambda lam: written_out(y, c, s, lam, **case), (c.min(), c.max()))
    assert UnivariateBoundObjective(**case).value(y, c, s) == pytest.approx(found.fun, rel=1e-12)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_gradient_is_that_of_finite_differences(case, scored):
    y, c, s = scored
    bound = UnivariateBoundObjective(**case)
    gradient, _ = bound(y, c, s)
    h = 1e-6
    for i in range(c.size):
        e = h * np.eye(c.size)[i]
        difference = (bound.value(y, c + e, s) - bound.value(y, c - e, s)) / (2 * h)
        assert gradient[i] == pytest.approx(difference, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_diagonal_is_at_least_the_hessian(case, scored):
    y, c, s = scored
    bound = UnivariateBoundObjective(**case)
    h = 1e-6
    exact = np.array(
        [(bound(y, c + h * e, s)[0] - bound(y, c - h * e, s)[0]) / (2 * h) for e in np.eye(c.size)]
    )
    _, hessian = bound(y, c, s)
    assert (hessian > 0).all()
    least = np.linalg.eigvalsh(np.diag(hessian) - (exact + exact.T) / 2).min()
    assert least > -1e-6 * hessian.max()
    # And it is no more than the rank-one term above it: the trace tells.
    kappa, beta = bound.softness, bound.beta
    share = np.where(y > 0, s[y > 0].sum(), s[y == 0].sum()) / s.sum()
    curved = hessian - s * beta * (1 / (2 * share) if bound.balanced else 1.0)
    assert 0 < curved.max() <= s.max() / (4 * kappa)
    expected = (curved**2).sum() / curved.sum()
    assert np.trace(np.diag(hessian) - exact) == pytest.approx(expected, rel=1e-4, abs=1e-5)


def test_a_bound_of_little_softness_is_the_univariate_bound(scored):
    y, c, _ = scored
    hard = UnivariateBoundObjective(beta=1e-12, softness=1e-9).value(y, c)
    n_pos = y.sum()
    expected = univariate_bound(y, c).l_tilde * n_pos * (y.size - n_pos)
    assert hard == pytest.approx(expected, rel=1e-6)


def test_scores_far_apart_equal_or_of_one_kind(scored):
    y, c, s = scored
    bound = UnivariateBoundObjective()
    for scores in (1e6 * c, 1e-9 * c, np.zeros_like(c), np.where(y > 0, 5.0, -5.0)):
        gradient, hessian = bound(y, scores, s)
        assert np.isfinite(gradient).all() and np.isfinite(hessian).all() and (hessian > 0).all()
    # Weights are repetitions.
    many = np.repeat(np.arange(y.size), s.astype(int))
    assert bound.value(y[many], c[many]) == pytest.approx(bound.value(y, c, s), rel=1e-12)
    with pytest.raises(ValueError, match="both classes"):
        bound(np.ones(3), np.zeros(3))
    with pytest.raises(ValueError, match="3 labels, 2 scores"):
        bound(np.array([0, 1, 1]), np.zeros(2))
    for wrong in ({"beta": 0}, {"softness": -1.0}, {"beta": np.nan}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            UnivariateBoundObjective(**wrong)
    again = pickle.loads(pickle.dumps(UnivariateBoundObjective(beta=3)))
    assert again.beta == 3


def test_it_needs_no_pairs():
    """A million scores: all pairs would be 5e10."""
    random = np.random.default_rng(0)
    y = random.random(10**6) < 0.05
    gradient, hessian = UnivariateBoundObjective()(y, random.normal(size=y.size))
    assert gradient.shape == hessian.shape == y.shape


@pytest.fixture(scope="module")
def rings():
    random = np.random.default_rng(1)
    X = random.normal(size=(3000, 4))
    y = ((X**2).sum(axis=1) + random.normal(size=3000) > 8).astype(int)
    return X[:2000], y[:2000], X[2000:], y[2000:]


def test_xgboost_learns_by_it(rings):
    xgboost = pytest.importorskip("xgboost")
    X, y, X_test, y_test = rings
    given = {"max_depth": 3, "n_estimators": 40, "learning_rate": 0.2, "n_jobs": 1}
    clf = xgboost.XGBClassifier(objective=xgboost_objective(), **given).fit(X, y)
    scores = clf.predict(X_test, output_margin=True)
    assert roc_auc_score(y_test, scores) > 0.85
    params = {"max_depth": 3, "eta": 0.2, "nthread": 1, "base_score": 0.5}
    own = xgboost.train(params, xgboost.DMatrix(X, y), 40, obj=xgboost_objective())
    own_scores = own.predict(xgboost.DMatrix(X_test), output_margin=True)
    assert roc_auc_score(y_test, own_scores) > 0.85


def test_lightgbm_learns_by_it(rings):
    lightgbm = pytest.importorskip("lightgbm")
    X, y, X_test, y_test = rings
    given = {"num_leaves": 8, "learning_rate": 0.2, "n_jobs": 1, "verbose": -1}
    clf = lightgbm.LGBMClassifier(objective=lightgbm_objective(), n_estimators=40, **given)
    scores = clf.fit(X, y).predict(X_test, raw_score=True)
    assert roc_auc_score(y_test, scores) > 0.85
    params = {"objective": lightgbm_objective(), **given}
    own = lightgbm.train(params, lightgbm.Dataset(X, y), 40)
    np.testing.assert_allclose(own.predict(X_test, raw_score=True), scores, rtol=1e-6, atol=1e-9)
