"""The loss and γ by AUC cross-validated over the rows of all partitions.

The search is the library's, the same as for rows in memory (`ubauc::tune`); here is only how its
folds are reached. They are stratified over all partitions. A fold is left out by weights of 0, so
nothing is copied. Its AUC is exact (`_auc.py`), each row counting once; for another criterion its
scores are brought here. A fifth of the rows is held out first, `MOST` at most: the choice and
logistic regression are fitted to the others and compared on these.
"""

import json
from dataclasses import replace

import numpy as np

from .. import _core
from .._problem import Solution, chosen, context, search_of
from ._auc import _exact, _Rounds
from ._calibrate import MOST
from ._rounds import ROWS_AT_ONCE, Rounds
from ._task import FOLDS

# Fits that are under way at once, at most: they are mostly waiting.
AT_ONCE = 10
# The share held out for the comparison with logistic regression; 0 for none.
HELD_OUT = 0.2


def tune(pair, spec):
    """The parameters with what was found, and what was tried."""
    cluster, task, spent = pair.cluster, pair.task, pair.spent
    criterion = pair.estimator.criterion
    counted, outer = cluster.of_pair(task), None
    if HELD_OUT:
        outer, task, counted = task.hold_out(min(HELD_OUT, MOST / counted.sum()), counted)
    search = search_of(pair.estimator, spec, task.seed)
    deals, k = _core.deals(search, int(counted.sum()))
    folds = task.without_each(k, counted, deals)
    n_neg, n_pos = (int(n) for n in counted.sum(axis=0))
    of_folds = [cluster.mapped(fold) for fold in folds]

    def without(fold):
        of_map, of_features, _ = of_folds[fold]
        return Rounds(of_map.partitions, of_features, spent)

    def judge(fold, weights):
        of_map, of_features, _ = of_folds[fold]
        return judged(of_map, of_features, weights, criterion)

    rows = {
        "n_neg": n_neg,
        "n_pos": n_pos,
        "cols": cluster.cols,
        # Of tables by the features of the first fold, as for those in memory.
        "unavoidable": unavoidable(of_folds[0][0], replace(task, cols=of_folds[0][1].cols)),
        "without": without,
        "judge": judge,
        "maps": None if cluster.maps is None else [features for _, _, features in of_folds],
    }
    spent.at_once = max(1, min(AT_ONCE, ROWS_AT_ONCE // max(1, cluster.rows)))
    try:
        found = _core.tune_rounds(rows, search, context(pair.names(), spent.at_once))
    except BaseException:
        # What is still under way in threads need not go on.
        spent.stopped = True
        raise
    finally:
        spent.at_once = 1
    best, tuned = chosen(spec, found)
    if tuned is not None and outer is not None:
        is_logistic = json.loads(found)["is_logistic"]
        compare(pair, outer, best, tuned, is_logistic)
    return best, tuned


def compare(pair, outer, best, tuned, is_logistic):
    """Adds the verdict: the choice beside logistic regression on rows that neither has seen."""
    names = ("beta", "gamma", "softness", "class_weight", "least_squares")
    logistic = tuned["points"][tuned["logistic"]]
    logistic = {name: logistic[name] for name in names}
    ours = pair.minimum(outer, best)
    theirs = ours
    if logistic != {name: best[name] for name in names}:
        theirs = pair.minimum(outer, best | logistic)
    cluster, outer, _ = pair.cluster.mapped(outer)
    columns = held_out_scores(cluster, outer, ours.weights, theirs.weights)
    verdict, is_worse = _core.verdict(*columns, is_logistic)
    tuned.update(verdict=json.loads(verdict), is_worse_than_logistic=is_worse)


def held_out_scores(cluster, task, *models):
    """Scores of the rows left out by each of some weights, and which of these are positive."""
    pieces = cluster.partitions.each("held-out", scores_of, task=task, models=models)
    return [np.concatenate(column) for column in zip(*pieces, strict=True)]


def scores_of(partition, number, task, models):
    positive, _, left_out = task.labels(partition, number)
    scores = [partition.part.scores(model_of(weights))[left_out] for weights in models]
    return *scores, positive[left_out]


def model_of(weights):
    # AUC does not depend on an intercept.
    return Solution(weights=weights, offset=0.0, cut=0.0, scale="none").model()


def unavoidable(cluster, task):
    """Rows that every model ties, for having the same features, as for rows in memory."""

    def merged(**arguments):
        parts = partitions.each("kinds", kinds, task=task, **arguments)
        return _core.merged_kinds([(*map(aligned, part[:2]), part[2]) for part in parts])

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
    hashes = None if hashes is None else aligned(hashes)
    return _core.kinds_of_part(partition.part, counted, task.cols, hashes)


def aligned(numbers):
    """As they were before they travelled."""
    return np.require(numbers, np.uint64, ["C", "ALIGNED"])


def judged(cluster, task, weights, criterion):
    """The criterion of the rows that a fold leaves out, by a model that has not seen them, and
    whether all their scores are equal."""
    partitions = cluster.partitions
    if criterion != "auc":
        if cluster.rows > MOST * FOLDS:
            raise ValueError(
                f"criterion = {criterion!r}: must be 'auc' for more than {MOST * FOLDS:,} rows on "
                "a cluster, whose scores are not brought to one place"
            )
        scores, positive = held_out_scores(cluster, task, weights)
        return _core.criterion(criterion, scores, positive), bool(np.ptp(scores) == 0)
    parts = partitions.keep("held-out", held_out_keys, task=task, weights=weights)
    found = _exact(_Rounds(cluster.client), parts, True)
    return found.auc, found.ties == found.n_pos * found.n_neg


def held_out_keys(partition, number, task, weights):
    """Keys of the scores of rows left out, by class."""
    positive, _, left_out = task.labels(partition, number)
    scores = partition.part.scores(model_of(weights))[left_out]
    return [False, True], _core.keys_by_class(scores, positive[left_out])
