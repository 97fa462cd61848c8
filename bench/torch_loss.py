"""What a loss costs: UBAUCLoss beside BCEWithLogitsLoss, forward and backward, on the processor.

    PYTHON bench/torch_loss.py

Batches of logits with a tenth of positives, one thread. Rounds of the losses alternate, and the
best of them counts.
"""

import time

import torch
from measure import table
from ubauc.torch import UBAUCLoss

ROUNDS, BATCHES = 25, 20
LOSSES = {
    "BCEWithLogitsLoss": torch.nn.BCEWithLogitsLoss(),
    "BCEWithLogitsLoss, pos_weight": torch.nn.BCEWithLogitsLoss(pos_weight=torch.tensor(9.0)),
    "UBAUCLoss": UBAUCLoss(),
    "UBAUCLoss, balanced": UBAUCLoss(class_weight="balanced"),
    "UBAUCLoss, softness 0.1, beta 0.5": UBAUCLoss(softness=0.1, beta=0.5),
    "UBAUCLoss, softness 0, beta 0.5": UBAUCLoss(softness=0.0, beta=0.5),
    "UBAUCLoss, parameter": UBAUCLoss(threshold="parameter"),
}


def batches(size):
    torch.manual_seed(0)
    targets = [(torch.rand(size) < 0.1).float() for _ in range(BATCHES)]
    return [((torch.randn(size) / 2 + t).requires_grad_(), t) for t in targets]


def once(loss, data):
    start = time.thread_time()
    for logits, target in data:
        logits.grad = None
        loss(logits, target).backward()
    return (time.thread_time() - start) / len(data)


def main():
    torch.set_num_threads(1)
    rows = {name: [name] for name in LOSSES}
    sizes = [256, 1024, 16_384]
    for size in sizes:
        data = batches(size)
        rounds = [[once(loss, data) for loss in LOSSES.values()] for _ in range(ROUNDS)]
        best = dict(zip(LOSSES, map(min, *rounds), strict=True))
        for name, seconds in best.items():
            ratio = seconds / best["BCEWithLogitsLoss"]
            rows[name].append(f"{seconds * 1e6:,.0f} µs, {ratio:.2f}")
    print(f"torch {torch.__version__}")
    print(table(["forward and backward", *(f"{size:,} logits" for size in sizes)], rows.values()))


if __name__ == "__main__":
    main()
