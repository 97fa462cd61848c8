"""The running AUC of tensors is within its bound of the exact one, in one process or several."""

import pickle
import subprocess
import sys

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="NO TORCH: ubauc.torch is not tested")

from sklearn.metrics import roc_auc_score  # noqa: E402
from ubauc.torch import RunningAUC  # noqa: E402


def examples(seed, n=500):
    random = torch.Generator().manual_seed(seed)
    y = torch.rand(n, generator=random) < 0.2
    return torch.randn(n, generator=random) + y, y


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize("bits", [8, 14, 20])
def test_the_auc_is_within_its_bound(dtype, bits):
    auc, scores, labels = RunningAUC(bits), [], []
    for seed in range(10):
        z, y = examples(seed)
        z = z.to(dtype).reshape(50, 10).requires_grad_()
        auc.update(z, y.reshape(50, 10).to(dtype if seed % 2 else torch.bool))
        scores.append(z.detach().double().reshape(-1).numpy())
        labels.append(y.numpy())
    exact = roc_auc_score(np.concatenate(labels), np.concatenate(scores))
    found = auc.compute()
    assert abs(found.auc - exact) <= found.error_bound + 1e-15
    assert found.error_bound < {8: 0.5, 14: 0.05, 20: 0.002}[bits]
    assert (found.n_pos, found.n_neg) == (sum(y.sum() for y in labels), 5000 - found.n_pos)
    assert found.reason is None


def test_one_class_is_not_a_number_and_says_why():
    auc = RunningAUC()
    assert np.isnan(auc.compute().auc) and auc.compute().reason == "no examples"
    auc.update(torch.randn(7), torch.zeros(7))
    assert np.isnan(auc.compute().auc) and auc.compute().reason == "no positives among 7"
    auc.reset().update(torch.randn(3), torch.ones(3))
    assert np.isnan(auc.compute().error_bound) and auc.compute().reason == "no negatives among 3"
    auc.update(torch.randn(1), torch.zeros(1))
    assert 0 <= auc.compute().auc <= 1


def test_merging_is_as_one():
    parts = [RunningAUC().update(*examples(seed)) for seed in range(3)]
    whole = RunningAUC()
    for seed in (2, 0, 1):
        whole.update(*examples(seed))
    merged = pickle.loads(pickle.dumps(parts[0])).merge(parts[1]).merge(parts[2])
    assert merged.compute() == whole.compute()
    assert parts[0].all_reduce().compute() == parts[0].compute()
    assert whole.reset().compute().reason == "no examples"


def test_wrong_batches_count_nothing():
    auc = RunningAUC().update(*examples(0))
    before = auc.compute()
    z, y = examples(1)
    with pytest.raises(ValueError, match=r"target has the shape \(499,\), logits \(500,\)"):
        auc.update(z, y[1:])
    with pytest.raises(ValueError, match="other than 0 and 1"):
        auc.update(z, 2 * y.float() - 1)
    z[3] = torch.nan
    with pytest.raises(ValueError, match="(?i)nan"):
        auc.update(z, y)
    assert auc.compute() == before


PROCESS = """
import sys
import torch
import torch.distributed as processes
from ubauc.torch import RunningAUC
rank = int(sys.argv[1])
processes.init_process_group("gloo", init_method="file://" + sys.argv[2], rank=rank, world_size=2)
random = torch.Generator().manual_seed(rank)
z, y = torch.randn(400, generator=random), torch.rand(400, generator=random) < 0.5
auc = RunningAUC().update(z + y, y)
first, again = auc.all_reduce().compute(), auc.all_reduce().compute()
assert first == again and first.n_pos + first.n_neg == 800
print(repr(first))
"""


def test_processes_have_the_auc_of_all(tmp_path):
    if not torch.distributed.is_available():
        pytest.skip("this torch has no torch.distributed")
    command = [sys.executable, "-c", PROCESS]
    running = [
        subprocess.Popen([*command, str(rank), str(tmp_path / "meet")], stdout=subprocess.PIPE)
        for rank in range(2)
    ]
    said = [process.communicate(timeout=120)[0].decode() for process in running]
    assert [process.returncode for process in running] == [0, 0]
    whole = RunningAUC()
    for rank in range(2):
        random = torch.Generator().manual_seed(rank)
        z, y = torch.randn(400, generator=random), torch.rand(400, generator=random) < 0.5
        whole.update(z + y, y)
    assert said == [f"{whole.compute()!r}\n"] * 2
