"""The univariate bound as a loss of logits."""

import math

import torch

from .. import _core
from ._bound import Known, on_tensors

# In place of a sum of 0, to divide by.
LEAST_SUM = 1e-18
_is_compiling = getattr(getattr(torch, "compiler", None), "is_compiling", lambda: False)


class UBAUCLoss(torch.nn.Module):
    """The univariate bound of AUC risk with least squares, in place of ``BCEWithLogitsLoss``.

    A sum over examples and not over pairs: O(n) for a batch of n, which may be of one class.

    Parameters
    ----------
    weight : tensor, default=None
        Weights of the elements, at least 0, of a shape that expands to that of the logits. Weights
        of a batch are an argument of the call; both are multiplied.
    reduction : {"mean", "sum", "none"}, default="mean"
        As in ``BCEWithLogitsLoss``: the mean divides by the number of elements and not by the sum
        of their weights. Do not weight the elements of "none" afterwards: the threshold is the best
        one for the weights given here.
    pos_weight : tensor or float, default=None
        Weight of positives, as in ``BCEWithLogitsLoss``: above 1 for fewer false negatives,
        below 1 for fewer false positives. A vector has an element for each of the logits' last
        dimension. It multiplies what `class_weight` gives.
    softness : float, default=1.0
        κ, at least 0; 0 is the hinge of the paper and needs a `beta` above 0.
    beta : float, default=0.1
        Weight of the least squares, at least 0. They draw the logits to -1 and 1.
    class_weight : {"balanced", None}, default=None
        "balanced" gives each class half of the weight of all examples so far, S/(2 S_y) each, S
        being sums of weights: training adds the batch to `class_sums`, evaluation does not.
    threshold : {"exact", "parameter"}, default="exact"
        "exact" minimises over the threshold in each batch: no learning rate, no bias of the last
        layer can be in the way, and the loss does not change where all logits are shifted but for
        the least squares. The minimum over a small batch is too small on average; so "parameter"
        has one threshold for all batches, which the optimiser learns: give it
        ``[*model.parameters(), *loss.parameters()]``. Choose it where batches have
        few positives. A batch of one class has no best threshold: "exact" then takes the running
        average.
    momentum : float, default=0.1
        Share of a batch's threshold in the running average, in (0, 1].

    Attributes
    ----------
    threshold : tensor without shape
        The parameter, or the running average of exact thresholds, at first 0. Scores above it are
        those that the bound counts as positive.
    class_sums : tensor of shape (2,)
        Weights of negatives and positives so far; for `class_weight="balanced"` only.

    Notes
    -----
    With y_i = ±1, logits z_i and weights a_i, the weight of an element times that of its class:

    .. code-block:: text

        L(z) = 1/n min_λ Σ_i a_i { φ(y_i(λ − z_i)) + β/2 (y_i − z_i)² }
        φ(t) = max(0, t) for the softness κ = 0, else κ ln(1 + exp(t/κ))

    It is what `ubauc.UBAUCClassifier` minimises, less the regulariser: Eq. (8) of the paper and its
    soft form; the bias of the last layer is the intercept. With ``beta=0``, ``softness=1`` and a
    threshold of 0 it is ``BCEWithLogitsLoss``. A target between 0 and 1 is a mixture of both
    classes, as in cross entropy.

    Logits in float16 and bfloat16 are computed with in float32, and the loss is float32. There is
    no second derivative. The state of a loss is part of its ``state_dict``. Each process counts its
    own classes and averages its own thresholds.

    References
    ----------
    S. Lyu and Y. Ying. A Univariate Bound of Area Under ROC. UAI 2018.

    Examples
    --------
    >>> import torch
    >>> from ubauc.torch import UBAUCLoss
    >>> loss = UBAUCLoss(class_weight="balanced")
    >>> logits = torch.tensor([-0.5, 0.5, 0.0, 0.2], requires_grad=True)
    >>> loss(logits, torch.tensor([0.0, 1.0, 0.0, 0.0])).backward()
    >>> bool(logits.grad[1] < 0 < logits.grad[0])
    True
    """

    def __init__(
        self,
        weight=None,
        *,
        reduction="mean",
        pos_weight=None,
        softness=1.0,
        beta=0.1,
        class_weight=None,
        threshold="exact",
        momentum=0.1,
    ):
        super().__init__()
        _one_of("reduction", reduction, ("mean", "sum", "none"))
        _one_of("class_weight", class_weight, (None, "balanced"))
        _one_of("threshold", threshold, ("exact", "parameter"))
        for name, value in (("softness", softness), ("beta", beta)):
            if not (value >= 0 and math.isfinite(value)):
                raise ValueError(f"{name} = {value!r}: must be finite and at least 0")
        if softness == 0 and beta == 0:
            raise ValueError("beta = 0: must be above 0 where the softness is 0, or all logits tie")
        if not 0 < momentum <= 1:
            raise ValueError(f"momentum = {momentum!r}: must be in (0, 1]")
        self.reduction, self.class_weight = reduction, class_weight
        self.softness, self.beta, self.momentum = float(softness), float(beta), float(momentum)
        self.register_buffer("weight", _weights("weight", weight))
        self.register_buffer("pos_weight", _weights("pos_weight", pos_weight))
        sums = torch.zeros(2) if class_weight == "balanced" else None
        self.register_buffer("class_sums", sums)
        if threshold == "parameter":
            self.threshold = torch.nn.Parameter(torch.zeros(()))
        else:
            self.register_buffer("threshold", torch.zeros(()))
        self._is_exact = threshold == "exact"
        self._knows_targets = False

    def forward(self, input, target, weight=None):
        """The loss of a batch.

        Parameters
        ----------
        input : tensor
            Logits, of any shape and floating type.
        target : tensor of the same shape
            0 or False for negatives, 1 or True for positives.
        weight : tensor, default=None
            Weights of the elements, at least 0; a weight of 0 masks an element.

        Returns
        -------
        loss : tensor
            Without shape, or of the shape of the logits where `reduction` is "none".
        """
        self._check(input, target, weight)
        is_scalar = self.pos_weight is None or self.pos_weight.numel() == 1
        is_one_value = self.reduction != "none" and is_scalar and input.numel()
        if is_one_value and input.device.type == "cpu" and not _is_compiling():
            return self._by_library(input, target, self._weight_of(weight, input.shape))
        return self._by_tensors(input, target, weight)

    def extra_repr(self):
        threshold = "exact" if self._is_exact else "parameter"
        return (
            f"softness={self.softness:g}, beta={self.beta:g}, class_weight={self.class_weight!r}, "
            f"threshold={threshold!r}, reduction={self.reduction!r}"
        )

    def _by_library(self, input, target, weight):
        """On the CPU, by the library: `crates/ubauc/src/solver/logits.rs`."""
        buffers, threshold, counts = self._buffers, self.threshold, None
        sums = buffers["class_sums"]
        if sums is not None:
            counts = sums.tolist(), self.training
        pos_weight = buffers["pos_weight"]
        factors = (
            1.0,
            1.0 if pos_weight is None else pos_weight.item(),
            1 / input.numel() if self.reduction == "mean" else 1.0,
        )
        start, dtype = threshold.item(), _working(input.dtype)
        weight = None if weight is None else _array(weight, dtype)
        value, slopes, found, by_threshold, counted = _core.logit_loss(
            (_array(input, dtype), _array(target, dtype), weight),
            *((self.softness, self.beta), factors, start, self._is_exact, counts),
        )
        if self.training:
            if sums is not None:
                sums.copy_(torch.tensor(counted, dtype=torch.float64, device=sums.device))
            # Logits that are not finite, as where float16 overflows, leave it as it was.
            if self._is_exact and math.isfinite(value):
                threshold.fill_(start + self.momentum * (found - start))
        slopes = torch.from_numpy(slopes)
        if input.dim() != 1:
            slopes = slopes.reshape(input.shape)
        at = None if self._is_exact else threshold
        return Known.apply(input, at, value, slopes, by_threshold)

    def _by_tensors(self, input, target, weight=None):
        """On any device, without a look at a number."""
        self._check_targets(target)
        dtype = _working(input.dtype)
        target, weight = target.detach().to(dtype), self._weight_of(weight, input.shape)
        of_negatives, of_positives = self._class_factors(target, weight)
        positive, negative = target * of_positives, (1 - target) * of_negatives
        if weight is not None:
            positive, negative = positive * weight.to(dtype), negative * weight.to(dtype)
        if self.pos_weight is not None:
            positive = positive * self.pos_weight.to(dtype)
        start = self.threshold.detach()
        value, slopes, found, by_threshold = on_tensors(
            *(input.detach().to(dtype), negative.expand(input.shape), positive),
            *((self.softness, self.beta), start, self._is_exact),
        )
        if self._is_exact and self.training:
            is_finite = value.sum().isfinite() & found.isfinite()
            change = torch.where(is_finite, found - start, torch.zeros_like(found))
            self.threshold.add_(self.momentum * change)
        if self.reduction == "mean":
            share = 1 / max(input.numel(), 1)
            value, slopes, by_threshold = value.mean(), slopes * share, by_threshold * share
        elif self.reduction == "sum":
            value = value.sum()
        threshold = None if self._is_exact else self.threshold
        return Known.apply(input, threshold, value, slopes, by_threshold.to(self.threshold.dtype))

    def _weight_of(self, weight, shape):
        """The weights of the elements, `None` or of the shape of the logits."""
        given = [one for one in (self.weight, weight) if one is not None]
        if not given:
            return None
        given = [one.detach() for one in given]
        return (given[0] if len(given) == 1 else given[0] * given[1]).expand(shape)

    def _class_factors(self, target, weight):
        """S/(2 S_y) of all examples so far, for negatives and positives; 1 where not balanced."""
        if self.class_sums is None:
            return 1.0, 1.0
        target = target.to(self.class_sums.dtype)
        weight = torch.ones_like(target) if weight is None else weight.to(self.class_sums.dtype)
        positive = (weight * target).sum()
        batch = torch.stack((weight.sum() - positive, positive))
        if self.training:
            sums = self.class_sums.add_(batch)
        else:
            # Where a class was never counted the batch must do.
            sums = torch.where(self.class_sums.min() > 0, self.class_sums, self.class_sums + batch)
        # A class that never was has no example to weight; 0 times its factor must be 0.
        return (sums.sum() / (2 * sums.clamp(min=LEAST_SUM))).unbind()

    def _check(self, input, target, weight):
        if not input.is_floating_point():
            raise TypeError(f"logits are {input.dtype}: must be floating")
        if input.shape != target.shape:
            raise ValueError(
                f"target has the shape {tuple(target.shape)}, logits {tuple(input.shape)}: "
                "they must be equal"
            )
        for name, given in (("weight", self.weight), ("weight", weight)):
            _check_expands(name, given, input.shape)
        _check_expands("pos_weight", self.pos_weight, input.shape)
        if self.threshold.device != input.device:
            if not self._is_exact:
                raise ValueError(
                    f"the loss is on {self.threshold.device}, logits on {input.device}: "
                    "move it there, loss.to(device), before the optimiser is made"
                )
            self.to(input.device)

    def _check_targets(self, target):
        """Labels of -1 would be taken for two negatives.

        Elsewhere than on the CPU this waits for the device, so only the first batch is looked at.
        """
        if _is_compiling() or target.dtype == torch.bool or self._knows_targets:
            return
        if not ((target >= 0) & (target <= 1)).all():
            raise ValueError("target must be 0 for negatives and 1 for positives")
        self._knows_targets = target.device.type != "cpu"

    def _apply(self, fn, *args, **kwargs):
        """Sums and averages stay in single precision where a model is made half."""
        kept = {
            name: buffer
            for name, buffer in self._buffers.items()
            if name in ("class_sums", "threshold") and buffer is not None
        }
        super()._apply(fn, *args, **kwargs)
        for name, buffer in kept.items():
            moved = self._buffers[name]
            if moved.dtype in (torch.float16, torch.bfloat16):
                self._buffers[name] = buffer.to(moved.device)
        return self


def _array(tensor, dtype):
    """The elements for the library: the memory of the tensor where it can be."""
    tensor = tensor.detach()
    if tensor.dtype not in (dtype, torch.bool):
        tensor = tensor.to(dtype)
    return tensor.numpy()


def _working(dtype):
    """What is computed in."""
    return torch.float64 if dtype == torch.float64 else torch.float32


def _one_of(name, value, allowed):
    if value not in allowed:
        raise ValueError(f"{name} = {value!r}: must be one of {', '.join(map(repr, allowed))}")


def _weights(name, given):
    """Weights that are kept, as a tensor."""
    if given is None:
        return None
    given = torch.as_tensor(given)
    given = given if given.is_floating_point() else given.to(torch.float32)
    if not (given.isfinite() & (given >= 0)).all():
        raise ValueError(f"{name} must be finite and at least 0")
    return given.detach()


def _check_expands(name, given, shape):
    if given is None or given.dim() == 0 or given.shape == shape:
        return
    ends = zip(reversed(given.shape), reversed(shape), strict=False)
    if given.dim() > len(shape) or any(mine not in (1, theirs) for mine, theirs in ends):
        raise ValueError(
            f"{name} has the shape {tuple(given.shape)}, which does not expand to that of the "
            f"logits, {tuple(shape)}"
        )
