"""The executor: compile, test and time a candidate in processes that it cannot reach."""

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from benchmark.task import Task
    from tools.evaluation import Evaluation
    from tools.settings import Settings


class Executor(Protocol):
    """Whatever turns a candidate into an `Evaluation`. A candidate's failure is data, never an exception."""

    async def evaluate(self, candidate: str, task: "Task", settings: "Settings") -> "Evaluation": ...

    async def close(self) -> None: ...
