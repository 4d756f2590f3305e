"""What a large report costs: `python -m benchmarks.report run=DIR out=DIR [scaffolds=5] [tasks=400] [rounds=5]`.

Multiplies the first records of a real run (`run=`) into runs of `out=`, an attempt and four calls for each round, every kernel, prompt and
reply of its own: texts that share nothing are the worst case for the page's size and for colouring. Prints the page's size, the seconds
that it takes and the peak of memory.
"""

import hashlib
import json
import random
import resource
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from experiments.report import page
from experiments.runs import Run

ROLES = ("generator", "planner", "reflector", "judge")
WORDS = [f"{head}_{tail}" for head in ("tile", "row", "block", "mask", "scale", "acc", "offs", "ptr") for tail in range(200)]


def kernel(chance: random.Random, lines: int = 80) -> str:
    body = (
        f"    {chance.choice(WORDS)} = {chance.choice(WORDS)} * {chance.random():.3f} + tl.load({chance.choice(WORDS)})"
        for _ in range(lines)
    )
    return "\n".join((f"import triton\n\n\n@triton.jit\ndef {chance.choice(WORDS)}(x):", *body, ""))


def records(run: Run, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run.path / f"{name}.jsonl").read_text().splitlines()]


def put(folder: Path, text: str, end: str) -> str:
    sha = hashlib.sha256(text.encode()).hexdigest()
    (folder / f"{sha}{end}").write_text(text)
    return sha


def trajectory(path: Path, of: dict[str, list[dict[str, Any]]], task: str, rounds: int, chance: random.Random) -> Iterator[tuple[str, Any]]:
    name, told = f"{task}@0", {"run": path.name, "scaffold": path.name}
    for round in range(rounds):
        source = kernel(chance)
        sha, judged = put(path / "kernels", source, ".py"), chance.choice(of["evaluations"])
        for role in ROLES:
            asked = {"messages": [{"role": "user", "content": f"{role}\n```python\n{source}```\n{kernel(chance, 8)}"}], "tools": []}
            reply = {"text": kernel(chance, 8) + (source if role == "generator" else ""), "thinking": [], "tool_calls": []}
            texts = {
                "prompt_sha": put(path / "prompts", json.dumps(asked), ".json"),
                "reply_sha": put(path / "replies", json.dumps(reply), ".json"),
            }
            place = {**of["calls"][0]["identity"], "trajectory": name, "role": role, "round": round}
            yield "calls", {**of["calls"][0], **told, **texts, "identity": place, "call_id": f"{name}/{role}/{round}/0/0"}
        attempt = f"{round:03}.00.00"
        shown = {key: judged["evaluation"][key] for key in ("verdict", "compiled", "correct")}
        yield "evaluations", {**judged, **told, "trajectory": name, "attempt": attempt}
        yield "attempts", {**of["attempts"][0], **told, **shown, "trajectory": name, "task": task, "round": round, "attempt": attempt,
                           "kernel_sha": sha, "parents": [], "calls": [f"{name}/generator/{round}/0/0"], "seed": 0}  # fmt: skip
    yield "trajectories", {**of["trajectories"][0], **told, "trajectory": name, "task": task, "seed": 0}


def write(pattern: Run, path: Path, tasks: int, rounds: int, seed: int) -> Run:
    of = {name: records(pattern, name) for name in ("attempts", "calls", "evaluations", "trajectories")}
    for folder in ("kernels", "prompts", "replies"):
        (path / folder).mkdir(parents=True)
    for name in ("config.yaml", "prices.json"):
        shutil.copy(pattern.path / name, path)
    known = {f"big/t{i}": {"sha": "x", "category": f"C{i % 13}", "suite": "big"} for i in range(tasks)}
    environment = {**pattern.environment, "run_id": path.name, "asked": {"tasks": known, "seeds": [0]}}
    (path / "environment.json").write_text(json.dumps({**environment, "scaffold": {**environment["scaffold"], "name": path.name}}))
    chance = random.Random(seed)
    files = {name: (path / f"{name}.jsonl").open("w") for name in (*of, "choices")}
    for task in known:
        for name, record in trajectory(path, of, task, rounds, chance):
            files[name].write(json.dumps(record) + "\n")
    for file in files.values():
        file.close()
    return Run(path)


def main() -> int:
    told = dict(word.split("=", 1) for word in sys.argv[1:])
    out, sizes = Path(told["out"]), {"scaffolds": 5, "tasks": 400, "rounds": 5}
    scaffolds, tasks, rounds = (int(told.get(name, known)) for name, known in sizes.items())
    runs = [write(Run(Path(told["run"])), out / f"s{i}", tasks, rounds, i) for i in range(scaffolds)]
    begin = time.monotonic()
    shelf = page.write(runs, out / "report.html")
    took, peak = time.monotonic() - begin, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    size = (out / "report.html").stat().st_size / 1e6
    print(
        f"{scaffolds * tasks * rounds:,} attempts, {shelf.characters / 1e6:.0f} MB of texts, {shelf.plain / 1e6:.1f} MB of sources plain:"
    )
    print(f"{size:.1f} MB, {took:.1f} s, {peak:.0f} MiB at most")
    return 0


if __name__ == "__main__":
    sys.exit(main())
