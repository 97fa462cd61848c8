"""Lazy scores, and their AUC."""

import dask.array as da
import dask.dataframe as dd
import numpy as np

from ..metrics import hand_till


def lazily(local, method, X):
    """A method of the local estimator, of every chunk when it is asked for."""
    if isinstance(X, da.Array):
        if X.ndim != 2:
            raise ValueError(f"X has {X.ndim} dimensions, expected 2")
        if X.numblocks[1] > 1:
            X = X.rechunk({1: -1})
        wide = method == "decision_function" and local.classes_.size > 2
        dtype = np.float64 if method == "decision_function" else local.classes_.dtype
        n_classes = local.classes_.size
        return X.map_blocks(
            of_chunk,
            local=local,
            method=method,
            dtype=dtype,
            drop_axis=None if wide else 1,
            chunks=(X.chunks[0], (n_classes,)) if wide else (X.chunks[0],),
            meta=np.empty((0, n_classes) if wide else (0,), dtype=dtype),
            name=None,
            token=f"ubauc-{method.replace('_', '-')}",
        )
    if isinstance(X, dd.DataFrame):
        chunks = [
            da.from_delayed(
                chunk,
                shape=(np.nan,)
                if local.classes_.size == 2 or method == "predict"
                else (np.nan, local.classes_.size),
                dtype=np.float64 if method == "decision_function" else local.classes_.dtype,
            )
            for chunk in _delayed(local, method, X)
        ]
        return da.concatenate(chunks, allow_unknown_chunksizes=True)
    return getattr(local, method)(X)


def _delayed(local, method, frame):
    from dask import delayed

    work = delayed(of_chunk, pure=True, name=f"ubauc-{method}")
    model = delayed(local)
    return [work(part, local=model, method=method) for part in frame.to_delayed()]


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
    from ._auc import roc_auc

    return roc_auc(y, scores, client=estimator.client, pos_label=local.classes_[1])
