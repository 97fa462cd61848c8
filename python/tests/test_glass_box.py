"""Effects: they add up to the score, are what the rows say, and survive files."""

import json
import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from ubauc import ColumnWarning, UBAUCClassifier

pandas = pytest.importorskip("pandas")

LOGISTIC = {"beta": 0, "softness": 1, "gamma": 1e-3}


def people(n=900, seed=3):
    """Numbers with gaps and heavy values, levels with rare ones, a date, and a planted pair."""
    random = np.random.default_rng(seed)
    age = random.integers(18, 80, n).astype(float)
    hours = np.where(random.random(n) < 0.5, 40.0, random.integers(1, 80, n))
    job = random.choice(["clerk", "nurse", "smith", "cook"], n).astype(object)
    job[:2] = "astronaut"
    town = random.choice(["north", "south"], n)
    day = np.datetime64("2024-01-01T00", "h") + random.integers(0, 5000, n)
    crossed = (age > 50) != (town == "north")
    odds = 1.5 * crossed - np.abs(age - 45) / 20 + (hours > 45) + (job == "nurse") - 0.5
    y = random.random(n) < 1 / (1 + np.exp(-odds))
    age[random.random(n) < 0.1] = np.nan
    job[random.random(n) < 0.1] = None
    frame = {"age": age, "hours": hours, "job": job, "town": town, "day": day.astype("M8[s]")}
    return pandas.DataFrame(frame), np.where(y, "yes", "no")


def unseen():
    """Rows with all that can be odd."""
    frame = people(60, seed=8)[0]
    frame.loc[0, ["age", "job", "town"]] = [np.nan, "sailor", "west"]
    frame.loc[1, ["age", "hours"]] = [1e6, -1e6]
    frame.loc[2, ["hours", "job", "town", "day"]] = [np.nan, None, None, pandas.NaT]
    return frame


MAPS = {
    "linear": {},
    "additive": {"features": "additive"},
    "pairs": {"features": "pairs", "interactions": 3},
    "named": {"features": "pairs", "interactions": [("age", "town"), (1, "day")]},
}


@pytest.fixture(scope="module")
def fitted():
    X, y = people()
    return {name: UBAUCClassifier(**LOGISTIC, **given).fit(X, y) for name, given in MAPS.items()}


@pytest.mark.parametrize("name", MAPS)
def test_terms_and_intercept_add_up_to_the_score(name, fitted):
    clf = fitted[name]
    for X in (people()[0], unseen()):
        added = clf.eval_terms(X)
        assert added.shape == (len(X), len(clf.term_names_))
        sums = added.sum(axis=1) + clf.effects_.intercept
        # A number of a million has a score of ten thousand: the rounding is relative.
        np.testing.assert_allclose(sums, clf.decision_function(X), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", MAPS)
def test_terms_have_mean_0_and_their_deviation_is_the_importance(name, weighted, fitted):
    X, y = people()
    weights = np.ones(len(y))
    clf = fitted[name]
    if weighted:
        weights = np.random.default_rng(0).integers(0, 4, len(y)).astype(float)
        clf = clone(clf).fit(X, y, sample_weight=weights)
    added = clf.eval_terms(X)
    means = np.average(added, axis=0, weights=weights)
    is_main = [term.kind != "pair" for term in clf.effects_]
    np.testing.assert_allclose(means[is_main], 0, atol=1e-12)
    variances = np.average((added - means) ** 2, axis=0, weights=weights)
    np.testing.assert_allclose(clf.term_importances(), np.sqrt(variances), atol=1e-9)
    mean_score = np.average(clf.decision_function(X), weights=weights)
    # Pairs have mean 0 too, as far as their sweeps go.
    assert clf.effects_.intercept == pytest.approx(mean_score, abs=1e-9)


def places_of_rows(term, X):
    """The cells of rows on each side of a term of numbers and categories."""
    places = []
    for side in term.sides:
        values = X[side.column]
        if side.kind == "number":
            place = np.searchsorted(side.cuts, values.to_numpy(dtype=float), side="right")
        else:
            known = {level: at for at, level in enumerate(side.names)}
            place = np.array([known.get(value, side.rare) for value in values], dtype=float)
        gaps = values.isna().to_numpy()
        place = np.where(gaps, np.nan if side.missing is None else side.missing, place)
        places.append(place)
    return places


@pytest.mark.parametrize("name", ["linear", "additive", "pairs"])
def test_cells_hold_what_rows_are_given_and_how_many_there_are(name, fitted):
    clf = fitted[name]
    X = people()[0]
    added = clf.eval_terms(X)
    looked_at = set()
    for k, term in enumerate(clf.effects_):
        if any(side.kind in ("part", "time") for side in term.sides):
            continue
        linear = np.zeros(len(X))
        if term.kind == "number":
            linear = term.linear(X[term.name])
            np.testing.assert_allclose(term.curve(X[term.name]), added[:, k], atol=1e-12)
        if not term.cells or (term.kind == "number" and not term.sides[0].cuts.size):
            continue
        places = np.array(places_of_rows(term, X))
        assert not np.isnan(places).any()
        at = tuple(places.astype(int))
        np.testing.assert_allclose(term.scores[at] + linear, added[:, k], atol=1e-12)
        counts = np.zeros_like(term.rows)
        np.add.at(counts, at, 1)
        np.testing.assert_array_equal(counts, term.rows)
        looked_at.add(term.kind)
    assert {"category"} <= looked_at
    assert name == "linear" or "number" in looked_at
    assert name != "pairs" or "pair" in looked_at


def test_missing_and_rare_cells_are_marked(fitted):
    job = fitted["additive"].effects_["job"]
    marked = {cell.names[0]: (cell.is_missing, cell.is_rare, cell.rows) for cell in job.cells}
    X = people()[0]
    assert marked["(missing)"] == (True, False, X["job"].isna().sum())
    assert marked["(rare)"] == (False, True, (X["job"] == "astronaut").sum())
    assert marked["clerk"] == (False, False, (X["job"] == "clerk").sum())
    age = fitted["additive"].effects_["age"]
    gap = age.cells[age.sides[0].missing]
    assert (gap.is_missing, gap.rows) == (True, X["age"].isna().sum())
    assert gap.value == pytest.approx(age.curve([np.nan])[0], abs=1e-12)


def test_the_names_that_users_of_ebm_know(fitted):
    clf = fitted["pairs"]
    effects = clf.effects_
    assert clf.term_names_ == [term.name for term in effects]
    assert len(clf.term_scores_) == len(clf.bin_weights_) == len(effects)
    for scores, rows, term in zip(clf.term_scores_, clf.bin_weights_, effects, strict=True):
        assert scores.shape == rows.shape
        assert scores.ndim == (2 if term.kind == "pair" else 1)
        if term.kind == "pair":
            assert (np.isnan(scores) == (rows == 0)).all()
            assert rows.sum() == len(people()[0])
    best = effects.ranked()[0]
    assert best.importance == clf.term_importances().max()
    assert effects[best.name] is best and effects[0].name == clf.term_names_[0]
    with pytest.raises(KeyError, match="no term 'x'"):
        effects["x"]


def test_cells_have_what_their_rows_get():
    """A skewed number: the middle of its last bin is far from its rows."""
    random = np.random.default_rng(5)
    frame = pandas.DataFrame({"income": np.exp(1.5 * random.normal(size=2000) + 3)})
    y = frame["income"] / 60 + random.normal(size=2000) > 0.6
    clf = UBAUCClassifier(features="additive", **LOGISTIC).fit(frame, y)
    (term,) = clf.effects_
    added = clf.eval_terms(frame)[:, 0]
    (side,) = term.sides
    assert side.is_skewed and side.range == (frame["income"].min(), frame["income"].max())
    place = np.searchsorted(side.cuts, frame["income"], side="right")
    for cell in term.cells:
        got = added[place == cell.place[0]]
        assert got.size == cell.rows
        if cell.rows:
            assert cell.mean == pytest.approx(got.mean(), abs=1e-10)
            assert cell.ends == pytest.approx((got.min(), got.max()), abs=1e-10)
    assert term.ends == pytest.approx((added.min(), added.max()), abs=1e-10)
    assert f"from {added.min():+.4f} to {added.max():+.4f}" in str(clf.explain())
    cells = term.to_frame()
    assert (cells["least"] <= cells["mean"]).all() and (cells["mean"] <= cells["most"]).all()


def test_frames(fitted):
    clf = fitted["pairs"]
    terms = clf.effects_.to_frame()
    assert terms["importance"].is_monotonic_decreasing
    assert set(terms["term"]) == set(clf.term_names_)
    assert (terms["gain"].notna() == (terms["kind"] == "pair")).all()
    age = clf.effects_["age"].to_frame()
    bins = age[age["lower"].notna()]
    assert bins["lower"].iloc[0] == -np.inf and bins["upper"].iloc[-1] == np.inf
    assert (bins["upper"].to_numpy()[:-1] == bins["lower"].to_numpy()[1:]).all()
    assert age["rows"].sum() == len(people()[0])
    cells = clf.effects_.cells_frame()
    assert len(cells) == sum(len(term.cells) for term in clf.effects_)
    pair = cells[cells["term"] == clf.effects_[-1].name]
    assert pair["cell_2"].notna().all()


def test_frames_need_pandas_and_nothing_else_does():
    program = """
import sys
sys.modules["pandas"] = None
import numpy, ubauc
X = numpy.random.default_rng(0).normal(size=(90, 2))
fixed = dict(beta=0, softness=1, gamma=1e-2)
clf = ubauc.UBAUCClassifier(features="additive", **fixed).fit(X, X[:, 0] > 0)
assert "importance" in str(clf.explain()) and "score" in str(clf.explain(X[:1]))
try:
    clf.effects_.to_frame()
except ImportError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "pip install pandas" in done.stdout, done.stderr


@pytest.mark.parametrize(
    ("given", "count"),
    [(0, 0), (2, 2), (np.int64(1), 1), (0.5, 3), (0.0, 0), ("0.5x", 3), ("1X", 5), (" 2x ", 10)],
)
def test_interactions_are_counted_as_ebm_counts_them(given, count):
    X, y = people(400)
    clf = UBAUCClassifier(features="pairs", interactions=given, **LOGISTIC).fit(X, y)
    assert sum(term.kind == "pair" for term in clf.effects_) == count


def test_pairs_by_name_and_position(fitted):
    pairs = [term for term in fitted["named"].effects_ if term.kind == "pair"]
    # A date makes pairs of its parts too.
    assert {frozenset(term.columns) for term in pairs} == {
        frozenset(["age", "town"]),
        frozenset(["hours", "day"]),
    }
    X, y = people(400)
    array = X[["age", "hours"]].to_numpy()
    clf = UBAUCClassifier(features="pairs", interactions=[(1, 0)], **LOGISTIC).fit(array, y)
    assert [set(t.columns) for t in clf.effects_ if t.kind == "pair"] == [{"x0", "x1"}]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (-1, "negative"),
        (-0.5, "negative"),
        (1.5, "'1.5x'"),
        (1.0, "'1x'"),
        (np.nan, "below 1"),
        (True, "whole number of pairs"),
        ("3", "whole number of pairs"),
        ("x", "whole number of pairs"),
        ("-1x", "negative"),
        ("infx", "finite"),
        ({"a": 1}, "'a' where a pair"),
        (object(), "whole number of pairs"),
        (["age", "town"], "'age' where a pair"),
        ([("age", "size")], "no such column: 'size'"),
        ([("age",)], "of 1 columns"),
        ([("age", "town", "job")], "of 3 columns"),
        ([("age", 0)], "with itself"),
        ([(0, 5)], "from 0 to 4"),
        ([(0, -1)], "from 0 to 4"),
        ([(0, 1.0)], "name or a position"),
    ],
)
def test_wrong_interactions_are_refused_with_a_word(given, message):
    X, y = people(100)
    with pytest.raises(ValueError, match=message):
        UBAUCClassifier(features="pairs", interactions=given, **LOGISTIC).fit(X, y)


@pytest.mark.parametrize("features", ["linear", "additive"])
def test_interactions_need_pairs(features):
    X, y = people(100)
    with pytest.raises(ValueError, match=f"not '{features}'"):
        UBAUCClassifier(features=features, interactions=2, **LOGISTIC).fit(X, y)


def test_auto_tries_the_pairs_that_were_asked_for():
    X, y = people(600)
    params = {"beta": 0, "softness": 1, "random_state": 0}
    clf = UBAUCClassifier(features="auto", interactions=[("age", "town")], **params)
    clf.fit(X, y)
    maps = clf.tuning_["maps"]
    assert [found["features"] for found in maps] == ["linear", "additive", "1 named pairs"]
    (chosen,) = [found for found in maps if found["chosen"]]
    assert clf.features_ == {"linear": "linear", "additive": "additive"}.get(
        chosen["features"], "pairs"
    )
    # The planted pair is worth it.
    assert clf.features_ == "pairs"
    assert (chosen["beta"], chosen["gamma"]) == (clf.beta_, clf.gamma_)
    assert pandas.DataFrame(maps)["auc"].idxmax() == 2
    points = pandas.DataFrame(clf.tuning_["points"])
    assert set(points["features"]) == {"linear", "additive", "1 named pairs"}


def test_numbers_that_are_sparse_or_wide_stay_linear():
    random = np.random.default_rng(0)
    y = np.arange(60) % 2
    sparse = np.where(random.random((60, 20)) < 0.05, 1.0, 0.0)
    wide = random.normal(size=(60, 2001))
    for X in (sparse, wide):
        auto = UBAUCClassifier(features="auto", **LOGISTIC).fit(X, y)
        plain = UBAUCClassifier(**LOGISTIC).fit(X, y)
        assert auto.features_ == "linear"
        np.testing.assert_array_equal(auto.coef_, plain.coef_)


def test_parameters_are_scikit_learns():
    pairs = [("age", "town")]
    clf = UBAUCClassifier(features="pairs", interactions=pairs, **LOGISTIC)
    assert clone(clf).get_params()["interactions"] == pairs
    clf.set_params(interactions="2x")
    X, y = people(300)
    clf.fit(X, y)
    same = pickle.loads(pickle.dumps(clf))
    np.testing.assert_array_equal(same.eval_terms(X), clf.eval_terms(X))
    assert str(same.explain()) == str(clf.explain())
    for name in ("effects_", "term_names_", "term_scores_", "bin_weights_"):
        assert not hasattr(clone(clf), name)
    with pytest.raises(NotFittedError):
        clone(clf).explain()
    before = clf.effects_
    assert clf.fit(X.iloc[:200], y[:200]).effects_ is not before


@pytest.mark.parametrize("kind", [np.asarray, csr_matrix])
def test_rows_of_numbers(kind, dense):
    X, y = dense
    weights = np.random.default_rng(1).integers(0, 3, y.size)
    clf = UBAUCClassifier(beta=0.5, gamma=1e-3).fit(kind(X), y, sample_weight=weights)
    assert clf.term_names_ == [f"x{j}" for j in range(8)]
    means = np.average(X, axis=0, weights=weights)
    expected = clf.coef_[0] * (X - means)
    np.testing.assert_allclose(clf.eval_terms(kind(X)), expected, atol=1e-12)
    deviations = np.sqrt(np.average((X - means) ** 2, axis=0, weights=weights))
    np.testing.assert_allclose(clf.term_importances(), np.abs(clf.coef_[0]) * deviations)
    sums = clf.eval_terms(kind(X)).sum(axis=1) + clf.effects_.intercept
    np.testing.assert_allclose(sums, clf.decision_function(X), atol=1e-12)
    assert "score" in str(clf.explain(kind(X)[:1]))


def test_models_that_say_less(dense):
    X, y = dense
    stream = UBAUCClassifier(solver="online", eta0=0.1).partial_fit(X, y, classes=[-1, 1])
    assert np.isnan(stream.term_importances()).all()
    sums = stream.eval_terms(X).sum(axis=1) + stream.effects_.intercept
    np.testing.assert_allclose(sums, stream.decision_function(X), atol=1e-12)
    assert "x7" in str(stream.explain())


def test_more_than_two_classes():
    X, _ = people(400)
    y = np.array(["a", "b", "c"])[np.arange(400) % 3]
    clf = UBAUCClassifier(features="additive", **LOGISTIC).fit(X, y)
    assert len(clf.effects_) == len(clf.term_names_) == len(clf.eval_terms(X)) == 3
    for effects, added, scores in zip(
        clf.effects_, clf.eval_terms(X), clf._problem_scores(X), strict=True
    ):
        np.testing.assert_allclose(added.sum(axis=1) + effects.intercept, scores, atol=1e-12)
    assert "c where the score" in str(clf.explain(classes=("a", "c")))
    for wrong in (None, ("c", "a")):
        with pytest.raises(ValueError, match=r"\(a, b\), \(a, c\), \(b, c\)"):
            clf.explain(classes=wrong)
    assert clf.features_ == ["additive"] * 3


def test_an_explanation_of_rows_is_the_score_as_a_sum(fitted):
    clf, X = fitted["pairs"], unseen()
    explanation = clf.explain(X.iloc[:3])
    scores = clf.decision_function(X.iloc[:3])
    for row, score in zip(explanation.data, scores, strict=True):
        added = [term["adds"] for term in row["terms"]]
        assert len(added) == len(clf.effects_)
        assert sum(added) + row["intercept"] == pytest.approx(score, rel=1e-12, abs=1e-12)
        assert row["score"] == pytest.approx(score, rel=1e-12, abs=1e-12)
        assert np.abs(added).tolist() == sorted(np.abs(added), reverse=True)
    text = str(clf.explain(X.iloc[1:2]))
    assert "row 1" in text and f"{scores[1]:+.4f}" in text
    values = {term["name"]: term["value"] for term in explanation.data[0]["terms"]}
    assert values["job"] == "sailor" and values["age"] == "missing"
    html = clf.explain(X.iloc[:1])._repr_html_()
    assert html.count("<table>") == 2 and "<html" not in html


def test_an_explanation_can_be_shown(fitted):
    explanation = fitted["additive"].explain(top=2)
    text = str(explanation)
    best, second, third = [term.name for term in fitted["additive"].effects_.ranked()[:3]]
    assert f"\n{best} " in text and "█" in text
    assert text.count("examples  ") == 2 and repr(explanation) == text
    html = explanation._repr_html_()
    assert html.count("<table>") == 4 and "&#160;" in html
    assert "|" in explanation.to_markdown()
    assert {term["name"] for term in explanation.data["terms"]} >= {best, second, third}


@pytest.fixture
def files(program, tmp_path):
    """A table, and the model that the program has learned from it."""
    X, y = people()
    data, model = tmp_path / "people.csv", tmp_path / "theirs.json"
    X.assign(label=y).to_csv(data, index=False)
    given = ["--label", "label", "--beta", 0, "--softness", 1, "--gamma", 1e-3]
    program("train", data, *given, "--pairs", 3, "--model", model, "--quiet")
    return data, model


def test_a_model_of_the_program_is_explained_here_and_comes_back_bit_for_bit(
    files, program, tmp_path
):
    data, model = files
    X, y = people()
    clf = UBAUCClassifier.load(model)
    again = tmp_path / "again.json"
    clf.save(again)
    assert again.read_bytes() == model.read_bytes()
    sums = clf.eval_terms(X).sum(axis=1) + clf.effects_.intercept
    np.testing.assert_allclose(sums, clf.decision_function(X), atol=1e-12)
    # The threshold of logistic regression is 0, and so the scores are the same.
    theirs = program("explain", model).replace("all with --json", "all in effects_")
    assert str(clf.explain()) == theirs
    theirs = json.loads(program("explain", model, "--row", f"{data}:5", "--json"))
    (ours,) = clf.explain(X.iloc[3:4]).data
    assert ours["score"] == pytest.approx(theirs["score"], abs=1e-12)
    assert [t["name"] for t in ours["terms"]] == [t["name"] for t in theirs["terms"]]
    # The parameters would make the same model again.
    assert clf.features == "pairs"
    times = any("day" in term.columns for term in clf.effects_ if term.kind == "pair")
    assert clf.interactions == 3 if times else len(clf.interactions) == 3
    refitted = clone(clf).fit(X, y)
    assert sorted(refitted.term_names_) == sorted(clf.term_names_)
    np.testing.assert_allclose(refitted.decision_function(X), clf.decision_function(X), atol=1e-6)


def test_the_program_explains_a_model_from_here(files, program, tmp_path):
    _, theirs = files
    X, y = people()
    clf = UBAUCClassifier(features="pairs", interactions=3, **LOGISTIC).fit(X, y)
    model = tmp_path / "ours.json"
    clf.save(model)
    ours, by_program = (json.loads(path.read_text()) for path in (model, theirs))
    # Intervals of importances take ten more fits, which `fit` does not make.
    for term in by_program["effects"]["terms"]:
        del term["interval"]
    assert ours["effects"] == by_program["effects"]
    assert ours["features"] == by_program["features"]
    found = json.loads(program("explain", model, "--json"))
    assert [t["name"] for t in found["terms"]] == [t.name for t in clf.effects_.ranked()]
    assert [t["importance"] for t in found["terms"]] == sorted(clf.term_importances())[::-1]
    same = UBAUCClassifier.load(model)
    assert str(same.explain()) == str(clf.explain())
    np.testing.assert_array_equal(same.eval_terms(X), clf.eval_terms(X))


def test_files_of_named_numbers_keep_effects(program, tmp_path):
    X, y = people()
    X = X[["hours"]].assign(twice=X["hours"] ** 2)
    clf = UBAUCClassifier(beta=0.5, gamma=1e-3).fit(X, y)
    model, again = tmp_path / "model.json", tmp_path / "again.json"
    clf.save(model)
    same = UBAUCClassifier.load(model)
    assert same.effects_.has_importances and same.term_names_ == ["hours", "twice"]
    assert str(same.explain()) == str(clf.explain())
    same.save(again)
    assert again.read_bytes() == model.read_bytes()
    data = tmp_path / "people.csv"
    X.assign(label=y).to_csv(data, index=False)
    program("train", data, "--label", "label", "--beta", 0.5, "--gamma", 1e-3, "--model", model)
    theirs = UBAUCClassifier.load(model)
    np.testing.assert_array_equal(theirs.term_importances(), clf.term_importances())


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
@pytest.mark.parametrize("features", ["additive", "pairs", "auto"])
def test_probabilities_of_tables(features, method, tmp_path):
    X, y = people(700)
    # Where the map is chosen, that is all that is.
    params = {**LOGISTIC, "calibrate": method, "random_state": 0}
    params["interactions"] = 1 if features == "auto" else None
    clf = UBAUCClassifier(features=features, **params).fit(X, y)
    new, labels = people(400, seed=9)
    scores, p = clf.decision_function(new), clf.predict_proba(new)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    order = np.argsort(scores)
    assert (np.diff(p[order, 1]) >= 0).all()
    assert (clf.predict(new) == np.where(scores >= 0, "yes", "no")).all()
    # Better than the share of the class, for which rows were held out: calibrated, not only sorted.
    positive = labels == "yes"
    assert np.mean((p[:, 1] - positive) ** 2) < positive.mean() * (1 - positive.mean())
    assert abs(p[:, 1].mean() - positive.mean()) < 0.1
    clf.save(tmp_path / "model.json")
    same = UBAUCClassifier.load(tmp_path / "model.json")
    np.testing.assert_array_equal(same.predict_proba(new), p)
    (row,) = same.explain(new.iloc[:1]).data
    assert row["probability"] == pytest.approx(p[0, 1], abs=1e-9)
    assert row["class"] == clf.predict(new.iloc[:1])[0]


def test_columns_that_tell_nothing_are_named():
    X, y = people(200)
    X = X.assign(same=1.0, key=[f"k{i}" for i in range(200)], row=np.arange(200))
    with pytest.warns(ColumnWarning, match="'same' has one value") as caught:
        clf = UBAUCClassifier(features="additive", **LOGISTIC).fit(X, y)
    (warning,) = [w for w in caught if w.category is ColumnWarning]
    assert "'key': no level" in str(warning.message) and "'row' seems to count" in str(
        warning.message
    )
    assert warning.filename == __file__
    assert not {"same", "key"} & set(clf.term_names_)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        UBAUCClassifier(features="additive", **LOGISTIC).fit(*people(200))


def test_a_search_that_is_cut_short_says_so():
    X, y = people(200)
    with pytest.warns(ConvergenceWarning, match="the time limit was reached"):
        clf = UBAUCClassifier(features="auto", time_limit=1e-9, random_state=0).fit(X, y)
    assert clf.tuning_["cut_short"]


def test_importance_intervals_are_those_of_the_program(program, tmp_path):
    X, y = people()
    X["day"] = X["day"].dt.strftime("%Y-%m-%d %H:%M:%S")
    X.assign(label=y).to_csv(tmp_path / "people.csv", index=False)
    X["day"] = pandas.to_datetime(X["day"])
    numbers = X[["hours"]].assign(other=np.arange(len(y)) % 7.0)
    numbers.assign(label=y).to_csv(tmp_path / "numbers.csv", index=False)
    options = ["--beta", "0", "--softness", "1", "--gamma", "1e-3", "--class-weight", "none"]
    cases = [
        ("people", X, {}, ["--features", "linear"]),
        ("people", X, {"features": "additive"}, ["--features", "additive"]),
        ("people", X, MAPS["pairs"], ["--features", "pairs", "--pairs", "3"]),
        ("people", X, {"features": "additive", "monotonic_cst": {"hours": 1}}, None),
        ("numbers", numbers, {"scale": "none"}, ["--features", "linear"]),
    ]
    for name, frame, given, of_program in cases:
        of_program = of_program or ["--features", "additive", "--increasing", "hours"]
        model = tmp_path / "model.json"
        table = tmp_path / f"{name}.csv"
        program("train", table, "--label", "label", *options, *of_program, "--model", model)
        explained = json.loads(program("explain", model, "--json"))
        theirs = {term["name"]: term["interval"] for term in explained["terms"]}
        clf = UBAUCClassifier(**LOGISTIC, importance_intervals=True, n_jobs=2, **given)
        clf.fit(frame, y)
        intervals = clf.term_importance_intervals()
        assert intervals.shape == (len(clf.term_names_), 2)
        ours = dict(zip(clf.term_names_, intervals.tolist(), strict=True))
        assert ours == theirs
        assert {term.name: list(term.interval) for term in clf.effects_} == theirs
        frames = clf.effects_.to_frame().set_index("term")
        assert {
            name: [row.importance_low, row.importance_high] for name, row in frames.iterrows()
        } == ours
        assert "95 % interval" in str(clf.explain())
        # They go into the file, and come out of one.
        assert np.array_equal(
            UBAUCClassifier.load(model).term_importance_intervals(),
            [theirs[name] for name in clf.term_names_],
        )
        clf.save(model)
        again = json.loads(program("explain", model, "--json"))
        assert {term["name"]: term["interval"] for term in again["terms"]} == theirs


def test_importance_intervals_keep_groups_whole_and_are_absent_where_there_are_none(
    program, tmp_path
):
    X, y = people(400)
    groups = np.arange(len(y)) // 8
    X = X[["age", "hours"]]
    X.assign(label=y, who=groups).to_csv(tmp_path / "x.csv", index=False)
    options = ["--beta", "0", "--softness", "1", "--gamma", "1e-3", "--features", "additive"]
    model = tmp_path / "model.json"
    program(
        "train",
        tmp_path / "x.csv",
        "--label",
        "label",
        "--group",
        "who",
        *options,
        "--model",
        model,
    )
    explained = json.loads(program("explain", model, "--json"))
    theirs = {term["name"]: term["interval"] for term in explained["terms"]}
    given = {"features": "additive", "importance_intervals": True, **LOGISTIC}
    clf = UBAUCClassifier(**given).fit(X, y, groups=groups)
    assert {term.name: list(term.interval) for term in clf.effects_} == theirs
    ungrouped = UBAUCClassifier(**given).fit(X, y)
    assert {term.name: list(term.interval) for term in ungrouped.effects_} != theirs
    hinge = UBAUCClassifier(beta=0.5, gamma=1e-3, softness=0, importance_intervals=True).fit(X, y)
    plain = UBAUCClassifier(features="additive", **LOGISTIC).fit(X, y)
    for without in (hinge, plain):
        assert np.isnan(without.term_importance_intervals()).all()
        assert without.effects_[0].interval is None
        assert "95 % interval" not in str(without.explain())
