"""The loss is what the batch solver minimises, with right derivatives, and stands in for BCE."""

import copy
import math
import pickle

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="NO TORCH: ubauc.torch is not tested")

from torch.nn import BCEWithLogitsLoss  # noqa: E402
from ubauc import UBAUCClassifier  # noqa: E402
from ubauc.objectives import UnivariateBoundObjective  # noqa: E402
from ubauc.torch import UBAUCLoss  # noqa: E402

SEEDS = range(8)


def batch(seed, n=50, dtype=torch.float64, ties=False):
    """Logits, targets and weights; both classes."""
    random = np.random.default_rng(seed)
    y = (random.random(n) < 0.3).astype(float)
    y[:2] = 0, 1
    z = random.normal(size=n) + y
    if ties:
        z = np.round(2 * z) / 2
    s = random.integers(0, 4, size=n).astype(float)
    s[:2] = 1
    return [torch.tensor(one, dtype=dtype) for one in (z, y, s)]


def both_ways(loss, z, *given):
    """Value, gradient and threshold by the call and by operations on tensors."""
    found = []
    for way in ("__call__", "_by_tensors"):
        mine, z = copy.deepcopy(loss), z.detach().clone().requires_grad_()
        value = getattr(mine, way)(z, *given)
        value.sum().backward()
        by_threshold = None
        if isinstance(mine.threshold, torch.nn.Parameter):
            by_threshold = mine.threshold.grad.clone()
        found.append((value.detach(), z.grad, mine.threshold.detach(), by_threshold))
    return found


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("class_weight", [None, "balanced"])
@pytest.mark.parametrize("softness", [1.0, 0.1, 0.0])
def test_the_loss_of_all_rows_is_the_objective_of_the_solver(softness, class_weight, weighted):
    random = np.random.default_rng(1)
    X = random.normal(size=(300, 6))
    y = (X[:, 0] + random.normal(size=300) > 1.2).astype(int)
    s = random.uniform(0.5, 2, size=300) if weighted else np.ones(300)
    gamma, beta = 1e-3, 0.4
    clf = UBAUCClassifier(
        beta=beta, gamma=gamma, softness=softness, class_weight=class_weight, tol=1e-10
    )
    clf.fit(X, y, sample_weight=s)
    w = clf.coef_.ravel()
    # The intercept of the least squares: the mean of what they leave, with all weights.
    a = s.copy()
    if class_weight:
        for label in (0, 1):
            a[y == label] *= s.sum() / (2 * s[y == label].sum())
    b = np.average(2 * y - 1 - X @ w, weights=a)
    loss = UBAUCLoss(softness=softness, beta=beta, class_weight=class_weight)
    logits, target = torch.tensor(X @ w + b), torch.tensor(y)
    found = loss(logits, target, torch.tensor(s)).item()
    # The mean is over elements, that of the solver over weights.
    expected = (clf.objective_ - gamma / 2 * w @ w) * s.mean()
    # class_sums is in single precision.
    assert found == pytest.approx(expected, rel=1e-6 if class_weight else 1e-9)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("shape", [(60,), (20, 3), (5, 4, 3), ()])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_threshold_of_0_without_least_squares_is_bce(reduction, shape, dtype):
    torch.manual_seed(0)
    for pos_weight in (None, torch.tensor(2.5), torch.tensor([0.5, 1.0, 3.0])):
        if pos_weight is not None and pos_weight.dim() and shape[-1:] != (3,):
            continue
        weight = torch.rand(shape[-1:])
        given = {"reduction": reduction, "pos_weight": pos_weight, "weight": weight}
        ours = UBAUCLoss(beta=0, softness=1, threshold="parameter", **given)
        theirs = BCEWithLogitsLoss(**given)
        for target in (torch.rand(shape) < 0.4, torch.rand(shape)):
            z = (3 * torch.randn(shape, dtype=dtype)).requires_grad_()
            again = z.detach().clone().requires_grad_()
            mine, expected = ours(z, target), theirs(again, target.to(dtype))
            assert mine.shape == expected.shape and mine.dtype == dtype
            torch.testing.assert_close(mine, expected, rtol=1e-5, atol=1e-6)
            mine.sum().backward()
            expected.sum().backward()
            torch.testing.assert_close(z.grad, again.grad, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("beta", [0.5, 2.0])
@pytest.mark.parametrize("softness", [0.1, 1.0])
def test_it_is_the_objective_for_boosting(softness, beta):
    for seed in SEEDS:
        z, t, s = batch(seed)
        objective = UnivariateBoundObjective(beta=beta, softness=softness, balanced=False)
        z.requires_grad_()
        found = UBAUCLoss(softness=softness, beta=beta, reduction="sum")(z, t, s)
        found.backward()
        scores = z.detach().numpy()
        value = objective.value(t.numpy(), scores, s.numpy())
        gradient, _ = objective(t.numpy(), scores, s.numpy())
        assert found.item() == pytest.approx(value, rel=1e-10)
        np.testing.assert_allclose(z.grad.numpy(), gradient, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("threshold", ["exact", "parameter"])
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_gradients_are_differences(reduction, threshold, class_weight):
    if (reduction, threshold) == ("none", "exact"):
        pytest.skip("the elements share a threshold that is held still: only their sum is right")
    z, t, s = batch(2, n=20)
    loss = UBAUCLoss(
        softness=0.4, reduction=reduction, threshold=threshold, class_weight=class_weight
    )
    loss = loss.double()
    loss(z, t, s)
    loss.eval()
    assert torch.autograd.gradcheck(lambda z: loss(z, t, s), z.requires_grad_())
    if threshold == "parameter":
        with torch.no_grad():
            loss.threshold.fill_(0.3)

        def of_threshold(at):
            mine = copy.deepcopy(loss)
            del mine.threshold
            mine.threshold = at
            return mine(z, t, s)

        assert torch.autograd.gradcheck(of_threshold, loss.threshold)


@pytest.mark.parametrize("threshold", ["exact", "parameter"])
@pytest.mark.parametrize("ties", [False, True])
def test_the_hinge_has_subgradients(threshold, ties):
    for seed in SEEDS:
        z, t, s = batch(seed, ties=ties)
        loss = UBAUCLoss(softness=0, beta=0.3, threshold=threshold).double()
        for way in (loss, loss._by_tensors):
            z.requires_grad_()
            here = way(z, t, s)
            (slope,) = torch.autograd.grad(here, z)
            z = z.detach()
            random = torch.Generator().manual_seed(seed)
            for size in (0.01, 0.3, 3.0):
                step = size * torch.randn(z.shape, generator=random, dtype=z.dtype)
                there = way(z + step, t, s)
                assert there >= here + slope @ step - 1e-12


@pytest.mark.parametrize("ties", [False, True])
def test_the_exact_threshold_is_the_best(ties):
    for seed in SEEDS:
        z, t, s = batch(seed, ties=ties)
        for softness in (0.0, 0.05, 1.0):
            for given in ({"softness": softness, "beta": 0.5},):
                exact = UBAUCLoss(**given)(z, t, s)
                other = UBAUCLoss(**given, threshold="parameter")
                grid = torch.linspace(-4, 5, 181)
                values = []
                for at in grid:
                    with torch.no_grad():
                        other.threshold.fill_(at)
                    values.append(other(z, t, s).item())
                assert exact.item() <= min(values) + 1e-12
                # The values differ by at most the slope of 1 an example times half the grid.
                assert exact.item() >= min(values) - s.mean().item() * 0.05


CASES = [
    {},
    {"class_weight": "balanced"},
    {"softness": 0.05, "beta": 0.5, "pos_weight": 3.0},
    {"softness": 0.0, "beta": 0.5},
    {"softness": 0.0, "beta": 0.5, "class_weight": "balanced", "reduction": "sum"},
    {"threshold": "parameter", "class_weight": "balanced"},
    {"threshold": "parameter", "softness": 0.0, "beta": 1.0},
    {"beta": 0.0},
]


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_library_and_tensors_agree(case, dtype):
    close = {"rtol": 1e-4, "atol": 2e-5} if dtype == torch.float32 else {"rtol": 1e-6, "atol": 1e-8}
    for seed in SEEDS:
        z, t, s = batch(seed, dtype=dtype)
        for given in ((t,), (t, s), (torch.zeros_like(t),), (torch.ones_like(t), s)):
            for one, other in zip(*both_ways(UBAUCLoss(**case), z, *given), strict=True):
                if one is not None:
                    torch.testing.assert_close(one, other, **close)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_memory_in_any_order_and_targets_of_any_type(dtype):
    z, t, s = (one.reshape(10, 5) for one in batch(3, dtype=dtype))
    expected = UBAUCLoss()(z, t, s)
    wide = torch.stack([z, z + 1], dim=2)
    columns = [one.T.contiguous().T for one in (z, t, s)]
    for logits, target, weight in [
        (wide[:, :, 0], t, s),
        tuple(columns),
        (z, t.bool(), s.int()),
        (z, t.double(), s.double()),
        (z, t.to(torch.float16), s.float()),
    ]:
        logits = logits.detach().requires_grad_()
        found = UBAUCLoss()(logits, target, weight)
        found.backward()
        assert found == expected and logits.grad.shape == z.shape
    # A row of weights for all rows.
    weight = torch.arange(5.0)
    assert UBAUCLoss()(z, t, weight) == UBAUCLoss(weight.expand(10, 5).clone())(z, t)


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("label", [0.0, 1.0])
def test_batches_of_one_class_are_legal(case, label):
    loss = UBAUCLoss(**case)
    for _ in range(3):
        z = torch.randn(16, requires_grad=True)
        value = loss(z, torch.full((16,), label))
        value.backward()
        assert value.isfinite() and z.grad.isfinite().all()
    assert loss.threshold == 0  # nothing was learned of it
    if case.get("beta") == 0.0:
        sign = -1 if label else 1
        assert (sign * z.grad > 0).all()


def test_one_class_is_held_against_the_running_threshold():
    loss = UBAUCLoss(softness=0.1, beta=0, momentum=1.0)
    z, t, _ = batch(3)
    loss(z + 5, t)
    at = loss.threshold.item()
    assert 4 < at < 7
    z = torch.tensor([4.0, 5.0, 6.0, 7.0])
    expected = 0.1 * torch.log1p(torch.exp((z - at) / 0.1)).mean()
    assert loss(z, torch.zeros(4)).item() == pytest.approx(expected.item(), rel=1e-5)
    assert loss.threshold.item() == at


def test_the_running_threshold_is_an_average():
    loss, expected = UBAUCLoss(momentum=0.25), 0.0
    for seed in range(5):
        z, t, _ = batch(seed)
        exact = UBAUCLoss(momentum=1.0)
        exact(z, t)
        expected += 0.25 * (exact.threshold.item() - expected)
        loss(z, t)
    assert loss.threshold.item() == pytest.approx(expected, rel=1e-5)


def test_classes_are_counted_in_training_only():
    loss = UBAUCLoss(class_weight="balanced", reduction="sum")
    sums = np.zeros(2)
    for seed in range(4):
        z, t, s = batch(seed)
        loss(z, t, s)
        sums += [(s * (1 - t)).sum().item(), (s * t).sum().item()]
    np.testing.assert_allclose(loss.class_sums.numpy(), sums)
    before = copy.deepcopy(loss.state_dict())
    loss.eval()
    z, t, s = batch(9)
    found = loss(z, t, s)
    assert all(torch.equal(before[name], now) for name, now in loss.state_dict().items())
    factor = torch.tensor(sums.sum() / (2 * sums))
    by_hand = s * torch.where(t > 0, factor[1], factor[0])
    torch.testing.assert_close(found, UBAUCLoss(reduction="sum")(z, t, by_hand), rtol=1e-6, atol=0)
    again = UBAUCLoss(class_weight="balanced", reduction="sum").eval()
    again.load_state_dict(before)
    assert again(z, t, s) == found


def test_classes_are_counted_as_exactly_as_the_module_is():
    loss = UBAUCLoss(class_weight="balanced").double()
    loss.class_sums += torch.tensor([2.0**24, 2.0**30], dtype=torch.float64)
    z, t = torch.tensor([0.5, -0.5, 1.0]), torch.tensor([0.0, 0.0, 1.0])
    loss(z, t)
    assert loss.class_sums.tolist() == [2.0**24 + 2, 2.0**30 + 1]


def test_evaluation_before_training_weights_by_the_batch():
    z, t, _ = batch(1)
    fresh = UBAUCLoss(class_weight="balanced").eval()
    assert fresh(z, t) == UBAUCLoss(class_weight="balanced")(z, t)
    assert fresh.class_sums.tolist() == [0, 0]


@pytest.mark.parametrize("softness", [0.2, 0.0])
def test_a_weight_of_0_masks(softness):
    for seed in SEEDS:
        z, t, s = batch(seed)
        loss = UBAUCLoss(class_weight="balanced", reduction="sum", softness=softness)
        masked = both_ways(loss, z, t, s)
        without = both_ways(loss, z[s > 0], t[s > 0], s[s > 0])
        for (value, slopes, at, _), expected in zip(masked, without, strict=True):
            torch.testing.assert_close((value, slopes[s > 0], at), expected[:3])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_half_precision_is_computed_in_single(dtype, case):
    z, t, s = batch(5, n=2000, dtype=torch.float32)
    z = (100 * z).to(dtype)
    single = z.float().requires_grad_()
    z.requires_grad_()
    ours = UBAUCLoss(**case)
    found, expected = ours(z, t.to(dtype), s), UBAUCLoss(**case)(single, t, s)
    assert found.dtype == torch.float32 and found == expected
    found.backward()
    expected.backward()
    assert z.grad.dtype == dtype and z.grad.isfinite().all()
    torch.testing.assert_close(z.grad, single.grad.to(dtype))


def test_autocast_changes_nothing():
    z, t, _ = batch(6, dtype=torch.float32)
    for way in ("__call__", "_by_tensors"):
        expected = getattr(UBAUCLoss(), way)(z, t)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            assert getattr(UBAUCLoss(), way)(z, t) == expected


@pytest.mark.parametrize("half", [torch.float16, torch.bfloat16])
def test_a_model_made_half_keeps_its_counts(half):
    model = torch.nn.ModuleDict({"loss": UBAUCLoss(class_weight="balanced")})
    model["loss"].class_sums += torch.tensor([1234567.0, 76543.0])
    model.to(half)
    assert model["loss"].class_sums.tolist() == [1234567.0, 76543.0]
    assert model["loss"].threshold.dtype == torch.float32


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("way", ["__call__", "_by_tensors"])
def test_logits_that_are_not_finite_leave_the_state(bad, way):
    for softness in (0.0, 0.5):
        loss = UBAUCLoss(softness=softness, beta=0.2)
        z, t, _ = batch(7, dtype=torch.float32)
        loss(z, t)
        before = loss.threshold.clone()
        z[3] = bad
        z.requires_grad_()
        value = getattr(loss, way)(z, t)
        value.backward()
        assert not value.isfinite() and not z.grad.isfinite().all()
        assert loss.threshold.isfinite() and loss.threshold == before


def test_large_logits_do_not_overflow():
    for dtype in (torch.float32, torch.float64):
        z = torch.tensor([-1e4, 1e4, 3e4, -3e4], dtype=dtype, requires_grad=True)
        for softness in (1e-3, 1.0):
            for way in ("__call__", "_by_tensors"):
                loss = getattr(UBAUCLoss(softness=softness, beta=0), way)
                value = loss(z, torch.tensor([0.0, 1.0, 0.0, 1.0]))
                assert value.isfinite() and torch.autograd.grad(value, z)[0].isfinite().all()


def test_errors_name_what_was_expected():
    z, t, s = batch(0)
    with pytest.raises(ValueError, match=r"target has the shape \(50, 1\), logits \(50,\)"):
        UBAUCLoss()(z, t[:, None])
    with pytest.raises(TypeError, match="logits are torch.int64"):
        UBAUCLoss()(z.long(), t)
    for reduction in ("mean", "none"):
        with pytest.raises(ValueError, match="0 for negatives and 1 for positives"):
            UBAUCLoss(reduction=reduction)(z, 2 * t - 1)
    with pytest.raises(ValueError, match=r"weight has the shape \(3,\)"):
        UBAUCLoss()(z, t, s[:3])
    with pytest.raises(ValueError, match=r"pos_weight has the shape \(2,\)"):
        UBAUCLoss(pos_weight=torch.ones(2))(z, t)
    with pytest.raises(ValueError, match="weight of element 2 is -1"):
        s[2] = -1
        UBAUCLoss()(z, t, s)
    for name, wrong in [
        ("softness", -1),
        ("softness", math.nan),
        ("beta", math.inf),
        ("reduction", "average"),
        ("class_weight", "auto"),
        ("threshold", "best"),
        ("momentum", 0),
        ("pos_weight", -2.0),
    ]:
        with pytest.raises(ValueError, match=name):
            UBAUCLoss(**{name: wrong})
    with pytest.raises(ValueError, match="beta = 0"):
        UBAUCLoss(softness=0, beta=0)


def test_an_empty_batch_is_as_with_bce():
    empty = torch.zeros(0)
    for reduction in ("mean", "sum", "none"):
        for case in ({}, {"class_weight": "balanced"}, {"softness": 0.0, "beta": 1.0}):
            found = UBAUCLoss(reduction=reduction, **case)(empty, empty)
            expected = BCEWithLogitsLoss(reduction=reduction)(empty, empty)
            torch.testing.assert_close(found, expected, equal_nan=True)


def test_second_derivatives_are_refused():
    z, t, _ = batch(0)
    z.requires_grad_()
    with pytest.raises(RuntimeError, match="no second derivatives"):
        torch.autograd.grad(UBAUCLoss()(z, t), z, create_graph=True)


def test_it_is_copied_pickled_and_printed():
    loss = UBAUCLoss(class_weight="balanced", pos_weight=2.0)
    z, t, s = batch(0)
    loss(z, t, s)
    for other in (copy.deepcopy(loss), pickle.loads(pickle.dumps(loss))):
        assert other.eval()(z, t, s) == copy.deepcopy(loss).eval()(z, t, s)
    assert "class_weight='balanced'" in repr(loss)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_it_compiles_as_one_graph(case):
    if not hasattr(torch, "compile"):
        pytest.skip(f"torch {torch.__version__} has no torch.compile")
    torch._dynamo.reset()
    # What is traced is under test; the backend that calls a C++ compiler is PyTorch's.
    for seed in range(2):
        compiled, eager = UBAUCLoss(**case), UBAUCLoss(**case)
        graph = torch.compile(compiled, fullgraph=True, backend="aot_eager")
        for k in range(2):
            z, t, _ = batch(seed + k, dtype=torch.float32)
            one, other = z.clone().requires_grad_(), z.clone().requires_grad_()
            mine, expected = graph(one, t), eager(other, t)
            mine.backward()
            expected.backward()
            torch.testing.assert_close(mine, expected, rtol=1e-4, atol=1e-5)
            torch.testing.assert_close(one.grad, other.grad, rtol=1e-4, atol=2e-5)
            for name, state in eager.state_dict().items():
                now = compiled.state_dict()[name]
                torch.testing.assert_close(now, state, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_networks_learn_by_it(case):
    torch.manual_seed(0)
    X = torch.randn(2000, 5)
    y = (X**2).sum(1) + torch.randn(2000) > 10
    net = torch.nn.Sequential(torch.nn.Linear(5, 32), torch.nn.ReLU(), torch.nn.Linear(32, 1))
    loss = UBAUCLoss(**case)
    step = torch.optim.Adam([*net.parameters(), *loss.parameters()], lr=0.01)
    for _ in range(20):
        for rows in torch.randperm(2000).split(100):
            step.zero_grad()
            loss(net(X[rows]).squeeze(1), y[rows]).backward()
            step.step()
    from ubauc.metrics import roc_auc

    with torch.no_grad():
        assert roc_auc(y.numpy(), net(X).squeeze(1).numpy()) > 0.9
