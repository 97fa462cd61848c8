"""Rounds of questions to shards on Dask workers.

The Rust solver asks all shards the same, a few kilobytes, and adds their answers in the order of
the partitions. A shard keeps numbers for each of its rows between rounds; they follow from what it
was told so far, so they are a memory of the worker and no more: a worker that does not have them,
because another one died or gave the task away, is told everything again from a log. Tasks are
never pinned to a worker, and the rows come from Dask's own graph, so that a lost partition is loaded
again by Dask.
"""

import threading
import time
import uuid

import numpy as np
from distributed import CancelledError, KilledWorker, TimeoutError, wait

from .. import _core

# Seconds without a word from the scheduler after which a fit gives up.
PATIENCE = 60.0
# A shard that nobody has asked for this long belongs to a fit that is no more.
FORGOTTEN = 3600.0


class SchedulerGone(ConnectionError):
    """The connection to the Dask scheduler is lost."""


class _Remembered:
    """A shard on this worker: what was asked last, and the answer."""

    def __init__(self):
        self.lock = threading.Lock()
        self.shard = None
        self.asked = -1
        self.answer = None
        self.used = time.monotonic()


_remembered = {}
_lock = threading.Lock()


def _recall(key):
    with _lock:
        now = time.monotonic()
        for old in [k for k, kept in _remembered.items() if now - kept.used > FORGOTTEN]:
            del _remembered[old]
        found = _remembered.setdefault(key, _Remembered())
        found.used = now
        return found


def forget(fit):
    """Drop what this worker remembers of a fit."""
    with _lock:
        for key in [key for key in _remembered if key[0] == fit]:
            del _remembered[key]


def answer(partition, fit, number, asked, task, questions, log=None):
    """Answer round `asked` of a fit; None if the worker must be told the rounds before it first."""
    kept = _recall((fit, number))
    questions = np.require(questions, np.float64, ["C", "ALIGNED"])
    with kept.lock:
        if kept.asked == asked:
            # Asked twice, because the answer was lost on its way.
            return kept.answer
        if kept.shard is None or kept.asked != asked - 1:
            if log is None and asked > 0:
                return None
            kept.shard = task.shard(partition, number)
            for told in log or ():
                kept.shard.answer(partition.part, np.require(told, np.float64, ["C", "ALIGNED"]))
        kept.answer = kept.shard.answer(partition.part, questions)
        kept.asked = asked
        return kept.answer


class Rounds:
    """Asks every partition; what `_core.Rounds` calls.

    `task` makes a shard of a partition: it is sent along with every round and should be small.
    """

    def __init__(self, client, partitions, task):
        self.client = client
        self.partitions = partitions
        self.task = task
        self.fit = f"fit-{uuid.uuid4().hex[:12]}"
        self.log = []
        self.rounds = 0
        self.bytes_sent = 0
        self.bytes_received = 0
        self.largest = 0
        self.replayed = 0

    def __call__(self, questions):
        answers = self._ask(range(len(self.partitions)), questions, None)
        lost = [k for k, found in enumerate(answers) if found is None]
        tries = 0
        while lost:
            self.replayed += len(lost)
            for k, found in zip(lost, self._ask(lost, questions, self.log), strict=True):
                answers[k] = found
            lost = [k for k in lost if answers[k] is None]
            tries += 1
            if tries > 100:
                raise RuntimeError("workers come and go too fast to get an answer from them")
        self.rounds += 1
        self.bytes_sent += questions.nbytes * len(answers)
        received = sum(found.nbytes for found in answers)
        self.bytes_received += received
        self.largest = max(self.largest, received)
        changes = _core.changes(questions)
        if changes.size:
            self.log.append(changes)
        return [np.require(found, np.float64, ["C", "ALIGNED"]) for found in answers]

    def _ask(self, which, questions, log):
        which = list(which)
        name = "ubauc-replay" if log is not None else "ubauc-round"
        keys = [f"{name}-{self.fit}-{self.rounds}-{k}-{uuid.uuid4().hex[:6]}" for k in which]
        futures = self.client.map(
            answer,
            [self.partitions[k] for k in which],
            [self.fit] * len(which),
            which,
            key=keys,
            pure=False,
            asked=self.rounds,
            task=self.task,
            questions=questions,
            log=log,
        )
        return gather(self.client, futures)

    def close(self):
        """Let the workers forget this fit, if there are any left."""
        try:
            self.client.run(forget, self.fit, on_error="ignore")
        except Exception:  # the cluster is gone: nothing is left to forget
            pass


def gather(client, futures):
    """The results, in order, or an error that says what happened; never an endless wait."""
    silent = 0.0
    while True:
        try:
            wait(futures, timeout=2.0)
            break
        except (TimeoutError, TimeoutError):
            silent = 0.0 if connected(client) else silent + 2.0
        except CancelledError:
            break
        if silent >= PATIENCE or client.status in ("closed", "closing"):
            raise SchedulerGone(
                "the Dask scheduler does not answer any more; the fit is lost. Start a cluster and "
                "fit again"
            )
    try:
        return client.gather(futures)
    except KilledWorker as error:
        raise RuntimeError(
            f"a partition killed its worker again and again ({error}); most often it needs more "
            "memory than the worker has: use smaller partitions"
        ) from error
    except CancelledError as error:
        raise SchedulerGone(
            "the Dask scheduler was lost or restarted, and what it knew with it; fit again"
        ) from error


def connected(client):
    """Whether the scheduler is there."""
    return client.status == "running"
