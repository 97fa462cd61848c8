"""What every classifier here does, once; a class adds its parameters and what they mean."""

from itertools import combinations
from numbers import Integral

import numpy as np
from joblib import effective_n_jobs
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_array, check_random_state
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import _check_partial_fit_first_call, check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from . import _core
from ._model_file import class_name, read_model, write_model
from ._problem import (
    DEFAULT_BETA,
    DEFAULT_GAMMA,
    Problem,
    Solution,
    online_steps,
    solve,
    solver_params,
)
from .metrics import hand_till, roc_auc

# What `validate_data` lets in, and what it makes of the rest.
_ACCEPTED = {
    "accept_sparse": "csr",
    "accept_large_sparse": True,
    "dtype": np.float64,
    "order": "C",
}


def _learns_online(estimator):
    if estimator.solver != "online":
        raise AttributeError("partial_fit is for solver='online'")
    return True


def _is_calibrated(estimator):
    if estimator.calibrate is None:
        raise AttributeError("predict_proba needs calibrate='sigmoid' or calibrate='isotonic'")
    return True


class AUCClassifier(ClassifierMixin, BaseEstimator):
    """Scores, decisions, streams and files of a linear scorer, for one pair of classes or many."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def fit(self, X, y, sample_weight=None):
        """Fit the scorer.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training data.
        y : array-like of shape (n_samples,)
            Classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights, at least 0: an example of weight 2 counts as two, one of weight 0 not at all.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        self._validate_params()
        X, y = validate_data(self, X, y, **_ACCEPTED)
        self.classes_, codes = _encoded(y)
        if self.classes_.size < 2:
            raise ValueError(
                f"{type(self).__name__} needs examples of at least 2 classes, but the data contain "
                f"only one class: {self.classes_[0]!r}"
            )
        X = _canonical(X)
        weights = self._weights(sample_weight, X, y, codes)
        if weights is not None and not weights.any():
            raise ValueError("all sample weights are zero")
        seed, n_jobs = self._seed(), effective_n_jobs(self.n_jobs)
        solutions = []
        for problem in self._problems(X, codes, weights):
            solutions.append(solve(self, problem, seed=seed, n_jobs=n_jobs))
        self._learners = None
        self._set(solutions)
        return self

    @available_if(_learns_online)
    def partial_fit(self, X, y, classes=None, sample_weight=None):
        """Learn from a batch of a stream, example by example in their order.

        A batch may have examples of one class only, and weights of 0. After `fit` it goes on from
        there.

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
        if self.calibrate is not None:
            raise ValueError(
                "partial_fit has no held-out folds to calibrate by: set calibrate=None"
            )
        if self.class_weight == "balanced":
            raise ValueError(
                "class_weight='balanced' is not for partial_fit; give weights by class"
            )
        first = not hasattr(self, "classes_")
        X, y = validate_data(self, X, y, reset=first, **_ACCEPTED)
        check_classification_targets(y)
        _check_partial_fit_first_call(self, classes)
        if self.classes_.size < 2:
            raise ValueError(f"at least 2 classes are needed, got one class: {self.classes_[0]!r}")
        unknown = np.setdiff1d(y, self.classes_)
        if unknown.size:
            raise ValueError(f"y has classes {unknown.tolist()!r} that are not in classes")
        X = _canonical(X)
        codes = np.searchsorted(self.classes_, y)
        weights = self._weights(sample_weight, X, y, codes)
        if first or getattr(self, "_learners", None) is None:
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

    def decision_function(self, X):
        """Scores, above 0 where the positive class is predicted.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Examples.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            ``X @ coef_.T + intercept_`` for two classes. For more, a column for each class: the sum
            of its scores against the others.
        """
        return self._decision(self._pair_scores(X))

    def predict(self, X):
        """Classes of the examples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Examples.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Of two classes the positive one where the score is above 0; of more that of the largest
            score.
        """
        decision = self.decision_function(X)
        codes = (decision > 0).astype(np.intp) if decision.ndim == 1 else decision.argmax(axis=1)
        return self.classes_[codes]

    @available_if(_is_calibrated)
    def predict_proba(self, X):
        """Probabilities of the classes, calibrated on held-out folds.

        Of two classes their order is that of `decision_function`, and so is their AUC. Of more they
        are means over the pairs that a class is in.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Examples.

        Returns
        -------
        p : ndarray of shape (n_samples, n_classes)
            A column for each of `classes_`.
        """
        scores = self._pair_scores(X)
        n_classes = self.classes_.size
        p = np.zeros((scores[0].size, n_classes))
        pairs = list(combinations(range(n_classes), 2))
        for (i, j), score, solution in zip(pairs, scores, self._solutions, strict=True):
            of_second = solution.probabilities(score)
            p[:, j] += of_second
            p[:, i] += 1.0 - of_second
        return p / len(pairs)

    def score(self, X, y, sample_weight=None):
        """AUC of the scores: the probability that a positive example outscores a negative one.

        AUC and not accuracy, as the scorer is made to rank, and the accuracy of a rare class says
        little. For more than two classes it is Hand and Till's mean over pairs of classes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Examples.
        y : array-like of shape (n_samples,)
            Their classes, two at least.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights; for two classes only.

        Returns
        -------
        auc : float
            From 0 to 1; 1/2 is chance.
        """
        decision = self.decision_function(X)
        if decision.ndim == 1:
            unknown = np.setdiff1d(y, self.classes_)
            if unknown.size:
                raise ValueError(f"y has unknown classes {unknown.tolist()!r}")
            positive = np.asarray(y) == self.classes_[1]
            return roc_auc(positive, decision, sample_weight=sample_weight, n_jobs=self.n_jobs)
        if sample_weight is not None:
            raise ValueError("AUC of more than two classes has no sample_weight")
        return hand_till(y, decision, labels=self.classes_, n_jobs=self.n_jobs)

    def save(self, path):
        """Write the model file of the command line, for ``ubauc predict`` and ``evaluate``.

        It holds what scores and decides: coefficients, threshold, classes, names, parameters and
        certificate; neither probabilities nor the state of a stream. Pickle keeps all.

        Parameters
        ----------
        path : str or path-like
            The file; it is written whole, or the old one stays.
        """
        check_is_fitted(self)
        write_model(self, path)

    @classmethod
    def load(cls, path):
        """Read a model file, of `save` or of the command line.

        Parameters
        ----------
        path : str or path-like
            The file.

        Returns
        -------
        classifier : object
            Fitted. Its classes are numbers where both names are numbers, otherwise strings.
        """
        return read_model(cls, path)

    def _weights(self, sample_weight, X, y, codes):
        """Sample weights times class weights; None if all are 1."""
        if sample_weight is None and self.class_weight is None:
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
        if self.class_weight is not None:
            of_class = compute_class_weight(self.class_weight, classes=self.classes_, y=y)
            weights *= of_class[codes]
        return weights

    def _seed(self):
        if isinstance(self.random_state, Integral):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _problems(self, X, codes, weights):
        """Each pair of classes; the rows of both where there are more."""
        names = [class_name(label) for label in self.classes_]
        if len(names) == 2:
            yield Problem(X, codes == 1, weights, names)
            return
        for i, j in combinations(range(len(names)), 2):
            of_pair = (codes == i) | (codes == j)
            chosen = None if weights is None else weights[of_pair]
            yield Problem(X[of_pair], codes[of_pair] == j, chosen, [names[i], names[j]])

    def _set(self, solutions):
        """The fitted attributes."""

        def each(values, missing=np.nan):
            values = [missing if value is None else value for value in values]
            return values[0] if len(values) == 1 else np.array(values)

        def listed(values):
            return values[0] if len(values) == 1 else values

        self._solutions = solutions
        self.coef_ = np.array([s.weights for s in solutions])
        self.threshold_ = np.array([s.threshold for s in solutions])
        self.intercept_ = -self.threshold_
        self.offset_ = np.array([s.offset for s in solutions])
        self.n_iter_ = each([s.n_iter for s in solutions])
        self.objective_ = each([s.objective for s in solutions])
        self.dual_objective_ = each([s.dual for s in solutions])
        self.gap_ = each([s.gap for s in solutions])
        self.n_tied_ = each([s.tied for s in solutions], missing=-1)
        self.beta_ = each([s.beta for s in solutions])
        self.gamma_ = each([s.gamma for s in solutions])
        self.least_squares_ = listed([s.least_squares for s in solutions])
        self.trace_ = listed([s.trace for s in solutions])
        self.tuning_ = listed([s.tuned for s in solutions])

    def _start_learners(self):
        """Learners of a stream; after `fit` they go on from its coefficients."""
        chosen = tuple(
            default if value == "auto" else value
            for value, default in (
                (self.beta, DEFAULT_BETA),
                (self.gamma, DEFAULT_GAMMA),
                (self.least_squares, "plain"),
            )
        )
        params = solver_params(self, ["", ""], seed=0, n_jobs=1, chosen=chosen)
        steps = online_steps(self, stream=True)
        n_pairs = self.classes_.size * (self.classes_.size - 1) // 2
        self._learners = [_core.Learner(params, steps) for _ in range(n_pairs)]
        self._without_eta0 = set(range(n_pairs)) if self.eta0 == "auto" else set()
        for learner, found in zip(self._learners, getattr(self, "_solutions", []), strict=False):
            learner.start_from(found.weights, found.offset, found.threshold)

    def _learned(self, learner):
        """What a learner of a stream knows now."""
        weights = np.zeros(self.n_features_in_)
        seen = learner.weights()
        weights[: seen.size] = seen
        n_neg, n_pos = learner.counts
        chosen = (self.beta, self.gamma, self.least_squares)
        defaults = (DEFAULT_BETA, DEFAULT_GAMMA, "plain")
        beta, gamma, kind = (
            default if value == "auto" else value
            for value, default in zip(chosen, defaults, strict=True)
        )
        return Solution(
            weights=weights,
            offset=learner.intercept,
            threshold=learner.threshold,
            beta=float(beta),
            gamma=float(gamma),
            least_squares=kind,
            scale="none" if self.scale == "none" else "maxabs",
            counts=(n_neg, n_pos),
            n=n_neg + n_pos,
            eta0=learner.eta0,
        )

    def _pair_scores(self, X):
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, **_ACCEPTED)
        X = _canonical(X)
        n_jobs = effective_n_jobs(self.n_jobs)
        return [solution.scores(X, n_jobs) for solution in self._solutions]

    def _decision(self, scores):
        n_classes = self.classes_.size
        if n_classes == 2:
            return scores[0]
        decision = np.zeros((scores[0].size, n_classes))
        for (i, j), score in zip(combinations(range(n_classes), 2), scores, strict=True):
            decision[:, j] += score
            decision[:, i] -= score
        return decision


def _encoded(y):
    """The classes, ascending, and the code of each label. Two whole numbers need no sort."""
    if y.dtype.kind in "iuf":
        low, high = y.min(), y.max()
        upper = y == high
        if low < high and (upper | (y == low)).all() and low % 1 == high % 1 == 0:
            return np.array([low, high], dtype=y.dtype), upper.view(np.uint8)
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    # Eight bytes an example would be felt beside the rows.
    return classes, codes.astype(np.min_scalar_type(classes.size))


def _canonical(X):
    """Rows that the library can look at: columns sorted and single, numbers aligned."""
    if not issparse(X):
        return np.require(X, dtype=np.float64, requirements=["C", "ALIGNED"])
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X
