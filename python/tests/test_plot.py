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
