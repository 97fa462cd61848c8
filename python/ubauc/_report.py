"""The page of a fitted classifier: how good it is, what it looks at, where to cut."""

import json
import os

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils.validation import check_is_fitted

from . import _core
from ._glass_box import GlassBoxClassifier
from ._model_file import certificate_of, class_name
from .metrics._given import groups_of, weights_of


class Report:
    """A page that was written. In a notebook it shows its verdict.

    Attributes
    ----------
    path : str
        The page.
    numbers : dict
        All that the page says: what ``ubauc report --json`` prints.
    """

    def __init__(self, path, numbers, summary):
        self.path = path
        self.numbers = numbers
        self._summary = summary

    def __repr__(self):
        scorer = self.numbers["scorers"][0]
        low, high = scorer["ci95"]
        return f"Report({self.path!r}: AUC {scorer['auc']:.4f} [{low:.4f}, {high:.4f}])"

    def _repr_html_(self):
        return self._summary


class ReportingClassifier(GlassBoxClassifier):
    """Writes its report."""

    def report(self, path, X, y, *, sample_weight=None, groups=None, cost_fp=None, cost_fn=None):
        """Write a page of HTML that says how good the model is, what it looks at and where to cut.

        The page is one file with charts. It needs no network, opens from disk, and prints. Judge on
        rows that the model was not fitted on.

        Parameters
        ----------
        path : str or path-like
            The page; if it cannot be written completely, an old one stays as it was.
        X : {array-like, sparse matrix, frame} of shape (n_samples, n_features)
            Examples to judge by.
        y : array-like of shape (n_samples,)
            Their classes, both of two.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights, at least 0: every curve, share and count of the page is weighted.
        groups : array-like of shape (n_samples,), default=None
            The group of each example; not together with weights. Only groups are independent, and
            intervals and bands are theirs.
        cost_fp, cost_fn : float, default=None
            Costs of a false positive and of a false negative; the page marks the cheapest cut. One
            that is not given is 1 if the other is.

        Returns
        -------
        report : Report
            What the page says; a notebook shows its verdict.
        """
        check_is_fitted(self)
        if self.classes_.size != 2:
            raise ValueError(f"a report is of two classes, and this model has {self.classes_.size}")
        costs = [cost_fp, cost_fn]
        for name, cost in zip(("cost_fp", "cost_fn"), costs, strict=True):
            if cost is not None and not (np.isfinite(cost) and cost >= 0):
                raise ValueError(f"{name} = {cost!r}: must be finite and not negative")
        if sample_weight is not None and groups is not None:
            raise ValueError("give one of sample_weight and groups, not both")
        decision = self.decision_function(X)
        y = np.asarray(y)
        unknown = np.setdiff1d(y, self.classes_)
        if unknown.size:
            raise ValueError(f"y has unknown classes {unknown.tolist()!r}")
        found = self._solutions[0]
        names = self._column_names() if found.features is None else ()
        parameters = found.parameters or self._saved_parameters(found)
        shown = {"algorithm": self._algorithm} | parameters
        given = {
            "title": type(self).__name__,
            "costs": None
            if costs == [None, None]
            else {
                "false_positive": 1.0 if cost_fp is None else float(cost_fp),
                "false_negative": 1.0 if cost_fn is None else float(cost_fn),
            },
            "effects": None if found.effects is None else json.loads(found.effects),
            "certificate": certificate_of(found),
            "steps": _steps(found.trace),
            "search": _search(found.tuned),
            "commands": [f"{self!r}.fit(X, y).report(path, X_test, y_test)"],
            "parameters": [[name, _text(value)] for name, value in shown.items()],
            "seed": found.seed,
            "n_jobs": effective_n_jobs(self.n_jobs),
        }
        numbers, summary = _core.write_report(
            os.fspath(path),
            np.ascontiguousarray(decision, dtype=np.float64),
            np.ascontiguousarray(y == self.classes_[1]),
            (weights_of(sample_weight, decision), groups_of(groups, decision)),
            found.model([class_name(label) for label in self.classes_], names),
            json.dumps(given),
        )
        return Report(os.fspath(path), json.loads(numbers), summary)


def _text(value):
    return value if isinstance(value, str) else json.dumps(value)


def _steps(trace):
    """Every step of a solver, at most some hundred."""
    steps = list(trace.get("step", ()))
    every = max(1, -(-len(steps) // 300))
    kept = [k for k in range(len(steps)) if k % every == 0 or k == len(steps) - 1]
    gaps = trace.get("gap")
    return [
        {
            "step": int(steps[k]),
            "objective": float(trace["objective"][k]),
            "gap": None if gaps is None or np.isnan(gaps[k]) else float(gaps[k]),
        }
        for k in kept
    ]


def _search(tuned):
    """What was tried where parameters were chosen."""
    if tuned is None:
        return []
    found = []
    for k, point in enumerate(tuned["points"]):
        if point["collapsed"]:
            continue
        loss = f"beta {point['beta']:g}, softness {point['softness']:g}, gamma {point['gamma']:g}"
        weight = point["class_weight"]
        if weight == "balanced":
            loss += ", balanced classes"
        elif weight != "none":
            loss += f", class weight {weight:g}"
        error = point["standard_error"]
        found.append(
            {
                "features": point.get("features", "linear"),
                "parameters": loss,
                "auc": point["auc"],
                "se": 0.0 if error is None else error,
                "folds": len(point["fold_aucs"]),
                "chosen": k == tuned["chosen"],
            }
        )
    return found
