"""The examples in the docstrings run."""

import doctest

import pytest
import ubauc
from ubauc import _classifier, _readers, _rivals, metrics


@pytest.mark.parametrize(
    "module", [ubauc, metrics, _classifier, _readers, _rivals], ids=lambda m: m.__name__
)
def test_examples(module):
    failed, tried = doctest.testmod(module)
    assert tried > 0 and failed == 0
