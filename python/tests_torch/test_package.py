"""The page and the docstrings run; the package without this part never imports PyTorch."""

import doctest
import importlib
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "torch.md"


def test_the_page_runs():
    pytest.importorskip("torch", reason="NO TORCH: the examples of docs/torch.md are not run")
    text = "\n\n".join(re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL))
    test = doctest.DocTestParser().get_doctest(text, {}, PAGE.name, PAGE.name, None)
    assert len(test.examples) > 10
    assert doctest.DocTestRunner().run(test).failed == 0


@pytest.mark.parametrize("module", ["_loss", "_running_auc"])
def test_docstrings_run(module):
    pytest.importorskip("torch", reason="NO TORCH: docstrings of ubauc.torch are not run")
    module = importlib.import_module(f"ubauc.torch.{module}")
    results = doctest.testmod(module)
    assert results.attempted > 3 and results.failed == 0


def test_ubauc_alone_does_not_import_torch():
    code = "import sys, ubauc, ubauc.metrics, ubauc.objectives; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
