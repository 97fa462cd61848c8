"""Partitions: rows on the workers, from arrays, data frames and files."""

import copyreg
from dataclasses import dataclass, replace
from numbers import Real

import dask.array as da
import dask.dataframe as dd
import numpy as np
from dask import delayed
from scipy.sparse import csr_matrix, issparse
from sklearn.utils.multiclass import check_classification_targets

from .. import _core
from .._base import canonical
from ._tables import part_of_frame


def _of_numbers(*numbers):
    numbers = [np.require(n, None, ["C", "ALIGNED"]) if np.ndim(n) else n for n in numbers]
    of = {3: _core.Part.of_dense, 4: _core.Part.of_csr, 5: _core.Part.of_coded}
    return of[len(numbers)](*numbers)


# A part that moves from one worker to another does so as its numbers.
copyreg.pickle(_core.Part, lambda part: (_of_numbers, part.numbers()))


@dataclass
class Partition:
    """Rows of one partition with their labels and weights, as they came."""

    name: str
    part: _core.Part
    y: np.ndarray
    weight: np.ndarray | None = None
    columns: tuple | None = None
    # Whether the rows may have fewer columns than others.
    widens: bool = False
    # Whether they came as sparse rows.
    is_sparse: bool = False
    # The groups there are, and for each row which it is in.
    groups: tuple | None = None
    # By name, for each time that groups were dealt, the fold of every row; -1 for none.
    folds: dict | None = None

    def __sizeof__(self):
        return self.part.nbytes + self.y.nbytes + (0 if self.weight is None else self.weight.nbytes)


def of_arrays(x, y, weight, name, categorical="from_dtype", groups=None):
    """A partition of chunks of arrays or frames."""
    partition = _of_arrays(x, y, weight, name, categorical)
    return partition if groups is None else replace(partition, groups=_grouped(groups, partition))


def _grouped(groups, partition):
    """The groups there are, and for each row which it is in."""
    name, groups = partition.name, np.asarray(groups)
    if groups.shape != partition.y.shape:
        raise ValueError(
            f"{name}: X has {partition.y.size} rows, but groups has the shape {groups.shape}"
        )
    missing = missing_labels(groups)
    if missing.any():
        raise ValueError(f"{name}: groups of row {np.flatnonzero(missing)[0]} is missing")
    try:
        return np.unique(_plain(groups), return_inverse=True)
    except TypeError as error:
        raise TypeError(f"{name}: groups must be all numbers, or all strings: {error}") from error


def _of_arrays(x, y, weight, name, categorical):
    columns = tuple(x.columns) if hasattr(x, "columns") else None
    is_sparse = issparse(x)
    try:
        if columns is not None:
            x = part_of_frame(x, categorical)
        if isinstance(x, _core.Table):
            return _checked(Partition(name, x, *_vectors(y, weight), columns))
        if issparse(x):
            x = _aligned(canonical(x.tocsr().astype(np.float64, copy=False)))
        else:
            x = np.asarray(x)
            if x.ndim != 2:
                raise ValueError(f"X has {x.ndim} dimensions, expected 2")
            x = np.require(x, np.float64, ["C", "ALIGNED"])
            # A piece would keep the whole of a larger array in memory.
            if isinstance(x.base, np.ndarray) and x.base.nbytes > 2 * x.nbytes:
                x = x.copy()
        part = _core.Part(x)
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{name}: {error}") from error
    partition = Partition(name, part, *_vectors(y, weight), columns, is_sparse=is_sparse)
    return _checked(partition)


def _aligned(x):
    """A CSR matrix whose numbers, which may have crossed the wire, lie as Rust needs them."""
    parts = [np.require(a, None, ["C", "ALIGNED"]) for a in (x.data, x.indices, x.indptr)]
    return csr_matrix(tuple(parts), shape=x.shape)


def of_frame(frame, label, weight, name, categorical="from_dtype", groups=None):
    """A partition of a data frame: labels, perhaps weights and groups, and features."""
    for column in (label, weight, groups):
        if column is not None and column not in frame.columns:
            raise ValueError(f"{name}: no column {column!r}; there are {list(frame.columns)!r}")
    y = frame[label].to_numpy()
    of_weight = None if weight is None else frame[weight].to_numpy()
    of_groups = None if groups is None else frame[groups].to_numpy()
    x = frame.drop(columns=[c for c in (label, weight, groups) if c is not None])
    return of_arrays(x, y, of_weight, name, categorical, of_groups)


def of_svmlight(path, zero_based):
    """A partition of a file; errors name the file and the line."""
    part, y = _core.Part.read_svmlight(path, zero_based)
    return _checked(Partition(path, part, y, widens=True, is_sparse=True))


def widened(partition, cols):
    """The same rows with more columns, all 0: a file ends at its largest index."""
    *numbers, last = partition.part.numbers()
    if len(numbers) == 2:
        values, rows = numbers
        values = np.pad(values.reshape(rows, last), ((0, 0), (0, cols - last))).ravel()
        numbers = values, rows
    return replace(partition, part=_of_numbers(*numbers, cols))


def of_parquet(path, label, weight, categorical, groups):
    """A partition of a Parquet file."""
    import pandas as pd

    try:
        frame = pd.read_parquet(path)
    except Exception as error:
        raise ValueError(f"{path}: cannot be read as Parquet: {error}") from error
    return of_frame(frame, label, weight, path, categorical, groups)


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
    plain = _plain(partition.y)
    try:
        check_classification_targets(plain)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name}: {error}") from error
    return replace(partition, y=plain)


def _plain(y):
    """Labels that are numbers are stored as such."""
    if y.dtype == object and all(isinstance(label, Real) for label in y):
        return np.array(y.tolist())
    return y


def missing_labels(y):
    """Where labels are NaN or None."""
    if y.dtype.kind == "f":
        return np.isnan(y)
    if y.dtype == object:
        # Of pandas' NA nothing is known, not even whether it is itself.
        return np.array([label is None or (label == label) is not True for label in y], dtype=bool)
    return np.zeros(y.shape, dtype=bool)


def about(partition, number):
    """What the driver needs to know of a partition before the first round."""
    classes, codes = np.unique(partition.y, return_inverse=True)
    counted = np.ones(codes.size, bool) if partition.weight is None else partition.weight > 0
    return {
        "name": partition.name,
        "shape": partition.part.shape,
        "classes": classes,
        "counts": np.bincount(codes, minlength=classes.size),
        "counted": np.bincount(codes[counted], minlength=classes.size),
        "totals": np.bincount(codes, partition.weight, minlength=classes.size).astype(np.float64),
        "is_table": isinstance(partition.part, _core.Table),
        "stored": getattr(partition.part, "stored", 0),
        "columns": partition.columns,
        "widens": partition.widens,
        "is_sparse": partition.is_sparse,
        "has_groups": partition.groups is not None,
    }


def loads_of_collections(X, y, weight, token, categorical="from_dtype", groups=None):
    """A delayed partition for every chunk of rows of dask arrays or frames."""
    if isinstance(X, dd.DataFrame):
        given = {"y": y, "sample_weight": weight, "groups": groups}
        named = {what: column for what, column in given.items() if isinstance(column, str)}
        for what, column in named.items():
            if column not in X.columns:
                raise ValueError(f"{what} = {column!r}: X has no such column")
        if all(column is None or what in named for what, column in given.items()):
            # All of a partition together: what makes it is computed once.
            load = delayed(of_frame, pure=False)
            return [
                load(
                    part,
                    y,
                    weight,
                    f"partition {k}",
                    categorical,
                    groups,
                    dask_key_name=f"ubauc-load-{token}-{k}",
                )
                for k, part in enumerate(X.to_delayed())
            ]
        y = X[y] if isinstance(y, str) else y
        weight = X[weight] if isinstance(weight, str) else weight
        groups = X[groups] if isinstance(groups, str) else groups
        xs = X.drop(columns=list(named.values())).to_delayed()
        rows = None
    elif isinstance(X, da.Array):
        if X.ndim != 2:
            raise ValueError(f"X has {X.ndim} dimensions, expected 2")
        if X.numblocks[1] > 1:
            X = X.rechunk({1: -1})
        # Not optimised one by one: what X and y have in common is then computed once.
        xs = list(X.to_delayed(optimize_graph=False).ravel())
        rows = X.chunks[0]
    else:
        raise TypeError(
            f"X is a {type(X).__name__}; it must be a dask array or dataframe. For rows in memory "
            "use ubauc.UBAUCClassifier"
        )
    ys = _vector(y, "y", xs, rows)
    weights = [None] * len(xs) if weight is None else _vector(weight, "sample_weight", xs, rows)
    of_groups = [None] * len(xs) if groups is None else _vector(groups, "groups", xs, rows)
    load = delayed(of_arrays, pure=False)
    return [
        load(x, y, w, f"partition {k}", categorical, g, dask_key_name=f"ubauc-load-{token}-{k}")
        for k, (x, y, w, g) in enumerate(zip(xs, ys, weights, of_groups, strict=True))
    ]


def _vector(vector, what, xs, rows):
    """Chunks of a vector, as many as there are of rows."""
    if isinstance(vector, (dd.Series, dd.DataFrame)):
        chunks = vector.to_delayed()
    elif isinstance(vector, da.Array):
        known = rows is not None and not np.isnan(rows).any()
        if known and not np.isnan(vector.chunks[0]).any():
            if vector.shape[0] != sum(rows):
                raise ValueError(f"X has {sum(rows)} rows, but {what} has {vector.shape[0]}")
            vector = vector.rechunk({0: rows})
        if vector.ndim != 1:
            raise ValueError(f"{what} has {vector.ndim} dimensions, expected 1")
        chunks = list(vector.to_delayed(optimize_graph=False).ravel())
    else:
        raise TypeError(
            f"{what} is a {type(vector).__name__}; it must be a dask array or series in chunks "
            "like those of X"
        )
    if len(chunks) != len(xs):
        raise ValueError(f"X has {len(xs)} chunks of rows, but {what} has {len(chunks)}")
    return chunks


def loads_of_files(paths, format, columns, zero_based, token):
    """A delayed partition for every file; `columns` are those of labels, weights, categories and
    groups."""
    if not paths:
        raise ValueError("no files")
    if format not in ("auto", "svmlight", "parquet"):
        raise ValueError(f"format = {format!r}: must be auto, svmlight or parquet")
    loads = []
    for k, path in enumerate(paths):
        key = f"ubauc-read-{token}-{k}"
        is_parquet = path.endswith((".parquet", ".pq")) if format == "auto" else format == "parquet"
        if is_parquet:
            load = delayed(of_parquet, pure=False)(path, *columns, dask_key_name=key)
        elif columns[-1] is not None:
            raise ValueError(f"{path}: groups is for Parquet files, and svmlight has no columns")
        else:
            load = delayed(of_svmlight, pure=False)(path, zero_based, dask_key_name=key)
        loads.append(load)
    return loads
