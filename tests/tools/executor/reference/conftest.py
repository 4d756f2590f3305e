"""Foreign files written by hand, described by a real reference sandbox."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from benchmark.errors import UserError
from benchmark.task import Task
from tools.evaluation import Evaluation
from tools.executor.local import LocalExecutor
from tools.settings import Settings
from tools.tasks import Finder

Find = Callable[..., Task]
SETTINGS = Settings(device="simulated", import_s=5.0, case_s=5.0, profile="off")


@pytest.fixture(scope="session")
def finder() -> Iterator[Finder]:
    with Finder() as made:
        yield made


@pytest.fixture
def own(finder: Finder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Find:
    """`own(text, function, **task_args)`: the task in a file `ops.py`."""
    monkeypatch.chdir(tmp_path)

    def find(text: str, function: str = "f", **args: object) -> Task:
        (tmp_path / "ops.py").write_text(text)
        return finder.find(f"./ops.py:{function}", args)

    return find


@pytest.fixture
def sentence(own: Find) -> Callable[..., str]:
    """What a user is told of a mistake."""

    def said(text: str, function: str = "f", **args: object) -> str:
        with pytest.raises(UserError) as error:
            own(text, function, **args)
        assert "\n" not in str(error.value)
        return str(error.value)

    return said


@pytest.fixture
def evaluate_task(executor: LocalExecutor) -> Callable[..., Evaluation]:
    """`evaluate_task(source, task)` on the warm executor."""

    def run(source: str, task: Task) -> Evaluation:
        return asyncio.run(executor.evaluate(source, task, SETTINGS))

    return run
