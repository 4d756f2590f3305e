"""The real executor on the simulated device, for kernels of ours, right and nearly right."""

import asyncio
from collections.abc import Callable, Iterator

import pytest
import torch

from benchmark.suites import find
from tools.evaluation import Evaluation
from tools.executor.local import LocalExecutor
from tools.settings import Settings


@pytest.fixture(autouse=True, scope="session")
def one_thread() -> None:
    """Cases are small: threads that wait for each other on a busy machine cost a hundred times what they save."""
    torch.set_num_threads(1)


@pytest.fixture
def evaluate(executor: LocalExecutor) -> Callable[[str, str], Evaluation]:
    """`evaluate(source, task_id)`."""
    settings = Settings(device="simulated", timing="off", profile="off")
    return lambda source, task: asyncio.run(executor.evaluate(source, find(task), settings))


@pytest.fixture(scope="session")
def on_device() -> Iterator[LocalExecutor]:
    """The first GPU, for tests that are marked `gpu`."""
    made = LocalExecutor(workers=1, gpus=(0,))
    yield made
    asyncio.run(made.close())
