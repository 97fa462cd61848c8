"""What a user should know of a fit."""

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from . import _core
from .exceptions import BaselineWarning, CollapseWarning, ColumnWarning, warn_user

# Passes that ended while the objective still changed by such a share of itself deserve a warning.
STILL_MOVING = 1e-3
# Notes on columns that are told.
NOTES = 5


def warn_about(solution, n, spec):
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
    _warn_about_columns(solution.features)
    _warn_about_search(solution.tuned)
    stop = solution.stop
    if stop in ("stalled", "max_newton"):
        gap = "unknown" if solution.gap is None else f"{solution.gap:.1e}"
        # Steps that ran out, or rounding that leaves nothing to gain by any more of them.
        remedy = "allow more steps (max_iter)"
        if stop == "stalled":
            remedy = (
                "centre features whose mean is much larger than their variation "
                "(fit_intercept=True does so for dense features)"
            )
        message = (
            f"not converged ({stop}): the gap is {gap}, asked for was {spec['tolerance']:g}; "
            f"{remedy}, scale the features (scale='maxabs') or ask for a larger tol"
        )
        warn_user(message, ConvergenceWarning)
    elif stop == "estimated":
        message = (
            "the gap is an estimate, not a certificate: with gamma=0 features may depend on each "
            "other, and a small gamma fixes this; or values are huge compared with their "
            "variation, so that rounding hides the gap, and centring them fixes this"
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


def _warn_about_columns(features):
    notes = [] if features is None else _core.notes_of_map(features)
    if notes:
        more = [f"{len(notes) - NOTES} more columns like these"] if len(notes) > NOTES else []
        warn_user("; ".join(notes[:NOTES] + more), ColumnWarning)


def _warn_about_search(tuned):
    if tuned is None:
        return
    if tuned["cut_short"]:
        message = (
            f"the time limit was reached (time_limit): the best of {len(tuned['points'])} points "
            "that were tried so far is taken"
        )
        warn_user(message, ConvergenceWarning)
    if tuned["is_worse_than_logistic"]:
        features = "features='linear', " if "maps" in tuned else ""
        verdict, logistic = tuned["verdict"], tuned["points"][tuned["logistic"]]
        message = (
            f"logistic regression is significantly better on examples that neither model has seen: "
            f"AUC {verdict['logistic']['auc']:.4f} against {verdict['ours']['auc']:.4f} "
            f"(p {verdict['test']['p']:.1e}); consider {features}beta=0, softness=1, "
            f"gamma={logistic['gamma']:g}, which is logistic regression"
        )
        warn_user(message, BaselineWarning)
