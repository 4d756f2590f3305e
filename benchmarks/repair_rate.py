"""How often the embedded author mends its planted defects: with the evaluation digest, with the digest blanked, and by asking anew.

`python benchmarks/repair_rate.py [--suite quick] [--flaws 0.5] [--seeds 2]`: simulated mode, real executor. Every failing fresh candidate
is given to the repairer twice, with and without its digest, and the generator is asked once more without it.
"""

import argparse
import asyncio
from collections import Counter
from collections.abc import Callable

from agents import feedback, parsing
from agents.models.base import Brief, Identity, Request
from agents.models.templates import Templates
from benchmark import suites
from benchmark.task import Task
from tools.evaluation import Evaluation
from tools.executor.local import LocalExecutor
from tools.settings import Settings


class Trial:
    """Asks the author and judges what it writes."""

    def __init__(self, flaws: float, seed: int, executor: LocalExecutor):
        self.model = Templates({"flaws": flaws, "seed": seed}, suites.find)
        self.executor = executor

    async def ask(
        self, task: Task, role: str, round: int, brief: Callable[[str, str], Brief] = Brief
    ) -> tuple[str | None, Evaluation | None]:
        """The candidate and its evaluation; neither where the author declines."""
        identity = Identity(f"repair_rate/{task.id}", role, round)
        reply = await self.model.complete(Request(({"role": "user", "content": ""},), identity, brief(task.id, role)))
        source = parsing.code(reply.text, task.entry_name).source
        if source is None:
            return None, None
        return source, await self.executor.evaluate(source, task, Settings(device="simulated", timing="off"))

    async def run(self, task: Task, counts: dict[str, Counter[bool]]) -> None:
        source, fresh = await self.ask(task, "generator", 1)
        if fresh is None:
            print(f"{task.id}: declined", flush=True)
            return
        counts["fresh"][fresh.success] += 1
        if fresh.success:
            return
        digest = feedback.digest(fresh)
        ways = {
            "digest": ("repairer", lambda task_id, role: Brief(task_id, role, parent=source, digest=digest)),
            "blank": ("repairer", lambda task_id, role: Brief(task_id, role, parent=source, digest=None)),
            "anew": ("generator", Brief),
        }
        outcomes = []
        for name, (role, brief) in ways.items():
            _, evaluation = await self.ask(task, role, 2, brief)
            counts[name][evaluation is not None and evaluation.success] += 1
            outcomes.append(f"{name} {evaluation.verdict if evaluation else 'declined'}")
        print(f"{task.id}: {fresh.verdict}; {', '.join(outcomes)}", flush=True)


async def main(suite: str, flaws: float, seeds: int) -> None:
    executor = LocalExecutor()
    counts: dict[str, Counter[bool]] = {name: Counter() for name in ("fresh", "digest", "blank", "anew")}
    for seed in range(seeds):
        trial = Trial(flaws, seed, executor)
        for task in suites.load(suite).tasks:
            await trial.run(task, counts)
        await trial.model.close()
    await executor.close()
    titles = {
        "fresh": "fresh candidates that pass",
        "digest": "repairs that pass, with the digest",
        "blank": "repairs that pass, digest blanked",
        "anew": "resampled candidates that pass",
    }
    for name, title in titles.items():
        passed, total = counts[name][True], counts[name].total()
        print(f"{title:36} {passed:3} of {total:3}  {passed / total if total else 0:.2f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--suite", default="quick")
    parser.add_argument("--flaws", type=float, default=0.5)
    parser.add_argument("--seeds", type=int, default=2)
    options = parser.parse_args()
    asyncio.run(main(options.suite, options.flaws, options.seeds))
