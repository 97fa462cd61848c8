"""Effects of a fitted classifier, under the names that users of EBM know, and `explain`."""

import json
from functools import partial
from itertools import combinations

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils.validation import check_is_fitted

from . import _core
from ._base import AUCClassifier, listed
from ._effects import Effects, Explanation, effects_of, explained
from ._model_file import class_name


class GlassBoxClassifier(AUCClassifier):
    """Its scores are sums of terms, one for each column and pair of columns.

    A class has `_column_names()` and `_scoring_input(X)`.
    """

    # Made when first asked for.
    _effects = None

    @property
    def effects_(self):
        """Effects of the terms, or a list with those of each pair of classes."""
        if self._effects is None:
            check_is_fitted(self)
            try:
                self._effects = [effects_of(core) for core in self._explained()]
            except ValueError as error:
                # So that hasattr says no.
                raise AttributeError(f"effects_: {error}") from error
        return listed(self._effects)

    @property
    def term_names_(self):
        """Names of the terms, in the order of `eval_terms`."""
        return self._of_effects(lambda effects: effects.names)

    @property
    def term_scores_(self):
        """What the cells of each term add, an array each; the linear part of a number is apart."""
        return self._of_effects(lambda effects: [term.scores for term in effects])

    @property
    def bin_weights_(self):
        """Training rows in the cells of each term, as `term_scores_` has them."""
        return self._of_effects(lambda effects: [term.rows for term in effects])

    def term_importances(self):
        """Importance of each term: its standard deviation over the training rows.

        Returns
        -------
        importances : ndarray of shape (n_terms,)
            In the order of `term_names_`; NaN where a model file does not tell them. A list for
            more than two classes.
        """
        return self._of_effects(lambda effects: effects.importances)

    def term_importance_intervals(self):
        """95 % interval of each importance: what other examples of the same kind would change.

        Returns
        -------
        intervals : ndarray of shape (n_terms, 2)
            Low and high, in the order of `term_names_`; NaN where the model was learned without
            ``importance_intervals=True`` and its file does not tell them. A list for more than two
            classes.
        """
        return self._of_effects(lambda effects: effects.importance_intervals)

    def eval_terms(self, X):
        """What each term adds to the score of each example.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Examples.

        Returns
        -------
        added : ndarray of shape (n_samples, n_terms)
            In the order of `term_names_`. With ``effects_.intercept`` a row adds up to what
            `decision_function` answers with. A list for more than two classes.
        """
        X = self._scoring_input(X)
        n_jobs = effective_n_jobs(self.n_jobs)
        return listed([core.eval(X, n_jobs) for core in self._explained()])

    def explain(self, X=None, *, top=8, classes=None):
        """What drives the score; or, of examples, each score as a sum.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), default=None
            Examples to explain, such as ``X.iloc[:1]``; the model as a whole if None.
        top : int, default=8
            Draw the tables of this many terms, the most important ones.
        classes : pair of labels, default=None
            Which two of more than two classes.

        Returns
        -------
        explanation : Explanation
            To be printed, or shown by a notebook.
        """
        core = self._explained()[self._place_of(classes)]
        if X is None:
            render = partial(_render_model, core, top)
            return Explanation(render, json.loads(core.to_json()))
        labels = getattr(X, "index", None)
        X = self._scoring_input(X)
        sums, names = [], []
        for at in range(X.shape[0]):
            row = X.take(np.array([at])) if isinstance(X, _core.Table) else X[at : at + 1]
            sums.append(core.row(row))
            label = at if labels is None or callable(labels) else labels[at]
            names.append(f"row {label}")
        return Explanation(partial(_render_rows, sums, names), [json.loads(s) for s in sums])

    def _of_effects(self, what):
        effects = self.effects_
        if isinstance(effects, Effects):
            return what(effects)
        return [what(of_problem) for of_problem in effects]

    def _class_pairs(self):
        return list(combinations([class_name(label) for label in self.classes_], 2))

    def _explained(self):
        check_is_fitted(self)
        found = []
        for solution, classes in zip(self._solutions, self._class_pairs(), strict=True):
            # A map has the names of its columns.
            names = self._column_names() if solution.features is None else ()
            found.append(explained(solution, (classes, names)))
        return found

    def _place_of(self, classes):
        check_is_fitted(self)
        pairs = self._class_pairs()
        if classes is None and len(pairs) == 1:
            return 0
        asked = None if classes is None else tuple(class_name(label) for label in classes)
        if asked not in pairs:
            known = ", ".join(f"({a}, {b})" for a, b in pairs)
            raise ValueError(f"classes = {classes!r}: must be one of {known}")
        return pairs.index(asked)

    def _set(self, solutions):
        super()._set(solutions)
        self._effects = None


def _render_model(core, top, form):
    return core.render(form, top, "in effects_")


def _render_rows(sums, names, form):
    shown = (_core.render_row(s, name, form) for s, name in zip(sums, names, strict=True))
    return "\n".join(shown)
