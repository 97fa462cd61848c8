"""The console sessions of the README and of four pages, run as a reader would.

Every command, and every line of its answer.
"""

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
    check_page(ROOT / "README.md", 8, tmp_path)


def test_answers_of_the_page_on_tables_are_what_the_program_prints(tmp_path):
    check_page(ROOT / "docs" / "tables.md", 5, tmp_path)


def test_answers_of_the_page_on_statistics_are_what_the_program_prints(tmp_path):
    check_page(ROOT / "docs" / "statistics.md", 2, tmp_path)


def test_answers_of_the_page_on_exports_are_what_the_program_prints(tmp_path):
    check_page(ROOT / "docs" / "export.md", 5, tmp_path)


def test_answers_of_the_page_on_drift_are_what_the_program_prints(tmp_path):
    check_page(ROOT / "docs" / "drift.md", 4, tmp_path)


def check_page(page, least, directory):
    found = list(sessions(page.read_text()))
    assert len(found) >= least
    for command, answer in found:
        assert run(command, directory).strip() == answer.strip(), command
