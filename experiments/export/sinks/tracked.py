"""What a tracker is told of a run: its configuration, figures of the whole, the course of the best so far, and every attempt.

Text is redacted: a key that an environment variable of this process holds is nowhere in it, whatever the records hold.
"""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from benchmark.errors import UserError
from benchmark.secrets import redact
from experiments import records
from experiments.export import tries
from experiments.runs import Run

Record = dict[str, Any]
COLUMNS = ("trajectory", "attempt", "task", "category", "suite", "scaffold", "model", "seed", "round", "role", "verdict", "stage",
           "compiled", "correct", "speedup", "speedup_low", "speedup_high", "no_speedup", "modelled", "baseline_us", "candidate_us",
           "tokens", "cost_usd", "wall_s", "gpu_s", "device", "kernel_sha", "strategy", "error_kind", "error")  # fmt: skip
"""Of the table of attempts."""
SPEEDUPS = {"speedup": "speedup_over_all", "modelled": "modelled_over_all"}
"""Fields of an attempt, and the names of their geometric means over all that was asked."""


def library(name: str, called: str) -> ModuleType:
    """An optional dependency, or one sentence that tells how to have it."""
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        raise UserError(f"format={name} needs {called}, which is not installed: pip install 'kernelwright[{name}]'.") from None


def config(run: Run) -> Record:
    """The resolved configuration, and what it met: versions, device, machine, tasks and seeds."""
    kept = ("asked", "scaffold", "model", "roles", "device", "machine", "python", "packages", "revision")
    return clean({"run": run.run_id, "config": run.config, "environment": {key: run.environment.get(key) for key in kept}})


def clean(body: Any) -> Any:
    """Redacted text all through."""
    if isinstance(body, Mapping):
        return {redact(str(key)): clean(value) for key, value in body.items()}
    if isinstance(body, list | tuple):
        return [clean(value) for value in body]
    return redact(body) if isinstance(body, str) else body


def flat(body: Mapping[str, Any], place: str = "") -> Iterator[tuple[str, str]]:
    """`("config.scaffold.rounds", "5")` for every leaf; a list is one leaf, as JSON."""
    for key, value in body.items():
        if isinstance(value, Mapping):
            yield from flat(value, f"{place}{key}.")
        else:
            yield f"{place}{key}", value if isinstance(value, str) else json.dumps(value)


def summary(run: Run) -> dict[str, float]:
    """Figures of the whole run that are known: counts, tokens by kind, USD, shares of what was asked, and geometric means over all asked,
    where a failure counts as 1.0. Measured and modelled speedups stand apart; a run without a clock has no measured one.

    Where the tokens or the cost of a try are unknown, `tokens` or `usd` are missing, and `_at_least` and `_at_most` bound them.
    """
    *_, last = [{"solved_share": 0.0, "compiled_share": 0.0}, *history(run)]
    solved = round(last["solved_share"] * len(run.asked))
    counts = {
        "asked": len(run.asked), "solved": solved, "attempts": len(run.attempts), "calls": len({call["call_id"] for call in run.calls}),
        "passed": sum(attempt["verdict"] == "pass" for attempt in run.attempts), "tries": len(run.calls),
    }  # fmt: skip
    spent = tries.spent(run.calls)
    per = {f"{key}_per_success": spent[key] / solved for key in ("tokens", "usd") if solved and key in spent}
    kept = ("solved_share", "compiled_share", *SPEEDUPS.values(), "gpu_s")
    return {**counts, **spent, **per, **{key: last[key] for key in kept if key in last}}


def history(run: Run) -> Iterator[dict[str, float]]:
    """After each attempt, in the order in which they were written: the best so far over all that was asked, and what was spent by then.

    `tokens` and `usd` are what is known of calls that had ended when the attempt's last call had; `speedup_over_all` and
    `modelled_over_all` are missing while the best of a solved trajectory has none.
    """
    asked = max(len(run.asked), 1)
    spent = Spent(run.calls)
    ends = {call["call_id"]: call["end"] for call in run.calls}
    best: dict[str, Record] = {}
    compiled: set[str] = set()
    now = gpu_s = 0.0
    means = {key: Mean(asked) for key in SPEEDUPS}
    for attempt in run.attempts:
        now = max([now, *(ends[call] for call in attempt["calls"] if call in ends)])
        gpu_s += attempt["gpu_s"]
        if attempt["compiled"]:
            compiled.add(attempt["trajectory"])
        before = best.get(attempt["trajectory"])
        if attempt["verdict"] == "pass" and (before is None or records.standing(attempt) > records.standing(before)):
            best[attempt["trajectory"]] = attempt
            for key, mean in means.items():
                mean.replace(before, attempt, key)
        shares = {"solved_share": len(best) / asked, "compiled_share": len(compiled) / asked}
        found = {SPEEDUPS[key]: mean.value for key, mean in means.items() if mean.value is not None}
        yield {**shares, **found, **spent.until(now), "gpu_s": gpu_s}


class Mean:
    """The geometric mean over all asked of the best of each, kept up to date; None while one of them has no value, or none has."""

    def __init__(self, asked: int):
        self.asked = asked
        self.logs = 0.0
        self.known = self.unknown = 0

    def replace(self, before: Record | None, after: Record, key: str) -> None:
        for attempt, sign in ((before, -1), (after, 1)):
            if attempt is not None and attempt[key] is not None:
                self.logs += sign * math.log(attempt[key])
                self.known += sign
            elif attempt is not None:
                self.unknown += sign

    @property
    def value(self) -> float | None:
        return None if self.unknown or not self.known else math.exp(self.logs / self.asked)


class Spent:
    """Known tokens and USD of calls by their end; asked in the order of time."""

    def __init__(self, calls: Sequence[Record]):
        self.left = sorted(calls, key=lambda call: float(call["end"]), reverse=True)
        self.tokens = 0
        self.usd = 0.0

    def until(self, now: float) -> dict[str, float]:
        while self.left and self.left[-1]["end"] <= now:
            call = self.left.pop()
            self.tokens += records.tokens([call])["total"]
            self.usd += call["cost_usd"] or 0.0
        return {"tokens": self.tokens, "usd": self.usd}


def row(attempt: Record) -> list[Any]:
    """An attempt by `COLUMNS`."""
    low, high = attempt["speedup_ci"] or (None, None)
    return [clean(value) for value in ({**attempt, "speedup_low": low, "speedup_high": high}[key] for key in COLUMNS)]


def champions(run: Run) -> dict[str, Path]:
    """The best kernel of each task that has one, by its name `suite/task.py`."""
    folder = run.path / "best"
    return {str(path.relative_to(folder)): path for path in sorted(folder.rglob("*.py"))}
