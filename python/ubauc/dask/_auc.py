"""AUC of scores that lie in the partitions of a Dask collection.

Exact: every partition turns its scores into integer keys and counts them in cells; the driver adds
the counts, asks again about cells that are too large, and joins cells into ranges; each key then
moves once, to the task of its range, unless counts alone decide (ties, stretches of one class). The
sums are integers: the answer has the bits of `ubauc.metrics.roc_auc_ci` whatever the partitions and
workers. All of it is `ubauc::metrics::Cut`; here is only who runs where.

Bucketed: one round of counts in buckets, and a computed bound of the error.
"""

import json
import uuid

import dask
import dask.array as da
import numpy as np
from dask.delayed import delayed

from .. import _core
from ..metrics import StreamingAUC
from ..metrics._auc import interval
from ..metrics._auc import roc_auc_ci as auc_ci_in_memory

__all__ = ["roc_auc", "roc_auc_ci"]

# A range of fewer keys is not worth a task of its own; one of more is not worth the memory.
_SMALLEST_SHARE = 1 << 18
_LARGEST_SHARE = 1 << 25
# Pieces that move: partitions times ranges, a task each.
_MOST_PIECES = 1 << 14


def roc_auc(y, scores, *, client=None, method="exact", bits=16, pos_label=None):
    """Area under the ROC curve of distributed scores.

    Parameters
    ----------
    y, scores, client, method, bits, pos_label
        As for `roc_auc_ci`.

    Returns
    -------
    auc : float
        The AUC, or with ``method="bucketed"`` the middle of the AUCs possible.

    Examples
    --------
    >>> import dask.array as da
    >>> from ubauc.dask import roc_auc
    >>> scores = da.from_array([0.1, 0.4, 0.35, 0.8], chunks=2)
    >>> roc_auc(da.from_array([0, 0, 1, 1], chunks=2), scores)
    0.75
    """
    found = roc_auc_ci(y, scores, client=client, method=method, bits=bits, pos_label=pos_label)
    return found.value() if method == "bucketed" else found.auc


def roc_auc_ci(y, scores, *, groups=None, client=None, method="exact", bits=16, pos_label=None):
    """Area under the ROC curve of distributed scores, with DeLong's variance and 95 % interval.

    With ``groups`` the variance is Obuchowski's, by which only examples of different groups are
    independent.

    Parameters
    ----------
    y : dask array or Series of shape (n_samples,)
        Labels of two classes; a partition may have one of them, or be empty. Chunks may differ
        from those of `scores` if their sizes are known. In memory is fine, too, if those of
        `scores` are known.
    scores : dask array or Series of shape (n_samples,)
        Scores; not NaN. Matched with `y` by position, not by index.
    groups : dask array or Series of shape (n_samples,), default=None
        The group of each example, in chunks like those of the scores, or in memory. Then labels,
        scores and groups are all brought here.
    client : distributed.Client, default=None
        Where to run. None is Dask's default: the current client, or this process.
    method : {"exact", "bucketed"}, default="exact"
        Exact moves each score once at most, 8 bytes, between workers. Bucketed moves counts only.
    bits : int, default=16
        Bucketed: ``2 ** bits`` buckets, from 1 to 24.
    pos_label : scalar or str, default=None
        The positive class; the larger of two if None.

    Returns
    -------
    found : AUCInterval or StreamingAUC
        Exact: what `ubauc.metrics.roc_auc_ci` gives for all scores, to the last bit. Bucketed: the
        counts, whose ``value()`` is within ``error_bound()`` of it.

    Examples
    --------
    >>> import dask.array as da
    >>> from ubauc.dask import roc_auc_ci
    >>> y = da.from_array([0, 0, 1, 0, 1], chunks=2)
    >>> found = roc_auc_ci(y, da.from_array([0.1, 0.4, 0.35, 0.2, 0.8], chunks=2))
    >>> found.auc, found.n_pos, found.ties
    (0.8333333333333334, 2, 0)
    """
    if method not in ("exact", "bucketed"):
        raise ValueError(f"method = {method!r}: must be 'exact' or 'bucketed'")
    rounds = _Rounds(client)
    if groups is not None:
        if method != "exact":
            raise ValueError("groups need method='exact'")
        given = [
            array.to_dask_array() if hasattr(array, "to_dask_array") else array
            for array in (y, scores, groups)
        ]
        y, scores, groups = (np.asarray(a) for a in dask.compute(*given, scheduler=client))
        return auc_ci_in_memory(y, scores, groups=groups, pos_label=pos_label)
    parts = _partitions(y, scores)
    if method == "bucketed":
        StreamingAUC(bits)  # refuses wrong bits here rather than on a worker
        arguments = [(i, *part, pos_label, bits) for i, part in enumerate(parts)]
        return _merged(rounds.gather("buckets", _count_buckets, arguments), pos_label, bits)
    arguments = [(i, *part, pos_label) for i, part in enumerate(parts)]
    return _exact(rounds, rounds.keep("keys", _keys_by_label, arguments), pos_label)


class _Rounds:
    """Tasks of one kind, one for each part; results come in the order of the parts."""

    def __init__(self, client):
        self._client = client

    def tasks(self, name, function, arguments):
        # Not pure: tasks with the same arguments are not looked for. Keys show what is running.
        call, token = delayed(function, pure=False), uuid.uuid4().hex
        return [
            call(*given, dask_key_name=f"ubauc-auc-{name}-{token}-{i}")
            for i, given in enumerate(arguments)
        ]

    def keep(self, name, function, arguments):
        """Leave the results where they are."""
        tasks = self.tasks(name, function, arguments)
        return self._client.persist(tasks) if self._client else list(dask.persist(*tasks))

    def gather(self, name, function, arguments):
        tasks = self.tasks(name, function, arguments)
        if self._client:
            return self._client.gather(self._client.compute(tasks))
        return list(dask.compute(*tasks))


def _exact(rounds, parts, pos_label):
    summaries = rounds.gather("labels", _labels_and_counts, [(part,) for part in parts])
    positive = _positive_label([labels for labels, _ in summaries], pos_label)
    totals = [0, 0]
    for labels, counts in summaries:
        for label, count in zip(labels, counts, strict=True):
            totals[label == positive] += count
    n = sum(totals)
    most = max(1, min(len(parts), _MOST_PIECES // max(1, len(parts))))
    share = min(max(-(-n // most), _SMALLEST_SHARE), _LARGEST_SHARE)
    cut = _core.Cut(share, *totals)
    while len(spans := cut.open()):
        counted = [(part, positive, spans) for part in parts]
        cut.refine([_aligned(cells) for cells in rounds.gather("count", _count_cells, counted)])
    ranges = cut.ranges()
    sums = []
    if ranges:
        scatter = [(part, positive, ranges) for part in parts]
        scattered = rounds.tasks("scatter", _scatter, scatter)
        moves = [(part, r) for r in range(len(ranges)) for part in scattered]
        moves = rounds.tasks("move", _range_of, moves)
        moves = [moves[r * len(parts) : (r + 1) * len(parts)] for r in range(len(ranges))]
        sums = rounds.gather("sum", _range_sums, list(zip(ranges, moves, strict=True)))
    return interval(json.loads(cut.auc(sums)))


def _merged(parts, pos_label, bits):
    positive = _positive_label([labels for labels, _ in parts], pos_label)
    merged = StreamingAUC(bits)
    for labels, counted in parts:
        merged.merge(counted[len(labels) == 1 and labels[0] != positive])
    merged.interval()  # one class alone is refused
    return merged


# What comes in.


def _partitions(y, scores):
    """Pairs of what will be labels and scores."""
    if not (dask.is_dask_collection(y) or dask.is_dask_collection(scores)):
        raise TypeError("neither y nor scores is a Dask collection: use ubauc.metrics")
    for name, given in (("y", y), ("scores", scores)):
        if len(getattr(given, "shape", [0])) != 1:
            raise ValueError(f"{name} must have one dimension, not {len(given.shape)}")
    sizes = [_sizes(given) for given in (y, scores)]
    if None not in sizes:
        if sum(sizes[0]) != sum(sizes[1]):
            raise ValueError(f"{sum(sizes[0])} labels, but {sum(sizes[1])} scores")
        lead = sizes[1] if dask.is_dask_collection(scores) else sizes[0]
        y, scores = _rechunked(y, lead), _rechunked(scores, lead)
    for name, given in (("y", y), ("scores", scores)):
        if not dask.is_dask_collection(given):
            raise ValueError(f"{name} is in memory, and the chunks of the other of unknown sizes")
    y, scores = _pieces(y), _pieces(scores)
    if len(y) != len(scores):
        raise ValueError(
            f"y has {len(y)} partitions and scores have {len(scores)}, of unknown sizes: "
            "give both the same partitions"
        )
    return list(zip(y, scores, strict=True))


def _sizes(given):
    """The sizes of the chunks, if they are known."""
    if not dask.is_dask_collection(given):
        return (len(given),)
    if not isinstance(given, da.Array) or np.isnan(given.chunks[0]).any():
        return None
    return given.chunks[0]


def _rechunked(given, sizes):
    if dask.is_dask_collection(given):
        return given.rechunk((sizes,))
    return da.from_array(np.asarray(given), chunks=(sizes,))


def _pieces(given):
    return list(np.ravel(given.to_delayed()))


def _positive_label(labels, pos_label):
    """The positive class, as `ubauc.metrics` chooses it: the larger of two."""
    if pos_label is not None:
        return True
    classes = sorted({label for of_part in labels for label in of_part})
    if len(classes) > 2:
        raise ValueError(f"y has {len(classes)} classes or more: name the positive one, pos_label")
    if len(classes) == 1 and isinstance(classes[0], bool | int | float) and not classes[0] > 0:
        return None  # one class alone, and not the positive one
    return classes[-1] if classes else None


def _aligned(array, dtype=np.uint64):
    """Ready for Rust: what crossed the wire may lie at any byte."""
    return np.require(array, dtype, ["C", "ALIGNED"])


# What runs on the workers.


def _two_labels(y, pos_label):
    """The labels there are, ascending, and which rows have the last of them."""
    if pos_label is not None:
        return [False, True], y == pos_label
    if not y.size:
        return [], np.zeros(0, dtype=bool)
    if y.dtype.kind in "iuf":
        # Two passes in place of a sort.
        low, high = y.min(), y.max()
        last = y == high
        if np.isfinite([low, high]).all() and (last | (y == low)).all():
            return [low.item()] if low == high else [low.item(), high.item()], last
    classes = np.unique(y)
    if y.dtype.kind == "f" and not np.isfinite(classes).all():
        row = int(np.flatnonzero(~np.isfinite(y))[0])
        raise ValueError(f"label of example {row + 1} is {y[row]}; it must be finite")
    if classes.size > 2:
        raise ValueError(f"y has {classes.size} classes: name the positive one, pos_label")
    return classes.tolist(), y == classes[-1]


def _split(partition, y, scores, pos_label):
    """Labels there are, which rows have the last of them, and the scores, ready for Rust."""
    y, scores = np.asarray(y), np.asarray(scores)
    try:
        if y.shape != scores.shape:
            raise ValueError(f"{len(y)} labels, but {len(scores)} scores")
        labels, last = _two_labels(y, pos_label)
        return labels, _aligned(last, bool), _aligned(scores, np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"partition {partition}: {error}") from error


def _keys_by_label(partition, y, scores, pos_label):
    labels, last, scores = _split(partition, y, scores, pos_label)
    try:
        keys = _core.keys_by_class(scores, last)
    except ValueError as error:
        raise ValueError(f"partition {partition}: {error}") from error
    return labels, keys[2 - len(labels) :]


def _labels_and_counts(part):
    labels, keys = part
    return labels, [len(k) for k in keys]


def _by_class(part, positive):
    """The keys of the negatives and of the positives."""
    keys = [np.zeros(0, np.uint64), np.zeros(0, np.uint64)]
    for label, found in zip(*part, strict=True):
        keys[label == positive] = _aligned(found)
    return keys


def _count_cells(part, positive, spans):
    return _core.count_cells(*_by_class(part, positive), _aligned(spans))


def _scatter(part, positive, ranges):
    return _core.scatter_keys(*_by_class(part, positive), [_aligned(pieces) for pieces in ranges])


def _range_of(scattered, r):
    return scattered[r]


def _range_sums(pieces, parts):
    parts = [(_aligned(neg), _aligned(pos)) for neg, pos in parts]
    return _core.range_sums(_aligned(pieces), parts)


def _count_buckets(partition, y, scores, pos_label, bits):
    """The labels there are, and the counts with the last of them as the positive one. One label
    alone may be either: then also with it as the negative one."""
    labels, last, scores = _split(partition, y, scores, pos_label)
    try:
        counted = [StreamingAUC(bits).update(last, scores)]
        if len(labels) == 1:
            counted.append(StreamingAUC(bits).update(~last, scores))
    except ValueError as error:
        raise ValueError(f"partition {partition}: {error}") from error
    return labels, counted
