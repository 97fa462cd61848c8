"""Every kind of input gives the same model, to the last bit."""

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from svmlight_text import write_svmlight
from ubauc import UBAUCClassifier, load_svmlight

# What is compared need not be finished.
pytestmark = [
    pytest.mark.filterwarnings("ignore::ubauc.CollapseWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]

BATCH = {"solver": "batch", "beta": 0.5, "gamma": 1e-3}
ONLINE = {"solver": "online", "random_state": 0, "max_iter": 3}


def strided(X):
    wide = np.zeros((2 * X.shape[0], 3 * X.shape[1]))
    wide[::2, ::3] = X
    return wide[::2, ::3]


def read_only(X):
    X = X.copy()
    X.flags.writeable = False
    return X


def misaligned(X):
    bytes = np.empty(X.nbytes + 1, dtype=np.uint8)
    out = bytes[1:].view(np.float64).reshape(X.shape)
    out[...] = X
    assert not out.flags.aligned
    return out


def int64(X):
    X = sp.csr_matrix(X, copy=True)
    X.indptr, X.indices = X.indptr.astype(np.int64), X.indices.astype(np.int64)
    assert X.indices.dtype == np.int64
    return X


def unsorted(X):
    X = sp.csr_matrix(X, copy=True)
    for start, end in zip(X.indptr[:-1], X.indptr[1:], strict=True):
        X.indices[start:end] = X.indices[start:end][::-1].copy()
        X.data[start:end] = X.data[start:end][::-1].copy()
    X.has_sorted_indices = X.has_canonical_format = False
    return X


DENSE = {
    "Fortran": np.asfortranarray,
    "strided": strided,
    "reversed": lambda X: X[::-1][::-1],
    "transposed": lambda X: np.ascontiguousarray(X.T).T,
    "read-only": read_only,
    "misaligned": misaligned,
    "big-endian": lambda X: X.astype(">f8"),
    "list": lambda X: X.tolist(),
}
SPARSE = {
    "CSC": sp.csc_matrix,
    "COO": sp.coo_matrix,
    "array": sp.csr_array,
    "int64": int64,
    "unsorted": unsorted,
}


@pytest.mark.parametrize("params", [BATCH, ONLINE], ids=["batch", "online"])
@pytest.mark.parametrize("kind", [*DENSE, *SPARSE, "CSR"])
def test_every_kind_of_dense_data(kind, params, dense):
    X, y = dense
    change = {**DENSE, **SPARSE, "CSR": sp.csr_matrix}[kind]
    expected = UBAUCClassifier(**params).fit(X, y)
    found = UBAUCClassifier(**params).fit(change(X), y)
    np.testing.assert_array_equal(found.coef_, expected.coef_)
    np.testing.assert_array_equal(found.threshold_, expected.threshold_)
    np.testing.assert_array_equal(
        expected.decision_function(change(X)), expected.decision_function(X)
    )


@pytest.mark.parametrize("params", [BATCH, ONLINE], ids=["batch", "online"])
@pytest.mark.parametrize("kind", [*SPARSE, "dense", *DENSE])
def test_every_kind_of_sparse_data(kind, params, sparse):
    X, y = sparse
    expected = UBAUCClassifier(**params).fit(X, y)
    if kind in SPARSE:
        changed = SPARSE[kind](X)
    else:
        changed = DENSE.get(kind, np.asarray)(X.toarray())
    found = UBAUCClassifier(**params).fit(changed, y)
    np.testing.assert_array_equal(found.coef_, expected.coef_)
    np.testing.assert_array_equal(
        expected.decision_function(changed), expected.decision_function(X)
    )


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.int8, np.uint16, bool])
def test_other_numbers_are_their_values(dtype, dense):
    X, y = dense
    X = (np.abs(X) * 3).astype(dtype)
    found = UBAUCClassifier(**BATCH).fit(X, y)
    expected = UBAUCClassifier(**BATCH).fit(X.astype(np.float64), y)
    np.testing.assert_array_equal(found.coef_, expected.coef_)


def test_memory_mapped(dense, tmp_path):
    X, y = dense
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    found = UBAUCClassifier(**BATCH).fit(mapped, y)
    np.testing.assert_array_equal(found.coef_, UBAUCClassifier(**BATCH).fit(X, y).coef_)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_bring_their_names(library, dense):
    frames = pytest.importorskip(library)
    X, y = dense
    names = [f"f{j}" for j in range(X.shape[1])]
    frame = frames.DataFrame(dict(zip(names, X.T, strict=True)))
    found = UBAUCClassifier(**BATCH).fit(frame, y)
    np.testing.assert_array_equal(found.coef_, UBAUCClassifier(**BATCH).fit(X, y).coef_)
    assert found.feature_names_in_.tolist() == names
    with pytest.raises(ValueError, match="feature names"):
        found.predict(frame[names[::-1]])


def test_large_arrays_are_not_copied():
    """What a fit adds to an array of 80 MB. In a process of its own: a peak stays."""
    pytest.importorskip("resource")
    code = """
import resource, numpy as np
from ubauc import UBAUCClassifier
X = np.random.default_rng(0).standard_normal((200_000, 50))
y = X[:, 0] + np.random.default_rng(1).standard_normal(200_000) > 1
UBAUCClassifier(beta=0.5, gamma=1e-3).fit(X[:1000], y[:1000])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
UBAUCClassifier(beta=0.5, gamma=1e-3, tol=1e-2).fit(X, y).decision_function(X)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 / X.nbytes)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    # About 60 bytes a row beside 400; a copy would make it more than 1.
    assert float(done.stdout) < 0.4


def test_data_that_no_scorer_can_use(dense):
    X, y = dense
    clf = UBAUCClassifier(**BATCH)
    wrong = X.copy()
    wrong[3, 2] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        clf.fit(wrong, y)
    with pytest.raises(ValueError, match="class"):
        clf.fit(X, np.ones_like(y))
    with pytest.raises(ValueError, match="2D"):
        clf.fit(X[:, 0], y)
    with pytest.raises(ValueError, match="inconsistent"):
        clf.fit(X, y[:-1])
    with pytest.raises(ValueError, match="0 feature"):
        clf.fit(X[:, :0], y)
    with pytest.raises(ValueError, match="features"):
        clf.fit(X, y).predict(X[:, :3])
    with pytest.raises(ValueError, match="Negative"):
        clf.fit(X, y, sample_weight=-np.ones(len(y)))
    with pytest.raises(ValueError, match="class"):
        clf.fit(X, y, sample_weight=(y == 1).astype(float))
    with pytest.raises(ValueError, match="not finite|scale"):
        clf.fit(X * 1e200, y)


def test_wrong_csr_is_refused_and_does_not_crash():
    X = sp.csr_matrix(np.eye(4))
    X.indices[0] = -7
    X.has_canonical_format = True
    with pytest.raises(ValueError):
        UBAUCClassifier(**BATCH).fit(X, [0, 1, 0, 1])


def test_rows_of_the_file_are_rows_of_the_array(dense, tmp_path):
    X, y = dense
    read, labels = load_svmlight(write_svmlight(tmp_path / "train.svm", X, y))
    np.testing.assert_array_equal(read.toarray(), X)
    np.testing.assert_array_equal(labels, y)
