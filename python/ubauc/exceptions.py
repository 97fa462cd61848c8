"""Warnings of their own; what is wrong raises `ValueError` and the like."""


class CollapseWarning(UserWarning):
    """A fitted model ties many examples at its threshold, or has no weights at all.

    The hinge of the objective has no margin and likes ties; the least squares keep scores apart. A
    larger ``beta`` or a smaller ``gamma`` is the cure.
    """
