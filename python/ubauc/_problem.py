"""One problem of two classes: what the solvers are given, and what they leave behind."""

import copyreg
import json
from dataclasses import dataclass, field, replace
from functools import partial
from numbers import Real

import numpy as np
from scipy.sparse import issparse

from . import _core
from ._callbacks import StoppedByCallback
from ._fit_warnings import warn_about
from .exceptions import CollapseWarning, warn_user

# Folds of a search, as in `crates/ubauc/src/tune/params.rs`, and of calibration.
FOLDS = 5
# "auto" needs this many examples of each class: five folds beside a fifth held out.
ENOUGH = 10

# Learners are pickled and copied as their state, which is bit for bit.
copyreg.pickle(_core.Learner, lambda learner: (_core_learner, (learner.to_bytes(),)))
copyreg.pickle(_core.RivalLearner, lambda learner: (_core_rival, (learner.to_bytes(),)))


def _core_learner(state):
    return _core.Learner.from_bytes(state)


def _core_rival(state):
    return _core.RivalLearner.from_bytes(state)


@dataclass
class Problem:
    """Rows, which of them are positive, and weights."""

    x: object
    positive: np.ndarray
    weights: np.ndarray | None
    # What the data calls the negative and the positive class.
    names: list[str]
    # Numbers of the groups that stay in one fold.
    groups: np.ndarray | None = None
    # What is chosen for the scorers of all classes together.
    shared: "SharedChoice | None" = None

    def is_table(self):
        """Whether the features are still to be made of the columns."""
        return isinstance(self.x, _core.Table)

    def training(self):
        """The rows of a table as maps are learned from them."""
        names = {"table": self.x, "positive": self.positive}
        return names | {"weights": self.weights, "groups": self.groups}

    def suited_scale(self):
        """What divides the features of rows of which nothing else is known."""
        stored = self.x.nnz if issparse(self.x) else np.count_nonzero(self.x)
        return _core.suited_scale(*self.x.shape, stored)

    def counts(self):
        """Examples of each class that have a weight."""
        used = np.ones_like(self.positive) if self.weights is None else self.weights > 0
        return int((used & ~self.positive).sum()), int((used & self.positive).sum())


@dataclass
class SharedChoice:
    """One map and one choice of the parameters for the scorers of many classes, made once."""

    x: object
    codes: np.ndarray
    weights: np.ndarray | None
    multi_class: str
    found: str | None = None
    features: str | None = None

    def map(self):
        """The linear map of a table, learned once."""
        if self.features is None:
            given = (self.x, self.codes, self.weights, self.multi_class)
            self.features = _core.class_map(*given)
        return self.features

    def enough(self):
        """Whether some class has enough examples to be chosen by."""
        used = self.codes if self.weights is None else self.codes[self.weights > 0]
        return np.bincount(used).max(initial=0) >= ENOUGH

    def tune(self, search, about):
        if self.found is None:
            is_table = isinstance(self.x, _core.Table)
            tune = _core.tune_classes_table if is_table else _core.tune_classes
            given = (self.x, self.codes, self.weights, self.multi_class)
            self.found = tune(*given, search, about)
        return self.found


@dataclass
class Solution:
    """What is known of a fitted binary problem."""

    weights: np.ndarray
    # Of the least squares; the command line's scores are w.x plus this.
    offset: float
    # The threshold of the command line, for scores with the offset.
    cut: float
    scale: str
    # Of the univariate bound.
    beta: float = np.nan
    gamma: float = np.nan
    softness: float = 0.0
    class_weight: str | float = "none"
    least_squares: str = "plain"
    n_iter: int = 1
    objective: float = np.nan
    dual: float | None = None
    gap: float | None = None
    tied: int | None = None
    collapsed: bool = False
    stop: str | None = None
    # As the model file has it: the interval of thresholds, with the offset.
    interval: list[float] | None = None
    counts: tuple[int, int] = (0, 0)
    n: int = 0
    eta0: float | None = None
    seed: int = 0
    trace: dict = field(default_factory=dict)
    tuned: dict | None = None
    # Slope, offset, knots and levels of the probabilities.
    calibration: tuple | None = None
    # What becomes of the columns of a row, as JSON; None if they are the features.
    features: str | None = None
    # What chose each pair of the map.
    gains: list[float] = field(default_factory=list)
    # How features share weights and are in order, until the effects are known.
    learned: object = None
    # "linear", "additive" or "pairs".
    map: str = "linear"
    # What the training rows say of columns and pairs, as JSON; None where nothing is known.
    effects: str | None = None
    # Of a model file: its parameters, and what only the command line has a use for, as JSON.
    parameters: dict | None = None
    file: str | None = None

    def model(self, classes=("-1", "1"), names=()):
        """The model as the library takes it."""
        return {
            "features": self.features or '{"kind": "identity"}',
            "weights": np.require(self.weights, np.float64, ["C", "ALIGNED"]),
            "intercept": self.offset,
            "threshold": self.cut,
            "calibration": self.calibration,
            "classes": list(classes),
            "names": list(names),
            "file": self.file,
        }

    def scores(self, x, n_jobs):
        """The score less the threshold, for every row; of the sign that decides."""
        score = _core.scores_table if isinstance(x, _core.Table) else _core.scores
        scores = score(x, self.model(), n_jobs)
        scores -= self.cut
        return scores

    def scores_of_columns(self, table, n_jobs):
        """The same of the names, columns and number of rows of a table."""
        scores = _core.scores_columns(*table, self.model(), n_jobs)
        scores -= self.cut
        return scores

    def expected_class(self, scores):
        """Scores on the scale of the least squares, between -1 and 1 or so.

        Without least squares they are log-odds, times the softness, and grow without bounds as
        gamma falls.
        """
        return np.tanh(scores / (2.0 * self.softness)) if self.beta == 0 else scores

    @property
    def threshold(self):
        """In units of w.x, without the offset."""
        return self.cut - self.offset

    def probabilities(self, scores):
        return _core.probabilities(scores, *self.calibration)


def defaults(algorithm):
    """Its parameters where nothing is given, by the library's names."""
    return json.loads(_core.defaults(algorithm))


def _class_weight(given):
    """As the library takes it; those of a dict multiply the sample weights instead."""
    if isinstance(given, Real):
        return float(given)
    return "balanced" if given == "balanced" else "none"


def given_to(algorithm, estimator, seed):
    """The parameters of an algorithm; what is "auto" is the library's default."""
    spec = defaults(algorithm)
    given = {
        "beta": _number(estimator.beta),
        "gamma": _number(estimator.gamma),
        "softness": _number(estimator.softness),
        "class_weight": _class_weight(estimator.class_weight),
        "least_squares": estimator.least_squares,
        "intercept": bool(estimator.fit_intercept),
        "scale": estimator.scale,
    }
    if algorithm == "ol-ubauc":
        after = estimator.average_from
        given |= {
            "step": estimator.step,
            "rate": "inverse-sqrt" if estimator.schedule == "sqrt" else estimator.schedule,
            "eta0": _number(estimator.eta0),
            "finds_eta0": estimator.eta0 == "auto",
            "radius": estimator.radius,
            "average": None if after is None else after - 1,
        }
        spec["passes"]["seed"] = seed
    spec |= {name: value for name, value in given.items() if value != "auto"}
    return spec


def _number(value):
    """A float, as files have it: 2 is 2.0."""
    return value if value == "auto" else float(value)


def spec_of(estimator, seed):
    """The parameters of its solver; what is "auto" as where nothing is chosen."""
    online = estimator.solver == "online"
    if estimator.tol == 0 and not online:
        raise ValueError(
            "tol = 0: no gap of 0 can be certified; must be above 0 for solver='batch'"
        )
    _core.check_criterion(estimator.criterion)
    spec = given_to(estimator._algorithm, estimator, seed)
    if estimator.tol is not None:
        (spec["passes"] if online else spec)["tolerance"] = float(estimator.tol)
    if estimator.max_iter is not None:
        spec = with_steps(spec, estimator.max_iter)
    return spec


def with_steps(spec, most):
    """The same with this many Newton steps, rounds or passes at most."""
    if "passes" in spec:
        return spec | {"passes": spec["passes"] | {"max_passes": most}}
    return spec | {"max_newton" if "max_newton" in spec else "max_rounds": most}


def searches(estimator):
    """Whether the loss or gamma is to be chosen."""
    return estimator.solver == "batch" and "auto" in (estimator.beta, estimator.gamma)


def first_map(estimator, problem, spec):
    """The map of a table where none is chosen; None if there is none but the linear one."""
    features = estimator.features
    if estimator.monotonic_cst is not None:
        _refuse_monotone(estimator)
    elif features == "linear" or not problem.is_table() or problem.shared is not None:
        return None
    if estimator.solver == "online":
        if features == "auto":
            return None
        raise ValueError(
            f"features = {features!r} is for solver='batch'; the online solver learns linear ones"
        )
    if spec["scale"] != "none":
        raise ValueError(
            f"scale = {estimator.scale!r} is for features='linear'; bins and pairs have scales of "
            "their own"
        )
    return "linear" if features in ("auto", "linear") else maps_of(estimator)[0]


def maps_of(estimator):
    """The maps to choose from, as the library has them; None for those that suit the table."""
    choice = estimator._interaction_choice()
    default = [{"per-column": share} for share in _core.PAIRS_PER_COLUMN]
    pairs = [{"pairs": one} for one in (default if choice is None else [choice])]
    if estimator.features == "auto":
        return None if choice is None else ["linear", "additive", *pairs]
    return pairs if estimator.features == "pairs" else ["additive"]


def _refuse_monotone(estimator):
    if estimator.solver == "online":
        raise ValueError("monotonic_cst is for solver='batch'; the online solver has no order")
    if len(estimator.classes_) > 2:
        raise ValueError("monotonic constraints are not supported for multiclass classification.")


def search_of(estimator, spec, seed):
    """What to choose among, as the library takes it."""

    def listed(value):
        return [] if value == "auto" else [value]

    weight = estimator.class_weight
    return encoded(
        {
            "loss": {
                "betas": listed(estimator.beta),
                "gammas": listed(estimator.gamma),
                "softness": listed(estimator.softness),
                "class_weights": [] if weight == "auto" else [spec["class_weight"]],
                "least_squares": listed(estimator.least_squares),
                "intercept": spec["intercept"],
            },
            "scale": spec["scale"],
            "seed": seed,
            "criterion": estimator.criterion,
            "time_limit": estimator.time_limit,
        }
    )


def encoded(parameters):
    """As the library reads them; numbers may be numpy's."""
    return json.dumps(parameters, default=lambda number: number.item())


def context(names, n_jobs, progress=None):
    """What a solver needs besides data and parameters."""
    return {"classes": names, "n_jobs": n_jobs, "progress": progress}


def listener(estimator, watch, what, measure, after):
    """Called after every step: a printer, the callbacks, both or none."""
    tell = _printer(estimator, what, measure) if estimator.verbose else None
    return tell if watch is None else watch(what, after, tell)


def _printer(estimator, what, measure):
    name = type(estimator).__name__

    def tell(step, objective, value):
        value = "unknown" if value is None else f"{value:.3g}"
        print(f"[{name}] {what} {step}: objective {objective:.9g}, {measure} {value}", flush=True)

    return tell


@dataclass
class Run:
    """How an estimator comes to the solution of one problem."""

    estimator: object
    problem: Problem
    seed: int
    n_jobs: int
    # What becomes of a table, as the library has it; None for the linear map without a choice.
    map: object = None

    def solve(self, watch):
        """With warnings, and calibrated if asked to."""
        estimator, problem = self.estimator, self.problem
        spec, tuned = self._choose()
        measure = ("pass", "AUC") if estimator.solver == "online" else ("step", "gap")
        progress = listener(estimator, watch, *measure, partial(self._after, spec))
        try:
            solution = self._fit(problem, spec, progress)
        except StoppedByCallback as stopped:
            # The same steps once more, and no more, without a warning.
            solution = self._fit(problem, with_steps(spec, stopped.n_iter))
            solution.stop = "callback"
        solution.tuned = tuned
        solution.map = map_name(self.map)
        solution.effects = self._effects(solution, spec)
        solution.learned = None
        warn_about(solution, sum(problem.counts()), spec)
        return self._calibrated(spec, solution)

    def _effects(self, solution, spec):
        """What the rows say of columns and pairs."""
        problem, model = self.problem, solution.model()
        given = problem.x, problem.weights, model
        refit = None
        if self.estimator.importance_intervals:
            refit = {
                "positive": problem.positive,
                "groups": problem.groups,
                "spec": encoded(spec),
                "learned": solution.learned,
                "context": context(problem.names, self.n_jobs),
            }
        if problem.is_table():
            return _core.effects_of_table(*given, solution.gains, refit)
        if problem.x.shape[1] > _core.MAX_COLUMNS:
            return None
        return _core.effects_of_rows(*given, refit)

    def _choose(self):
        """The parameters, and what was tried to find them."""
        estimator, problem = self.estimator, self.problem
        spec = spec_of(estimator, self.seed)
        if problem.is_table() and estimator.scale == "auto":
            # The map of a table has standardised its numbers.
            spec["scale"] = "none"
        self.map = first_map(estimator, problem, spec)
        shared = problem.shared
        enough = min(problem.counts()) >= ENOUGH if shared is None else shared.enough()
        chooses_map = self.map is not None and estimator.features == "auto"
        if not searches(estimator) and not (chooses_map and enough):
            return spec, None
        if estimator.scale == "auto" and not problem.is_table():
            spec["scale"] = problem.suited_scale()
        if not enough:
            return spec, None
        search = search_of(estimator, spec, self.seed)
        about = context(problem.names, self.n_jobs)
        if shared is not None:
            return chosen(spec, shared.tune(search, about))
        if self.map is None:
            tune = _core.tune_table if problem.is_table() else _core.tune
            given = (problem.x, problem.positive, problem.weights, problem.groups)
            return chosen(spec, tune(*given, search, about))
        maps = ["linear"] if estimator.features == "linear" else maps_of(estimator)
        maps = None if maps is None else json.dumps(maps)
        found = _core.tune_maps(self._training(problem), maps, search, about)
        self.map = json.loads(found).get("map", self.map)
        return chosen(spec, found)

    def _after(self, spec, n_iter):
        """The solution of this many steps, its folds solved to the end."""
        return self._calibrated(spec, self._fit(self.problem, with_steps(spec, n_iter)))

    def _training(self, problem):
        return problem.training() | {"monotone": self.estimator._monotone()}

    def _fit(self, problem, spec, progress=None):
        about = context(problem.names, self.n_jobs, progress)
        if self.map in (None, "linear") and self.estimator.monotonic_cst is None:
            given = (problem.x, problem.positive, problem.weights, encoded(spec), about)
            if problem.is_table():
                map = None if problem.shared is None else problem.shared.map()
                found = _core.fit_table(*given, map)
            else:
                found = _core.fit(*given)
        else:
            rows = self._training(problem)
            found = _core.fit_map(rows, json.dumps(self.map), encoded(spec), about)
        n_pos = int(problem.positive.sum())
        counts = (problem.positive.size - n_pos, n_pos)
        return solution_of(found, spec, counts, self.seed)

    def _calibrated(self, spec, solution):
        method = self.estimator.calibrate
        if method is not None:
            given = (self.problem.positive, self.problem.weights)
            solution.calibration = _core.calibrate(self._held_out_scores(spec), *given, method)
        return solution

    def _held_out_scores(self, spec):
        """Every example scored by a model that has not seen it. Weights of 0 leave a fold out."""
        problem = self.problem
        n_splits = min(FOLDS, *problem.counts())
        if n_splits < 2:
            raise ValueError("calibrate needs at least 2 examples of each class")
        weights = problem.weights
        if weights is None:
            weights = np.ones(problem.positive.size)
        # Weightless examples are not dealt: every fold then has both classes with weight.
        dealt = np.flatnonzero(weights > 0)
        groups = None if problem.groups is None else problem.groups[dealt]
        fold = np.zeros(weights.size, dtype=np.uint32)
        fold[dealt] = _core.folds(problem.positive[dealt], groups, n_splits, self.seed)
        scores = np.empty(problem.positive.size)
        for k in range(n_splits):
            held_out = fold == k
            part = replace(problem, weights=np.where(held_out, 0.0, weights))
            scores[held_out] = self._fit(part, spec).scores(problem.x, self.n_jobs)[held_out]
        return scores


def map_name(map):
    """A map without its number of pairs."""
    return next(iter(map)) if isinstance(map, dict) else map or "linear"


def chosen(spec, found):
    """The parameters with what a search found, and what it tried."""
    found = json.loads(found)
    best, tuned = found["best"], found["tuned"]
    if tuned is None:
        message = (
            f"every beta that was tried collapsed; beta = {best['beta']:g} is taken, and the "
            "features hardly tell the classes apart"
        )
        warn_user(message, CollapseWarning)
    return spec | best, tuned


def solution_of(found, spec, counts, seed):
    """What the library found, of this many negatives and positives."""
    return Solution(
        weights=found["weights"],
        offset=found["intercept"],
        cut=found["threshold"],
        beta=spec["beta"],
        gamma=spec["gamma"],
        softness=spec["softness"],
        class_weight=spec["class_weight"],
        least_squares=spec["least_squares"],
        scale=spec["scale"],
        # A start that is the minimum already was looked at once.
        n_iter=max(1, found["n_iter"]),
        objective=found["objective"],
        dual=found["dual"],
        gap=found["gap"],
        tied=found["tied"],
        stop=found["stop"],
        interval=found["lambda"],
        counts=counts,
        n=sum(counts),
        eta0=found["eta0"],
        seed=seed,
        trace=found["trace"],
        features=found.get("features"),
        gains=found.get("gains", []),
        learned=found.get("learned"),
        collapsed=found.get("collapsed", False),
    )
