"""scikit-learn's callbacks hear of every step, get the model of it, and can end the fit."""

import subprocess
import sys
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from ubauc import (
    OAMClassifier,
    OPAUCClassifier,
    RankSVMClassifier,
    SOLAMClassifier,
    UBAUCClassifier,
)

callback = pytest.importorskip("sklearn.callback")

FIXED = {"beta": 0.5, "gamma": 1e-3}
ESTIMATORS = {
    "batch": UBAUCClassifier(**FIXED),
    "online": UBAUCClassifier(solver="online", max_iter=5, random_state=0),
    "solam": SOLAMClassifier(max_iter=4, random_state=0),
    "opauc": OPAUCClassifier(max_iter=3, random_state=0),
    "oam": OAMClassifier(max_iter=2, random_state=0),
    "svm-or": RankSVMClassifier(C=100.0, max_iter=500),
}
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


class Recorder:
    """Records its calls; ends the fit after `last` steps."""

    def __init__(self, last=None):
        self.events, self.last, self.torn_down = [], last, 0

    def setup(self, estimator, context):
        pass

    def teardown(self, estimator, context):
        self.torn_down += 1

    def on_fit_task_begin(self, estimator, context):
        self.events.append(("begin", context.task_name, context.task_id))

    def on_fit_task_end(self, estimator, context, *, X=None, metadata=None, fitted_estimator=None):
        self.events.append(("end", context.task_name, context.task_id, fitted_estimator))
        self.X, self.metadata = X, metadata
        return self.last is not None and context.task_id + 1 >= self.last

    def ended(self, *names):
        return [event for event in self.events if event[0] == "end" and event[1] in names]


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_every_step_is_a_task_with_its_model(kind, dense):
    X, y = dense
    clf, recorder = clone(ESTIMATORS[kind]), Recorder()
    clf.set_callbacks(recorder).fit(X, y)
    steps = recorder.ended("step", "pass", "round")
    assert [event[2] for event in steps] == list(range(clf.n_iter_))
    assert recorder.events[0][:2] == ("begin", "fit") and recorder.events[-1][:2] == ("end", "fit")
    for k in {0, len(steps) // 2, len(steps) - 1}:
        fitted = steps[k][3]
        alone = clone(ESTIMATORS[kind]).set_params(max_iter=k + 1).fit(X, y)
        assert fitted is not clf
        np.testing.assert_array_equal(fitted.coef_, alone.coef_)
        np.testing.assert_array_equal(fitted.predict(X), alone.predict(X))
        assert fitted.objective_ == alone.objective_
    np.testing.assert_array_equal(steps[-1][3].coef_, clf.coef_)
    # Being watched changes nothing.
    np.testing.assert_array_equal(clf.coef_, clone(ESTIMATORS[kind]).fit(X, y).coef_)
    assert recorder.torn_down == 1
    assert not [name for name in vars(clf) if "callback_fit" in name or "teardown" in name]


@pytest.mark.parametrize("kind", ["batch", "online", "solam", "svm-or"])
def test_a_callback_ends_the_fit(kind, dense):
    X, y = dense
    clf, recorder = clone(ESTIMATORS[kind]), Recorder(last=2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clf.set_callbacks(recorder).fit(X, y)
    assert clf.n_iter_ == 2 == len(recorder.ended("step", "pass", "round"))
    alone = clone(ESTIMATORS[kind]).set_params(max_iter=2).fit(X, y)
    np.testing.assert_array_equal(clf.coef_, alone.coef_)


@pytest.mark.parametrize("kind", ["batch", "online", "solam"])
def test_scores_are_monitored(kind, dense):
    X, y = dense
    monitor = callback.ScoringMonitor(scoring=["roc_auc", "accuracy"])
    clf = clone(ESTIMATORS[kind]).set_callbacks(monitor)
    clf.fit(X, y)
    log = monitor.get_logs().data
    assert [row["task_name"] for row in log].count("fit") == 1
    steps = [row for row in log if row["task_name"] != "fit"]
    assert len(steps) == clf.n_iter_
    assert steps[-1]["roc_auc"] == log[0]["roc_auc"] == pytest.approx(clf.score(X, y), abs=1e-12)
    if kind != "batch":
        np.testing.assert_allclose([row["roc_auc"] for row in steps], clf.trace_["auc"], rtol=1e-12)


def test_weights_and_frames_reach_the_callback(dense):
    frames = pytest.importorskip("pandas")
    X, y = dense
    frame = frames.DataFrame(X, columns=list("abcdefgh"))
    weights = np.arange(len(y)) % 3.0
    recorder = Recorder()
    monitor = callback.ScoringMonitor(scoring="roc_auc")
    clf = UBAUCClassifier(**FIXED).set_callbacks(recorder, monitor)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # of names that X does not have
        clf.fit(frame, y, sample_weight=weights)
    assert recorder.X is frame and recorder.metadata["sample_weight"] is weights
    found = monitor.get_logs().data[0]["roc_auc"]
    assert found == pytest.approx(clf.score(frame, y, sample_weight=weights), abs=1e-12)


def test_probabilities_are_monitored(dense):
    X, y = dense
    monitor = callback.ScoringMonitor(scoring="neg_log_loss")
    clf = UBAUCClassifier(**FIXED, calibrate="sigmoid").set_callbacks(monitor).fit(X, y)
    log = monitor.get_logs().data
    assert len(log) == 1 + clf.n_iter_
    assert log[-1]["neg_log_loss"] == log[0]["neg_log_loss"]


def test_many_classes_are_pairs_of_steps(dense):
    X, _ = dense
    recorder = Recorder()
    clf = UBAUCClassifier(**FIXED).set_callbacks(recorder).fit(X, np.arange(len(X)) % 3)
    assert [event[2] for event in recorder.ended("pair")] == [0, 1, 2]
    assert len(recorder.ended("step")) == clf.n_iter_.sum()
    # A step of one pair is no classifier of all.
    assert {event[3] for event in recorder.ended("step", "pair")} == {None}
    assert recorder.ended("fit")[0][3] is not None


def test_beta_is_chosen_before_the_steps(dense):
    X, y = dense
    recorder, params = Recorder(), {"gamma": 1e-2, "random_state": 0}
    clf = UBAUCClassifier(**params).set_callbacks(recorder).fit(X, y)
    alone = UBAUCClassifier(**params).fit(X, y)
    np.testing.assert_array_equal(clf.coef_, alone.coef_)
    assert clf.tuning_ == alone.tuning_
    steps = recorder.ended("step")
    assert len(steps) == clf.n_iter_
    np.testing.assert_array_equal(steps[-1][3].coef_, clf.coef_)
    ended = UBAUCClassifier(**params).set_callbacks(Recorder(last=1)).fit(X, y)
    assert ended.n_iter_ == 1 and ended.beta_ == clf.beta_ and ended.tuning_ == clf.tuning_


def test_what_a_callback_raises_comes_out(dense):
    class Fault(Recorder):
        def on_fit_task_end(self, estimator, context):
            raise ZeroDivisionError("of the callback")

    fault = Fault()
    with pytest.raises(ZeroDivisionError, match="of the callback"):
        UBAUCClassifier(**FIXED).set_callbacks(fault).fit(*dense)
    assert fault.torn_down == 1


def test_bars_in_grids_and_pipelines(dense, capsys):
    pytest.importorskip("rich")
    X, y = dense
    for solver in ("batch", "online"):
        clf = UBAUCClassifier(**FIXED, solver=solver, random_state=0)
        clf.set_callbacks(callback.ProgressBar()).fit(X, y)
        assert "UBAUCClassifier - fit" in capsys.readouterr().out
        alone = UBAUCClassifier(**FIXED, solver=solver, random_state=0).fit(X, y)
        np.testing.assert_array_equal(clf.coef_, alone.coef_)
    grid = GridSearchCV(UBAUCClassifier(gamma=1e-3), {"beta": [0.5, 2.0]}, cv=2, n_jobs=2)
    grid.set_callbacks(callback.ProgressBar(max_propagation_depth=None)).fit(X, y)
    assert "UBAUCClassifier - fit" in capsys.readouterr().out
    pipe = make_pipeline(StandardScaler(), UBAUCClassifier(**FIXED))
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # that a step supports no callbacks
        pipe.set_callbacks(callback.ProgressBar()).fit(X, y)
    assert "UBAUCClassifier" in capsys.readouterr().out


def test_versions_without_callbacks():
    """As scikit-learn 1.6 has it: no such module."""
    code = """
import sys, warnings
import sklearn.metrics, sklearn.model_selection
sys.modules["sklearn.callback"] = None
import numpy as np
from ubauc import SOLAMClassifier, UBAUCClassifier
X = np.random.default_rng(0).normal(size=(90, 3))
y = X[:, 0] > 0.5
for clf in (UBAUCClassifier(beta=0.5, gamma=1e-3, verbose=1), SOLAMClassifier(max_iter=2)):
    assert not hasattr(clf, "set_callbacks")
    assert clf.fit(X, y).coef_.shape == (1, 3)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    UBAUCClassifier(beta=0.5, gamma=1e-3, tol=1e-12, max_iter=1).fit(X, y)
assert [w.filename for w in caught] == ["<string>"], caught
"""
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
