"""What every classifier here does, once; a class adds its parameters and what they mean."""

from functools import partial
from itertools import combinations
from numbers import Integral

import numpy as np
from joblib import effective_n_jobs
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import (
    _check_partial_fit_first_call,
    check_classification_targets,
    unique_labels,
)
from sklearn.utils.validation import check_is_fitted, validate_data

from . import _core
from ._callbacks import CallbackSupportMixin, Tasks, with_callbacks
from ._model_file import class_name, export_model, read_model, write_model
from ._problem import Problem
from .metrics import hand_till, roc_auc
from .metrics._given import groups_of

# What `validate_data` lets in, and what it makes of the rest.
ACCEPTED = {
    "accept_sparse": "csr",
    "accept_large_sparse": True,
    "dtype": np.float64,
    "order": "C",
}


def each(values, missing=np.nan):
    """The value of the only pair of classes, or an array of all."""
    values = [missing if value is None else value for value in values]
    return values[0] if len(values) == 1 else np.array(values)


def listed(values):
    """As `each`, for what fits into no array."""
    return values[0] if len(values) == 1 else values


class AUCClassifier(CallbackSupportMixin, ClassifierMixin, BaseEstimator):
    """Scores, decisions and files of a linear scorer, for one pair of classes or many.

    A class has `_solve(problem, watch, *, seed, n_jobs)`, which gives a `Solution`, `_max_steps()`,
    and for files `_algorithm`, `_saved_parameters(found)` and `_of_saved(algorithm, parameters,
    path)`.
    """

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def __sklearn_is_fitted__(self):
        # A fit that failed has left classes behind, and no model.
        return hasattr(self, "_solutions")

    def decision_function(self, X):
        """Scores, 0 or above where the positive class is predicted.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Examples.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            ``X @ coef_.T + intercept_`` for two classes. For more, a column for each class: the sum
            of its scores s against the others. With least squares, s estimates the class, -1 or 1;
            without them (`beta_` is 0) ``tanh(s / (2 * softness_))`` does, and is used instead of
            s, so that pairs of classes with different losses can be compared.
        """
        return self._decision(self._problem_scores(X))

    def predict(self, X):
        """Classes of the examples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Examples.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Of two classes, the positive one where the score is 0 or above, as for the command line
            and the ROC curve; of more, the class with the largest score.
        """
        decision = self.decision_function(X)
        codes = (decision >= 0).astype(np.intp) if decision.ndim == 1 else decision.argmax(axis=1)
        return self.classes_[codes]

    def score(self, X, y, sample_weight=None):
        """AUC of the scores: the probability that a positive example outscores a negative one.

        AUC and not accuracy: the model is fitted to rank, and accuracy says little where one class
        is rare. For more than two classes it is Hand and Till's mean over pairs of classes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Examples.
        y : array-like of shape (n_samples,)
            Their classes, two at least.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights.

        Returns
        -------
        auc : float
            From 0 to 1; 1/2 is chance.
        """
        return self._auc(y, self.decision_function(X), sample_weight)

    def _auc(self, y, decision, sample_weight):
        if decision.ndim == 1:
            unknown = np.setdiff1d(y, self.classes_)
            if unknown.size:
                raise ValueError(f"y has unknown classes {unknown.tolist()!r}")
            positive = np.asarray(y) == self.classes_[1]
            return roc_auc(positive, decision, sample_weight=sample_weight, n_jobs=self.n_jobs)
        return hand_till(
            y, decision, labels=self.classes_, sample_weight=sample_weight, n_jobs=self.n_jobs
        )

    def save(self, path):
        """Write the model file of the command line, for ``ubauc predict`` and ``evaluate``.

        It holds what `decision_function` and `predict` need: coefficients, threshold, calibration,
        classes, names, parameters and certificate. The state of `partial_fit` is not in it; pickle
        keeps everything.

        Parameters
        ----------
        path : str or path-like
            The file; if it cannot be written completely, an old one stays as it was.
        """
        check_is_fitted(self)
        write_model(self, path)

    def export(self, path, *, to, table="rows"):
        """Write the model in another form, as `ubauc export` does.

        Parameters
        ----------
        path : str or path-like
            The file.

        to : {"python", "sql", "onnx", "liblinear"}
            One file for Python's standard library; a query that SQLite, DuckDB and PostgreSQL
            understand; a graph of standard ONNX operators; a LIBLINEAR model file, which only a
            linear model of numbers has. A model that cannot be written raises a ValueError.

        table : str, default="rows"
            The table that the SQL query reads.
        """
        check_is_fitted(self)
        export_model(self, path, to, table)

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
            Fitted. Its classes are numbers where both names are numbers, otherwise strings. Of a
            model of hashed features (``ubauc learn --hash-bits``) `coef_` belongs to the hashed
            columns, and rows that are scored are hashed as the command line hashes them.
        """
        return read_model(cls, path)

    @with_callbacks
    def _fit(self, X, y, sample_weight=None, groups=None):
        """`fit`, with weights and groups for those who take them."""
        self._validate_params()
        given = X, y, sample_weight
        X, y = self._training_input(X, y)
        self.classes_, codes = _encoded(y)
        if self.classes_.size < 2:
            raise ValueError(
                f"{type(self).__name__} needs examples of at least 2 classes, but the data contain "
                f"only one class: {self.classes_[0]!r}"
            )
        weights = self._weights(sample_weight, X, y, codes)
        if weights is not None and not weights.any():
            raise ValueError("all sample weights are zero")
        groups = groups_of(groups, y)
        seed, n_jobs = self._seed(), effective_n_jobs(self.n_jobs)
        tasks = Tasks(self, *given, n_problems=self._n_problems(), max_steps=self._max_steps())
        solutions = []
        for problem in self._problems(X, codes, weights, groups):
            solve = partial(self._solve, problem, seed=seed, n_jobs=n_jobs)
            solutions.append(tasks.problem(solve))
        self._set(solutions)
        tasks.end()
        return self

    def _training_input(self, X, y):
        """The rows and the classes of `fit`, as the library takes them."""
        X, y = validate_data(self, X, y, **ACCEPTED)
        return canonical(X), y

    def _scoring_input(self, X):
        """The rows to be scored."""
        check_is_fitted(self)
        return canonical(validate_data(self, X, reset=False, **ACCEPTED))

    def _next_batch(self, X, y, classes):
        """A batch of a stream: the rows and the codes of their classes."""
        first = not hasattr(self, "classes_")
        X, y = validate_data(self, X, y, reset=first, **ACCEPTED)
        check_classification_targets(y)
        # A model file may have the smaller class as the positive one, and so in second place.
        same = not first and classes is not None
        if not (same and np.array_equal(np.sort(self.classes_), unique_labels(classes))):
            _check_partial_fit_first_call(self, classes)
        if self.classes_.size < 2:
            raise ValueError(f"at least 2 classes are needed, got one class: {self.classes_[0]!r}")
        unknown = np.setdiff1d(y, self.classes_)
        if unknown.size:
            raise ValueError(f"y has classes {unknown.tolist()!r} that are not in classes")
        order = np.argsort(self.classes_)
        codes = order[np.searchsorted(self.classes_, y, sorter=order)]
        return canonical(X), y, codes

    def _weights(self, sample_weight, X, y, codes):
        """Weights of the examples; None if all are 1."""
        return None

    def _seed(self):
        # The ranking SVM leaves nothing to chance.
        state = getattr(self, "random_state", 0)
        if isinstance(state, Integral):
            return int(state)
        return int(check_random_state(state).randint(2**31 - 1))

    def _n_problems(self):
        """How many binary problems there are: one for each pair of classes."""
        return self.classes_.size * (self.classes_.size - 1) // 2

    def _problems(self, X, codes, weights, groups=None):
        """Each pair of classes; the rows of both where there are more."""
        names = [class_name(label) for label in self.classes_]
        if len(names) == 2:
            yield Problem(X, codes == 1, weights, names, groups)
            return
        for i, j in combinations(range(len(names)), 2):
            of_pair = (codes == i) | (codes == j)
            chosen = [None if of_all is None else of_all[of_pair] for of_all in (weights, groups)]
            pair = [names[i], names[j]]
            rows = X.take(np.flatnonzero(of_pair)) if isinstance(X, _core.Table) else X[of_pair]
            yield Problem(rows, codes[of_pair] == j, chosen[0], pair, chosen[1])

    def _coefficients(self, solutions):
        """A row for each pair of classes."""
        return np.array([s.weights for s in solutions])

    def _set(self, solutions):
        """The fitted attributes."""
        self._solutions = solutions
        self.coef_ = self._coefficients(solutions)
        self.threshold_ = np.array([s.threshold for s in solutions])
        self.intercept_ = -self.threshold_
        self.n_iter_ = each([s.n_iter for s in solutions])
        self.objective_ = each([s.objective for s in solutions])
        self.trace_ = listed([s.trace for s in solutions])

    def _problem_scores(self, X):
        """Scores of the rows, an array for each binary problem."""
        X = self._scoring_input(X)
        n_jobs = effective_n_jobs(self.n_jobs)
        return [solution.scores(X, n_jobs) for solution in self._solutions]

    def _decision(self, scores):
        n_classes = self.classes_.size
        if n_classes == 2:
            return scores[0]
        decision = np.zeros((scores[0].size, n_classes))
        pairs = combinations(range(n_classes), 2)
        for (i, j), score, solution in zip(pairs, scores, self._solutions, strict=True):
            score = solution.expected_class(score)
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


def canonical(X):
    """Rows that the library can look at: columns sorted and single, numbers aligned."""
    if not issparse(X):
        return np.require(X, dtype=np.float64, requirements=["C", "ALIGNED"])
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X
