"""The bound of a batch with least squares, and its derivatives.

For logits z_i with weights n_i as a negative and p_i as a positive, m_i = n_i + p_i, at a threshold
λ, with φ(t) = κ ln(1 + exp(t/κ)), or [t]₊ for κ = 0, and q_i = φ'(λ − z_i):

.. code-block:: text

    l_i     = p_i φ(λ − z_i) + n_i φ(z_i − λ) + β/2 { p_i (z_i − 1)² + n_i (z_i + 1)² }
    ∂l/∂z_i = n_i − m_i q_i + β { p_i (z_i − 1) + n_i (z_i + 1) }
    ∂l/∂λ   = Σ m_i q_i − n_i

since φ(−t) = φ(t) − t and so φ'(−t) = 1 − φ'(t). With targets 0 and 1 one of n_i, p_i is 0; between
them an example is so much of each, as in cross entropy.

Where λ is the minimiser for the batch, ∂l/∂λ = 0 and λ may be held still (envelope theorem), so no
derivative goes through the search for λ. Both derivatives are known as soon as the value is, and
computed with it; `backward` only multiplies.

Here this is done on tensors, for any device and for compiled graphs. On the CPU it is done by the
library (``crates/ubauc/src/solver/logits.rs``), in one call. Tests compare the two, and both with
`ubauc.objectives` and the batch solver.
"""

import torch
from torch.nn.functional import logsigmoid

from ._threshold import best_threshold, share_below


class Known(torch.autograd.Function):
    """A value whose derivatives by logits and threshold were computed with it.

    `value` and `by_threshold` are tensors, or numbers of the whole batch.
    """

    @staticmethod
    def forward(ctx, logits, threshold, value, by_logits, by_threshold):
        # Neither is an input that may change, nor an output.
        ctx.known = by_logits, by_threshold, logits.dtype
        if isinstance(value, float):
            return torch.scalar_tensor(value, dtype=by_logits.dtype, device=by_logits.device)
        return value

    @staticmethod
    def backward(ctx, grad):
        if torch.is_grad_enabled():
            raise RuntimeError("UBAUCLoss has no second derivatives: create_graph must be False")
        by_logits, by_threshold, dtype = ctx.known
        by_logits = by_logits * grad
        if by_logits.dtype != dtype:
            by_logits = by_logits.to(dtype)
        if not ctx.needs_input_grad[1]:
            return by_logits, None, None, None, None
        return by_logits, (by_threshold * grad).sum(), None, None, None


def on_tensors(z, negative, positive, loss, threshold, is_best):
    """l_i, ∂l/∂z, λ and ∂l_i/∂λ: tensors; λ has no shape."""
    softness, beta = loss
    mass = negative + positive
    if is_best:
        threshold = best_threshold(z, mass, negative, softness, threshold)
    away = threshold.to(z.dtype) - z
    if softness > 0:
        x = away / softness
        value = -softness * mass * logsigmoid(-x) - negative * away
        excess = negative - mass * torch.sigmoid(x)
    else:
        excess = negative - mass * share_below(z, mass, negative.sum(), threshold)
        value = -excess * away
    up, down = positive * (z - 1), negative * (z + 1)
    value = value + beta / 2 * (up * (z - 1) + down * (z + 1))
    return value, excess + beta * (up + down), threshold, -excess
