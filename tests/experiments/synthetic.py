"""Large stores of runs, drawn at random in the real layout and schema, written fast: no texts, and no line is made by the real store."""

import json
import math
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

from agents.models.base import Identity
from agents.prices import Prices
from experiments.runs import Run
from experiments.store import RunStore

SCAFFOLDS = ("oneshot", "geak", "evolve", "multiagent", "reflexion")
CATEGORIES = ("Activation", "Fusion", "Index", "Loss", "Math", "MatrixMultiply", "Normalization", "Quantization", "Reduce")
ROLES = ("planner", "generator", "reflector", "judge")
"""Asked in this order in every round: as many calls for each attempt."""
FAILURES = (("compile_error", "compile"), ("runtime_error", "correctness"), ("wrong_numeric", "correctness"), ("not_triton", "static"))
MODEL = "openai/x"
RATES = {"input": 1.25, "cache_read": 0.125, "output": 10.0}
KERNEL = "0123456789abcdef" * 4
Line = tuple[str, dict[str, Any]]


def write(path: Path, tasks: int = 400, scaffolds: int = 5, rounds: int = 5, seed: int = 0) -> list[Run]:
    """A run of each of up to five scaffolds, in folders of `path`; the first one on a device, the others simulated.

    One attempt and four calls a round. Tasks differ in difficulty, scaffolds in skill, a trajectory goes on from its last speedup. One try
    in 200 has no known usage. One task in 50 is added that was asked for and not begun: attempts are tasks x scaffolds x rounds.
    """
    names = {
        f"big/t{i}": {"sha": f"{i:016x}", "category": CATEGORIES[i % len(CATEGORIES)], "suite": "big"} for i in range(tasks + tasks // 50)
    }
    return [one(path / f"s{number}", names, tasks, number, rounds, Random(seed * 1000 + number)) for number in range(scaffolds)]


def one(path: Path, tasks: dict[str, dict[str, str]], begun: int, number: int, rounds: int, random: Random) -> Run:
    scaffold, simulated = SCAFFOLDS[number], number > 0
    known = {
        "created": 1.7e9, "asked": {"tasks": tasks, "seeds": [0]}, "scaffold": {"name": scaffold}, "model": MODEL, "roles": {},
        "device": {"platform": "cuda", "name": "model" if simulated else "GPU", "count": 1, "simulated": simulated}, "python": "3.11",
        "packages": {"torch": "2.11.0", "triton": "3.6.0"}, "revision": "0123456789abcdef",
    }  # fmt: skip
    table = Prices.load({MODEL: RATES})
    table.row(MODEL)
    RunStore.create(path, "seed: 0\n", known, table.to_dict()).close()
    files = {name: (path / f"{name}.jsonl").open("a") for name in ("attempts", "calls", "trajectories")}
    for index, (task, about) in enumerate(islice(tasks.items(), begun)):
        ease = 0.25 * math.sin(index) + 0.1 * number
        told = {"scaffold": scaffold, "model": MODEL, "seed": 0}
        for name, line in trajectory(task, about["category"], told, ease, simulated, rounds, random):
            files[name].write(json.dumps({"schema_version": 1, "run": path.name, **line}) + "\n")
    for file in files.values():
        file.close()
    return Run(path)


def trajectory(task: str, category: str, told: dict[str, Any], ease: float, simulated: bool, rounds: int, random: Random) -> Iterator[Line]:
    name, now, place = f"{task}@0", random.uniform(0, 3600), ease + random.gauss(0, 0.5)
    best: tuple[float, str | None] = (0.0, None)
    begun = now
    own = {"trajectory": name, "task": task, **told}
    for number in range(rounds):
        for role in ROLES:
            now += random.uniform(5, 60)
            yield "calls", call(Identity(name, role, number), now, random)
        passed = random.random() < 1 / (1 + math.exp(-2 * ease - 0.2 * number))
        place += random.gauss(0.1, 0.2)
        identity = Identity(name, "generator", number)
        yield "attempts", {**own, "category": category, **attempt(identity, passed, math.exp(place), simulated, random)}
        if passed and math.exp(place) > best[0]:
            best = (math.exp(place), identity.attempt)
    champion = best[1]
    yield "trajectories", {
        **own, "start": begun, "end": now + 5, "champion": champion, "kernel_sha": KERNEL if champion else None,
        "end_reason": "solved" if champion else "rounds", "error": None, "totals": {},
    }  # fmt: skip


def call(identity: Identity, now: float, random: Random) -> dict[str, Any]:
    known, input, output = random.random() >= 0.005, random.randint(500, 8000), random.randint(100, 4000)
    cached = random.choice([0, input // 2])
    usage = {"input": input - cached, "cache_read": cached, "cache_write_5m": 0, "cache_write_1h": 0, "output": output,
             "reasoning": output // 3}  # fmt: skip
    cost = ((input - cached) * RATES["input"] + cached * RATES["cache_read"] + output * RATES["output"]) / 1e6
    upper = ((input + 4096) * RATES["input"] + 4096 * RATES["output"]) / 1e6
    return {
        "call_id": identity.key, "identity": identity.__dict__, "provider": "openai", "model_asked": MODEL, "model_served": "x-1",
        "request_sha": KERNEL, "prompt_sha": KERNEL, "reply_sha": KERNEL if known else None,
        "sampling": {"temperature": None, "max_tokens": 4096, "seed": None}, "start": now - 4, "first_token": None, "end": now,
        "outcome": "ok" if known else "transport", "finish_reason": "stop" if known else None, "request_id": None, "error": None,
        "usage_raw": None, "usage": usage if known else None, "usage_source": "provider" if known else "none", "tier": "standard",
        "price_row": MODEL, "cost_usd": cost if known else None, "cost_upper": cost if known else upper,
        "tokens_upper": None if known else input + 4096, "parse": "ok" if known else None, "final": True, "replayed": None, "try": 1,
    }  # fmt: skip


def attempt(identity: Identity, passed: bool, speedup: float, simulated: bool, random: Random) -> dict[str, Any]:
    verdict, stage = ("pass", "timing") if passed else random.choice(FAILURES)
    measured, width = passed and not simulated, random.uniform(0.01, 0.1)
    return {
        "attempt": identity.attempt, "suite": "big", "round": identity.round, "role": "generator",
        "parents": [], "strategy": "", "kernel_sha": KERNEL, "verdict": verdict, "stage": stage,
        "compiled": passed or stage == "correctness", "correct": passed, "speedup": speedup if measured else None,
        "speedup_ci": [speedup * (1 - width), speedup * (1 + width)] if measured else None,
        "no_speedup": None if measured else "simulated device" if passed else f"ended with {verdict}",
        "modelled": speedup if passed and simulated else None, "baseline_us": 100.0 if measured else None,
        "candidate_us": 100.0 / speedup if measured else None, "calls": [identity.key], "tokens": 1000, "cost_usd": 0.01,
        "wall_s": random.uniform(1, 20), "gpu_s": random.uniform(0.1, 2) if measured else 0.0,
        "device": "model" if simulated else "GPU", "error_kind": None if passed else verdict, "error": None if passed else "drawn",
        "parse": "ok",
    }  # fmt: skip
