"""Local SGD with averaging: the online learner on every partition, its weights averaged per epoch.

Each epoch every partition is learned from the same weights, in an order of its own, and the results
are averaged by the number of examples with a weight. Features are centred at their means over all
partitions: at those of a partition of one class only, nothing would tell its class. It has no
certificate of its own: the batch solver's look at its weights gives one, and starts from them if
asked to.

Zinkevich et al., NIPS 2010 (one averaging); Stich, ICLR 2019 (one each epoch).
"""

import numpy as np

from .. import _core
from .._problem import encoded


def first_step(partition, number, task, spec, seed):
    """eta0 by trial on some of a partition that has both classes."""
    positive, weights = task.learned(partition, number)
    learner = _core.Learner(spec)
    order = np.random.default_rng([seed, 0, number]).permutation(positive.size)
    if weights is not None:
        order = order[weights[order] > 0]
    _core.find_eta0_of_part(learner, partition.part, positive, order)
    return learner.eta0


def moments(partition, number, task):
    """How many examples count, the sum of each feature, and how often it is not 0."""
    return partition.part.moments(task.learned(partition, number)[1])


def epoch(partition, number, task, spec, means, state, turn, seed):
    """One pass over a partition from weights, intercept and threshold; how many counted."""
    positive, weights = task.learned(partition, number)
    counted = positive.size if weights is None else int((weights > 0).sum())
    w, intercept, threshold, done = state
    order = np.random.default_rng([seed, turn, number]).permutation(positive.size)
    learner = _core.Learner(spec)
    if means is not None:
        learner.start_means(*means)
    learner.start_from(np.require(w, np.float64, ["C", "ALIGNED"]), intercept, threshold)
    learner.take_steps(done)
    _core.learn_part(learner, partition.part, positive, weights, order)
    found = np.zeros(task.cols)
    seen = learner.weights()
    found[: seen.size] = seen
    return found, learner.intercept, learner.threshold, counted


def learn(cluster, task, spec, epochs, check):
    """The weights after this many epochs, and eta0, the first step; `check` raises to end it."""
    partitions = cluster.partitions
    if spec["scale"] == "standard":
        raise ValueError("scale='standard' is not for the online solver on a cluster; use 'maxabs'")
    # Averages within an epoch would lag behind; those between partitions do their work.
    spec = spec | {"average": None}
    if spec["finds_eta0"]:
        # Where no partition has both classes there is nothing to try it on.
        both = np.flatnonzero((cluster.of_problem(task) > 0).all(axis=1))[:1].tolist()
        given = {"task": task, "spec": encoded(spec), "seed": task.seed}
        found = partitions.each("eta0", first_step, both, **given) if both else [1.0]
        spec["eta0"] = found[0]
    options = {"task": task, "spec": encoded(spec), "seed": task.seed}
    options["means"] = None
    if spec["intercept"]:
        examples, sums, counts = zip(*partitions.each("moments", moments, task=task), strict=True)
        options["means"] = sum(examples), sum(sums), sum(counts)
    state = (np.zeros(task.cols), 0.0, 0.0, 0)
    for turn in range(epochs):
        check()
        found = partitions.each("epoch", epoch, turn=turn, state=state, **options)
        found = [part for part in found if part[3] > 0]
        total = sum(part[3] for part in found)
        w = sum(part[0] * (part[3] / total) for part in found)
        intercept = sum(part[1] * (part[3] / total) for part in found)
        threshold = sum(part[2] * (part[3] / total) for part in found)
        longest = max(part[3] for part in found)
        state = (w, intercept, threshold, state[3] + longest)
    return state[0], spec["eta0"]
