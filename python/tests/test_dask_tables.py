"""Data frames with categories and gaps on a cluster: the map and the model of one machine."""

import json

import numpy as np
import pytest

pandas = pytest.importorskip("pandas")
dd = pytest.importorskip("dask.dataframe")
pytest.importorskip("distributed")

from dask_processes import cluster  # noqa: E402
from test_tables import LOGISTIC, made  # noqa: E402
from ubauc import UBAUCClassifier  # noqa: E402
from ubauc.dask import DaskUBAUCClassifier  # noqa: E402


@pytest.fixture(scope="module")
def client():
    """Of two worker processes."""
    with cluster(2) as (_, client):
        yield client


@pytest.fixture(scope="module")
def frames():
    """In four parts, of which the first has no gap and the third no teacher."""
    frame, y = made(600)
    frame.loc[:149, ["age", "job"]] = frame.loc[:149, ["age", "job"]].ffill().bfill()
    third = frame.index[300:450]
    frame.loc[third, "job"] = frame.loc[third, "job"].replace("teacher", "clerk")
    frame["label"] = y
    return frame, dd.from_pandas(frame, npartitions=4, sort=False)


def features_of(estimator):
    return json.loads(estimator._solutions[0].features)


@pytest.mark.parametrize("categories", [False, True])
def test_the_map_is_that_of_one_machine(categories, client, frames):
    frame, parts = frames
    if categories:
        # Every partition with codes of its own.
        parts = parts.map_partitions(lambda part: part.assign(job=part["job"].astype("category")))
    X = frame.drop(columns="label")
    local = UBAUCClassifier(**LOGISTIC, tol=1e-12).fit(X, frame["label"])
    found = DaskUBAUCClassifier(client, **LOGISTIC, tol=1e-12).fit(parts, "label")
    assert features_of(found) == features_of(local)
    np.testing.assert_allclose(found.coef_, local.coef_, atol=1e-5)
    assert found.feature_names_in_.tolist() == list(X.columns)
    assert found.get_feature_names_out().tolist() == local.get_feature_names_out().tolist()
    assert found.is_categorical_.tolist() == local.is_categorical_.tolist()
    scores = found.decision_function(parts.drop(columns="label")).compute()
    np.testing.assert_array_equal(scores, found.to_local().decision_function(X))
    assert found.score(parts.drop(columns="label"), parts["label"]) > 0.8


def test_numbers_with_a_gap_in_one_partition(client):
    random = np.random.default_rng(0)
    frame = pandas.DataFrame(random.normal(size=(300, 3)), columns=["a", "b", "c"])
    frame["label"] = (frame["a"] + random.normal(size=300) > 0).astype(int)
    frame.loc[250, "b"] = np.nan
    parts = dd.from_pandas(frame, npartitions=3, sort=False)
    local = UBAUCClassifier(**LOGISTIC).fit(frame[["a", "b", "c"]], frame["label"])
    found = DaskUBAUCClassifier(client, **LOGISTIC).fit(parts, "label")
    assert features_of(found) == features_of(local)


def test_chosen_and_calibrated(client):
    # This many are dealt into folds once.
    frame, y = made(3750)
    parts = dd.from_pandas(frame.assign(label=y), npartitions=2, sort=False)
    found = DaskUBAUCClassifier(client, calibrate="sigmoid", random_state=0).fit(parts, "label")
    assert len(found.tuning_["points"]) > 10
    chosen = found.tuning_["points"][found.tuning_["chosen"]]
    assert chosen["auc"] > 0.75
    X = parts.drop(columns="label")
    np.testing.assert_allclose(found.predict_proba(X).compute().sum(axis=1), 1.0)
    online = DaskUBAUCClassifier(client, solver="online", random_state=0).fit(parts, "label")
    assert online.score(X, parts["label"]) > 0.75


def test_which_columns_are_categories(client, frames):
    frame, parts = frames
    given = {"categorical_features": ["job", "rooms", "member"]}
    X = frame.drop(columns="label")
    local = UBAUCClassifier(**LOGISTIC, **given).fit(X, frame["label"])
    found = DaskUBAUCClassifier(client, **LOGISTIC, **given).fit(parts, "label")
    assert features_of(found) == features_of(local)


def test_files(client, frames, tmp_path):
    frame, _ = frames
    paths = [tmp_path / f"{k}.parquet" for k in range(2)]
    for path, rows in zip(paths, (frame[:300], frame[300:]), strict=True):
        rows.to_parquet(path)
    local = UBAUCClassifier(**LOGISTIC).fit(frame.drop(columns="label"), frame["label"])
    found = DaskUBAUCClassifier(client, **LOGISTIC).fit_files(paths, label="label")
    assert features_of(found) == features_of(local)
