"""Lazy scores, and their AUC."""

import dask.array as da
import dask.dataframe as dd
import numpy as np
from dask import delayed

from ..metrics import hand_till
from ._auc import roc_auc


def lazily(local, method, X):
    """A method of the local estimator, of every chunk when it is asked for."""
    if not isinstance(X, (da.Array, dd.DataFrame)):
        return getattr(local, method)(X)
    dtype = np.float64 if method == "decision_function" else local.classes_.dtype
    # A column for each class, or one number a row.
    wide = method == "decision_function" and local.classes_.size > 2
    width = (local.classes_.size,) if wide else ()
    name = f"ubauc-{method.replace('_', '-')}"
    if isinstance(X, dd.DataFrame):
        work = delayed(of_chunk, pure=True, name=name)
        model = delayed(local)
        chunks = [
            da.from_delayed(work(part, local=model, method=method), (np.nan, *width), dtype)
            for part in X.to_delayed()
        ]
        return da.concatenate(chunks, allow_unknown_chunksizes=True)
    if X.ndim != 2:
        raise ValueError(f"X has {X.ndim} dimensions, expected 2")
    if X.numblocks[1] > 1:
        X = X.rechunk({1: -1})
    return X.map_blocks(
        of_chunk,
        local=local,
        method=method,
        dtype=dtype,
        drop_axis=None if wide else 1,
        chunks=(X.chunks[0], *((n,) for n in width)),
        meta=np.empty((0, *width), dtype=dtype),
        token=name,
    )


def of_chunk(chunk, local, method):
    """Scores or classes of rows in memory; none of none."""
    if chunk.shape[0] == 0:
        found = getattr(local, method)(np.zeros((1, local.n_features_in_)))
        return found[:0]
    return getattr(local, method)(chunk)


def score(estimator, X, y, sample_weight):
    """AUC, distributed where X and y are."""
    local = estimator.to_local()
    if not isinstance(X, (da.Array, dd.DataFrame)):
        return local.score(X, y, sample_weight)
    if sample_weight is not None:
        raise ValueError("score of dask collections takes no sample_weight")
    scores = lazily(local, "decision_function", X)
    if isinstance(y, str):
        raise TypeError("y must be a dask array or series")
    if scores.ndim == 2:
        labels, found = da.compute(y, scores)
        return hand_till(np.asarray(labels), found, labels=local.classes_)
    return roc_auc(y, scores, client=estimator.client, pos_label=local.classes_[1])
