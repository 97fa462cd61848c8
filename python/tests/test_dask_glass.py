"""Bins and pairs on a cluster: the map and the model of one machine."""

import json

import numpy as np
import pytest
from ubauc import UBAUCClassifier, _core

pandas = pytest.importorskip("pandas")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")

from dask_problems import weights_of  # noqa: E402
from dask_processes import cluster  # noqa: E402
from ubauc.dask import DaskUBAUCClassifier, _data  # noqa: E402
from ubauc.dask._fit import Cluster  # noqa: E402
from ubauc.dask._task import Task  # noqa: E402

GIVEN = {"beta": 0.0, "softness": 1.0, "gamma": 1e-3}


@pytest.fixture(scope="module")
def client():
    """Of two worker processes."""
    with cluster(2) as (_, client):
        yield client


def made(n=1500, seed=2):
    """A heavy value, gaps, a category with rare levels, a time, and an interaction of columns."""
    random = np.random.default_rng(seed)
    frame = pandas.DataFrame(
        {
            "age": random.normal(45, 12, n).round(1),
            "gain": np.where(random.random(n) < 0.8, 0.0, random.exponential(1000, n)),
            "left": random.normal(size=n),
            "right": random.normal(size=n),
            "job": random.choice(["a", "b", "c", "dd", "e"], n, p=[0.5, 0.3, 0.15, 0.049, 0.001]),
            "noise": random.integers(0, 3, n).astype(float),
            "when": pandas.Timestamp("2024-01-01")
            + pandas.to_timedelta(random.integers(0, 300 * 24, n), unit="h"),
        }
    )
    frame.loc[random.random(n) < 0.1, "age"] = np.nan
    frame.loc[random.random(n) < 0.05, "job"] = None
    z = np.sin(frame["age"].fillna(20) / 8) + (frame["gain"] > 0) + (frame["job"] == "b")
    z += 2.5 * np.sign(frame["left"] * frame["right"])
    y = (random.random(n) < 1 / (1 + np.exp(-(z - 1)))).astype(int)
    return frame.assign(label=y)


def narrow(frame, *columns):
    """With some of the columns; each takes rounds to learn."""
    return frame[[*columns, "label"]]


def in_parts(frame, sizes=(3, 700, 0, 500, 297)):
    ends = np.cumsum(sizes)
    assert ends[-1] == len(frame)
    pieces = [frame.iloc[end - size : end] for end, size in zip(ends, sizes, strict=True)]
    return dd.from_map(lambda piece: piece, pieces, meta=frame.iloc[:0])


def features_of(estimator):
    return json.loads(estimator._solutions[0].features)


MAPS = ["additive", "pairs"]


@pytest.mark.parametrize("features", MAPS)
@pytest.mark.parametrize("weighted", [False, True])
def test_map_and_model_are_those_of_one_machine(client, features, weighted):
    frame = made()
    columns = frame.drop(columns="label")
    weights = np.random.default_rng(1).integers(0, 3, len(frame)) * 0.5 if weighted else None
    given = {**GIVEN, "features": features, "tol": 1e-10}
    local = UBAUCClassifier(**given).fit(columns, frame["label"], weights)
    if weighted:
        frame = frame.assign(weight=weights)
    parts = in_parts(frame)
    found = DaskUBAUCClassifier(client, **given)
    found.fit(parts, "label", "weight" if weighted else None)
    assert features_of(found) == features_of(local)
    names = [effect["kind"] for effect in features_of(found)["effects"]]
    assert ("pair" in names) == (features == "pairs")
    np.testing.assert_allclose(found.coef_, local.coef_, rtol=0, atol=1e-8)
    assert found.objective_ == pytest.approx(local.objective_, abs=2e-10)
    assert found.gap_ <= 1e-10
    assert found.get_feature_names_out().tolist() == local.get_feature_names_out().tolist()
    raw = parts.drop(columns=["label"] + (["weight"] if weighted else []))
    scores = found.decision_function(raw)
    assert isinstance(scores, da.Array)
    scores = scores.compute()
    np.testing.assert_array_equal(scores, found.to_local().decision_function(columns))
    np.testing.assert_allclose(scores, local.decision_function(columns), rtol=0, atol=1e-7)
    # Of training rows; additive tables cannot see the interaction, and noise is shrunk.
    assert found.score(raw, parts["label"]) > (0.7 if features == "additive" else 0.9)
    for ours in (found.effects_, found.to_local().effects_):
        assert_effects(ours, local.effects_)


def assert_effects(ours, theirs):
    """The same terms, with the same rows behind each cell."""
    assert ours.names == theirs.names
    np.testing.assert_allclose(ours.importances, theirs.importances, rtol=0, atol=1e-8)
    assert ours.intercept == pytest.approx(theirs.intercept, abs=1e-8)
    for mine, other in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(mine.rows, other.rows)
        np.testing.assert_allclose(mine.scores, other.scores, rtol=0, atol=1e-7)


def test_interactions_are_named_or_counted(client):
    frame = narrow(made(900), "age", "left", "right", "job", "noise")
    parts = in_parts(frame, (400, 500))
    for given in ([("left", "right"), ("job", 0)], 2, "0.2x", 0.2, 0):
        params = {**GIVEN, "features": "pairs", "interactions": given}
        local = UBAUCClassifier(**params).fit(frame.drop(columns="label"), frame["label"])
        found = DaskUBAUCClassifier(client, **params).fit(parts, "label")
        assert features_of(found) == features_of(local)
        assert found.features_ == local.features_ == "pairs"
        assert_effects(found.effects_, local.effects_)
    with pytest.raises(ValueError, match="interactions is for features='pairs' or 'auto'"):
        DaskUBAUCClassifier(client, **GIVEN, interactions=3).fit(parts, "label")
    with pytest.raises(ValueError, match="nobody"):
        params = {**GIVEN, "features": "pairs", "interactions": [("left", "nobody")]}
        DaskUBAUCClassifier(client, **params).fit(parts, "label")


def test_auto_knows_what_stays_linear(client):
    """Numbers that are mostly 0, sparse rows, and what is learned online."""
    random = np.random.default_rng(0)
    X = random.normal(size=(600, 30)) * (random.random((600, 30)) < 0.05)
    y = (X.sum(axis=1) + random.normal(size=600) > 0.3).astype(int)
    labels = da.from_array(y, chunks=300)
    rows = da.from_array(X, chunks=(300, 30))
    for given in (rows, rows.map_blocks(_sparse)):
        found = DaskUBAUCClassifier(client, **GIVEN, features="auto").fit(given, labels)
        assert found.features_ == "linear" and found._solutions[0].features is None
    online = DaskUBAUCClassifier(client, features="auto", solver="online", random_state=0)
    assert online.fit(rows, labels).features_ == "linear"


def test_the_bits_are_those_of_the_same_shards_on_one_machine(client):
    parts = in_parts(made())
    given = {**GIVEN, "features": "pairs", "random_state": 1}
    found = DaskUBAUCClassifier(client, **given).fit(parts, "label")
    with distributed.Client(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None
    ) as here:
        alone = DaskUBAUCClassifier(here, **given).fit(parts, "label")
    assert alone._solutions[0].features == found._solutions[0].features
    assert alone.coef_.tobytes() == found.coef_.tobytes()
    assert alone.gap_ == found.gap_


def test_arrays_have_bins_too(client):
    random = np.random.default_rng(5)
    X = random.normal(size=(800, 3))
    y = (np.abs(X[:, 0]) + 0.3 * random.normal(size=800) > 0.7).astype(int)
    rows, labels = da.from_array(X, chunks=(300, 3)), da.from_array(y, chunks=300)
    given = {**GIVEN, "features": "additive"}
    local = UBAUCClassifier(**given).fit(X, y)
    found = DaskUBAUCClassifier(client, **given).fit(rows, labels)
    assert features_of(found) == features_of(local)
    assert found.score(rows, labels) == pytest.approx(local.score(X, y), abs=1e-4)
    assert (
        found.score(rows, labels)
        > 0.9
        > 0.6
        > DaskUBAUCClassifier(client, **GIVEN).fit(rows, labels).score(rows, labels)
    )


def test_pairs_are_ranked_as_on_one_machine(client):
    """Also in folds of whole groups, and where there are too few examples to leave any out."""
    frame = narrow(made(900), "age", "left", "right", "job")
    groups = np.random.default_rng(3).integers(0, 40, len(frame))
    few = frame.assign(label=(np.arange(len(frame)) % 450 == 0).astype(int))
    given = {**GIVEN, "features": "pairs"}
    for data, of_groups in ((frame, groups), (few, None), (few, groups)):
        columns, y = data.drop(columns="label"), data["label"]
        local = UBAUCClassifier(**given).fit(columns, y, groups=of_groups)
        if of_groups is not None:
            data = data.assign(group=of_groups)
        parts = in_parts(data, (400, 500))
        found = DaskUBAUCClassifier(client, **given)
        found.fit(parts, "label", groups=None if of_groups is None else "group")
        assert features_of(found) == features_of(local)


def test_the_rank_of_pairs_does_not_depend_on_the_blocks(client, monkeypatch):
    from ubauc.dask import _pairs

    parts = in_parts(narrow(made(900), "age", "left", "right", "job"), (400, 500))
    given = {**GIVEN, "features": "pairs"}
    whole = DaskUBAUCClassifier(client, **given).fit(parts, "label")
    monkeypatch.setattr(_pairs, "CELLS", 1)
    found = DaskUBAUCClassifier(client, **given).fit(parts, "label")
    assert found.coef_.tobytes() == whole.coef_.tobytes()


def test_folds_of_the_ranking_leave_each_row_out_once(client):
    from ubauc.dask._pairs import folds_of

    frame = made(900)
    loads = _data.loads_of_collections(in_parts(frame, (400, 0, 500)), "label", None, "t")
    with Cluster(client, loads) as of_client:
        task = Task(cols=7, pair=(0, 1), seed=4)
        training = task.without_each(5, of_client.of_problem(task))[2]
        folds, _ = folds_of(of_client, training, 3, 1)
        parts = client.gather(of_client.partitions.futures)
        learned = weights_of(training, parts)
        left_out = [
            np.concatenate([fold.labels(p, k)[2] for k, p in enumerate(parts)]) for fold in folds
        ]
    np.testing.assert_array_equal(np.sum(left_out, axis=0), learned > 0)
    y = frame["label"].to_numpy()
    used = learned > 0
    expected = _core.folds_in_turn(y[used] == 1, [0, 0], 3, 1)
    for fold in range(3):
        np.testing.assert_array_equal(left_out[fold][used], expected == fold)


def as_one_machine(client, frame, groups, **given):
    """A fit on a cluster and one in memory, whose folds are the same since groups are dealt."""
    columns, y = frame.drop(columns="label"), frame["label"]
    local = UBAUCClassifier(**given).fit(columns, y, groups=groups)
    parts = in_parts(frame.assign(group=groups), (1500, 0, 2500))
    found = DaskUBAUCClassifier(client, **given).fit(parts, "label", groups="group")
    return found, local


@pytest.mark.parametrize("features", ["additive", "auto"])
def test_gamma_and_map_are_chosen_as_on_one_machine(client, features):
    # This many are dealt into folds once.
    frame = narrow(made(4000), "age", "left", "right", "job")
    groups = np.random.default_rng(3).integers(0, 100, len(frame))
    given = {"beta": 0.0, "softness": 1.0, "features": features, "random_state": 3}
    if features != "additive":
        # The map alone: a path of γ on each would take minutes.
        given.update(gamma=1e-2, interactions=1)
    found, local = as_one_machine(client, frame, groups, **given)
    ours, theirs = found.tuning_, local.tuning_
    assert [trial["features"] for trial in ours["maps"]] == [
        trial["features"] for trial in theirs["maps"]
    ]
    for a, b in zip(ours["points"], theirs["points"], strict=True):
        assert (a["features"], a["gamma"], a["beta"]) == (b["features"], b["gamma"], b["beta"])
        assert a["fold_aucs"] == pytest.approx(b["fold_aucs"], abs=2e-3)
    assert found.gamma_ == local.gamma_
    assert features_of(found) == features_of(local)
    for name in ("ours", "logistic"):
        a, b = ours["verdict"][name], theirs["verdict"][name]
        assert a["auc"] == pytest.approx(b["auc"], abs=2e-3)
    assert ours["verdict"]["is_logistic"] == theirs["verdict"]["is_logistic"]
    assert ours["is_worse_than_logistic"] == theirs["is_worse_than_logistic"]


def test_probabilities_and_more_classes(client):
    frame = narrow(made(900), "age", "job")
    random = np.random.default_rng(0)
    frame["label"] = np.where(random.random(900) < 0.2, 2, frame["label"])
    parts = in_parts(frame, (400, 500))
    given = {**GIVEN, "features": "additive", "calibrate": "sigmoid", "random_state": 0}
    found = DaskUBAUCClassifier(client, **given).fit(parts, "label")
    p = found.predict_proba(parts.drop(columns="label")).compute()
    assert p.shape == (900, 3)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)


def test_what_has_no_bins_is_refused(client):
    rows = da.ones((20, 2), chunks=(10, 2)).map_blocks(_sparse)
    y = da.from_array(np.arange(20) % 2, chunks=10)
    with pytest.raises(ValueError, match="bins and pairs are for dense rows: X is sparse"):
        DaskUBAUCClassifier(client, **GIVEN, features="additive").fit(rows, y)
    dense = da.from_array(np.random.default_rng(0).normal(size=(20, 2)), chunks=(10, 2))
    with pytest.raises(ValueError, match="features = 'pairs' is for solver='batch'"):
        DaskUBAUCClassifier(client, solver="online", features="pairs").fit(dense, y)
    with pytest.raises(ValueError, match="scale = 'maxabs' is for features='linear'"):
        DaskUBAUCClassifier(client, **GIVEN, features="additive", scale="maxabs").fit(dense, y)


def _sparse(block):
    from scipy.sparse import csr_matrix

    return csr_matrix(block)
