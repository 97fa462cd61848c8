"""Python processes that are sent Ctrl-C."""

import contextlib
import signal
import subprocess
import sys
import threading

# A process that was started in the background ignores Ctrl-C, and so do those that it starts.
HEARS = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"


@contextlib.contextmanager
def running(code, cwd=None, patience=120.0):
    """A process that runs `code`; it is killed at the end, and should it take too long."""
    command = [sys.executable, "-c", HEARS + code]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, cwd=cwd, **pipes) as child:
        watch = threading.Timer(patience, child.kill)
        watch.start()
        try:
            yield child
        finally:
            watch.cancel()
            child.kill()


def interrupt(child):
    """Ctrl-C."""
    child.send_signal(signal.SIGINT)
