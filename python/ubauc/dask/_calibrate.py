"""Probabilities by the scores of rows that a model has not seen.

As in one process: folds of all rows, stratified over the partitions; each is scored by a model of
the others, and one map from scores to probabilities is fitted to them all, here. At most `MOST`
scores are brought for it, of more a random part of each class is, weighted to make up for the rest.
"""

from dataclasses import replace

import numpy as np

from .. import _core
from .._problem import FOLDS
from ._groups import Groups

# 17 bytes each. Two numbers, or a step function, need no more.
MOST = 10_000_000


def calibration(problem, minimum):
    """Slope, offset, knots and levels; `minimum(task)` is a solution, found as for all rows."""
    cluster, task = problem.cluster, problem.task
    counted = cluster.of_problem(task)
    totals = [int(n) for n in counted.sum(axis=0)]
    folds = min(FOLDS, *totals)
    if folds < 2:
        raise ValueError("calibrate needs at least 2 examples of each class")
    kept = shares(totals)

    def scored(left_out):
        found = minimum(left_out)
        of_map, left_out, _ = problem.mapped(left_out)
        # The rows are those of the map already.
        found = replace(found, features=None)
        return of_map.partitions.each(
            "held-out",
            held_out,
            task=left_out,
            found=found,
            kept=kept,
        )

    if cluster.has_groups:
        groups = Groups(cluster, task)
        dealt = _core.folds_of_groups(groups.counts, folds, task.seed)
        tasks = groups.without_each(folds, [dealt])
    else:
        tasks = task.without_each(folds, counted)
    pieces = problem.spent.each(scored, tasks, cluster.rows)
    columns = zip(*(piece for of_fold in pieces for piece in of_fold), strict=True)
    return _core.calibrate(
        *(np.concatenate(column) for column in columns), problem.estimator.calibrate
    )


def shares(totals):
    """The part of each class that is brought here."""
    rare = min(*totals, MOST // 2)
    return tuple(min(1.0, (MOST - rare) / n) for n in totals)


def held_out(partition, number, task, found, kept):
    """Scores of the rows left out, which of them are positive, and their weights."""
    positive, of_rows, left_out = task.labels(partition, number)
    of_rows = np.ones(positive.size) if of_rows is None else of_rows
    share = np.where(positive, kept[1], kept[0])
    if min(kept) < 1.0:
        # Another stream than those that deal the folds, 0 and 1.
        random = np.random.default_rng([task.seed, number, 2])
        left_out = left_out & (random.random(positive.size) < share)
    scores = partition.part.scores(found.model())
    scores -= found.cut
    return scores[left_out], positive[left_out], (of_rows / share)[left_out]
