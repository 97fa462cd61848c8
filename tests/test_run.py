"""The totals at the end of `make test`."""

from run import of_cargo, of_pytest, sentence

CARGO = """\
running 3 tests
test a ... ok
SKIPPED: b needs real data; set UBAUC_DATA to their folder
test b ... ok
test c ... FAILED
SKIPPED: b needs real data; set UBAUC_DATA to their folder
test result: FAILED. 2 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 2.63s
test result: ok. 40 passed; 0 failed; 3 ignored; 0 measured; 0 filtered out; finished in 0.01s
"""
PYTEST = """\
SKIPPED [1] python/tests/test_a.py:3: 5 passed
ERROR python/tests/test_b.py::test_fixture
2 failed, 8 passed, 1 skipped, 3 xfailed, 1 xpassed, 9 warnings, 1 error in 3.52s
"""


def test_of_cargo():
    assert sentence(of_cargo(CARGO.splitlines())) == "41 passed, 1 failed, 4 skipped"


def test_of_pytest():
    assert sentence(of_pytest(PYTEST.splitlines())) == "8 passed, 4 failed, 4 skipped"
    assert sentence(of_pytest(["5 passed in 61.20s (0:01:01)"])) == "5 passed, 0 failed, 0 skipped"


def test_of_nothing():
    assert sentence(of_cargo([]) + of_pytest([])) == "0 passed, 0 failed, 0 skipped"
