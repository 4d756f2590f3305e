"""`format=atif`: Harbor's Agent Trajectory Interchange Format (its rfcs/0001-trajectory-format.md), one document for each trajectory.

The root holds the calls of authors: what was asked as `system` and `user` steps, then the reply as an `agent` step whose tool call is the
evaluation and whose observation is what authors may see of it. Calls that write no candidate (reflector, planner, judge, critic) are
subagents: trajectories of their own, embedded, which a `system` step of the root refers to where they were asked.
"""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from agents.digest import digest
from agents.models.base import Identity
from agents.roles import ROLES
from benchmark.errors import UserError
from experiments.export import tries
from experiments.runs import Run
from tools.evaluation import Evaluation

VERSION = "ATIF-v1.7"
"""The oldest that has all that is written: embedded subagents, and steps without a model."""
NOTES = (
    "Every call is asked anew, with no memory of those before it: an agent step answers the steps from its extra.context_from on. "
    "Steps stand in the order in which their calls began; lineages run at once. The totals of tokens are those of this document's own "
    "steps; total_cost_usd and the totals in extra include subagents. A step may be several tries of one call; what is unknown is left "
    "out, and bounded in extra."
)
TOOL = {
    "type": "function",
    "function": {
        "name": "evaluate",
        "description": "Compiles, tests and times a candidate on the task's cases.",
        "parameters": {
            "type": "object",
            "properties": {
                "task": {"type": "string"},
                "candidate": {"type": "string", "description": "Source of the module that defines the task's entry function."},
            },
            "required": ["task", "candidate"],
        },
    },
}
SHOWN = ("attempt", "verdict", "stage", "compiled", "correct", "speedup", "speedup_ci", "no_speedup", "modelled", "kernel_sha", "parents",
         "strategy", "device", "wall_s", "gpu_s")  # fmt: skip
"""Of an attempt, in its observation's extra: what a reward is made from."""
Record = dict[str, Any]


def write(runs: Sequence[Run], out: Path) -> list[str]:
    """`<run>/<trajectory>.json` for each trajectory that has a call or an attempt."""
    count = sum(put(out / run.run_id, name, body) for run in runs for name, body in documents(run))
    asked = sum(len(run.asked) for run in runs)
    if not count:
        raise UserError("No trajectory of these runs has a call or an attempt, so there is nothing to write.")
    return [f"{out}: {count} trajectories in {VERSION}, of {asked} asked"]


def put(folder: Path, name: str, body: Record) -> int:
    parts = re.sub(r"[^\w./@-]", "_", f"{name}.json").split("/")
    path = folder.joinpath(*(part for part in parts if part.strip(".")))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(body, indent=1) + "\n")
    return 1


def documents(run: Run) -> Iterable[tuple[str, Record]]:
    calls = by_trajectory(run.calls, lambda call: str(call["identity"]["trajectory"]))
    attempts = by_trajectory(run.attempts, lambda attempt: str(attempt["trajectory"]))
    judged = {(identity.trajectory, identity.attempt): found for identity, found in evaluated(run)}
    ended = {t["trajectory"]: t for t in run.trajectories}
    for name in sorted({*calls, *attempts}):
        yield name, Document(run, name, calls.get(name, []), attempts.get(name, []), judged, ended.get(name)).body()


def evaluated(run: Run) -> Iterable[tuple[Identity, Record]]:
    for line in run.evaluations:
        yield Identity(**line["identity"]), line["evaluation"]


def by_trajectory(records: Sequence[Record], name: Any) -> dict[str, list[Record]]:
    return {key: list(part) for key, part in groupby(sorted(records, key=name), name)}


@dataclass
class Document:
    run: Run
    name: str
    calls: list[Record]
    attempts: list[Record]
    judged: dict[tuple[str, str], Record]
    ended: Record | None

    @property
    def session(self) -> str:
        return self.run.run_id

    def body(self) -> Record:
        steps: list[Record] = []
        helpers: list[Record] = []
        for group in self.grouped():
            if self.authored(group[0]["identity"]["role"]):
                steps += self.conversation(group, len(steps))
            else:
                helpers.append(self.helper(group))
                steps.append(self.delegation(group))
        steps += [self.tuned(attempt) for attempt in self.attempts if not attempt["calls"]]
        own = [call for call in self.calls if self.authored(call["identity"]["role"])]
        return self.trajectory(self.name, "", own, steps) | filled(
            notes=NOTES, subagent_trajectories=helpers, extra=filled(**self.outcome())
        )

    def grouped(self) -> list[list[Record]]:
        """The tries of each call, in the order in which calls began."""
        groups = by_trajectory(self.calls, lambda call: str(call["call_id"])).values()
        return sorted(groups, key=lambda group: (group[0]["start"], group[0]["call_id"]))

    def authored(self, role: str) -> bool:
        return (role in ROLES and ROLES[role].writes) or any(attempt["role"] == role for attempt in self.attempts)

    def trajectory(self, name: str, role: str, own: Sequence[Record], steps: list[Record]) -> Record:
        """A root without `role`; its cost is that of all calls."""
        environment = self.run.environment
        scaffold = f"kernelwright/{environment['scaffold']['name']}"
        version = environment.get("packages", {}).get("kernelwright") or environment.get("revision") or "unknown"
        agent = {"name": f"{scaffold}/{role}" if role else scaffold, "version": version, "model_name": environment["model"]}
        tools = [] if role else [TOOL]
        totals = tries.metrics(own)
        final = {f"total_{key}": totals[key] for key in ("prompt_tokens", "completion_tokens", "cached_tokens") if key in totals}
        whole = tries.spent(own if role else self.calls)
        final |= filled(total_cost_usd=whole.get("usd"), total_steps=len(steps), extra=whole)
        return {
            "schema_version": VERSION,
            "session_id": self.session,
            "trajectory_id": name,
            "agent": agent | filled(tool_definitions=tools),
            "steps": [{"step_id": number, **step} for number, step in enumerate(steps, 1)],
            "final_metrics": final,
        }

    def outcome(self) -> Record:
        asked = self.run.environment["asked"]["tasks"].get(self.name.rpartition("@")[0], {})
        ended = self.ended or {}
        kept = {key: ended.get(key) for key in ("champion", "kernel_sha", "end_reason", "error")}
        return {"task": self.name.rpartition("@")[0], "seed": self.name.rpartition("@")[2], **asked, **kept}

    def conversation(self, group: Sequence[Record], before: int) -> list[Record]:
        """A call as it was asked and answered; `before` is how many steps stand before it."""
        last = group[-1]
        asked = list(self.asked(last))
        reply: Record = self.run.reply(last["reply_sha"]) if last["reply_sha"] else {"text": ""}
        made = [attempt for attempt in self.attempts if attempt["calls"][-1:] == [last["call_id"]]]
        own = [tool_call(call) for call in reply.get("tool_calls") or []]
        evaluations = [self.evaluation(attempt) for attempt in made]
        results = [result for _, result in evaluations]
        extra = {"context_from": before + 1, **called(group)}
        step = {"timestamp": tries.moment(last["end"]), "source": "agent", "message": reply["text"], "llm_call_count": len(group)}
        return [*asked, step | filled(
            model_name=last["model_served"] or last["model_asked"], reasoning_content=thought(reply.get("thinking") or []),
            tool_calls=[*own, *(call for call, _ in evaluations if call)], observation=filled(results=results),
            metrics=tries.metrics(group), extra=extra,
        )]  # fmt: skip

    def asked(self, call: Record) -> Iterable[Record]:
        """The prompt's messages as steps; of earlier replies within it, copies."""
        steps: list[Record] = []
        for message in self.run.prompt(call["prompt_sha"])["messages"]:
            if message["role"] == "tool":
                results = steps[-1].setdefault("observation", {"results": []})["results"]
                results.append({"source_call_id": message["tool_call_id"], "content": message["content"]})
            elif message["role"] == "assistant":
                own = [tool_call(given) for given in message.get("tool_calls") or []]
                steps.append({"source": "agent", "message": message["content"], "is_copied_context": True, **filled(tool_calls=own)})
            else:
                steps.append({"timestamp": tries.moment(call["start"]), "source": message["role"], "message": message["content"]})
        return steps

    def evaluation(self, attempt: Record) -> tuple[Record | None, Record]:
        """The call of the tool, where there was a candidate to judge, and its result."""
        record = self.judged.get((self.name, attempt["attempt"]))
        content = json.dumps(digest(Evaluation.from_dict(record))) if record else f"{attempt['verdict']}: {attempt['error'] or ''}"
        extra = filled(**{key: attempt[key] for key in SHOWN}, champion=bool(self.ended and self.ended["champion"] == attempt["attempt"]))
        if not attempt["kernel_sha"]:
            return None, {"content": content, "extra": extra}
        name = f"evaluate-{attempt['attempt']}"
        arguments = {"task": attempt["task"], "candidate": self.run.kernel(attempt["kernel_sha"])}
        call = {"tool_call_id": name, "function_name": "evaluate", "arguments": arguments}
        return call, {"source_call_id": name, "content": content, "extra": extra}

    def tuned(self, attempt: Record) -> Record:
        """An attempt that no model wrote, such as the tuner's."""
        call, result = self.evaluation(attempt)
        return {"source": "agent", "message": attempt["strategy"], "llm_call_count": 0, "observation": {"results": [result]},
                **filled(tool_calls=[call] if call else [], extra={"role": attempt["role"], "round": attempt["round"]})}  # fmt: skip

    def helper(self, group: Sequence[Record]) -> Record:
        return self.trajectory(group[-1]["call_id"], group[-1]["identity"]["role"], group, self.conversation(group, 0))

    def delegation(self, group: Sequence[Record]) -> Record:
        identity = group[-1]["identity"]
        reference = {"trajectory_id": group[-1]["call_id"], "session_id": self.session}
        return {
            "timestamp": tries.moment(group[0]["start"]), "source": "system",
            "message": f"{identity['role']} of round {identity['round']}, lineage {identity['lineage']}",
            "observation": {"results": [{"subagent_trajectory_ref": [reference]}]}, "extra": called(group),
        }  # fmt: skip


def filled(**fields: Any) -> Record:
    """Those fields that are known and not empty; 0 and False are known."""
    return {key: value for key, value in fields.items() if value is not None and value not in ("", [], {})}


def called(group: Sequence[Record]) -> Record:
    last = group[-1]
    kept = ("call_id", "outcome", "parse", "error", "finish_reason", "sampling", "replayed", "tier", "usage_source")
    place = {key: last["identity"][key] for key in ("role", "round", "lineage", "sample")}
    return place | filled(**{key: last.get(key) for key in kept}, failed_tries=[call["outcome"] for call in group[:-1]])


def tool_call(call: Record) -> Record:
    """Arguments that were no object are kept as text."""
    given = call["arguments"]
    return {"tool_call_id": call["id"], "function_name": call["name"], "arguments": given if isinstance(given, dict) else {"text": given}}


def thought(blocks: Sequence[Record]) -> str:
    """What the provider shows of the model's reasoning."""
    return "\n".join(str(block.get("thinking") or block.get("text") or "") for block in blocks).strip()
