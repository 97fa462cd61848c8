"""What a cluster learns by folds, probabilities and parameters; online learning; and scores."""

import json
import os
import signal
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest
from ubauc import UBAUCClassifier, _core
from ubauc._problem import context, search_of, spec_of
from ubauc.exceptions import BaselineWarning
from ubauc.metrics import average_precision, roc_auc

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
pytest.importorskip("distributed")

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
from ubauc.dask import (  # noqa: E402
    DaskUBAUCClassifier,
    _calibrate,
    _data,
    _rounds,
    _tune,
    _workers,
)
from ubauc.dask._fit import Cluster  # noqa: E402
from ubauc.dask._task import Task  # noqa: E402


@pytest.fixture(scope="module")
def client():
    """Of two worker processes."""
    with cluster(2) as (_, client):
        yield client


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

    def counted(self, name, *args, **options):
        if name == "epoch":
            turns.append(options["turn"])
            if len(turns) == 4:
                raise KeyboardInterrupt
        return each(self, name, *args, **options)

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


def test_gamma_is_chosen_by_auc_of_all_partitions(client, monkeypatch):
    monkeypatch.setattr(_tune, "HELD_OUT", 0)
    # So many are dealt into folds twice.
    X, y = problem(n=1600, d=3)
    sizes = (50, 950, 600)
    rows, labels, _ = in_chunks(X, y, sizes)
    params = {"beta": 0.5, "least_squares": "plain", "scale": "none", "random_state": 4}
    fitted = DaskUBAUCClassifier(client, gamma="auto", **params).fit(rows, labels)
    points = fitted._solutions[0].tuned["points"]
    # Logistic regression always runs beside.
    assert {(point["beta"], point["softness"]) for point in points} == {(0.5, 0.0), (0.0, 1.0)}
    points = [point for point in points if point["beta"] == 0.5]
    # The grid, and beyond it where its end is the best.
    assert {1e-1, 1e-2, 1e-3, 1e-4, 1e-5} <= {point["gamma"] for point in points}
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


def tied_in_every_model(parts, cols):
    """Of all rows of these parts."""

    def kinds(**options):
        counted = [np.ones(part.shape[0], dtype=bool) for part in parts]
        return _core.merged_equal_rows(
            [
                _core.equal_rows_of_part(p, c, cols, **options)
                for p, c in zip(parts, counted, strict=True)
            ]
        )

    found = kinds()
    if found[2]:
        found = kinds(hashes=found[0])
    return _core.unavoidable(found, cols)


def by_shards(X, y, pieces, left_out, search):
    """The search over shards in this process; `left_out[k]` are the rows of fold k."""
    parts = [_core.Part(np.ascontiguousarray(X[of])) for of in pieces]
    positive = y == 1

    class Without:
        def __init__(self, fold):
            kept = np.where(left_out[fold], 0.0, 1.0)
            given = [
                (p, X.shape[1], positive[of], kept[of]) for p, of in zip(parts, pieces, strict=True)
            ]
            self.shards = [_core.Shard(*shard) for shard in given]

        def __call__(self, round, add):
            return [s.run(p, round) for s, p in zip(self.shards, parts, strict=True)]

        def close(self):
            closed.append(self)

    def judge(fold, weights):
        scores, of = X @ weights, left_out[fold]
        return roc_auc(y[of], scores[of]), bool(np.ptp(scores[of]) == 0)

    closed = []
    rows = {
        "n_neg": int((~positive).sum()),
        "n_pos": int(positive.sum()),
        "cols": X.shape[1],
        "folds": len(left_out),
        "unavoidable": tied_in_every_model(parts, X.shape[1]),
        "without": Without,
        "judge": judge,
        "maps": None,
    }
    found = json.loads(_core.tune_rounds(rows, search, context(["0", "1"], 3)))
    assert closed
    return found


CHOICES = {
    "default": {},
    "auto": {"class_weight": "auto", "scale": "none", "gamma": 1e-2},
    "hinge": {"softness": 0, "least_squares": "plain", "gamma": 1e-2},
}


@pytest.mark.parametrize("choice", CHOICES)
def test_shards_choose_what_one_machine_chooses(choice):
    X, y = problem(n=600)
    estimator = UBAUCClassifier(**CHOICES[choice])
    spec = spec_of(estimator, 7)
    search = json.loads(search_of(estimator, spec, 7))
    # Nothing is held out, so that both have the same rows in the same folds.
    search = json.dumps(search | {"held_out": 0.0})
    given = (X, y == 1, None, None)
    local = json.loads(_core.tune(*given, search, context(["0", "1"], 2)))
    deals, k, judged = _core.deals(search, int((y == 0).sum()), int((y == 1).sum()))
    assert (deals, k) == (1 if choice == "hinge" else 5, 5) and judged == deals * k
    folds = [_core.folds(y == 1, None, k, 7 + (deal << 32)) for deal in range(deals)]
    pieces = [slice(0, 50), slice(50, 400), slice(400, 600)]
    left_out = [of == fold for of in folds for fold in range(k)]
    remote = by_shards(X, y, pieces, left_out, search)
    assert remote["best"] == local["best"]
    remote, local = remote["tuned"], local["tuned"]
    for key in ("chosen", "logistic", "verdict", "cut_short"):
        assert remote[key] == local[key]
    assert len(remote["points"]) == len(local["points"])
    for theirs, ours in zip(remote["points"], local["points"], strict=True):
        for key in ("fold_aucs", "auc", "standard_error"):
            assert theirs.pop(key) == pytest.approx(ours.pop(key), abs=1e-9)
        assert theirs == ours
    assert any(point["collapsed"] for point in local["points"]) == (choice == "hinge")


@pytest.mark.parametrize("choice", ["default", "auto"])
def test_the_cluster_chooses_what_the_same_shards_choose(client, choice, monkeypatch):
    monkeypatch.setattr(_tune, "HELD_OUT", 0)
    if choice == "default":
        # As if rows were many: the scores of a fold stay where they are.
        monkeypatch.setattr(_tune, "FEW", 0)
    # So many are dealt into folds twice.
    X, y = problem(n=1600, d=3)
    sizes = (50, 950, 600)
    rows, labels, _ = in_chunks(X, y, sizes)
    fitted = DaskUBAUCClassifier(client, random_state=4, **CHOICES[choice]).fit(rows, labels)
    ends = np.cumsum(sizes)
    pieces = [slice(end - size, end) for end, size in zip(ends, sizes, strict=True)]
    parts = [_data.of_arrays(X[of], y[of], None, "part") for of in pieces]
    counted = np.array([[int((p.y == c).sum()) for c in (0, 1)] for p in parts])
    spec = spec_of(fitted, 4) | {"scale": fitted._solutions[0].scale}
    assert spec["scale"] == ("none" if choice == "auto" else "standard")
    search = search_of(fitted, spec, 4)
    deals, k, judged = _core.deals(search, int((y == 0).sum()), int((y == 1).sum()))
    assert judged == deals * k
    folds = Task(cols=X.shape[1], pair=(0, 1), seed=4).without_each(k, counted, deals)
    left_out = [
        np.concatenate([fold.labels(p, k)[2] for k, p in enumerate(parts)]) for fold in folds
    ]
    found = by_shards(X, y, pieces, left_out, search)
    assert fitted.tuning_ == found["tuned"]
    used = (fitted.beta_, fitted.gamma_, fitted.softness_, fitted.class_weight_ or "none")
    assert used == tuple(found["best"][k] for k in ("beta", "gamma", "softness", "class_weight"))


def test_the_choice_is_compared_with_logistic_regression(client):
    # So many are dealt into folds once.
    X, y = problem(n=4000, d=3)
    sizes = (400, 2200, 1400)
    rows, labels, _ = in_chunks(X, y, sizes)
    given = {"beta": 0.5, "softness": 0.05, "scale": "none", "criterion": "average-precision"}
    fitted = DaskUBAUCClassifier(client, random_state=4, **given).fit(rows, labels)
    tuned = fitted.tuning_
    ends = np.cumsum(sizes)
    parts = [
        _data.of_arrays(X[end - size : end], y[end - size : end], None, "part")
        for end, size in zip(ends, sizes, strict=True)
    ]
    counted = np.array([[int((p.y == c).sum()) for c in (0, 1)] for p in parts])
    task = Task(cols=X.shape[1], pair=(0, 1), seed=4)
    outer, inner, left = task.hold_out(0.2, counted)
    held_out = np.concatenate([outer.labels(p, k)[2] for k, p in enumerate(parts)])
    # A fifth of each class, and none of it in any fold of the search.
    assert [held_out[y == c].sum() for c in (0, 1)] == [
        -(-int((y == c).sum()) // 5) for c in (0, 1)
    ]
    assert left.sum(axis=0).tolist() == [(~held_out)[y == c].sum() for c in (0, 1)]
    folds = np.array(
        [
            np.concatenate([fold.labels(p, k)[2] for k, p in enumerate(parts)])
            for fold in inner.without_each(5, left)
        ]
    )
    assert (folds.sum(axis=0) + held_out == 1).all()
    # The verdict is that of models of the other rows.
    verdict = tuned["verdict"]
    assert verdict["is_logistic"] is False
    for name, point in (("ours", "chosen"), ("logistic", "logistic")):
        params = {k: tuned["points"][tuned[point]][k] for k in ("beta", "gamma", "softness")}
        local = UBAUCClassifier(scale="none", **params).fit(X[~held_out], y[~held_out])
        auc = roc_auc(y[held_out], local.decision_function(X[held_out]))
        assert verdict[name]["auc"] == pytest.approx(auc, abs=1e-3)
        assert verdict[name]["n_pos"] == held_out[y == 1].sum()
    # And the criterion that of a fold left out.
    best = tuned["points"][tuned["chosen"]]
    model = UBAUCClassifier(scale="none", **{k: best[k] for k in ("beta", "gamma", "softness")})
    of = ~held_out & ~folds[0]
    scores = model.fit(X[of], y[of]).decision_function(X[folds[0]])
    assert best["fold_aucs"][0] == pytest.approx(average_precision(y[folds[0]], scores), abs=0.01)


def test_a_choice_that_is_worse_than_logistic_regression_is_warned_about(client, monkeypatch):
    rows, labels, _ = in_chunks(*problem(n=4000, d=3), (2500, 1500))

    def worse(*given):
        auc = {"auc": 0.6}, {"auc": 0.9}
        verdict = {"ours": auc[0], "logistic": auc[1], "test": {"p": 1e-9}}
        return json.dumps(verdict), True

    monkeypatch.setattr(_core, "verdict", worse)
    with pytest.warns(BaselineWarning, match="logistic regression is significantly better"):
        DaskUBAUCClassifier(client, gamma=1e-2, softness=0.05, random_state=0).fit(rows, labels)


@pytest.mark.parametrize("kinds", [4, 300])
def test_equal_rows_are_no_collapse_on_a_cluster_either(client, kinds):
    # A third of the rows are equal, and so tied in every model; of the others there are few kinds
    # or many.
    rng = np.random.default_rng(3)
    X = rng.normal(size=(kinds, 3))[rng.integers(kinds, size=900)]
    X[:300] = 0.5
    y = (X[:, 0] + rng.normal(size=900) > 0.4).astype(int)
    order = rng.permutation(900)
    X, y = X[order], y[order]
    params = {"beta": 0.5, "gamma": 1e-3, "softness": 0, "random_state": 0}
    rows, labels, _ = in_chunks(X, y, (100, 500, 300))
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        local = UBAUCClassifier(**params).fit(X, y)
        fitted = DaskUBAUCClassifier(client, **params).fit(rows, labels)
    (ours,), (theirs,) = local._solutions, fitted._solutions
    assert theirs.tied == ours.tied
    assert theirs.collapsed == ours.collapsed
    with Cluster(client, _data.loads_of_collections(rows, labels, None, "kinds")) as cluster:
        found = _tune.unavoidable(cluster, Task(cols=3, pair=(0, 1)))
    sizes = np.sort(np.unique(X, axis=0, return_counts=True)[1])[::-1]
    assert found == (min(sizes[:4].sum(), 899 // 2) if len(sizes) <= 52 else sizes[0])


def test_tasks_of_several_fits_share_the_threads_of_a_worker():
    class Worker:
        state = SimpleNamespace(nthreads=2)
        address = "here"
        handlers = {}

    worker = Worker()
    busy, most, lock = 0, 0, threading.Lock()

    def work(partition, number):
        nonlocal busy, most
        with lock:
            busy += 1
            most = max(most, busy)
        time.sleep(0.01)
        with lock:
            busy -= 1
        return number

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_workers, "get_worker", lambda: worker)
        numbers = [0, 1, 2, 3]
        given = (numbers, numbers, work, {}, _core.__version__)
        with ThreadPoolExecutor(4) as tasks:
            futures = [tasks.submit(_workers.together, *given) for _ in range(4)]
            assert all(future.result() == numbers for future in futures)
    assert most == 2


def test_what_is_raised_in_the_search_ends_it(client, monkeypatch):
    rows, labels, _ = in_chunks(*problem(), (500, 400))
    lock, calls, judged = threading.Lock(), [], _tune.judged

    def fails(*args):
        with lock:
            calls.append(args)
            if len(calls) == 3:
                raise ZeroDivisionError("of the third")
        return judged(*args)

    monkeypatch.setattr(_tune, "judged", fails)
    with pytest.raises(ZeroDivisionError, match="of the third"):
        DaskUBAUCClassifier(client).fit(rows, labels)
    # That one and those under way.
    assert len(calls) <= 3 + _tune.AT_ONCE


def test_ctrl_c_ends_the_search(client, monkeypatch):
    rows, labels, _ = in_chunks(*problem(), (500, 400))
    sent, each, lock = [], _workers.Partitions.each, threading.Lock()

    def counted(self, name, *args, **options):
        if name == "round":
            with lock:
                sent.append(name)
                is_thirtieth = len(sent) == 30
            if is_thirtieth:
                os.kill(os.getpid(), signal.SIGINT)
        return each(self, name, *args, **options)

    monkeypatch.setattr(_workers.Partitions, "each", counted)
    # Where the tests were started in the background Ctrl-C is ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            DaskUBAUCClassifier(client).fit(rows, labels)
    finally:
        signal.signal(signal.SIGINT, before)
    ended = len(sent)
    # The whole search sends thousands.
    assert ended < 1000
    time.sleep(0.5)
    assert len(sent) == ended


def test_a_time_limit_ends_the_search(client):
    rows, labels, _ = in_chunks(*problem(), (500, 400))
    fitted = DaskUBAUCClassifier(client, time_limit=1e-9, random_state=0).fit(rows, labels)
    assert fitted.tuning_["cut_short"] and fitted.gap_ <= 1e-6


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
