"""Figures of effects: curves with counts beneath, bars of levels, heat maps of pairs."""

import math

import numpy as np

# Of the width of a curve: how far beside it missing values stand.
MARGIN = 0.1
# Colours of levels, of missing and rare ones, of counts, and of cells without examples.
MAIN, APART, COUNTS, EMPTY = "#1f6fb4", "#d98200", "#9aa5b1", "#e8e8e8"

# Parts of a time, by how many values they have.
PARTS = {24: " hour", 7: " weekday", 12: " month"}


def draw(effects, terms, figure, *, columns, max_levels):
    """A panel for each term; the axes by the names of the terms."""
    n_columns = max(1, min(columns, len(terms)))
    n_rows = math.ceil(len(terms) / n_columns)
    if figure is None:
        from matplotlib import pyplot

        size = (4.6 * n_columns, 3.6 * n_rows)
        figure = pyplot.figure(figsize=size, layout="constrained")
    grid = figure.add_gridspec(n_rows, n_columns)
    axes = {}
    for k, term in enumerate(terms):
        place = grid[k // n_columns, k % n_columns]
        axes[term.name] = _panel(figure, place, term, max_levels)
        title = term.name
        if effects.has_importances:
            title += f" (importance {term.importance:.3g})"
        axes[term.name].set_title(title, fontsize="medium", loc="left")
    return axes


def _panel(figure, place, term, max_levels):
    if term.kind == "pair":
        ax = figure.add_subplot(place)
        _heat_map(ax, term, max_levels)
    elif term.kind == "category":
        ax = figure.add_subplot(place)
        _levels(ax, term, max_levels)
    else:
        parts = place.subgridspec(2, 1, height_ratios=[4, 1], hspace=0.0)
        ax = figure.add_subplot(parts[0])
        below = figure.add_subplot(parts[1], sharex=ax)
        (_parts if term.kind == "part" else _curve)(ax, below, term)
        ax.tick_params(labelbottom=False, bottom=False)
        ax.set_ylabel("adds to the score")
        below.set_ylabel("examples", fontsize="small")
        below.set_ylim(bottom=0)
        below.yaxis.set_major_locator(_few_ticks())
    return ax


def _few_ticks():
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(2, integer=True)


def shown_range(term):
    """From where to where a number is drawn: the range of the training rows."""
    (side,) = term.sides
    low, high = side.range or (term.mean - 2.5 * term.deviation, term.mean + 2.5 * term.deviation)
    return (low, high) if low < high else (low - 0.5, low + 0.5)


def equal_widths(ax, edges, side):
    """Draws what is between two edges equally wide, and labels some of the edges.

    A column such as an income has nearly all of its rows in a small part of its range.
    """
    n, width = edges.size - 1, edges[-1] - edges[0]
    # As much again at either side, for what is drawn beside the curve.
    x = np.r_[edges[0] - width, edges, edges[-1] + width]
    places = np.r_[-n, np.arange(n + 1), 2 * n].astype(float)
    ax.set_xscale(
        "function",
        functions=(lambda at: np.interp(at, x, places), lambda at: np.interp(at, places, x)),
    )
    shown = np.unique(np.linspace(0, n, 6).round().astype(int))
    ax.set_xticks(edges[shown], [_number(side, x, 3) for x in edges[shown]])
    ax.minorticks_off()


def curve_of(term):
    """The corners of a curve: flat in a bin but for the linear part, upright between two bins."""
    (side,) = term.sides
    low, high = shown_range(term)
    cuts = side.cuts[(low < side.cuts) & (side.cuts < high)]
    edges = np.r_[low, cuts, high]
    left, right = edges[:-1], edges[1:]
    x = np.column_stack([left, right]).ravel()
    # The value of a bin is that of its left end, at which it begins.
    added = np.repeat(term.curve(left) - term.linear(left), 2) + term.linear(x)
    return x, added


def _curve(ax, below, term):
    (side,) = term.sides
    x, added = curve_of(term)
    ax.axhline(0.0, color="k", linewidth=0.6)
    ax.plot(x, added, color=MAIN, gid="curve")
    low, high = x[0], x[-1]
    edges = np.clip(np.r_[low, side.cuts, high], low, high)
    if side.cuts.size:
        rows = term.rows[: side.cuts.size + 1]
        wide = np.diff(edges)
        below.bar(edges[:-1], rows, width=wide, align="edge", color=COUNTS, gid="counts")
    if side.kind == "time":
        below.xaxis_date()
        below.tick_params(axis="x", rotation=30)
    if side.is_skewed:
        equal_widths(below, np.unique(edges), side)
        below.set_xlabel("bins equally wide", fontsize="small")
    if side.missing is None:
        ax.set_xlim(low, high)
        return
    # Beside the numbers.
    width = high - low
    at = high + MARGIN * width
    cell = term.cells[side.missing]
    ax.plot([at], [cell.value], "D", color=APART, gid="missing")
    ax.annotate(
        "missing", (at, cell.value), (0, 6), textcoords="offset points", ha="center", color=APART
    )
    below.bar([at], [cell.rows], width=0.06 * width, color=APART, gid="missing")
    ax.axvline(high + 0.03 * width, color="k", linewidth=0.6, linestyle=":")
    ax.set_xlim(low, high + 2 * MARGIN * width)


def _parts(ax, below, term):
    """Hours, weekdays or months in their order."""
    places = np.arange(len(term.cells))
    ax.axhline(0.0, color="k", linewidth=0.6)
    ax.bar(places, term.scores, color=MAIN, gid="levels")
    below.bar(places, term.rows, color=COUNTS, gid="counts")
    step = 1 if places.size <= 12 else 3
    names = [cell.names[0][:3] for cell in term.cells]
    below.set_xticks(places[::step], names[::step])


def chosen_levels(term, most):
    """The cells with most rows, missing and rare ones always; what adds most first."""
    apart = [cell for cell in term.cells if cell.is_missing or cell.is_rare]
    levels = [cell for cell in term.cells if not (cell.is_missing or cell.is_rare)]
    levels = sorted(levels, key=lambda cell: -cell.rows)[: max(most - len(apart), 1)]
    return sorted(levels + apart, key=lambda cell: -cell.value)


def _levels(ax, term, most):
    cells = chosen_levels(term, most)
    places = np.arange(len(cells))
    colours = [APART if cell.is_missing or cell.is_rare else MAIN for cell in cells]
    ax.axvline(0.0, color="k", linewidth=0.6)
    ax.barh(places, [cell.value for cell in cells], color=colours, gid="levels")
    ax.set_yticks(places, [_short(cell.names[0]) for cell in cells])
    ax.invert_yaxis()
    ax.set_xlabel("adds to the score")
    # How many examples, at the right.
    for place, cell in zip(places, cells, strict=True):
        ax.annotate(
            f"{cell.rows:,}",
            (1.0, place),
            (4, 0),
            xycoords=("axes fraction", "data"),
            textcoords="offset points",
            va="center",
            fontsize="small",
            color="#5b6670",
        )
    more = len(term.cells) - len(cells)
    note = "examples" if more == 0 else f"examples ({more} levels with fewer are not shown)"
    ax.annotate(
        note,
        (1.0, 1.0),
        (0, 4),
        xycoords="axes fraction",
        textcoords="offset points",
        ha="right",
        fontsize="small",
        color="#5b6670",
    )


def _short(name):
    return name if len(name) <= 24 else name[:23] + "…"


def shown_cells(term, side, most):
    """The cells of one side of a pair that are drawn: those with rows, of levels the commonest."""
    rows = term.rows.sum(axis=1 - side)
    there = np.flatnonzero(rows)
    of_side = term.sides[side]
    if of_side.kind in ("number", "time", "part"):
        return there
    apart = [at for at in there if at in (of_side.missing, of_side.rare)]
    levels = sorted((at for at in there if at not in apart), key=lambda at: -rows[at])
    return np.array(sorted(levels[: max(most - len(apart), 1)]) + apart)


def _heat_map(ax, term, most):
    """The second column upwards; grey where no training row is."""
    across, up = (shown_cells(term, side, most) for side in (0, 1))
    values = np.ma.masked_invalid(term.scores[np.ix_(across, up)].T)
    largest = float(np.abs(values).max()) if values.count() else 0.0
    ax.set_facecolor(EMPTY)
    drawn = ax.pcolormesh(
        np.arange(across.size + 1),
        np.arange(up.size + 1),
        values,
        cmap="RdBu_r",
        vmin=-(largest or 1.0),
        vmax=largest or 1.0,
        edgecolors="w",
        linewidth=0.4,
        gid="pair",
    )
    bar = ax.figure.colorbar(drawn, ax=ax, shrink=0.9)
    bar.set_label("adds to the score")
    for axis, side, cells in ((ax.xaxis, 0, across), (ax.yaxis, 1, up)):
        places, names = _ticks(term.sides[side], cells)
        axis.set_ticks(places, names)
    if sum(len(label.get_text()) + 1 for label in ax.get_xticklabels()) > 36:
        for label in ax.get_xticklabels():
            label.set(rotation=45, ha="right", rotation_mode="anchor")
    ax.tick_params(labelsize="small")
    ax.set(xlabel=_label(term.sides[0]), ylabel=_label(term.sides[1]))


def _label(side):
    return side.column + (PARTS.get(len(side.names), "") if side.kind == "part" else "")


def _ticks(side, cells):
    """Of bins the cuts between them, of others the middle of each cell."""
    if not side.cuts.size:
        return np.arange(len(cells)) + 0.5, [_short(side.names[at]) for at in cells]
    places, names = [], []
    for at, (cell, next_one) in enumerate(zip(cells, [*cells[1:], None], strict=True)):
        if cell == side.missing:
            places.append(at + 0.5)
            names.append("missing")
        elif next_one is not None and next_one != side.missing:
            places.append(at + 1)
            names.append(_number(side, side.cuts[min(next_one, side.cuts.size) - 1]))
    return places, names


def _number(side, x, digits=6):
    if side.kind == "time":
        return str(np.datetime64(int(x), "D"))
    return f"{x:.{digits}g}" if abs(x) < 1e3 else f"{x:.6g}"
