"""Partitions on the workers that hold them, and what is done with each where it is.

A worker gets one task for all partitions that it holds, since tasks cost more than what is in them.
It goes to that worker and nowhere else: Dask would otherwise carry small partitions to idle
workers, and what a worker remembers of them would be missed there. Should the worker be gone, the
task would wait for it, and so would a result that is lost before it was brought here; so while the
client waits it looks whether all are there, and asks again without naming a worker. Dask loads the
partition anew, wherever it likes, and that is its home from then on.
"""

import asyncio
import concurrent.futures
import time
import uuid

from distributed import KilledWorker, get_worker
from distributed.client import ClosedClientError
from distributed.comm import CommClosedError

# Seconds between looks at who is there, and of silence after which the scheduler is given up.
LOOK = 0.5
PATIENCE = 60.0


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

    def each(self, name, function, which=None, **told):
        """`function(partition, number, **told)` of all partitions or some; results in order."""
        which = list(range(len(self))) if which is None else list(which)
        try:
            return self._each(name, function, which, told)
        except (concurrent.futures.CancelledError, ClosedClientError, CommClosedError) as error:
            raise gone() from error
        except KilledWorker as error:
            raise RuntimeError(
                f"a partition killed its worker again and again ({error}); most often it needs "
                "more memory than the worker has: use smaller partitions"
            ) from error

    def _each(self, name, function, which, told):
        # Where each was asked: other threads may find new homes meanwhile.
        sent = {k: self.homes[k] for k in which}
        asked = self._submit(name, function, sent, told)
        try:
            return self._results(name, function, which, told, sent, asked)
        except BaseException:
            # An error of one, or of whom is tired of waiting, is no use to the others.
            self._cancel(asked)
            raise

    def _results(self, name, function, which, told, sent, asked):
        results = self._bring(asked)
        heard = time.monotonic()
        while not concurrent.futures.wait([results], timeout=LOOK).done:
            there = self._look()
            if there is not None:
                heard = time.monotonic()
            elif time.monotonic() - heard > PATIENCE:
                raise gone()
            # Not done yet, or done and lost before it was here: Dask may try for half a minute to
            # reach who had it.
            lost = {k: None for k in which if there and sent[k] and sent[k] not in there}
            if lost:
                for k in lost:
                    if self.homes[k] == sent[k]:
                        self.homes[k] = None
                sent.update(lost)
                before = {k: asked[k] for k in lost}
                asked.update(self._submit(name, function, lost, told))
                # Who gathers those that are lost ends with them.
                results = self._bring(asked)
                self._cancel(before)
        found = results.result()
        found = [found[asked[k][0].key][asked[k][1]] for k in which]
        if None in self.homes:
            self._settle()
        return found

    def release(self):
        """Let the workers have their memory back."""
        for future in self.futures:
            future.release()

    def waves(self, most):
        """All numbers in their order, so many at a time, or as many as the cluster has threads."""
        size = most
        if size < len(self):
            size = max(1, most, sum(self.client.nthreads().values()))
        return [range(k, min(k + size, len(self))) for k in range(0, len(self), size)]

    def keep(self, name, function, **told):
        """The same, but the results stay where they are: futures."""
        token = uuid.uuid4().hex
        numbers = list(range(len(self)))
        keys = [f"ubauc-{name}-{token}-{k}" for k in numbers]
        return self.client.map(function, self.futures, numbers, key=keys, pure=False, **told)

    def _submit(self, name, function, homes, told):
        """For each number a future and the place of its result therein: one task a worker."""
        token = uuid.uuid4().hex
        groups = {}
        for k, home in homes.items():
            # Where no worker is named, one task must not gather partitions that lie apart.
            groups.setdefault(k if home is None else home, []).append(k)
        asked = {}
        for group, numbers in groups.items():
            future = self.client.submit(
                together,
                [self.futures[k] for k in numbers],
                numbers,
                function,
                told,
                key=f"ubauc-{name}-{token}-{numbers[0]}",
                workers=[group] if isinstance(group, str) else None,
                pure=False,
            )
            asked.update((k, (future, at)) for at, k in enumerate(numbers))
        return asked

    def _bring(self, asked):
        """The results of all futures, by their keys."""
        futures = {future.key: future for future, _ in asked.values()}
        return self._soon(self.client.gather, futures)

    def _settle(self):
        """Look where the partitions are."""
        held = self.client.who_has(self.futures)
        for k, future in enumerate(self.futures):
            holders = held.get(future.key) or ()
            self.homes[k] = min(holders) if holders else None

    def _soon(self, method, *args, **kwargs):
        """What a method of the client gives, when it does: on the client's own thread."""
        coroutine = method(*args, asynchronous=True, **kwargs)
        return asyncio.run_coroutine_threadsafe(coroutine, self.client.loop.asyncio_loop)

    def _cancel(self, asked):
        if self.client.status == "running":
            futures = {future.key: future for future, _ in asked.values()}
            self._soon(self.client.cancel, list(futures.values()), force=True)

    def _look(self):
        """The workers that are there; None if the scheduler does not say."""
        if self.client.status != "running":
            # It forgets all futures before it tries to connect again.
            raise gone()
        try:
            return self.client.sync(self.client.scheduler.ncores, callback_timeout=LOOK)
        except (TimeoutError, OSError):
            return None


def together(partitions, numbers, function, told):
    """`function` of some partitions of one worker, on as many threads as it has."""
    threads = min(get_worker().state.nthreads, len(numbers))
    if threads == 1:
        pairs = zip(partitions, numbers, strict=True)
        return [function(partition, number, **told) for partition, number in pairs]
    with concurrent.futures.ThreadPoolExecutor(threads) as pool:
        return list(pool.map(lambda p, k: function(p, k, **told), partitions, numbers))


def gone():
    return SchedulerGone(
        "the Dask scheduler is gone or was restarted, and what it knew with it; connect to a "
        "cluster and fit again"
    )
