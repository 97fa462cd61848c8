"""A PostgreSQL server of our own: a new cluster in a folder, reached by a socket there."""

import contextlib
import csv
import glob
import io
import os
import pathlib
import shutil
import subprocess
import tempfile

import pytest


def programs():
    """Where `initdb` and `pg_ctl` are, or None."""
    folders = sorted(glob.glob("/usr/lib/postgresql/*/bin"), reverse=True)
    path = os.pathsep.join([*folders, os.environ.get("PATH", "")])
    found = shutil.which("initdb", path=path)
    return None if found is None else os.path.dirname(os.path.realpath(found))


def install():
    """The server of the distribution, where that can be had."""
    if programs() is None and shutil.which("apt-get") and os.geteuid() == 0:
        command = ["apt-get", "install", "-y", "--no-install-recommends", "postgresql"]
        subprocess.run(command, capture_output=True, timeout=300)
    return programs()


@contextlib.contextmanager
def open_server():
    """A server, or a loud skip."""
    try:
        bin_folder = install()
    except (OSError, subprocess.SubprocessError):
        bin_folder = None
    if bin_folder is None or shutil.which("psql") is None:
        pytest.skip("NO POSTGRESQL: install postgresql to test the export to SQL on it")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="ubauc-pg-"))
    # The server refuses to run as root.
    own = {"user": "postgres", "group": "postgres"} if os.geteuid() == 0 else {}
    if own:
        shutil.chown(folder, own["user"], own["group"])

    def run(*command):
        done = subprocess.run(command, capture_output=True, text=True, cwd=folder, **own)
        assert done.returncode == 0, done.stdout + done.stderr

    try:
        data = folder / "data"
        run(f"{bin_folder}/initdb", "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8",
            "--locale=C", "--no-sync")  # fmt: skip
        options = f"-k {folder} -c listen_addresses='' -c fsync=off -c jit=off"
        log = folder / "log"
        run(f"{bin_folder}/pg_ctl", "-D", data, "-w", "-l", log, "-o", options, "start")
        try:
            yield Server(folder)
        finally:
            run(f"{bin_folder}/pg_ctl", "-D", data, "-w", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class Server:
    def __init__(self, folder):
        self.folder = folder

    def run(self, script):
        """What SQL answers, as CSV."""
        command = ["psql", "-X", "-q", "--csv", "-v", "ON_ERROR_STOP=1", "-h", self.folder]
        done = subprocess.run(
            [*command, "-U", "postgres", "-d", "postgres"],
            input=script,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr[-2000:]
        return list(csv.DictReader(io.StringIO(done.stdout)))

    def load(self, table, columns):
        """A table of columns: doubles, integers or texts, None where NULL."""
        names = [quoted(name) for name in columns]
        kinds = [kind_of(values) for values in columns.values()]
        spelled = ", ".join(f"{name} {kind}" for name, kind in zip(names, kinds, strict=True))
        rows = zip(*columns.values(), strict=True)
        lines = "".join("\t".join(map(copied, row)) + "\n" for row in rows)
        self.run(
            f"DROP TABLE IF EXISTS {table};\nCREATE TABLE {table} ({spelled});\n"
            f"COPY {table} FROM STDIN;\n{lines}\\.\n"
        )


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def kind_of(values):
    kinds = {type(value) for value in values if value is not None}
    if kinds <= {int}:
        return "bigint"
    return "double precision" if kinds <= {int, float} else "text"


def copied(value):
    if value is None:
        return "\\N"
    if isinstance(value, str):
        for char, spelled in (("\\", "\\\\"), ("\t", "\\t"), ("\n", "\\n"), ("\r", "\\r")):
            value = value.replace(char, spelled)
        return value
    return repr(value)
