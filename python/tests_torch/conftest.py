"""Tests of `ubauc.torch`: a group of their own, `make test-torch`, as PyTorch takes gigabytes."""

import pytest

try:
    import torch
except ImportError:
    torch = None


def pytest_report_header(config):
    if torch is None:
        return "NO TORCH: every test of ubauc.torch is SKIPPED (docs/torch.md says how to get it)"
    return f"torch {torch.__version__}"


def pytest_collection_modifyitems(items):
    if torch is None:
        for item in items:
            item.add_marker(pytest.mark.skip(reason="NO TORCH"))
