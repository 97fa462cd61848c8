"""Groups on a cluster: dealt as one machine deals them, so that the choice is the same."""

import json

import numpy as np
import pytest
from ubauc import UBAUCClassifier, _core
from ubauc._problem import search_of, spec_of
from ubauc.metrics import roc_auc_ci as local_auc_ci

pytest.importorskip("distributed")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")

from dask_problems import GIVEN, frame, in_chunks, weights_of  # noqa: E402
from dask_processes import cluster  # noqa: E402
from ubauc.dask import DaskUBAUCClassifier, _data, roc_auc_ci  # noqa: E402
from ubauc.dask._fit import Cluster  # noqa: E402
from ubauc.dask._groups import Groups  # noqa: E402
from ubauc.dask._task import Task  # noqa: E402
from ubauc.dask._tune import dealt_by_groups  # noqa: E402

SIZES = (50, 0, 950, 600)


@pytest.fixture(scope="module")
def client():
    """Of two worker processes."""
    with cluster(2) as (_, client):
        yield client


def visits(n=1600, patients=130, seed=3):
    """Rows of patients, in any order; a class depends on the row, the score on the patient too."""
    random = np.random.default_rng(seed)
    patient = random.integers(0, patients, n)
    y = (random.random(n) < np.where(patient % 3 == 0, 0.5, 0.2)).astype(int)
    X = random.normal(size=(n, 4)) + y[:, None] * np.linspace(0, 1, 4)
    X[:, 1] += random.normal(size=patients)[patient]
    names = np.array([f"patient {p}" for p in range(patients)], dtype=object)
    return X, y, names[patient]


def folds_of(cluster, tasks):
    """Which rows each task leaves out, of all partitions."""
    parts = cluster.client.gather(cluster.partitions.futures)
    return [
        np.concatenate([task.labels(part, number)[2] for number, part in enumerate(parts)])
        for task in tasks
    ]


@pytest.mark.parametrize("weighted", [False, True])
def test_groups_are_dealt_as_one_machine_deals_them(client, weighted):
    X, y, patients = visits()
    weights = np.random.default_rng(1).integers(0, 3, y.size) * 0.5 if weighted else None
    rows, labels, of_weights = in_chunks(X, y, SIZES, weights)
    groups = da.from_array(patients, chunks=(SIZES,))
    loads = _data.loads_of_collections(rows, labels, of_weights, "groups", groups=groups)
    estimator = UBAUCClassifier()
    search = json.loads(search_of(estimator, spec_of(estimator, 9), 9)) | {"held_out": 0.2}
    used = np.flatnonzero(np.ones(y.size) if weights is None else weights > 0)
    numbers = np.unique(patients, return_inverse=True)[1].astype(np.uint32)
    with Cluster(client, loads) as of_client:
        task = Task(cols=4, pair=(0, 1), seed=9)
        outer, inner, folds, counted = dealt_by_groups(of_client, task, search)
        held_out, *left_out = folds_of(of_client, [outer, *folds])
        groups = Groups(of_client, task)
        five = groups.without_each(5, [_core.folds_of_groups(groups.counts, 5, 9)])
        five = folds_of(of_client, five)
        # What is held out is not learned from.
        learned = weights_of(inner, client.gather(of_client.partitions.futures))
        assert (learned[held_out] == 0).all() and (learned[used][~held_out[used]] > 0).all()
    in_memory = _core.folds(y[used] == 1, numbers[used], 5, 9)
    for fold, found in enumerate(five):
        np.testing.assert_array_equal(found[used], in_memory == fold)
        assert not found[np.setdiff1d(np.arange(y.size), used)].any()
    assert 0.15 < held_out[used].mean() < 0.25
    kept = used[~held_out[used]]
    assert counted.tolist() == [(y[kept] == 0).sum(), (y[kept] == 1).sum()]
    deals = len(left_out) // 5
    assert deals == _core.deals(json.dumps(search), *counted.tolist())[0] > 1
    for deal in range(deals):
        in_memory = _core.folds(y[kept] == 1, numbers[kept], 5, 9 + (deal << 32))
        for fold in range(5):
            np.testing.assert_array_equal(left_out[5 * deal + fold][kept], in_memory == fold)
            assert not (left_out[5 * deal + fold] & held_out).any()
    for one in [held_out, *left_out]:
        of_group = {
            p: set(one[(patients == p) & np.isin(np.arange(y.size), used)]) for p in patients
        }
        assert max(map(len, of_group.values())) == 1


GIVEN_LOSS = {"beta": 0.5, "softness": 0.05, "scale": "none", "random_state": 5}


def test_the_choice_and_the_verdict_are_those_of_one_machine(client):
    # So many are dealt into folds once.
    X, y, patients = visits(n=4000)
    sizes = (400, 0, 2200, 1400)
    local = UBAUCClassifier(**GIVEN_LOSS).fit(X, y, groups=patients)
    rows, labels, _ = in_chunks(X, y, sizes)
    groups = da.from_array(patients, chunks=(sizes,))
    found = DaskUBAUCClassifier(client, **GIVEN_LOSS).fit(rows, labels, groups=groups)
    ours, theirs = found.tuning_, local.tuning_
    assert (found.beta_, found.gamma_, found.softness_) == (
        local.beta_,
        local.gamma_,
        local.softness_,
    )
    assert ours["chosen"] == theirs["chosen"] and ours["logistic"] == theirs["logistic"]
    assert len(ours["points"]) == len(theirs["points"])
    for a, b in zip(ours["points"], theirs["points"], strict=True):
        assert a["fold_aucs"] == pytest.approx(b["fold_aucs"], abs=1e-4)
    for name in ("ours", "logistic"):
        a, b = ours["verdict"][name], theirs["verdict"][name]
        assert a["auc"] == pytest.approx(b["auc"], abs=1e-4)
        # Obuchowski's, not DeLong's.
        assert a["variance"] == pytest.approx(b["variance"], rel=1e-2)
        assert a["n_pos"] == b["n_pos"]


def test_probabilities_are_learned_from_whole_groups(client):
    X, y, patients = visits()
    params = {**GIVEN, "gamma": 1e-1, "calibrate": "sigmoid", "random_state": 4}
    local = UBAUCClassifier(**params).fit(X, y, groups=patients)
    data = dd.from_pandas(frame(X, y, who=patients), npartitions=3, sort=False)
    found = DaskUBAUCClassifier(client, **params).fit(data, "label", groups="who")
    assert found.feature_names_in_.tolist() == ["f0", "f1", "f2", "f3"]
    np.testing.assert_allclose(found.predict_proba(X), local.predict_proba(X), rtol=0, atol=1e-6)
    series = DaskUBAUCClassifier(client, **params)
    series.fit(data.drop(columns="who"), "label", groups=data["who"])
    np.testing.assert_array_equal(series.predict_proba(X), found.predict_proba(X))


def test_the_interval_is_of_groups(client):
    X, y, patients = visits()
    scores = X.sum(axis=1)
    expected = local_auc_ci(y, scores, groups=patients)
    assert expected.variance > local_auc_ci(y, scores).variance
    parts = [da.from_array(a, chunks=(SIZES,)) for a in (y, scores, patients)]
    assert roc_auc_ci(*parts[:2], groups=parts[2], client=client) == expected
    series = dd.from_pandas(frame(X, y, who=patients, score=scores), npartitions=3, sort=False)
    found = roc_auc_ci(series["label"], series["score"], groups=series["who"])
    assert found == expected
    with pytest.raises(ValueError, match="groups need method='exact'"):
        roc_auc_ci(*parts[:2], groups=parts[2], client=client, method="bucketed")


def test_what_cannot_be_groups_is_refused(client):
    X, y, patients = visits()
    rows, labels, _ = in_chunks(X, y, SIZES)
    fit = DaskUBAUCClassifier(client, **GIVEN).fit
    gaps = patients.copy()
    gaps[1000] = None
    for groups, what in (
        (gaps, "partition 3: groups of row 0 is missing"),
        (np.where(np.arange(y.size) == 7, 3, patients), "partition 0: groups must be all numbers"),
    ):
        with pytest.raises((TypeError, ValueError), match=what):
            fit(rows, labels, groups=da.from_array(groups, chunks=(SIZES,)))
    with pytest.raises(ValueError, match="groups has 5"):
        fit(rows, labels, groups=da.zeros(5))
    with pytest.raises(TypeError, match="groups is a list"):
        fit(rows, labels, groups=patients.tolist())
    with pytest.raises(ValueError, match="groups = 'who': X has no such column"):
        fit(dd.from_pandas(frame(X, y), npartitions=2), "label", groups="who")
    few = da.from_array((np.arange(y.size) % 3).astype(str), chunks=(SIZES,))
    with pytest.raises(ValueError, match="too few for 5 folds with both classes"):
        DaskUBAUCClassifier(client, random_state=0).fit(rows, labels, groups=few)
