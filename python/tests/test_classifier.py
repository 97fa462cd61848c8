"""What the estimator promises beside scikit-learn's own checks."""

import copy
import pickle
import warnings

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import Ridge
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from ubauc import CollapseWarning, UBAUCClassifier
from ubauc.metrics import hand_till

FIXED = {"beta": 0.5, "gamma": 1e-3}


def objective(X, y, w, threshold, beta, gamma):
    """P, written out: Eq. (8) in mean form."""
    sign = np.where(y == y.max(), 1.0, -1.0)
    scores = X @ w
    hinge = np.maximum(0.0, sign * (threshold - scores))
    return np.mean(hinge + beta / 2 * (1 - sign * scores) ** 2) + gamma / 2 * w @ w


def test_the_certificate_is_what_it_says(dense):
    X, y = dense
    clf = UBAUCClassifier(**FIXED, fit_intercept=False).fit(X, y)
    P = objective(X, y, clf.coef_[0], clf.threshold_[0], 0.5, 1e-3)
    assert clf.objective_ == pytest.approx(P, rel=1e-12)
    assert clf.gap_ == pytest.approx((P - clf.dual_objective_) / P, abs=1e-12)
    assert 0 <= clf.gap_ <= 1e-6
    random = np.random.default_rng(0)
    for size in (1e-1, 1e-3, 1e-5):
        w = clf.coef_[0] + size * random.normal(size=8)
        assert objective(X, y, w, clf.threshold_[0], 0.5, 1e-3) >= clf.dual_objective_
    # The best bound of all steps counts in the end.
    assert 0 <= clf.gap_ <= clf.trace_["gap"][-1] * (1 + 1e-6)
    assert clf.n_iter_ == clf.trace_["step"][-1]


@pytest.mark.parametrize("intercept", [False, True])
def test_large_beta_is_ridge_regression(dense, intercept):
    X, y = dense
    clf = UBAUCClassifier(beta=1e6, gamma=1e6 * 0.1, tol=1e-9, fit_intercept=intercept).fit(X, y)
    ridge = Ridge(alpha=0.1 * len(y), fit_intercept=intercept).fit(X, y)
    # The hinge is a millionth of the least squares.
    np.testing.assert_allclose(clf.coef_[0], ridge.coef_, atol=1e-5)
    assert clf.offset_[0] == pytest.approx(ridge.intercept_, abs=1e-5)


def test_online_approaches_the_proved_minimum(dense):
    X, y = dense
    batch = UBAUCClassifier(**FIXED, scale="maxabs", tol=1e-9).fit(X, y)
    online = UBAUCClassifier(**FIXED, solver="online", random_state=0).fit(X, y)
    assert batch.dual_objective_ <= online.objective_ <= 1.01 * batch.objective_
    assert np.isnan(online.gap_) and np.isnan(online.dual_objective_)
    assert online.trace_["objective"][-1] == online.objective_


def test_decision_is_linear_and_score_is_auc(dense):
    X, y = dense
    for solver in ("batch", "online"):
        clf = UBAUCClassifier(**FIXED, solver=solver, random_state=0).fit(X, y)
        decision = clf.decision_function(X)
        np.testing.assert_allclose(decision, X @ clf.coef_[0] + clf.intercept_[0], atol=1e-12)
        np.testing.assert_array_equal(clf.predict(X), np.where(decision > 0, 1, -1))
        assert clf.score(X, y) == pytest.approx(roc_auc_score(y, decision), abs=1e-15)
        weights = np.arange(len(y)) % 3.0
        expected = roc_auc_score(y, decision, sample_weight=weights)
        assert clf.score(X, y, sample_weight=weights) == pytest.approx(expected, abs=1e-12)


def test_weights_of_many_classes_in_the_score(dense):
    """A weight of 2 is an example that comes twice, of 0 one that does not."""
    X, _ = dense
    y = np.arange(len(X)) % 3
    clf = UBAUCClassifier(beta=4.0, gamma=1e-3).fit(X + np.eye(8)[y], y)
    times = np.random.default_rng(0).integers(0, 3, len(y))
    weighted = clf.score(X, y, sample_weight=times)
    assert weighted == pytest.approx(clf.score(np.repeat(X, times, 0), np.repeat(y, times)))
    assert weighted != clf.score(X, y) == pytest.approx(clf.score(X, y, np.ones(len(y))))
    decision = clf.decision_function(X)
    for average in ("macro", "weighted"):
        many = hand_till(y, decision, sample_weight=times, average=average)
        repeated = hand_till(np.repeat(y, times), np.repeat(decision, times, 0), average=average)
        assert many == pytest.approx(repeated, rel=1e-12)
    with pytest.raises(ValueError, match="class"):
        clf.score(X, y, sample_weight=(y != 1).astype(float))


def test_a_fit_that_failed_is_none(dense):
    X, y = dense
    with pytest.raises(ValueError, match="zero"):
        (clf := UBAUCClassifier(**FIXED)).fit(X, y, sample_weight=np.zeros(len(y)))
    with pytest.raises(NotFittedError):
        clf.predict(X)
    with pytest.raises(ValueError, match="not in classes"):
        (clf := UBAUCClassifier(solver="online")).partial_fit(X, y + 7, classes=[-1, 1])
    with pytest.raises(NotFittedError):
        clf.decision_function(X)


def test_weights_are_repetitions(dense):
    X, y = dense
    times = np.arange(len(y)) % 3
    weighted = UBAUCClassifier(**FIXED, tol=1e-12).fit(X, y, sample_weight=times)
    repeated = UBAUCClassifier(**FIXED, tol=1e-12).fit(np.repeat(X, times, 0), np.repeat(y, times))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-6)
    by_class = UBAUCClassifier(**FIXED, class_weight={1: 3.0}).fit(X, y)
    by_sample = UBAUCClassifier(**FIXED).fit(X, y, sample_weight=np.where(y == 1, 3.0, 1.0))
    np.testing.assert_array_equal(by_class.coef_, by_sample.coef_)


@pytest.mark.parametrize("ratio", [0.25, 4, 30.0])
def test_a_number_is_the_weight_of_the_negatives(ratio, dense, tmp_path):
    X, y = dense
    by_number = UBAUCClassifier(**FIXED, softness=0.1, class_weight=ratio, tol=1e-12).fit(X, y)
    n, n_pos = len(y), (y == 1).sum()
    weights = np.where(y == 1, n / n_pos, ratio * n / (n - n_pos)) / (1 + ratio)
    by_sample = UBAUCClassifier(**FIXED, softness=0.1, tol=1e-12).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(by_number.coef_, by_sample.coef_, atol=1e-6)
    assert by_number.class_weight_ == ratio
    by_number.save(tmp_path / "model.json")
    loaded = UBAUCClassifier.load(tmp_path / "model.json")
    assert loaded.class_weight == loaded.class_weight_ == ratio
    for wrong in (0, -1.0, np.inf):
        with pytest.raises(ValueError, match="class_weight"):
            UBAUCClassifier(**FIXED, class_weight=wrong).fit(X, y)


def test_a_number_needs_no_softness(dense):
    X, y = dense
    clf = UBAUCClassifier(class_weight=4, random_state=0).fit(X, y)
    assert clf.class_weight_ == 4


def test_a_partial_auc_tries_numbers(dense):
    X, y = dense
    given = {"gamma": 1e-2, "random_state": 0}
    clf = UBAUCClassifier(class_weight="auto", criterion="partial-auc:0.1", **given)
    tried = {point["class_weight"] for point in clf.fit(X, y).tuning_["points"]}
    assert {"none", "balanced", 2.5, 10.0} <= tried
    clf.set_params(criterion="auc")
    tried = {point["class_weight"] for point in clf.fit(X, y).tuning_["points"]}
    assert tried == {"none", "balanced"}


@pytest.mark.parametrize(
    "labels",
    [[0, 1], [-1.0, 1.0], [3, 7], [False, True], ["no", "yes"], np.array([1, 2], dtype=np.uint8)],
    ids=str,
)
def test_classes_of_any_kind(labels, dense):
    X, y = dense
    names = np.asarray(labels)[(y == 1).astype(int)]
    clf = UBAUCClassifier(**FIXED).fit(X, names)
    np.testing.assert_array_equal(clf.classes_, labels)
    assert clf.classes_.dtype == clf.predict(X).dtype == names.dtype
    np.testing.assert_array_equal(clf.coef_, UBAUCClassifier(**FIXED).fit(X, y).coef_)
    assert clf.score(X, names) == roc_auc_score(names == labels[1], clf.decision_function(X))


def test_numbers_that_are_no_classes(dense):
    X, y = dense
    with pytest.raises(ValueError, match="continuous"):
        UBAUCClassifier(**FIXED).fit(X, y + 0.5)


def test_auto_chooses_and_tells(dense):
    X, y = dense
    clf = UBAUCClassifier(random_state=0).fit(X, y)
    chosen = clf.tuning_["points"][clf.tuning_["chosen"]]
    assert (clf.beta_, clf.gamma_) == (chosen["beta"], chosen["gamma"])
    assert clf.least_squares_ == chosen["least_squares"]
    assert (clf.softness_, clf.class_weight_) == (chosen["softness"], None)
    assert not chosen["collapsed"] and not chosen["stopped"] and chosen["standard_error"] > 0
    assert len(chosen["fold_aucs"]) == 25  # few examples: dealt into five folds five times
    assert np.mean(chosen["fold_aucs"]) == pytest.approx(chosen["auc"], rel=1e-12)
    logistic = clf.tuning_["points"][clf.tuning_["logistic"]]
    assert (logistic["beta"], logistic["class_weight"]) == (0, "none")
    best = max(p["auc"] for p in clf.tuning_["points"] if not p["stopped"])
    assert chosen["auc"] == best >= logistic["auc"]
    assert set(clf.tuning_["verdict"]) == {"ours", "logistic", "test", "is_logistic"}
    assert clf.tuning_["verdict"]["is_logistic"] == (clf.beta_ == 0)
    few = np.r_[np.where(y == 1)[0][:4], np.where(y == -1)[0][:50]]
    small = UBAUCClassifier(random_state=0).fit(X[few], y[few])
    assert (small.beta_, small.gamma_, small.softness_, small.tuning_) == (0.5, 1e-4, 0, None)


def test_threads_change_nothing(dense, sparse):
    for X, y in (dense, sparse):
        for params in ({"gamma": 1e-2}, {**FIXED}, {"solver": "online"}):
            models = [
                UBAUCClassifier(**params, random_state=1, n_jobs=n).fit(X, y) for n in (1, 2, 3)
            ]
            for other in models[1:]:
                np.testing.assert_array_equal(models[0].coef_, other.coef_)
                np.testing.assert_array_equal(
                    models[0].decision_function(X), other.decision_function(X)
                )


def test_collapse_and_no_convergence_are_warned_of(dense):
    X, y = dense
    with pytest.warns(CollapseWarning, match="beta"):
        clf = UBAUCClassifier(beta=1e-3, gamma=1.0).fit(X, y)
    assert clf.n_tied_ > 100
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        UBAUCClassifier(**FIXED, tol=1e-12, max_iter=1).fit(X, y)
    with pytest.warns(ConvergenceWarning, match="gamma"):
        UBAUCClassifier(beta=0.5, gamma=0.0).fit(np.c_[X, X[:, 0]], y)
    with pytest.warns(ConvergenceWarning, match="passes"):
        UBAUCClassifier(solver="online", max_iter=1).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        UBAUCClassifier(**FIXED).fit(X, y)
        UBAUCClassifier(solver="online").fit(X, y)


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
@pytest.mark.parametrize("solver", ["batch", "online"])
def test_probabilities_keep_the_auc(method, solver):
    X, y = make_classification(2000, 10, weights=[0.9], flip_y=0.1, random_state=0)
    half = slice(None, 1000)
    clf = UBAUCClassifier(**FIXED, solver=solver, calibrate=method, random_state=0)
    clf.fit(X[half], y[half])
    p = clf.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-15)
    assert ((0 < p) & (p < 1)).all()
    assert roc_auc_score(y, p[:, 1]) == roc_auc_score(y, clf.decision_function(X))
    order = np.argsort(clf.decision_function(X))
    assert (np.diff(p[order, 1]) > 0).all()
    # Calibrated: the mean is the share of the positives, on examples never seen.
    assert p[1000:, 1].mean() == pytest.approx(y[1000:].mean(), abs=0.03)


def test_without_calibration_there_are_no_probabilities(dense):
    X, y = dense
    clf = UBAUCClassifier(**FIXED).fit(X, y)
    assert not hasattr(clf, "predict_proba")
    assert not hasattr(clf, "partial_fit")
    with pytest.raises(AttributeError, match="predict_proba"):
        clf.predict_proba(X)


def test_many_classes_one_against_one():
    X, y = make_classification(600, 10, n_informative=6, n_classes=4, random_state=0)
    names = np.array(["ant", "bee", "cat", "dog"])[y]
    for params in ({"solver": "batch", **FIXED}, {"solver": "online", "random_state": 0}):
        clf = UBAUCClassifier(**params, calibrate="sigmoid").fit(X, names)
        assert clf.coef_.shape == (6, 10) and clf.gap_.shape == (6,)
        decision = clf.decision_function(X)
        assert decision.shape == (600, 4)
        assert clf.score(X, names) == hand_till(names, decision) > 0.7
        np.testing.assert_array_equal(clf.predict(X), clf.classes_[decision.argmax(axis=1)])
        np.testing.assert_allclose(clf.predict_proba(X).sum(axis=1), 1.0)
    pair = (y == 1) | (y == 3)
    alone = UBAUCClassifier(**FIXED).fit(X[pair], y[pair])
    many = UBAUCClassifier(**FIXED).fit(X, y)
    np.testing.assert_array_equal(many.coef_[4], alone.coef_[0])


def test_streams_of_any_batches(dense):
    X, y = dense
    order = np.argsort(y, kind="stable")  # all negatives first
    whole = UBAUCClassifier(solver="online", eta0=0.5)
    whole.partial_fit(X[order], y[order], classes=[-1, 1])
    parts = UBAUCClassifier(solver="online", eta0=0.5)
    for batch in np.array_split(order, 13):
        parts.partial_fit(X[batch], y[batch], classes=[-1, 1])
        parts.partial_fit(X[batch], y[batch], sample_weight=np.zeros(len(batch)))
    np.testing.assert_array_equal(whole.coef_, parts.coef_)
    assert parts.t_ == len(y)
    mixed = UBAUCClassifier(solver="online").partial_fit(
        X[order[:9]], y[order[:9]], classes=[-1, 1]
    )
    for _ in range(5):
        mixed.partial_fit(X, y)
    assert mixed.score(X, y) > 0.65
    many = UBAUCClassifier(solver="online").partial_fit(X[:5], [0] * 5, classes=[0, 1, 2])
    many.partial_fit(X, np.arange(len(y)) % 3)
    assert many.decision_function(X).shape == (len(y), 3)


def test_streams_refuse_what_they_cannot_do(dense):
    X, y = dense
    with pytest.raises(ValueError, match="classes must be passed"):
        UBAUCClassifier(solver="online").partial_fit(X, y)
    stream = UBAUCClassifier(solver="online").partial_fit(X, y, classes=[-1, 1])
    with pytest.raises(ValueError, match="not in classes"):
        stream.partial_fit(X[:2], [7, 1])
    with pytest.raises(ValueError, match="standard"):
        UBAUCClassifier(solver="online", scale="standard").partial_fit(X, y, classes=[-1, 1])
    clf = UBAUCClassifier(solver="online", calibrate="sigmoid")
    assert not hasattr(clf, "partial_fit")
    with pytest.raises(AttributeError, match="partial_fit") as caught:
        clf.partial_fit(X, y, classes=[-1, 1])
    assert "calibrate" in f"{caught.value} {caught.value.__cause__}"
    with pytest.raises(NotFittedError):
        UBAUCClassifier().predict(X)


def test_a_stream_goes_on_after_fit(dense):
    X, y = dense
    clf = UBAUCClassifier(solver="online", random_state=0, scale="none").fit(X, y)
    before = clf.coef_.copy()
    clf.partial_fit(X[:1], y[:1], sample_weight=[0.0])
    np.testing.assert_array_equal(clf.coef_, before)
    clf.partial_fit(X, y)
    assert not np.array_equal(clf.coef_, before)


@pytest.mark.parametrize("params", [{"calibrate": "isotonic", **FIXED}, {"solver": "online"}])
def test_pickles_and_copies_are_the_same(params, dense, tmp_path):
    X, y = dense
    clf = UBAUCClassifier(**params, random_state=0).fit(X, y)
    joblib.dump(clf, tmp_path / "clf.joblib")
    others = [
        pickle.loads(pickle.dumps(clf)),
        copy.deepcopy(clf),
        joblib.load(tmp_path / "clf.joblib"),
    ]
    for other in others:
        np.testing.assert_array_equal(other.decision_function(X), clf.decision_function(X))
        if clf.calibrate:
            np.testing.assert_array_equal(other.predict_proba(X), clf.predict_proba(X))
    stream = UBAUCClassifier(solver="online").partial_fit(X[:300], y[:300], classes=[-1, 1])
    other = pickle.loads(pickle.dumps(stream))
    np.testing.assert_array_equal(
        stream.partial_fit(X[300:], y[300:]).coef_, other.partial_fit(X[300:], y[300:]).coef_
    )
    assert not hasattr(clone(stream), "coef_")


def test_grids_pipelines_and_frames(dense):
    frames = pytest.importorskip("pandas")
    X, y = dense
    frame = frames.DataFrame(X, columns=list("abcdefgh"))
    pipe = make_pipeline(StandardScaler(), UBAUCClassifier(**FIXED)).set_output(transform="pandas")
    pipe.fit(frame, y)
    assert pipe[-1].feature_names_in_.tolist() == list("abcdefgh")
    grid = GridSearchCV(UBAUCClassifier(gamma=1e-3), {"beta": [0.2, 2.0]}, cv=3, n_jobs=2)
    assert grid.fit(X, y).best_score_ == pytest.approx(
        cross_val_score(grid.best_estimator_, X, y, cv=3, scoring="roc_auc").mean(), abs=1e-12
    )


def test_metadata_routing(dense):
    import sklearn

    X, y = dense
    weights = np.arange(len(y)) % 2.0
    with sklearn.config_context(enable_metadata_routing=True):
        clf = UBAUCClassifier(**FIXED).set_fit_request(sample_weight=True)
        pipe = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), clf)
        pipe.fit(X, y, sample_weight=weights)
        scaled = StandardScaler().fit_transform(X)
        alone = UBAUCClassifier(**FIXED).fit(scaled, y, sample_weight=weights)
        np.testing.assert_array_equal(pipe[-1].coef_, alone.coef_)
        assert "partial_fit" in UBAUCClassifier(solver="online").get_metadata_routing()._serialize()


def test_verbose_prints_every_step(dense, capsys):
    X, y = dense
    clf = UBAUCClassifier(**FIXED, verbose=1).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(clf.trace_["step"])
    assert lines[-1].startswith(f"[UBAUCClassifier] step {clf.n_iter_}: objective 0.")


@pytest.mark.parametrize(
    "wrong",
    [
        {"beta": 0.0},
        {"beta": "much"},
        {"gamma": -1.0},
        {"solver": "newton"},
        {"tol": 1.5},
        {"tol": 0},
    ],
)
def test_wrong_parameters_are_named(wrong, dense):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        UBAUCClassifier(**wrong).fit(*dense)
