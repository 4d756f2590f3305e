"""What tests of the executor ask it."""

import asyncio
from collections.abc import Callable, Iterator

import pytest

from tools.evaluation import Evaluation
from tools.executor.local import LocalExecutor
from tools.settings import Settings
from tools.tasks import find

SETTINGS = Settings(device="simulated", import_s=5.0, case_s=5.0, profile="off")
"""Without modelled time, which changes no verdict and has tests of its own."""


@pytest.fixture
def evaluate(executor: LocalExecutor) -> Callable[..., Evaluation]:
    """`evaluate(source, task_id, settings)` on the warm executor."""

    def run(source: str, task: str = "quick/softmax", settings: Settings = SETTINGS) -> Evaluation:
        return asyncio.run(executor.evaluate(source, find(task), settings))

    return run


@pytest.fixture(scope="session")
def on_device() -> Iterator[LocalExecutor]:
    """The first GPU, for tests that are marked `gpu`."""
    made = LocalExecutor(workers=1, gpus=(0,))
    yield made
    asyncio.run(made.close())
