"""Workers that are killed at any moment of a fit, and a scheduler that is gone."""

import os
import select
import signal
import sys
import threading
import time

import numpy as np
import pytest

da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")

from child import interrupt, running  # noqa: E402
from dask_processes import cluster  # noqa: E402
from ubauc import metrics  # noqa: E402
from ubauc.dask import DaskUBAUCClassifier, SchedulerGone, _rounds, _workers, roc_auc_ci  # noqa: E402

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")


@pytest.fixture(scope="module")
def killable():
    """Three workers; tests leave at least as many."""
    with cluster(3) as (processes, client):
        yield processes, client


def rows(n=60_000, d=20, parts=4):
    """From a graph: Dask can make them again."""
    random = da.random.default_rng(5)
    X = random.normal(size=(n, d), chunks=(n // parts, d))
    y = (X[:, 0] + X[:, 1] + random.normal(size=n, chunks=n // parts) > 2).astype(int)
    return X, y


def numbers(clf):
    """All that a fit has found, bit for bit."""
    found = [clf.coef_, clf.threshold_, clf.objective_, clf.dual_objective_, clf.gap_, clf.n_iter_]
    found += [np.asarray(values, float) for values in clf.trace_.values()]
    return b"".join(np.asarray(x).tobytes() for x in found)


def classifier(client, **params):
    return DaskUBAUCClassifier(client, **{"beta": 0.5, "gamma": 1e-4, "tol": 1e-6, **params})


def later(seconds, do):
    """Do it from a thread of its own after this many seconds."""
    timer = threading.Timer(seconds, do)
    timer.daemon = True
    timer.start()
    return timer


def replaced(processes):
    """One worker dies, another one is started."""
    processes.start()
    processes.kill(processes.workers[0])


def test_kills_at_any_moment_leave_the_bits_as_they_are(killable, monkeypatch):
    processes, client = killable
    X, y = rows(n=3_000, d=6)
    undisturbed = classifier(client).fit(X, y)
    each, asked, when = _workers.Partitions.each, [], {}

    def killing(self, name, *args, **options):
        asked.append(name)
        if when.get("call") == len(asked):
            kills.append(later(when["delay"], lambda: replaced(processes)))
        return each(self, name, *args, **options)

    monkeypatch.setattr(_workers.Partitions, "each", killing)
    assert numbers(classifier(client).fit(X, y)) == numbers(undisturbed)
    assert undisturbed.rounds_["replayed"] == 0
    calls = len(asked)
    assert asked[0] == "about" and calls > 50
    random = np.random.default_rng(20)
    felt = 0
    for moment in range(20):
        client.wait_for_workers(2, timeout=60)
        # One in each twentieth of what is asked, the first one while partitions are loaded.
        call = 1 + int((moment + random.random() * (moment > 0)) / 20 * calls)
        # While workers compute, or when they have answered.
        when.update(call=call, delay=random.choice([0.0, 0.005, 0.02]))
        kills = []
        asked.clear()
        fitted = classifier(client).fit(X, y)
        kills.pop().join()
        assert numbers(fitted) == numbers(undisturbed), f"moment {moment}"
        felt += fitted.rounds_["replayed"] > 0
    # Most of the kills were felt.
    assert felt >= 10


def interacting(X, y):
    """Two columns whose product tells more than they do."""
    return (X[:, 2] * X[:, 3] + X[:, 0] + y > 0.5).astype(int)


# What the workers are asked while maps are learned and pairs ranked.
STEPS = ("summary", "values", "counted", "main-sums", "pair-sums", "pair-counts")


def test_kills_while_pairs_are_ranked_leave_the_bits_as_they_are(killable, monkeypatch):
    processes, client = killable
    X, y = rows(n=2_000, d=4)
    y = interacting(X, y)
    # Few rounds are enough: the kills are in what comes before.
    given = {"features": "pairs", "beta": 0.0, "softness": 1.0, "gamma": 1e-2, "tol": 1e-3}
    given["interactions"] = 1
    undisturbed = classifier(client, **given).fit(X, y)
    each, when, seen = _workers.Partitions.each, {}, []

    def killing(self, name, *args, **options):
        seen.append(name)
        if when.get("step") == name:
            del when["step"]
            kills.append(later(when["delay"], lambda: replaced(processes)))
        return each(self, name, *args, **options)

    monkeypatch.setattr(_workers.Partitions, "each", killing)
    random = np.random.default_rng(7)
    for step in STEPS + ("pair-sums", "round", "round"):
        client.wait_for_workers(2, timeout=60)
        kills = []
        # Before the tasks are sent, while they run, or when they are done.
        when.update(step=step, delay=random.choice([0.0, 0.01, 0.05]))
        fitted = classifier(client, **given).fit(X, y)
        kills.pop().join()
        assert numbers(fitted) == numbers(undisturbed), step
        assert fitted._solutions[0].features == undisturbed._solutions[0].features
    assert set(STEPS) <= set(seen)


def test_a_result_lost_on_its_way_is_asked_for_again(killable):
    """The worker dies when its task is done and before the result is here."""
    processes, client = killable
    client.wait_for_workers(2, timeout=60)
    X, _ = rows(400, 2, parts=4)
    partitions = _workers.Partitions(client, client.compute(list(X.to_delayed().ravel())))
    expected = partitions.each("sum", total)
    gather = client.gather

    def too_late(futures, **kwargs):
        client.gather = gather
        while any(future.status == "pending" for future in futures.values()):
            time.sleep(0.01)
        pid = client.run(os.getpid, workers=[partitions.homes[0]])[partitions.homes[0]]
        processes.start()
        processes.kill(next(worker for worker in processes.workers if worker.pid == pid))
        return gather(futures, **kwargs)

    client.gather = too_late
    try:
        assert partitions.each("sum", total) == expected
    finally:
        client.gather = gather
    assert partitions.each("sum", total) == expected


def total(rows, number):
    return number, float(rows.sum())


def test_workers_that_forget_are_told_again(killable):
    _, client = killable
    client.wait_for_workers(2, timeout=60)
    X, y = rows(2000, 6, parts=3)
    undisturbed = classifier(client).fit(X, y)
    asks = _rounds.Rounds.__call__
    random = np.random.default_rng(1)

    def forgetful(self, round, add):
        if random.random() < 0.3:
            client.run(forget_all)
        return asks(self, round, add)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_rounds.Rounds, "__call__", forgetful)
        fitted = classifier(client).fit(X, y)
    assert fitted.rounds_["replayed"] > 10
    assert numbers(fitted) == numbers(undisturbed)


def test_the_auc_of_workers_that_are_killed(killable):
    processes, client = killable
    client.wait_for_workers(2, timeout=60)
    random = da.random.default_rng(3)
    scores = random.normal(size=400_000, chunks=50_000)
    y = (scores + random.normal(size=400_000, chunks=50_000) > 1).astype(int)
    expected = metrics.roc_auc_ci(y.compute(scheduler="sync"), scores.compute(scheduler="sync"))
    start = time.monotonic()
    assert roc_auc_ci(y, scores, client=client) == expected
    seconds = time.monotonic() - start
    moments = np.random.default_rng(4).random(10)
    for moment in moments:
        client.wait_for_workers(2, timeout=60)
        kill = later(moment * seconds, lambda: replaced(processes))
        assert roc_auc_ci(y, scores, client=client) == expected
        kill.join()


def raised_by(do):
    """What a call in another thread raises; None if nothing."""
    raised = []

    def run():
        try:
            do()
        except BaseException as error:  # noqa: BLE001
            raised.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread, raised


@pytest.mark.parametrize("how", ["killed", "stopped"])
def test_a_scheduler_that_is_gone(how, monkeypatch):
    with cluster(1) as (processes, client):
        thread, raised = raised_by(lambda: fit_without_end(client))
        wait_until(lambda: client.run(remembered), any_of=True)
        assert thread.is_alive(), raised
        monkeypatch.setattr(_workers, "PATIENCE", 3.0)
        start = time.monotonic()
        if how == "killed":
            processes.kill_scheduler()
        else:
            os.kill(processes.scheduler.pid, signal.SIGSTOP)
        thread.join(timeout=20)
        took = time.monotonic() - start
        if how == "stopped":
            processes.kill_scheduler()
        assert not thread.is_alive()
        (error,) = raised
        assert isinstance(error, SchedulerGone) and isinstance(error, OSError)
        assert "scheduler is gone" in str(error)
        assert took < 15
        with pytest.raises(SchedulerGone, match="scheduler is gone"):
            classifier(client).fit(*rows())


def fit_without_end(client):
    X, y = rows()
    while True:
        classifier(client).fit(X, y)


def forget_all():
    _rounds._remembered.clear()


def remembered():
    return len(_rounds._remembered)


def wait_until(ask, any_of=None, patience=60.0):
    end = time.monotonic() + patience
    while time.monotonic() < end:
        found = ask().values()
        if any(found) == any_of:
            return
        time.sleep(0.05)
    raise TimeoutError


def interrupt_until_heard(child):
    """Ctrl-C, and once more if it fell into a finaliser, where Python drops any exception."""
    for _ in range(3):
        interrupt(child)
        if select.select([child.stdout], [], [], 2.5)[0]:
            return


@pytest.mark.parametrize("worker_threads", [1, 4])
def test_ctrl_c(worker_threads):
    """Ends the fit soon; the workers forget it, and the client works on."""
    with cluster(1, worker_threads) as (processes, client):
        code = f"""
import distributed
from test_dask_killed import classifier, fit_without_end, rows
with distributed.Client({processes.address!r}) as client:
    print("ready", flush=True)
    try:
        fit_without_end(client)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
    print(classifier(client).fit(*rows(2000, 6, parts=3)).coef_.shape, flush=True)
"""
        with running(code, cwd=os.path.dirname(__file__)) as child:
            assert child.stdout.readline() == "ready\n"
            wait_until(lambda: client.run(remembered), any_of=True)
            time.sleep(0.5)
            sent = time.monotonic()
            interrupt_until_heard(child)
            assert child.stdout.readline() == "interrupted\n"
            assert time.monotonic() - sent < 8.0
            assert child.stdout.readline() == "(1, 6)\n"
            assert child.wait(timeout=20) == 0
        wait_until(lambda: client.run(remembered), any_of=False)
        tasks = client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.tasks))
        assert not tasks
