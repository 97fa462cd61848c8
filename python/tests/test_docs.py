"""The examples in the docstrings and on the page about Python run."""

import doctest
import importlib
import pathlib
import pkgutil
import re

import pytest
import ubauc

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "python.md"
README = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
SECTIONS = {
    section.splitlines()[0]: "\n\n".join(re.findall(r"```python\n(.*?)```", section, re.DOTALL))
    for section in PAGE.read_text().split("\n## ")[1:]
    if "```python" in section
}


MODULES = ["ubauc", *(m.name for m in pkgutil.walk_packages(ubauc.__path__, "ubauc."))]


def examples_of(module):
    """Those of the docstrings of a module; modules of optional packages may be missing."""
    try:
        module = importlib.import_module(module)
    except ImportError as error:
        pytest.skip(str(error))
    return doctest.DocTestFinder(exclude_empty=True).find(module)


@pytest.mark.parametrize("module", MODULES)
def test_examples(module):
    for test in examples_of(module):
        if module == "ubauc.plot":
            pytest.importorskip("matplotlib").use("Agg")
        for optional in ("lightgbm", "xgboost"):
            if f"from {optional} import" in test.docstring:
                pytest.importorskip(optional)
        assert doctest.DocTestRunner().run(test).failed == 0, test.name


def test_every_public_name_has_an_example():
    """But what a function answers with, and warnings."""
    without = []
    for module in (ubauc, ubauc.metrics, ubauc.objectives, ubauc.plot):
        for name in getattr(module, "__all__", []):
            thing = getattr(module, name)
            is_answer = isinstance(thing, type) and issubclass(
                thing, (tuple, Warning, ubauc.plot.ROCBand)
            )
            if callable(thing) and not is_answer and ">>>" not in thing.__doc__:
                without.append(f"{module.__name__}.{name}")
    assert without == []


def test_the_page_has_examples():
    assert len(SECTIONS) >= 5


@pytest.mark.parametrize("section", SECTIONS)
def test_page(section):
    text = SECTIONS[section]
    for optional in ("lightgbm", "matplotlib", "xgboost"):
        if f"import {optional}" in text or f", {optional}\n" in text:
            pytest.importorskip(optional)
    if "sklearn.callback" in text:
        pytest.importorskip("sklearn.callback")
    if "ubauc.dask" in text:
        pytest.importorskip("distributed")
    test = doctest.DocTestParser().get_doctest(text, {}, section, PAGE.name, None)
    assert doctest.DocTestRunner().run(test).failed == 0


def test_the_readme_has_examples():
    assert len(README) == 2


@pytest.mark.parametrize("text", README, ids=["local", "dask"])
def test_readme(text, capsys):
    if "ubauc.dask" in text:
        pytest.importorskip("distributed")
    exec(text, {})
    assert capsys.readouterr().out.startswith("AUC 0.")
