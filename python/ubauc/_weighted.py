"""What only the estimators of the univariate bound do: sample weights, streams, probabilities."""

from itertools import combinations

import numpy as np
from sklearn.utils import check_array
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.metaestimators import available_if

from . import _core
from ._base import each, listed
from ._model_file import class_name
from ._problem import Problem, Run, SharedChoice, Solution, encoded, spec_of
from ._tabular import TableClassifier


def _learns_from_streams(estimator):
    if estimator.solver != "online":
        raise AttributeError("partial_fit is for solver='online'")
    if estimator.calibrate is not None:
        raise AttributeError(
            "partial_fit has no held-out folds to calibrate by: set calibrate=None"
        )
    return True


def _is_calibrated(estimator):
    if estimator.calibrate is None:
        raise AttributeError("predict_proba needs calibrate='sigmoid' or calibrate='isotonic'")
    return True


def class_weights(given, classes, totals):
    """scikit-learn's `compute_class_weight`, from the weight that each class has."""
    if given == "balanced":
        # A class without any weight has no example that counts.
        return totals.sum() / (classes.size * np.where(totals > 0, totals, 1.0))
    return compute_class_weight(given, classes=classes, y=classes)


class WeightedAUCClassifier(TableClassifier):
    """Fits with weights, learns from streams, and calibrates."""

    def fit(self, X, y, sample_weight=None, groups=None):
        """Fit the scorer.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training data.
        y : array-like of shape (n_samples,)
            Classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights, at least 0: an example of weight 2 counts as two, one of weight 0 not at all.
        groups : array-like of shape (n_samples,), default=None
            The group of each example, such as the patient of a visit: examples of one group stay in
            one fold where parameters are chosen or probabilities learned, and the comparison with
            logistic regression is between groups.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        self._learners = None
        self._forgot = None
        return self._fit(X, y, sample_weight, groups)

    @available_if(_learns_from_streams)
    def partial_fit(self, X, y, classes=None, sample_weight=None):
        """Learn from a batch of a stream, example by example in their order.

        A batch may have examples of one class only, and weights of 0. After `fit` it continues from
        the fitted coefficients.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Examples.
        y : array-like of shape (n_samples,)
            Their classes.
        classes : array-like of shape (n_classes,), default=None
            All classes of the stream; to be given at the first call and not needed afterwards.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights, at least 0.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        self._validate_params()
        X, y, codes = self._next_batch(X, y, classes)
        if self._is_by_class():
            raise ValueError(
                f"multi_class={self.multi_class!r} needs the sizes of all classes, which a stream "
                "does not know: partial_fit of many classes is for multi_class='ovo'"
            )
        weights = self._weights(sample_weight, X, y, codes)
        if getattr(self, "_learners", None) is None:
            self._start_learners()
        solutions = []
        problems = self._problems(X, codes, weights)
        for k, (problem, learner) in enumerate(zip(problems, self._learners, strict=True)):
            if k in self._without_eta0 and min(problem.counts()) > 0:
                learner.find_eta0(problem.x, problem.positive)
                self._without_eta0.remove(k)
            learner.learn(problem.x, problem.positive, problem.weights)
            solutions.append(self._learned(learner))
        self._set(solutions)
        self.t_ = max(learner.steps for learner in self._learners)
        return self

    @available_if(_is_calibrated)
    def predict_proba(self, X):
        """Probabilities of the classes, calibrated on held-out folds.

        For two classes they rank the examples as `decision_function` does, with the same AUC. For
        more they are means over the pairs of classes that a class is in. `predict` does not use
        them: it decides at the threshold of the scores, the λ of the loss, and not at a calibrated
        probability of 1/2.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Examples.

        Returns
        -------
        p : ndarray of shape (n_samples, n_classes)
            A column for each of `classes_`.
        """
        scores = self._problem_scores(X)
        n_classes = self.classes_.size
        p = np.zeros((scores[0].size, n_classes))
        pairs = list(combinations(range(n_classes), 2))
        for (i, j), score, solution in zip(pairs, scores, self._solutions, strict=True):
            of_second = solution.probabilities(score)
            p[:, j] += of_second
            p[:, i] += 1.0 - of_second
        return p / len(pairs)

    def _is_by_class(self):
        """Whether there is a scorer for each class, and not for each pair."""
        # Rows on a cluster are learned one against one.
        return getattr(self, "multi_class", "ovo") != "ovo" and self.classes_.size > 2

    def _n_problems(self):
        return self.classes_.size if self._is_by_class() else super()._n_problems()

    def _problems(self, X, codes, weights, groups=None):
        if not self._is_by_class():
            yield from super()._problems(X, codes, weights, groups)
            return
        self._refuse_by_class(groups)
        codes = np.ascontiguousarray(codes, dtype=np.uint32)
        shared = SharedChoice(X, codes, weights, self.multi_class)
        for code, label in enumerate(self.classes_):
            of_class = _core.class_problem(codes, weights, code, self.multi_class)
            names = ["rest", class_name(label)]
            yield Problem(X, codes == code, of_class, names, shared=shared)

    def _refuse_by_class(self, groups):
        """What scorers by class do not have."""
        not_there = {
            "groups": groups is not None,
            "calibrate": self.calibrate is not None,
            f"features={self.features!r}": self.features not in ("linear", "auto"),
        }
        for name, is_given in not_there.items():
            if is_given:
                raise ValueError(
                    f"{name} is for two classes, or for multi_class='ovo'; multi_class is "
                    f"{self.multi_class!r} and there are {self.classes_.size} classes"
                )

    def _class_pairs(self):
        if not self._is_by_class():
            return super()._class_pairs()
        return [("rest", class_name(label)) for label in self.classes_]

    def _decision(self, scores):
        return np.column_stack(scores) if self._is_by_class() else super()._decision(scores)

    def _solve(self, problem, watch, *, seed, n_jobs):
        return Run(self, problem, seed, n_jobs).solve(watch)

    def _max_steps(self):
        # Far fewer Newton steps are made than allowed; their number is unknown beforehand.
        if self.solver != "online":
            return None
        return spec_of(self, 0)["passes"]["max_passes"]

    def _weights(self, sample_weight, X, y, codes):
        """Sample weights times those given by class; None if all are 1.

        "balanced" is the solver's own business.
        """
        by_class = isinstance(self.class_weight, dict)
        if sample_weight is None and not by_class:
            return None
        if sample_weight is None:
            weights = np.ones(X.shape[0])
        else:
            # A batch of a stream may have no weight at all; a fit of none is refused for want of
            # classes.
            weights = check_array(
                sample_weight,
                ensure_2d=False,
                dtype=np.float64,
                copy=True,
                input_name="sample_weight",
            )
            if weights.shape != (X.shape[0],):
                raise ValueError(
                    f"sample_weight.shape == {weights.shape}, expected {(X.shape[0],)}"
                )
            if (weights < 0).any():
                raise ValueError("Negative values in data passed to `sample_weight`")
        if by_class:
            totals = np.bincount(codes, weights, minlength=self.classes_.size)
            weights *= class_weights(self.class_weight, self.classes_, totals)[codes]
        return weights

    def _set(self, solutions):
        super()._set(solutions)
        self.offset_ = np.array([s.offset for s in solutions])
        self.dual_objective_ = each([s.dual for s in solutions])
        self.gap_ = each([s.gap for s in solutions])
        self.n_tied_ = each([s.tied for s in solutions], missing=-1)
        self.beta_ = each([s.beta for s in solutions])
        self.gamma_ = each([s.gamma for s in solutions])
        self.softness_ = each([s.softness for s in solutions])
        self.least_squares_ = listed([s.least_squares for s in solutions])
        weights = [None if s.class_weight == "none" else s.class_weight for s in solutions]
        self.class_weight_ = listed(weights)
        self.tuning_ = listed([s.tuned for s in solutions])
        self.features_ = listed([s.map for s in solutions])

    def _start_learners(self):
        """Learners of a stream; after `fit` they go on from its coefficients."""
        if any(found.features for found in getattr(self, "_solutions", [])):
            raise ValueError(
                "the features of this model are hashed or those of a table, and partial_fit takes "
                "rows of numbers: go on with `ubauc learn --initial-model`"
            )
        spec = spec_of(self, 0)
        if spec["average"] is not None:
            # A stream has no passes: its average begins after the first example.
            spec["average"] = 1
        # Only a stream forgets.
        self._forgot = None if self.half_life is None else float(self.half_life)
        spec["half_life"] = self._forgot
        spec = encoded(spec)
        problems = range(self._n_problems())
        self._learners = [_core.Learner(spec) for _ in problems]
        self._without_eta0 = set(problems) if self.eta0 == "auto" else set()
        for learner, found in zip(self._learners, getattr(self, "_solutions", []), strict=False):
            learner.start_from(found.weights, found.offset, found.threshold)

    def _learned(self, learner):
        """What a learner of a stream knows now."""
        weights = np.zeros(self.n_features_in_)
        seen = learner.weights()
        weights[: seen.size] = seen
        n_neg, n_pos = learner.counts
        spec = spec_of(self, 0)
        return Solution(
            weights=weights,
            offset=learner.intercept,
            cut=learner.threshold + learner.intercept,
            beta=spec["beta"],
            gamma=spec["gamma"],
            softness=spec["softness"],
            class_weight=spec["class_weight"],
            least_squares=spec["least_squares"],
            scale=spec["scale"],
            counts=(n_neg, n_pos),
            n=n_neg + n_pos,
            eta0=learner.eta0,
        )

    @property
    def _algorithm(self):
        return "ol-ubauc" if self.solver == "online" else "ba-ubauc"

    def _saved_parameters(self, found):
        spec = spec_of(self, found.seed)
        parameters = {
            "gamma": found.gamma,
            "scale": found.scale,
            "beta": found.beta,
            "softness": found.softness,
            "class_weight": found.class_weight,
            "least_squares": found.least_squares,
            "intercept": spec["intercept"],
        }
        if self.solver != "online":
            return parameters | {"tolerance": spec["tolerance"], "solver": spec["solver"]}
        passes = spec["passes"]
        forgot = getattr(self, "_forgot", None)
        return parameters | {
            "tolerance": passes["tolerance"],
            "passes": passes["max_passes"],
            "eta0": found.eta0,
            "step": self.step,
            "schedule": self.schedule,
            "radius": self.radius,
            "average_from": self.average_from,
            "shuffle": passes["shuffle"],
            "seed": found.seed,
            **({} if forgot is None else {"half_life": forgot}),
        }

    @classmethod
    def _of_saved(cls, algorithm, parameters, path):
        if algorithm not in ("ba-ubauc", "ol-ubauc"):
            raise ValueError(
                f"{path}: a model of {algorithm}; {cls.__name__} reads ba-ubauc and ol-ubauc"
            )
        names = {
            "tolerance": "tol",
            "intercept": "fit_intercept",
            "passes": "max_iter",
            "seed": "random_state",
        }
        known = set(cls._get_param_names()) - {"solver"}
        given = {names.get(name, name): value for name, value in parameters.items()}
        if given.get("class_weight") == "none":
            given["class_weight"] = None
        found = cls(
            solver="online" if algorithm == "ol-ubauc" else "batch",
            **{name: value for name, value in given.items() if name in known},
        )
        found._learners = None
        found._forgot = given.get("half_life")
        return found
