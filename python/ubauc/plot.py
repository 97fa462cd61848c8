"""Figures, with matplotlib: ROC curves with a confidence band, histograms of scores, effects,
convergence.

matplotlib is imported when a figure is drawn and not before: ``pip install 'ubauc[plot]'``.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics import roc_curve
from sklearn.utils import check_consistent_length

from . import _plot_effects
from ._effects import Effects
from .metrics import roc_auc_ci
from .metrics._given import positives_of, scores_of

__all__ = [
    "ROCBand",
    "convergence",
    "effects",
    "roc_band",
    "roc_curve_display",
    "score_histogram",
]


def _pyplot():
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError(
            "ubauc.plot draws with matplotlib, which is not installed: pip install 'ubauc[plot]'"
        ) from error
    return pyplot


def _axes(ax):
    pyplot = _pyplot()
    return pyplot.subplots()[1] if ax is None else ax


@dataclass
class ROCBand:
    """A ROC curve and a band about it.

    ``fpr`` and ``tpr`` are the points of the curve, ``at`` the false positive rates at which the
    band, from ``lower`` to ``upper``, changes. After `roc_curve_display` there are ``ax_``,
    ``line_`` and ``band_``, as matplotlib has them.
    """

    fpr: np.ndarray
    tpr: np.ndarray
    at: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    auc: Any
    level: float
    ax_: Any = None
    line_: Any = None
    band_: Any = None


def roc_band(y_true, y_score, *, level=0.95, pos_label=None):
    """The ROC curve with a simultaneous confidence band.

    With probability `level` the whole true curve is inside, whatever the distribution of the
    scores, if it is continuous, and for any number of examples. By the inequality of Dvoretzky,
    Kiefer, Wolfowitz and Massart each class's distribution function is nowhere further from its
    estimate than ``d = sqrt(log(2 / a) / (2 n))``, with probability ``1 - a`` and
    ``(1 - a)**2 = level``; so at a false positive rate f the true positive rate is at least that of
    the curve at ``f - d_neg``, less ``d_pos``, and at most that at ``f + d_neg``, plus ``d_pos``.
    It is wider than a pointwise band, which holds at one rate only.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes.
    y_score : array-like of shape (n_samples,)
        Scores.
    level : float, default=0.95
        Above 0 and below 1.
    pos_label : scalar or str, default=None
        The positive class; the larger of two if None.

    Returns
    -------
    band : ROCBand
        Not drawn; ``band.auc`` is what `ubauc.metrics.roc_auc_ci` answers.

    Examples
    --------
    >>> import numpy as np
    >>> from ubauc.plot import roc_band
    >>> y = np.arange(1000) % 2
    >>> band = roc_band(y, np.arange(1000) + 300 * y)
    >>> bool((band.lower <= band.upper).all())
    True
    >>> half = np.searchsorted(band.at, 0.5)  # a false positive rate of 1/2
    >>> round(float(band.lower[half]), 2), round(float(band.upper[half]), 2)
    (0.67, 0.93)
    """
    if not 0 < level < 1:
        raise ValueError(f"level = {level!r}: must be above 0 and below 1")
    check_consistent_length(y_true, y_score)
    positive, scores = positives_of(y_true, pos_label), scores_of(y_score)
    auc = roc_auc_ci(positive, scores)
    fpr, tpr, _ = roc_curve(positive, scores, drop_intermediate=False)
    share = np.log(2 / (1 - np.sqrt(level))) / 2
    d_neg, d_pos = np.sqrt(share / auc.n_neg), np.sqrt(share / auc.n_pos)
    steps = np.r_[0.0, 1.0, fpr, fpr - d_neg, fpr + d_neg]
    at = np.unique(steps[(0 <= steps) & (steps <= 1)])
    # The lowest point at or right of f - d, the highest at or left of f + d.
    right = np.searchsorted(fpr, at - d_neg, side="left")
    left = np.searchsorted(fpr, at + d_neg, side="right") - 1
    return ROCBand(
        fpr,
        tpr,
        at,
        lower=np.clip(tpr[right] - d_pos, 0, 1),
        upper=np.clip(tpr[left] + d_pos, 0, 1),
        auc=auc,
        level=level,
    )


def roc_curve_display(y_true, y_score, *, level=0.95, pos_label=None, name=None, ax=None):
    """Draw the ROC curve with its simultaneous confidence band, see `roc_band`.

    Parameters
    ----------
    y_true, y_score, level, pos_label
        As in `roc_band`.
    name : str, default=None
        Name of the scorer, for the legend, which also has its AUC with DeLong's 95 % interval.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; a new figure if None.

    Returns
    -------
    band : ROCBand
        With ``ax_``, ``line_`` and ``band_``.

    Examples
    --------
    >>> from ubauc.plot import roc_curve_display
    >>> band = roc_curve_display([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], name="scorer")
    >>> band.line_.get_label()
    'scorer: AUC 0.7500 [0.0693, 0.9918]'
    """
    band = roc_band(y_true, y_score, level=level, pos_label=pos_label)
    ax = _axes(ax)
    auc = band.auc
    label = f"AUC {auc.auc:.4f} [{auc.low:.4f}, {auc.high:.4f}]"
    if name is not None:
        label = f"{name}: {label}"
    (line,) = ax.plot(band.fpr, band.tpr, label=label)
    # The lower end steps up after its rate, the upper at it.
    steps = {"step": "post", "alpha": 0.2, "linewidth": 0, "color": line.get_color()}
    said = f"{100 * level:g} % band of the whole curve"
    fill = ax.fill_between(band.at, band.lower, band.upper, label=said, **steps)
    if not any(line.get_gid() == "chance" for line in ax.lines):
        ax.plot([0, 1], [0, 1], "k:", linewidth=1, gid="chance")
    ax.set(xlabel="False positive rate", ylabel="True positive rate", aspect="equal")
    ax.legend(loc="lower right")
    band.ax_, band.line_, band.band_ = ax, line, fill
    return band


def score_histogram(y_true, y_score, *, bins=50, threshold=None, pos_label=None, ax=None):
    """Draw histograms of the scores by class, each with area 1.

    Parameters
    ----------
    y_true, y_score, pos_label
        As in `roc_band`.
    bins : int or sequence of float, default=50
        Bins of equal width, or their edges; the same for both classes.
    threshold : float, default=None
        A score to mark; 0 for a `decision_function`.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; a new figure if None.

    Returns
    -------
    ax : matplotlib.axes.Axes
        With two histograms, the negative class first.

    Examples
    --------
    >>> from ubauc.plot import score_histogram
    >>> ax = score_histogram([0, 0, 1, 1], [-0.9, 0.2, -0.1, 0.8], bins=4, threshold=0.0)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['negative (2)', 'positive (2)', 'threshold']
    """
    check_consistent_length(y_true, y_score)
    positive, scores = positives_of(y_true, pos_label), scores_of(y_score)
    if not np.isfinite(scores).all():
        raise ValueError("scores that are not finite have no histogram")
    if positive.all() or not positive.any():
        raise ValueError("both classes are needed")
    ax = _axes(ax)
    edges = np.histogram_bin_edges(scores, bins)
    for of_class, name in ((~positive, "negative"), (positive, "positive")):
        label = f"{name} ({of_class.sum():,})"
        ax.hist(
            scores[of_class], edges, density=True, histtype="stepfilled", alpha=0.5, label=label
        )
    if threshold is not None:
        ax.axvline(threshold, color="k", linestyle=":", label="threshold")
    ax.set(xlabel="Score", ylabel="Density")
    ax.legend()
    return ax


def convergence(estimator, *, what=None, ax=None):
    """Draw what a fitted estimator's ``trace_`` says of every step, pass or round.

    Parameters
    ----------
    estimator : object or dict
        A fitted classifier of this package, or a ``trace_``.
    what : {"objective", "gap", "auc", …}, default=None
        A column of the trace; "gap" where there is one, else "objective". The gap is drawn on a
        logarithmic scale, without what is not known or 0.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; a new figure if None.

    Returns
    -------
    ax : matplotlib.axes.Axes
        With a line for each pair of classes.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from ubauc import UBAUCClassifier
    >>> from ubauc.plot import convergence
    >>> X, y = make_classification(random_state=0)
    >>> ax = convergence(UBAUCClassifier(beta=0.5, gamma=1e-3).fit(X, y))
    >>> ax.get_ylabel(), ax.get_yscale(), len(ax.lines)
    ('Gap', 'log', 1)
    """
    traces = getattr(estimator, "trace_", estimator)
    traces = [traces] if isinstance(traces, dict) else list(traces)
    if not traces or not all(traces):
        raise ValueError("there is no trace: fit was not called, or the model was read from a file")
    if what is None:
        what = "gap" if "gap" in traces[0] else "objective"
    if what == "step" or what not in traces[0]:
        known = ", ".join(name for name in traces[0] if name != "step")
        raise ValueError(f"what = {what!r}: the trace has {known}")
    ax = _axes(ax)
    for k, trace in enumerate(traces):
        step, column = trace["step"], trace[what]
        if what == "gap":
            known = column > 0
            step, column = step[known], column[known]
        ax.plot(step, column, marker=".", label=f"pair {k}")
    if what == "gap":
        ax.set_yscale("log")
    ax.set(xlabel="Step", ylabel=what.capitalize() if what != "auc" else "AUC")
    if len(traces) > 1:
        ax.legend()
    return ax


def effects(model, terms=None, *, top=6, columns=3, max_levels=15, figure=None):
    """Draw what columns and pairs of columns add to the score.

    A number is a curve, flat in each bin but for its linear part, with the training examples of
    every bin beneath; missing values stand beside it. It is drawn as far as its outermost bins
    begin, and a little further. A category has a bar for each level, a pair a heat map, grey where
    no training example is.

    Parameters
    ----------
    model : object or Effects
        A fitted classifier of two classes, or one of the ``effects_`` of more.
    terms : list of str, default=None
        Names of terms; the `top` most important ones if None.
    top : int, default=6
        How many, where they are not named.
    columns : int, default=3
        Panels side by side.
    max_levels : int, default=15
        Levels of a category that are drawn, the commonest; missing and rare ones always are.
    figure : matplotlib.figure.Figure, default=None
        Where to draw, perhaps a subfigure; a new figure if None.

    Returns
    -------
    axes : dict of str to matplotlib.axes.Axes
        By the names of the terms; of a number the axes of the curve.

    Examples
    --------
    >>> import numpy as np
    >>> from ubauc import UBAUCClassifier
    >>> from ubauc.plot import effects
    >>> X = np.random.default_rng(0).normal(size=(400, 2))
    >>> clf = UBAUCClassifier(features="additive", beta=0, softness=1, gamma=1e-2)
    >>> axes = effects(clf.fit(X, np.abs(X[:, 0]) > 1))
    >>> sorted(axes)
    ['x0', 'x1']
    """
    _pyplot()
    found = model if isinstance(model, Effects) else model.effects_
    if not isinstance(found, Effects):
        raise ValueError(
            f"the model has effects of {len(found)} pairs of classes; draw one of them, such as "
            "effects_[0]"
        )
    drawn = found.ranked()[:top] if terms is None else [found[name] for name in terms]
    if not drawn:
        raise ValueError("there are no terms to draw")
    return _plot_effects.draw(found, drawn, figure, columns=columns, max_levels=max_levels)
