"""Warnings of this package; errors are `ValueError` and the like."""

import sys
import warnings

# What stands between a user and what warns.
_OURS = ("ubauc", "sklearn.callback")


class CollapseWarning(UserWarning):
    """A fitted model ties many examples at its threshold, or has no weights at all.

    The hinge of the objective has no margin and so favours ties; the least squares keep scores
    apart. Use a larger ``beta`` or a smaller ``gamma``.
    """


class BaselineWarning(UserWarning):
    """Logistic regression is significantly better than the model that was chosen.

    Raised where parameters are chosen by cross-validated AUC: both models are compared by a paired
    test on examples that neither has seen.
    """


class ColumnWarning(UserWarning):
    """A column of a table tells nothing, or seems to be an identifier."""


def warn_user(message, category):
    """Warn the caller: the warning points at the first line outside this package."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and f"{frame.f_globals.get('__name__')}.".startswith(
        tuple(f"{name}." for name in _OURS)
    ):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
