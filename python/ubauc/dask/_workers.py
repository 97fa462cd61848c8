"""Partitions on the workers that hold them, and what is done with each where it is.

A task goes to the worker that holds its partition and nowhere else: Dask would otherwise carry
small partitions to idle workers, and what a worker remembers of them would be missed there. Should
the worker be gone, the task would wait for it; so while the client waits it looks whether all are
there, and asks again without naming a worker. Dask loads the partition anew, wherever it likes, and
that is its home from then on.
"""

import uuid
from concurrent.futures import CancelledError
from concurrent.futures import TimeoutError as FutureTimeout

from distributed import KilledWorker, wait

# Seconds between looks at who is there, and those without a scheduler after which a fit gives up.
LOOK = 0.5
PATIENCE = 60.0


class SchedulerGone(ConnectionError):
    """The connection to the Dask scheduler is lost."""


class Partitions:
    """Futures of partitions, and the worker that holds each."""

    def __init__(self, client, futures):
        self.client = client
        self.futures = futures
        self.homes = [None] * len(futures)

    def __len__(self):
        return len(self.futures)

    def settle(self):
        """Look where the partitions are."""
        held = self.client.who_has(self.futures)
        for k, future in enumerate(self.futures):
            holders = held.get(future.key) or ()
            self.homes[k] = min(holders) if holders else None

    def each(self, name, function, which=None, **told):
        """`function(partition, number, **told)` of all partitions or some; results in order."""
        which = list(range(len(self))) if which is None else list(which)
        asked = self._submit(name, function, which, told, self.homes)
        waited = 0.0
        while True:
            waiting = [k for k, future in asked.items() if future.status == "pending"]
            try:
                wait([asked[k] for k in waiting], timeout=LOOK)
                break
            except (TimeoutError, FutureTimeout):
                pass
            except CancelledError:
                break
            waited = 0.0 if self.client.status == "running" else waited + LOOK
            self._give_up_after(waited)
            lost = self._homeless(waiting)
            if lost:
                again = self._submit(name, function, lost, told, {})
                self.client.cancel([asked[k] for k in lost], force=True)
                asked.update(again)
                for k in lost:
                    self.homes[k] = None
        results = gather(self.client, [asked[k] for k in which])
        if any(home is None for home in self.homes):
            self.settle()
        return results

    def keep(self, name, function, **told):
        """The same, but the results stay where they are: futures."""
        which = list(range(len(self)))
        asked = self._submit(name, function, which, told, [None] * len(self))
        return [asked[k] for k in which]

    def _submit(self, name, function, which, told, homes):
        """A future for each number, all of one worker in one message."""
        token = uuid.uuid4().hex
        by_home = {}
        for k in which:
            by_home.setdefault(homes[k] if k < len(homes) and homes else None, []).append(k)
        asked = {}
        for home, numbers in by_home.items():
            futures = self.client.map(
                function,
                [self.futures[k] for k in numbers],
                numbers,
                key=[f"ubauc-{name}-{token}-{k}" for k in numbers],
                workers=None if home is None else [home],
                pure=False,
                **told,
            )
            asked.update(zip(numbers, futures, strict=True))
        return asked

    def _homeless(self, which):
        """Those whose worker is gone."""
        try:
            there = self.client.nthreads()
        except Exception:  # no answer now; the next look tells more
            return []
        return [k for k in which if self.homes[k] is not None and self.homes[k] not in there]

    def _give_up_after(self, waited):
        if waited >= PATIENCE or self.client.status in ("closed", "closing"):
            raise SchedulerGone(
                "the Dask scheduler does not answer any more, and what it knew is lost; start a "
                "cluster and fit again"
            )


def gather(client, futures):
    """The results, in order, or an error that says what happened."""
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
