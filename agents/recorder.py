"""The recorder protocol: how a run's store is seen from below (DESIGN 4.5 and 4.8)."""

from dataclasses import dataclass, field
from typing import Any, Protocol

from agents.models.base import Identity, Usage
from tools.evaluation import Evaluation


@dataclass
class CallRecord:
    """One HTTP try; one line of `calls.jsonl`. Hashes name texts kept by the store. Times are Unix seconds."""

    call_id: str
    """The identity's key: one per logical call, shared by its tries."""
    try_: int
    identity: Identity
    provider: str
    model_asked: str
    model_served: str | None
    request_sha: str
    prompt_sha: str
    reply_sha: str | None
    sampling: dict[str, Any]
    start: float
    first_token: float | None
    end: float
    outcome: str
    finish_reason: str | None
    request_id: str | None
    error: str | None
    usage_raw: dict[str, Any] | None
    usage: Usage | None
    usage_source: str
    tier: str
    price_row: str | None
    cost_usd: float | None
    """None where the price or the usage is unknown; then `cost_upper` bounds it."""
    cost_upper: float | None
    tokens_upper: int | None = None
    """Set where the usage is unknown or partial: what counts against a token budget."""
    parse: str | None = None
    """How the reply was read: `ok`, or what is wrong with it; None without a reply, or where nobody said."""
    final: bool = True
    """Whether no further try of this call follows in the same start of the run."""
    replayed: dict[str, Any] | None = None
    """Of a replayed call: run, model, tries, usage and cost as recorded, and whether `match` was by request or by identity alone."""


@dataclass
class AttemptRecord:
    """One candidate of a trajectory; one line of `attempts.jsonl`. Tokens and cost are those of `calls` alone."""

    trajectory: str
    attempt: str
    task: str
    category: str
    suite: str
    scaffold: str
    model: str
    seed: int
    round: int
    role: str
    parents: list[str]
    strategy: str
    kernel_sha: str | None
    verdict: str
    stage: str
    compiled: bool
    correct: bool
    speedup: float | None
    speedup_ci: list[float] | None
    no_speedup: str | None
    """Why `speedup` is null."""
    modelled: float | None
    baseline_us: float | None
    candidate_us: float | None
    calls: list[str]
    tokens: int | None
    cost_usd: float | None
    wall_s: float
    gpu_s: float
    device: str
    error_kind: str | None
    error: str | None
    parse: str
    """How the reply was read: `ok`, or why there is no candidate."""


@dataclass
class TrajectoryRecord:
    trajectory: str
    task: str
    scaffold: str
    model: str
    seed: int
    start: float
    end: float
    champion: str | None
    """Attempt id."""
    kernel_sha: str | None
    end_reason: str
    """`solved`, `rounds`, `budget`, `stagnation`, `declined`, `limit`, `error`, `interrupted` or `waiting` (for a batch)."""
    error: str | None = None
    totals: dict[str, Any] = field(default_factory=dict)


class Recorder(Protocol):
    """Written before it is used: a non-deterministic result enters the run first and is acted on after.

    `write_*` append one line each, and return when it is on disk; cancelled meanwhile, the line is written all the same. `put_*` return at
    once: a text is on disk before any line that names it, and can be read at any time. `recorded_*` answer from an earlier start of the
    same run.
    """

    def recorded_call(self, identity: Identity) -> CallRecord | None:
        """The final try of a settled call: a reply, or a failure that is data. After an outage, or a kill between tries, there is none."""
        ...

    def recorded_tries(self, identity: Identity) -> int:
        """How many tries of this call are already on record."""
        ...

    def recorded_evaluation(self, identity: Identity) -> Evaluation | None: ...

    def recorded_choice(self, identity: Identity) -> Any | None: ...

    async def write_call(self, record: CallRecord) -> None: ...

    async def write_evaluation(self, identity: Identity, evaluation: Evaluation) -> None: ...

    async def write_choice(self, identity: Identity, choice: Any) -> None:
        """A choice that depends on more than the trajectory's state: JSON-like, and whole enough to be used again."""
        ...

    def champions(self) -> dict[str, str]:
        """Sha of the best kernel of every task, of the trajectories of this run that have ended so far."""
        ...

    async def write_attempt(self, record: AttemptRecord) -> None:
        """Idempotent per (trajectory, attempt): a resumed run writes no second line."""
        ...

    async def write_trajectory(self, record: TrajectoryRecord) -> None: ...

    def put_kernel(self, source: str) -> str:
        """Stores a candidate and returns its sha."""
        ...

    def kernel(self, sha: str) -> str: ...

    def put_prompt(self, messages: list[dict[str, str]], tools: list[dict[str, Any]]) -> str: ...

    def prompt(self, sha: str) -> dict[str, Any]:
        """`{"messages": ..., "tools": ...}` as they were put."""
        ...

    def put_reply(self, reply: dict[str, Any]) -> str: ...

    def reply(self, sha: str) -> dict[str, Any]: ...

    async def saved(self) -> None:
        """Returns when all texts that were put are on disk, for lines that others write."""
        ...

    def evaluation(self, identity: Identity) -> Evaluation:
        """The evaluation written under this identity, in this start or an earlier one."""
        ...

    def event(self, name: str, **fields: Any) -> None:
        """Progress for live views and the log; never read back."""
        ...
