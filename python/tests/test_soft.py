"""The soft family: logistic regression at its corner, class weights, and what is searched."""

import inspect
import json
import time
from functools import partial

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.sparse import csr_matrix
from sklearn.datasets import make_blobs
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GroupKFold
from sklearn.preprocessing import StandardScaler
from sklearn.utils import shuffle
from ubauc import (
    OAMClassifier,
    OPAUCClassifier,
    RankSVMClassifier,
    SOLAMClassifier,
    UBAUCClassifier,
    _core,
)
from ubauc._problem import context, defaults

SOFT = {"beta": 0.5, "gamma": 1e-2, "softness": 0.3, "tol": 1e-12}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("class_weight", [None, "balanced", {-1: 0.5, 1: 4.0}], ids=str)
@pytest.mark.parametrize("data", ["dense", "sparse"])
def test_without_least_squares_it_is_logistic_regression(data, class_weight, weighted, request):
    X, y = request.getfixturevalue(data)
    weights = np.random.default_rng(0).integers(0, 4, len(y)) / 2 if weighted else np.ones(len(y))
    given = {"beta": 0, "softness": 1, "gamma": 1e-3, "tol": 1e-14, "class_weight": class_weight}
    clf = UBAUCClassifier(**given).fit(X, y, weights if weighted else None)
    # N is the sum of all weights; "balanced" leaves it as it is.
    of_class = np.ones(len(y))
    if class_weight == "balanced":
        shares = {c: weights[y == c].sum() for c in (-1, 1)}
        of_class = np.array([weights.sum() / (2 * shares[c]) for c in y])
    elif class_weight is not None:
        of_class = np.array([class_weight[c] for c in y])
    total = weights * of_class
    # Of scikit-learn's solvers the default one stops a few millionths away.
    newton = {"solver": "newton-cholesky", "tol": 1e-12, "max_iter": 1000}
    logistic = LogisticRegression(C=1 / (total.sum() * 1e-3), **newton)
    logistic.fit(X.toarray() if data == "sparse" else X, y, sample_weight=total)
    np.testing.assert_allclose(clf.coef_, logistic.coef_, rtol=0, atol=1e-6)
    np.testing.assert_allclose(clf.intercept_, logistic.intercept_, rtol=0, atol=1e-6)
    assert clf.gap_ <= 1e-12 and clf.n_tied_ == -1
    assert (clf.beta_, clf.softness_) == (0, 1)
    assert clf.class_weight_ == (class_weight if class_weight == "balanced" else None)
    # Another softness is another scale of the weights.
    other = UBAUCClassifier(**{**given, "softness": 0.25, "gamma": 4e-3}).fit(X, y, weights)
    np.testing.assert_allclose(other.coef_ * 4, clf.coef_, atol=1e-5)


def objective(X, y, w, threshold, offset, params, weights=1.0):
    """P of the soft bound, written out."""
    kappa, scores = params["softness"], X @ w
    bound = kappa * np.logaddexp(0.0, y * (threshold - scores) / kappa)
    squares = params["beta"] / 2 * (y - scores - offset) ** 2
    weights = weights * np.ones(len(y))
    return (weights * (bound + squares)).sum() / weights.sum() + params["gamma"] / 2 * w @ w


@pytest.mark.parametrize("balanced", [False, True])
def test_the_soft_minimum_is_certified(dense, balanced):
    X, y = dense
    of_class = np.where(y == 1, 1 / (y == 1).mean(), 1 / (y != 1).mean()) / 2 if balanced else 1.0
    clf = UBAUCClassifier(**SOFT, class_weight="balanced" if balanced else None).fit(X, y)
    at = clf.coef_[0], clf.threshold_[0], clf.offset_[0]
    assert clf.objective_ == pytest.approx(objective(X, y, *at, SOFT, of_class), rel=1e-10)
    assert 0 <= clf.objective_ - clf.dual_objective_ <= 1e-11

    def value(v):
        return objective(X, y, v[:8], v[8], v[9], SOFT, of_class)

    # Another minimiser, from elsewhere, gets no lower, and as low.
    found = minimize(value, np.zeros(10), method="BFGS", options={"gtol": 1e-8})
    assert clf.dual_objective_ <= found.fun <= clf.objective_ + 1e-8


def test_a_small_softness_is_nearly_the_hinge(dense):
    hinge = UBAUCClassifier(beta=0.5, gamma=1e-2, tol=1e-10).fit(*dense)
    near = UBAUCClassifier(**{**SOFT, "softness": 1e-3}).fit(*dense)
    # [t]+ <= the soft bound <= [t]+ + softness ln 2.
    assert hinge.dual_objective_ <= near.objective_ <= hinge.objective_ + 1e-3 * np.log(2)
    np.testing.assert_allclose(near.coef_, hinge.coef_, atol=5e-3)
    assert hinge.softness_ == 0 and hinge.n_tied_ >= 0


@pytest.mark.parametrize("params", [SOFT, {**SOFT, "softness": 0}], ids=["soft", "hinge"])
@pytest.mark.parametrize("kind", ["plain", "balanced"])
def test_balanced_is_a_weight_for_each_class(dense, params, kind):
    X, y = dense
    weights = np.random.default_rng(1).integers(1, 3, len(y))
    totals = {c: weights[y == c].sum() for c in (-1, 1)}
    by_hand = {c: weights.sum() / (2 * total) for c, total in totals.items()}
    params = {**params, "least_squares": kind}
    fits = [
        UBAUCClassifier(**params, class_weight=w).fit(X, y, weights) for w in ("balanced", by_hand)
    ]
    np.testing.assert_allclose(fits[0].coef_, fits[1].coef_, rtol=0, atol=1e-6)
    np.testing.assert_allclose(fits[0].threshold_, fits[1].threshold_, rtol=0, atol=1e-6)
    assert fits[0].objective_ == pytest.approx(fits[1].objective_, rel=1e-9)
    # Of weights 2 as of examples that come twice.
    twice = UBAUCClassifier(**params, class_weight="balanced")
    twice.fit(np.repeat(X, weights, 0), np.repeat(y, weights))
    np.testing.assert_allclose(twice.coef_, fits[0].coef_, rtol=0, atol=1e-6)


def test_balanced_classes_of_many(dense):
    X, _ = dense
    y = np.digitize(X[:, 0] + X[:, 1], [0.5, 2.0])
    counts = np.bincount(y)
    by_hand = dict(enumerate(len(y) / (3 * counts)))
    balanced = UBAUCClassifier(**SOFT, class_weight="balanced").fit(X, y)
    given = UBAUCClassifier(**SOFT, class_weight=by_hand).fit(X, y)
    np.testing.assert_allclose(balanced.coef_, given.coef_, rtol=0, atol=1e-6)
    assert balanced.class_weight_ == ["balanced"] * 3 and given.class_weight_ == [None] * 3


def test_pairs_of_different_losses_can_be_compared():
    X, y = shuffle(*make_blobs(n_samples=300, random_state=0), random_state=7)
    X = StandardScaler().fit_transform(X)
    for seed in range(4):
        # Sums of scores as they are have 77 % right for the second seed.
        clf = UBAUCClassifier(random_state=seed).fit(X, y)
        assert (clf.predict(X) == y).mean() > 0.9
    clf = UBAUCClassifier(beta=0, softness=0.5, gamma=1e-3).fit(X, y)
    scores = X @ clf.coef_.T + clf.intercept_
    p = 1 / (1 + np.exp(-scores / 0.5))  # of the second class of each pair
    of_0, of_1, of_2 = (2 * p - 1).T
    expected = np.column_stack([-of_0 - of_1, of_0 - of_2, of_1 + of_2])
    np.testing.assert_allclose(clf.decision_function(X), expected, atol=1e-12)


def settings(clf):
    names = ("beta", "softness", "class_weight", "least_squares")
    return {tuple(point[name] for name in names) for point in clf.tuning_["points"]}


LOGISTIC = (0.0, 1.0, "none", "plain")


def test_what_is_searched(dense):
    X, y = dense

    def tried(**params):
        given = params if "beta" in params else {"gamma": 1e-2, **params}
        return settings(UBAUCClassifier(random_state=0, **given).fit(X, y))

    losses = {(0.0, 1.0), (0.5, 0.05), (0.1, 1.0)}
    assert tried() == {(*loss, "none", "plain") for loss in losses}
    both = {(*loss, weight, "plain") for loss in losses for weight in ("none", "balanced")}
    assert tried(class_weight="auto") == both
    # What is given of the loss is taken, and logistic regression always runs beside.
    balanced = {(*loss, "balanced", "plain") for loss in losses}
    assert tried(class_weight="balanced") == balanced | {LOGISTIC}
    kinds = ("plain", "balanced")
    assert tried(beta=0.5) == {(0.5, 0.0, "none", kind) for kind in kinds} | {LOGISTIC}
    assert tried(beta=0.5, softness=0.1) == {(0.5, 0.1, "none", "plain"), LOGISTIC}
    hinge = tried(softness=0, least_squares="balanced") - {LOGISTIC}
    # The six of the grid, and more where the best is the last of them.
    assert {of[1:] for of in hinge} == {(0.0, "none", "balanced")} and len(hinge) >= 6


def test_what_is_given_is_used(dense):
    X, y = dense
    given = {"beta": 0.1, "softness": 0.5, "class_weight": "balanced", "random_state": 0}
    clf = UBAUCClassifier(**given).fit(X, y)
    assert (clf.beta_, clf.softness_, clf.class_weight_) == (0.1, 0.5, "balanced")
    assert not clf.tuning_["verdict"]["is_logistic"]
    again = UBAUCClassifier(**given | {"gamma": clf.gamma_, "scale": "standard"}).fit(X, y)
    np.testing.assert_array_equal(again.coef_, clf.coef_)
    assert again.tuning_ is None


def test_scale_suits_the_features(dense, sparse):
    for (X, y), scale in ((dense, "standard"), (sparse, "maxabs")):
        auto = UBAUCClassifier(random_state=0, gamma=1e-2).fit(X, y)
        given = UBAUCClassifier(random_state=0, gamma=1e-2, scale=scale).fit(X, y)
        np.testing.assert_array_equal(auto.coef_, given.coef_)
        # However the numbers are stored.
        other = X.toarray() if scale == "maxabs" else csr_matrix(X)
        again = UBAUCClassifier(random_state=0, gamma=1e-2).fit(other, y)
        np.testing.assert_array_equal(auto.coef_, again.coef_)
        plain, none = (UBAUCClassifier(**SOFT, scale=s).fit(X, y) for s in ("auto", "none"))
        np.testing.assert_array_equal(plain.coef_, none.coef_)


def patients(n, visits):
    """Visits that look alike within a patient, whose class is a matter of chance."""
    random = np.random.default_rng(5)
    group = np.repeat(np.arange(n), visits)
    X = random.normal(size=(n, 6))[group] + 0.01 * random.normal(size=(n * visits, 6))
    y = (random.random(n) < 0.5).astype(int)[group]
    order = random.permutation(len(y))
    return X[order], y[order], group[order]


def test_groups_stay_in_one_fold():
    X, y, group = patients(60, 20)
    # Of many features of 60 patients, to be learned by heart.
    X = np.hstack([np.tanh(X @ np.random.default_rng(k).normal(size=(6, 30))) for k in range(2)])
    params = {"beta": 0, "softness": 1, "random_state": 0}
    apart = UBAUCClassifier(**params).fit(X, y)
    together = UBAUCClassifier(**params).fit(X, y, groups=[f"patient {g}" for g in group])

    def best(clf):
        return clf.tuning_["points"][clf.tuning_["chosen"]]["auc"]

    assert best(apart) > 0.99
    assert best(together) < 0.7
    # As other folds that keep them together say.
    scores = []
    for train, test in GroupKFold(5).split(X, y, group):
        fit = LogisticRegression(C=1 / (len(train) * 0.1)).fit(X[train], y[train])
        scores.append(roc_auc_score(y[test], fit.decision_function(X[test])))
    assert np.mean(scores) < 0.7
    # The verdict's interval is that of patients, and wide.
    widths = [np.ptp(clf.tuning_["verdict"]["ours"]["ci95"]) for clf in (apart, together)]
    assert widths[1] > 3 * widths[0]
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        UBAUCClassifier().fit(X, y, groups=group[1:])


def test_groups_of_many_classes_and_of_probabilities():
    X, y, group = patients(60, 5)
    y = y + 2 * (group % 2)
    for params in ({"calibrate": "sigmoid", **SOFT}, {"gamma": 1e-2}):
        clf = UBAUCClassifier(**params, random_state=0).fit(X, y, groups=group)
        assert clf.coef_.shape == (6, 6)
    two = y % 2
    kept, apart = (
        UBAUCClassifier(**SOFT, calibrate="sigmoid", random_state=0).fit(X, two, groups=g)
        for g in (group, None)
    )
    np.testing.assert_array_equal(kept.coef_, apart.coef_)
    # Nothing can be learned of other patients, and the probabilities know it.
    spread = [np.ptp(clf.predict_proba(X)[:, 1]) for clf in (kept, apart)]
    assert spread[0] < spread[1]
    folds = _core.folds(two == 1, group.astype(np.uint32), 5, 0)
    assert all(len(set(folds[group == g])) == 1 for g in set(group))


def test_a_time_limit_takes_the_best_so_far(dense):
    X, y = dense
    short = UBAUCClassifier(time_limit=1e-9, random_state=0).fit(X, y)
    assert short.tuning_["cut_short"] and short.gap_ <= 1e-6
    whole = UBAUCClassifier(time_limit=1e6, random_state=0).fit(X, y)
    assert not whole.tuning_["cut_short"]
    assert len(short.tuning_["points"]) < len(whole.tuning_["points"])
    X = np.random.default_rng(0).normal(size=(40_000, 60))
    y = (X[:, :9].sum(axis=1) + np.random.default_rng(1).normal(size=40_000) > 6).astype(int)
    started = time.monotonic()
    clf = UBAUCClassifier(time_limit=0.2, random_state=0).fit(X, y)
    assert clf.tuning_["cut_short"] and time.monotonic() - started < 60


def both_judged(one, other):
    """The points that two searches have both tried: each goes on at the ends of its own grid."""
    key = lambda p: tuple(p[k] for k in ("beta", "softness", "class_weight", "least_squares"))  # noqa: E731
    others = {(key(p), p["gamma"]): p for p in other.tuning_["points"]}
    for point in one.tuning_["points"]:
        if (key(point), point["gamma"]) in others:
            yield point, others[key(point), point["gamma"]]


def test_another_criterion(dense):
    X, y = dense
    params = {"random_state": 0, "gamma": 1e-2}
    clf = UBAUCClassifier(criterion="average-precision", **params).fit(X, y)
    of_auc = UBAUCClassifier(**params).fit(X, y)
    common = list(both_judged(clf, of_auc))
    assert len(common) >= 3
    for ours, theirs in common:
        assert ours["auc"] < theirs["auc"]
    part = UBAUCClassifier(criterion="partial-auc:0.1", **params).fit(X, y)
    assert part.tuning_["points"] != of_auc.tuning_["points"]
    whole = UBAUCClassifier(criterion="partial-auc:1", **params).fit(X, y)
    for ours, theirs in zip(whole.tuning_["points"], of_auc.tuning_["points"], strict=True):
        assert ours["auc"] == pytest.approx(theirs["auc"], rel=1e-12)
    for wrong in ("accuracy", "partial-auc:2"):
        for more in ({}, SOFT):
            with pytest.raises(ValueError, match=f"criterion = {wrong}: must be auc"):
                UBAUCClassifier(criterion=wrong, **more).fit(X, y)


def test_what_cannot_be_is_refused_by_name(dense):
    X, y = dense
    online = UBAUCClassifier(solver="online", beta=0, softness=0)
    for learn in (online.fit, partial(online.partial_fit, classes=[-1, 1])):
        with pytest.raises(ValueError, match="beta"):
            learn(X, y)
    for softness in ("auto", 0):
        for more in ({}, {"gamma": 0.1}):
            with pytest.raises(ValueError, match="beta"):
                UBAUCClassifier(beta=0, softness=softness, **more).fit(X, y)
    for wrong in ({"softness": -1}, {"time_limit": 0}, {"softness": np.inf}, {"criterion": 1}):
        with pytest.raises(ValueError, match=f"'{next(iter(wrong))}' parameter"):
            UBAUCClassifier(**wrong).fit(X, y)
    online = UBAUCClassifier(solver="online", softness=0, class_weight="auto", random_state=0)
    plain = UBAUCClassifier(solver="online", random_state=0).fit(X, y)
    np.testing.assert_array_equal(online.fit(X, y).coef_, plain.coef_)


def test_the_online_solver_takes_a_softness(dense, tmp_path):
    X, y = dense
    given = {"beta": 0, "softness": 1, "gamma": 1e-2, "scale": "maxabs", "random_state": 0}
    minimum = UBAUCClassifier(**given).fit(X, y)
    online = UBAUCClassifier(solver="online", max_iter=200, tol=0, **given).fit(X, y)
    assert (online.softness_, online.beta_) == (1, 0)
    # Nowhere below the certified minimum, and near it.
    above = online.objective_ - minimum.objective_
    assert -1e-9 < above < 1e-3 * minimum.objective_
    online.save(tmp_path / "model.json")
    assert UBAUCClassifier.load(tmp_path / "model.json").softness_ == 1
    stream = UBAUCClassifier(solver="online", **given)
    for _ in range(5):
        stream.partial_fit(X, y, classes=[-1, 1])
    assert stream.softness_ == 1
    assert abs(stream.score(X, y) - minimum.score(X, y)) < 0.01
    hinge = UBAUCClassifier(solver="online", random_state=0, beta=0.5).fit(X, y)
    assert hinge.softness_ == 0


def test_balanced_in_the_online_solver_knows_sample_weights(dense):
    X, y = dense
    weights = np.where(y == 1, 2.0, 1.0)
    # Features are centred at means without class weights, so there is nothing to centre.
    params = {"solver": "online", "random_state": 0, "eta0": 0.1, "fit_intercept": False}
    balanced = UBAUCClassifier(**params, class_weight="balanced").fit(X, y, weights)
    totals = {c: weights[y == c].sum() for c in (-1, 1)}
    by_hand = {c: weights.sum() / (2 * total) for c, total in totals.items()}
    given = UBAUCClassifier(**params, class_weight=by_hand).fit(X, y, weights)
    np.testing.assert_allclose(balanced.coef_, given.coef_, rtol=1e-9)


def test_the_online_solver_comes_near_the_soft_minimum(dense):
    X, y = dense
    params = {"beta": 0, "softness": 1, "gamma": 1e-2, "class_weight": "balanced"}
    batch = UBAUCClassifier(**params, scale="maxabs").fit(X, y)
    online = UBAUCClassifier(solver="online", random_state=0, **params).fit(X, y)
    assert (online.softness_, online.class_weight_, online.beta_) == (1, "balanced", 0)
    assert batch.objective_ <= online.objective_ <= 1.01 * batch.objective_
    stream = UBAUCClassifier(solver="online", random_state=0, **params)
    for at in range(0, len(y), 50):
        stream.partial_fit(X[at : at + 50], y[at : at + 50], classes=[-1, 1])
    assert (stream.softness_, stream.class_weight_) == (1, "balanced")
    of_batch = roc_auc_score(y, batch.decision_function(X))
    assert roc_auc_score(y, stream.decision_function(X)) > of_batch - 0.02


def test_defaults_are_those_of_the_library(dense):
    """Signatures of scikit-learn show numbers, and these must be the library's."""
    names = {"C": "C", "zeta": "zeta", "radius": "radius", "eta": "eta", "lam": "lambda"}
    names |= {"buffer_size": "buffer", "average": "average", "scale": "scale"}
    for cls in (SOLAMClassifier, OPAUCClassifier, OAMClassifier, RankSVMClassifier):
        shown = {k: p.default for k, p in inspect.signature(cls).parameters.items()}
        of_library = defaults(cls()._algorithm)
        passes = of_library.get("passes", {})
        steps = passes.get("max_passes", of_library.get("max_rounds"))
        assert shown["max_iter"] == steps
        assert shown["tol"] == passes.get("tolerance", of_library.get("tolerance"))
        own = {ours: shown[ours] for ours in names if ours in shown and shown[ours] != "auto"}
        assert own == {ours: of_library[names[ours]] for ours in own} and own
    batch, online = defaults("ba-ubauc"), defaults("ol-ubauc")
    clf = UBAUCClassifier(solver="online", random_state=0).fit(*dense)
    assert (clf.beta_, clf.gamma_) == (online["beta"], online["gamma"])
    assert clf.n_iter_ <= online["passes"]["max_passes"]
    assert (batch["beta"], batch["softness"]) == (0.5, 0)
    with pytest.raises(ValueError, match='algorithm = "perceptron"'):
        _core.defaults("perceptron")
    given = (dense[0], dense[1] == 1, None)
    with pytest.raises(ValueError, match="unknown field `nonsense`"):
        _core.tune(*given, None, json.dumps({"nonsense": 1}), context(["-1", "1"], 1))
