"""Problems in chunks, and the same in this process, for the tests of the cluster."""

import dask
import dask.array as da
import numpy as np
import pandas as pd
from scipy.sparse import csr_matrix
from ubauc import UBAUCClassifier, _core
from ubauc._problem import context, encoded, spec_of
from ubauc.dask import _data
from ubauc.dask._task import Task

GIVEN = {"beta": 0.5, "gamma": 1e-3, "tol": 1e-9}

SIZES = {
    "one": (900,),
    "even": (300, 300, 300),
    "uneven": (1, 700, 150, 49),
    "empty": (0, 500, 0, 400, 0),
}


def problem(n=900, d=7, classes=2, seed=1):
    random = np.random.default_rng(seed)
    y = random.choice(classes, size=n, p=[0.75] + [0.25 / (classes - 1)] * (classes - 1))
    X = random.normal(size=(n, d)) + y[:, None] * np.linspace(0, 1, d)
    return X, y


def in_chunks(X, y, sizes, weights=None):
    """Dask arrays with chunks of these sizes; sparse rows stay sparse."""
    ends = np.cumsum(sizes)
    assert ends[-1] == len(y)
    if isinstance(X, np.ndarray):
        rows = da.from_array(X, chunks=(sizes, X.shape[1]))
    else:
        blocks = [dask.delayed(X[end - size : end]) for end, size in zip(ends, sizes, strict=True)]
        shapes = [(size, X.shape[1]) for size in sizes]
        rows = da.concatenate(
            [
                da.from_delayed(block, shape, dtype=float, meta=csr_matrix((0, 0)))
                for block, shape in zip(blocks, shapes, strict=True)
            ]
        )
    vectors = [None if v is None else da.from_array(v, chunks=(sizes,)) for v in (y, weights)]
    return rows, *vectors


def same_shards(X, y, sizes, weights=None, class_weight=None, **params):
    """The solver on the same shards, in this process."""
    of_library = class_weight if class_weight == "balanced" else None
    estimator = UBAUCClassifier(**params, class_weight=of_library)
    ends = np.cumsum(sizes)
    by_rows = None if of_library else class_weight
    task = Task(cols=X.shape[1], pair=tuple(np.unique(y)), class_weight=by_rows)
    parts = []
    for k, (end, size) in enumerate(zip(ends, sizes, strict=True)):
        of_part = slice(end - size, end)
        weight = None if weights is None else weights[of_part]
        parts.append(_data.of_arrays(X[of_part], y[of_part], weight, str(k)))
    shards = [task.shard(part, k) for k, part in enumerate(parts)]

    def send(round, add):
        return [s.run(p.part, round) for s, p in zip(shards, parts, strict=True)]

    spec = encoded(spec_of(estimator, 0))
    n_pos = int((y == task.pair[1]).sum())
    sizes = {"n_neg": y.size - n_pos, "n_pos": n_pos, "cols": X.shape[1]}
    return _core.fit_rounds(send, sizes, spec, context(["0", "1"], 1))


def assert_bits(fitted, found):
    assert fitted.coef_[0].tobytes() == found["weights"].tobytes()
    low, high = found["lambda"]
    assert fitted.threshold_[0] == low + (high - low) / 2 - found["intercept"]
    assert fitted.offset_[0] == found["intercept"]
    assert fitted.objective_ == found["objective"]
    assert fitted.dual_objective_ == found["dual"]
    assert fitted.gap_ == found["gap"]


def assert_close(fitted, local):
    """As the local estimator has it, on all rows at once."""
    assert fitted.classes_.tolist() == local.classes_.tolist()
    scale = np.abs(local.coef_).max()
    np.testing.assert_allclose(fitted.coef_, local.coef_, rtol=0, atol=1e-10 * max(1, scale))
    np.testing.assert_allclose(fitted.threshold_, local.threshold_, rtol=0, atol=1e-9 * scale)
    np.testing.assert_allclose(fitted.objective_, local.objective_, rtol=1e-6)
    assert (np.asarray(fitted.gap_) <= local.tol).all()


def frame(X, y, **more):
    columns = {f"f{j}": column for j, column in enumerate(X.T)}
    return pd.DataFrame({**columns, "label": y, **more})


def weights_of(task, parts):
    """The weights that the rows of all partitions are learned with."""
    of_parts = [(task.learned(part, number)[1], part.y.size) for number, part in enumerate(parts)]
    return np.concatenate([np.ones(n) if weights is None else weights for weights, n in of_parts])
