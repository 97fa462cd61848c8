"""Tables on the workers: their map is learned from what every partition counts, and applied there.

Sums are exact and counts are whole, so that the map is that of one machine, to the last bit,
whatever the partitions. The map of a problem without a fold is learned without that fold.
"""

import copy
import copyreg
import threading
from dataclasses import replace

import numpy as np

from .. import _core
from .._table import array_columns, columns_of, frame_of, has_numbers_only, numbers_of, table_of
from .._tabular import kinds_wanted
from ._workers import Partitions


def _table(names, columns, rows):
    return table_of(columns, names, rows)


# A table that moves from one worker to another does so as its columns.
copyreg.pickle(_core.Table, lambda table: (_table, table.fields()))


def names_of(columns):
    """As scikit-learn has it: names are strings, all of them."""
    is_named = all(isinstance(name, str) for name in columns)
    return list(columns) if is_named else [f"x{j}" for j in range(len(columns))]


def part_of_frame(x, categorical):
    """Rows of complete numbers, or a table."""
    frame = frame_of(x)
    names = names_of(frame.columns)
    wanted = kinds_wanted(categorical, names, len(names))
    if "category" not in wanted and has_numbers_only(frame) and not frame.isna().any(axis=None):
        return np.asarray(frame)
    columns = columns_of(frame, names, wanted)
    numbers = numbers_of(columns) if "category" not in wanted else None
    return table_of(columns, names, len(frame)) if numbers is None else numbers


def as_table(partition, number=None):
    """The same rows as a table."""
    if isinstance(partition.part, _core.Table):
        return partition
    values, rows, cols = partition.part.numbers()
    columns = array_columns(values.reshape(rows, cols), [None] * cols)
    names = names_of(partition.columns)
    return replace(partition, part=table_of(columns, names, rows))


def summary(partition, number, task):
    """What is counted of the rows that are learned from."""
    _, weights = task.learned(partition, number)
    return partition.part.summary(weights)


def mapped(partition, features):
    """Rows of features."""
    return replace(partition, part=partition.part.mapped(features))


class Maps:
    """The partitions of a cluster by the map of each problem."""

    def __init__(self, cluster):
        self._cluster = cluster
        self._lock = threading.Lock()
        self._known = {}

    def of(self, task):
        """The cluster with rows of features, the problem with their number, and the map."""
        with self._lock:
            if task not in self._known:
                self._known[task] = self._learned(task)
            return self._known[task]

    def _learned(self, task):
        cluster = self._cluster
        parts = cluster.partitions.each("summary", summary, task=task)
        features, cols = _core.map_of_summaries(parts)
        client = cluster.client
        # Sent once to each worker, however many partitions it has.
        sent = client.scatter(features, hash=False)
        futures = [
            client.submit(mapped, future, sent, pure=False) for future in cluster.partitions.futures
        ]
        of_map = copy.copy(cluster)
        of_map.partitions = Partitions(client, futures)
        of_map.cols = cols
        return of_map, replace(task, cols=cols), features

    def release(self):
        for cluster, _, _ in self._known.values():
            cluster.partitions.release()
        self._known = {}
