"""Shared by all tests: one warm executor, no key of the machine's, and GPU tests that say why they are skipped without a GPU."""

import asyncio
import os
import random
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tools.executor.local import LocalExecutor

for name in [n for n in os.environ if n.endswith("_API_KEY") or n.startswith("LANGSMITH_") or n.startswith("LANGCHAIN_")]:
    del os.environ[name]
# What one test compiles must not make another one fast.
os.environ["KERNELWRIGHT_CACHE"] = "off"


@pytest.fixture(scope="session")
def executor() -> "Iterator[LocalExecutor]":
    """On the simulated device. Its processes take seconds to start, so a test starts others only to see them start or end."""
    from tools.executor.local import LocalExecutor

    made = LocalExecutor(workers=1)
    yield made
    asyncio.run(made.close())


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slow-sample", type=int, help="run at most so many of the slow tests, drawn with --slow-seed")
    parser.addoption("--slow-seed", type=int, default=0, help="of this sample, and of what `sampled` tests run by default")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    spread(config, items)
    sample(config, items)
    skip_without_gpu(items)


def spread(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Of a function marked `sampled(count)`, all parameters but so many, drawn with --slow-seed, are slow."""
    functions: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("sampled"):
            functions.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for own in functions.values():
        marker = own[0].get_closest_marker("sampled")
        assert marker is not None
        kept = random.Random(config.getoption("--slow-seed")).sample(own, min(marker.args[0], len(own)))
        for item in own:
            if item not in kept:
                item.add_marker(pytest.mark.slow)


def sample(config: pytest.Config, items: list[pytest.Item]) -> None:
    count, seed = config.getoption("--slow-sample"), config.getoption("--slow-seed")
    slow = [item for item in items if item.get_closest_marker("slow")]
    if count is not None and count < len(slow):
        kept = set(random.Random(seed).sample([item.nodeid for item in slow], count))
        left_out = [item for item in slow if item.nodeid not in kept]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in set(left_out)]


def skip_without_gpu(items: list[pytest.Item]) -> None:
    marked = [item for item in items if item.get_closest_marker("gpu")]
    if not marked:
        return
    import torch

    if not torch.cuda.is_available():
        for item in marked:
            item.add_marker(pytest.mark.skip(reason="needs a GPU that torch can use"))
