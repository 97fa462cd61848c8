"""AUC and its statistics, from labels and scores.

Labels are of two classes, the larger one being positive unless `pos_label` says otherwise; scores
are higher for what is more likely positive. Ties count one half. What is counted is counted in
integers, so nothing depends on `n_jobs` or on the order of the examples.
"""

from ._auc import AUCInterval, partial_auc, roc_auc, roc_auc_ci
from ._average_precision import (
    AveragePrecisionInterval,
    average_precision,
    average_precision_ci,
)
from ._bound import UnivariateBound, univariate_bound
from ._compare import (
    DeLongTest,
    ModelComparison,
    PairedComparison,
    compare_models,
    delong_test,
)
from ._hand_till import hand_till
from ._recall_at_fpr import RecallInterval, recall_at_fpr_ci
from ._streaming import StreamingAUC

__all__ = [
    "AUCInterval",
    "AveragePrecisionInterval",
    "DeLongTest",
    "ModelComparison",
    "PairedComparison",
    "RecallInterval",
    "StreamingAUC",
    "UnivariateBound",
    "average_precision",
    "average_precision_ci",
    "compare_models",
    "delong_test",
    "hand_till",
    "partial_auc",
    "recall_at_fpr_ci",
    "roc_auc",
    "roc_auc_ci",
    "univariate_bound",
]
