"""Rows on a Dask cluster: the same certified solver, and AUC with its interval."""
