"""Groups of rows that lie in several partitions: whole groups are dealt, as one machine deals them.

How groups are dealt depends on how many examples of each class they have and on the order in which
they first appear, no more (`ubauc::data::split`). Every partition counts its own; the counts are
added up here, and each partition is told where the groups that it has belong. That is part of the
graph of its rows, so that it is not lost with a worker.
"""

import uuid
from dataclasses import replace

import numpy as np


def counts(partition, number, task):
    """The groups of the rows that take part, in order of appearance, and how many negatives and
    positives each has."""
    positive, weights = task.learned(partition, number)
    used = np.ones_like(positive) if weights is None else weights > 0
    labels, of_rows = partition.groups
    codes, first, inverse = np.unique(of_rows[used], return_index=True, return_inverse=True)
    found = np.zeros((codes.size, 2), dtype=np.int64)
    np.add.at(found, (inverse, positive[used].astype(int)), 1)
    order = np.argsort(first)
    return labels[codes[order]].tolist(), found[order]


def dealt(partition, name, labels, folds):
    """The same rows, each with the folds of its group; `folds` of every label and deal."""
    own, of_rows = partition.groups
    place = {label: at for at, label in enumerate(labels)}
    # A group without a row that takes part is in no fold.
    nowhere = np.full((folds.shape[0], 1), -1, dtype=folds.dtype)
    at = np.array([place.get(label, -1) for label in own.tolist()], dtype=np.intp)
    of_rows = np.concatenate([folds, nowhere], axis=1)[:, at[of_rows]]
    return replace(partition, folds={**(partition.folds or {}), name: of_rows})


class Groups:
    """All groups of the rows of one problem."""

    def __init__(self, cluster, task):
        self._cluster = cluster
        self._task = task
        places, found, self._parts = {}, [], []
        for labels, of_part in cluster.partitions.each("groups", counts, task=task):
            for label, n in zip(labels, of_part, strict=True):
                if label not in places:
                    found.append(np.zeros(2, dtype=np.int64))
                found[places.setdefault(label, len(places))] += n
            self._parts.append((labels, [places[label] for label in labels]))
        self.counts = np.array(found, dtype=np.int64).reshape(-1, 2)

    def without_each(self, k, deals, task=None):
        """The problem without each of k folds in turn; the fold of every group, each time that they
        are dealt, is known."""
        name, deals = uuid.uuid4().hex[:12], np.asarray(deals, dtype=np.int64)
        partitions = self._cluster.partitions
        for number, (labels, places) in enumerate(self._parts):
            partitions.derive(number, dealt, f"dealt-{name}", name, labels, deals[:, places])
        task = self._task if task is None else task
        return [
            replace(task, fold=fold, folds=k, deal=deal, dealt_as=name)
            for deal in range(deals.shape[0])
            for fold in range(k)
        ]
