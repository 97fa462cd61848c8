"""The same numbers as the program, to the last bit, and the same model file, to the last byte."""

import json
import pickle
import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from svmlight_text import write_svmlight
from ubauc import UBAUCClassifier, load_svmlight

CASES = {
    "batch": (
        ["--beta", "0.5", "--gamma", "0.001"],
        {"beta": 0.5, "gamma": 1e-3},
    ),
    "balanced": (
        [
            "--beta",
            "2",
            "--gamma",
            "0",
            "--least-squares",
            "balanced",
            "--intercept",
            "--scale",
            "standard",
        ],
        {
            "beta": 2,
            "gamma": 0,
            "least_squares": "balanced",
            "fit_intercept": True,
            "scale": "standard",
        },
    ),
    # The program chooses class weights too, unless they are typed.
    "tuned": ([], {"class_weight": "auto"}),
    "tuned plain": (
        ["--class-weight", "none", "--criterion", "average-precision", "--time-limit", "3600"],
        {"criterion": "average-precision", "time_limit": 3600},
    ),
    "tuned soft": (
        ["--gamma", "1e-2", "--softness", "0.3", "--class-weight", "balanced"],
        {"gamma": 1e-2, "softness": 0.3, "class_weight": "balanced"},
    ),
    "logistic": (
        ["--beta", "0", "--softness", "1", "--gamma", "1e-3", "--class-weight", "balanced"],
        {"beta": 0, "softness": 1, "gamma": 1e-3, "class_weight": "balanced"},
    ),
    "tuned gamma": (["--beta", "1", "--tolerance", "1e-4"], {"beta": 1.0, "tol": 1e-4}),
    "online": (
        ["--algorithm", "ol-ubauc", "--passes", "4"],
        {"solver": "online", "max_iter": 4},
    ),
    "paper": (
        [
            *["--algorithm", "ol-ubauc", "--passes", "3", "--step", "sgd", "--schedule", "inverse"],
            *["--eta0", "0.25", "--no-average", "--intercept", "--scale", "none"],
        ],
        {
            "solver": "online",
            "max_iter": 3,
            "step": "sgd",
            "schedule": "inverse",
            "eta0": 0.25,
            "average_from": None,
            "fit_intercept": True,
            "scale": "none",
        },
    ),
}


@pytest.mark.parametrize("data", ["dense", "sparse"])
@pytest.mark.parametrize("case", CASES)
@pytest.mark.filterwarnings("ignore::ubauc.CollapseWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_same_file(case, data, program, tmp_path, request):
    arguments, params = CASES[case]
    X, y = request.getfixturevalue(data)
    if "tuned" in case and data == "dense":
        # A search fits some hundred times.
        X, y = X[:250], y[:250]
    train = write_svmlight(tmp_path / "train.svm", X, y)
    theirs, ours = tmp_path / "theirs.json", tmp_path / "ours.json"
    program("train", train, *arguments, "--seed", 3, "--model", theirs, "--quiet")
    clf = UBAUCClassifier(random_state=3, **params).fit(X, y)
    clf.save(ours)
    written = json.loads(theirs.read_text())
    assert json.loads(ours.read_text()) == written
    assert ours.read_bytes() == theirs.read_bytes()


def test_their_file_here_and_ours_there(dense, program, tmp_path):
    X, y = dense
    train = write_svmlight(tmp_path / "train.svm", X, y)
    model = tmp_path / "model.json"
    clf = UBAUCClassifier(beta=0.5, gamma=1e-3, fit_intercept=True).fit(X, y)
    clf.save(model)
    printed = program("predict", "--model", model, train).split()[1:]
    theirs = np.array([float(score) for score in printed])
    np.testing.assert_allclose(theirs, X @ clf.coef_[0] + clf.offset_[0], rtol=1e-12)
    auc = json.loads(program("evaluate", "--model", model, train, "--json"))["auc"]
    assert auc == clf.score(X, y)

    loaded = UBAUCClassifier.load(model)
    np.testing.assert_array_equal(loaded.decision_function(X), clf.decision_function(X))
    np.testing.assert_array_equal(loaded.predict(X), clf.predict(X))
    assert (loaded.beta, loaded.gamma, loaded.gap_) == (0.5, 1e-3, clf.gap_)
    assert loaded.classes_.tolist() == [-1, 1]
    again = tmp_path / "again.json"
    loaded.save(again)
    assert again.read_bytes() == model.read_bytes()


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("positives", range(1, 12))
def test_the_threshold_itself_is_positive_here_and_there(positives, intercept, program, tmp_path):
    """Examples in groups of equal scores, so that the threshold is often one of the scores."""
    random = np.random.default_rng(positives)
    X = random.integers(0, 3, size=(12, 2)) / 7 + 0.1
    y = np.where(np.arange(12) < positives, 1, -1)
    train = write_svmlight(tmp_path / "train.svm", X, y)
    model = tmp_path / "model.json"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        clf = UBAUCClassifier(beta=0.5, gamma=1e-3, fit_intercept=intercept).fit(X, y)
    clf.save(model)
    lines = program("predict", "--model", model, train, "--classes").splitlines()[1:]
    theirs = [int(line.split(",")[1]) for line in lines]
    assert clf.predict(X).tolist() == theirs
    # As many as there are positives, and more only by ties; an intercept rounds once more.
    decision = clf.decision_function(X)
    assert (decision > 1e-15).sum() <= positives <= (decision >= -1e-15).sum()


def test_a_model_of_a_stream_of_the_program(dense, program, tmp_path):
    X, y = dense
    train = write_svmlight(tmp_path / "train.svm", X, y)
    model, again = tmp_path / "model.json", tmp_path / "again.json"
    program("learn", train, "--model", model, "--quiet")
    clf = UBAUCClassifier.load(model)
    lines = program("predict", "--model", model, train, "--classes").splitlines()[1:]
    assert clf.predict(X).tolist() == [int(line.split(",")[1]) for line in lines]
    clf.save(again)
    np.testing.assert_array_equal(UBAUCClassifier.load(again).predict(X), clf.predict(X))
    before = clf.coef_.copy()
    assert not np.array_equal(clf.partial_fit(X, y).coef_, before)


def scores_there(program, model, data):
    printed = program("predict", "--model", model, data, "--quiet").split()[1:]
    return np.array([float(score) for score in printed])


@pytest.mark.parametrize("data", ["dense", "sparse"])
def test_a_model_of_hashed_features(data, program, tmp_path, request):
    X, y = request.getfixturevalue(data)
    train = write_svmlight(tmp_path / "train.svm", X, y)
    model, again = tmp_path / "model.json", tmp_path / "again.json"
    program("learn", train, "--hash-bits", 4, "--intercept", "--model", model, "--quiet")
    theirs = scores_there(program, model, train)
    clf = UBAUCClassifier.load(model)
    threshold = json.loads(model.read_text())["threshold"]
    np.testing.assert_array_equal(clf.decision_function(X), theirs - threshold)
    assert clf.coef_.shape == (1, 16)
    auc = json.loads(program("evaluate", "--model", model, train, "--json"))["auc"]
    assert clf.score(X, y) == auc
    # Any number of columns can be hashed.
    assert clf.decision_function(X[:, :3]).shape == y.shape
    clf.save(again)
    np.testing.assert_array_equal(scores_there(program, again, train), theirs)
    copied = pickle.loads(pickle.dumps(UBAUCClassifier.load(again)))
    np.testing.assert_array_equal(copied.decision_function(X), clf.decision_function(X))
    with pytest.raises(ValueError, match="hashed"):
        clf.partial_fit(X, y)
    # A fit is of features as they are.
    clf.set_params(solver="batch", beta=0.5, gamma=1e-3).fit(X, y)
    assert clf.coef_.shape == (1, X.shape[1])
    assert clf.n_features_in_ == X.shape[1]


def test_a_model_of_hashed_columns_knows_their_names(dense, program, tmp_path):
    frames = pytest.importorskip("pandas")
    X, y = dense
    frame = frames.DataFrame(X, columns=list("abcdefgh"))
    train, model = tmp_path / "train.csv", tmp_path / "model.json"
    frame.assign(label=y).to_csv(train, index=False)
    program("learn", train, "--hash-bits", 3, "--model", model, "--quiet")
    clf = UBAUCClassifier.load(model)
    threshold = json.loads(model.read_text())["threshold"]
    theirs = scores_there(program, model, train)
    np.testing.assert_array_equal(clf.decision_function(frame), theirs - threshold)
    assert clf.feature_names_in_.tolist() == list("abcdefgh")
    with pytest.raises(ValueError, match="8 features|feature names"):
        clf.decision_function(frame[["a", "b"]])


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_probabilities_survive(method, dense, tmp_path):
    X, y = dense
    clf = UBAUCClassifier(beta=0.5, gamma=1e-3, calibrate=method, random_state=0).fit(X, y)
    model, again = tmp_path / "model.json", tmp_path / "again.json"
    clf.save(model)
    loaded = UBAUCClassifier.load(model)
    assert loaded.calibrate == method
    np.testing.assert_array_equal(loaded.predict_proba(X), clf.predict_proba(X))
    loaded.save(again)
    assert again.read_bytes() == model.read_bytes()
    plain = UBAUCClassifier(beta=0.5, gamma=1e-3).fit(X, y)
    plain.save(model)
    assert "calibration" not in json.loads(model.read_text())
    assert UBAUCClassifier.load(model).calibrate is None


FORMAT_1 = Path(__file__).parents[2] / "crates" / "ubauc" / "tests" / "data" / "format-1"


@pytest.mark.parametrize(
    "name", ["plain", "partition", "learned", "hashed", "calibrated", "online"]
)
def test_files_of_version_1(name):
    X, _ = load_svmlight(FORMAT_1 / "examples.svm")
    clf = UBAUCClassifier.load(FORMAT_1 / f"{name}.json")
    lines = (FORMAT_1 / f"{name}.csv").read_text().splitlines()[1:]
    scores = np.array([float(line.split(",")[0]) for line in lines])
    threshold = json.loads((FORMAT_1 / f"{name}.json").read_text())["threshold"]
    np.testing.assert_array_equal(clf.decision_function(X), scores - threshold)
    assert [str(label) for label in clf.predict(X)] == [line.split(",")[1] for line in lines]


def test_the_smaller_class_may_be_the_positive_one(dense, program, tmp_path):
    X, y = dense
    train = write_svmlight(tmp_path / "train.svm", X, y)
    model = tmp_path / "model.json"
    options = ["--algorithm", "ol-ubauc", "--positive", "-1", "--scale", "none"]
    program("train", train, *options, "--model", model, "--quiet")
    clf = UBAUCClassifier.load(model)
    assert clf.classes_.tolist() == [1, -1]
    auc = clf.score(X, y)
    assert auc > 0.6
    # Learning on must not turn the classes round.
    clf.partial_fit(X, y).partial_fit(X, y, classes=[-1, 1])
    assert clf.score(X, y) == pytest.approx(auc, abs=0.02)
    with pytest.raises(ValueError, match="classes"):
        clf.partial_fit(X, y, classes=[0, 1])


def test_names_and_text_classes_survive(dense, tmp_path):
    frames = pytest.importorskip("pandas")
    X, y = dense
    frame = frames.DataFrame(X, columns=list("abcdefgh"))
    clf = UBAUCClassifier(beta=0.5, gamma=1e-3).fit(frame, np.where(y == 1, "yes", "no"))
    clf.save(tmp_path / "m.json")
    loaded = UBAUCClassifier.load(str(tmp_path / "m.json"))
    assert loaded.classes_.tolist() == ["no", "yes"]
    assert loaded.feature_names_in_.tolist() == list("abcdefgh")
    np.testing.assert_array_equal(loaded.predict(frame), clf.predict(frame))


@pytest.mark.parametrize(
    "classes",
    [["00", "01"], ["1.0", "2.0"], ["inf", "nan"], [2**53, 2**53 + 1], [-1, 1], [False, True]],
)
def test_classes_come_back_as_they_were(dense, tmp_path, classes):
    X, y = dense
    classes = np.array(classes)
    clf = UBAUCClassifier(beta=0.5, gamma=1e-3).fit(X, classes[(y == 1).astype(int)])
    clf.save(tmp_path / "m.json")
    loaded = UBAUCClassifier.load(tmp_path / "m.json").classes_
    assert loaded.dtype.kind == classes.dtype.kind
    assert loaded.tolist() == classes.tolist()


def test_files_that_are_no_models(tmp_path, dense):
    X, y = dense
    with pytest.raises(FileNotFoundError):
        UBAUCClassifier.load(tmp_path / "nothing.json")
    clf = UBAUCClassifier(beta=0.5, gamma=1e-3).fit(X, y)
    model = tmp_path / "model.json"
    clf.save(model)
    written = model.read_text()
    damaged = re.sub(r'"threshold": (-?)', r'"threshold": \g<1>1', written)
    assert damaged != written
    model.write_text(damaged)
    with pytest.raises(ValueError, match="checksum"):
        UBAUCClassifier.load(model)
    with pytest.raises(OSError):
        clf.save(tmp_path / "no" / "such" / "folder.json")
    with pytest.raises(ValueError, match="two classes"):
        UBAUCClassifier(beta=0.5, gamma=1e-3).fit(X, np.arange(len(y)) % 3).save(model)


def test_a_model_of_logistic_regression_is_none_of_ours(dense, program, tmp_path):
    X, y = dense
    train = write_svmlight(tmp_path / "train.svm", X, y)
    model = tmp_path / "model.json"
    program("train", train, "--algorithm", "logistic", "--model", model, "--quiet")
    with pytest.raises(ValueError, match="logistic"):
        UBAUCClassifier.load(model)


def test_compressed_and_wrong_files(tmp_path):
    import gzip

    path = tmp_path / "data.svm.gz"
    path.write_bytes(gzip.compress(b"+1 1:1\n-1 2:0.5 # a comment\n1.0\n"))
    X, y = load_svmlight(path, n_features=5)
    assert X.shape == (3, 5) and X.nnz == 2
    assert y.tolist() == [1.0, -1.0, 1.0]
    with pytest.raises(ValueError, match="has 2 features"):
        load_svmlight(path, n_features=1)
    (tmp_path / "wrong.svm").write_text("1 1:1\n-1 3:1 2:1\n")
    with pytest.raises(ValueError, match=r"wrong.svm:2:\d+: .*increase"):
        load_svmlight(tmp_path / "wrong.svm")
    (tmp_path / "text.svm").write_text("yes 1:1\n")
    with pytest.raises(ValueError, match="'yes' is not a finite number"):
        load_svmlight(tmp_path / "text.svm")
    with pytest.raises(FileNotFoundError):
        load_svmlight(tmp_path / "nothing.svm")
    with pytest.raises(ValueError, match="directory"):
        load_svmlight(tmp_path)
