"""The README's console sessions, run as a reader would: every command, every line of its answer."""

import os
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = pathlib.Path(os.environ.get("UBAUC_BIN", ROOT / "target" / "debug" / "ubauc"))


def sessions(text):
    """(command, expected answer) of every `$ ` line in the ```console blocks."""
    for block in re.findall(r"```console\n(.*?)```", text, flags=re.S):
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, _, answer = part.partition("\n")
            yield command, answer


def run(command, directory):
    path = f"{BINARY.parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=directory,
        env={**os.environ, "PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    return done.stdout


def test_readme_answers_are_what_the_program_prints(tmp_path):
    found = list(sessions((ROOT / "README.md").read_text()))
    assert len(found) >= 8
    for command, answer in found:
        assert run(command, tmp_path).strip() == answer.strip(), command
