"""What a fitted model says of each column and pair: terms with their cells, and explanations."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from . import _core


@dataclass(frozen=True)
class Cell:
    """A part of the values of a column, or of two."""

    # A level, an interval, or those of both columns of a pair.
    names: tuple[str, ...]
    # Places among the cells of the sides.
    place: tuple[int, ...]
    # Training rows in it.
    rows: int
    # What it adds to the score, without the linear part.
    value: float
    is_missing: bool
    # Of levels that are rare or were never seen.
    is_rare: bool
    # What its training rows get on average with the linear part, and the least and the most.
    mean: float
    ends: tuple[float, float]


@dataclass(frozen=True)
class Side:
    """How the values of one column are divided into the cells of a term."""

    column: str
    # "number", "category", "time" (in days since 1970-01-01) or "part" (an hour, weekday or month).
    kind: str
    # Bins are between these.
    cuts: np.ndarray
    # The smallest and the largest value of the training rows, where known.
    range: tuple[float, float] | None
    names: tuple[str, ...]
    missing: int | None
    rare: int | None
    # A tenth of the range and less has nine tenths of the rows: bins are drawn equally wide.
    is_skewed: bool = False


@dataclass(frozen=True)
class Term:
    """What a column, a part of a time, or a pair of columns adds to the score.

    Of a number it is ``slope * (x - mean) / deviation`` and the value of the cell that x is in.
    """

    name: str
    # "number", "category", "time", "part" or "pair".
    kind: str
    columns: tuple[str, ...]
    # Standard deviation over the training rows; NaN where that is not known.
    importance: float
    # Its 95 % interval, from other training rows of the same kind; None where that is not known.
    interval: tuple[float, float] | None
    # What chose a pair; None of those that were asked for, and of columns.
    gain: float | None
    slope: float
    mean: float
    deviation: float
    # What is added in no cell, as for a level that was never seen, and where a number is its mean.
    constant: float
    cells: tuple[Cell, ...]
    sides: tuple[Side, ...] = field(repr=False)
    # The least and the most that it adds to a training row; None where that is not known.
    ends: tuple[float, float] | None = None

    @property
    def scores(self):
        """Values of the cells: of a pair a table, NaN where no training row is."""
        return self._table([cell.value for cell in self.cells], np.nan)

    @property
    def rows(self):
        """Training rows in the cells, as `scores` has them."""
        return self._table([cell.rows for cell in self.cells], 0)

    def linear(self, x):
        """The linear part at values of the column; 0 where they are missing."""
        x = np.asarray(x, dtype=np.float64)
        return np.where(np.isnan(x), 0.0, self.slope * (x - self.mean) / self.deviation)

    def curve(self, x):
        """What is added at values of a column of numbers; NaN is a missing one."""
        (side,) = self.sides
        x = np.asarray(x, dtype=np.float64)
        gaps = np.isnan(x)
        added = np.full(x.shape, self.constant)
        if side.cuts.size:
            values = self.scores
            added = values[np.searchsorted(side.cuts, x, side="right")]
            added[gaps] = self.constant
        if side.missing is not None:
            added[gaps] = self.scores[side.missing]
        return added + self.linear(x)

    def to_frame(self):
        """The cells as a pandas frame; bins with their ends, the first and last open."""
        return _pandas().DataFrame([self._row(cell) for cell in self.cells])

    def _table(self, values, empty):
        if self.kind != "pair":
            return np.array(values)
        table = np.full([len(side.names) for side in self.sides], empty)
        for cell, value in zip(self.cells, values, strict=True):
            table[cell.place] = value
        return table

    def _row(self, cell):
        row = {"term": self.name}
        for k, (side, name, at) in enumerate(zip(self.sides, cell.names, cell.place, strict=True)):
            mark = "" if k == 0 else "_2"
            row["cell" + mark] = name
            is_bin = side.cuts.size > 0 and at <= side.cuts.size and at != side.missing
            ends = np.r_[-np.inf, side.cuts, np.inf][at : at + 2] if is_bin else (np.nan, np.nan)
            row["lower" + mark], row["upper" + mark] = map(float, ends)
        least, most = cell.ends
        added = {"value": cell.value, "mean": cell.mean, "least": least, "most": most}
        return row | {"rows": cell.rows} | added


class Effects(Sequence):
    """The terms of a model, in the order of its columns, pairs last.

    ``effects_["age"]`` or ``effects_[0]`` is a term. For every row `intercept` and what the terms
    add make the score that `decision_function` answers with.
    """

    def __init__(self, terms, intercept, has_importances):
        self.terms = tuple(terms)
        self.intercept = intercept
        self.has_importances = has_importances

    def __len__(self):
        return len(self.terms)

    def __getitem__(self, which):
        if not isinstance(which, str):
            return self.terms[which]
        for term in self.terms:
            if term.name == which:
                return term
        raise KeyError(f"no term {which!r}; the terms are {self.names}")

    def __repr__(self):
        return f"<Effects: {len(self)} terms, intercept {self.intercept:.4g}>"

    @property
    def names(self):
        return [term.name for term in self.terms]

    @property
    def importances(self):
        return np.array([term.importance for term in self.terms])

    @property
    def importance_intervals(self):
        """95 % intervals of the importances, low and high; NaN where they are not known."""
        unknown = (np.nan, np.nan)
        return np.array([term.interval or unknown for term in self.terms]).reshape(-1, 2)

    def ranked(self):
        """The most important term first."""
        order = np.argsort(-self._ranks(), kind="stable")
        return [self.terms[k] for k in order]

    def to_frame(self):
        """A pandas frame with a row for each term, the most important one first."""
        rows = [
            {
                "term": term.name,
                "kind": term.kind,
                "importance": term.importance,
                "importance_low": (term.interval or (np.nan, np.nan))[0],
                "importance_high": (term.interval or (np.nan, np.nan))[1],
                "gain": np.nan if term.gain is None else term.gain,
                "slope": term.slope,
                "cells": len(term.cells),
            }
            for term in self.ranked()
        ]
        return _pandas().DataFrame(rows)

    def cells_frame(self):
        """A pandas frame with a row for each cell of each term."""
        return _pandas().DataFrame([term._row(cell) for term in self.terms for cell in term.cells])

    def _ranks(self):
        if self.has_importances:
            return self.importances
        return np.array([abs(term.slope) for term in self.terms])


class Explanation:
    """What drives the scores of a model, or single scores as sums.

    Print it for a text with bars, or let a notebook show it as HTML; ``data`` has all numbers, for
    rows a dict each, with "score", "intercept" and "terms".
    """

    def __init__(self, render, data):
        self._render = render
        self.data = data

    def __str__(self):
        return self._render("text")

    def __repr__(self):
        return str(self)

    def _repr_html_(self):
        return self._render("html")

    def to_markdown(self):
        return self._render("markdown")


def explained(solution, names):
    """The model of a pair of classes, to be explained; its columns are called so."""
    return _core.Explained(solution.model(*names), solution.effects)


def effects_of(core):
    """Terms as Python has them."""
    found = json.loads(core.to_json())
    terms = [_term(term) for term in found["terms"]]
    return Effects(terms, found["intercept"], found["has_importances"])


def _term(found):
    sides = [_side(*pair) for pair in zip(found["columns"], found["sides"], strict=True)]
    gaps, rares = [side.missing for side in sides], [side.rare for side in sides]
    cells = []
    for cell in found.get("cells", []):
        place = tuple(cell["cell"])
        names = [side.names[at] for side, at in zip(sides, place, strict=True)]
        is_missing = any(at == gap for at, gap in zip(place, gaps, strict=True))
        is_rare = any(at == rare for at, rare in zip(place, rares, strict=True))
        value = cell["value"]
        mean, *ends = (cell.get(what, value) for what in ("mean", "least", "most"))
        marks = (is_missing, is_rare)
        cells.append(Cell(tuple(names), place, cell["rows"], value, *marks, mean, tuple(ends)))
    return Term(
        name=found["name"],
        kind="pair" if len(sides) == 2 else sides[0].kind,
        columns=tuple(found["columns"]),
        importance=found.get("importance", np.nan),
        interval=tuple(found["interval"]) if "interval" in found else None,
        gain=found.get("gain"),
        slope=found.get("slope", 0.0),
        mean=found.get("mean", 0.0),
        deviation=found.get("deviation", 1.0),
        constant=found["constant"],
        cells=tuple(cells),
        sides=tuple(sides),
        ends=tuple(found["ends"]) if "ends" in found else None,
    )


def _side(column, found):
    cells = found.get("cells", [])

    def place(what):
        return next((at for at, cell in enumerate(cells) if cell[what]), None)

    return Side(
        column=column,
        kind=found["kind"],
        cuts=np.array(found.get("cuts", []), dtype=np.float64),
        range=tuple(found["range"]) if "range" in found else None,
        names=tuple(cell["name"] for cell in cells),
        missing=place("is_missing"),
        rare=place("is_rare"),
        is_skewed=found.get("is_skewed", False),
    )


def _pandas():
    try:
        import pandas
    except ImportError as error:
        raise ImportError("a frame needs pandas, which is not installed: pip install pandas") from (
            error
        )
    return pandas
