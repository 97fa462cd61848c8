"""The best threshold of a batch on tensors: the λ that minimises the bound of its scores.

With weights n_i of an example as a negative and p_i as a positive, m_i = n_i + p_i, and
q_i = 1/(1 + exp(−(λ − z_i)/κ)), the derivative of Σ p_i φ(λ − z_i) + n_i φ(z_i − λ) by λ is

.. code-block:: text

    F(λ) = Σ m_i q_i − Σ n_i ,    F'(λ) = Σ m_i q_i(1 − q_i)/κ

which increases from −Σ n_i to Σ p_i: the root is found by Newton steps within a bracket. Every look
at a number would wait for the device, and a compiled graph has no loops that depend on numbers, so
the steps have a fixed number.

The hinge, κ = 0: q_i = 1[z_i < λ], a step, so that λ is where the sorted scores' running sum of m_i
passes Σ n_i, for weights 1 the N⁻-th; where it stops there, all up to the next score is as good,
and the middle is taken (E1 of docs/paper.md).
"""

import math

import torch

# Bisection halves the bracket where Newton's step would leave it.
STEPS = 20


def best_threshold(z, mass, negative, softness, start):
    """λ, a tensor without shape; `start` where a class has no weight, which leaves no best one."""
    z, mass = z.reshape(-1), mass.reshape(-1)
    start = start.to(z.dtype)
    if not z.numel():
        return start
    sum_negative = negative.sum()
    sum_positive = mass.sum() - sum_negative
    if softness > 0:
        found = _soft(z, mass, sum_negative, sum_positive, softness, start)
    else:
        found = _hinge(z, mass, sum_negative)
    return torch.where((sum_negative > 0) & (sum_positive > 0), found, start)


def _soft(z, mass, sum_negative, sum_positive, softness, start):
    # At these ends all q of one class are below half of what balances the other's.
    smaller = torch.minimum(sum_positive, sum_negative).clamp(min=1e-30)
    room = softness * (2 + torch.log((sum_positive + sum_negative) / smaller))
    low, high = z.min() - room, z.max() + room
    at = torch.where((low < start) & (start < high), start, (low + high) / 2)
    for _ in range(STEPS):
        q = torch.sigmoid((at - z) / softness)
        slope = (mass * q).sum() - sum_negative
        curvature = (mass * q * (1 - q)).sum() / softness
        low, high = torch.where(slope > 0, low, at), torch.where(slope > 0, at, high)
        after = at - slope / curvature
        # Its ends are inside: where Newton's method has converged it stays.
        at = torch.where((low <= after) & (after <= high), after, (low + high) / 2)
    return at


def _hinge(z, mass, sum_negative):
    # What has no weight is moved out of the way.
    is_weighted = mass > 0
    most = torch.where(is_weighted, z, torch.full_like(z, -math.inf)).max()
    ordered, order = torch.where(is_weighted, z, most).sort()
    passed = mass[order].cumsum(0)
    last = z.numel() - 1
    # The first score at which the sum is reached; sums of weights are right to their rounding.
    slack = 4 * torch.finfo(z.dtype).eps * passed[-1]
    at = (passed < sum_negative - slack).sum().clamp(max=last)
    is_reached = (_element(passed, at) - sum_negative).abs() <= slack
    low = _element(ordered, at)
    high = _element(ordered, torch.where(is_reached, (at + 1).clamp(max=last), at))
    return low + (high - low) / 2


def _element(values, at):
    """``values[at]``, which a graph would have to stop for."""
    return values.index_select(0, at.reshape(1)).reshape(())


def share_below(z, mass, sum_negative, threshold):
    """q_i of the hinge: 1 below the threshold, 0 above, and at it what makes F = 0, if it can.

    λ moves with a score that it is; so no other derivative is a subgradient of the minimum.
    """
    below, tied = (z < threshold).to(z.dtype), (z == threshold).to(z.dtype)
    left = sum_negative - (mass * below).sum()
    at = (mass * tied).sum().clamp(min=torch.finfo(z.dtype).tiny)
    return below + tied * (left / at).clamp(0, 1)
