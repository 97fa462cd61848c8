"""Data frames: every type of each library, gaps, unseen levels, names, files."""

import datetime
import decimal
import pickle

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.model_selection import cross_val_score
from ubauc import RankSVMClassifier, UBAUCClassifier
from ubauc._table import columns_of, frame_of, table_of

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")
arrow = pytest.importorskip("pyarrow")

LOGISTIC = {"beta": 0, "softness": 1, "gamma": 1e-3}


def made(n=400, seed=3):
    """Columns of every kind with gaps, and classes that depend on them."""
    random = np.random.default_rng(seed)
    job = random.choice(["nurse", "teacher", "clerk", "cook"], n, p=[0.4, 0.3, 0.28, 0.02])
    age = random.normal(40, 10, n).round(1)
    member = random.random(n) < 0.5
    hours = random.integers(0, 400 * 24, n)
    y = (job == "nurse") * 1.5 + (age - 40) / 10 + member + random.normal(size=n) > 1.6
    frame = pandas.DataFrame(
        {
            "job": pandas.Series(job).where(random.random(n) > 0.1, None),
            "age": pandas.Series(age).where(random.random(n) > 0.1),
            "member": member,
            "since": pandas.Timestamp("2020-01-01") + pandas.to_timedelta(hours, unit="h"),
            "rooms": random.integers(1, 6, n),
        }
    )
    return frame, y.astype(int)


@pytest.fixture(scope="module")
def table():
    return made()


LIBRARIES = {
    "pandas": lambda frame: frame,
    "categories": lambda frame: frame.assign(job=frame["job"].astype("category")),
    "nullable": lambda frame: frame.convert_dtypes(),
    "pyarrow in pandas": lambda frame: frame.convert_dtypes(dtype_backend="pyarrow"),
    "objects": lambda frame: frame.astype(object),
    "polars": polars.from_pandas,
    "polars categories": lambda frame: polars.from_pandas(frame).with_columns(
        polars.col("job").cast(polars.Categorical)
    ),
    "Arrow": arrow.Table.from_pandas,
    "Arrow dictionaries": lambda frame: arrow.Table.from_pandas(
        frame.assign(job=frame["job"].astype("category"))
    ),
    "Arrow stream": lambda frame: arrow.Table.from_pandas(frame).to_reader(),
    "record batch": lambda frame: arrow.RecordBatch.from_pandas(frame),
}


@pytest.mark.parametrize("library", LIBRARIES)
def test_every_library_gives_the_same_bits(library, table):
    frame, y = table
    change = LIBRARIES[library]
    expected = UBAUCClassifier(**LOGISTIC).fit(frame, y)
    found = UBAUCClassifier(**LOGISTIC).fit(change(frame), y)
    np.testing.assert_array_equal(found.coef_, expected.coef_)
    np.testing.assert_array_equal(found.threshold_, expected.threshold_)
    assert found.get_feature_names_out().tolist() == expected.get_feature_names_out().tolist()
    scores = expected.decision_function(frame)
    np.testing.assert_array_equal(expected.decision_function(change(frame)), scores)
    np.testing.assert_array_equal(found.decision_function(frame), scores)


def column(frame, wanted=None):
    """The only column of a frame: kind, and the value of every row."""
    kind, values, levels = columns_of(frame_of(frame), ["x"], [wanted])[0]
    # The library takes it.
    assert table_of([(kind, values, levels)], ["x"], len(values)).kinds == [kind]
    if levels is None:
        return kind, [None if np.isnan(v) else float(v) for v in values]
    return kind, [None if code < 0 else levels[code] for code in values]


DAY = datetime.date(2021, 3, 4)
NOON = datetime.datetime(2021, 3, 4, 12, 0, 0, 500_000)
DAY_SECONDS = 1614816000.0
NOON_SECONDS = DAY_SECONDS + 12 * 3600 + 0.5

OF_PANDAS = {
    "int8": (pandas.Series([1, 2], dtype="int8"), "number", [1, 2]),
    "float32": (pandas.Series([0.5, None], dtype="float32"), "number", [0.5, None]),
    "Int64": (pandas.Series([1, None], dtype="Int64"), "number", [1, None]),
    "Float32": (pandas.Series([0.5, None], dtype="Float32"), "number", [0.5, None]),
    "bool": (pandas.Series([True, False]), "category", ["true", "false"]),
    "boolean": (pandas.Series([True, None], dtype="boolean"), "category", ["true", None]),
    "str": (pandas.Series(["a", None, ""]), "category", ["a", None, ""]),
    "string": (pandas.Series(["a", None], dtype="string"), "category", ["a", None]),
    "category": (pandas.Series(["b", None, "a"], dtype="category"), "category", ["b", None, "a"]),
    "numbers as categories": (
        pandas.Series([1.0, 2.5, None], dtype="category"),
        "category",
        ["1", "2.5", None],
    ),
    "datetime64[ns]": (
        pandas.Series([NOON, None], dtype="datetime64[ns]"),
        "time",
        [NOON_SECONDS, None],
    ),
    "datetime64[s]": (
        pandas.Series([DAY, None], dtype="datetime64[s]"),
        "time",
        [DAY_SECONDS, None],
    ),
    "time zone": (
        pandas.Series([NOON, None], dtype="datetime64[us]").dt.tz_localize("Asia/Tokyo"),
        "time",
        [NOON_SECONDS, None],
    ),
    "period": (
        pandas.Series(pandas.PeriodIndex(["2021-03-04", None], freq="D")),
        "time",
        [DAY_SECONDS, None],
    ),
    "timedelta": (pandas.Series(pandas.to_timedelta(["1min", None])), "number", [60, None]),
    "sparse": (pandas.Series([0.0, 1.0]).astype("Sparse[float]"), "number", [0, 1]),
    "objects: numbers": (
        pandas.Series([1, 2.5, decimal.Decimal("3.5"), None], dtype=object),
        "number",
        [1, 2.5, 3.5, None],
    ),
    "objects: dates": (pandas.Series([DAY, None], dtype=object), "time", [DAY_SECONDS, None]),
    "objects: booleans": (
        pandas.Series([True, None, False], dtype=object),
        "category",
        ["true", None, "false"],
    ),
    "objects: mixed": (
        pandas.Series([1.0, "a", None, 2], dtype=object),
        "category",
        ["1", "a", None, "2"],
    ),
    "objects: none": (pandas.Series([None, None], dtype=object), "number", [None, None]),
    "Arrow string": (
        pandas.Series(["a", None], dtype=pandas.ArrowDtype(arrow.string())),
        "category",
        ["a", None],
    ),
    "Arrow decimal": (
        pandas.Series(
            [decimal.Decimal("1.5"), None], dtype=pandas.ArrowDtype(arrow.decimal128(5, 2))
        ),
        "number",
        [1.5, None],
    ),
}


@pytest.mark.parametrize("name", OF_PANDAS)
def test_pandas_types(name):
    series, kind, values = OF_PANDAS[name]
    assert column(series.to_frame("x")) == (kind, values)


OF_POLARS = {
    "Int8": (polars.Series([1, None], dtype=polars.Int8), "number", [1, None]),
    "UInt64": (polars.Series([1, None], dtype=polars.UInt64), "number", [1, None]),
    "Float32": (
        polars.Series([0.5, None, float("nan")], dtype=polars.Float32),
        "number",
        [0.5, None, None],
    ),
    "Decimal": (polars.Series([decimal.Decimal("1.5"), None]), "number", [1.5, None]),
    "Boolean": (polars.Series([True, None, False]), "category", ["true", None, "false"]),
    "String": (polars.Series(["a", None, "", "a"]), "category", ["a", None, "", "a"]),
    "no String": (polars.Series([None], dtype=polars.String), "category", [None]),
    "Categorical": (
        polars.Series(["b", None, "a"], dtype=polars.Categorical),
        "category",
        ["b", None, "a"],
    ),
    "Enum": (
        polars.Series(["b", None], dtype=polars.Enum(["a", "b", "c"])),
        "category",
        ["b", None],
    ),
    "Date": (polars.Series([DAY, None]), "time", [DAY_SECONDS, None]),
    "Datetime": (polars.Series([NOON, None]), "time", [NOON_SECONDS, None]),
    "Datetime[ms]": (polars.Series([NOON], dtype=polars.Datetime("ms")), "time", [NOON_SECONDS]),
    "time zone": (
        polars.Series([NOON, None]).dt.replace_time_zone("Asia/Tokyo"),
        "time",
        [NOON_SECONDS, None],
    ),
    "Duration": (polars.Series([datetime.timedelta(minutes=1), None]), "number", [60, None]),
    "Time": (polars.Series([datetime.time(0, 1), None]), "number", [60, None]),
    "Null": (polars.Series([None, None]), "number", [None, None]),
}


@pytest.mark.parametrize("name", OF_POLARS)
def test_polars_types(name):
    series, kind, values = OF_POLARS[name]
    assert column(polars.DataFrame({"x": series})) == (kind, values)


OF_ARROW = {
    "int16": (arrow.array([1, None], arrow.int16()), "number", [1, None]),
    "half": (arrow.array(np.array([0.5, 1], dtype=np.float16)), "number", [0.5, 1]),
    "double": (arrow.array([0.5, None, float("nan")]), "number", [0.5, None, None]),
    "decimal": (arrow.array([decimal.Decimal("1.50"), None]), "number", [1.5, None]),
    "bool": (arrow.array([True, None, False]), "category", ["true", None, "false"]),
    "string": (arrow.array(["a", None, ""]), "category", ["a", None, ""]),
    "large_string": (arrow.array(["a", None], arrow.large_string()), "category", ["a", None]),
    "string_view": (arrow.array(["a", None], arrow.string_view()), "category", ["a", None]),
    "dictionary": (arrow.array(["b", None, "a"]).dictionary_encode(), "category", ["b", None, "a"]),
    "dictionary of numbers": (
        arrow.array([1.0, None]).dictionary_encode(),
        "category",
        ["1", None],
    ),
    "null in a dictionary": (
        arrow.DictionaryArray.from_arrays(arrow.array([0, 1, None]), arrow.array(["a", None])),
        "category",
        ["a", None, None],
    ),
    "chunks": (
        arrow.chunked_array(
            [
                arrow.array(["a", "b"]).dictionary_encode(),
                arrow.array(["c", "b"]).dictionary_encode(),
            ]
        ),
        "category",
        ["a", "b", "c", "b"],
    ),
    "date32": (arrow.array([DAY, None], arrow.date32()), "time", [DAY_SECONDS, None]),
    "date64": (arrow.array([DAY, None], arrow.date64()), "time", [DAY_SECONDS, None]),
    "timestamp": (arrow.array([NOON, None], arrow.timestamp("us")), "time", [NOON_SECONDS, None]),
    "time zone": (
        arrow.array([NOON, None], arrow.timestamp("us", "Asia/Tokyo")),
        "time",
        [NOON_SECONDS + 9 * 3600, None],
    ),
    "time32": (arrow.array([datetime.time(0, 1), None], arrow.time32("s")), "number", [60, None]),
    "time64": (arrow.array([datetime.time(0, 1), None], arrow.time64("us")), "number", [60, None]),
    "duration": (arrow.array([datetime.timedelta(minutes=1), None]), "number", [60, None]),
    "null": (arrow.nulls(2), "number", [None, None]),
}


@pytest.mark.parametrize("name", OF_ARROW)
def test_arrow_types(name):
    array, kind, values = OF_ARROW[name]
    assert column(arrow.table({"x": array})) == (kind, values)


@pytest.mark.parametrize(
    "frame",
    [
        pandas.DataFrame({"x": [[1], [2]]}),
        pandas.DataFrame({"x": [b"a", b"b"]}),
        pandas.DataFrame({"x": [1j, 2j]}),
        polars.DataFrame({"x": [[1], [2]]}),
        polars.DataFrame({"x": [b"a", b"b"]}),
        arrow.table({"x": [[1], [2]]}),
        arrow.table({"x": [b"a", b"b"]}),
    ],
)
def test_other_types_are_refused_by_name(frame):
    with pytest.raises(ValueError, match="column 'x'"):
        UBAUCClassifier(**LOGISTIC).fit(frame, [0, 1])


@pytest.mark.parametrize("to", [lambda f: f, polars.from_pandas, arrow.Table.from_pandas])
def test_numbers_that_are_named_as_categories(to):
    large = 2**53
    frame = to(pandas.DataFrame({"x": [1, large, large + 1, 1]}))
    assert column(frame, "category") == ("category", ["1", str(large), str(large + 1), "1"])
    frame = to(pandas.DataFrame({"x": [1.0, 2.5, None, -0.0]}))
    assert column(frame, "category") == ("category", ["1", "2.5", None, "0"])
    frame = to(pandas.DataFrame({"x": pandas.Categorical(["1", None, "2.5"])}))
    assert column(frame, "number") == ("number", [1, None, 2.5])
    frame = to(pandas.DataFrame({"x": [True, False]}))
    assert column(frame, "number") == ("number", [1, 0])


def test_levels_with_one_text_are_one():
    frame = pandas.DataFrame({"x": pandas.Series([1, "1", 2, None], dtype=object)})
    kind, values, levels = columns_of(frame, ["x"], [None])[0]
    assert (kind, levels) == ("category", ["1", "1", "2"])
    y = [0, 1] * 10
    frame = pandas.concat([frame] * 5, ignore_index=True)
    names = UBAUCClassifier(**LOGISTIC).fit(frame, y).get_feature_names_out()
    assert names.tolist() == ["x=1", "x=2", "x=(missing)"]


def test_features_and_their_names(table):
    frame, y = table
    found = UBAUCClassifier(**LOGISTIC).fit(frame, y)
    names = found.get_feature_names_out().tolist()
    assert names[:5] == ["age", "since", "rooms", "job=clerk", "job=cook"]
    assert {"job=(missing)", "age is missing", "member=true", "since hour=5"} <= set(names)
    assert found.coef_.shape == (1, len(names))
    assert found.coef_[0, names.index("job=nurse")] > found.coef_[0, names.index("job=clerk")]
    assert found.n_features_in_ == 5
    assert found.feature_names_in_.tolist() == list(frame.columns)
    assert found.is_categorical_.tolist() == [True, False, True, False, False]
    assert found.gap_ <= 1e-6


def test_one_hot_by_hand(table):
    """Logistic regression of scikit-learn on the features that the names describe."""
    from sklearn.linear_model import LogisticRegression

    frame, y = table
    frame = frame[["job", "age", "member"]]
    found = UBAUCClassifier(**LOGISTIC, tol=1e-13).fit(frame, y)
    age = frame["age"]
    made = [((age - age.mean()) / age.std(ddof=0)).fillna(0.0)]
    made += [frame["job"] == level for level in sorted(frame["job"].dropna().unique())]
    made += [frame["job"].isna(), age.isna(), ~frame["member"], frame["member"]]
    X = np.column_stack([np.asarray(column, dtype=float) for column in made])
    theirs = LogisticRegression(C=1 / (len(y) * 1e-3), tol=1e-10, max_iter=10_000).fit(X, y)
    np.testing.assert_allclose(found.coef_, theirs.coef_, atol=1e-4)
    expected = theirs.decision_function(X)
    # The threshold is where as many are positive as there are, and theirs where p is 1/2.
    shift = found.decision_function(frame) - expected
    np.testing.assert_allclose(shift, shift.mean(), atol=1e-4)


def test_levels_that_were_never_seen():
    y = np.arange(60) % 2
    without = pandas.DataFrame({"c": ["a", "b", "b"] * 20, "x": np.arange(60.0) % 7})
    new = pandas.DataFrame({"c": ["new", "newer", None], "x": [1.0, 1.0, 1.0]})
    found = UBAUCClassifier(**LOGISTIC).fit(without, y)
    # Neither was there: both count as nothing.
    assert np.unique(found.decision_function(new)).size == 1
    rare = without.copy()
    rare.loc[0, "c"] = "rare"
    found = UBAUCClassifier(**LOGISTIC).fit(rare, y)
    at = found.get_feature_names_out().tolist().index("c=(rare)")
    scores = found.decision_function(new)
    assert scores[0] == scores[1]
    assert scores[0] - scores[2] == pytest.approx(found.coef_[0, at], rel=1e-9)


def test_gaps_where_there_were_none(table):
    frame, y = table
    complete = frame.dropna().reset_index(drop=True)
    found = UBAUCClassifier(**LOGISTIC).fit(complete, y[frame.notna().all(axis=1)])
    # A number that is missing counts as the mean, a level as none.
    gaps = complete.assign(age=np.nan, job=None)
    assert np.isfinite(found.decision_function(gaps)).all()


def test_complete_numbers_keep_their_bits(dense):
    X, y = dense
    names = [f"f{j}" for j in range(X.shape[1])]
    params = {"gamma": 1e-2, "random_state": 0}
    expected = UBAUCClassifier(**params).fit(X, y)
    frame = pandas.DataFrame(X, columns=names)
    for change in (lambda f: f, polars.from_pandas, arrow.Table.from_pandas):
        found = UBAUCClassifier(**params).fit(change(frame), y)
        np.testing.assert_array_equal(found.coef_, expected.coef_)
        assert found.is_categorical_ is None
        assert found.get_feature_names_out().tolist() == names
        np.testing.assert_array_equal(
            found.decision_function(change(frame)), expected.decision_function(X)
        )
        gaps = change(frame.assign(f3=np.nan))
        with pytest.raises(ValueError, match="NaN, and none was missing"):
            found.decision_function(gaps)
    assert expected.get_feature_names_out().tolist() == [f"x{j}" for j in range(X.shape[1])]


def test_arrays_with_gaps(dense):
    X, y = dense
    X = X.copy()
    X[::7, 2] = np.nan
    found = UBAUCClassifier(**LOGISTIC).fit(X, y)
    assert found.get_feature_names_out().tolist()[-1] == "x2 is missing"
    framed = UBAUCClassifier(**LOGISTIC).fit(pandas.DataFrame(X), y)
    np.testing.assert_array_equal(found.coef_, framed.coef_)
    assert not hasattr(framed, "feature_names_in_")
    np.testing.assert_array_equal(found.decision_function(X), framed.decision_function(X))
    with pytest.raises(ValueError, match="NaN"):
        UBAUCClassifier(**LOGISTIC).fit(csr_matrix(X), y)
    with pytest.raises(ValueError, match="infinity"):
        UBAUCClassifier(**LOGISTIC).fit(np.where(np.isnan(X), np.inf, X), y)
    infinite = pandas.DataFrame({"a": [np.inf, 1.0] * 5, "b": ["x", "y"] * 5})
    with pytest.raises(ValueError, match="infinity: column 'a'"):
        UBAUCClassifier(**LOGISTIC).fit(infinite, [0, 1] * 5)
    with pytest.raises(ValueError, match="NaN"):
        RankSVMClassifier().fit(X, y)


def test_which_columns_are_categories(table):
    frame, y = table
    by_type = UBAUCClassifier(**LOGISTIC).fit(frame, y)
    for given in (["job", "rooms", "member"], [0, 2, 4], [True, False, True, False, True]):
        found = UBAUCClassifier(**LOGISTIC, categorical_features=given).fit(frame, y)
        assert found.is_categorical_.tolist() == [True, False, True, False, True]
        assert "rooms=3" in found.get_feature_names_out()
        assert found.coef_.shape[1] > by_type.coef_.shape[1]
    X = frame[["rooms"]].to_numpy(dtype=float)
    found = UBAUCClassifier(**LOGISTIC, categorical_features=[0]).fit(X, y)
    assert found.get_feature_names_out().tolist() == [f"x0={k}" for k in range(1, 6)]
    with pytest.raises(ValueError, match="column 'job': expected a number, found the text"):
        UBAUCClassifier(**LOGISTIC, categorical_features=None).fit(frame, y)
    for wrong, message in [
        ([5], r"\[0, n_features - 1\]"),
        ([True], "boolean mask must have shape"),
        (["jobs"], "not a valid feature name"),
        ([0.5], "array-like of bool, int or str"),
    ]:
        with pytest.raises(ValueError, match=message):
            UBAUCClassifier(**LOGISTIC, categorical_features=wrong).fit(frame, y)
    with pytest.raises(ValueError, match="without feature names"):
        UBAUCClassifier(**LOGISTIC, categorical_features=["x0"]).fit(X, y)
    with pytest.raises(ValueError, match="sparse"):
        UBAUCClassifier(**LOGISTIC, categorical_features=[0]).fit(csr_matrix(X), y)


@pytest.mark.parametrize("library", ["pandas", "polars", "Arrow"])
def test_names_are_checked_as_scikit_learn_does(library, table):
    frame, y = table
    change = LIBRARIES[library]
    found = UBAUCClassifier(**LOGISTIC).fit(frame, y)
    with pytest.raises(ValueError, match="must be in the same order"):
        found.predict(change(frame[frame.columns[::-1]]))
    with pytest.raises(ValueError, match="yet now missing:\n- age"):
        found.predict(change(frame.drop(columns="age")))
    with pytest.raises(ValueError, match="unseen at fit time:\n- more"):
        found.predict(change(frame.assign(more=1)))
    with pytest.raises(ValueError, match="0 sample"):
        found.predict(change(frame[:0]))
    with pytest.raises(ValueError, match="inconsistent"):
        found.fit(change(frame), y[:-1])
    with pytest.warns(UserWarning, match="valid feature names"), pytest.raises(ValueError):
        found.predict(frame.to_numpy())


def test_chosen_calibrated_weighted_grouped(table):
    frame, y = table
    weights = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    found = UBAUCClassifier(calibrate="sigmoid", class_weight="auto", random_state=0)
    found.fit(frame, y, sample_weight=weights, groups=np.arange(len(y)) // 3)
    assert len(found.tuning_["points"]) > 10
    p = found.predict_proba(frame)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert (np.diff(p[np.argsort(found.decision_function(frame)), 1]) >= 0).all()
    # A weight of 0 leaves a row out, of the map too.
    kept = weights > 0
    fixed = UBAUCClassifier(**LOGISTIC, tol=1e-13).fit(frame, y, sample_weight=weights)
    alone = UBAUCClassifier(**LOGISTIC, tol=1e-13).fit(
        frame[kept], y[kept], sample_weight=weights[kept]
    )
    assert fixed.get_feature_names_out().tolist() == alone.get_feature_names_out().tolist()
    np.testing.assert_allclose(fixed.coef_, alone.coef_, atol=1e-5)
    assert cross_val_score(UBAUCClassifier(**LOGISTIC), frame, y).mean() > 0.75


def test_maps_of_the_search_have_not_seen_the_fold():
    """A column of names, each of two or three rows of one class, tells nothing of other rows."""
    random = np.random.default_rng(1)
    y = random.integers(0, 2, 600)
    order = np.lexsort((random.random(600), y))
    name = np.empty(600, dtype=object)
    name[order] = [f"n{k // 3}" for k in range(600)]
    frame = pandas.DataFrame({"name": name, "noise": random.normal(size=600)})
    groups = np.unique(name.astype(str), return_inverse=True)[1]
    found = UBAUCClassifier(random_state=0).fit(frame, y, groups=groups)
    best = found.tuning_["points"][found.tuning_["chosen"]]
    assert abs(best["auc"] - 0.5) < 0.1
    assert found.score(frame, y) > 0.95


@pytest.mark.parametrize("solver", ["batch", "online"])
def test_many_classes(solver, table):
    frame, _ = table
    y = np.array(["low", "middle", "high"])[np.digitize(frame["rooms"], [2, 4])]
    found = UBAUCClassifier(solver=solver, gamma=1e-3, beta=0.5, random_state=0).fit(frame, y)
    names = found.get_feature_names_out()
    assert found.coef_.shape == (3, names.size)
    assert found.decision_function(frame).shape == (len(y), 3)
    assert found.score(frame, y) > 0.8
    same = pickle.loads(pickle.dumps(found))
    np.testing.assert_array_equal(same.decision_function(frame), found.decision_function(frame))


def test_files_and_pickles(table, tmp_path):
    frame, y = table
    found = UBAUCClassifier(**LOGISTIC, calibrate="isotonic").fit(frame, y)
    found.save(tmp_path / "model.json")
    for same in (
        UBAUCClassifier.load(tmp_path / "model.json"),
        pickle.loads(pickle.dumps(found)),
    ):
        for change in LIBRARIES.values():
            np.testing.assert_array_equal(
                same.decision_function(change(frame)), found.decision_function(frame)
            )
        np.testing.assert_array_equal(same.predict_proba(frame), found.predict_proba(frame))
        np.testing.assert_array_equal(same.coef_, found.coef_)
        assert same.feature_names_in_.tolist() == list(frame.columns)
        assert same.is_categorical_.tolist() == found.is_categorical_.tolist()
        assert same.get_feature_names_out().tolist() == found.get_feature_names_out().tolist()
    X = frame[["age", "rooms"]].to_numpy()
    found = UBAUCClassifier(**LOGISTIC).fit(X, y)
    found.save(tmp_path / "unnamed.json")
    same = UBAUCClassifier.load(tmp_path / "unnamed.json")
    assert not hasattr(same, "feature_names_in_")
    np.testing.assert_array_equal(same.decision_function(X), found.decision_function(X))


def test_a_stream_goes_on_with_rows_of_numbers_only(table):
    frame, y = table
    found = UBAUCClassifier(solver="online", random_state=0).fit(frame[["age", "rooms"]], y)
    assert found.score(frame[["age", "rooms"]], y) > 0.6
    with pytest.raises(ValueError, match="rows of numbers|NaN"):
        found.partial_fit(frame[["age", "rooms"]].fillna(0), y)


def test_columns_that_tell_nothing():
    y = [0, 1] * 10
    frame = pandas.DataFrame({"one": ["a"] * 20, "none": [None] * 20, "x": np.arange(20.0)})
    found = UBAUCClassifier(**LOGISTIC).fit(frame, y)
    assert found.get_feature_names_out().tolist() == ["x"]
    twice = pandas.DataFrame([[1, "a"]] * 20, columns=["x", "x"])
    with pytest.raises(ValueError, match="column name"):
        UBAUCClassifier(**LOGISTIC).fit(twice, y)


def ring(n=500, seed=5):
    """A class that no linear score finds: a ring in two of three columns, with gaps and levels."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 3))
    y = (np.abs(X[:, 0]) + np.abs(X[:, 1]) + 0.3 * random.normal(size=n) > 1.8).astype(int)
    frame = pandas.DataFrame(X, columns=["a", "b", "c"])
    frame["kind"] = random.choice(["u", "v"], n)
    frame.loc[::11, "c"] = np.nan
    return frame, y


def test_bins_find_what_no_line_does():
    frame, y = ring()
    test, truth = ring(seed=6)
    linear = UBAUCClassifier(**LOGISTIC).fit(frame, y).score(test, truth)
    additive = UBAUCClassifier(**LOGISTIC, features="additive").fit(frame, y)
    assert linear < 0.65 < 0.9 < additive.score(test, truth)
    assert additive.gap_ <= 1e-6
    names = additive.get_feature_names_out()
    assert additive.coef_.shape == (1, names.size)
    assert any("<= a <" in name for name in names)
    numbers = frame[["a", "b"]].to_numpy()
    of_array = UBAUCClassifier(**LOGISTIC, features="additive").fit(numbers, y)
    assert of_array.score(test[["a", "b"]].to_numpy(), truth) > 0.9


def test_pairs_find_what_no_sum_does():
    random = np.random.default_rng(0)
    X = random.normal(size=(800, 4))
    y = (X[:, 0] * X[:, 1] > 0.3 * random.normal(size=800)).astype(int)
    additive = UBAUCClassifier(**LOGISTIC, features="additive").fit(X[:500], y[:500])
    pairs = UBAUCClassifier(**LOGISTIC, features="pairs").fit(X[:500], y[:500])
    assert additive.score(X[500:], y[500:]) < 0.65 < 0.75 < pairs.score(X[500:], y[500:])
    assert any(" & " in name for name in pairs.get_feature_names_out())


@pytest.mark.parametrize("features", ["additive", "pairs", "auto"])
def test_choices_of_maps(features, tmp_path):
    frame, y = ring()
    # γ and the map are chosen; the loss is not.
    params = {"beta": 0, "softness": 1, "calibrate": "sigmoid", "random_state": 0}
    params["interactions"] = None if features == "additive" else 1
    found = UBAUCClassifier(features=features, **params).fit(frame, y)
    assert found.score(*ring(seed=6)) > 0.9
    chosen = found.tuning_["points"][found.tuning_["chosen"]]
    assert (chosen["beta"], chosen["gamma"]) == (found.beta_, found.gamma_)
    maps = [trial["features"] for trial in found.tuning_["maps"]]
    assert chosen["features"] in maps
    if features == "auto":
        assert maps[:2] == ["linear", "additive"]
    found.save(tmp_path / "model.json")
    same = UBAUCClassifier.load(tmp_path / "model.json")
    np.testing.assert_array_equal(same.predict_proba(frame), found.predict_proba(frame))


def test_maps_that_cannot_be(dense):
    X, y = dense
    for features in ("additive", "pairs"):
        with pytest.raises(ValueError, match="sparse"):
            UBAUCClassifier(features=features).fit(csr_matrix(X), y)
        with pytest.raises(ValueError, match="online"):
            UBAUCClassifier(features=features, solver="online").fit(X, y)
        with pytest.raises(ValueError, match="scale"):
            UBAUCClassifier(features=features, scale="maxabs").fit(X, y)
    online = {"solver": "online", "random_state": 0}
    expected = UBAUCClassifier(**online).fit(X, y)
    found = UBAUCClassifier(**online, features="auto").fit(X, y)
    np.testing.assert_array_equal(found.coef_, expected.coef_)
    sparse = UBAUCClassifier(**LOGISTIC, features="auto").fit(csr_matrix(X), y)
    plain = UBAUCClassifier(**LOGISTIC).fit(csr_matrix(X), y)
    np.testing.assert_array_equal(sparse.coef_, plain.coef_)
    few = np.arange(20) % 2
    assert UBAUCClassifier(features="auto").fit(X[:12], few[:12]).tuning_ is None


def test_numbers_that_are_not_aligned():
    bytes = np.empty(8 * 20 + 1, dtype=np.uint8)
    numbers = bytes[1:].view(np.float64)
    numbers[:] = np.arange(20.0)
    numbers[3] = np.nan
    assert not numbers.flags.aligned
    frame = pandas.DataFrame({"x": numbers}, copy=False)
    assert UBAUCClassifier(**LOGISTIC).fit(frame, [0, 1] * 10).coef_.shape == (1, 2)
    columns = [("number", numbers, None), ("category", numbers, None)]
    assert table_of(columns, ["x", "y"], 20).shape == (20, 2)


def test_the_program_and_python_agree(table, program, tmp_path):
    frame, y = table
    # As the program writes and reads them.
    frame = frame.assign(member=np.where(frame["member"], "true", "false"))
    data, theirs, ours = (tmp_path / name for name in ("t.csv", "theirs.json", "ours.json"))
    frame.assign(label=y).to_csv(data, index=False)
    given = ["--label", "label", "--beta", 0, "--softness", 1, "--gamma", 1e-3]
    program("train", data, *given, "--model", theirs, "--quiet")
    by_program = UBAUCClassifier.load(theirs)
    by_python = UBAUCClassifier(**LOGISTIC).fit(frame, y)
    np.testing.assert_array_equal(by_python.coef_, by_program.coef_)
    assert by_program.feature_names_in_.tolist() == list(frame.columns)
    assert by_program.get_feature_names_out().tolist() == by_python.get_feature_names_out().tolist()
    scores = by_python.decision_function(frame)
    np.testing.assert_array_equal(by_program.decision_function(frame), scores)
    by_python.save(ours)
    # Columns in another order: the same bits.
    frame[frame.columns[::-1]].to_csv(data, index=False)
    printed = [program("predict", "--model", m, data, "--quiet").split() for m in (theirs, ours)]
    assert printed[0] == printed[1]
    found = np.array([float(score) for score in printed[1][1:]])
    np.testing.assert_array_equal(found - by_python._solutions[0].cut, scores)


def test_scores_in_pieces_are_those_of_the_whole_table():
    # More rows than a piece has, columns of every kind, and memory in every order.
    n = 40_000
    random = np.random.default_rng(5)
    numbers = np.asfortranarray(random.normal(size=(n, 3)))
    numbers[random.random((n, 3)) < 0.1] = np.nan
    frame = pandas.DataFrame(numbers, columns=["a", "b", "c"])
    assert np.shares_memory(frame["a"].to_numpy(), frame["a"].to_numpy(dtype=np.float64))
    frame["d"] = random.integers(0, 9, n)
    frame["e"] = random.choice(["x", "y", "z"], n)
    frame["f"] = pandas.Timestamp("2024-01-01") + pandas.to_timedelta(np.arange(n), "min")
    frame["g"] = random.choice([2.0, 3.5, np.nan], n)
    y = np.nan_to_num(numbers[:, 0]) ** 2 + (frame["e"] == "x") > 0.8
    given = {"features": "additive", "beta": 0, "softness": 1, "gamma": 1e-3}
    clf = UBAUCClassifier(categorical_features=["e", "g"], **given).fit(frame[:2000], y[:2000])
    (solution,) = clf._solutions
    expected = solution.scores(clf._scoring_input(frame), 1)
    for n_jobs in (None, 2):
        assert np.array_equal(clf.set_params(n_jobs=n_jobs).decision_function(frame), expected)
    # Rows of a part have the same bits, wherever pieces begin.
    assert np.array_equal(clf.decision_function(frame[17_001:]), expected[17_001:])
    # Of several pieces with an infinity the first is reported, whichever ends first.
    frame.loc[17_000, "b"] = frame.loc[n - 2, "a"] = np.inf
    with pytest.raises(ValueError, match="contains infinity: column 'b', row 17000"):
        clf.decision_function(frame)
    rows = UBAUCClassifier(**given).fit(numbers[:2000], y[:2000])
    expected = rows.decision_function(numbers)
    assert np.array_equal(rows.decision_function(np.ascontiguousarray(numbers)), expected)
    assert np.array_equal(rows.decision_function(np.repeat(numbers, 2, axis=1)[:, ::2]), expected)
    whole = rows._solutions[0].scores(rows._scoring_input(numbers), 2)
    assert np.array_equal(whole, expected)
