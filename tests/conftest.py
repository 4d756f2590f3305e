"""Shared by all tests: GPU tests skip with a reason where there is no GPU, and no key of the machine's is in a test's reach."""

import os

import pytest

for name in [n for n in os.environ if n.endswith("_API_KEY") or n.startswith("LANGSMITH_") or n.startswith("LANGCHAIN_")]:
    del os.environ[name]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    marked = [item for item in items if item.get_closest_marker("gpu")]
    if not marked:
        return
    import torch

    if not torch.cuda.is_available():
        for item in marked:
            item.add_marker(pytest.mark.skip(reason="needs a GPU that torch can use"))
