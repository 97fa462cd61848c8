"""A Dask scheduler and workers as processes of their own on this machine, to be killed.

Where the system can fork they are forks of one process that has imported all they need; each by
itself would spend two seconds on that.
"""

import asyncio
import contextlib
import multiprocessing
import os

import dask
import distributed

_METHODS = multiprocessing.get_all_start_methods()
_CONTEXT = multiprocessing.get_context("forkserver" if "forkserver" in _METHODS else "spawn")
_CONTEXT.set_forkserver_preload(["dask.array", "dask.dataframe", "distributed", "ubauc.dask"])
_CONFIG = {
    # The scheduler would try to reach a dead worker for results half a minute long.
    "distributed.comm.timeouts.connect": "5s",
    # Nobody looks at it, and it takes a thread of each worker a hundred times a second.
    "distributed.worker.profile.enabled": False,
}


def _run(serve, *arguments):
    """What a process does; nobody listens to what it prints."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    with dask.config.set(_CONFIG):
        asyncio.run(serve(*arguments))


async def _scheduler(address):
    async with distributed.Scheduler(host="127.0.0.1", port=0, dashboard=False) as scheduler:
        address.send(scheduler.address)
        await scheduler.finished()


async def _worker(address, nthreads):
    options = {"host": "127.0.0.1", "dashboard": False, "memory_limit": 0}
    async with distributed.Worker(address, nthreads=nthreads, **options) as worker:
        await worker.finished()


def _start(serve, *arguments):
    process = _CONTEXT.Process(target=_run, args=(serve, *arguments), daemon=True)
    process.start()
    return process


def _kill(process):
    """SIGKILL."""
    process.kill()
    process.join()


class Processes:
    """A scheduler, and workers that come and go."""

    def __init__(self, workers, nthreads=1):
        self.workers = []
        ours, theirs = _CONTEXT.Pipe(duplex=False)
        self.scheduler = _start(_scheduler, theirs)
        assert ours.poll(60), "the scheduler did not start"
        self.address = ours.recv()
        self.start(workers, nthreads)

    def start(self, count=1, nthreads=1):
        """More workers; they come when they are ready."""
        for _ in range(count):
            self.workers.append(_start(_worker, self.address, nthreads))

    def kill(self, worker):
        """SIGKILL of a worker."""
        _kill(worker)
        self.workers.remove(worker)

    def kill_scheduler(self):
        _kill(self.scheduler)

    def close(self):
        for process in [*self.workers, self.scheduler]:
            _kill(process)


@contextlib.contextmanager
def cluster(workers, nthreads=1):
    """Processes and a client of theirs, when all workers are there."""
    processes = Processes(workers, nthreads)
    try:
        with distributed.Client(processes.address, set_as_default=False, timeout=30) as client:
            client.wait_for_workers(workers, timeout=60)
            yield processes, client
    finally:
        processes.close()
