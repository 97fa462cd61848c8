"""What a loss costs: UBAUCLoss beside BCEWithLogitsLoss, forward and backward, on the processor.

    PYTHON bench/torch_loss.py [--threads 1] [--rounds 50] [--profile]

Batches of logits with a tenth of positives. Rounds of the losses alternate; for each loss the best
round in µs a batch, then its multiple of BCEWithLogitsLoss by the best rounds and, in brackets, by
the medians of the rounds. The time is that of the processor, of the thread that calls: other work
on the machine counts less than it would by the clock.

`--profile` shows where the time of a batch of 1,024 goes instead.
"""

import argparse
import cProfile
import pstats
import statistics
import time

import torch
from measure import table
from ubauc.torch import UBAUCLoss

BATCHES = 20
SIZES = [256, 1024, 16_384]
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


def profile():
    data, profiler = batches(1024), cProfile.Profile()
    once(LOSSES["UBAUCLoss"], data)
    with profiler:
        for _ in range(100):
            once(LOSSES["UBAUCLoss"], data)
    pstats.Stats(profiler).sort_stats("tottime").print_stats(20)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--profile", action="store_true")
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    if given.profile:
        return profile()
    rows = {name: [name] for name in LOSSES}
    for size in SIZES:
        data = batches(size)
        rounds = [[once(loss, data) for loss in LOSSES.values()] for _ in range(given.rounds)]
        of_loss = dict(zip(LOSSES, zip(*rounds, strict=True), strict=True))
        of_bce = of_loss["BCEWithLogitsLoss"]
        for name, seconds in of_loss.items():
            by_best = min(seconds) / min(of_bce)
            by_median = statistics.median(seconds) / statistics.median(of_bce)
            rows[name].append(f"{min(seconds) * 1e6:,.0f} µs, {by_best:.2f} ({by_median:.2f})")
    print(f"torch {torch.__version__}, {given.threads} threads")
    print(table(["forward and backward", *(f"{size:,} logits" for size in SIZES)], rows.values()))


if __name__ == "__main__":
    main()
