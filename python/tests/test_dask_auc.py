"""AUC of distributed scores: the bits of `ubauc.metrics`, wherever the rows are."""

import doctest
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from ubauc import _core, metrics

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")

from ubauc.dask import _auc, roc_auc, roc_auc_ci  # noqa: E402


@pytest.fixture(autouse=True)
def small_shares(monkeypatch):
    """Ranges of a hundred scores, so that few make several rounds."""
    monkeypatch.setattr(_auc, "_SMALLEST_SHARE", 100)


@pytest.fixture(scope="module")
def client():
    """Of a cluster of one process, and more when asked for."""
    cluster = distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=True, dashboard_address=":0"
    )
    with cluster, distributed.Client(cluster, set_as_default=False, timeout=30) as client:
        yield client


def with_workers(client, n):
    client.cluster.scale(n)
    client.wait_for_workers(n, timeout=60)
    return client


def scores_of(kind, n, y):
    random = np.random.default_rng(n)
    normal = random.normal(size=n) + y
    return {
        "smooth": normal,
        "few values": normal.round(0),
        "ties": normal.round(2),
        "all equal": np.full(n, 3.0),
        "infinities": np.where(random.random(n) < 0.3, np.copysign(np.inf, normal), normal),
        "outliers": np.where(random.random(n) < 0.01, normal * 1e300, 1 + normal * 1e-9),
        "apart": np.abs(normal) * np.where(y == 1, 1, -1),
        "single": normal.astype(np.float32),
    }[kind]


KINDS = [
    "smooth",
    "few values",
    "ties",
    "all equal",
    "infinities",
    "outliers",
    "apart",
    "single",
]


def labels(n):
    y = (np.random.default_rng(n + 1).random(n) < 0.3).astype(int)
    y[:2] = [0, 1]
    return y


def distributed_arrays(y, scores, sizes):
    return da.from_array(y, chunks=(sizes,)), da.from_array(scores, chunks=(sizes,))


def uneven(n, parts):
    """Chunk sizes that differ, with empty ones among them."""
    cuts = np.sort(np.random.default_rng(parts).integers(0, n + 1, parts - 1))
    cuts = np.concatenate([[0], np.repeat(cuts, 2 if parts == 5 else 1), [n]])
    return tuple(np.diff(cuts).tolist())


@pytest.mark.parametrize("kind", KINDS)
def test_the_bits_of_the_whole(kind):
    n = 1500
    y = labels(n)
    scores = scores_of(kind, n, y)
    expected = metrics.roc_auc_ci(y, scores)
    for parts in (1, 2, 5, 17):
        for order in (np.arange(n), np.argsort(y), np.argsort(scores)):  # one class, one range
            given = distributed_arrays(y[order], scores[order], uneven(n, parts))
            with dask.config.set(scheduler="synchronous"):
                found = roc_auc_ci(*given)
            assert found == expected, (parts, found)
            assert isinstance(found, metrics.AUCInterval)


def test_any_number_of_workers(client):
    n = 3000
    y = labels(n)
    for workers in (1, 2):
        with_workers(client, workers)
        for kind in ("smooth", "ties", "all equal", "outliers"):
            scores = scores_of(kind, n, y)
            given = distributed_arrays(y, scores, uneven(n, 6))
            expected = metrics.roc_auc_ci(y, scores)
            assert roc_auc_ci(*given, client=client) == expected
            bucketed = metrics.StreamingAUC(10).update(y, scores)
            found = roc_auc_ci(*given, client=client, method="bucketed", bits=10)
            assert found.interval() == bucketed.interval()
            assert found.value() == bucketed.value()
    with client.as_current():
        assert roc_auc(*given) == expected.auc


def test_large_arrays_cross_the_wire(client, monkeypatch):
    """Of the size at which Dask hands over memory that is not aligned."""
    monkeypatch.setattr(_auc, "_SMALLEST_SHARE", 10_000)
    n = 120_000
    y = labels(n)
    scores = scores_of("smooth", n, y)
    given = distributed_arrays(y, scores, (50_001, 0, 19_999, 50_000))
    found = roc_auc_ci(*given, client=with_workers(client, 2))
    assert found == metrics.roc_auc_ci(y, scores)


def test_what_runs_has_names_and_nothing_stays(client):
    y = labels(1000)
    given = distributed_arrays(y, scores_of("smooth", 1000, y), (400, 600))
    roc_auc_ci(*given, client=client)
    prefixes = client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.task_prefixes))
    for step in ("keys", "labels", "count", "scatter", "move", "sum"):
        assert f"ubauc-auc-{step}" in prefixes

    def left(dask_scheduler):
        return [str(key) for key in dask_scheduler.tasks if "ubauc-auc" in str(key)]

    for _ in range(50):
        if not (keys := client.run_on_scheduler(left)):
            break
        client.run(lambda: None)
    assert keys == []


@pytest.mark.parametrize("kind", KINDS)
def test_bucketed_is_within_its_bound(kind):
    n = 2000
    y = labels(n)
    scores = scores_of(kind, n, y)
    exact = metrics.roc_auc(y, scores)
    for bits in (4, 12, 20):
        given = distributed_arrays(y, scores, uneven(n, 5))
        found = roc_auc_ci(*given, method="bucketed", bits=bits)
        low, high = found.interval()
        assert low <= exact <= high
        assert abs(found.value() - exact) <= found.error_bound() + 1e-15  # three roundings
        assert roc_auc(*given, method="bucketed", bits=bits) == found.value()
    assert (found.n_pos, found.n_neg) == (y.sum(), n - y.sum())


@pytest.mark.parametrize(
    "names", [[0, 1], [-1, 1], [1, 2], [-2, -1], [0.5, 2.5], [False, True], ["no", "yes"]]
)
def test_labels(names):
    """Sorted by class, so that most partitions have one."""
    codes = np.sort(labels(300))
    y, scores = np.array(names)[codes], scores_of("smooth", 300, codes)
    given = distributed_arrays(y, scores, (100, 100, 0, 100))
    expected = metrics.roc_auc_ci(y, scores)
    assert roc_auc_ci(*given) == expected
    assert roc_auc(*given, method="bucketed", bits=18) == pytest.approx(expected.auc, abs=1e-3)
    swapped = metrics.roc_auc_ci(y, scores, pos_label=names[0])
    assert roc_auc_ci(*given, pos_label=names[0]) == swapped
    found = roc_auc(*given, method="bucketed", bits=18, pos_label=names[0])
    assert found == pytest.approx(swapped.auc, abs=1e-3)


def test_collections_of_any_kind():
    n = 400
    y = labels(n)
    scores = scores_of("ties", n, y)
    expected = metrics.roc_auc_ci(y, scores)
    frame = dd.from_pandas(pd.DataFrame({"y": y, "s": scores}), npartitions=3)
    assert roc_auc_ci(frame["y"], frame["s"]) == expected
    unknown = frame["s"].to_dask_array()
    assert np.isnan(unknown.chunks[0]).all()
    assert roc_auc_ci(frame["y"].to_dask_array(), unknown) == expected
    assert roc_auc_ci(frame["y"], unknown) == expected
    named = frame["y"].map({0: "no", 1: "yes"}, meta=("y", "string"))
    assert roc_auc_ci(named, frame["s"]) == expected
    assert roc_auc_ci(frame["y"].astype("category"), frame["s"]) == expected
    kept = frame[frame["s"] > 0.5]  # partitions of sizes nobody knows
    local = pd.DataFrame({"y": y, "s": scores}).query("s > 0.5")
    assert roc_auc_ci(kept["y"], kept["s"]) == metrics.roc_auc_ci(local["y"], local["s"])
    y_, scores_ = da.from_array(y, chunks=70), da.from_array(scores, chunks=90)
    assert roc_auc_ci(y_, scores_) == expected
    assert roc_auc_ci(y, scores_) == expected
    assert roc_auc_ci(y_, scores.tolist()) == expected


@pytest.mark.parametrize("method", ["exact", "bucketed"])
def test_what_is_refused(client, method):
    y = labels(90)
    scores = scores_of("smooth", 90, y)

    def refused(y, scores, match, kind=ValueError, **options):
        with pytest.raises(kind, match=match):
            roc_auc_ci(y, scores, **{"method": method, **options})

    y_, scores_ = distributed_arrays(y, scores, (30, 60))
    bad = scores.copy()
    bad[41] = np.nan
    nan = da.from_array(bad, chunks=30)
    message = "partition 1: score of example 12 is NaN"
    refused(y_, nan, message)
    refused(y_, nan, message, client=client)
    for only, name in ((0, "negative"), (1, "positive"), (-1, "negative"), ("b", "positive")):
        with pytest.raises(ValueError) as local:
            metrics.roc_auc_ci(np.full(90, only), scores)
        assert name in str(local.value)
        refused(da.full(90, only, chunks=20), scores_, f"^{local.value}$")
    refused(y_, scores_, "no examples|one class", pos_label="neither")
    refused(da.zeros(0, chunks=1), da.zeros(0, chunks=1), "no examples")
    refused(da.from_array(np.arange(90) % 3, chunks=90), scores_, "3 classes")
    refused(da.from_array(np.arange(90) // 30, chunks=30), scores_, "3 classes")
    holes = np.where(np.arange(90) == 33, np.nan, y)
    refused(da.from_array(holes, chunks=30), nan, "partition 1: label of example 4 is nan")
    refused(y_[:80], scores_, "80 labels, but 90 scores")
    refused(y_[:, None], scores_, "y must have one dimension")
    refused(y, scores, "ubauc.metrics", TypeError)
    refused(y_, da.from_array(np.full(90, "x"), chunks=30), "partition")
    unknown = dd.from_pandas(pd.Series(scores), npartitions=4)
    refused(y_, unknown, "2 partitions and scores have 4")
    refused(y, unknown, "in memory")
    refused(da.from_array(y, chunks=((5, 45, 20, 20),)), unknown, "partition .*labels, but")
    refused(y_, scores_, "method = 'nearly'", method="nearly")
    if method == "bucketed":
        refused(y_, scores_, "bits", bits=25)


def test_scores_that_change_between_rounds_are_noticed():
    """A task that is run again and gives other scores must not give a wrong AUC."""
    y = labels(500)
    keys = _core.keys_by_class(scores_of("smooth", 500, y), y == 1)

    class Forgetful(_auc._Rounds):
        def gather(self, name, function, arguments):
            found = super().gather(name, function, arguments)
            if name == "count":
                keys[0][:9] = 0
            return found

    with dask.config.set(scheduler="synchronous"):
        with pytest.raises(ValueError, match="must not change between rounds"):
            _auc._exact(Forgetful(None), [([0, 1], keys)], None)


def test_examples():
    failed, tried = doctest.testmod(_auc)
    assert tried > 0 and failed == 0


def test_without_dask():
    code = "import sys; sys.modules['dask'] = None\nimport ubauc\nimport ubauc.dask"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "ImportError: ubauc.dask needs Dask: pip install 'ubauc[dask]'" in done.stderr
