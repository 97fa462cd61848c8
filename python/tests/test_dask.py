"""The solver on Dask workers: the bits of the same shards in this process, and what is refused."""

import gc
import gzip
import pickle
import re
import threading
import time

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix, random_array
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from svmlight_text import write_svmlight
from ubauc import UBAUCClassifier, _core
from ubauc._problem import Solution, context, encoded, given_to, spec_of

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")

from dask_problems import (  # noqa: E402
    GIVEN,
    SIZES,
    assert_bits,
    assert_close,
    frame,
    in_chunks,
    problem,
    same_shards,
)
from dask_processes import cluster  # noqa: E402
from ubauc.dask import DaskUBAUCClassifier, _data, _rounds, _workers  # noqa: E402
from ubauc.dask._task import Task  # noqa: E402


@pytest.fixture(scope="module")
def killable():
    with cluster(2) as both:
        yield both


@pytest.fixture(scope="module")
def client(killable):
    """Of two worker processes."""
    return killable[1]


def check(client, X, y, sizes, weights=None, **params):
    params = {**GIVEN, **params}
    rows, labels, of_weights = in_chunks(X, y, sizes, weights)
    fitted = DaskUBAUCClassifier(client, **params).fit(rows, labels, of_weights)
    assert_bits(fitted, same_shards(X, y, sizes, weights, **params))
    assert_close(fitted, UBAUCClassifier(**params).fit(X, y, weights))
    return fitted


def test_rounds_are_messages_and_not_tasks(client, monkeypatch):
    X, y = problem()
    rows, labels, _ = in_chunks(X, y, SIZES["uneven"])
    tasks, each = [], _workers.Partitions._each

    def counting(self, name, function, which, arguments):
        tasks.append(name)
        return each(self, name, function, which, arguments)

    monkeypatch.setattr(_workers.Partitions, "_each", counting)
    fitted = DaskUBAUCClassifier(client, **GIVEN).fit(rows, labels)
    # The first round brings the partitions to their workers; what follows needs no task.
    assert fitted.rounds_["rounds"] > 20
    assert sum(name == "round" for name in tasks) <= 1


@pytest.mark.parametrize("sizes", SIZES)
def test_partitions(client, sizes):
    check(client, *problem(), SIZES[sizes])


def test_partitions_of_one_class(client):
    X, y = problem()
    order = np.argsort(y, kind="stable")
    check(client, X[order], y[order], (400, 200, 200, 100))


def test_any_number_of_workers(killable):
    processes, client = killable
    X, y = problem(4000, 10)
    rows, labels, _ = in_chunks(X, y, (500,) * 8)
    given = {**GIVEN, "tol": 1e-6}
    expected = same_shards(X, y, (500,) * 8, **given)
    try:
        for workers in (1, 2, 4, 8):
            while len(processes.workers) > workers:
                processes.kill(processes.workers[-1])
            processes.start(workers - len(processes.workers))
            client.wait_for_workers(workers, timeout=60)
            assert_bits(DaskUBAUCClassifier(client, **given).fit(rows, labels), expected)
    finally:
        while len(processes.workers) > 2:
            processes.kill(processes.workers[-1])


KINDS = {
    "intercept": {"fit_intercept": True},
    "balanced": {"least_squares": "balanced"},
    "maxabs": {"scale": "maxabs"},
    "standard": {"scale": "standard", "fit_intercept": True},
    "class weights": {"class_weight": "balanced"},
    "no ridge": {"gamma": 0.0},
}


@pytest.mark.parametrize("kind", KINDS)
def test_parameters(client, kind):
    check(client, *problem(), SIZES["uneven"], **KINDS[kind])


def test_weights(client):
    X, y = problem()
    weights = np.random.default_rng(3).choice([0.0, 0.5, 1.0, 3.0], size=len(y))
    check(client, X, y, SIZES["uneven"], weights, class_weight=None, scale="standard")


def sparse_problem(n, d, density, seed=2):
    random = np.random.default_rng(seed)
    X = csr_matrix(random_array((n, d), density=density, rng=random))
    truth = random.normal(size=d)
    return X, (X @ truth + 0.1 * random.normal(size=n) > 0.3).astype(int)


def test_sparse_rows(client):
    check(client, *sparse_problem(900, 40, 0.1), SIZES["uneven"])


def test_wide_sparse_rows_without_a_matrix(client):
    X, y = sparse_problem(300, 5000, 0.01)
    fitted = check(client, X, y, (100, 120, 80), gamma=1e-2)
    # No matrix of d(d + 1)/2 numbers was ever moved.
    assert fitted.rounds_["largest_answer"] < 3 * 8 * 10 * 5000


def test_many_active_rows_are_left_where_they_are(client):
    """Of more than 32 active rows only products are asked for."""
    random = np.random.default_rng(1)
    y = (random.random(800) < 0.3).astype(int)
    X = random.normal(size=(800, 200)) + 0.2 * y[:, None] * np.linspace(0, 1, 200)
    params = {"beta": 0.1, "gamma": 0.1, "tol": 1e-6}
    sizes = (300, 300, 200)
    rows, labels, _ = in_chunks(X, y, sizes)
    # Every product is a round: few steps are enough to see that they are the same.
    with pytest.warns(ConvergenceWarning):
        fitted = DaskUBAUCClassifier(client, max_iter=1, **params).fit(rows, labels)
    assert min(fitted.trace_["active"]) > 32
    assert_bits(fitted, same_shards(X, y, sizes, max_iter=1, **params))
    # All of them lead as near to the minimum as the gaps prove, by other steps than those of rows
    # in memory: F(w) - F(w*) is at least gamma / 2 times the squared distance.
    found, local = same_shards(X, y, sizes, **params), UBAUCClassifier(**params).fit(X, y)
    assert found["objective"] == pytest.approx(local.objective_, rel=1e-6)
    ends = (found["gap"], found["objective"]), (local.gap_, local.objective_)
    far = sum(np.sqrt(2 * gap * objective / 0.1) for gap, objective in ends)
    assert np.linalg.norm(found["weights"] - local.coef_[0]) <= far


def test_more_classes(client):
    X, y = problem(classes=3)
    names = np.array(["ape", "bee", "cat"])
    rows, labels, _ = in_chunks(X, names[y], SIZES["uneven"])
    fitted = DaskUBAUCClassifier(client, **GIVEN).fit(rows, labels)
    local = UBAUCClassifier(**GIVEN).fit(X, names[y])
    assert_close(fitted, local)
    assert fitted.coef_.shape == (3, 7)
    assert fitted.decision_function(rows).shape == (900, 3)
    scores = fitted.decision_function(rows).compute(scheduler="sync")
    np.testing.assert_allclose(scores, local.decision_function(X), atol=1e-9)
    assert (fitted.predict(rows).compute(scheduler="sync") == local.predict(X)).all()


def test_chunks_that_are_arrays_are_not_copied():
    X, y = problem()
    w = np.ones(X.shape[1])
    model = Solution(weights=w, offset=0.0, cut=0.0, scale="none").model()

    def follows(x):
        """Whether the partition lies where the array does."""
        part = _data.of_arrays(x, y[: len(x)], None, "part").part
        before = part.scores(model)
        np.testing.assert_allclose(before, np.asarray(x) @ w)
        x[0, 0] += 1.0
        return part.scores(model)[0] != before[0]

    assert follows(X.copy())
    assert follows(X.copy()[100:])
    # These would keep more than themselves, or are nothing that Rust can look at.
    assert not follows(X.copy()[:100])
    assert not follows(np.asfortranarray(X))
    assert not follows(X.astype(np.float32))
    # The array is there as long as the partition is.
    part = _data.of_arrays(X.copy(), y, None, "part").part
    gc.collect()
    blocks = [np.full(X.size, 7.0) for _ in range(20)]
    np.testing.assert_array_equal(part.scores(model), _core.scores(X, model, 1))
    again = pickle.loads(pickle.dumps(part))
    assert len(blocks) == 20 and (again.scores(model) == part.scores(model)).all()
    frozen = X.copy()
    frozen.flags.writeable = False
    read_only = _data.of_arrays(frozen, y, None, "part").part
    np.testing.assert_array_equal(read_only.scores(model), part.scores(model))


# Frames and files.


def test_frames(client):
    X, y = problem()
    weights = np.random.default_rng(5).random(len(y))
    table = dd.from_pandas(frame(X, y, w=weights), npartitions=3)
    sizes = tuple(table.map_partitions(len).compute(scheduler="sync"))
    expected = same_shards(X, y, sizes, weights, **GIVEN)
    by_name = DaskUBAUCClassifier(client, **GIVEN).fit(table, "label", "w")
    features = table.drop(columns=["label", "w"])
    by_series = DaskUBAUCClassifier(client, **GIVEN).fit(features, table["label"], table["w"])
    for fitted in (by_name, by_series):
        assert_bits(fitted, expected)
        assert fitted.feature_names_in_.tolist() == [f"f{j}" for j in range(7)]
    local = by_name.to_local()
    found = by_name.decision_function(features).compute(scheduler="sync")
    assert (found == local.decision_function(frame(X, y).drop(columns="label"))).all()


def test_columns_without_names_have_none(client):
    X, y = problem()
    table = dd.from_pandas(pd.DataFrame(X), npartitions=2)
    labels = dd.from_pandas(pd.Series(y), npartitions=2)
    fitted = DaskUBAUCClassifier(client, **GIVEN).fit(table, labels)
    assert not hasattr(fitted, "feature_names_in_")
    assert not hasattr(fitted.to_local(), "feature_names_in_")


def test_svmlight_files(client, tmp_path):
    X, y = sparse_problem(600, 30, 0.2)
    # Rows that are all there, of a file that ends at an earlier column than others.
    X = X.tolil()
    X[:200, :20] = np.random.default_rng(1).normal(size=(200, 20))
    X[:200, 20:] = 0
    X = csr_matrix(X)
    paths = []
    for k in range(3):
        of_file = slice(200 * k, 200 * (k + 1))
        paths.append(write_svmlight(tmp_path / f"{k}.svm", X[of_file], y[of_file]))
    packed = tmp_path / "1.svm.gz"
    packed.write_bytes(gzip.compress(paths[1].read_bytes()))
    paths[1] = packed
    fitted = DaskUBAUCClassifier(client, **GIVEN).fit_files(paths)
    assert_close(fitted, UBAUCClassifier(**GIVEN).fit(X, y))
    wider = DaskUBAUCClassifier(client, **GIVEN).fit_files(paths, n_features=35)
    assert wider.coef_.shape == (1, 35) and not wider.coef_[0, 30:].any()
    with pytest.raises(ValueError, match=r"\.svm.*: 30 features, but n_features is 29"):
        DaskUBAUCClassifier(client, **GIVEN).fit_files(paths, n_features=29)


def test_parquet_files(client, tmp_path):
    pytest.importorskip("pyarrow")
    X, y = problem()
    paths = [tmp_path / f"{k}.parquet" for k in range(3)]
    for k, path in enumerate(paths):
        frame(X, y)[300 * k : 300 * (k + 1)].to_parquet(path)
    fitted = DaskUBAUCClassifier(client, **GIVEN).fit_files(paths)
    assert_bits(fitted, same_shards(X, y, (300,) * 3, **GIVEN))
    with pytest.raises(ValueError, match=r"\d\.parquet: no column 'answer'; there are \['f0'"):
        DaskUBAUCClassifier(client, **GIVEN).fit_files(paths, label="answer")
    frame(X[:, :6], y).to_parquet(paths[2])
    with pytest.raises(ValueError, match=r"2\.parquet has 6 columns, but .*0\.parquet has 7"):
        DaskUBAUCClassifier(client, **GIVEN).fit_files(paths)
    frame(X, y).rename(columns={"f3": "other"}).to_parquet(paths[2])
    with pytest.raises(ValueError, match=r"2\.parquet has the columns .*'other'.*0\.parquet has"):
        DaskUBAUCClassifier(client, **GIVEN).fit_files(paths)
    paths[1].write_bytes(b"no such format")
    with pytest.raises(ValueError, match=r"1\.parquet: cannot be read as Parquet"):
        DaskUBAUCClassifier(client, **GIVEN).fit_files(paths)


def test_files_that_cannot_be_read(client, tmp_path):
    good, bad = tmp_path / "good.svm", tmp_path / "bad.svm"
    write_svmlight(good, *problem(20))
    fit = DaskUBAUCClassifier(client, **GIVEN).fit_files
    with pytest.raises(OSError, match=r"bad\.svm"):
        fit([good, bad])
    bad.write_text("1 1:0.5\n0 1:0.5 2:x\n")
    with pytest.raises(ValueError, match=r"bad\.svm:2:11"):
        fit([good, bad])
    with pytest.raises(ValueError, match="no files"):
        fit([])
    with pytest.raises(TypeError, match="list of files"):
        fit(str(good))
    with pytest.raises(ValueError, match="format = 'csv'"):
        fit([good], format="csv")


# What is refused.


def test_what_is_wrong_with_rows(client):
    X, y = problem()
    rows, labels, _ = in_chunks(X, y, (500, 400))
    fit = DaskUBAUCClassifier(client, **GIVEN).fit
    broken = X.copy()
    broken[600, 3] = np.nan
    with pytest.raises(ValueError, match="partition 1: "):
        fit(in_chunks(broken, y, (500, 400))[0], labels)
    with pytest.raises(ValueError, match="X has 900 rows, but y has 899"):
        fit(rows, labels[:-1])
    with pytest.raises(ValueError, match="2 chunks of rows, but y has 1"):
        fit(rows, unknown(da.from_array(y, chunks=900)))
    with pytest.raises(TypeError, match="X is a ndarray.*dask array.*UBAUCClassifier"):
        fit(X, y)
    with pytest.raises(TypeError, match="y is a ndarray"):
        fit(rows, y)
    with pytest.raises(ValueError, match="X has 1 dimensions, expected 2"):
        fit(labels, labels)
    with pytest.raises(ValueError, match="y has 2 dimensions, expected 1"):
        fit(rows, rows)
    with pytest.raises(ValueError, match="'answer': X has no such column"):
        fit(dd.from_pandas(frame(X, y), npartitions=2), "answer")
    # A column of texts is a category.
    found = fit(dd.from_pandas(frame(X, y, name="Eve"), npartitions=1), "label")
    assert found.n_features_in_ == X.shape[1] + 1
    weights = np.ones(900)
    weights[700] = -1
    with pytest.raises(ValueError, match="partition 1: weight of row 200 is -1.0"):
        fit(rows, labels, da.from_array(weights, chunks=((500, 400),)))
    with pytest.raises(ValueError, match="all sample weights are zero"):
        fit(rows, labels, da.zeros(900, chunks=((500, 400),)))


def test_what_is_wrong_with_labels(client):
    X, y = problem()
    rows, _, _ = in_chunks(X, y, (500, 400))

    def fit(labels):
        return DaskUBAUCClassifier(client, **GIVEN).fit(rows, in_chunks(X, labels, (500, 400))[1])

    labels = y.astype(float)
    labels[600] = np.nan
    with pytest.raises(ValueError, match="partition 1: y of row 100 is missing"):
        fit(labels)
    named = np.where(y == 1, "yes", "no").astype(object)
    named[501] = None
    with pytest.raises(ValueError, match="partition 1: y of row 1 is missing"):
        fit(named)
    named[501] = pd.NA
    with pytest.raises(ValueError, match="partition 1: y of row 1 is missing"):
        fit(named)
    with pytest.raises(ValueError, match="at least 2 classes.*only one class: .*1"):
        fit(np.ones(900, int))
    with pytest.raises(ValueError, match="continuous"):
        fit(X[:, 0])
    mixed = y.astype(object)
    mixed[:500] = np.where(y[:500] == 1, "yes", "no")
    with pytest.raises(
        (TypeError, ValueError), match="numbers in partition 1, but no numbers in partition 0"
    ):
        fit(mixed)
    empty = da.zeros((0, 7), chunks=(0, 7))
    with pytest.raises(ValueError, match="no examples"):
        DaskUBAUCClassifier(client, **GIVEN).fit(empty, da.zeros(0, chunks=0))


def unknown(array):
    """Of chunks whose sizes nobody knows."""
    sizes = tuple(
        (np.nan,) * n if k == 0 else array.chunks[k] for k, n in enumerate(array.numblocks)
    )
    return da.Array(array.dask, array.name, sizes, dtype=array.dtype)


def test_columns_that_differ(client):
    X, y = problem()
    # Seven columns, they say.
    blocks = [dask.delayed(X[:500]), dask.delayed(X[500:, :6])]
    shapes = [(500, 7), (400, 7)]
    rows = [da.from_delayed(b, s, dtype=float) for b, s in zip(blocks, shapes, strict=True)]
    labels = da.from_array(y, chunks=((500, 400),))
    with pytest.raises(ValueError, match="partition 1 has 6 columns, but partition 0 has 7"):
        DaskUBAUCClassifier(client, **GIVEN).fit(da.concatenate(rows), labels)


def test_unknown_chunk_sizes(client):
    X, y = problem()
    rows, labels, _ = in_chunks(X, y, (500, 400))
    fitted = DaskUBAUCClassifier(client, **GIVEN).fit(unknown(rows), unknown(labels))
    assert_bits(fitted, same_shards(X, y, (500, 400), **GIVEN))
    lazy = fitted.decision_function(unknown(rows))
    local = fitted.to_local()
    assert (lazy.compute(scheduler="sync") == local.decision_function(X)).all()
    # Features in several chunks are put together.
    again = DaskUBAUCClassifier(client, **GIVEN).fit(rows.rechunk({1: 3}), labels)
    assert again.coef_.tobytes() == fitted.coef_.tobytes()
    other = in_chunks(X, y, (100, 800))[1]
    assert DaskUBAUCClassifier(client, **GIVEN).fit(rows, other).gap_ == fitted.gap_


def test_who_has_no_client():
    rows, labels, _ = in_chunks(*problem(), (500, 400))
    with pytest.raises(ValueError, match="no Dask client: start one"):
        DaskUBAUCClassifier(**GIVEN).fit(rows, labels)


def test_parameters_that_are_refused(client):
    rows, labels, _ = in_chunks(*problem(), (500, 400))
    with pytest.raises(ValueError, match="calibrate"):
        DaskUBAUCClassifier(client, calibrate="platt").fit(rows, labels)
    with pytest.raises(AttributeError) as raised:
        DaskUBAUCClassifier(client, solver="online").partial_fit  # noqa: B018
    assert "to_local" in str(raised.value.__cause__)
    assert not hasattr(DaskUBAUCClassifier(client, solver="online"), "partial_fit")
    with pytest.raises(ValueError, match="beta"):
        DaskUBAUCClassifier(client, beta=-1.0).fit(rows, labels)


# The estimator as such.


def test_the_estimator(client, tmp_path):
    X, y = problem()
    rows, labels, _ = in_chunks(X, y, (500, 400))
    fitted = DaskUBAUCClassifier(client, **GIVEN).fit(rows, labels)
    copied = clone(fitted)
    assert copied.client is client and not hasattr(copied, "coef_")
    again = pickle.loads(pickle.dumps(fitted))
    assert again.client is None and again.coef_.tobytes() == fitted.coef_.tobytes()
    local = fitted.to_local()
    assert type(local) is UBAUCClassifier
    for name in ("coef_", "threshold_", "objective_", "gap_", "classes_", "n_iter_"):
        assert np.array_equal(getattr(local, name), getattr(fitted, name))
    fitted.save(tmp_path / "model.json")
    for kind in (UBAUCClassifier, DaskUBAUCClassifier):
        loaded = kind.load(tmp_path / "model.json")
        assert type(loaded) is kind
        assert loaded.coef_.tobytes() == fitted.coef_.tobytes()
        assert loaded.gap_ == fitted.gap_
    for model in (fitted, again):
        for method in ("decision_function", "predict"):
            lazy, expected = getattr(model, method)(rows), getattr(local, method)(X)
            assert isinstance(lazy, da.Array) and lazy.chunks == labels.chunks
            found = client.compute(lazy).result()
            assert found.dtype == lazy.dtype == expected.dtype
            assert (found == expected).all()
            assert (getattr(model, method)(X) == expected).all()
    assert fitted.score(rows, labels) == local.score(X, y)


def test_a_fit_that_fails_leaves_the_old_model(client):
    X, y = problem()
    rows, labels, _ = in_chunks(X, y, (500, 400))
    fitted = DaskUBAUCClassifier(client, **GIVEN).fit(rows, labels)
    before = fitted.decision_function(X)
    fitted.set_params(max_iter=5, beta="auto", gamma=1e-3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_rounds.Rounds, "__call__", failing)
        with pytest.raises(ZeroDivisionError):
            fitted.fit(rows[:, :4], labels + 1)
    assert fitted.classes_.tolist() == [0, 1] and fitted.n_features_in_ == 7
    assert (fitted.decision_function(X) == before).all()


def failing(self, round, add):
    raise ZeroDivisionError


def test_nothing_is_left_on_the_cluster(client):
    random = da.random.default_rng(0)
    X = random.normal(size=(2000, 5), chunks=(1000, 5))
    y = (X[:, 0] + random.normal(size=2000, chunks=1000) > 1).astype(int)
    before = set(client.futures)

    def nothing_left():
        # The client's own thread does it, soon.
        end = time.monotonic() + 20.0
        while set(client.futures) - before and time.monotonic() < end:
            time.sleep(0.01)
        return not set(client.futures) - before

    gc.disable()
    try:
        fitted = DaskUBAUCClassifier(client, beta=0.5, gamma=1e-4).fit(X, y)
        assert nothing_left()
        # Where they are still held, Dask may stumble over parts of what they were made of.
        assert y[:100].compute().shape == (100,)
        assert fitted.score(X, y) > 0.6
        with pytest.raises(ValueError, match="only one class"):
            DaskUBAUCClassifier(client, beta=0.5, gamma=1e-4).fit(X, y * 0)
        assert nothing_left()
    finally:
        gc.enable()


def test_two_fits_at_once(client):
    X, y = problem()
    cases = [(500, 400), (300, 300, 300)]
    fitted = {}

    def fit(sizes):
        rows, labels, _ = in_chunks(X, y, sizes)
        fitted[sizes] = DaskUBAUCClassifier(client, **GIVEN).fit(rows, labels)

    threads = [threading.Thread(target=fit, args=(sizes,)) for sizes in cases]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
    for sizes in cases:
        assert_bits(fitted[sizes], same_shards(X, y, sizes, **GIVEN))


def test_an_asynchronous_client(killable):
    import asyncio

    rows, labels, _ = in_chunks(*problem(), (500, 400))

    async def fit():
        address = killable[0].address
        async with distributed.Client(address, asynchronous=True, set_as_default=False) as client:
            DaskUBAUCClassifier(client, **GIVEN).fit(rows, labels)

    with pytest.raises(TypeError, match="client is asynchronous"):
        asyncio.run(fit())


def test_progress(client, capsys):
    rows, labels, _ = in_chunks(*problem(), (500, 400))
    fitted = DaskUBAUCClassifier(client, verbose=1, **GIVEN).fit(rows, labels)
    printed = capsys.readouterr()
    lines = printed.err.splitlines()
    assert not printed.out
    assert len(lines) >= fitted.n_iter_
    assert lines[0].startswith("[DaskUBAUCClassifier] step ")
    assert "rounds: objective " in lines[-1] and ", gap " in lines[-1]


def test_the_rounds_are_few_and_small(client):
    """O(d) numbers of each partition, d² once, whatever the number of rows."""
    costs = []
    for n in (2000, 20_000):
        rows, labels, _ = in_chunks(*problem(n, 20), (n // 2, n // 2))
        costs.append(DaskUBAUCClassifier(client, beta=0.5, gamma=1e-3).fit(rows, labels).rounds_)
    for cost in costs:
        assert cost["rounds"] < 150 and cost["replayed"] == 0
        assert cost["bytes_received"] / cost["rounds"] < 2 * 8 * 20 * 50
    assert client.run(remembered) == dict.fromkeys(client.nthreads(), 0)


def remembered():
    return len(_rounds._remembered)


# Versions.


def test_a_worker_of_another_version_is_refused_by_name(killable, monkeypatch):
    _, client = killable
    client.wait_for_workers(2, timeout=60)
    rows, labels, _ = in_chunks(*problem(400, 3), (100, 100, 100, 100))
    clf = DaskUBAUCClassifier(client, beta=0.5, gamma=1e-3)
    refused = rf"worker (\S+) has ubauc 0\.0\.9, the driver {re.escape(_core.__version__)}"
    send = _rounds.Rounds.__call__

    def change_one(self, round, add):
        if self.rounds == 3:
            client.run(pretend_version, "0.0.9", workers=self.partitions.homes[:1])
        return send(self, round, add)

    try:
        client.run(pretend_version, "0.0.9")
        with pytest.raises(RuntimeError, match=refused) as caught:
            clf.fit(rows, labels)
        assert re.search(refused, str(caught.value))[1] in client.nthreads()
        # One that changes in the middle of a fit, as if it had just joined.
        client.run(pretend_version, _core.__version__)
        monkeypatch.setattr(_rounds.Rounds, "__call__", change_one)
        with pytest.raises(RuntimeError, match=refused):
            clf.fit(rows, labels)
    finally:
        client.run(pretend_version, _core.__version__)
    monkeypatch.undo()
    assert clf.fit(rows, labels).gap_ <= 1e-6


def pretend_version(version):
    _core.__version__ = version


def test_damaged_messages_are_refused(client):
    X, y = problem(100, 3)
    part = _data.of_arrays(X, y, None, "rows")
    shard = Task(cols=3, pair=(0, 1)).shard(part, 0)
    rounds = []

    def send(round, add):
        answers = [shard.run(part.part, round)]
        rounds.append((round, answers[0]))
        return answers

    sizes = {"n_neg": int((y == 0).sum()), "n_pos": int((y == 1).sum()), "cols": 3}
    given = sizes, encoded(spec_of(UBAUCClassifier(), 0)), context(["0", "1"], 1)
    _core.fit_rounds(send, *given)
    round, answers = rounds[0]
    damaged = answers.copy()
    damaged[len(damaged) // 2] ^= 1
    for wrong in (round[:-1], round[:20] + b"?" + round[21:], b"", b"hello", bytes(answers)):
        with pytest.raises(ValueError, match="^a round of commands and queries "):
            shard.run(part.part, wrong)
    for wrong in (damaged, answers[:-1], np.frombuffer(round, np.uint8)):
        with pytest.raises(ValueError, match="^the answers of a shard "):
            _core.sum_answers([answers, wrong])
        with pytest.raises(ValueError, match="^the answers of a shard "):
            _core.fit_rounds(lambda round, add, wrong=wrong: [wrong], *given)
    assert _core.sum_answers([answers, answers]).nbytes == answers.nbytes


# What the driver and the workers need not know.


def test_class_weights_need_no_labels_on_the_driver():
    from sklearn.utils.class_weight import compute_class_weight
    from ubauc._weighted import class_weights

    counts = np.array([7, 3, 11])
    y = np.repeat(np.arange(3), counts)
    for given in ("balanced", {0: 2.0, 1: 1.0, 2: 0.5}, {1: 3.0}):
        expected = compute_class_weight(given, classes=np.arange(3), y=y)
        np.testing.assert_array_equal(class_weights(given, np.arange(3), counts), expected)
    # 10¹² labels would not fit.
    assert class_weights("balanced", np.arange(2), np.array([10**12, 10**12])).tolist() == [1, 1]


def test_the_first_step_is_tried_on_rows_with_a_say():
    from ubauc.dask import _online

    random = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 1000)
    X = random.normal(size=(3000, 5)) * 100
    X[:, 0] += 100 * (y == 1)
    X[y == 2] *= 1000
    estimator = DaskUBAUCClassifier(solver="online", beta=0.5, gamma=1e-4, scale="maxabs")
    spec = encoded(given_to("ol-ubauc", estimator, 0) | {"average": None})

    part = _data.of_arrays(X, y, None, "rows")
    found = _online.first_step(part, 0, Task(5, (0, 1)), spec, 0)
    order = np.random.default_rng([0, 0, 0]).permutation(len(y))
    order = order[y[order] < 2]
    learner = _core.Learner(spec)
    learner.find_eta0(X[order], y[order] == 1)
    assert found == learner.eta0


def test_a_shard_that_failed_half_way_is_not_used_again():
    made = []

    class Shard:
        def __init__(self):
            self.ran = []
            made.append(self)

        def run(self, part, round):
            self.ran.append(round)
            if round == "fails":
                raise MemoryError("half of the commands were run")
            return "+".join(self.ran)

    class Made:
        part = None

        def shard(self, partition, number):
            return Shard()

    def answer(index, round, log=None):
        return _rounds.answer(Made(), 0, "fit-half-way", index, Made(), round, log)

    try:
        assert answer(0, "a") == "a"
        with pytest.raises(MemoryError):
            answer(1, "fails")
        # The shard is gone, and the commands before are asked for.
        assert answer(1, "b") is None
        with pytest.raises(MemoryError):
            answer(1, "b", ["a", "fails"])
        assert answer(1, "b") is None
        assert answer(1, "b", ["a"]) == "a+b"
        assert answer(2, "c") == "a+b+c"
        assert len(made) == 3
    finally:
        _rounds.forget("fit-half-way")
