"""What the estimators of other papers have in common: one way to the library, and to files."""

from functools import partial

from sklearn.exceptions import ConvergenceWarning

from . import _core
from ._base import AUCClassifier
from ._callbacks import StoppedByCallback
from ._problem import Solution, context, defaults, encoded, listener, with_steps
from .exceptions import CollapseWarning, warn_user


class RivalClassifier(AUCClassifier):
    """A class names its algorithm, and its parameters as the command line calls them."""

    # From the command line's name of a parameter to ours.
    _own_names = {}
    # Those of every one of them; passes, order and seed are for those that learn by examples.
    _common_names = {
        "scale": "scale",
        "tolerance": "tol",
        "passes": "max_iter",
        "shuffle": "shuffle",
        "seed": "random_state",
    }
    # What to do about weights that are all 0.
    _cure = ""
    # What a step is called, and what is reported of it.
    _measure = ("round", "gap")

    def fit(self, X, y):
        """Fit the scorer. It takes no sample weights: its paper has none.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training data.
        y : array-like of shape (n_samples,)
            Classes.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        self._learners = None
        return self._fit(X, y)

    def _own(self):
        """Parameters by the names of the command line; without "auto" and options that are off."""
        values = {theirs: getattr(self, ours) for theirs, ours in self._own_names.items()}
        kind = {"tau": int, "buffer": int, "average": bool}
        return {
            name: kind.get(name, float)(value)
            for name, value in values.items()
            if value != "auto" and value is not False
        }

    def _spec(self, seed):
        """The parameters as the library has them."""
        spec = defaults(self._algorithm) | self._own() | {"scale": self.scale}
        if "passes" in spec:
            spec["passes"] |= {
                "tolerance": float(self.tol),
                "shuffle": bool(self.shuffle),
                "seed": seed,
            }
        else:
            spec["tolerance"] = float(self.tol)
        return with_steps(spec, int(self.max_iter))

    def _solve(self, problem, watch, *, seed, n_jobs):
        spec = self._spec(seed)
        after = partial(self._after, problem, spec, seed, n_jobs)
        progress = listener(self, watch, *self._measure, after)
        try:
            solution = self._found(problem, spec, seed, context(problem.names, n_jobs, progress))
        except StoppedByCallback as stopped:
            # The same steps once more, and no more, without a warning.
            solution = after(stopped.n_iter)
            solution.stop = "callback"
        self._warn(solution)
        return solution

    def _max_steps(self):
        # Far fewer rounds are made than allowed; their number is unknown beforehand.
        return None

    def _after(self, problem, spec, seed, n_jobs, n_iter):
        """The solution of this many steps."""
        spec = with_steps(spec, n_iter)
        return self._found(problem, spec, seed, context(problem.names, n_jobs))

    def _warn(self, solution):
        if not solution.weights.any():
            message = f"all weights are 0, and every example has the same score; {self._cure}"
            warn_user(message, CollapseWarning)
        if solution.stop in ("stalled", "max_rounds"):
            message = (
                f"not converged ({solution.stop}): the gap is {solution.gap:.1e}, asked for was "
                f"{self.tol:g}; scale the features (scale='maxabs'), allow more rounds (max_iter) "
                "or a larger tol"
            )
            warn_user(message, ConvergenceWarning)

    def _found(self, problem, spec, seed, context):
        found = _core.fit(problem.x, problem.positive, None, encoded(spec), context)
        n_pos = int(problem.positive.sum())
        return Solution(
            weights=found["weights"],
            offset=0.0,
            cut=found["threshold"],
            scale=self.scale,
            n_iter=found["n_iter"],
            objective=found["objective"],
            dual=found["dual"],
            gap=found["gap"],
            stop=found["stop"],
            interval=found["lambda"],
            counts=(problem.positive.size - n_pos, n_pos),
            n=problem.positive.size,
            seed=seed,
            trace=found["trace"],
        )

    def _saved_parameters(self, found):
        return self._own() | {"scale": found.scale, "tolerance": float(self.tol)}

    @classmethod
    def _algorithms(cls):
        """Every name in files, and the parameters that it stands for."""
        return {cls._algorithm: {}}

    @classmethod
    def _of_saved(cls, algorithm, parameters, path):
        algorithms = cls._algorithms()
        if algorithm not in algorithms:
            raise ValueError(
                f"{path}: a model of {algorithm}; {cls.__name__} reads {' and '.join(algorithms)}"
            )
        names = {**cls._common_names, **cls._own_names}
        given = {names[name]: value for name, value in parameters.items() if name in names}
        found = cls(**given, **algorithms[algorithm])
        found._learners = None
        return found


class OnlineRivalClassifier(RivalClassifier):
    """One that learns an example at a time, in passes over the data or from a stream."""

    _measure = ("pass", "AUC")

    def partial_fit(self, X, y, classes=None):
        """Learn from a batch of a stream, example by example in their order.

        A batch may have examples of one class only; nothing is learned before both have come.
        `scale="maxabs"` divides by the largest values so far, and what was learned with smaller
        ones stays as it is; "standard" is refused. `max_iter`, `tol` and `shuffle` are for `fit`.
        The threshold is halfway between the mean scores of the classes. `fit` and `load` keep no
        state to learn on from: after them a stream starts over, with a warning.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Examples.
        y : array-like of shape (n_samples,)
            Their classes.
        classes : array-like of shape (n_classes,), default=None
            All classes of the stream; to be given at the first call and not needed afterwards.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        self._validate_params()
        X, _, codes = self._next_batch(X, y, classes)
        if getattr(self, "_learners", None) is None:
            if hasattr(self, "_solutions"):
                message = (
                    "fit and load keep no state to learn on from: the stream starts over, and what "
                    "was learned before is forgotten"
                )
                warn_user(message, UserWarning)
            spec = encoded(self._spec(self._seed()))
            self._learners = [
                _core.RivalLearner(spec, self.n_features_in_) for _ in range(self._n_problems())
            ]
        problems = self._problems(X, codes, None)
        for problem, learner in zip(problems, self._learners, strict=True):
            learner.learn(problem.x, problem.positive)
        self._set([self._learned(learner) for learner in self._learners])
        self.t_ = max(learner.steps for learner in self._learners)
        return self

    def _learned(self, learner):
        """What a learner of a stream knows now."""
        return Solution(
            weights=learner.weights(),
            offset=0.0,
            cut=learner.threshold,
            scale=self.scale,
            counts=tuple(learner.counts),
            n=learner.steps,
        )

    def _max_steps(self):
        return int(self.max_iter)

    def _saved_parameters(self, found):
        return super()._saved_parameters(found) | {
            "passes": int(self.max_iter),
            "shuffle": bool(self.shuffle),
            "seed": found.seed,
        }
