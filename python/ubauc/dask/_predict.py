"""Lazy scores, and their AUC."""

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
from dask import delayed

from ._auc import roc_auc


def lazily(local, method, X):
    """A method of the local estimator, of every chunk when it is asked for."""
    if not isinstance(X, (da.Array, dd.DataFrame)):
        return getattr(local, method)(X)
    empty = of_none(local, method)
    dtype, width = empty.dtype, empty.shape[1:]
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
        drop_axis=None if width else 1,
        chunks=(X.chunks[0], *((n,) for n in width)),
        meta=empty,
        token=name,
    )


def of_none(local, method):
    """Scores, classes or probabilities of no rows."""
    dtype = local.classes_.dtype if method == "predict" else np.float64
    # A column for each class, or one number a row.
    many = local.classes_.size > 2
    wide = method == "predict_proba" or (method == "decision_function" and many)
    return np.empty((0, local.classes_.size) if wide else 0, dtype=dtype)


def of_chunk(chunk, local, method):
    """Scores, classes or probabilities of rows in memory; none of none."""
    if chunk.shape[0] == 0:
        return of_none(local, method)
    return getattr(local, method)(chunk)


def score(estimator, X, y, sample_weight):
    """AUC, distributed where X and y are."""
    local = estimator.to_local()
    if not isinstance(X, (da.Array, dd.DataFrame)):
        return local.score(X, y, sample_weight)
    if isinstance(y, str) or isinstance(sample_weight, str):
        raise TypeError("y and sample_weight must be dask arrays or series")
    scores = lazily(local, "decision_function", X)
    # Dask may return series and arrays that are computed together in another order.
    y, sample_weight = as_array(y), as_array(sample_weight)
    if scores.ndim == 2 or sample_weight is not None:
        return local._auc(*compute(estimator.client, y, scores, sample_weight))
    if isinstance(y, da.Array):
        y = y.map_blocks(is_positive, classes=local.classes_, dtype=bool, meta=np.empty(0, bool))
    else:
        y = is_positive(np.asarray(y), local.classes_)
    return roc_auc(y, scores, client=estimator.client, pos_label=True)


def as_array(given):
    """A dask array of a series; anything else as it is."""
    return given.to_dask_array() if isinstance(given, dd.Series) else given


def compute(client, *given):
    """Arrays in memory of what may be on a cluster."""
    found = dask.compute(*given, scheduler=client)
    return [None if array is None else np.asarray(array) for array in found]


def is_positive(y, classes):
    """Of two classes; others are refused."""
    positive = y == classes[1]
    known = positive | (y == classes[0])
    if not known.all():
        raise ValueError(f"y has unknown classes {np.unique(y[~known]).tolist()!r}")
    return positive
