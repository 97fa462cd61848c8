"""Partitions on the workers that hold them, and functions that run where the partitions are.

A worker gets one task for all partitions that it holds, since tasks cost more than what is in them.
It goes to that worker and nowhere else: Dask would otherwise carry small partitions to idle
workers, where the state that belongs to them is missing. If the worker dies, the task would wait
for it forever, and so would a result that is lost before it was gathered; so while the client waits
it checks which workers are alive, and submits again without naming a worker. Dask loads the
partition again, wherever it likes, and that is its home from then on.

What is asked often and answered at once, the rounds of a fit, goes without tasks: the scheduler
passes a message on to each worker, which costs less than a task. Whatever goes wrong with
that, the same is asked in a task, which finds out.
"""

import asyncio
import concurrent.futures
import threading
import time
import uuid
import weakref

from distributed import KilledWorker, get_worker
from distributed.client import ClosedClientError
from distributed.comm import CommClosedError
from distributed.protocol import to_serialize
from distributed.protocol.pickle import dumps, loads

from .. import _core

# Seconds between checks of which workers are alive, and of silence after which the scheduler is
# given up.
INTERVAL = 0.5
PATIENCE = 60.0
# What messages without tasks are called on a worker.
MESSAGE = "ubauc_message"


class SchedulerGone(ConnectionError):
    """The connection to the Dask scheduler is lost, and what it knew with it."""


class Partitions:
    """Futures of partitions, and the worker that holds each."""

    def __init__(self, client, futures):
        self.client = client
        self.futures = futures
        self.homes = [None] * len(futures)

    def __len__(self):
        return len(self.futures)

    def each(self, name, function, which=None, *, is_brief=False, **arguments):
        """`function(partition, number, **arguments)` of all partitions or some, in their order. One
        that is brief, and may be called again for the same partition, goes without tasks."""
        which = list(range(len(self))) if which is None else list(which)
        try:
            found = self._asked(function, which, arguments) if is_brief else {}
            left = [k for k in which if k not in found]
            if left:
                results = self._each(name, function, left, arguments)
                found.update(zip(left, results, strict=True))
            return [found[k] for k in which]
        except (concurrent.futures.CancelledError, ClosedClientError, CommClosedError) as error:
            raise gone() from error
        except KilledWorker as error:
            raise RuntimeError(
                f"a partition killed its worker again and again ({error}); most often it needs "
                "more memory than the worker has: use smaller partitions"
            ) from error

    def _asked(self, function, which, arguments):
        """Results by their numbers, without tasks. Those of workers that are not known, dead, or
        without the partition are missing, and those of functions that raise."""
        groups = {}
        for k in which:
            if self.homes[k] is not None:
                groups.setdefault(self.homes[k], []).append(k)
        if not groups:
            return {}
        call = dumps((function, arguments, _core.__version__))
        coroutine = self._ask_all(groups, call)
        results = asyncio.run_coroutine_threadsafe(coroutine, self.client.loop.asyncio_loop)
        try:
            heard = time.monotonic()
            while not concurrent.futures.wait([results], timeout=INTERVAL).done:
                alive, heard = self._check(heard)
                if alive is not None and not set(groups) <= set(alive):
                    results.cancel()
                    return {}
            return results.result()
        except BaseException:
            results.cancel()
            raise

    async def _ask_all(self, groups, call):
        async def ask(home, numbers):
            keys = [self.futures[k].key for k in numbers]
            message = {"op": MESSAGE, "keys": keys, "numbers": numbers, "call": call}
            try:
                answer = await self.client.scheduler.proxy(worker=home, msg=message)
                return zip(numbers, answer["results"], strict=True)
            except Exception:  # a task will find out
                return ()

        found = await asyncio.gather(*(ask(*group) for group in groups.items()))
        return {k: result for pairs in found for k, result in pairs}

    def _each(self, name, function, which, arguments):
        # Where each was sent: other threads may find new homes meanwhile.
        sent = {k: self.homes[k] for k in which}
        tasks = self._submit(name, function, sent, arguments)
        try:
            return self._results(name, function, which, arguments, sent, tasks)
        except BaseException:
            # One has failed, or the user has interrupted: the others need not go on.
            self._cancel(tasks)
            raise

    def _results(self, name, function, which, arguments, sent, tasks):
        results = self._gather(tasks)
        heard = time.monotonic()
        while not concurrent.futures.wait([results], timeout=INTERVAL).done:
            alive, heard = self._check(heard)
            # Not done yet, or done and lost before it was gathered: Dask may try for half a minute
            # to reach the worker that had it.
            lost = {k: None for k in which if alive and sent[k] and sent[k] not in alive}
            if lost:
                for k in lost:
                    if self.homes[k] == sent[k]:
                        self.homes[k] = None
                sent.update(lost)
                before = {k: tasks[k] for k in lost}
                tasks.update(self._submit(name, function, lost, arguments))
                # The old gathering ends when the lost tasks are cancelled.
                results = self._gather(tasks)
                self._cancel(before)
        found = results.result()
        found = [found[tasks[k][0].key][tasks[k][1]] for k in which]
        if None in self.homes:
            self._settle()
        return found

    def derive(self, number, function, name, *arguments):
        """Replace a partition by a function of it, on the workers."""
        before = self.futures[number]
        self.futures[number] = self.client.submit(
            function, before, *arguments, key=f"{before.key}-{name}", pure=False
        )
        self.homes[number] = None

    def release(self):
        """Let the workers have their memory back."""
        for future in self.futures:
            future.release()

    def waves(self, most):
        """All numbers in order, at most `most` at a time, but at least one for every thread."""
        size = most
        if size < len(self):
            size = max(1, most, sum(self.client.nthreads().values()))
        return [range(k, min(k + size, len(self))) for k in range(0, len(self), size)]

    def keep(self, name, function, **arguments):
        """The same, but the results stay where they are: futures."""
        token = uuid.uuid4().hex
        numbers = list(range(len(self)))
        keys = [f"ubauc-{name}-{token}-{k}" for k in numbers]
        return self.client.map(function, self.futures, numbers, key=keys, pure=False, **arguments)

    def _submit(self, name, function, homes, arguments):
        """For each number a future and the place of its result therein: one task a worker."""
        token = uuid.uuid4().hex
        groups = {}
        for k, home in homes.items():
            # Where no worker is named, one task must not gather partitions that lie apart.
            groups.setdefault(k if home is None else home, []).append(k)
        tasks = {}
        for group, numbers in groups.items():
            future = self.client.submit(
                together,
                [self.futures[k] for k in numbers],
                numbers,
                function,
                arguments,
                _core.__version__,
                key=f"ubauc-{name}-{token}-{numbers[0]}",
                workers=[group] if isinstance(group, str) else None,
                pure=False,
            )
            tasks.update((k, (future, at)) for at, k in enumerate(numbers))
        return tasks

    def _gather(self, tasks):
        """The results of all futures, by their keys."""
        futures = {future.key: future for future, _ in tasks.values()}
        return self._soon(self.client.gather, futures)

    def _settle(self):
        """Find out where the partitions are."""
        held = self.client.who_has(self.futures)
        for k, future in enumerate(self.futures):
            holders = held.get(future.key) or ()
            self.homes[k] = min(holders) if holders else None

    def _soon(self, method, *args, **kwargs):
        """What a method of the client gives, when it does: on the client's own thread."""
        coroutine = method(*args, asynchronous=True, **kwargs)
        return asyncio.run_coroutine_threadsafe(coroutine, self.client.loop.asyncio_loop)

    def _cancel(self, tasks):
        if self.client.status == "running":
            futures = {future.key: future for future, _ in tasks.values()}
            self._soon(self.client.cancel, list(futures.values()), force=True)

    def _check(self, heard):
        """The workers that are alive, and when the scheduler was last heard."""
        alive = self._alive()
        if alive is not None:
            return alive, time.monotonic()
        if time.monotonic() - heard > PATIENCE:
            raise gone()
        return None, heard

    def _alive(self):
        """The workers that are alive; None if the scheduler does not answer."""
        if self.client.status != "running":
            # It forgets all futures before it tries to connect again.
            raise gone()
        try:
            return self.client.sync(self.client.scheduler.ncores, callback_timeout=INTERVAL)
        except (TimeoutError, OSError):
            return None


def together(partitions, numbers, function, arguments, driver):
    """`function` of some partitions of one worker, on as many threads as it has.

    The worker must have the `driver`'s version of ubauc: another one may compute other bits.
    """
    worker = get_worker()
    answer_messages(worker)
    return run_together(worker, partitions, numbers, function, arguments, driver)


def answer_messages(worker):
    """Let a worker answer messages without tasks, on one of the threads that run tasks."""

    async def answer(keys, numbers, call):
        if not all(key in worker.data for key in keys):
            return {}
        partitions = [worker.data[key] for key in keys]
        given = (worker, partitions, numbers, *loads(call))
        loop, threads = asyncio.get_running_loop(), worker.executors["default"]
        try:
            results = await loop.run_in_executor(threads, run_together, *given)
        except Exception:  # raised again in a task
            return {}
        return {"results": to_serialize(results)}

    worker.handlers.setdefault(MESSAGE, answer)


def run_together(worker, partitions, numbers, function, arguments, driver):
    """As `together`."""
    if _core.__version__ != driver:
        raise RuntimeError(
            f"worker {worker.address} has ubauc {_core.__version__}, the driver {driver}; install "
            "one version everywhere"
        )
    if worker.state.nthreads == 1:
        pairs = zip(partitions, numbers, strict=True)
        return [function(partition, number, **arguments) for partition, number in pairs]
    # Tasks of several fits may be here at once: together they have the worker's threads, no more.
    pool = threads_of(worker)
    return list(pool.map(lambda p, k: function(p, k, **arguments), partitions, numbers))


def threads_of(worker):
    """The threads of a worker that compute, whatever the number of tasks."""
    with _lock:
        if worker not in _threads:
            _threads[worker] = concurrent.futures.ThreadPoolExecutor(worker.state.nthreads)
        return _threads[worker]


_lock = threading.Lock()
# Gone with their worker.
_threads = weakref.WeakKeyDictionary()


def gone():
    return SchedulerGone(
        "the Dask scheduler is gone or was restarted, and what it knew with it; connect to a "
        "cluster and fit again"
    )
