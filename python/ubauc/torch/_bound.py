"""The bound of a batch with least squares, and its derivatives.

For logits z_i with weights n_i as a negative and p_i as a positive, m_i = n_i + p_i, at a threshold
λ, with φ(t) = κ ln(1 + exp(t/κ)), or [t]₊ for κ = 0, and q_i = φ'(λ − z_i):

.. code-block:: text

    l_i     = p_i φ(λ − z_i) + n_i φ(z_i − λ) + β/2 { p_i (z_i − 1)² + n_i (z_i + 1)² }
    ∂l/∂z_i = n_i − m_i q_i + β { p_i (z_i − 1) + n_i (z_i + 1) }
    ∂l/∂λ   = Σ m_i q_i − n_i

`crates/ubauc/src/solver/mini_batch.rs` has the derivation, and computes all of it in one call for
tensors of the processor: there a dozen operations of PyTorch on a thousand numbers would spend
their time on being called. Here is the same on tensors, for other devices and for compiled graphs.
Tests compare the two.
"""

import torch
from torch.autograd.function import once_differentiable
from torch.nn.functional import logsigmoid

from .. import _core
from ._threshold import best_threshold, share_below


class Known(torch.autograd.Function):
    """A value whose derivatives by logits and threshold were computed with it."""

    @staticmethod
    def forward(ctx, logits, threshold, value, by_logits, by_threshold):
        ctx.save_for_backward(by_logits, by_threshold)
        ctx.dtypes = logits.dtype, threshold.dtype
        return value

    @staticmethod
    @once_differentiable
    def backward(ctx, grad):
        by_logits, by_threshold = ctx.saved_tensors
        of_logits, of_threshold = ctx.dtypes
        threshold = None
        if ctx.needs_input_grad[1]:
            threshold = (by_threshold * grad).sum().to(of_threshold)
        return (by_logits * grad).to(of_logits), threshold, None, None, None


def on_processor(logits, target, weight, class_weights, loss, threshold):
    """Sum of l_i, ∂l/∂z, λ and ∂l/∂λ: a number, a tensor in doubles, two numbers.

    `class_weights` are numbers, `loss` is κ and β, `threshold` a number and whether to minimise
    over it from there.
    """
    weight = None if weight is None else _doubles(weight)
    found = _core.batch_loss(
        *(_doubles(logits), _doubles(target), weight, class_weights, loss, threshold)
    )
    value, slopes, threshold, by_threshold = found
    return value, torch.from_numpy(slopes).reshape(logits.shape), threshold, by_threshold


def _doubles(tensor):
    return tensor.detach().to(torch.float64).reshape(-1).numpy()


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
