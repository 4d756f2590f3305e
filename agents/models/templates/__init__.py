"""The embedded model: a rule-based author that traces the reference and writes Triton. It needs no key and no network.

- trace (`trace`, `calls`, `patterns`, `dtypes`, `lower`, `graph`, `quiet`): the reference, called in every way that matters, becomes
  the author's own graph
- emit (`emit`, `plans`, `schedule`, `kernels`, `rows`, `products`, `ops`, `prelude`): the graph is cut into stages, and each becomes a
  kernel and its launch
- search (`search`): launch parameters
- answer (`answer`, `author`, `writers`, `menders`, `planning`, `reviews`, `flaws`): every role's reply; defects planted and mended
"""

import asyncio
import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from agents.models.base import Reply, Request, Usage
from benchmark.errors import UserError, unknown
from benchmark.task import Task

BYTES_PER_TOKEN = 4
"""Tokens are counted, not billed: one per four bytes of UTF-8, rounded up, of all messages and of the reply."""
OPTIONS = ("flaws", "seed")
THREAD = ThreadPoolExecutor(1, "templates")
"""One for all instances of a process: torch traces in one thread at a time."""


class Templates:
    """`args` may hold `flaws`, the probability of a planted defect in a fresh candidate, and `seed`. `tasks` finds a task by its id."""

    name = "templates"
    free = True
    sampling: dict[str, Any] = {}

    def __init__(self, args: dict[str, Any], tasks: Callable[[str], Task]):
        for key in args:
            if key not in OPTIONS:
                raise unknown("model_args key", key, OPTIONS)
        self.flaws = _number(args, "flaws", 0.0)
        if not 0 <= self.flaws <= 1:
            raise UserError(f"model_args.flaws={args['flaws']} is not a probability: give a number from 0 to 1.")
        seed = args.get("seed", 0)
        if isinstance(seed, bool) or not isinstance(seed, int):
            raise UserError(f"model_args.seed={seed!r} is not a whole number: give one such as 0.")
        self.seed = seed
        self.tasks = tasks

    async def complete(self, request: Request) -> Reply:
        """The answer to a brief; a task or role that it cannot do is declined, with the reason as text."""
        return await asyncio.get_running_loop().run_in_executor(THREAD, self.answer, request)

    async def close(self) -> None:
        """Nothing is held: the thread serves the other instances too."""

    def answer(self, request: Request) -> Reply:
        from agents.models.templates.answer import answer
        from agents.models.templates.author import Author
        from agents.models.templates.graph import Declined

        author = Author(self.tasks(request.brief.task_id), self.flaws, self.seed)
        try:
            text, finish = answer(author, request), "stop"
        except Declined as reason:
            text, finish = f"I decline: {reason}.\n", "declined"
        usage = Usage(input=sum(tokens(m["content"]) for m in request.messages), output=tokens(text))
        return Reply(text, self.name, finish, usage=usage, usage_raw={"input": usage.input, "output": usage.output}, usage_source="counted")


def tokens(text: str) -> int:
    return math.ceil(len(text.encode("utf-8", "replace")) / BYTES_PER_TOKEN)


def _number(args: dict[str, Any], key: str, default: float) -> float:
    value = args.get(key, default)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise UserError(f"model_args.{key}={value!r} is not a number: give one such as {default}.")
    return float(value)
