"""The model file of the command line: what an estimator writes there and reads from it."""

import json
import os
import warnings
from numbers import Integral

import numpy as np

from . import _core
from ._problem import Solution
from ._table import default_names


def class_name(label):
    """The label as the command line writes it: 1.0 is `1`, and there are no exponents."""
    if isinstance(label, (bool, np.bool_, str)):
        return str(label)
    if isinstance(label, Integral):
        return str(int(label))
    return np.format_float_positional(float(label), trim="-")


def class_labels(names):
    """Numbers where both names are numbers as `class_name` writes them: `01` is a string."""
    if list(names) == ["False", "True"]:
        return np.array([False, True])
    for kind in (np.int64, np.float64):
        try:
            numbers = np.array([kind(name) for name in names])
        except (ValueError, OverflowError):
            continue
        if np.isfinite(numbers).all() and [class_name(number) for number in numbers] == list(names):
            return numbers
    return np.array(names)


def only_solution(estimator):
    """That of a fitted estimator of two classes."""
    if len(estimator._solutions) != 1:
        raise ValueError("only models of two classes are written; use pickle or joblib for more")
    return estimator._solutions[0]


def model_of(estimator, found):
    """The model of a solution, with the names that the estimator has seen."""
    names = list(getattr(estimator, "feature_names_in_", ()))
    if found.features is not None and names != default_names(len(names)):
        # The map of the columns has them.
        names = []
    return found.model(classes=[class_name(label) for label in estimator.classes_], names=names)


def export_model(estimator, path, to, table):
    """The model in another form."""
    model = model_of(estimator, only_solution(estimator))
    for note in _core.export_model(os.fspath(path), model, to, table):
        warnings.warn(note, stacklevel=3)


def write_model(estimator, path):
    """The file of a fitted estimator."""
    found = only_solution(estimator)
    model = model_of(estimator, found)
    # Of numbers without names the command line keeps none either.
    has_effects = found.features is not None or model["names"] or found.file is not None
    training = {
        "algorithm": estimator._algorithm,
        "parameters": json.dumps(found.parameters or estimator._saved_parameters(found)),
        "certificate": json.dumps(certificate_of(found)),
        "effects": found.effects if has_effects else None,
    }
    _core.save_model(os.fspath(path), model, training)


def certificate_of(found):
    """How near the optimum a solution is."""
    return {
        "objective": None if np.isnan(found.objective) else found.objective,
        "dual": found.dual,
        "gap": found.gap,
        "stop": found.stop,
        "lambda": found.interval,
        "tied": found.tied,
        "n": found.n,
        "n_neg": found.counts[0],
        "n_pos": found.counts[1],
    }


def _set_features(found, effects, columns):
    """The parameters that would make the map again."""
    pairs = [[columns[j] for j in e["columns"]] for e in effects if e["kind"] == "pair"]
    has_bins = any(e["kind"] == "cells" and e["cells"]["kind"] == "bins" for e in effects)
    if pairs:
        found.features = "pairs"
        # The name of a time does not say which part of it is meant.
        has_times = any(column["kind"] == "time" for pair in pairs for column in pair)
        named = [(a["name"], b["name"]) for a, b in pairs]
        found.interactions = len(pairs) if has_times else named
    elif has_bins:
        found.features = "additive"


def read_model(cls, path):
    """A fitted estimator of this class."""
    model, training = _core.load_model(os.fspath(path))
    parameters = json.loads(training["parameters"])
    certificate = json.loads(training["certificate"])
    found = cls._of_saved(training["algorithm"], parameters, path)
    # The positive class comes second; --positive may have named the smaller one.
    found.classes_ = class_labels(model["classes"])
    features = json.loads(model["features"])
    kind, names = features["kind"], model["names"]
    if kind == "columns":
        columns = features["columns"]
        found.n_features_in_ = len(columns)
        found._set_kinds(column["kind"] for column in columns)
        named = [column["name"] for column in columns]
        _set_features(found, features["effects"], columns)
        names = [] if not names and named == default_names(len(named)) else named
    elif kind == "identity":
        found.n_features_in_ = model["weights"].size
    elif names:
        found.n_features_in_ = len(names)
    if names:
        found.feature_names_in_ = np.array(names, dtype=object)
    calibration = model["calibration"]
    if calibration is not None:
        *_, knots, _ = calibration
        found.calibrate = "isotonic" if knots.size else "sigmoid"
    objective = certificate.get("objective")
    found._set(
        [
            Solution(
                weights=model["weights"],
                offset=model["intercept"],
                cut=model["threshold"],
                beta=parameters.get("beta", np.nan),
                gamma=parameters.get("gamma", np.nan),
                softness=parameters.get("softness", 0.0),
                class_weight=parameters.get("class_weight", "none"),
                least_squares=parameters.get("least_squares", "plain"),
                scale=parameters.get("scale", "none"),
                objective=np.nan if objective is None else objective,
                dual=certificate.get("dual"),
                gap=certificate.get("gap"),
                tied=certificate.get("tied"),
                stop=certificate.get("stop"),
                interval=certificate.get("lambda"),
                n=certificate.get("n", 0),
                counts=(certificate.get("n_neg", 0), certificate.get("n_pos", 0)),
                eta0=parameters.get("eta0"),
                seed=parameters.get("seed", 0),
                calibration=calibration,
                features=None if kind == "identity" else model["features"],
                map=getattr(found, "features", "linear"),
                effects=training["effects"],
                parameters=parameters,
                file=model["file"],
            )
        ]
    )
    return found
