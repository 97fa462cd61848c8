"""The AUC of a validation loop."""

import math
from typing import NamedTuple

import torch

from ..metrics import StreamingAUC


class AUCEstimate(NamedTuple):
    """AUC of the examples so far, and how wrong it can be.

    `auc` and `error_bound` are NaN where one class is missing; `reason` then says which.
    """

    auc: float
    error_bound: float
    n_neg: int
    n_pos: int
    reason: str | None = None


class RunningAUC(StreamingAUC):
    """AUC of batches of tensors in constant memory, with a computed bound of its error.

    `ubauc.metrics.StreamingAUC` for tensors: detached, from any device, of any shape and floating
    type. Scores are counted in ``2 ** bits`` buckets by their leading bits; the AUC of all examples
    so far is within `error_bound` of the estimate. Counts are integers: any order of batches,
    merges and processes gives the same answer.

    Parameters
    ----------
    bits : int, default=20
        Buckets are ``2 ** bits``, of 16 bytes each; from 1 to 24.

    Examples
    --------
    >>> import torch
    >>> from ubauc.torch import RunningAUC
    >>> auc = RunningAUC()
    >>> for logits, target in [([0.1, 0.9], [0, 1]), ([0.8, 0.7], [0, 1])]:
    ...     auc.update(torch.tensor(logits), torch.tensor(target))
    RunningAUC(bits=20)
    RunningAUC(bits=20)
    >>> auc.compute()
    AUCEstimate(auc=0.75, error_bound=0.0, n_neg=2, n_pos=2, reason=None)
    """

    def __init__(self, bits=20):
        super().__init__(bits)

    def update(self, logits, target):
        """Count a batch, of one class or both.

        Parameters
        ----------
        logits : tensor
            Scores, of any shape; with NaN among them nothing is counted.
        target : tensor of the same shape
            0 or False for negatives, 1 or True for positives.

        Returns
        -------
        self : RunningAUC
        """
        if logits.shape != target.shape:
            raise ValueError(
                f"target has the shape {tuple(target.shape)}, logits {tuple(logits.shape)}: "
                "they must be equal"
            )
        target = target.detach().reshape(-1).cpu()
        positive = target == 1
        if not (positive | (target == 0)).all():
            raise ValueError("target has values other than 0 and 1")
        scores = logits.detach().reshape(-1).to("cpu", torch.float64)
        return super().update(positive.numpy(), scores.numpy())

    def compute(self):
        """The AUC so far, its error bound, and the numbers of examples: an `AUCEstimate`."""
        n_neg, n_pos = self.n_neg, self.n_pos
        if not (n_neg and n_pos):
            missing = "positives" if n_neg else "negatives"
            reason = f"no {missing} among {n_neg + n_pos}" if n_neg + n_pos else "no examples"
            return AUCEstimate(math.nan, math.nan, n_neg, n_pos, reason)
        return AUCEstimate(self.value(), self.error_bound(), n_neg, n_pos)

    def reset(self):
        """Forget all examples.

        Returns
        -------
        self : RunningAUC
        """
        self._buckets = type(self._buckets)(self._buckets.bits)
        return self

    def all_reduce(self, group=None):
        """The AUC of the examples of all processes: a new one, the same in each.

        The counts of this process stay as they are, so that it may be called again.

        Parameters
        ----------
        group : torch.distributed.ProcessGroup, default=None
            None is all processes. Without an initialised process group it is a copy.

        Returns
        -------
        merged : RunningAUC
        """
        states = [self.__getstate__()]
        if torch.distributed.is_available() and torch.distributed.is_initialized():
            states = [None] * torch.distributed.get_world_size(group)
            torch.distributed.all_gather_object(states, self.__getstate__(), group=group)
        merged = RunningAUC(self._buckets.bits)
        for state in states:
            other = RunningAUC.__new__(RunningAUC)
            other.__setstate__(state)
            merged.merge(other)
        return merged

    def __repr__(self):
        return f"RunningAUC(bits={self._buckets.bits})"
