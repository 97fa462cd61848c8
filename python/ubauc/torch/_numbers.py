"""The soft bound of a batch on arrays of the processor: `_bound` has the formulas.

On a thousand numbers PyTorch's operations spend most of their time on being called, and automatic
differentiation doubles their number; numpy's calls cost less. So this is what training on the
processor uses, and the loops may look at numbers and end early.

q_i = (1 + T_i)/2 with T_i = tanh((λ − z_i)/(2κ)), whose sums are all that a Newton step in λ needs:

.. code-block:: text

    F(λ) = Σ m_i q_i − Σ n_i = (Σ m_i + Σ m_i T_i)/2 − Σ n_i
    F'(λ) = Σ m_i q_i(1 − q_i)/κ = (Σ m_i − Σ m_i T_i²)/(4κ)
"""

import math

import numpy as np
import torch

MOST_STEPS = 100


def array(tensor, dtype):
    """The elements as a flat array; bfloat16 is unknown to numpy."""
    tensor = tensor.detach()
    if tensor.dtype == torch.bfloat16:
        tensor = tensor.float()
    return tensor.numpy().astype(dtype, copy=False).reshape(-1)


def check_range(name, values, most, must):
    """Refuses the first value that is not from 0 to `most`, and infinity."""
    if values.min() >= 0 and values.max() <= min(most, np.finfo(values.dtype).max):
        return
    wrong = int(np.argmin((values >= 0) & (values <= most) & np.isfinite(values)))
    raise ValueError(f"{name} of element {wrong} is {values[wrong]:g}: must be {must}")


def soft_loss(z, negative, positive, loss, threshold):
    """Sum of l_i, ∂l/∂z, λ and ∂l/∂λ: a number, an array, two numbers.

    `loss` is κ > 0 and β, `threshold` a number and whether to minimise over it from there.
    """
    (softness, beta), (at, is_best) = loss, threshold
    mass = negative + positive
    total, sum_negative = float(mass.sum()), float(negative.sum())
    with np.errstate(invalid="ignore"):
        if is_best and 0 < sum_negative < total:
            at = best_threshold(z, mass, (total, sum_negative), softness, at)
        away = at - z
        x = away / softness
        q = np.tanh(x / 2)
        q += 1
        q *= mass
        q *= 0.5
        by_threshold = float(q.sum()) - sum_negative
        # φ(t) = max(t, 0) + κ ln(1 + exp(−|t|/κ))
        phi = np.abs(x)
        np.negative(phi, out=phi)
        np.log1p(np.exp(phi, out=phi), out=phi)
        phi *= softness
        phi += np.maximum(away, 0)
        phi *= mass
        away *= negative
        phi -= away
        slopes = negative - q
        value = float(phi.sum())
        if beta > 0:
            up, down = z - 1, z + 1
            of_positives, of_negatives = positive * up, negative * down
            squares = float(np.dot(of_positives, up)) + float(np.dot(of_negatives, down))
            value += beta / 2 * squares
            of_positives += of_negatives
            of_positives *= beta
            slopes += of_positives
    return value, slopes, at, by_threshold


def best_threshold(z, mass, sums, softness, start):
    """λ; `sums` are those of m_i and n_i."""
    (total, sum_negative), eps = sums, float(np.finfo(z.dtype).eps)
    low, high, at = -math.inf, math.inf, start
    # Half the square of the last step is left, times the softness at most.
    near = eps ** (1 / 3) * softness
    scaled = z / (-2 * softness)
    for _ in range(MOST_STEPS):
        t = scaled + at / (2 * softness)
        np.tanh(t, out=t)
        slope = (total + float(np.dot(mass, t))) / 2 - sum_negative
        if abs(slope) <= 4 * eps * total:
            return at
        low, high = (low, at) if slope > 0 else (at, high)
        np.multiply(t, t, out=t)
        curvature = (total - float(np.dot(mass, t))) / (4 * softness)
        step = -slope / curvature if curvature > 0 else math.copysign(math.inf, -slope)
        if abs(step) <= near:
            return at + step
        if abs(step) > softness and high - low == math.inf:
            low, high = _bracket(z, total, sum_negative, softness, low, high)
        after = at + step if low < at + step < high else (low + high) / 2
        if not low < after < high:
            return at if math.isfinite(slope) else math.nan
        at = after
    return at


def _bracket(z, total, sum_negative, softness, low, high):
    """At these ends all q of one class are below half of what balances the other's."""
    smaller = max(min(sum_negative, total - sum_negative), 1e-30)
    room = softness * (2 + math.log(total / smaller))
    return max(low, float(z.min()) - room), min(high, float(z.max()) + room)
