"""On a Dask cluster: rows stay where they are. Needs Dask: ``pip install 'ubauc[dask]'``."""

from ._auc import roc_auc, roc_auc_ci

__all__ = ["roc_auc", "roc_auc_ci"]
