"""The pictures of docs/glass-box.md show what a fit of today draws."""

import importlib.util
import os
import pathlib
import re

import numpy as np
import pytest
from ubauc import UBAUCClassifier

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"
NAMES = re.findall(r"\(images/(.*?)\)", (DOCS / "glass-box.md").read_text())


@pytest.fixture(scope="module")
def script():
    pytest.importorskip("pyarrow")
    pytest.importorskip("matplotlib").use("Agg")
    where = importlib.util.spec_from_file_location("adult", DOCS / "images" / "adult.py")
    module = importlib.util.module_from_spec(where)
    where.loader.exec_module(module)
    return module


def test_pictures_are_there_with_their_numbers(script):
    assert NAMES == ["adult-columns.svg", "adult-pairs.svg"]
    assert {p.name for p in (DOCS / "images").glob("*.svg")} == set(NAMES)
    described = script.described(DOCS / "images" / NAMES[0])
    assert list(described) == script.CURVES


def test_pictures_are_drawn_again(script):
    if "UBAUC_DATA" not in os.environ:
        pytest.skip("SKIPPED: UBAUC_DATA does not say where the table adult is")
    clf = UBAUCClassifier(**script.PARAMETERS).fit(*script.table())
    for name, axes in script.pictures(clf).items():
        expected, found = script.described(DOCS / "images" / name), script.drawn(axes)
        assert list(found) == list(expected)
        for term, numbers in expected.items():
            # Coordinates have six digits, and another machine may round a fit otherwise.
            np.testing.assert_allclose(found[term], numbers, rtol=1e-4, atol=1e-6, err_msg=term)
