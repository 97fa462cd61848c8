"""The examples in the docstrings and on the page about Python run."""

import doctest
import pathlib
import re

import pytest
import ubauc
from ubauc import _classifier, _readers, _rivals, metrics, objectives

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "python.md"
README = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
SECTIONS = {
    section.splitlines()[0]: "\n\n".join(re.findall(r"```python\n(.*?)```", section, re.DOTALL))
    for section in PAGE.read_text().split("\n## ")[1:]
    if "```python" in section
}


@pytest.mark.parametrize(
    "module",
    [ubauc, metrics, objectives, _classifier, _readers, _rivals],
    ids=lambda m: m.__name__,
)
def test_examples(module):
    failed, tried = doctest.testmod(module)
    assert tried > 0 and failed == 0


def test_the_page_has_examples():
    assert len(SECTIONS) >= 5


@pytest.mark.parametrize("section", SECTIONS)
def test_page(section):
    text = SECTIONS[section]
    for optional in ("lightgbm", "matplotlib", "xgboost"):
        if f"import {optional}" in text or f", {optional}\n" in text:
            pytest.importorskip(optional)
    test = doctest.DocTestParser().get_doctest(text, {}, section, PAGE.name, None)
    assert doctest.DocTestRunner().run(test).failed == 0


def test_readme(capsys):
    assert len(README) == 1
    exec(README[0], {})
    assert capsys.readouterr().out.startswith("AUC 0.")
