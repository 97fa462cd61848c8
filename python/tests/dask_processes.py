"""A Dask scheduler and workers as processes of their own on this machine, to be killed."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import distributed


def _start(*command):
    # Workers find functions of the tests.
    paths = [str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]
    return subprocess.Popen(
        [sys.executable, "-m", "dask", *map(str, command)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(filter(None, paths)),
            # The scheduler would try to reach a dead worker for results half a minute long.
            "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "5s",
        },
    )


class Processes:
    """A scheduler, and workers that come and go."""

    def __init__(self, workers, nthreads=1):
        self.workers = []
        with tempfile.TemporaryDirectory() as folder:
            told = Path(folder) / "scheduler.json"
            self.scheduler = _start(
                *("scheduler", "--host", "127.0.0.1", "--port", 0, "--no-dashboard"),
                *("--scheduler-file", told),
            )
            self.address = self._told(told)
        self.start(workers, nthreads)

    def _told(self, path, patience=60.0):
        """The address of the scheduler, when it says so."""
        end = time.monotonic() + patience
        while time.monotonic() < end:
            with contextlib.suppress(FileNotFoundError, json.JSONDecodeError):
                return json.loads(path.read_text())["address"]
            assert self.scheduler.poll() is None, "the scheduler did not start"
            time.sleep(0.05)
        raise TimeoutError("the scheduler did not start")

    def start(self, count=1, nthreads=1):
        """More workers; they come when they are ready."""
        for _ in range(count):
            worker = _start(
                *("worker", self.address, "--host", "127.0.0.1", "--no-nanny", "--no-dashboard"),
                *("--nthreads", nthreads, "--memory-limit", 0),
            )
            self.workers.append(worker)

    def kill(self, worker):
        """SIGKILL of a worker."""
        worker.kill()
        worker.wait()
        self.workers.remove(worker)

    def kill_scheduler(self):
        self.scheduler.kill()
        self.scheduler.wait()

    def close(self):
        for process in [*self.workers, self.scheduler]:
            process.send_signal(signal.SIGKILL)
            process.wait()


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
