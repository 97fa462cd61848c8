"""Rows on a Dask cluster, where they stay: the same certified solver, and AUC with its interval.

Needs Dask: ``pip install 'ubauc[dask]'``.
"""

try:
    import dask.array
    import dask.dataframe  # noqa: F401
    import distributed  # noqa: F401
except ImportError as error:
    raise ImportError("ubauc.dask needs Dask: pip install 'ubauc[dask]'") from error

from ._auc import roc_auc, roc_auc_ci
from ._estimator import DaskUBAUCClassifier
from ._workers import SchedulerGone

__all__ = ["DaskUBAUCClassifier", "SchedulerGone", "roc_auc", "roc_auc_ci"]
