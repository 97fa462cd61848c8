"""The loss and γ by AUC cross-validated over the rows of all partitions.

The search is the library's, the same as for rows in memory (`ubauc::tune`); here is only how its
folds are reached. They are stratified over all partitions. A fold is left out by weights of 0, so
nothing is copied. Its AUC is exact, each row counting once: of many rows by `_auc.py`; of few, and
for another criterion, its scores are brought here. A fifth of the rows is held out first, `MOST` at
most: the choice and logistic regression are fitted to the others and compared on these. Of a table
the map of its columns is learned without each fold, and chosen in the same way.
"""

import json
from dataclasses import replace

import numpy as np

from .. import _core
from .._problem import FOLDS, Solution, chosen, context, maps_of, search_of
from ..metrics._given import groups_of
from ._auc import _exact, _Rounds
from ._calibrate import MOST
from ._groups import Groups
from ._rounds import ROWS_AT_ONCE, Rounds

# Fits that are under way at once, at most: they are mostly waiting.
AT_ONCE = 10
# Rows of a fold whose scores are brought here for their AUC: one round in place of several.
FEW = 2**18
# The share held out for the comparison with logistic regression, as for rows in memory
# (`crates/ubauc/src/tune/params.rs`); 0 for none.
HELD_OUT = 0.2


def tune(problem, spec):
    """The parameters with what was found, and what was tried. Of several maps the problem takes the
    one that is chosen."""
    cluster, spent = problem.cluster, problem.spent
    search = search_of(problem.estimator, spec, problem.task.seed)
    dealing = dealt(cluster, problem.task, search)
    outer = dealing[0]

    def rows(kind):
        return rows_of(problem, dealing, json.loads(kind))

    spent.at_once = max(1, min(AT_ONCE, ROWS_AT_ONCE // max(1, cluster.rows)))
    of_call = context(problem.names(), spent.at_once)
    try:
        if problem.estimator.features == "linear" or not cluster.is_table():
            found = _core.tune_rounds(rows('"linear"'), search, of_call)
        else:
            table = {
                "examples": int(cluster.of_problem(problem.task).sum()),
                "columns": cluster.cols,
                "has_bins": lambda: cluster.maps.has_bins(problem.task, spent),
                "rows": rows,
            }
            maps = maps_of(problem.estimator)
            maps = None if maps is None else json.dumps(maps)
            found = _core.tune_map_rounds(table, maps, search, of_call)
    except BaseException:
        # What is still under way in threads need not go on.
        spent.stopped = True
        raise
    finally:
        spent.at_once = 1
    first, problem.map = problem.map, json.loads(found).get("map", problem.map)
    best, tuned = chosen(spec, found)
    if tuned is not None and outer is not None:
        is_logistic = json.loads(found)["is_logistic"]
        compare(problem, outer, best, tuned, first, is_logistic)
    return best, tuned


def rows_of(problem, dealing, kind):
    """The folds as the library reaches them, after a map was learned without each."""
    _, task, folds, counted = dealing
    cluster, criterion = problem.cluster, problem.estimator.criterion
    if cluster.is_table():
        # The rows of the features of maps that were tried before.
        cluster.maps.release()
    of_folds = [problem.mapped(fold, kind) for fold in folds]

    def without(fold):
        of_map, of_features, _ = of_folds[fold]
        return Rounds(of_map.partitions, of_features, problem.spent)

    def judge(fold, weights):
        of_map, of_features, _ = of_folds[fold]
        return judged(of_map, of_features, weights, criterion)

    n_neg, n_pos = (int(n) for n in counted)
    return {
        "n_neg": n_neg,
        "n_pos": n_pos,
        "folds": len(of_folds),
        "cols": cluster.cols,
        # Of tables by the features of the first fold, as for those in memory.
        "unavoidable": unavoidable(of_folds[0][0], replace(task, cols=of_folds[0][1].cols)),
        "without": without,
        "judge": judge,
        "maps": [learned for _, _, learned in of_folds] if cluster.is_table() else None,
    }


def dealt(cluster, task, search):
    """The problem that holds rows out, or None; that of the others, without each fold in turn, and
    their examples of both classes."""
    counted, outer = cluster.of_problem(task), None
    share = min(HELD_OUT, MOST / counted.sum())
    if cluster.has_groups:
        return dealt_by_groups(cluster, task, json.loads(search) | {"held_out": share})
    if share:
        outer, task, counted = task.hold_out(share, counted)
    total = counted.sum(axis=0)
    deals, k, judged = _core.deals(search, *total.tolist())
    return outer, task, task.without_each(k, counted, deals)[:judged], total


def dealt_by_groups(cluster, task, search):
    """The same of whole groups."""
    search, groups, outer = json.dumps(search), Groups(cluster, task), None
    held_out, deals = _core.deal_groups(groups.counts, search)
    if held_out.any():
        # In fold 0 of two.
        outer = groups.without_each(2, [np.where(held_out, 0, 1)])[0]
        task = replace(task, held_out=outer)
    deals = [np.where(held_out, -1, deal) for deal in deals]
    total = groups.counts[~held_out].sum(axis=0)
    _, k, _ = _core.deals(search, *total.tolist())
    return outer, task, groups.without_each(k, deals, task), total


def compare(problem, outer, best, tuned, first, is_logistic):
    """Adds the verdict: the choice beside logistic regression, on the map that was tried first, on
    rows that neither has seen."""
    names = ("beta", "gamma", "softness", "class_weight", "least_squares")
    logistic = tuned["points"][tuned["logistic"]]
    logistic = {name: logistic[name] for name in names}

    def scores(spec, kind):
        found = problem.minimum(outer, spec, kind=kind)
        cluster, of_features, _ = problem.mapped(outer, kind)
        return held_out_scores(cluster, of_features, found.weights)

    ours, positive = scores(best, problem.map)
    theirs = ours
    if problem.map != first or logistic != {name: best[name] for name in names}:
        theirs, _ = scores(best | logistic, first)
    groups = None
    if problem.cluster.has_groups:
        labels = problem.cluster.partitions.each("held-out", groups_of_held_out, task=outer)
        groups = groups_of(np.concatenate(labels), ours)
    verdict, is_worse = _core.verdict(ours, theirs, positive, groups, is_logistic)
    tuned.update(verdict=json.loads(verdict), is_worse_than_logistic=is_worse)


def held_out_scores(cluster, task, weights):
    """Scores of the rows left out, and which of these are positive."""
    pieces = cluster.partitions.each("held-out", scores_of, task=task, weights=weights)
    return [np.concatenate(column) for column in zip(*pieces, strict=True)]


def scores_of(partition, number, task, weights):
    positive, _, left_out = task.labels(partition, number)
    return partition.part.scores(model_of(weights))[left_out], positive[left_out]


def groups_of_held_out(partition, number, task):
    labels, of_rows = partition.groups
    return labels[of_rows[task.labels(partition, number)[2]]]


def model_of(weights):
    # AUC does not depend on an intercept.
    return Solution(weights=weights, offset=0.0, cut=0.0, scale="none").model()


def unavoidable(cluster, task):
    """Rows that every model ties, for having the same features, as for rows in memory."""

    def merged(**arguments):
        parts = partitions.each("kinds", kinds, task=task, **arguments)
        return _core.merged_equal_rows([(*map(aligned, part[:2]), part[2]) for part in parts])

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
    return _core.equal_rows_of_part(partition.part, counted, task.cols, hashes)


def aligned(numbers):
    """As they were before they travelled."""
    return np.require(numbers, np.uint64, ["C", "ALIGNED"])


def judged(cluster, task, weights, criterion):
    """The criterion of the rows that a fold leaves out, by a model that has not seen them, and
    whether all their scores are equal."""
    if criterion != "auc" and cluster.rows > MOST * FOLDS:
        raise ValueError(
            f"criterion = {criterion!r}: must be 'auc' for more than {MOST * FOLDS:,} rows on "
            "a cluster, whose scores are not brought to one place"
        )
    if criterion != "auc" or cluster.rows <= FEW * FOLDS:
        scores, positive = held_out_scores(cluster, task, weights)
        return _core.criterion(criterion, scores, positive), bool(np.ptp(scores) == 0)
    parts = cluster.partitions.keep("held-out", held_out_keys, task=task, weights=weights)
    found = _exact(_Rounds(cluster.client), parts, True)
    return found.auc, found.ties == found.n_pos * found.n_neg


def held_out_keys(partition, number, task, weights):
    """Keys of the scores of rows left out, by class."""
    positive, _, left_out = task.labels(partition, number)
    scores = partition.part.scores(model_of(weights))[left_out]
    return [False, True], _core.keys_by_class(scores, positive[left_out])
