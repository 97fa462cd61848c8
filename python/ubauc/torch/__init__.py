"""AUC for PyTorch: the univariate bound as a loss of logits, and a running AUC with error bound.

Needs PyTorch: ``pip install 'ubauc[torch]'``.
"""

try:
    import torch  # noqa: F401
except ImportError as error:
    raise ImportError("ubauc.torch needs PyTorch: pip install 'ubauc[torch]'") from error

from ._loss import UBAUCLoss
from ._running_auc import AUCEstimate, RunningAUC

__all__ = ["AUCEstimate", "RunningAUC", "UBAUCLoss"]
