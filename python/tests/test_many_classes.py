"""A scorer for each of many classes: Hand and Till's mean by pairs, problems by hand, refusals."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.metrics import roc_auc_score
from ubauc import UBAUCClassifier, metrics

GIVEN = {"beta": 0.5, "gamma": 1e-2, "softness": 0.1, "tol": 1e-9}


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(3)
    sizes = [120, 40, 15]
    centres = np.array([[0, 0, 0], [1, 0.3, 0], [0.2, 1.2, 0.4]])
    y = np.repeat([10, 20, 30], sizes)
    X = rng.normal(size=(y.size, 3)) + np.repeat(centres, sizes, axis=0)
    return X, y


def weights_by_hand(y, label):
    """1 for the class; the rest divided equally among the others."""
    labels, counts = np.unique(y, return_counts=True)
    rest = (y != label).sum()
    weights = np.ones(y.size)
    for other, count in zip(labels, counts, strict=True):
        if other != label:
            weights[y == other] = rest / (labels.size - 1) / count
    return weights


def by_pairs(y, decision, classes):
    """Hand and Till's M, every pair of examples compared."""
    values = []
    for c, label in enumerate(classes):
        for other in classes:
            if other != label:
                high, low = decision[y == label, c], decision[y == other, c]
                wins = (high[:, None] > low).mean() + (high[:, None] == low).mean() / 2
                values.append(wins)
    return np.mean(values)


@pytest.mark.parametrize("sparse", [False, True])
def test_every_scorer_is_that_of_a_weighted_problem_of_two_classes(data, sparse):
    X, y = data
    rows = csr_matrix(X) if sparse else X
    found = UBAUCClassifier(multi_class="hand-till", **GIVEN).fit(rows, y)
    assert found.coef_.shape == (3, 3)
    assert found.threshold_.shape == (3,)
    assert (found.gap_ <= 1e-9).all()
    for c, label in enumerate(found.classes_):
        alone = UBAUCClassifier(**GIVEN).fit(rows, y == label, weights_by_hand(y, label))
        # Weights that differ in the last digit: the minimum of a smooth function moves as little.
        np.testing.assert_allclose(found.coef_[c], alone.coef_[0], rtol=1e-6)
        np.testing.assert_allclose(found.objective_[c], alone.objective_, rtol=1e-9)


def test_the_score_is_the_mean_over_pairs(data):
    X, y = data
    found = UBAUCClassifier(multi_class="hand-till", **GIVEN).fit(X, y)
    decision = found.decision_function(X)
    assert decision.shape == (y.size, 3)
    m = by_pairs(y, decision, found.classes_)
    assert found.score(X, y) == pytest.approx(m, abs=1e-12)
    assert metrics.hand_till(y, decision, labels=found.classes_) == pytest.approx(m, abs=1e-12)
    # Of a class, one against the rest with the weights of the problem.
    aucs = [
        roc_auc_score(y == label, decision[:, c], sample_weight=weights_by_hand(y, label))
        for c, label in enumerate(found.classes_)
    ]
    assert np.mean(aucs) == pytest.approx(m, abs=1e-12)
    assert (found.predict(X) == found.classes_[decision.argmax(axis=1)]).all()
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(found)).decision_function(X), decision)


def test_one_against_the_rest_counts_examples(data):
    X, y = data
    found = UBAUCClassifier(multi_class="ovr", **GIVEN).fit(X, y)
    for c, label in enumerate(found.classes_):
        alone = UBAUCClassifier(**GIVEN).fit(X, y == label)
        np.testing.assert_array_equal(found.coef_[c], alone.coef_[0])


def test_the_parameters_are_chosen_once(data):
    X, y = data
    found = UBAUCClassifier(multi_class="hand-till", random_state=0).fit(X, y)
    assert np.unique(found.beta_).size == np.unique(found.gamma_).size == 1
    first = found.tuning_[0]
    assert all(tuned == first for tuned in found.tuning_)
    assert first["verdict"] is None
    assert found.score(X, y) > 0.8


def test_two_classes_are_as_without(data):
    X, y = data
    two = y < 30
    for multi_class in ("hand-till", "ovr"):
        ours = UBAUCClassifier(multi_class=multi_class, **GIVEN).fit(X[two], y[two])
        usual = UBAUCClassifier(**GIVEN).fit(X[two], y[two])
        np.testing.assert_array_equal(ours.coef_, usual.coef_)
        np.testing.assert_array_equal(ours.threshold_, usual.threshold_)


def test_sample_weights_are_repetitions(data):
    X, y = data
    twice = np.where(y == 30, 2.0, 1.0)
    twice[:5] = 0.0
    rows = np.repeat(np.arange(y.size), twice.astype(int))
    scorer = UBAUCClassifier(multi_class="hand-till", **GIVEN)
    weighted = scorer.fit(X, y, twice).coef_
    np.testing.assert_allclose(weighted, scorer.fit(X[rows], y[rows]).coef_, rtol=1e-5)


def test_what_scorers_by_class_do_not_have_is_refused(data):
    X, y = data
    for given, word in [
        ({"calibrate": "sigmoid"}, "calibrate"),
        ({"features": "additive"}, "additive"),
    ]:
        with pytest.raises(ValueError, match=word):
            UBAUCClassifier(multi_class="hand-till", **{**GIVEN, **given}).fit(X, y)
    with pytest.raises(ValueError, match="groups"):
        UBAUCClassifier(multi_class="hand-till", **GIVEN).fit(X, y, groups=np.arange(y.size))
    stream = UBAUCClassifier(multi_class="hand-till", solver="online")
    with pytest.raises(ValueError, match="ovo"):
        stream.partial_fit(X, y, classes=[10, 20, 30])
    with pytest.raises(ValueError, match="multi_class"):
        UBAUCClassifier(multi_class="multinomial").fit(X, y)
    with pytest.raises(ValueError, match="pickle"):
        UBAUCClassifier(multi_class="hand-till", **GIVEN).fit(X, y).save("never.json")


def with_gaps(data):
    """A table with gaps, a category that is often missing in one class, and weights."""
    X, y = data
    rng = np.random.default_rng(5)
    X = X.round(3)
    X[rng.random(X.shape) < 0.15 + 0.3 * (y == 30)[:, None]] = np.nan
    frame = pd.DataFrame(X, columns=["x", "y", "z"])
    colours = np.array(["red", "blue", "green"])[(rng.random(y.size) * 3).astype(int)]
    frame["colour"] = np.where(rng.random(y.size) < 0.2, None, colours)
    weights = np.array([0.0, 0.5, 1.0, 3.0])[rng.integers(4, size=y.size)]
    return frame, y, weights


@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("is_given", [False, True])
def test_the_program_learns_the_same_bits_of_a_table(
    data, program, tmp_path, is_weighted, is_given
):
    frame, y, weights = with_gaps(data)
    file, model = tmp_path / "t.csv", tmp_path / "m.json"
    written = frame.assign(label=y)
    options = ["--seed", 3]
    given = {}
    if is_weighted:
        written["w"] = weights
        options += ["--weight", "w"]
    if is_given:
        given = {key: GIVEN[key] for key in ("beta", "gamma", "softness")}
        options += [part for key, value in given.items() for part in (f"--{key}", value)]
    written.to_csv(file, index=False)
    program("train", file, "--label", "label", *options, "--model", model, "--quiet")
    ours = UBAUCClassifier(multi_class="hand-till", random_state=3, **given)
    ours.fit(frame, y, weights if is_weighted else None)
    printed = program("predict", "--model", model, file, "--quiet").splitlines()
    assert printed[0] == "10,20,30"
    theirs = np.array([[float(score) for score in line.split(",")] for line in printed[1:]])
    cuts = [solution.cut for solution in ours._solutions]
    np.testing.assert_array_equal(theirs - cuts, ours.decision_function(frame))
    # One map for all classes, that of the weights that were given.
    assert len({solution.features for solution in ours._solutions}) == 1
