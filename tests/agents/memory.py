"""A recorder in memory, and requests to try it with."""

import hashlib
import json
from typing import TYPE_CHECKING, Any

from agents.models.base import OUTAGES, Brief, Identity, Request, Sampling
from agents.recorder import AttemptRecord, CallRecord, TrajectoryRecord
from tools.evaluation import Evaluation

if TYPE_CHECKING:
    from benchmark.task import Task

TOOL = {"name": "evaluate", "description": "Judge it.", "parameters": {"type": "object", "properties": {}}}


class MemoryRecorder:
    """Implements `agents.recorder.Recorder` without a disk."""

    def __init__(self) -> None:
        self.calls: list[CallRecord] = []
        self.evaluations: dict[str, Evaluation] = {}
        self.choices: dict[str, Any] = {}
        self.attempts: dict[tuple[str, str], AttemptRecord] = {}
        self.trajectories: list[TrajectoryRecord] = []
        self.texts: dict[str, Any] = {}
        self.events: list[tuple[str, dict[str, Any]]] = []

    def recorded_call(self, identity: Identity) -> CallRecord | None:
        tries = [call for call in self.calls if call.identity == identity]
        return tries[-1] if tries and tries[-1].final and tries[-1].outcome not in OUTAGES else None

    def recorded_tries(self, identity: Identity) -> int:
        return sum(call.identity == identity for call in self.calls)

    def recorded_evaluation(self, identity: Identity) -> Evaluation | None:
        return self.evaluations.get(identity.key)

    def recorded_choice(self, identity: Identity) -> Any | None:
        return self.choices.get(identity.key)

    async def write_choice(self, identity: Identity, choice: Any) -> None:
        self.choices[identity.key] = json.loads(json.dumps(choice))

    def champions(self) -> dict[str, str]:
        return {t.task: t.kernel_sha for t in self.trajectories if t.kernel_sha}

    def evaluation(self, identity: Identity) -> Evaluation:
        return self.evaluations[identity.key]

    async def write_call(self, record: CallRecord) -> None:
        self.calls.append(record)

    async def write_evaluation(self, identity: Identity, evaluation: Evaluation) -> None:
        self.evaluations[identity.key] = evaluation

    async def write_attempt(self, record: AttemptRecord) -> None:
        self.attempts.setdefault((record.trajectory, record.attempt), record)

    async def write_trajectory(self, record: TrajectoryRecord) -> None:
        self.trajectories.append(record)

    def put_kernel(self, source: str) -> str:
        return self._put(source)

    def kernel(self, sha: str) -> str:
        return str(self.texts[sha])

    def put_prompt(self, messages: list[dict[str, str]], tools: list[dict[str, Any]]) -> str:
        return self._put({"messages": messages, "tools": tools})

    def prompt(self, sha: str) -> dict[str, Any]:
        return dict(self.texts[sha])

    def put_reply(self, reply: dict[str, Any]) -> str:
        return self._put(reply)

    def reply(self, sha: str) -> dict[str, Any]:
        return dict(self.texts[sha])

    async def saved(self) -> None: ...

    def event(self, name: str, **fields: Any) -> None:
        self.events.append((name, fields))

    def _put(self, value: Any) -> str:
        sha = hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
        self.texts[sha] = json.loads(json.dumps(value))
        return sha


def request(
    prompt: str = "Write it.", *, role: str = "generator", round: int = 0, sample: int = 0, trajectory: str = "t", max_tokens: int = 100
) -> Request:
    identity = Identity(trajectory, role, round, 0, sample)
    messages = ({"role": "system", "content": "You write kernels."}, {"role": "user", "content": prompt})
    return Request(messages, identity, Brief("suite/task", role), Sampling(max_tokens=max_tokens))


def no_tasks(task_id: str) -> "Task":
    """For models that look no task up."""
    raise KeyError(task_id)
