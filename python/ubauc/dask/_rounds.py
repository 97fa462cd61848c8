"""Rounds of commands and queries to shards on Dask workers.

The Rust solver sends all shards the same round, a few kilobytes, and adds their answers in the
order of the partitions. A shard keeps numbers for each of its rows between rounds; they follow from
the commands so far, so they are a cache of the worker and no more: a worker that does not have
them, because another one died or gave the task away, gets all commands again from a log. The rows
come from Dask's own graph, so that a lost partition is loaded again by Dask (`_workers.py`). Rounds
and answers are opaque here: versioned, checksummed bytes that Rust writes and reads.
"""

import threading
import time
import uuid
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait

import numpy as np

from .. import _core

# Seconds after which a shard that is not used belongs to a fit that is over.
FORGOTTEN = 3600.0
# Rows whose shards, 48 bytes a row, are there more than once.
ROWS_AT_ONCE = 10_000_000
# Bytes of matrices that are held at once, if it need not be more for every thread to have one.
ROOM = 2**30
# Workers that die so often in one round leave no hope.
TRIES = 100
# Seconds that the end of a fit may wait for workers to forget it; in time they do so anyway.
GOODBYE = 5.0


class _Remembered:
    """A shard on this worker, and the answer to its last round."""

    def __init__(self):
        self.lock = threading.Lock()
        self.shard = None
        self.index = -1
        self.answer = None
        self.used = time.monotonic()


_remembered = {}
# Fits that are over, and since when: a task that was late must not bring one back.
_over = {}
_lock = threading.Lock()


def _recall(key):
    with _lock:
        now = time.monotonic()
        for old in [k for k, kept in _remembered.items() if now - kept.used > FORGOTTEN]:
            del _remembered[old]
        for old in [fit for fit, since in _over.items() if now - since > FORGOTTEN]:
            del _over[old]
        if key[0] in _over:
            return _Remembered()
        found = _remembered.setdefault(key, _Remembered())
        found.used = now
        return found


def forget(fit):
    """Drop what this worker remembers of a fit."""
    with _lock:
        _over[fit] = time.monotonic()
        for key in [key for key in _remembered if key[0] == fit]:
            del _remembered[key]


def answer(partition, number, fit, index, task, round, log=None):
    """Run round `index` of a fit; None if the worker must run the commands before it first."""
    kept = _recall((fit, number))
    with kept.lock:
        if kept.index == index:
            # Sent twice, because the answer was lost on its way.
            return kept.answer
        try:
            if kept.shard is None or kept.index != index - 1:
                if log is None and index > 0:
                    return None
                kept.shard = task.shard(partition, number)
                for commands in log or ():
                    kept.shard.run(partition.part, commands)
            kept.answer = kept.shard.run(partition.part, round)
        except BaseException:
            # Some of the commands may have been run: the next try starts from the log.
            kept.shard = None
            raise
        kept.index = index
        return kept.answer


class Rounds:
    """Sends rounds to every partition; what `_core.Rounds` calls.

    `task` makes a shard of a partition: it is sent along with every round and should be small.
    """

    def __init__(self, partitions, task, spent):
        self.partitions = partitions
        self.task = task
        self.spent = spent
        spent.rounds.append(self)
        self.fit = f"fit-{uuid.uuid4().hex[:12]}"
        self.log = []
        self.rounds = 0
        self.bytes_sent = 0
        self.bytes_received = 0
        self.largest = 0
        self.replayed = 0

    def __call__(self, round, add):
        """The answers in the order of the partitions, or their sum in that order."""
        self.spent.check()
        waves = [range(len(self.partitions))]
        if add and _core.asks_for_matrix(round):
            # With many partitions there may be no room here for the matrices of all at once.
            room = ROOM // self.spent.at_once
            waves = self.partitions.waves(room // (4 * self.task.cols**2 + 1))
        answers, received = [], 0
        for wave in waves:
            found = self._answers(list(wave), round)
            received += sum(answer.nbytes for answer in found)
            answers += found
            if len(waves) > 1:
                answers = [_core.sum_answers(answers)]
        self.rounds += 1
        # A worker gets it once, however many partitions it holds.
        self.bytes_sent += len(round) * len(set(self.partitions.homes))
        self.bytes_received += received
        self.largest = max(self.largest, received)
        commands = _core.commands(round)
        if commands is not None:
            self.log.append(commands)
        return answers

    def _answers(self, which, round):
        """Of some partitions; those that lost their state get the log of commands first."""
        answers = dict(zip(which, self._send("round", which, round, None), strict=True))
        for _ in range(TRIES):
            lost = [k for k in which if answers[k] is None]
            if not lost:
                return [np.require(answers[k], np.uint8, ["C"]) for k in which]
            self.replayed += len(lost)
            again = self._send("replay", lost, round, self.log)
            answers.update(zip(lost, again, strict=True))
        raise RuntimeError("workers come and go too fast to get an answer from them")

    def _send(self, name, which, round, log):
        return self.partitions.each(
            name,
            answer,
            which,
            is_brief=log is None,
            fit=self.fit,
            index=self.rounds,
            task=self.task,
            round=round,
            log=log,
        )

    def close(self):
        """Let the workers forget this fit, if there are any left."""
        client = self.partitions.client
        if client.status != "running":
            return
        try:
            client.run(forget, self.fit, on_error="ignore", callback_timeout=GOODBYE)
        except Exception:  # the cluster is gone: nothing is left to forget
            pass


class Spent:
    """All rounds of one call of `fit`, and whether it is to end."""

    def __init__(self):
        self.rounds = []
        self.stopped = False
        # Fits that are under way at the same time, and share what memory there is.
        self.at_once = 1

    def check(self):
        """Between two things to do."""
        if self.stopped:
            raise RuntimeError("the fit was stopped")

    def cost(self):
        """What they came to."""
        keys = ("rounds", "bytes_sent", "bytes_received", "replayed")
        cost = {key: sum(getattr(rounds, key) for rounds in self.rounds) for key in keys}
        cost["largest_answer"] = max((rounds.largest for rounds in self.rounds), default=0)
        return cost

    def each(self, work, tasks, rows):
        """`work` of each task, in their order. Rounds are mostly waiting, so they are sent from
        several threads, unless the shards of all tasks would take too much memory."""
        self.at_once = max(1, min(len(tasks), ROWS_AT_ONCE // max(1, rows)))
        with ThreadPoolExecutor(self.at_once) as threads:
            futures = [threads.submit(work, task) for task in tasks]
            try:
                wait(futures, return_when=FIRST_EXCEPTION)
                # One that has failed is heard before others are waited for.
                failed = [future for future in futures if future.done() and future.exception()]
                return [future.result() for future in failed[:1] or futures]
            except BaseException:
                # The user has had enough, or there is no answer: the others need not go on.
                self.stopped = True
                threads.shutdown(wait=False, cancel_futures=True)
                raise
            finally:
                self.at_once = 1
