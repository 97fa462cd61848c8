"""svmlight files as scikit-learn writes them, read by both."""

import numpy as np
import pytest
import scipy.sparse
from sklearn.datasets import dump_svmlight_file, load_svmlight_file
from sklearn.metrics import roc_auc_score


@pytest.mark.parametrize("zero_based", [False, True], ids=["from 1", "from 0"])
@pytest.mark.parametrize("seed", range(20))
def test_svmlight(seed, zero_based, ubauc, tmp_path):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(20, 200)), int(rng.integers(3, 300))
    present = rng.random((n, d)) < rng.uniform(0.01, 0.2)
    present[0, d - 1] = True  # both see all columns
    values = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-10, 10, size=(n, d))
    x = scipy.sparse.csr_array(present * values)
    labels = rng.choice([-1, 1], size=n, p=[0.7, 0.3])
    labels[:2] = [-1, 1]
    comment = "two lines\nof comment" if seed % 3 == 0 else None
    query = np.arange(n) // 5 if seed % 4 == 0 else None
    path = tmp_path / "x.svm"
    dump_svmlight_file(x, labels, str(path), zero_based=zero_based, comment=comment, query_id=query)
    base = ["--zero-based"] if zero_based else []

    theirs, their_labels = load_svmlight_file(str(path), zero_based=zero_based)
    assert theirs.shape == (n, d)
    shown = ubauc("data", "show", path, *base)
    assert (shown["rows"], shown["d"]) == theirs.shape
    assert shown["stored_entries"] == theirs.nnz
    classes, counts = np.unique(their_labels, return_counts=True)
    assert [float(c["class"]) for c in shown["classes"]] == classes.tolist()
    assert [c["examples"] for c in shown["classes"]] == counts.tolist()

    fullest = int(np.argmax(theirs.getnnz(axis=0)))
    for column in {fullest, 0, d - 1}:
        found = ubauc("evaluate", path, *base, "--feature", column + (not zero_based))
        scores = theirs[:, [column]].toarray().ravel()
        expected = roc_auc_score(their_labels > 0, scores)
        assert found["auc"] == pytest.approx(expected, rel=0, abs=1e-12), column


def test_full_rows(ubauc, tmp_path):
    rng = np.random.default_rng(1)
    x, labels = rng.normal(size=(100, 7)), rng.integers(1, 5, size=100)
    path = tmp_path / "x.svm"
    dump_svmlight_file(x, labels, str(path), zero_based=False)
    shown = ubauc("data", "show", path)
    assert (shown["rows"], shown["d"], shown["stored_entries"]) == (100, 7, 700)
    for column in range(7):
        found = ubauc("evaluate", path, "--feature", column + 1, "--positive", 3)
        expected = roc_auc_score(labels == 3, x[:, column])
        assert found["auc"] == pytest.approx(expected, rel=0, abs=1e-12)
