"""Scores that must rise or fall with a column."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from ubauc import UBAUCClassifier

SOFT = {"beta": 0.0, "softness": 1.0, "gamma": 1e-3}


def wave(n=400, seed=0):
    """A wave of the first column, the second with its sign, noise."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, 3))
    y = np.sin(4 * X[:, 0]) - X[:, 1] + rng.normal(size=n) > 0
    return X, y.astype(int)


def rows_along(X, column, values):
    """Some rows, each with every value of a column."""
    rows = np.repeat(X[:5], values.size, axis=0)
    rows[:, column] = np.tile(values, 5)
    return rows


@pytest.mark.parametrize("features", ["linear", "additive", "pairs"])
@pytest.mark.parametrize("as_frame", [False, True])
def test_scores_rise_and_fall_as_they_must(features, as_frame):
    X, y = wave()
    if features == "pairs":
        # Fewer cells: fits in order take long.
        X = X.round(1)
    frame = (lambda X: pd.DataFrame(X, columns=["a", "b", "c"])) if as_frame else (lambda X: X)
    cst = {"a": 1, "b": -1} if as_frame else [1, -1, 0]
    model = UBAUCClassifier(features=features, monotonic_cst=cst, **SOFT).fit(frame(X), y)
    assert model.gap_ <= 1e-6
    values = np.linspace(-3, 3, 301)
    for column, sign in [(0, 1), (1, -1)]:
        scores = model.decision_function(frame(rows_along(X, column, values))).reshape(5, -1)
        assert (sign * np.diff(scores) >= 0).all()


def test_without_an_order_the_wave_is_learned():
    X, y = wave()
    model = UBAUCClassifier(features="additive", **SOFT).fit(X, y)
    scores = model.decision_function(rows_along(X, 0, np.linspace(-1, 1, 301)))
    assert (np.diff(scores[:301]) < 0).any()


@pytest.mark.parametrize(("features", "sign"), [("linear", -1), ("auto", -1), ("auto", 1)])
def test_a_search_keeps_to_the_order(features, sign):
    X, y = wave()
    # Few cells and one pair.
    X = (4 * X[:, :2]).round() / 4
    model = UBAUCClassifier(features=features, monotonic_cst=[sign, 0], random_state=0).fit(X, y)
    scores = model.decision_function(rows_along(X, 0, np.linspace(-2, 2, 101)))
    assert (sign * np.diff(scores.reshape(5, -1)) >= 0).all()
    if sign == 1:
        # The wave rises in the middle, so that bins gain; without the order it would fall, too.
        chosen = next(of for of in model.tuning_["maps"] if of["chosen"])
        assert chosen["features"] != "linear"


def test_what_cannot_be_in_order_is_refused():
    X, y = wave(60)
    with pytest.raises(ValueError, match="softness"):
        UBAUCClassifier(monotonic_cst=[1, 0, 0], beta=0.5, gamma=1e-3).fit(X, y)
    with pytest.raises(ValueError, match="monotonic_cst"):
        UBAUCClassifier(monotonic_cst=[1, 0], **SOFT).fit(X, y)
    with pytest.raises(ValueError, match="monotonic_cst"):
        UBAUCClassifier(monotonic_cst={"nobody": 1}, **SOFT).fit(
            pd.DataFrame(X, columns=["a", "b", "c"]), y
        )
    with pytest.raises(ValueError, match="sparse"):
        UBAUCClassifier(monotonic_cst=[1, 0, 0], **SOFT).fit(csr_matrix(X), y)
    with pytest.raises(ValueError, match="solver"):
        UBAUCClassifier(monotonic_cst=[1, 0, 0], solver="online").fit(X, y)
    with pytest.raises(ValueError, match="multiclass"):
        UBAUCClassifier(monotonic_cst=[1, 0, 0], **SOFT).fit(X, np.arange(60) % 3)
    frame = pd.DataFrame({"a": X[:, 0], "c": ["x", "y", "z"] * 20})
    with pytest.raises(ValueError, match="category"):
        UBAUCClassifier(monotonic_cst={"c": 1}, **SOFT).fit(frame, y)
