"""One problem of two classes: which rows of a partition take part in it, and their weights."""

from dataclasses import dataclass, replace

import numpy as np

from .. import _core
from .._problem import FOLDS


@dataclass(frozen=True)
class Task:
    """How a partition becomes a shard of one problem: which rows take part, and their weights."""

    cols: int
    # Labels of the negative and the positive class, and their weights.
    pair: tuple
    class_weight: tuple | None = None
    # Left out: this one of the folds. They are dealt by class, in an order of its own, going on
    # from partition to partition so that they are stratified as a whole.
    fold: int | None = None
    folds: int = FOLDS
    seed: int = 0
    dealt: tuple = ()
    # Which of several ways to deal them.
    deal: int = 0
    # In the order of the rows, as they are where pairs of columns are ranked.
    in_turn: bool = False
    # Whole groups are dealt, and the rows know it by this name; see `_groups.py`.
    dealt_as: str | None = None
    # The problem that holds rows out of this one altogether.
    held_out: "Task | None" = None

    def labels(self, partition, number):
        """Which rows are positive, the weights of all or None, and which a fold leaves out."""
        negative, positive = (partition.y == label for label in self.pair)
        weights = partition.weight
        if self.class_weight is not None or not (negative | positive).all():
            ones = np.ones(positive.size) if weights is None else weights
            of_negative, of_positive = self.class_weight or (1.0, 1.0)
            weights = ones * (negative * of_negative + positive * of_positive)
        if self.held_out is not None:
            _, left = self.held_out.learned(partition, number)
            if left is not None:
                weights = np.where(left > 0, 1.0 if weights is None else weights, 0.0)
        left_out = np.zeros(positive.size, dtype=bool)
        if self.dealt_as is not None:
            left_out = partition.folds[self.dealt_as][self.deal] == self.fold
            if weights is not None:
                left_out &= weights > 0
        elif self.fold is not None:
            counted = True if weights is None else weights > 0
            if self.in_turn:
                rows = np.flatnonzero((negative | positive) & counted)
                given = (positive[rows], self.dealt[number], self.folds, self.seed)
                left_out[rows[_core.folds_in_turn(*given) == self.fold]] = True
                return positive, weights, left_out
            for code, of_class in enumerate((negative, positive)):
                rows = np.flatnonzero(of_class & counted)
                stream = [self.seed, number, code]
                if self.held_out is not None or self.deal > 0:
                    # Other streams than that of what is held out.
                    stream += [3, self.deal]
                order = np.random.default_rng(stream).permutation(rows.size)
                folds = (np.arange(rows.size) + self.dealt[number][code]) % self.folds
                left_out[rows[order[folds == self.fold]]] = True
        return positive, weights, left_out

    def learned(self, partition, number):
        """Which rows are positive, and the weights to learn with: 0 for those left out."""
        positive, weights, left_out = self.labels(partition, number)
        if left_out.any():
            weights = np.where(left_out, 0.0, 1.0 if weights is None else weights)
        return positive, weights

    def shard(self, partition, number):
        """What the solver keeps for the rows of a partition."""
        positive, weights = self.learned(partition, number)
        return _core.Shard(partition.part, self.cols, positive, weights)

    def without_each(self, folds, counted, deals=1):
        """The same problem without each of the folds in turn; `counted` examples of both classes in
        each partition, dealt in one or more ways."""
        dealt = tuple(map(tuple, (np.cumsum(counted, axis=0) - counted).tolist()))
        return [
            replace(self, fold=k, folds=folds, dealt=dealt, deal=deal)
            for deal in range(deals)
            for k in range(folds)
        ]

    def hold_out(self, share, counted):
        """The problem whose fold 0 is held out, the one of the other rows, and how many examples of
        both classes that has in each partition; `share` is one over the number of folds."""
        outer = self.without_each(round(1 / share), counted)[0]
        before = np.array(outer.dealt)
        # Multiples of the number of folds among those dealt here.
        first = (before - 1) // outer.folds
        left = counted - ((before + counted - 1) // outer.folds - first)
        return outer, replace(self, held_out=outer), left
