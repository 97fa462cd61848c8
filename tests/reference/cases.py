"""Random cases that do not stay on the beaten track; the seed is in the name of the test."""

import numpy as np

SHAPES = ["smooth", "ties", "heavy ties", "two values", "tiny", "rare", "wide", "negative"]


def binary_case(seed):
    """Labels and scores: smooth, tied, few, of one positive in many, of all magnitudes."""
    rng = np.random.default_rng(seed)
    shape = SHAPES[seed % len(SHAPES)]
    n = int(rng.integers(4, 9)) if shape == "tiny" else int(rng.integers(30, 400))
    share = 0.02 if shape == "rare" else rng.uniform(0.1, 0.9)
    labels = (rng.random(n) < share).astype(int)
    labels[:4] = [0, 0, 1, 1]  # a variance needs two of each
    scores = rng.normal(size=n) + rng.uniform(-0.5, 2) * labels
    if shape == "ties":
        scores = np.round(scores, 1)
    elif shape == "heavy ties":
        scores = np.round(scores)
    elif shape == "two values":
        scores = (scores > 0.5).astype(float)
    elif shape == "wide":
        scores = scores * 10.0 ** rng.integers(-200, 200, size=n)
    elif shape == "negative":
        scores = -np.abs(scores)
    order = rng.permutation(n)
    return labels[order], scores[order], rng


def wins(labels, scores):
    """ψ, the matrix of all pairs: 1 where the positive wins, ½ where it ties."""
    pos, neg = scores[labels == 1], scores[labels == 0]
    return (pos[:, None] > neg[None, :]) + 0.5 * (pos[:, None] == neg[None, :])


def variance_of_mean(psi):
    """DeLong, DeLong & Clarke-Pearson (1988), by all the pairs of ψ (or of a difference of two)."""
    v, u = psi.mean(axis=1), psi.mean(axis=0)
    return v.var(ddof=1) / v.size + u.var(ddof=1) / u.size
