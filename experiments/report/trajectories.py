"""What the page holds of one trajectory: attempts, calls and evaluations, their texts as references to a shelf."""

import json
from collections.abc import Iterable
from contextlib import suppress
from functools import lru_cache

from experiments.report.lines import Lines, Record
from experiments.report.texts import Ref, Shelf
from experiments.runs import Run
from tools.evaluation import NO_VERDICT

ATTEMPT = ("attempt", "round", "role", "parents", "strategy", "kernel_sha", "verdict", "stage", "compiled", "correct", "speedup",
           "speedup_ci", "no_speedup", "modelled", "calls", "tokens", "cost_usd", "wall_s", "gpu_s", "device", "error_kind", "error",
           "parse")  # fmt: skip
CALL = ("call_id", "try", "model_asked", "model_served", "outcome", "finish_reason", "error", "usage", "usage_source", "tier",
        "price_row", "cost_usd", "cost_upper", "tokens_upper", "sampling", "start", "first_token", "end", "parse", "final",
        "replayed")  # fmt: skip
EVALUATION = ("verdict", "stage", "mode", "error", "launches", "memory", "adversarial", "torch_work", "timing", "no_timing", "profile",
              "resources", "task_sha")  # fmt: skip
CONDITIONS = ("platform", "device", "isolation", "data_path", "versions", "environment_sha", "settings_sha")
"""The same for most evaluations of a run, and therefore a piece of their own."""


Part = tuple[str, Ref]
"""A message's role, or the name of a part of a reply, and its text."""


def standing(attempt: Record) -> str:
    """`pass`, `wrong` (compiled), `broken` (not compiled), or `none` where the verdict says nothing of the candidate."""
    if attempt["verdict"] in NO_VERDICT:
        return "none"
    return "pass" if attempt["verdict"] == "pass" else "wrong" if attempt["compiled"] else "broken"


class Reader:
    """Reads trajectories of one run; what is in memory grows with the number of records, not with their size."""

    def __init__(self, run: Run, shelf: Shelf):
        self.run = run
        self.shelf = shelf
        self.attempts = lines(run, "attempts")
        self.calls = lines(run, "calls")
        self.evaluations = lines(run, "evaluations")
        self.endings = lines(run, "trajectories")
        self.kernel = lru_cache(4096)(self.kernel_of)
        self.prompt = lru_cache(4096)(self.prompt_of)
        self.reply = lru_cache(4096)(self.reply_of)

    def trajectory(self, name: str) -> Record:
        evaluations = {judged(record): record["evaluation"] for record in self.evaluations.read(name)}
        attempts = [self.attempt(record, evaluations.get(record["attempt"])) for record in self.attempts.read(name)]
        return {
            "attempts": sorted(attempts, key=lambda record: (record["round"], record["attempt"])),
            "calls": [self.call(record) for record in self.calls.read(name)],
            "error": next((record["error"] for record in reversed(self.endings.read(name))), None),
        }

    def attempt(self, record: Record, evaluation: Record | None) -> Record:
        return {
            **picked(record, ATTEMPT),
            "standing": standing(record),
            "kernel": self.kernel(record["kernel_sha"]) if record["kernel_sha"] else None,
            "evaluation": self.evaluation(evaluation) if evaluation else None,
        }

    def evaluation(self, record: Record) -> Record:
        logs = record.get("logs") or {}
        return {
            **picked(record, EVALUATION),
            "cases": record["cases"],
            "compile": [{**target, "kernels": counted(target["kernels"])} for target in record["compile"]],
            "modelled": {key: value for key, value in (record["modelled"] or {}).items() if key != "counts"} or None,
            "conditions": self.shelf.piece(json.dumps(picked(record, CONDITIONS))),
            "logs": {name: self.shelf.text(logs[name]) for name in ("stdout", "stderr") if logs.get(name)},
        }

    def call(self, record: Record) -> Record:
        place = record["identity"]
        return {
            **picked(record, CALL),
            **picked(place, ("role", "round", "lineage", "sample", "fork")),
            "prompt": self.prompt(record["prompt_sha"]),
            "reply": self.reply(record["reply_sha"]) if record["reply_sha"] else None,
        }

    def kernel_of(self, sha: str) -> list[list[int]] | None:
        """None where the text is not there, as in a store that was thinned out."""
        with suppress(FileNotFoundError):
            return self.shelf.code(self.run.kernel(sha))
        return None

    def prompt_of(self, sha: str) -> list[Part] | None:
        """The messages by role; tools as a message of their own."""
        with suppress(FileNotFoundError):
            body = self.run.prompt(sha)
            tools = [{"role": "tools", "content": body["tools"]}] if body["tools"] else []
            return [(message["role"], self.shelf.text(said(message))) for message in (*tools, *body["messages"])]
        return None

    def reply_of(self, sha: str) -> list[Part] | None:
        with suppress(FileNotFoundError):
            body = self.run.reply(sha)
            parts = [(key, body.get(key)) for key in ("thinking", "text", "tool_calls")]
            return [(key.replace("_", " "), self.shelf.text(said({"content": part}))) for key, part in parts if part]
        return None


def judged(record: Record) -> str:
    """The attempt that an evaluation belongs to; older runs have the identity in its place."""
    place = record.get("identity") or {}
    return record["attempt"] if "attempt" in record else f"{place['round']:03}.{place['lineage']:02}.{place['sample']:02}"


def lines(run: Run, name: str) -> Lines:
    """A file of the run, which is told of a torn last line."""
    found = Lines(run.path / f"{name}.jsonl", lambda record: str((record.get("identity") or record)["trajectory"]))
    if found.torn:
        run.torn[f"{name}.jsonl"] = found.torn
    return found


def said(message: Record) -> str:
    """A message's words; what else it carries as JSON below them."""
    content = message.get("content")
    rest = {key: value for key, value in message.items() if key not in ("role", "content") and value}
    words = content if isinstance(content, str) else json.dumps(content, indent=1, ensure_ascii=False)
    return "\n".join((words, json.dumps(rest, indent=1, ensure_ascii=False))) if rest else words


def picked(record: Record, keys: Iterable[str]) -> Record:
    return {key: record.get(key) for key in keys}


def counted(kernels: list[Record]) -> list[Record]:
    """Equal builds once, with how many there were."""
    builds: dict[str, Record] = {}
    for kernel in kernels:
        builds.setdefault(json.dumps(kernel, sort_keys=True), {**kernel, "builds": 0})["builds"] += 1
    return list(builds.values())
