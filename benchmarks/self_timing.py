"""The baseline timed against itself, per operator and size: what the timing protocol makes of no difference at all.

`python benchmarks/self_timing.py [--suite quick] [--repeat 1]`: on a GPU. `across` is one judge against another, two processes as in an
evaluation; `within` one judge against itself, as every evaluation does it for one size. All should lie within [0.98, 1.02].
`slope` is the device time of a call by the clock on the wall, `least` what that clock allows a claim to be.
"""

import argparse
import math
import os
import random
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # Runs from a checkout that is not installed.

from benchmark.suites import load
from benchmark.task import Task
from tools.executor import memory
from tools.executor.channel import Message
from tools.executor.peer import ROOT, START_S, Peer
from tools.executor.stages.ladder import FLUSH_BYTES, SEALED_HOST_BYTES
from tools.executor.stages.timing import SEALED_BYTES, SETS, Contest, Seal, Side


class Judge:
    """A judge in a process of its own."""

    def __init__(self, cancelled: int):
        self.cancelled = cancelled
        self.peer = Peer("tools.executor.judge", dict(os.environ) | {"PYTHONPATH": str(ROOT)})
        self.device = self.peer.answer(cancelled, START_S)["device"]
        if self.device["simulated"]:
            sys.exit("There is no GPU here.")
        shared = self.ask({"op": "share", "gpu": 0, "user": "candidate"})
        self.fd, self.memory = (self.peer.channel.fds[0], shared) if "size" in shared else memory.host("device")

    def ask(self, request: Message) -> Message:
        answer = self.peer.ask(request, self.cancelled)
        if "invalid" in answer or "user_error" in answer:
            raise RuntimeError(str(answer))
        return answer

    def open(self, task: Task) -> None:
        place = f"{self.device['kind']}:0"
        self.peer.ask({"op": "open", "task": task.id, "sha": task.sha, "device": place, "memory": self.memory}, self.cancelled, (self.fd,))

    def time(self, request: Message) -> Message:
        """As a candidate it would give results too; nobody looks at them here."""
        return self.ask(request | {"of": "eager"}) | {"given": [{} for _ in request.get("sets", ())]}


def contest(judges: list[Judge], case: str, rng: random.Random) -> Contest:
    flush = max(2 * judges[0].device["l2_bytes"], FLUSH_BYTES)
    facts: Message = {}
    for number in range(SETS):
        seed = rng.randrange(1 << 48)
        for judge in judges:
            judge.ask({"op": "inputs", "case": case, "seed": seed, "compared": False})
            facts |= judge.ask({"op": "load", "set": number, "flush": flush})

    def draw(calls: int) -> list[Message]:
        request = {"op": "seal", "case": case, "seeds": [rng.randrange(1 << 48) for _ in range(calls)]}
        answers = [judge.ask(request) for judge in judges]
        found: list[Message] = answers[0]["sets"]
        return found

    sides: dict[str, Side] = dict(zip(("baseline", "candidate"), [judge.time for judge in judges], strict=True))
    instant = judges[0].memory["gpu"] is not None
    room = SEALED_BYTES if instant else SEALED_HOST_BYTES
    seal = Seal(draw, lambda call, node: None, room // facts["input_bytes"], room, instant)
    return Contest(sides, lambda call, values: None, rng, facts["flush_us"], facts["free_bytes"], seal)


def main(suite: str, repeat: int) -> None:
    cancelled, _ = os.pipe()
    judges = [Judge(cancelled) for _ in range(2)]
    rng, across, within, total = random.Random(), [], [], time.perf_counter()
    for task in load(suite).tasks:
        for judge in judges:
            judge.open(task)
        for case in [case.name for case in task.timing] * repeat:
            start = time.perf_counter()
            made = contest(judges, case, rng)
            loaded = time.perf_counter()
            size = made.run(case, 30.0)
            timed = time.perf_counter()
            itself, agreement = made.self_ratio(), made.agreement
            across.append(size.speedup)
            within.append(itself)
            warm = f"{size.warm['speedup']:.3f}" if size.warm else "  -  "
            print(
                f"{task.name:16} {case:24} across {size.speedup:.3f} [{size.ci[0]:.3f}, {size.ci[1]:.3f}] "
                f"warm {warm} within {itself:.3f} new {made.fresh:.2f}  "
                f"{size.baseline_us:9.2f} us, claim {agreement.claim:9.2f}, slope {agreement.slope:9.2f}, least {agreement.least:9.2f} "
                f"{'ok' if agreement.ok else 'TOO LOW'}  load {loaded - start:.2f} s, size {timed - loaded:.2f} s",
                flush=True,
            )
            for judge in judges:
                judge.ask({"op": "rest"})
    for name, ratios in (("across", across), ("within", within)):
        inside = sum(0.98 <= ratio <= 1.02 for ratio in ratios)
        spread = math.exp(max(abs(math.log(ratio)) for ratio in ratios))
        print(f"{name}: {inside} of {len(ratios)} within [0.98, 1.02], the furthest {spread:.3f}")
    print(f"{time.perf_counter() - total:.1f} s")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--suite", default="quick")
    parser.add_argument("--repeat", type=int, default=1)
    main(**vars(parser.parse_args()))
