"""Adding a constant to the features changes no ranking, whatever the solver and storage."""

import warnings

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from ubauc import BaselineWarning, CollapseWarning, UBAUCClassifier

CONSTANTS = (1.0, 10.0, 1e2, 1e6)
STORAGE = {"dense": np.asarray, "sparse": csr_matrix}
FIXED = {"beta": 0.5, "gamma": 1e-3}


def table(n, seed=5):
    """Features that differ in kind: normal, an age, a rare indicator, a count with many zeros."""
    random = np.random.default_rng(seed)
    y = (random.random(n) < 0.3).astype(int)
    normal = random.normal(size=n) + y
    age = 45.0 + 12.0 * (random.normal(size=n) + 0.8 * y)
    indicator = random.random(n) < 0.1 + 0.2 * y
    count = np.floor(random.random(n) * (2.0 + y))
    return np.column_stack([normal, age, indicator, count]), y


def aucs(fit, X, y, storage, constants=CONSTANTS):
    """AUC without a constant, and with each."""
    found = []
    for constant in (0.0, *constants):
        rows = STORAGE[storage](X + constant)
        found.append(roc_auc_score(y, fit(rows, y).decision_function(rows)))
    return found[0], np.array(found[1:])


@pytest.fixture(params=STORAGE)
def storage(request):
    return request.param


def test_batch_with_everything_chosen(storage):
    before, after = aucs(UBAUCClassifier(random_state=0).fit, *table(300), storage)
    assert before > 0.8
    np.testing.assert_allclose(after, before, rtol=0, atol=1e-6)


@pytest.mark.parametrize("least_squares", ["plain", "balanced"])
@pytest.mark.parametrize("scale", ["none", "maxabs", "standard"])
def test_batch(storage, scale, least_squares):
    clf = UBAUCClassifier(**FIXED, scale=scale, least_squares=least_squares)
    before, after = aucs(clf.fit, *table(1000), storage)
    assert before > 0.8
    np.testing.assert_allclose(after, before, rtol=0, atol=1e-6)


def test_online(storage):
    clf = UBAUCClassifier(solver="online", random_state=0)
    before, after = aucs(clf.fit, *table(2000), storage)
    assert before > 0.8
    np.testing.assert_allclose(after, before, rtol=0, atol=1e-2)


@pytest.mark.parametrize("size", [40, 500])
def test_partial_fit(storage, size):
    def fit(X, y):
        clf = UBAUCClassifier(solver="online", random_state=0)
        for start in range(0, len(y), size):
            batch = slice(start, start + size)
            clf.partial_fit(X[batch], y[batch], classes=[0, 1])
        return clf

    before, after = aucs(fit, *table(2000), storage)
    assert before > 0.8
    np.testing.assert_allclose(after, before, rtol=0, atol=1e-2)


def test_partial_fit_after_fit(storage):
    def fit(X, y):
        clf = UBAUCClassifier(solver="online", max_iter=1, average_from=None, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            clf.fit(X[:1000], y[:1000])
        return clf.partial_fit(X[1000:], y[1000:])

    before, after = aucs(fit, *table(2000), storage)
    assert before > 0.8
    np.testing.assert_allclose(after, before, rtol=0, atol=1e-2)


def test_without_an_intercept_the_offset_matters():
    X, y = table(1000)
    clf = UBAUCClassifier(beta=5.0, gamma=1e-4, fit_intercept=False)
    with warnings.catch_warnings():
        # Far from 0 the model without an intercept collapses too.
        warnings.simplefilter("ignore", CollapseWarning)
        before, after = aucs(clf.fit, X[:, [1]], y, "dense")
    assert before < 0.35 and (after < 0.35).all()
    before, after = aucs(clf.set_params(fit_intercept=True).fit, X[:, [1]], y, "dense")
    np.testing.assert_array_equal(after, before)
    assert before > 0.65


def heavy_tails(n):
    """A logistic model of features of infinite variance, which least squares cannot follow."""
    random = np.random.default_rng(3)
    X = random.standard_t(1.5, size=(n, 3))
    logit = np.clip(2 * (X[:, 0] + X[:, 1]), -30, 30)
    return X, (random.random(n) < 1 / (1 + np.exp(-logit))).astype(int)


def test_a_model_that_is_worse_than_logistic_regression_warns():
    X, y = heavy_tails(800)
    # The search by itself would choose logistic regression.
    clf = UBAUCClassifier(softness=0, beta=0.5, random_state=0)
    with pytest.warns(BaselineWarning, match="logistic regression is significantly better") as seen:
        clf.fit(X, y)
    verdict = clf.tuning_["verdict"]
    assert verdict["test"]["p"] < 0.05 and verdict["test"]["difference"] < 0
    message = str(next(w for w in seen if w.category is BaselineWarning).message)
    assert f"AUC {verdict['logistic']['auc']:.4f} against {verdict['ours']['auc']:.4f}" in message
    # It points at the line of the caller.
    assert {w.filename for w in seen} == {__file__}
    logistic = LogisticRegression().fit(X, y)
    assert roc_auc_score(y, logistic.decision_function(X)) > clf.score(X, y)


def test_no_warning_where_it_is_as_good():
    with warnings.catch_warnings():
        warnings.simplefilter("error", BaselineWarning)
        clf = UBAUCClassifier(random_state=0).fit(*table(600))
    assert clf.tuning_["verdict"] is not None
    assert not clf.tuning_["is_worse_than_logistic"]
