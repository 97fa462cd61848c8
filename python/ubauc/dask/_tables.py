"""Tables on the workers: their map is learned from what every partition counts, and applied there.

Sums are exact and counts are whole, so that the map is that of one machine, to the last bit,
whatever the partitions; where the values of a number are cut into bins is found by counting again
and again, no value is counted that no bin depends on. Pairs are ranked by sums that are added up in
the order of the partitions (`_pairs.py`). How much columns and pairs are shrunk is found by fits to
all rows. The map of a problem without a fold is learned without that fold.
"""

import copy
import copyreg
import json
import threading
from dataclasses import replace

import numpy as np

from .. import _core
from .._problem import context
from .._table import (
    array_columns,
    columns_of,
    default_names,
    frame_of,
    has_numbers_only,
    numbers_of,
    table_of,
)
from .._tabular import kinds_wanted
from ._pairs import Pairs
from ._rounds import Rounds
from ._workers import Partitions


def _table(names, columns, rows):
    return table_of(columns, names, rows)


# A table that moves from one worker to another does so as its columns.
copyreg.pickle(_core.Table, lambda table: (_table, table.fields()))


def names_of(columns):
    """As scikit-learn has it: names are strings, all of them."""
    is_named = all(isinstance(name, str) for name in columns)
    return list(columns) if is_named else default_names(len(columns))


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
    numbers = partition.part.numbers()
    if len(numbers) != 3:
        raise ValueError(f"{partition.name}: bins and pairs are for dense rows: X is sparse")
    values, rows, cols = numbers
    columns = array_columns(values.reshape(rows, cols), [None] * cols)
    names = names_of(range(cols) if partition.columns is None else partition.columns)
    return replace(partition, part=table_of(columns, names, rows))


def summary(partition, number, task):
    """What is counted of the rows that are learned from."""
    _, weights = task.learned(partition, number)
    return partition.part.summary(weights)


def mapped(partition, features):
    """Rows of features."""
    return replace(partition, part=partition.part.mapped(features))


def divided(partition, number, task, asked):
    """What the rows that are learned from have in the cells that are asked about."""
    _, weights = task.learned(partition, number)
    return _core.divided(partition.part, asked, weights)


def effect_sums(partition, number, task, features):
    """What effects need of the rows that are learned from."""
    _, weights = task.learned(partition, number)
    return _core.effect_sums(partition.part, features, weights)


def _shrunk(of_map, task, learned, spent):
    """The same map with factors of its columns and pairs that suit the rows."""
    rounds = Rounds(of_map.partitions, task, spent)
    try:
        return _core.shrunk_rounds(rounds, context(["0", "1"], 1), learned)
    except BaseException:
        of_map.partitions.release()
        raise
    finally:
        rounds.close()


class Maps:
    """The partitions of a cluster by the map of each problem."""

    def __init__(self, cluster):
        self.cluster = cluster
        self._lock = threading.RLock()
        self._known = {}
        self._learners = {}
        self._pairs = {}

    def of(self, task, kind, spent):
        """The cluster with rows of features, the problem with their number, and the map, which is
        of a kind that the library knows."""
        key = task, json.dumps(kind)
        with self._lock:
            if key not in self._known:
                learned = self._learned(task, kind, spent)
                of_map, of_features = self.applied(task, learned)
                if kind != "linear":
                    learned = _shrunk(of_map, of_features, learned, spent)
                self._known[key] = of_map, of_features, learned
            return self._known[key]

    def has_bins(self, task, spent):
        """Whether the additive map is another than the linear one."""
        with self._lock:
            return self._binned(task, spent).has_bins()

    def _binned(self, task, spent):
        """What is known of the columns, bins and all."""
        learner = self._learner(task)
        while (asked := learner.open()) is not None:
            spent.check()
            partitions = self.cluster.partitions
            learner.divide(partitions.each("values", divided, task=task, asked=asked))
        return learner

    def _learned(self, task, kind, spent):
        if kind == "linear":
            return self._learner(task).linear()
        learner = self._binned(task, spent)
        if kind == "additive":
            return learner.additive()
        if task not in self._pairs:
            self._pairs[task] = Pairs(self, task, learner, spent)
        return self._pairs[task].learned(kind["pairs"])

    def _learner(self, task):
        """What was counted of the columns."""
        if task not in self._learners:
            parts = self.cluster.partitions.each("summary", summary, task=task)
            self._learners[task] = _core.MapLearner(parts)
        return self._learners[task]

    def applied(self, task, learned):
        """The cluster with rows of the features of a map, and the problem with their number."""
        client, before = self.cluster.client, self.cluster.partitions.futures
        # Sent once to each worker, however many partitions it has. Not scattered: what is scattered
        # is lost with its worker.
        sent = client.submit(str, learned.features, pure=False)
        futures = [client.submit(mapped, future, sent, pure=False) for future in before]
        of_map = copy.copy(self.cluster)
        of_map.partitions = Partitions(client, futures)
        of_map.cols = learned.cols
        return of_map, replace(task, cols=learned.cols)

    def release(self):
        """Let the workers have the memory of the features back."""
        for cluster, _, _ in self._known.values():
            cluster.partitions.release()
        self._known = {}
