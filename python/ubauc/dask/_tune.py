"""β, γ and the kind of least squares by AUC cross-validated over the rows of all partitions.

As `ubauc tune` does it, but for the fifth held out and logistic regression beside it: five folds,
stratified over all partitions; a fold is left out by weights of 0, so nothing is copied, and each
fold has its Gram matrix once. The grid is walked in a serpentine, each fit starting from its
neighbour's. A fold's AUC is exact (`_auc.py`), each example counting once.
"""

import json

from .. import _core
from .._problem import Solution
from ..exceptions import CollapseWarning, warn_user
from ._auc import _exact, _Rounds
from ._rounds import Rounds
from ._task import FOLDS

# The relative gap at which points are compared.
COARSE = 1e-3


def tune(cluster, task, params, spent):
    """What was tried, and the best of it."""
    grid = json.loads(_core.tune_grid())
    betas = grid["betas"] if params["beta"] is None else [params["beta"]]
    gammas = grid["gammas"] if params["gamma"] is None else [params["gamma"]]
    kind = params["least_squares"]
    kinds = grid["least_squares"] if kind is None else [kind]
    walk = list(serpentine(betas, gammas))
    folds = task.without_each(FOLDS, cluster.of_pair(task))

    def judge(of):
        """Every point of the grid on one fold."""
        left_out, kind = of
        rounds = Rounds(cluster.partitions, left_out, spent)
        try:
            options = {**params, "least_squares": kind, "progress": None}
            asked = _core.Rounds(rounds, cluster.cols, options)
            return [_judged(cluster, left_out, asked.fit(*at, COARSE, None)) for at in walk]
        finally:
            rounds.close()

    tasks = [(fold, kind) for kind in kinds for fold in folds]
    judged = spent.each(judge, tasks, cluster.rows)
    points = []
    for of_kind, kind in enumerate(kinds):
        of_folds = judged[of_kind * FOLDS : (of_kind + 1) * FOLDS]
        for (beta, gamma), found in zip(walk, zip(*of_folds, strict=True), strict=True):
            aucs, collapsed = zip(*found, strict=True)
            points.append((beta, gamma, kind, list(aucs), any(collapsed)))
    chosen, judged = _core.choose_point(points)
    if chosen is None:
        beta = max(betas)
        warn_user(
            f"every beta that was tried collapsed; beta = {beta:g} is taken, and the features "
            "hardly tell the classes apart",
            CollapseWarning,
        )
        # The rest as where nothing is chosen.
        best = {"beta": beta}
    else:
        beta, gamma, kind, *_ = points[chosen]
        best = {"beta": beta, "gamma": gamma, "least_squares": kind}
    return {"points": json.loads(judged), "chosen": chosen, "best": best}


def serpentine(betas, gammas):
    """β falling, γ falling and rising by turns."""
    gammas = sorted(gammas, reverse=True)
    for turn, beta in enumerate(sorted(betas, reverse=True)):
        yield from ((beta, gamma) for gamma in (gammas if turn % 2 == 0 else gammas[::-1]))


def _judged(cluster, task, found):
    """The AUC of the fold left out, and whether the model has collapsed."""
    auc = held_out_auc(cluster, task, found["weights"])
    return auc, found["collapsed"] or not found["weights"].any()


def held_out_auc(cluster, task, weights):
    """AUC of the rows that a fold leaves out, by a model that has not seen them."""
    partitions = cluster.partitions
    parts = partitions.keep("held-out", held_out_keys, task=task, weights=weights)
    return _exact(_Rounds(cluster.client), parts, True).auc


def held_out_keys(partition, number, task, weights):
    """Keys of the scores of rows left out, by class."""
    positive, _, left_out = task.labels(partition, number)
    # AUC does not depend on an intercept.
    model = Solution(weights=weights, offset=0.0, cut=0.0, scale="none").model()
    scores = partition.part.scores(model)[left_out]
    return [False, True], _core.keys_by_class(scores, positive[left_out])
