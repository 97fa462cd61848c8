"""The solver on Dask workers: the bits of the same shards in this process, and what is refused."""

import gc
import gzip
import json
import pickle
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
from ubauc._problem import solver_params
from ubauc.metrics import roc_auc

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")

from dask_processes import cluster  # noqa: E402
from ubauc.dask import DaskUBAUCClassifier, _calibrate, _data, _rounds, _workers  # noqa: E402
from ubauc.dask._task import Task  # noqa: E402

GIVEN = {"beta": 0.5, "gamma": 1e-3, "tol": 1e-9}


@pytest.fixture(scope="module")
def killable():
    with cluster(2) as both:
        yield both


@pytest.fixture(scope="module")
def client(killable):
    """Of two worker processes."""
    return killable[1]


def problem(n=900, d=7, classes=2, seed=1):
    random = np.random.default_rng(seed)
    y = random.choice(classes, size=n, p=[0.75] + [0.25 / (classes - 1)] * (classes - 1))
    X = random.normal(size=(n, d)) + y[:, None] * np.linspace(0, 1, d)
    return X, y


def in_chunks(X, y, sizes, weights=None):
    """Dask arrays with chunks of these sizes; sparse rows stay sparse."""
    ends = np.cumsum(sizes)
    assert ends[-1] == len(y)
    if isinstance(X, np.ndarray):
        rows = da.from_array(X, chunks=(sizes, X.shape[1]))
    else:
        blocks = [dask.delayed(X[end - size : end]) for end, size in zip(ends, sizes, strict=True)]
        shapes = [(size, X.shape[1]) for size in sizes]
        rows = da.concatenate(
            [
                da.from_delayed(block, shape, dtype=float, meta=csr_matrix((0, 0)))
                for block, shape in zip(blocks, shapes, strict=True)
            ]
        )
    vectors = [None if v is None else da.from_array(v, chunks=(sizes,)) for v in (y, weights)]
    return rows, *vectors


def same_shards(X, y, sizes, weights=None, class_weight=None, **params):
    """The solver on the same shards, in this process."""
    estimator = UBAUCClassifier(**params)
    ends = np.cumsum(sizes)
    classes, counts = np.unique(y, return_counts=True)
    if class_weight == "balanced":
        class_weight = tuple(len(y) / (2 * counts))
    task = Task(cols=X.shape[1], pair=tuple(classes), class_weight=class_weight)
    parts = []
    for k, (end, size) in enumerate(zip(ends, sizes, strict=True)):
        of_part = slice(end - size, end)
        weight = None if weights is None else weights[of_part]
        parts.append(_data.of_arrays(X[of_part], y[of_part], weight, str(k)))
    shards = [task.shard(part, k) for k, part in enumerate(parts)]

    def ask(questions, add):
        return [s.answer(p.part, questions) for s, p in zip(shards, parts, strict=True)]

    told = solver_params(estimator, ["0", "1"], seed=0, n_jobs=1)
    told["least_squares"] = told["least_squares"] or "plain"
    rounds = _core.Rounds(ask, X.shape[1], told)
    return rounds.fit(told["beta"], told["gamma"], told["tolerance"], None)


def assert_bits(fitted, found):
    assert fitted.coef_[0].tobytes() == found["weights"].tobytes()
    low, high = found["lambda"]
    assert fitted.threshold_[0] == low + (high - low) / 2 - found["intercept"]
    assert fitted.offset_[0] == found["intercept"]
    assert fitted.objective_ == found["objective"]
    assert fitted.dual_objective_ == found["dual"]
    assert fitted.gap_ == found["gap"]


def assert_close(fitted, local):
    """As the local estimator has it, on all rows at once."""
    assert fitted.classes_.tolist() == local.classes_.tolist()
    scale = np.abs(local.coef_).max()
    np.testing.assert_allclose(fitted.coef_, local.coef_, rtol=0, atol=1e-10 * max(1, scale))
    np.testing.assert_allclose(fitted.threshold_, local.threshold_, rtol=0, atol=1e-9 * scale)
    np.testing.assert_allclose(fitted.objective_, local.objective_, rtol=1e-6)
    assert (np.asarray(fitted.gap_) <= local.tol).all()


def check(client, X, y, sizes, weights=None, **params):
    params = {**GIVEN, **params}
    rows, labels, of_weights = in_chunks(X, y, sizes, weights)
    fitted = DaskUBAUCClassifier(client, **params).fit(rows, labels, of_weights)
    assert_bits(fitted, same_shards(X, y, sizes, weights, **params))
    assert_close(fitted, UBAUCClassifier(**params).fit(X, y, weights))
    return fitted


SIZES = {
    "one": (900,),
    "even": (300, 300, 300),
    "uneven": (1, 700, 150, 49),
    "empty": (0, 500, 0, 400, 0),
}


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
    y = (random.random(1500) < 0.3).astype(int)
    X = random.normal(size=(1500, 400)) + 0.1 * y[:, None] * np.linspace(0, 1, 400)
    params = {"beta": 0.1, "gamma": 0.1, "tol": 1e-6}
    sizes = (500, 500, 500)
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

    def follows(x):
        """Whether the partition lies where the array does."""
        part = _data.of_arrays(x, y[: len(x)], None, "part").part
        before = part.scores(w, 0.0)
        np.testing.assert_allclose(before, np.asarray(x) @ w)
        x[0, 0] += 1.0
        return part.scores(w, 0.0)[0] != before[0]

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
    np.testing.assert_array_equal(part.scores(w, 0.0), _core.scores(X, w, 0.0, 1))
    again = pickle.loads(pickle.dumps(part))
    assert len(blocks) == 20 and (again.scores(w, 0.0) == part.scores(w, 0.0)).all()
    frozen = X.copy()
    frozen.flags.writeable = False
    read_only = _data.of_arrays(frozen, y, None, "part").part
    np.testing.assert_array_equal(read_only.scores(w, 0.0), part.scores(w, 0.0))


# Frames and files.


def frame(X, y, **more):
    columns = {f"f{j}": column for j, column in enumerate(X.T)}
    return pd.DataFrame({**columns, "label": y, **more})


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
    with pytest.raises(ValueError, match="partition 0: .*could not convert string"):
        fit(dd.from_pandas(frame(X, y, name="Eve"), npartitions=1), "label")
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


# Probabilities.


def by_hand(X, y, sizes, weights, folds, seed, aucs=False, **params):
    """The scores of each row by the local estimator of the other folds, as the cluster deals them,
    and the weights; or the AUC of each fold."""
    task = Task(cols=X.shape[1], pair=(0, 1), seed=seed)
    ends = np.cumsum(sizes)
    pieces = [slice(end - size, end) for end, size in zip(ends, sizes, strict=True)]
    given = np.ones(len(y)) if weights is None else weights
    parts = [_data.of_arrays(X[of], y[of], given[of], "part") for of in pieces]
    counted = [[int(((p.y == c) & (p.weight > 0)).sum()) for c in (0, 1)] for p in parts]
    scores, seen, found = np.full(len(y), np.nan), np.zeros(len(y), int), []
    for without in task.without_each(folds, np.array(counted)):
        left_out = np.concatenate([without.labels(p, k)[2] for k, p in enumerate(parts)])
        shares = [int((left_out & (y == c)).sum()) for c in (0, 1)]
        np.testing.assert_allclose(shares, np.sum(counted, axis=0) / folds, atol=1)
        seen += left_out
        fold = UBAUCClassifier(**params).fit(X, y, np.where(left_out, 0.0, given))
        scores[left_out] = fold.decision_function(X)[left_out]
        found.append(roc_auc(y[left_out], scores[left_out]))
    # Every example that counts is left out once.
    assert (seen == (given > 0)).all()
    return found if aucs else (scores, given)


@pytest.mark.parametrize(("method", "weighted"), [("sigmoid", True), ("isotonic", False)])
def test_probabilities(client, method, weighted):
    X, y = problem()
    weights = None
    if weighted:
        weights = np.random.default_rng(3).integers(0, 4, len(y)) * 0.5
    rows, labels, of_weights = in_chunks(X, y, SIZES["uneven"], weights)
    params = {**GIVEN, "random_state": 4}
    fitted = DaskUBAUCClassifier(client, calibrate=method, **params).fit(rows, labels, of_weights)
    assert_bits(fitted, same_shards(X, y, SIZES["uneven"], weights, **GIVEN))
    seed = UBAUCClassifier(**params)._seed() % 2**32
    scores, given = by_hand(X, y, SIZES["uneven"], weights, 5, seed, **params)
    used = given > 0
    expected = _core.calibrate(scores[used], y[used] == 1, given[used], method)
    p = fitted.predict_proba(rows)
    assert isinstance(p, da.Array) and p.shape == (900, 2)
    p, local = p.compute(scheduler="sync"), fitted.to_local()
    np.testing.assert_array_equal(p, local.predict_proba(X))
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    by_oracle = _core.probabilities(local.decision_function(X), *expected)
    np.testing.assert_allclose(p[:, 1], by_oracle, rtol=0, atol=1e-7)
    # Close to what one process says, which deals its folds otherwise, and in the same order.
    other = UBAUCClassifier(calibrate=method, **params).fit(X, y, weights)
    far = 0.05 if method == "sigmoid" else 0.25
    np.testing.assert_allclose(p, other.predict_proba(X), rtol=0, atol=far)
    assert roc_auc(y, p[:, 1]) == roc_auc(y, local.decision_function(X))
    assert not hasattr(DaskUBAUCClassifier(client), "predict_proba")


def test_probabilities_of_a_part_of_the_rows(client, monkeypatch):
    assert _calibrate.shares((7, 10**6)) == (1.0, 1.0)
    kept, totals = _calibrate.shares((10**9, 10**5)), np.array([10**9, 10**5])
    assert kept[1] == 1.0 and kept @ totals == pytest.approx(_calibrate.MOST)
    assert _calibrate.shares((10**9, 10**8)) @ np.array([10**9, 10**8]) == pytest.approx(1e7)
    X, y = problem(n=6000)
    rows, labels, _ = in_chunks(X, y, (4000, 2000))
    params = {**GIVEN, "tol": 1e-4, "random_state": 4, "calibrate": "sigmoid"}
    whole = DaskUBAUCClassifier(client, **params).fit(rows, labels).predict_proba(X)
    monkeypatch.setattr(_calibrate, "MOST", 2500)
    some = DaskUBAUCClassifier(client, **params).fit(rows, labels).predict_proba(X)
    difference = np.abs(some - whole).max()
    # Of a part, but of one that stands for all.
    assert 0 < difference < 0.05
    assert some[:, 1].mean() == pytest.approx(y.mean(), abs=0.02)


def test_probabilities_of_other_problems(client):
    X, y = problem(classes=3)
    rows, labels, _ = in_chunks(X, y, (500, 400))
    rough = {**GIVEN, "tol": 1e-3}
    p = DaskUBAUCClassifier(client, calibrate="sigmoid", **rough).fit(rows, labels)
    p = p.predict_proba(rows).compute(scheduler="sync")
    assert p.shape == (900, 3) and p.min() > 0
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert roc_auc(y == 2, p[:, 2]) > 0.8
    X, y = problem()
    # One partition has the positives: a fold leaves some of them out, never all.
    order = np.argsort(y, kind="stable")
    X, y = X[order], y[order]
    n = int((y == 0).sum())
    rows, labels, _ = in_chunks(X, y, (n - 1, 901 - n))
    online = DaskUBAUCClassifier(
        client, solver="online", calibrate="isotonic", max_iter=3, **rough, random_state=0
    ).fit(rows, labels)
    p = online.predict_proba(X)[:, 1]
    assert roc_auc(y, p) == online.score(X, y) > 0.8
    assert p.mean() == pytest.approx(y.mean(), abs=0.05)
    one = np.zeros(900, int)
    one[7] = 1
    with pytest.raises(ValueError, match="calibrate needs at least 2 examples of each class"):
        DaskUBAUCClassifier(client, calibrate="sigmoid", **GIVEN).fit(rows, da.from_array(one))


def test_a_fold_that_fails_ends_the_others():
    spent, ended = _rounds.Spent(), []

    def work(task):
        if task == "fails":
            raise ZeroDivisionError
        for _ in range(1000):
            time.sleep(0.01)
            try:
                spent.check()
            except RuntimeError:
                ended.append(task)
                raise
        raise AssertionError("nobody said stop")

    with pytest.raises(ZeroDivisionError):
        spent.each(work, ["a", "b", "fails"], rows=100)
    assert sorted(ended) == ["a", "b"]
    # With so many rows there is one fit at a time.
    spent, most = _rounds.Spent(), []
    spent.each(lambda task: most.append(spent.at_once), range(3), rows=6_000_000)
    assert most == [1, 1, 1]


def test_ctrl_c_ends_an_online_fit_and_its_folds(client, monkeypatch):
    rows, labels, _ = in_chunks(*problem(), (500, 400))
    turns, each = [], _workers.Partitions.each

    def counted(self, name, *args, **told):
        if name == "epoch":
            turns.append(told["turn"])
            if len(turns) == 4:
                raise KeyboardInterrupt
        return each(self, name, *args, **told)

    monkeypatch.setattr(_workers.Partitions, "each", counted)
    endless = {**GIVEN, "solver": "online", "max_iter": 3, "calibrate": "sigmoid"}
    with pytest.raises(KeyboardInterrupt):
        DaskUBAUCClassifier(client, **endless).fit(rows, labels)
    # The fit, one epoch of one fold, and what was under way in the others.
    assert len(turns) <= 3 + 2 * 5


def test_scores_with_weights(client):
    X, y = problem()
    weights = np.random.default_rng(5).random(len(y))
    rows, labels, of_weights = in_chunks(X, y, (500, 400), weights)
    fitted = DaskUBAUCClassifier(client, **GIVEN).fit(rows, labels)
    local = fitted.to_local()
    assert fitted.score(rows, labels, of_weights) == local.score(X, y, weights)
    table = dd.from_pandas(frame(X, y, w=weights), npartitions=3)
    features = table.drop(columns=["label", "w"])
    assert fitted.score(features.to_dask_array(), table["label"], table["w"]) == local.score(
        X, y, weights
    )
    with pytest.raises(ValueError, match=r"unknown classes \[2\]"):
        fitted.score(rows, labels + (da.arange(900, chunks=labels.chunks) == 7) * (2 - y[7]))
    X, y = problem(classes=3)
    rows, labels, of_weights = in_chunks(X, y, (500, 400), weights)
    fitted = DaskUBAUCClassifier(client, **{**GIVEN, "tol": 1e-3}).fit(rows, labels)
    assert fitted.score(rows, labels, of_weights) == fitted.to_local().score(X, y, weights)


# Chosen, and learned online.


def test_gamma_is_chosen_by_auc_of_all_partitions(client):
    X, y = problem(n=600)
    sizes = (50, 350, 200)
    rows, labels, _ = in_chunks(X, y, sizes)
    params = {"beta": 0.5, "least_squares": "plain", "scale": "none", "random_state": 4}
    fitted = DaskUBAUCClassifier(client, gamma="auto", **params).fit(rows, labels)
    points = fitted._solutions[0].tuned["points"]
    gammas = [point["gamma"] for point in points]
    assert sorted(gammas) == sorted(json.loads(_core.tune_grid())["gammas"])
    seed = UBAUCClassifier(**params)._seed() % 2**32
    for point in points:
        local = {**params, "gamma": point["gamma"], "tol": 1e-3}
        expected = by_hand(X, y, sizes, None, 5, seed, aucs=True, **local)
        np.testing.assert_allclose(point["fold_aucs"], expected, atol=0.01)
    # The best is taken, or one that is as good and simpler.
    best = max(point["auc"] for point in points)
    (chosen,) = (point for point in points if point["gamma"] == fitted._solutions[0].gamma)
    assert best - chosen["auc"] < 0.01
    given = {**params, "gamma": chosen["gamma"], "tol": 1e-6}
    assert_close(fitted.set_params(tol=1e-6), UBAUCClassifier(**given).fit(X, y))


def test_online(client):
    X, y = problem(n=3000)
    rows, labels, _ = in_chunks(X, y, (1000, 1500, 500))
    params = {"beta": 0.5, "gamma": 1e-3, "random_state": 0}
    online = DaskUBAUCClassifier(client, solver="online", max_iter=8, **params)
    online.fit(rows, labels)
    least = UBAUCClassifier(solver="batch", scale="maxabs", tol=1e-9, **params).fit(X, y)
    excess = online.objective_ / least.objective_ - 1.0
    # What is proved holds, and it is not far off.
    assert 0 <= excess <= online.gap_ < 0.1
    assert online.n_iter_ == 8 and online._solutions[0].eta0 > 0
    assert online.score(X, y) == pytest.approx(least.score(X, y), abs=0.01)
    again = DaskUBAUCClassifier(client, solver="online", max_iter=8, **params).fit(rows, labels)
    assert again.coef_.tobytes() == online.coef_.tobytes()
    # The batch solver from there: the same minimum.
    started = DaskUBAUCClassifier(client, start="online", scale="maxabs", tol=1e-6, **params)
    assert started.fit(rows, labels).objective_ == pytest.approx(least.objective_, rel=1.1e-6)


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


def failing(self, questions, add):
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
    told = capsys.readouterr()
    lines = told.err.splitlines()
    assert not told.out
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


# What the driver and the workers need not know.


def test_class_weights_need_no_labels_on_the_driver():
    from sklearn.utils.class_weight import compute_class_weight
    from ubauc.dask._fit import class_weights

    counts = np.array([7, 3, 11])
    y = np.repeat(np.arange(3), counts)
    for given in ("balanced", {0: 2.0, 1: 1.0, 2: 0.5}, {1: 3.0}):
        expected = compute_class_weight(given, classes=np.arange(3), y=y)
        np.testing.assert_array_equal(class_weights(given, np.arange(3), counts), expected)
    # 10¹² labels would not fit.
    assert class_weights("balanced", np.arange(2), np.array([10**12, 10**12])).tolist() == [1, 1]


def test_the_first_step_is_tried_on_rows_with_a_say():
    from ubauc._problem import online_steps
    from ubauc.dask import _online

    random = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 1000)
    X = random.normal(size=(3000, 5)) * 100
    X[:, 0] += 100 * (y == 1)
    X[y == 2] *= 1000
    estimator = DaskUBAUCClassifier(solver="online", beta=0.5, gamma=1e-4, scale="maxabs")
    params = solver_params(estimator, ["0", "1"], seed=0, n_jobs=1)
    params = {**params, "least_squares": "plain", "progress": None}
    steps = {**online_steps(estimator), "average": None}

    def first_step(chosen):
        part = _data.of_arrays(X[chosen], y[chosen], None, "rows")
        return _online.first_step(part, 0, Task(5, (0, 1)), params, steps, 0)

    assert first_step(y >= 0) == first_step(y < 2)
