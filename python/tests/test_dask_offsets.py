"""On a cluster too, adding a constant to the features does not change the ranking."""

import numpy as np
import pytest

pytest.importorskip("dask")
pytest.importorskip("distributed")

from dask_problems import in_chunks  # noqa: E402
from dask_processes import cluster  # noqa: E402
from test_offsets import CONSTANTS, FIXED, aucs, table  # noqa: E402
from ubauc.dask import DaskUBAUCClassifier  # noqa: E402

SIZES = {"one": (2000,), "uneven": (1, 1200, 700, 99)}


@pytest.fixture(scope="module")
def client():
    with cluster(2) as (_, client):
        yield client


@pytest.fixture(params=["dense", "sparse"])
def storage(request):
    return request.param


# Those between are tried on one machine, whose solver this is.
SOME = (CONSTANTS[0], CONSTANTS[-1])


def ranked(client, storage, sizes=SIZES["uneven"], constants=SOME, **params):
    def fit(X, y):
        rows, labels, _ = in_chunks(X, y, sizes)
        return DaskUBAUCClassifier(client, random_state=0, **params).fit(rows, labels).to_local()

    return aucs(fit, *table(sum(sizes)), storage, constants)


@pytest.mark.parametrize("scale", ["none", "maxabs", "standard"])
def test_batch(client, storage, scale):
    before, after = ranked(client, storage, scale=scale, **FIXED)
    assert before > 0.8
    np.testing.assert_allclose(after, before, rtol=0, atol=1e-6)


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("scale", ["none", "maxabs"])
def test_online(client, storage, scale, sizes):
    before, after = ranked(client, storage, SIZES[sizes], solver="online", scale=scale, **FIXED)
    assert before > 0.8
    np.testing.assert_allclose(after, before, rtol=0, atol=1e-2)


def test_online_with_everything_chosen(client, storage):
    before, after = ranked(client, storage, solver="online")
    assert before > 0.8
    np.testing.assert_allclose(after, before, rtol=0, atol=1e-2)


def test_batch_from_online(client, storage):
    before, after = ranked(client, storage, start="online", tol=1e-10, **FIXED)
    assert before > 0.8
    np.testing.assert_allclose(after, before, rtol=0, atol=1e-6)


def test_batch_with_beta_chosen(client):
    # With softness chosen as well, 300 rows are dealt into folds five times.
    params = {"gamma": 1e-2, "softness": 0, "least_squares": "plain"}
    before, after = ranked(client, "dense", (200, 100), SOME[-1:], **params)
    assert before > 0.8
    np.testing.assert_allclose(after, before, rtol=0, atol=1e-6)
