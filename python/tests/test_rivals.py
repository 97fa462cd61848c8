"""The estimators of other papers: the numbers of the program, and what they minimise."""

import json
import pickle
import warnings

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import MaxAbsScaler
from svmlight_text import write_svmlight
from ubauc import (
    CollapseWarning,
    OAMClassifier,
    OPAUCClassifier,
    RankSVMClassifier,
    SOLAMClassifier,
    UBAUCClassifier,
    _core,
)

RIVALS = [SOLAMClassifier, OPAUCClassifier, OAMClassifier, RankSVMClassifier]

# By the program, and here.
CASES = {
    "solam": (
        "--algorithm solam --zeta 0.5 --radius 3 --passes 4",
        SOLAMClassifier(zeta=0.5, radius=3, max_iter=4),
    ),
    "solam in order": (
        "--algorithm solam --zeta 1 --radius 1 --no-shuffle --scale none --tolerance 1e-3",
        SOLAMClassifier(shuffle=False, scale="none", tol=1e-3),
    ),
    "opauc": (
        "--algorithm opauc --eta 0.00390625 --lambda 0.0001",
        OPAUCClassifier(),
    ),
    "opauc full": (
        "--algorithm opauc --eta 0.02 --lambda 0 --tau 0 --passes 3 --scale standard",
        OPAUCClassifier(eta=0.02, lam=0, tau=0, max_iter=3, scale="standard"),
    ),
    "opauc sketch": (
        "--algorithm opauc --eta 0.02 --lambda 0.01 --tau 4",
        OPAUCClassifier(eta=0.02, lam=0.01, tau=4),
    ),
    "oam-seq": (
        "--algorithm oam-seq --C 0.01 --buffer 20 --passes 2",
        OAMClassifier(C=0.01, buffer_size=20, max_iter=2),
    ),
    "oam-seq averaged": (
        "--algorithm oam-seq --C 0.01 --average",
        OAMClassifier(C=0.01, average=True),
    ),
    "oam-gra": (
        "--algorithm oam-gra --C 0.0001",
        OAMClassifier(update="gradient"),
    ),
    "svm-or": (
        "--algorithm svm-or --C 1",
        RankSVMClassifier(),
    ),
    "svm-or exact": (
        "--algorithm svm-or --C 10 --tolerance 1e-9 --scale none",
        RankSVMClassifier(C=10, tol=1e-9, scale="none"),
    ),
}


@pytest.mark.parametrize("data", ["dense", "sparse"])
@pytest.mark.parametrize("case", CASES)
def test_same_file(case, data, program, tmp_path, request):
    arguments, clf = CASES[case]
    clf = clone(clf)
    if "random_state" in clf.get_params():
        clf.set_params(random_state=3)
    X, y = request.getfixturevalue(data)
    train = write_svmlight(tmp_path / "train.svm", X, y)
    theirs, ours = tmp_path / "theirs.json", tmp_path / "ours.json"
    program("train", train, *arguments.split(), "--seed", 3, "--model", theirs, "--quiet")
    clf.fit(X, y).save(ours)
    assert json.loads(ours.read_text()) == json.loads(theirs.read_text())
    assert ours.read_bytes() == theirs.read_bytes()

    loaded = type(clf).load(theirs)
    np.testing.assert_array_equal(loaded.coef_, clf.coef_)
    np.testing.assert_array_equal(loaded.decision_function(X), clf.decision_function(X))
    assert loaded.objective_ == clf.objective_
    for name, value in clf.get_params().items():
        assert getattr(loaded, name) == value, name


@pytest.mark.parametrize("columns", [1000, 1001])
def test_the_rank_is_chosen_as_the_program_does(columns, program, tmp_path):
    random = np.random.default_rng(5)
    y = np.where(random.random(120) < 0.3, 1, -1)
    X = random.normal(size=(120, columns)) + 0.3 * y[:, None]
    X[random.random(X.shape) < 0.9] = 0.0
    X[0, -1] = 1.0
    train = write_svmlight(tmp_path / "train.svm", X, y)
    arguments = "--algorithm opauc --eta 0.01 --lambda 0.0001 --seed 3 --quiet --model".split()
    program("train", train, *arguments, tmp_path / "theirs.json")
    clf = OPAUCClassifier(eta=0.01, random_state=3).fit(X, y)
    clf.save(tmp_path / "ours.json")
    assert (tmp_path / "ours.json").read_bytes() == (tmp_path / "theirs.json").read_bytes()
    tau = 0 if columns == 1000 else 50
    given = OPAUCClassifier(eta=0.01, tau=tau, random_state=3).fit(X, y)
    np.testing.assert_array_equal(given.coef_, clf.coef_)


def differences(X, y, clf):
    """Of the scores of all pairs, features scaled as the learner saw them, and its weights."""
    largest = np.abs(X).max(axis=0)
    scores = X @ clf.coef_[0]
    return scores[y == 1][:, None] - scores[y == -1], clf.coef_[0] * largest


def test_objectives_are_those_of_all_pairs(dense):
    X, y = dense
    solam = SOLAMClassifier(random_state=0).fit(X, y)
    d, _ = differences(X, y, solam)
    assert solam.objective_ == pytest.approx(np.mean((1 - d) ** 2), rel=1e-12)

    opauc = OPAUCClassifier(lam=0.1, random_state=0).fit(X, y)
    d, w = differences(X, y, opauc)
    assert opauc.objective_ == pytest.approx(np.mean((1 - d) ** 2) / 2 + 0.05 * w @ w, rel=1e-12)

    for update in ("sequential", "gradient"):
        oam = OAMClassifier(update=update, C=0.01, random_state=0).fit(X, y)
        d, _ = differences(X, y, oam)
        assert oam.objective_ == pytest.approx(np.mean(np.maximum(0, 1 - d)), rel=1e-12)

    svm = RankSVMClassifier(C=5.0, tol=1e-8).fit(X, y)
    d, w = differences(X, y, svm)
    P = w @ w / 2 + 5 * np.mean(np.maximum(0, 1 - d))
    assert svm.objective_ == pytest.approx(P, rel=1e-12)
    assert svm.gap_ == pytest.approx((P - svm.dual_objective_) / P, abs=1e-12)
    assert 0 <= svm.gap_ <= 1e-8
    assert svm.trace_["dual"].max() == svm.dual_objective_
    random = np.random.default_rng(0)
    for size in (1.0, 1e-2, 1e-4):
        other = w + size * random.normal(size=w.size)
        s = X / np.abs(X).max(axis=0) @ other
        hinge = np.maximum(0, 1 - (s[y == 1][:, None] - s[y == -1]))
        assert other @ other / 2 + 5 * np.mean(hinge) >= svm.dual_objective_


@pytest.mark.parametrize("Rival", RIVALS)
def test_what_is_known_after_fit(Rival, dense):
    X, y = dense
    clf = Rival().fit(X, y)
    assert clf.trace_["step"].tolist() == list(range(1, clf.n_iter_ + 1))
    assert clf.trace_["objective"][-1] == clf.objective_
    assert clf.coef_.shape == (1, 8)
    np.testing.assert_array_equal(clf.intercept_, -clf.threshold_)
    # As many are called positive as there are.
    assert (clf.predict(X) == 1).sum() == (y == 1).sum()
    assert clf.score(X, y) > 0.6
    for absent in ("predict_proba", "beta_"):
        assert not hasattr(clf, absent)
    assert hasattr(clf, "partial_fit") == (Rival is not RankSVMClassifier)
    with pytest.raises(TypeError, match="sample_weight"):
        clf.fit(X, y, sample_weight=np.ones(len(y)))
    other = pickle.loads(pickle.dumps(clf))
    np.testing.assert_array_equal(other.decision_function(X), clf.decision_function(X))


@pytest.mark.parametrize("Rival", RIVALS)
def test_threads_and_kinds_of_input_change_nothing(Rival, sparse):
    X, y = sparse
    given = {"random_state": 0} if Rival is not RankSVMClassifier else {}
    first = Rival(**given).fit(X, y)
    for other in (
        Rival(**given, n_jobs=2).fit(X, y),
        Rival(**given).fit(X.toarray(), y),
        Rival(**given).fit(np.asfortranarray(X.toarray()), y),
        Rival(**given).fit(X.tocsc(), y),
    ):
        np.testing.assert_array_equal(first.coef_, other.coef_)


@pytest.mark.parametrize("Rival", RIVALS)
def test_many_classes_one_against_one(Rival, dense):
    X, _ = dense
    y = np.arange(len(X)) % 3
    X = X + 3 * np.eye(8)[y]
    given = {"random_state": 0} if Rival is not RankSVMClassifier else {}
    clf = Rival(**given).fit(X, y)
    assert clf.coef_.shape == (3, 8) and clf.n_iter_.shape == (3,)
    pair = y != 1
    alone = Rival(**given).fit(X[pair], y[pair])
    np.testing.assert_array_equal(clf.coef_[1], alone.coef_[0])
    assert clf.score(X, y) > 0.9
    with pytest.raises(ValueError, match="two classes"):
        clf.save("nowhere.json")


def test_rounds_that_are_too_few_are_warned_of(dense):
    X, y = dense
    with pytest.warns(ConvergenceWarning, match="max_iter") as caught:
        clf = RankSVMClassifier(C=100.0, max_iter=2).fit(X, y)
    assert caught[0].filename == __file__
    assert clf.n_iter_ == 2 and clf.gap_ > 1e-4
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for Rival in RIVALS:
            Rival().fit(X, y)
    with pytest.warns(CollapseWarning, match="larger C") as caught:
        RankSVMClassifier().fit(np.zeros_like(X), y)
    assert caught[0].filename == __file__


def test_steps_that_diverge_are_refused(dense):
    X, y = dense
    with pytest.raises(ValueError, match="diverge"):
        OPAUCClassifier(eta=1e3, max_iter=50, random_state=0).fit(X, y)


def test_verbose_and_grids(dense, capsys):
    X, y = dense
    clf = RankSVMClassifier(verbose=1).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == clf.n_iter_
    assert lines[-1].startswith(f"[RankSVMClassifier] round {clf.n_iter_}: objective ")
    grid = GridSearchCV(RankSVMClassifier(), {"C": [0.01, 10.0]}, cv=3).fit(X, y)
    assert grid.best_score_ > 0.6


def test_files_of_others_are_refused(dense, tmp_path):
    X, y = dense
    path = tmp_path / "model.json"
    SOLAMClassifier().fit(X, y).save(path)
    with pytest.raises(
        ValueError, match="a model of solam; OAMClassifier reads oam-seq and oam-gr"
    ):
        OAMClassifier.load(path)
    with pytest.raises(ValueError, match="solam"):
        UBAUCClassifier.load(path)
    OAMClassifier(update="gradient").fit(X, y).save(path)
    assert OAMClassifier.load(path).update == "gradient"


@pytest.mark.parametrize(
    "wrong",
    [
        SOLAMClassifier(zeta=0),
        SOLAMClassifier(radius=-1.0),
        OPAUCClassifier(eta=0.0),
        OPAUCClassifier(lam=-1),
        OPAUCClassifier(tau=-1),
        OAMClassifier(update="newton"),
        OAMClassifier(C=0),
        OAMClassifier(buffer_size=0),
        OAMClassifier(scale="auto"),
        RankSVMClassifier(C=-1),
        RankSVMClassifier(tol=0),
        RankSVMClassifier(max_iter=0),
    ],
    ids=str,
)
def test_wrong_parameters_are_named(wrong, dense):
    changed = {k for k, v in wrong.get_params().items() if v != type(wrong)().get_params()[k]}
    with pytest.raises(ValueError, match=changed.pop()):
        wrong.fit(*dense)


STREAMS = {
    "solam": SOLAMClassifier(random_state=0),
    "opauc": OPAUCClassifier(random_state=0, eta=0.02),
    "opauc sketch": OPAUCClassifier(random_state=0, eta=0.02, tau=3),
    "oam-seq": OAMClassifier(random_state=0, buffer_size=30),
    "oam-gra": OAMClassifier(random_state=0, buffer_size=30, update="gradient"),
}


@pytest.mark.parametrize("data", ["dense", "sparse"])
@pytest.mark.parametrize("kind", STREAMS)
def test_streams_of_any_batches(kind, data, request):
    X, y = request.getfixturevalue(data)
    order = np.random.default_rng(1).permutation(len(y))
    order = np.r_[order[y[order] == -1][:40], order]  # one class only at first
    whole = clone(STREAMS[kind]).partial_fit(X[order], y[order], classes=[-1, 1])
    parts, pickled = clone(STREAMS[kind]), clone(STREAMS[kind])
    for batch in np.array_split(order, 17):
        parts.partial_fit(X[batch], y[batch], classes=[-1, 1])
        other = X[batch].toarray() if data == "sparse" else csr_matrix(X[batch])
        pickled = pickle.loads(pickle.dumps(pickled.partial_fit(other, y[batch], classes=[-1, 1])))
        if batch[0] == order[0]:
            assert not parts.coef_.any() and (y[batch] == -1).all()
    np.testing.assert_array_equal(whole.coef_, parts.coef_)
    np.testing.assert_array_equal(whole.coef_, pickled.coef_)
    assert whole.threshold_ == parts.threshold_ == pickled.threshold_
    assert parts.t_ == len(order) and np.isnan(parts.objective_)
    assert whole.score(X, y) > 0.6
    middle = [whole.decision_function(X[order][y[order] == c]).mean() for c in (-1, 1)]
    assert sum(middle) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("kind", ["solam", "opauc", "opauc sketch", "oam-seq", "oam-gra"])
def test_a_stream_is_one_pass_in_order(kind, dense):
    """What `fit` does with the examples in their own order, without a scale, is the same."""
    X, y = dense
    # The longest row first: SOLAM is then bounded as if it knew them all.
    order = np.argsort(-np.linalg.norm(X, axis=1), kind="stable")
    X, y = X[order], y[order]
    given = {"scale": "none", "shuffle": False, "max_iter": 1}
    fitted = clone(STREAMS[kind]).set_params(**given).fit(X, y)
    stream = clone(STREAMS[kind]).set_params(**given).partial_fit(X, y, classes=[-1, 1])
    np.testing.assert_array_equal(stream.coef_, fitted.coef_)


def test_a_scale_of_a_stream_is_that_of_a_scaler_before_it(dense):
    X, y = dense
    clf = OAMClassifier(random_state=0).partial_fit(X, y, classes=[-1, 1])
    scaler, alone = MaxAbsScaler(), OAMClassifier(random_state=0, scale="none")
    for i in range(len(y)):
        row = scaler.partial_fit(X[i : i + 1]).transform(X[i : i + 1])
        alone.partial_fit(row, y[i : i + 1], classes=[-1, 1])
    np.testing.assert_allclose(clf.coef_, alone.coef_ / scaler.max_abs_, rtol=1e-12)


def test_streams_of_many_classes_and_what_they_refuse(dense):
    X, y = dense
    for kind, clf in STREAMS.items():
        clf = clone(clf)
        with pytest.raises(ValueError, match="classes must be passed"):
            clf.partial_fit(X, y)
        clf.partial_fit(X[:5], [2] * 5, classes=[0, 1, 2])
        clf.partial_fit(X + 3 * np.eye(8)[np.arange(len(y)) % 3], np.arange(len(y)) % 3)
        assert clf.decision_function(X).shape == (len(y), 3), kind
        with pytest.raises(ValueError, match="not in classes"):
            clf.partial_fit(X[:2], [7, 1])
        with pytest.raises(ValueError, match="features"):
            clf.partial_fit(X[:2, :3], [0, 1])
        with pytest.raises(ValueError, match="scale"):
            clone(clf).set_params(scale="standard").partial_fit(X, y, classes=[-1, 1])
        with pytest.raises(ValueError, match="minimum of 1 is required"):
            clf.partial_fit(X[:0], [])
    with pytest.raises(ValueError, match="diverge"):
        stream = OPAUCClassifier(eta=1e9)
        for _ in range(5):
            stream.partial_fit(X, y, classes=[-1, 1])


def test_a_stream_after_fit_starts_over_and_says_so(dense, tmp_path):
    X, y = dense
    fresh = SOLAMClassifier(random_state=0).partial_fit(X[:300], y[:300], classes=[-1, 1])
    clf = SOLAMClassifier(random_state=0).fit(X, y)
    clf.save(tmp_path / "m.json")
    for again in (clf, SOLAMClassifier.load(tmp_path / "m.json")):
        again.random_state = 0
        with pytest.warns(UserWarning, match="starts over") as caught:
            again.partial_fit(X[:300], y[:300])
        assert caught[0].filename == __file__
        np.testing.assert_array_equal(again.coef_, fresh.coef_)
    fresh.partial_fit(X[300:], y[300:]).save(tmp_path / "m.json")
    loaded = SOLAMClassifier.load(tmp_path / "m.json")
    np.testing.assert_array_equal(loaded.decision_function(X), fresh.decision_function(X))
    fresh.fit(X, y)
    np.testing.assert_array_equal(fresh.coef_, SOLAMClassifier(random_state=0).fit(X, y).coef_)


def test_damaged_states_are_refused(dense):
    X, y = dense
    clf = OAMClassifier(buffer_size=5).partial_fit(X, y, classes=[-1, 1])
    state = clf._learners[0].to_bytes()
    for wrong in (state[:5], state[:-1], state[:50] + b"7" + state[51:], b"{}" + state[-8:]):
        with pytest.raises(ValueError, match="state of a stream"):
            _core.RivalLearner.from_bytes(wrong)
