"""`interactions`: which pairs of columns get a table, as users of EBM say it."""

from numbers import Integral, Real

MUST = (
    "must be a whole number of pairs (10), a share of the number of columns below 1 (0.5), a "
    "multiple of it ('3x'), or a list of pairs of columns by name or position"
)


def interaction_choice(given, names):
    """As the library has it: so many, so many for each column (rounded up), or by name."""
    if isinstance(given, bool):
        raise _refused(given)
    if isinstance(given, Integral):
        return {"best": _at_least_0(given, int(given))}
    if isinstance(given, Real):
        if not given < 1:
            raise ValueError(
                f"interactions = {given!r}: a share of the number of columns is below 1; for a "
                f"number of pairs give a whole number, for a multiple of the columns '{given:g}x'"
            )
        return {"per-column": _at_least_0(given, float(given))}
    if isinstance(given, str):
        return {"per-column": _at_least_0(given, _multiple(given))}
    try:
        pairs = [tuple(pair) for pair in given if not isinstance(pair, str) or _refuse_text(pair)]
    except TypeError:
        raise _refused(given) from None
    return {"named": [_pair(pair, list(names)) for pair in pairs]}


def _multiple(text):
    number = text.strip()
    try:
        if number[-1:] in ("x", "X"):
            return float(number[:-1])
    except ValueError:
        pass
    raise _refused(text)


def _at_least_0(given, number):
    if not 0 <= number < float("inf"):
        raise ValueError(f"interactions = {given!r}: must be finite and not negative")
    return number


def _refuse_text(pair):
    raise ValueError(f"interactions has {pair!r} where a pair of columns must be, as ('a', 'b')")


def _pair(pair, names):
    if len(pair) != 2:
        raise ValueError(
            f"interactions has {pair!r}, of {len(pair)} columns; tables are of two columns"
        )
    a, b = (_name(column, names) for column in pair)
    if a == b:
        raise ValueError(f"interactions has {pair!r}: a column makes no pair with itself")
    return [a, b]


def _name(column, names):
    if isinstance(column, str):
        if column in names:
            return column
        raise ValueError(f"interactions has no such column: {column!r}; there are {names}")
    if isinstance(column, Integral) and not isinstance(column, bool):
        if 0 <= column < len(names):
            return names[column]
        raise ValueError(
            f"interactions has column {column}; positions are from 0 to {len(names) - 1}"
        )
    raise ValueError(f"interactions has {column!r}; a column is a name or a position")


def _refused(given):
    return ValueError(f"interactions = {given!r}: {MUST}")
