"""Partitions: rows on the workers, from arrays, data frames and files."""

import os
from dataclasses import dataclass

import numpy as np
from scipy.sparse import issparse

from .. import _core
from .._base import canonical
from .._readers import load_svmlight  # noqa: F401  (documented beside fit_files)


@dataclass
class Partition:
    """Rows of one partition with their labels and weights, as they came."""

    name: str
    part: _core.Part
    y: np.ndarray
    weight: np.ndarray | None = None
    columns: tuple | None = None

    def __sizeof__(self):
        return self.part.nbytes + self.y.nbytes + (0 if self.weight is None else self.weight.nbytes)


def of_arrays(x, y, weight, name):
    """A partition of chunks of arrays or frames."""
    columns = tuple(map(str, x.columns)) if hasattr(x, "columns") else None
    try:
        if issparse(x):
            x = canonical(x.tocsr().astype(np.float64, copy=False))
        else:
            x = np.asarray(x)
            if x.ndim != 2:
                raise ValueError(f"X has {x.ndim} dimensions, expected 2")
            x = np.require(x, np.float64, ["C", "ALIGNED"])
        part = _core.Part(x)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{name}: {error}") from error
    return _checked(Partition(name, part, *_vectors(y, weight), columns))


def of_frame(frame, label, weight, name):
    """A partition of a data frame: a label column, perhaps a column of weights, features."""
    for column in (label, weight):
        if column is not None and column not in frame.columns:
            raise ValueError(f"{name}: no column {column!r}; there are {list(frame.columns)!r}")
    y = frame[label].to_numpy()
    of_weight = None if weight is None else frame[weight].to_numpy()
    x = frame.drop(columns=[c for c in (label, weight) if c is not None])
    return of_arrays(x, y, of_weight, name)


def of_svmlight(path, zero_based):
    """A partition of a file; errors name the file and the line."""
    part, y = _core.Part.read_svmlight(path, zero_based)
    return _checked(Partition(path, part, y))


def of_parquet(path, label, weight, columns):
    """A partition of a Parquet file."""
    import pandas as pd

    try:
        frame = pd.read_parquet(path, columns=columns)
    except Exception as error:
        raise ValueError(f"{path}: cannot be read as Parquet: {error}") from error
    return of_frame(frame, label, weight, path)


def _vectors(y, weight):
    y = np.asarray(y)
    if weight is not None:
        weight = np.require(np.asarray(weight), np.float64, ["C", "ALIGNED"])
    return y, weight


def _checked(partition):
    rows = partition.part.shape[0]
    name = partition.name
    if partition.y.shape != (rows,):
        raise ValueError(f"{name}: X has {rows} rows, but y has the shape {partition.y.shape}")
    weight = partition.weight
    if weight is not None:
        if weight.shape != (rows,):
            raise ValueError(
                f"{name}: X has {rows} rows, but sample_weight has the shape {weight.shape}"
            )
        wrong = np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))
        if wrong.size:
            raise ValueError(
                f"{name}: weight of row {wrong[0]} is {weight[wrong[0]]}; it must be finite and "
                "not negative"
            )
    missing = missing_labels(partition.y)
    if missing.any():
        raise ValueError(f"{name}: y of row {np.flatnonzero(missing)[0]} is missing")
    return partition


def missing_labels(y):
    """Where labels are NaN or None."""
    if y.dtype.kind == "f":
        return np.isnan(y)
    if y.dtype == object:
        return np.array([label is None or label != label for label in y], dtype=bool)
    return np.zeros(y.shape, dtype=bool)


def about(partition):
    """What the client needs to know of a partition before it can ask."""
    classes, counts = np.unique(partition.y, return_counts=True)
    return {
        "name": partition.name,
        "shape": partition.part.shape,
        "classes": classes,
        "counts": counts,
        "columns": partition.columns,
        "widens": partition.columns is None and partition.name == os.fspath(partition.name),
        "version": _core.__version__,
    }
