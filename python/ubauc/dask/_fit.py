"""From partitions to solutions: who asks what of whom."""

import sys
from dataclasses import dataclass
from itertools import combinations
from numbers import Real

import numpy as np
from distributed import get_client

from .. import _core
from .._fit_warnings import warn_about
from .._model_file import class_name
from .._problem import (
    ENOUGH,
    context,
    encoded,
    first_map,
    given_to,
    map_name,
    searches,
    solution_of,
    spec_of,
)
from .._tabular import stays_linear
from .._weighted import class_weights
from . import _calibrate, _data, _online, _tune
from ._rounds import Rounds, Spent
from ._tables import Maps, as_table, effect_sums, names_of
from ._task import Task
from ._workers import Partitions


class Cluster:
    """Partitions on the workers, and what is known of them."""

    # Of many classes every binary problem chooses for itself.
    shared = None

    def __init__(self, client, loads, n_features=None, features="linear"):
        self.client = current(client)
        self._features = features
        self.partitions = Partitions(self.client, self.client.compute(loads))
        try:
            self._look(n_features)
        except BaseException:
            self.partitions.release()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *raised):
        # Not when Python gets round to it: what the workers hold is large.
        if self.maps is not None:
            self.maps.release()
        self.partitions.release()

    def _look(self, n_features):
        self.about = self.partitions.each("about", _data.about)
        self.maps = None
        self.cols = self._columns(n_features)
        self.rows = sum(part["shape"][0] for part in self.about)
        self.stored = sum(part["stored"] for part in self.about)
        if self._has_bins() or any(part["is_table"] for part in self.about):
            self._make_tables()
        self._widen()
        self.classes = self._classes()
        self.counts = self._counts("counts")
        self.counted = self._counts("counted")
        self.totals = self._counts("totals")
        self.has_groups = any(part["has_groups"] for part in self.about)
        names = self.about[0]["columns"]
        # As scikit-learn has it: names are strings, all of them.
        self.names = names if names and all(isinstance(name, str) for name in names) else None

    def _has_bins(self):
        """Whether numbers are columns of a table too; as for rows in memory."""
        if self._features != "auto":
            return self._features != "linear"
        is_sparse = any(part["is_sparse"] for part in self.about)
        return not is_sparse and not stays_linear(self.rows, self.cols, self.stored)

    def column_names(self):
        """As a map has them."""
        return names_of(self.about[0]["columns"] or range(self.cols))

    def _make_tables(self):
        """All partitions are tables if one is."""
        for k, part in enumerate(self.about):
            if not part["is_table"]:
                self.partitions.derive(k, as_table, "table")
        self.maps = Maps(self)

    def is_table(self):
        """Whether the features are still to be made of the columns."""
        return self.maps is not None

    def _classes(self):
        """The labels there are, ascending: all numbers, or all of one kind."""
        kinds = {}
        for part in self.about:
            if part["classes"].size:
                is_number = part["classes"].dtype.kind in "biuf"
                kinds.setdefault("numbers" if is_number else "names", part)
        if len(kinds) == 2:
            numbers, names = kinds["numbers"]["name"], kinds["names"]["name"]
            raise ValueError(f"y has numbers in {numbers}, but no numbers in {names}")
        classes = [part["classes"] for part in self.about if part["classes"].size]
        return np.unique(np.concatenate(classes)) if classes else np.array([])

    def _columns(self, n_features):
        widens = all(part["widens"] for part in self.about)
        widths = [part["shape"][1] for part in self.about]
        if widens:
            widest = max(widths)
            if n_features is not None and n_features < widest:
                name = self.about[widths.index(widest)]["name"]
                raise ValueError(f"{name}: {widest} features, but n_features is {n_features}")
            return widest if n_features is None else n_features
        first = self.about[0]
        for part in self.about:
            if part["shape"][1] != first["shape"][1]:
                raise ValueError(
                    f"{part['name']} has {part['shape'][1]} columns, but {first['name']} has "
                    f"{first['shape'][1]}"
                )
            if part["columns"] != first["columns"]:
                raise ValueError(
                    f"{part['name']} has the columns {list(part['columns'] or ())!r}, but "
                    f"{first['name']} has {list(first['columns'] or ())!r}"
                )
        return first["shape"][1]

    def _widen(self):
        """Give partitions of fewer columns the others, on the workers."""
        for k, part in enumerate(self.about):
            if part["shape"][1] < self.cols:
                self.partitions.derive(k, _data.widened, "widened", self.cols)

    def _counts(self, what):
        """Of each partition, examples of each class."""
        counts = np.zeros((len(self.about), self.classes.size), dtype=self.about[0][what].dtype)
        for row, part in zip(counts, self.about, strict=True):
            row[np.searchsorted(self.classes, part["classes"])] = part[what]
        return counts

    def of_problem(self, task):
        """Of each partition, examples of both classes of a problem that have a weight."""
        return self.counted[:, np.searchsorted(self.classes, task.pair)]

    def sizes(self, task):
        """Examples of both classes of a problem that have a weight, and the number of columns."""
        n_neg, n_pos = (int(n) for n in self.of_problem(task).sum(axis=0))
        return {"n_neg": n_neg, "n_pos": n_pos, "cols": self.cols}

    def check_classes(self):
        if self.counts.any() and not self.counted.any():
            raise ValueError("all sample weights are zero")
        if self.classes.size < 2:
            raise ValueError(
                "DaskUBAUCClassifier needs examples of at least 2 classes, but the data contain "
                + (f"only one class: {self.classes[0]!r}" if self.classes.size else "no examples")
            )


def current(client):
    """The client given, or the one that is there."""
    if client is None:
        try:
            client = get_client()
        except ValueError:
            raise ValueError(
                "no Dask client: start one with `from dask.distributed import Client; Client()`, "
                "or give client="
            ) from None
    if client.asynchronous:
        raise TypeError("the Dask client is asynchronous, and a fit waits: use one that is not")
    return client


def fit_problems(estimator, cluster):
    """The solution of each binary problem, and what the rounds cost."""
    seed = estimator._seed() % 2**32
    spec, weights = spec_of(estimator, seed), None
    if cluster.maps is not None and estimator.scale == "auto":
        # The map has standardised the numbers.
        spec["scale"] = "none"
    elif searches(estimator) and estimator.scale == "auto":
        spec["scale"] = _core.suited_scale(cluster.rows, cluster.cols, cluster.stored)
    if isinstance(estimator.class_weight, Real) and estimator.solver == "online":
        raise ValueError(
            f"class_weight = {estimator.class_weight}: a number needs solver = 'batch' on Dask"
        )
    if isinstance(estimator.class_weight, dict) or (
        estimator.class_weight == "balanced" and estimator.solver == "online"
    ):
        totals = cluster.totals.sum(axis=0)
        weights = class_weights(estimator.class_weight, cluster.classes, totals)
    of_table = first_map(estimator, cluster, spec) or "linear"
    solutions, spent = [], Spent()
    for i, j in combinations(range(cluster.classes.size), 2):
        task = Task(
            cols=cluster.cols,
            pair=(cluster.classes[i], cluster.classes[j]),
            class_weight=None if weights is None else (weights[i], weights[j]),
            seed=seed,
        )
        problem = BinaryProblem(estimator, cluster, task, spent, of_table)
        solutions.append(problem.solve(spec))
    return solutions, spent.cost()


@dataclass
class BinaryProblem:
    """How an estimator comes to the solution of one problem of two classes."""

    estimator: object
    cluster: Cluster
    task: Task
    spent: Spent
    # What becomes of a table, as the library has it.
    map: object = "linear"

    def mapped(self, task, kind=None):
        """The cluster, the problem and the map, after what becomes of a table has been learned."""
        if not self.cluster.is_table():
            return self.cluster, task, None
        return self.cluster.maps.of(task, kind or self.map, self.spent)

    def solve(self, spec):
        estimator, cluster, task = self.estimator, self.cluster, self.task
        counted, tuned = cluster.of_problem(task).sum(axis=0), None
        chooses = searches(estimator) or (estimator.features == "auto" and cluster.is_table())
        if chooses and counted.min() >= ENOUGH:
            spec, tuned = _tune.tune(self, spec)
        steps = self._steps(spec)

        def minimum(task, verbose=False):
            return self.minimum(task, spec, steps, verbose)

        solution = minimum(task, estimator.verbose)
        solution.tuned = tuned
        solution.map = map_name(self.map)
        solution.effects = self._effects(task, solution)
        n = int(counted.sum())
        # As many may be tied whatever the features are: examples are compared only above that.
        if solution.tied is not None and solution.tied > _core.most_tied(n, 0, 0):
            cluster, of_features, _ = self.mapped(task)
            unavoidable = _tune.unavoidable(cluster, of_features)
            solution.collapsed = solution.tied > _core.most_tied(n, of_features.cols, unavoidable)
        if estimator.solver != "online":
            warn_about(solution, n, spec)
        if estimator.calibrate is not None:
            if solution.eta0 is not None:
                # Not looked for again: a fold may leave no partition with both classes.
                steps |= {"eta0": solution.eta0, "finds_eta0": False}
            solution.calibration = _calibrate.calibration(self, minimum)
        return solution

    def _effects(self, task, solution):
        """What the rows say of columns and pairs; only of tables."""
        if not self.cluster.is_table():
            return None
        _, _, learned = self.mapped(task)
        given = {"task": task, "features": learned.features}
        sums = self.cluster.partitions.each("effects", effect_sums, **given)
        return _core.effects_of_sums(learned, solution.weights, solution.offset, sums)

    def minimum(self, task, spec, steps=None, verbose=False, kind=None):
        """The solution of a problem whose parameters, and map, are known."""
        found = self._minimum(task, spec, steps or self._steps(spec), verbose, kind)
        counts = tuple(int(n) for n in self.cluster.of_problem(task).sum(axis=0))
        return solution_of(found, spec, counts, task.seed)

    def _steps(self, spec):
        """The parameters of the online solver for the same problem."""
        steps = given_to("ol-ubauc", self.estimator, self.task.seed)
        names = ("beta", "gamma", "softness", "least_squares")
        # Weights of the classes come with the examples, from the totals of all partitions.
        return steps | {name: spec[name] for name in names} | {"class_weight": "none"}

    def names(self):
        """What the data calls the negative and the positive class."""
        return [class_name(label) for label in self.task.pair]

    def _minimum(self, task, spec, steps, verbose, kind):
        """What the solver finds of a problem whose parameters are known."""
        estimator = self.estimator
        cluster, task, learned = self.mapped(task, kind)
        online = estimator.solver == "online"
        start, eta0 = None, None
        if online or (estimator.start == "online" and spec["softness"] == 0):
            epochs = (estimator.max_iter or 10) if online else 1
            start, eta0 = _online.learn(cluster, task, steps, epochs, self.spent.check)
        if online:
            # Where that is, and how far from the minimum it can be: one look, no step.
            spec = given_to("ba-ubauc", estimator, task.seed) | {
                "scale": spec["scale"],
                "class_weight": "none",
                "max_newton": 0,
            }
        rounds = Rounds(cluster.partitions, task, self.spent)
        progress = Progress(estimator, rounds) if verbose else None
        try:
            of_call = context(self.names(), 1, progress)
            given = (cluster.sizes(task), encoded(spec), of_call, start, learned)
            found = _core.fit_rounds(rounds, *given)
        finally:
            rounds.close()
            if progress is not None:
                progress.close()
        if online:
            found.update(stop="max_passes", n_iter=epochs)
        found["eta0"] = eta0
        if learned is not None:
            found.update(features=learned.features, gains=learned.gains)
        return found


class Progress:
    """One line that is rewritten at every step, or a line each where that is not possible."""

    def __init__(self, estimator, rounds):
        self.name = type(estimator).__name__
        self.rounds = rounds
        self.in_place = sys.stderr.isatty() or "ipykernel" in sys.modules
        self.width = 0

    def __call__(self, step, objective, gap):
        gap = "unknown" if gap is None else f"{gap:.2g}"
        line = (
            f"[{self.name}] step {step}, {self.rounds.rounds} rounds: objective {objective:.9g}, "
            f"gap {gap}"
        )
        if self.in_place:
            print("\r" + line.ljust(self.width), end="", file=sys.stderr, flush=True)
            self.width = len(line)
        else:
            print(line, file=sys.stderr, flush=True)

    def close(self):
        """End the line."""
        if self.in_place and self.width:
            print(file=sys.stderr)
