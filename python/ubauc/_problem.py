"""One problem of two classes: what the solvers are given, and what they leave behind."""

import copyreg
import json
import warnings
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold

from . import _core
from ._callbacks import StoppedByCallback
from .exceptions import BaselineWarning, CollapseWarning, warn_user

# Parameters that are used where "auto" has too few examples to choose by.
DEFAULT_BETA, DEFAULT_GAMMA = 0.5, 1e-4
# "auto" needs this many examples of each class: five folds beside a fifth held out.
ENOUGH = 10
# Passes that ended while the objective still changed by such a share of itself deserve a warning.
STILL_MOVING = 1e-3

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

    def counts(self):
        """Examples of each class that have a weight."""
        used = np.ones_like(self.positive) if self.weights is None else self.weights > 0
        return int((used & ~self.positive).sum()), int((used & self.positive).sum())


@dataclass
class Solution:
    """What is known of a fitted pair of classes."""

    weights: np.ndarray
    # Of the least squares; the command line's scores are w.x plus this.
    offset: float
    # The threshold of the command line, for scores with the offset.
    cut: float
    scale: str
    # Of the univariate bound.
    beta: float = np.nan
    gamma: float = np.nan
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
    # What becomes of the columns of a row; None if they are the features.
    features: dict | None = None

    def model(self, classes=("-1", "1"), names=()):
        """The model as the library takes it."""
        return {
            "features": json.dumps(self.features or {"kind": "identity"}),
            "weights": np.require(self.weights, np.float64, ["C", "ALIGNED"]),
            "intercept": self.offset,
            "threshold": self.cut,
            "calibration": self.calibration,
            "classes": list(classes),
            "names": list(names),
        }

    def scores(self, x, n_jobs):
        """The score less the threshold, for every row; of the sign that decides."""
        scores = _core.scores(x, self.model(), n_jobs)
        scores -= self.cut
        return scores

    @property
    def threshold(self):
        """In units of w.x, without the offset."""
        return self.cut - self.offset

    def probabilities(self, scores):
        return _core.probabilities(scores, *self.calibration)


def online_steps(estimator, stream=False):
    """How the online learner goes about it."""
    after = None if estimator.average_from is None else estimator.average_from - 1
    return {
        "step": estimator.step,
        "schedule": estimator.schedule,
        "eta0": None if estimator.eta0 == "auto" else float(estimator.eta0),
        "radius": estimator.radius,
        # A stream has no passes: its average begins after the first example.
        "average": 1 if stream and after is not None else after,
    }


def solver_params(estimator, names, *, seed, n_jobs, chosen=None):
    """Options of every solver. `chosen` has beta, gamma and the kind of least squares."""
    online = estimator.solver == "online"
    beta, gamma, kind = chosen or (estimator.beta, estimator.gamma, estimator.least_squares)
    given = beta != "auto" and gamma != "auto" and chosen is None
    scale = estimator.scale
    if scale == "auto":
        scale = "none" if given and not online else "maxabs"
    tol, max_iter = (1e-7, 50) if online else (1e-6, 1000)
    if estimator.tol == 0 and not online:
        raise ValueError(
            "tol = 0: no gap of 0 can be certified; must be above 0 for solver='batch'"
        )
    return {
        "beta": None if beta == "auto" else float(beta),
        "gamma": None if gamma == "auto" else float(gamma),
        "least_squares": None if kind == "auto" else kind,
        "intercept": bool(estimator.fit_intercept),
        "scale": scale,
        "tolerance": tol if estimator.tol is None else float(estimator.tol),
        "max_iter": max_iter if estimator.max_iter is None else int(estimator.max_iter),
        "seed": seed,
        "classes": names,
        "n_jobs": n_jobs,
        "progress": None,
    }


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


def solve(estimator, problem, *, seed, n_jobs, watch):
    """Fit one pair of classes, with warnings, and calibrate it if asked to."""
    params = solver_params(estimator, problem.names, seed=seed, n_jobs=n_jobs)
    tunes = params["beta"] is None or params["gamma"] is None
    if estimator.solver == "batch" and tunes and min(problem.counts()) < ENOUGH:
        params["beta"] = DEFAULT_BETA if params["beta"] is None else params["beta"]
        params["gamma"] = DEFAULT_GAMMA if params["gamma"] is None else params["gamma"]
        tunes = False
    tuned = None
    if watch is not None and tunes and estimator.solver == "batch":
        # Chosen once, so that a callback can have the model of a step without choosing again.
        chosen = _solve(estimator, problem, params)
        params, tuned = _as_chosen(params, chosen), chosen.tuned
    after = partial(_after, estimator, problem, params)
    measure = ("pass", "AUC") if estimator.solver == "online" else ("step", "gap")
    watched = {**params, "progress": listener(estimator, watch, *measure, after)}
    try:
        solution = _solve(estimator, problem, watched)
    except StoppedByCallback as stopped:
        # The same steps once more, and no more: nobody has to be warned of that.
        params = {**params, "max_iter": stopped.n_iter}
        solution = _solve(estimator, problem, params)
        solution.stop = "callback"
    solution.tuned = solution.tuned or tuned
    warn_about(solution, sum(problem.counts()), params)
    return _calibrated(estimator, problem, params, solution)


def _as_chosen(params, solution):
    return {
        **params,
        "beta": solution.beta,
        "gamma": solution.gamma,
        "least_squares": solution.least_squares,
    }


def _after(estimator, problem, params, n_iter):
    """The solution of this many steps, its folds solved to the end."""
    solution = _solve(estimator, problem, {**params, "max_iter": n_iter})
    return _calibrated(estimator, problem, params, solution)


def _calibrated(estimator, problem, params, solution):
    if estimator.calibrate is not None:
        held_out = _held_out_scores(estimator, problem, params, solution)
        solution.calibration = _core.calibrate(
            held_out, problem.positive, problem.weights, estimator.calibrate
        )
    return solution


def _solve(estimator, problem, params):
    given = (problem.x, problem.positive, problem.weights, params)
    if estimator.solver == "online":
        found = _core.fit_online(*given, online_steps(estimator))
    else:
        found = _core.fit_batch(*given)
    n_pos = int(problem.positive.sum())
    return solution_of(found, params, (problem.positive.size - n_pos, n_pos))


def solution_of(found, params, counts):
    """What the library found, of this many negatives and positives."""
    low, high = found["lambda"]
    offset = found["intercept"]
    tuned = found.get("tuned")
    if found.get("every_beta_collapsed"):
        message = (
            f"every beta that was tried collapsed; beta = {found['beta']:g} is taken, and the "
            "features hardly tell the classes apart"
        )
        warn_user(message, CollapseWarning)
    return Solution(
        weights=found["weights"],
        offset=offset,
        cut=low + (high - low) / 2.0,
        beta=found["beta"],
        gamma=found["gamma"],
        least_squares=found["least_squares"],
        scale=params["scale"],
        # A start that is the minimum already was looked at once.
        n_iter=max(1, found["n_iter"]),
        objective=found["objective"],
        dual=found.get("dual"),
        gap=found.get("gap"),
        tied=found["tied"],
        stop=found["stop"],
        interval=[low, high],
        counts=counts,
        n=sum(counts),
        eta0=found.get("eta0"),
        seed=params["seed"],
        trace=found["trace"],
        collapsed=found["collapsed"],
        tuned=None if tuned is None else json.loads(tuned),
    )


def warn_about(solution, n, params):
    """What a user should do something about, of n examples that count."""
    tied = solution.tied
    if not solution.weights.any():
        what = "all weights are 0, and every example has the same score"
    elif tied == n:
        what = "every example is tied at the threshold, and the order of the scores means nothing"
    elif solution.collapsed:
        what = f"{tied} of {n} examples are tied at the threshold: the model has collapsed"
    else:
        what = None
    if what is not None:
        message = f"{what}; a larger beta or a smaller gamma keeps scores apart"
        warn_user(message, CollapseWarning)
    _warn_about_verdict(solution.tuned)
    stop, tol = solution.stop, params["tolerance"]
    if stop in ("stalled", "max_newton"):
        gap = "unknown" if solution.gap is None else f"{solution.gap:.1e}"
        # Steps that ran out, or rounding that leaves nothing to gain by any more of them.
        remedy = "allow more steps (max_iter)"
        if stop == "stalled":
            remedy = (
                "where the mean of a feature dwarfs its variation, take it off (fit_intercept=True "
                "does, of dense features)"
            )
        message = (
            f"not converged ({stop}): the gap is {gap}, asked for was {tol:g}; {remedy}, scale the "
            "features (scale='maxabs') or ask for a larger tol"
        )
        warn_user(message, ConvergenceWarning)
    elif stop == "unproved":
        message = (
            "the gap is an estimate, not a certificate: with gamma=0 features may depend on each "
            "other, which a small gamma mends; and where values are huge beside their variation "
            "rounding hides it, which taking their mean off mends"
        )
        warn_user(message, ConvergenceWarning)
    elif stop == "max_passes":
        objective = solution.trace["objective"]
        change = np.inf if objective.size < 2 else abs(objective[-2] / objective[-1] - 1.0)
        if change > STILL_MOVING:
            message = (
                f"all {solution.n_iter} passes are made and the objective still changes; allow "
                "more (max_iter), or take solver='batch', which finds the minimum"
            )
            warn_user(message, ConvergenceWarning)


def _warn_about_verdict(tuned):
    if tuned is not None and tuned.get("is_worse_than_logistic"):
        verdict = tuned["verdict"]
        message = (
            f"logistic regression is significantly better on examples that neither model has seen: "
            f"AUC {verdict['logistic']['auc']:.4f} against {verdict['ours']['auc']:.4f} "
            f"(p {verdict['test']['p']:.1e}); consider sklearn.linear_model.LogisticRegression"
        )
        warn_user(message, BaselineWarning)


def _held_out_scores(estimator, problem, params, solution):
    """Every example scored by a model that has not seen it. Weights of 0 leave a fold out."""
    n_splits = min(5, *problem.counts())
    if n_splits < 2:
        raise ValueError("calibrate needs at least 2 examples of each class")
    params = _as_chosen(params, solution)
    weights = problem.weights
    if weights is None:
        weights = np.ones(problem.positive.size)
    scores = np.empty(problem.positive.size)
    # Weightless examples are a class of their own, so that every fold has both classes with weight.
    strata = np.where(weights > 0, problem.positive, 2)
    folds = StratifiedKFold(n_splits, shuffle=True, random_state=params["seed"] % 2**32)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class", category=UserWarning)
        parts = list(folds.split(np.zeros((strata.size, 1)), strata))
    for _, held_out in parts:
        kept = weights.copy()
        kept[held_out] = 0.0
        part = Problem(problem.x, problem.positive, kept, problem.names)
        fitted = _solve(estimator, part, params)
        scores[held_out] = fitted.scores(problem.x, params["n_jobs"])[held_out]
    return scores
