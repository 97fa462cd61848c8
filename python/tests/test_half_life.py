"""A stream that forgets: `partial_fit` with a half-life."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import roc_auc_score
from svmlight_text import write_svmlight
from ubauc import UBAUCClassifier

ONLINE = {"solver": "online", "beta": 0.5, "gamma": 1e-4}


def turning(rows=6_000, turn=3_000, seed=0):
    """The first feature tells the classes apart; from row `turn` on its opposite does."""
    random = np.random.default_rng(seed)
    y = np.where(random.random(rows) < 0.4, 1, -1)
    X = random.normal(size=(rows, 3))
    X[:, 0] += np.where(np.arange(rows) < turn, y, -y)
    return X.round(6), y


def learned(X, y, batch, **params):
    clf = UBAUCClassifier(**ONLINE, **params)
    for start in range(0, len(y), batch):
        part = slice(start, start + batch)
        clf.partial_fit(X[part], y[part], classes=[-1, 1])
    return clf


def test_equals_the_program_however_it_is_cut(program, tmp_path):
    X, y = turning()
    file = write_svmlight(tmp_path / "x.svm", X, y)
    model = tmp_path / "model.json"
    program("learn", file, "--half-life", 400, "--eta0", 0.5, "--model", model, "--quiet")
    theirs = UBAUCClassifier.load(model)
    assert theirs.half_life == 400
    for batch in (6_000, 1_000, 77):
        clf = learned(X, y, batch, eta0=0.5, half_life=400)
        np.testing.assert_array_equal(clf.coef_, theirs.coef_)
        np.testing.assert_array_equal(clf.threshold_, theirs.threshold_)
    again = tmp_path / "again.json"
    clf.save(again)
    assert UBAUCClassifier.load(again).half_life == 400


def test_follows_what_turns_and_none_forgets_nothing():
    X, y = turning()
    past, future = slice(0, 4_000), slice(4_000, None)

    def auc(**params):
        clf = learned(X[past], y[past], 500, **params)
        return roc_auc_score(y[future], clf.decision_function(X[future]))

    assert auc() < 0.5
    assert auc(half_life=300) > 0.9
    endless = learned(X, y, 500, half_life=1e300)
    np.testing.assert_array_equal(endless.coef_, learned(X, y, 500).coef_)


def test_fit_takes_all_alike(tmp_path):
    X, y = turning(600, 600)
    plain = UBAUCClassifier(**ONLINE, max_iter=2, random_state=0)
    forgets = clone(plain).set_params(half_life=10)
    with pytest.warns(Warning):
        plain.fit(X, y)
    with pytest.warns(Warning):
        forgets.fit(X, y)
    np.testing.assert_array_equal(forgets.coef_, plain.coef_)
    file = tmp_path / "model.json"
    forgets.save(file)
    assert "half_life" not in file.read_text()
    # And goes on from there as a stream.
    before = forgets.coef_.copy()
    forgets.partial_fit(X, -y)
    assert (forgets.coef_ != before).any()
    forgets.save(file)
    again = UBAUCClassifier.load(file)
    assert again.half_life == 10
    again.save(file)
    assert UBAUCClassifier.load(file).half_life == 10


@pytest.mark.parametrize("half_life", [0, 0.5, -1, "long"])
def test_what_is_no_half_life_is_refused(half_life):
    X, y = turning(50, 50)
    with pytest.raises(ValueError, match="half_life"):
        UBAUCClassifier(**ONLINE, half_life=half_life).partial_fit(X, y, classes=[-1, 1])


def test_dask_refuses_it_by_name():
    dask = pytest.importorskip("ubauc.dask")
    with pytest.raises(TypeError, match="half_life"):
        dask.DaskUBAUCClassifier(half_life=100)
