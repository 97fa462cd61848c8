"""Files to arrays, at the speed of the Rust reader."""

import os

import numpy as np
from joblib import effective_n_jobs
from scipy.sparse import csr_matrix

from . import _core


def load_svmlight(path, *, zero_based=False, n_features=None, n_jobs=None):
    """Load an svmlight (LIBSVM) file, plain or compressed with gzip, zstd, bzip2 or xz.

    Parameters
    ----------
    path : str or path-like
        The file; its compression is recognised by content.
    zero_based : bool, default=False
        Whether indices in the file start at 0.
    n_features : int, default=None
        The number of columns; that of the largest index if None.
    n_jobs : int, default=None
        Threads. None is 1, and -1 one for each core.

    Returns
    -------
    X : scipy.sparse.csr_matrix of shape (n_samples, n_features)
        The features, float64.
    y : ndarray of shape (n_samples,)
        The labels, float64.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from ubauc import load_svmlight
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "train.svm")
    ...     _ = file.write_text("+1 1:0.5 3:2\\n-1 2:1\\n")
    ...     X, y = load_svmlight(file)
    >>> X.toarray()
    array([[0.5, 0. , 2. ],
           [0. , 1. , 0. ]])
    >>> y
    array([ 1., -1.])
    """
    indptr, indices, data, cols, y = _core.load_svmlight(
        os.fspath(path), bool(zero_based), effective_n_jobs(n_jobs)
    )
    if n_features is None:
        n_features = cols
    elif n_features < cols:
        raise ValueError(f"n_features is {n_features}, but the file has {cols} features")
    if data.size <= np.iinfo(np.int32).max:
        indptr = indptr.astype(np.int32)
    X = csr_matrix((data, indices, indptr), shape=(indptr.size - 1, n_features), copy=False)
    # The reader has seen to both, and scipy need not look again.
    X.has_sorted_indices = X.has_canonical_format = True
    return X, y
