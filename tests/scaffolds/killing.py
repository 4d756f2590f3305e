"""Trajectories in processes of their own that are killed at a write, as `tests.experiments.warm` does it for the whole command.

    with Killing() as killing:
        code = killing.start(path, "geak", seed=1, kill_at=7)

Replies take random times, and the executor is noisy: a candidate's speed is what its label says, give or take.
"""

import asyncio
import json
import os
import random
import sys
import traceback
from pathlib import Path
from typing import Any

from tests.companion import Companion

NEVER = 0


class Killing(Companion):
    def __init__(self) -> None:
        super().__init__("tests.scaffolds.killing")

    def start(self, path: Path, name: str, seed: int, kill_at: int = NEVER, noise: int | None = None) -> dict[str, Any]:
        """One start of the trajectory: `returncode`, negative for a signal, and for one that ended `writes`, `asked` and `judged`.

        Noise is of the candidate, or with `noise` of this start too.
        """
        return self.ask(path=str(path), name=name, seed=seed, kill_at=kill_at, noise=noise)


async def trajectory_of(path: str, name: str, seed: int, noise: int | None) -> dict[str, int]:
    from experiments.store import RunStore, call_record
    from tests.scaffolds.family import start
    from tests.scaffolds.scripted import TableExecutor, chaotic, context
    from tools.evaluation import Evaluation

    class Noisy(TableExecutor):
        async def evaluate(self, candidate: str, task: Any, settings: Any) -> Evaluation:
            done = await super().evaluate(candidate, task, settings)
            if done.timing is not None and done.timing.speedup is not None:
                done.timing.speedup *= random.Random(f"{noise}/{candidate}").uniform(0.9, 1.1)
            return done

    store = RunStore(Path(path))
    jitter = random.randrange(10**9)
    ctx = context(chaotic(seed), store, Noisy(jitter), jitter=jitter, seed=seed)
    ctx.ledger.restore([call_record(c) for c in store.calls])
    await start(name, ctx)
    await store.saved()
    store.close()
    return {"asked": len(ctx.caller.model.requests), "judged": len(ctx.executor.judged)}  # type: ignore[attr-defined]


def child(path: str, name: str, seed: int, kill_at: int, noise: int | None, report: int) -> int:
    from tests.experiments.warm import Countdown

    countdown = Countdown(kill_at)
    countdown.install()
    counts = asyncio.run(trajectory_of(path, name, seed, noise))
    os.write(report, json.dumps({**counts, "writes": countdown.writes}).encode())
    return 0


def main() -> None:
    from importlib import import_module

    for name in ("langgraph.graph", "experiments.store", "tests.scaffolds.family"):
        import_module(name)
    for line in sys.stdin:
        asked = json.loads(line)
        read, report = os.pipe()
        pid = os.fork()
        if not pid:
            code = 70
            try:
                code = child(**asked, report=report)
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stderr.flush()
                os._exit(code)
        os.close(report)
        status = os.waitpid(pid, 0)[1]
        with os.fdopen(read) as counted:
            told = json.loads(counted.read() or "{}")
        print(json.dumps({"returncode": os.waitstatus_to_exitcode(status), **told}), flush=True)


if __name__ == "__main__":
    main()
