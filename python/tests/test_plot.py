"""Figures: what is drawn is what was computed, and the band holds what it promises."""

import subprocess
import sys

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.metrics import roc_curve
from ubauc import RankSVMClassifier, SOLAMClassifier, UBAUCClassifier, plot


@pytest.fixture
def pyplot():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    yield pyplot
    pyplot.close("all")


def drawn(random, n_pos=60, n_neg=90):
    y = np.r_[np.ones(n_pos), np.zeros(n_neg)]
    return y, random.normal(size=y.size) + y


def test_the_band_holds_the_whole_true_curve():
    random = np.random.default_rng(0)
    inside = 0
    for _ in range(400):
        band = plot.roc_band(*drawn(random), level=0.5)
        # The true curve rises, and the band is constant from one rate to the next.
        truth = norm.sf(norm.isf(band.at) - 1)
        inside += (truth >= band.lower).all() and (truth[1:] <= band.upper[:-1]).all()
    assert inside / 400 >= 0.5
    # And it is not the whole square.
    assert (band.upper - band.lower).mean() < 0.5


def test_the_band_by_hand():
    y, scores = np.array([1, 0, 1, 0]), np.array([4.0, 3.0, 2.0, 1.0])
    band = plot.roc_band(y, scores, level=0.0001)
    d = np.sqrt(np.log(2 / (1 - np.sqrt(0.0001))) / 4)
    assert d == pytest.approx(0.4193, abs=1e-4)
    points = list(zip([0, 0, 0.5, 0.5, 1], [0, 0.5, 0.5, 1, 1], strict=True))
    for f, low, high in zip(band.at, band.lower, band.upper, strict=True):
        assert low == pytest.approx(max(min(t for g, t in points if g >= f - d) - d, 0))
        assert high == pytest.approx(min(max(t for g, t in points if g <= f + d) + d, 1))
    # Up at f = 1/2 - d from 1/2 + d to 1; off the ground right of d.
    np.testing.assert_allclose(band.at, [0, 0.5 - d, d, 0.5, 1 - d, 0.5 + d, 1])
    np.testing.assert_allclose(band.upper, [0.5 + d, 1, 1, 1, 1, 1, 1])
    np.testing.assert_allclose(band.lower, [0, 0, 0, 0.5 - d, 0.5 - d, 0.5 - d, 1 - d])


def test_a_roc_curve_is_drawn(pyplot):
    y, scores = drawn(np.random.default_rng(1))
    found = plot.roc_curve_display(y, scores, name="ours")
    fpr, tpr, _ = roc_curve(y, scores, drop_intermediate=False)
    np.testing.assert_array_equal(found.line_.get_xdata(), fpr)
    np.testing.assert_array_equal(found.line_.get_ydata(), tpr)
    assert found.line_.get_label().startswith(f"ours: AUC {found.auc.auc:.4f} [")
    vertices = found.band_.get_paths()[0].vertices
    assert vertices[:, 0].min() == 0 and vertices[:, 0].max() == 1
    for f, low, high in zip(found.at, found.lower, found.upper, strict=True):
        here = vertices[np.isclose(vertices[:, 0], f, atol=1e-12), 1]
        assert np.isclose(here, low).any() and np.isclose(here, high).any()
    assert (found.lower <= found.upper).all()
    again = plot.roc_curve_display(y, -scores, ax=found.ax_)
    assert again.ax_ is found.ax_
    assert len(found.ax_.lines) == 3  # two curves, one line of chance
    found.ax_.figure.canvas.draw()


def test_histograms_are_drawn(pyplot):
    y, scores = drawn(np.random.default_rng(2))
    names = np.where(y == 1, "yes", "no")
    ax = plot.score_histogram(names, scores, bins=7, threshold=0.5)
    edges = np.histogram_bin_edges(scores, 7)
    for patch, of_class in zip(ax.patches, (y == 0, y == 1), strict=True):
        heights, _ = np.histogram(scores[of_class], edges, density=True)
        outline = patch.get_xy()
        assert outline[:, 1].max() == pytest.approx(heights.max())
        assert set(np.round(edges, 9)) == set(np.round(outline[:, 0], 9))
    assert ax.lines[0].get_xdata()[0] == 0.5
    assert [text.get_text() for text in ax.get_legend().get_texts()][:2] == [
        "negative (90)",
        "positive (60)",
    ]
    with pytest.raises(ValueError, match="finite"):
        plot.score_histogram(y, np.where(y == 1, np.inf, 0.0))
    with pytest.raises(ValueError, match="both classes"):
        plot.score_histogram(np.ones(3), np.zeros(3), pos_label=1)


def test_convergence_is_drawn(pyplot, dense):
    X, y = dense
    batch = UBAUCClassifier(beta=0.5, gamma=1e-3).fit(X, y)
    ax = plot.convergence(batch)
    known = batch.trace_["gap"] > 0
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), batch.trace_["gap"][known])
    np.testing.assert_array_equal(ax.lines[0].get_xdata(), batch.trace_["step"][known])
    assert ax.get_yscale() == "log"
    for clf in (SOLAMClassifier(max_iter=5), RankSVMClassifier()):
        ax = plot.convergence(clf.fit(X, y).trace_, what="objective")
        np.testing.assert_array_equal(ax.lines[0].get_ydata(), clf.trace_["objective"])
    many = SOLAMClassifier(max_iter=3).fit(X, np.arange(len(y)) % 3)
    assert len(plot.convergence(many, what="auc", ax=pyplot.figure().gca()).lines) == 3
    with pytest.raises(ValueError, match="objective, auc"):
        plot.convergence(many, what="gap")
    with pytest.raises(ValueError, match="no trace"):
        plot.convergence({})


def test_wrong_levels_and_lengths():
    with pytest.raises(ValueError, match="level"):
        plot.roc_band([0, 1], [0.1, 0.2], level=1.0)
    with pytest.raises(ValueError, match="inconsistent"):
        plot.roc_band([0, 1], [0.1, 0.2, 0.3])


def test_without_matplotlib_there_is_a_word_about_it():
    program = """
import sys
sys.modules["matplotlib"] = None
import ubauc.plot
assert ubauc.plot.roc_band([0, 1], [1.0, 2.0]).auc.auc == 1.0
try:
    ubauc.plot.roc_curve_display([0, 1], [1.0, 2.0])
except ImportError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "matplotlib" in done.stdout and "pip install 'ubauc[plot]'" in done.stdout


def test_importing_the_package_imports_no_matplotlib():
    program = "import sys, ubauc, ubauc.plot; assert 'matplotlib' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.fixture(scope="module")
def explained():
    """A model of numbers with gaps, levels with a rare one, a time, and a pair."""
    pandas = pytest.importorskip("pandas")
    random = np.random.default_rng(4)
    n = 600
    x, z = random.normal(size=(2, n))
    y = (x > 0) != (z > 0.3)
    x[::9] = np.nan
    level = random.choice(["a", "b", "c"], n).astype(object)
    level[:2] = "odd"
    day = np.datetime64("2024-03-01", "D") + random.integers(0, 90, n)
    frame = pandas.DataFrame({"x": x, "z": z, "level": level, "day": day.astype("M8[s]")})
    given = {"features": "pairs", "interactions": [("x", "z"), ("level", "z")]}
    clf = UBAUCClassifier(beta=0, softness=1, gamma=1e-3, **given).fit(frame, y)
    return clf, frame


def with_gid(things, gid):
    return [thing for thing in things if thing.get_gid() == gid]


def below(ax):
    """The axes of the counts."""
    (other,) = [other for other in ax.get_shared_x_axes().get_siblings(ax) if other is not ax]
    return other


def test_curves_are_what_the_model_adds(pyplot, explained):
    clf, frame = explained
    ax = plot.effects(clf, ["z"])["z"]
    (line,) = with_gid(ax.lines, "curve")
    corners, added = line.get_data()
    # Inside the bins the line is what rows are given there.
    middles = (corners[::2] + corners[1::2]) / 2
    rows = frame.iloc[: middles.size].assign(z=middles)
    at = clf.term_names_.index("z")
    np.testing.assert_allclose(
        np.interp(middles, corners, added), clf.eval_terms(rows)[:, at], atol=1e-9
    )
    counts = [bar.get_height() for bar in below(ax).patches]
    assert counts == clf.effects_["z"].rows.tolist() and sum(counts) == len(frame)
    lefts = [bar.get_x() for bar in below(ax).patches]
    np.testing.assert_allclose(lefts[1:], clf.effects_["z"].sides[0].cuts)
    ax.figure.canvas.draw()


def test_a_skewed_number_is_drawn_to_its_ends(pyplot):
    pandas = pytest.importorskip("pandas")
    random = np.random.default_rng(5)
    frame = pandas.DataFrame({"income": np.exp(1.5 * random.normal(size=1500) + 3)})
    y = frame["income"] / 60 + random.normal(size=1500) > 0.6
    frame.loc[::9, "income"] = np.nan
    given = {"features": "additive", "beta": 0, "softness": 1, "gamma": 1e-3}
    clf = UBAUCClassifier(**given).fit(frame, y)
    ax = plot.effects(clf, ["income"])["income"]
    (line,) = with_gid(ax.lines, "curve")
    corners, added = line.get_data()
    smallest, largest = frame["income"].min(), frame["income"].max()
    assert (corners[0], corners[-1]) == (smallest, largest)
    ends = pandas.DataFrame({"income": [smallest, largest]})
    np.testing.assert_allclose(added[[0, -1]], clf.eval_terms(ends)[:, 0], atol=1e-9)
    # Bins are equally wide in the picture, and missing values beside them.
    edges = np.unique(corners)
    wide = np.diff(ax.transData.transform(np.column_stack([edges, edges * 0]))[:, 0])
    np.testing.assert_allclose(wide, wide[0], rtol=1e-6)
    (point,) = with_gid(ax.lines, "missing")
    low, high = ax.get_xlim()
    assert largest < point.get_xdata()[0] < high and low == smallest
    labels = [label.get_text() for label in below(ax).get_xticklabels()]
    assert labels[-1] == f"{largest:.6g}"
    ax.figure.canvas.draw()


def test_missing_values_stand_beside_the_curve(pyplot, explained):
    clf, frame = explained
    ax = plot.effects(clf, ["x"])["x"]
    (point,) = with_gid(ax.lines, "missing")
    at = clf.term_names_.index("x")
    expected = clf.eval_terms(frame[frame["x"].isna()].iloc[:1])[0, at]
    assert point.get_ydata()[0] == pytest.approx(expected, abs=1e-12)
    (curve,) = with_gid(ax.lines, "curve")
    assert point.get_xdata()[0] > curve.get_xdata().max()
    bar = below(ax).patches[-1]
    assert bar.get_height() == frame["x"].isna().sum()
    low, high = ax.get_xlim()
    assert low < point.get_xdata()[0] < high


def test_levels_are_bars_with_rare_ones_apart(pyplot, explained):
    clf, _ = explained
    ax = plot.effects(clf, ["level"])["level"]
    values = [bar.get_width() for bar in ax.patches]
    assert values == sorted(values, reverse=True)
    names = [label.get_text() for label in ax.get_yticklabels()]
    cells = {cell.names[0]: cell for cell in clf.effects_["level"].cells}
    assert values == [cells[name].value for name in names] and "(rare)" in names
    colours = {name: bar.get_facecolor() for name, bar in zip(names, ax.patches, strict=True)}
    assert colours["(rare)"] != colours["a"] == colours["b"]
    texts = [text.get_text() for text in ax.texts]
    assert texts[:-1] == [f"{cells[name].rows:,}" for name in names]
    few = plot.effects(clf, ["level"], max_levels=2)["level"]
    assert len(few.patches) == 2 and "2 levels with fewer" in few.texts[-1].get_text()


def test_pairs_are_heat_maps(pyplot, explained):
    clf, _ = explained
    names = [name for name in clf.term_names_ if " & " in name]
    axes = plot.effects(clf, names)
    for name in names:
        term, (mesh,) = clf.effects_[name], with_gid(axes[name].collections, "pair")
        shown = mesh.get_array()
        rows = term.rows[np.ix_(term.rows.any(axis=1), term.rows.any(axis=0))].T
        scores = term.scores[np.ix_(term.rows.any(axis=1), term.rows.any(axis=0))].T
        assert (np.ma.getmaskarray(shown) == (rows == 0)).all()
        np.testing.assert_array_equal(shown.filled(0), np.nan_to_num(scores))
        low, high = mesh.get_clim()
        assert -low == high == np.nanmax(np.abs(scores))
        axes[name].figure.canvas.draw()


def test_the_most_important_terms_are_drawn(pyplot, explained):
    clf, _ = explained
    axes = plot.effects(clf, top=4, columns=2)
    assert list(axes) == [term.name for term in clf.effects_.ranked()[:4]]
    assert len({ax.figure for ax in axes.values()}) == 1
    every = plot.effects(clf.effects_, top=100)
    assert list(every) == [term.name for term in clf.effects_.ranked()]
    figure = pyplot.figure()
    assert plot.effects(clf, ["day"], figure=figure)["day"].figure is figure
    figure.canvas.draw()
    with pytest.raises(KeyError, match="no term 'nothing'"):
        plot.effects(clf, ["nothing"])
    with pytest.raises(ValueError, match="no terms"):
        plot.effects(clf, [])


def test_effects_of_numbers_and_of_many_classes(pyplot, dense):
    X, y = dense
    clf = UBAUCClassifier(beta=0.5, gamma=1e-3).fit(X, y)
    (line,) = with_gid(plot.effects(clf, ["x3"])["x3"].lines, "curve")
    x, added = line.get_data()
    np.testing.assert_allclose(added, clf.coef_[0, 3] * (x - X[:, 3].mean()), atol=1e-12)
    many = UBAUCClassifier(beta=0.5, gamma=1e-3).fit(X, np.arange(len(y)) % 3)
    with pytest.raises(ValueError, match="3 pairs of classes"):
        plot.effects(many)
    assert len(plot.effects(many.effects_[1], top=2)) == 2
