"""What the estimators of other papers have in common: one way to the library, and to files."""

import warnings

from sklearn.exceptions import ConvergenceWarning

from . import _core
from ._base import AUCClassifier
from ._problem import USER, Solution, printer
from .exceptions import CollapseWarning


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
    _learns_by_examples = True

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
        return self._fit(X, y)

    def _own(self):
        """Parameters by the names of the command line; "auto" is not said."""
        values = {theirs: getattr(self, ours) for theirs, ours in self._own_names.items()}
        kind = {"tau": int, "buffer": int}
        return {
            name: kind.get(name, float)(value) for name, value in values.items() if value != "auto"
        }

    def _solve(self, problem, *, seed, n_jobs):
        measure = ("pass", "AUC") if self._learns_by_examples else ("round", "gap")
        params = {
            "algorithm": self._algorithm,
            "own": self._own(),
            "scale": self.scale,
            "tolerance": float(self.tol),
            "max_iter": int(self.max_iter),
            "shuffle": bool(getattr(self, "shuffle", True)),
            "seed": seed,
            "classes": problem.names,
            "n_jobs": n_jobs,
            "progress": printer(self, *measure) if self.verbose else None,
        }
        return self._found(_core.fit_rival(problem.x, problem.positive, params), problem, seed)

    def _found(self, found, problem, seed):
        low, high = found["lambda"]
        n_pos = int(problem.positive.sum())
        if not found["weights"].any():
            message = f"all weights are 0, and every example has the same score; {self._cure}"
            warnings.warn(message, CollapseWarning, stacklevel=USER - 1)
        if found["stop"] in ("stalled", "max_rounds"):
            message = (
                f"not converged ({found['stop']}): the gap is {found['gap']:.1e}, asked for was "
                f"{self.tol:g}; scale the features (scale='maxabs'), allow more rounds (max_iter) "
                "or a larger tol"
            )
            warnings.warn(message, ConvergenceWarning, stacklevel=USER - 1)
        return Solution(
            weights=found["weights"],
            offset=0.0,
            threshold=low + (high - low) / 2.0,
            scale=self.scale,
            n_iter=found["n_iter"],
            objective=found["objective"],
            dual=found["dual"],
            gap=found["gap"],
            stop=found["stop"],
            interval=[low, high],
            counts=(problem.positive.size - n_pos, n_pos),
            n=problem.positive.size,
            seed=seed,
            trace=found["trace"],
        )

    def _saved_parameters(self, found):
        parameters = self._own() | {"scale": found.scale, "tolerance": float(self.tol)}
        if self._learns_by_examples:
            parameters |= {
                "passes": int(self.max_iter),
                "shuffle": bool(self.shuffle),
                "seed": found.seed,
            }
        return parameters

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
        return cls(**given, **algorithms[algorithm])
