"""The loss and γ by AUC cross-validated over the rows of all partitions.

The search is the library's, the same as for rows in memory (`ubauc::tune`); here is only how its
folds are reached. They are stratified over all partitions. A fold is left out by weights of 0, so
nothing is copied. Its AUC is exact (`_auc.py`), each row counting once. No rows are held out.
"""

import numpy as np

from .. import _core
from .._problem import Solution, chosen, context, search_of
from ._auc import _exact, _Rounds
from ._rounds import ROWS_AT_ONCE, Rounds
from ._task import FOLDS

# Fits that are under way at once, at most: they are mostly waiting.
AT_ONCE = 10


def tune(pair, spec):
    """The parameters with what was found, and what was tried."""
    cluster, task, spent = pair.cluster, pair.task, pair.spent
    counted = cluster.of_pair(task)
    folds = task.without_each(FOLDS, counted)
    rows = cluster.sizes(task) | {
        "unavoidable": unavoidable(cluster, task),
        "without": lambda fold: Rounds(cluster.partitions, folds[fold], spent),
        "judge": lambda fold, weights: judged(cluster, folds[fold], weights),
    }
    spent.at_once = max(1, min(AT_ONCE, ROWS_AT_ONCE // max(1, cluster.rows)))
    try:
        search = search_of(pair.estimator, spec, task.seed)
        found = _core.tune_rounds(rows, search, context(pair.names(), spent.at_once))
    except BaseException:
        # What is still under way in threads need not go on.
        spent.stopped = True
        raise
    finally:
        spent.at_once = 1
    return chosen(spec, found)


def unavoidable(cluster, task):
    """Rows that every model ties, for having the same features, as for rows in memory."""

    def merged(**arguments):
        return _core.merged_kinds(partitions.each("kinds", kinds, task=task, **arguments))

    partitions = cluster.partitions
    found = merged()
    hashes, _, is_partial = found
    if is_partial:
        found = merged(hashes=hashes)
    return _core.unavoidable(found, task.cols)


def kinds(partition, number, task, hashes=None):
    """How many rows of a partition are equal to each other: of each kind, or of the large ones."""
    positive, weights = task.learned(partition, number)
    counted = np.ones_like(positive) if weights is None else weights > 0
    return _core.kinds_of_part(partition.part, counted, task.cols, hashes)


def judged(cluster, task, weights):
    """AUC of the rows that a fold leaves out, by a model that has not seen them, and whether all
    their scores are equal."""
    partitions = cluster.partitions
    parts = partitions.keep("held-out", held_out_keys, task=task, weights=weights)
    found = _exact(_Rounds(cluster.client), parts, True)
    return found.auc, found.ties == found.n_pos * found.n_neg


def held_out_keys(partition, number, task, weights):
    """Keys of the scores of rows left out, by class."""
    positive, _, left_out = task.labels(partition, number)
    # AUC does not depend on an intercept.
    model = Solution(weights=weights, offset=0.0, cut=0.0, scale="none").model()
    scores = partition.part.scores(model)[left_out]
    return [False, True], _core.keys_by_class(scores, positive[left_out])
