"""What becomes of `X`: rows of numbers, or a table whose columns a model maps to features.

Complete numbers stay rows where the features are linear. A frame with categories, strings,
booleans, times or missing values is a table. So is an array with missing values or with columns
named as categories, and anything that bins or pairs are learned from. A map of the columns of a
table is learned with the model, and again in each fold of a search; it is part of the model.
"""

import json

import numpy as np
from joblib import effective_n_jobs
from scipy.sparse import issparse
from sklearn.utils.validation import (
    _check_feature_names_in,
    _check_monotonic_cst,
    _check_y,
    check_array,
    check_consistent_length,
    check_is_fitted,
    validate_data,
)

from . import _core
from ._base import ACCEPTED, canonical
from ._interactions import interaction_choice
from ._report import ReportingClassifier
from ._table import (
    array_columns,
    columns_of,
    default_names,
    distinct,
    frame_of,
    has_numbers_only,
    numbers_of,
    table_of,
)


class TableClassifier(ReportingClassifier):
    """Takes tables; a class has `features`, `interactions` and `categorical_features`."""

    # Number, category or time of every column of a table; None for rows of numbers.
    _kinds = None

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = self.features not in ("additive", "pairs")
        return tags

    def get_feature_names_out(self, input_features=None):
        """Names of the features that `coef_` belongs to.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Must be the names seen in `fit`, if given and if there were any.

        Returns
        -------
        names : ndarray of str
            Of a table such as "age", "age is missing", "job=teacher", "job=(rare)"; else the names
            of the columns, or "x0", "x1", … where they have none.
        """
        check_is_fitted(self)
        names = _check_feature_names_in(self, input_features)
        return names if self._kinds is None else np.array(self._names_out, dtype=object)

    def _training_input(self, X, y):
        """Rows or a table, and the classes."""
        frame = frame_of(X)
        if frame is None:
            X, y = validate_data(self, X, y, **_accepted(X))
            columns = None
        else:
            self._look_at(frame, reset=True)
            y = _check_y(y, estimator=self)
            check_consistent_length(frame, y)
        names = getattr(self, "feature_names_in_", None)
        wanted = kinds_wanted(self.categorical_features, names, self.n_features_in_)
        self._interaction_choice()
        if frame is not None:
            X, columns = self._numbers_or_columns(frame, wanted)
        if issparse(X):
            _refuse_gaps(self, X, "sparse rows have none")
            if "category" in wanted:
                raise ValueError("categorical_features is for dense rows: X is sparse")
            if self.features in ("additive", "pairs"):
                raise ValueError(f"features = {self.features!r} is for dense rows: X is sparse")
            if self.monotonic_cst is not None:
                raise ValueError("monotonic_cst is for dense rows: X is sparse")
        elif columns is None and self._is_mapped(X, wanted):
            columns = array_columns(X, wanted)
        self._kinds = self.is_categorical_ = None
        if columns is None:
            return canonical(X), y
        table = table_of(columns, self._column_names(), y.shape[0])
        self._set_kinds(table.kinds)
        return table, y

    def _scoring_input(self, X):
        """Rows or a table, as the model was learned from."""
        X, columns, rows = self._rows_or_columns(X)
        return canonical(X) if columns is None else table_of(columns, self._column_names(), rows)

    def _problem_scores(self, X):
        X, columns, rows = self._rows_or_columns(X)
        n_jobs = effective_n_jobs(self.n_jobs)
        if columns is None:
            X = canonical(X)
            return [solution.scores(X, n_jobs) for solution in self._solutions]
        # Columns stay where they are.
        table = list(self._column_names()), distinct(columns), rows
        return [solution.scores_of_columns(table, n_jobs) for solution in self._solutions]

    def _rows_or_columns(self, X):
        """What is to be scored, and how many rows: rows, or columns if the model is of a table."""
        check_is_fitted(self)
        frame = frame_of(X)
        if self._kinds is not None:
            if frame is None:
                X = validate_data(self, X, reset=False, **(_accepted(X) | {"accept_sparse": False}))
                return None, array_columns(X, self._kinds), X.shape[0]
            self._look_at(frame, reset=False)
            columns = columns_of(frame, self._column_names(), self._kinds)
            return None, columns, frame.shape[0]
        columns = None
        if frame is None:
            X = validate_data(self, X, reset=False, **_accepted(X))
        else:
            self._look_at(frame, reset=False)
            wanted = ["number"] * getattr(self, "n_features_in_", 0)
            X, columns = self._numbers_or_columns(frame, wanted)
        if columns is not None:
            names = self._column_names()
            times = [
                name for name, column in zip(names, columns, strict=True) if column[0] == "time"
            ]
            if times:
                raise ValueError(f"column {times[0]!r}: expected a number, found a time")
            X = np.column_stack([values for _, values, _ in columns])
        _refuse_gaps(self, X, "none was missing when the model was fitted")
        return X, None, X.shape[0]

    def _is_mapped(self, X, wanted):
        """Whether the features are others than the numbers of an array."""
        is_linear = self.features == "linear"
        if self.features == "auto":
            is_wide = stays_linear(*X.shape, np.count_nonzero(X))
            is_linear = self.solver == "online" or is_wide
        is_bound = self.monotonic_cst is not None
        return not is_linear or is_bound or "category" in wanted or _has_gaps(X)

    def _monotone(self):
        """The columns that the score must rise or fall with, as JSON; None if nothing was said."""
        if self.monotonic_cst is None:
            return None
        signs = _check_monotonic_cst(self, self.monotonic_cst)
        names = self._column_names()
        chosen = {"increasing": 1, "decreasing": -1}
        return json.dumps(
            {
                key: [str(names[j]) for j in np.flatnonzero(signs == sign)]
                for key, sign in chosen.items()
            }
        )

    def _interaction_choice(self):
        """The pairs of columns asked for, as the library has them; None if nothing was said."""
        if self.interactions is None:
            return None
        if self.features in ("linear", "additive"):
            raise ValueError(
                f"interactions is for features='pairs' or 'auto', not {self.features!r}"
            )
        return interaction_choice(self.interactions, self._column_names())

    def _look_at(self, frame, *, reset):
        """Names and number of columns, as scikit-learn checks them."""
        validate_data(self, frame, reset=reset, skip_check_array=True)
        for size, what in zip(frame.shape, ("sample", "feature"), strict=True):
            if size == 0:
                raise ValueError(
                    f"Found array with 0 {what}(s) (shape={tuple(frame.shape)}) while a minimum of "
                    f"1 is required by {type(self).__name__}."
                )

    def _numbers_or_columns(self, frame, wanted):
        """The frame as an array, which may have gaps; or else its columns."""
        if "category" not in wanted and has_numbers_only(frame):
            return check_array(frame, estimator=self, input_name="X", **_accepted(frame)), None
        columns = columns_of(frame, self._column_names(), wanted)
        numbers = numbers_of(columns)
        return numbers, columns if numbers is None else None

    def _column_names(self):
        names = getattr(self, "feature_names_in_", None)
        return names if names is not None else default_names(self.n_features_in_)

    def _set_kinds(self, kinds):
        self._kinds = list(kinds)
        self.is_categorical_ = np.array([kind == "category" for kind in self._kinds])

    def _coefficients(self, solutions):
        if self._kinds is None:
            return super()._coefficients(solutions)
        # Every pair of classes has a map of its own.
        coef, self._names_out = _aligned(solutions)
        return coef


def kinds_of(features):
    """Number, category or time of every column of a map."""
    return [column["kind"] for column in json.loads(features)["columns"]]


def kinds_wanted(given, names, n):
    """What each of n columns is to be: "category", "number", or None for what its type says.

    The rules and the messages are those of scikit-learn's HistGradientBoostingClassifier.
    """
    if isinstance(given, str):
        return [None] * n
    given = np.asarray([] if given is None else given)
    if given.size == 0:
        return ["number"] * n
    if given.dtype.kind == "b":
        if given.shape != (n,):
            raise ValueError(
                "categorical_features set as a boolean mask must have shape (n_features,), got: "
                f"{given.shape}"
            )
        mask = given
    elif given.dtype.kind in "iu":
        if given.min() < 0 or given.max() >= n:
            raise ValueError(
                "categorical_features set as integer indices must be in [0, n_features - 1]"
            )
        mask = np.isin(np.arange(n), given)
    elif given.dtype.kind in "OU" and all(isinstance(name, str) for name in given):
        mask = _named(given, names)
    else:
        raise ValueError(
            "categorical_features must be an array-like of bool, int or str, got: "
            f"{given.dtype.name}."
        )
    return ["category" if chosen else "number" for chosen in mask]


def _named(given, names):
    if names is None:
        raise ValueError(
            "categorical_features should be passed as an array of integers or as a boolean mask "
            "when the model is fitted on data without feature names."
        )
    for name in given:
        if name not in names:
            raise ValueError(
                f"categorical_features has a item value {name!r} which is not a valid feature "
                f"name of the training data. Observed feature names: {list(names)}"
            )
    return np.isin(names, given)


def stays_linear(rows, cols, stored):
    """Whether rows of numbers are too wide, or too sparse, for bins; as the program has it."""
    return cols > _core.MAX_COLUMNS or _core.suited_scale(rows, cols, stored) == "maxabs"


def _accepted(X):
    """What `validate_data` lets in: NaN where a value is missing."""
    return ACCEPTED | {"ensure_all_finite": True if issparse(X) else "allow-nan"}


def _has_gaps(X):
    values = X.data if issparse(X) else X
    # NaN is the minimum of what has any, and no array of answers is needed.
    return values.size > 0 and bool(np.isnan(values.min()))


def _refuse_gaps(estimator, X, why):
    if _has_gaps(X):
        raise ValueError(
            f"Input X contains NaN, and {why}: fill the gaps, or fit {type(estimator).__name__} on "
            "rows that have some"
        )


def _aligned(solutions):
    """Coefficients of every pair of classes, and the names of all features of any."""
    named = [_core.feature_names(solution.features) for solution in solutions]
    if len(named) == 1:
        return solutions[0].weights[None, :].copy(), named[0]
    place = {name: at for at, name in enumerate(dict.fromkeys(n for names in named for n in names))}
    coef = np.zeros((len(named), len(place)))
    for row, names, solution in zip(coef, named, solutions, strict=True):
        row[[place[name] for name in names]] = solution.weights
    return coef, list(place)
