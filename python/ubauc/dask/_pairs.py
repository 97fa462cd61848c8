"""Which pairs of columns are worth a table, of rows on a cluster.

As for rows in memory (`ubauc::glass_box`): residuals of an additive model at rows that it has not
seen, summed over the cells of all pairs. Every partition sums its own rows, and the sums are added
up here in the order of the partitions. Nothing is kept between tasks, so that a worker that dies
while pairs are ranked costs its share of one round.
"""

import json
from dataclasses import replace

import numpy as np

from .. import _core
from .._problem import Solution, context, encoded
from ._groups import Groups
from ._rounds import Rounds

# Cells of pairs whose sums, 40 bytes each, are added up at once.
CELLS = 4_000_000


def counted(partition, number, task):
    """Negatives and positives that are learned from."""
    positive, weights = task.learned(partition, number)
    used = np.ones_like(positive) if weights is None else weights > 0
    return int((used & ~positive).sum()), int((used & positive).sum())


def folds_of(cluster, task, k, seed):
    """The problem without each of k folds of its rows, and the log-odds of a row that is in none:
    folds are none where a class, or its groups, are too few."""
    of_parts = np.array(cluster.partitions.each("counted", counted, task=task))
    totals = of_parts.sum(axis=0)
    odds = _core.prior_log_odds(*(int(n) for n in totals))
    inner = replace(task, fold=None, deal=0, dealt_as=None, held_out=task, folds=k, seed=seed)
    if cluster.has_groups:
        groups = Groups(cluster, task)
        try:
            dealt = _core.folds_of_groups(groups.counts, k, seed)
        except ValueError:
            return [], odds
        return groups.without_each(k, [dealt], inner), odds
    if totals.min() < k:
        return [], odds
    before = tuple(map(tuple, (np.cumsum(of_parts, axis=0) - of_parts).tolist()))
    return [replace(inner, fold=fold, dealt=before, in_turn=True) for fold in range(k)], odds


def main_sums(partition, number, features, weights):
    return _core.main_sums(partition.part, features, aligned(weights))


def pair_sums(partition, number, task, models, odds, sides, pairs, first):
    """Residuals of the rows that are learned from, in the cells of some pairs."""
    positive, weights = task.learned(partition, number)
    log_odds = np.full(positive.size, odds)
    for fold, model in models:
        left_out = fold.labels(partition, number)[2]
        if left_out.any():
            model = model | {"weights": aligned(model["weights"])}
            log_odds[left_out] = _core.scores_table(partition.part, model, 1)[left_out]
    rows = (log_odds, positive, weights)
    return _core.pair_sums(partition.part, sides, pairs, rows, first[number])


def pair_counts(partition, number, task, sides, pairs):
    _, weights = task.learned(partition, number)
    return _core.pair_counts(partition.part, sides, pairs, weights)


def aligned(numbers):
    """As they were before they travelled."""
    return np.require(numbers, np.float64, ["C", "ALIGNED"])


class Pairs:
    """All pairs of the rows of a problem, ranked; maps with some of them are cheap."""

    def __init__(self, maps, task, learner, spent):
        self._cluster, self._task = maps.cluster, task
        about = json.loads(_core.residual_spec())
        additive = learner.additive()
        folds, odds = folds_of(self._cluster, task, about["folds"], about["seed"])
        models = self._models(maps, folds, additive, about["spec"], spent)
        partitions = self._cluster.partitions
        # Of one of the models, as good as any.
        last = models[-1][1]["weights"] if models else np.zeros(additive.cols)
        of_main = {"features": additive.features, "weights": last}
        self._learner = _core.PairLearner(
            learner, partitions.each("main-sums", main_sums, **of_main)
        )
        self._sides = self._learner.sides
        rows = [part["shape"][0] for part in self._cluster.about]
        first = (np.cumsum(rows) - rows).tolist()
        given = {"task": task, "models": models, "odds": odds, "sides": self._sides, "first": first}
        for pairs in self._learner.blocks(max(rows), CELLS // len(rows) + 1):
            self._learner.add(partitions.each("pair-sums", pair_sums, pairs=pairs, **given))

    def _models(self, maps, folds, additive, spec, spent):
        """For each fold the model that has not seen it."""
        models, start = [], None
        of_map, _ = maps.applied(self._task, additive)
        try:
            for fold in folds:
                of_features = replace(fold, cols=additive.cols)
                rounds = Rounds(of_map.partitions, of_features, spent)
                try:
                    of_call = context(["0", "1"], 1)
                    sizes = of_map.sizes(of_features)
                    given = (sizes, encoded(spec), of_call, start, additive)
                    found = _core.fit_rounds(rounds, *given)
                finally:
                    rounds.close()
                start = found["weights"]
                model = Solution(
                    weights=start,
                    offset=found["intercept"],
                    cut=0.0,
                    scale="none",
                    features=additive.features,
                )
                models.append((fold, model.model()))
        finally:
            of_map.partitions.release()
        return models

    def learned(self, choice):
        """The additive map with tables of the pairs that are chosen."""
        choice = json.dumps(choice)
        pairs = self._learner.choose(choice)
        given = {"task": self._task, "sides": self._sides, "pairs": pairs}
        counts = self._cluster.partitions.each("pair-counts", pair_counts, **given)
        return self._learner.with_pairs(choice, counts)
