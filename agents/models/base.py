"""Request, reply and the `Model` protocol: one call of `complete` is one try; retries, books and the journal are the caller's."""

import hashlib
import json
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, Protocol

from agents.plans import Diagnosis, Plan


@dataclass(frozen=True)
class Identity:
    """Names a call or an attempt within a run, from the trajectory's state only; never reused."""

    trajectory: str
    role: str
    round: int
    lineage: int = 0
    sample: int = 0
    fork: int = 0
    """Counts the requests that took this place in resumed runs whose code, prompts or options had changed."""

    @property
    def key(self) -> str:
        place = f"{self.trajectory}/{self.role}/{self.round}/{self.lineage}/{self.sample}"
        return f"{place}/f{self.fork}" if self.fork else place

    @property
    def next(self) -> "Identity":
        """The fork after this one."""
        return replace(self, fork=self.fork + 1)

    @property
    def attempt(self) -> str:
        """The attempt's id within its trajectory; sorts in the order of rounds, lineages, samples and forks."""
        place = f"{self.round:03d}.{self.lineage:02d}.{self.sample:02d}"
        return f"{place}.f{self.fork}" if self.fork else place


@dataclass(frozen=True)
class Ancestor:
    """An earlier candidate shown to an optimiser: its source and the public digest of its evaluation."""

    attempt: str
    source: str
    digest: dict[str, Any]
    strategy: str = ""


@dataclass(frozen=True)
class Brief:
    """What the messages were rendered from, typed, for models that do not read prose."""

    task_id: str
    role: str
    parent: str | None = None
    """Source of the candidate to repair, reflect on or improve."""
    digest: dict[str, Any] | None = None
    """`agents.feedback.digest` of the parent's evaluation."""
    ancestors: tuple[Ancestor, ...] = ()
    """Passing modules, best first; of a debugger the working module that the parent was made from; of a recombiner both parents."""
    lessons: tuple[str, ...] = ()
    plan: Plan | None = None
    """Of a coder what it has to do to the parent; of a critic what was expected of it."""
    diagnosis: Diagnosis | None = None
    """Of a planner what the judge found, of a mutator what the counts show."""
    strategies: tuple[str, ...] = ()
    """Names from `agents.strategies` that the author may choose from; empty: any."""
    tried: tuple[str, ...] = ()
    """Steps from these modules that led to nothing, one line each, with what came of them."""


@dataclass(frozen=True)
class Sampling:
    temperature: float | None = None
    max_tokens: int = 16384
    seed: int | None = None


@dataclass(frozen=True)
class Request:
    messages: tuple[dict[str, Any], ...]
    """`{"role": "system"|"user"|"assistant"|"tool", "content": text}`. An assistant's message may have `tool_calls` and `thinking` as its
    reply had them; a tool's has the `tool_call_id` that it answers."""
    identity: Identity
    brief: Brief
    sampling: Sampling = Sampling()
    tools: tuple[dict[str, Any], ...] = ()
    """`{"name": ..., "description": ..., "parameters": JSON schema}`, in no provider's wrapping."""
    stable: int = 0
    """So many leading characters of the first user's message are the same in all prompts on its task: worth a provider's cache."""

    @property
    def sha(self) -> str:
        """Digest of what the model is asked (messages, tools, sampling), not of who asks."""
        body = json.dumps([self.messages, self.tools, asdict(self.sampling)], sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(body.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True)
class Usage:
    """Tokens in disjoint kinds; `reasoning` is a part of `output`."""

    input: int = 0
    cache_read: int = 0
    cache_write_5m: int = 0
    cache_write_1h: int = 0
    output: int = 0
    reasoning: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(Usage)))

    @property
    def total(self) -> int:
        return self.input + self.cache_read + self.cache_write_5m + self.cache_write_1h + self.output


@dataclass
class Reply:
    text: str
    model: str
    """The model that the provider says it served."""
    finish_reason: str = "stop"
    tool_calls: list[dict[str, Any]] = field(default_factory=list)
    """`{"id": ..., "name": ..., "arguments": object, or the text that was none}`."""
    thinking: list[dict[str, Any]] = field(default_factory=list)
    """The provider's own blocks of reasoning, verbatim: it wants them back before the results of the tool calls that they led to."""
    usage: Usage | None = None
    usage_raw: dict[str, Any] | None = None
    """The provider's usage object, verbatim."""
    usage_source: str = "provider"
    """`provider`, `partial`, `counted` or `unknown`; `replayed` where a recorded reply's was one of the whole ones."""
    request_id: str | None = None
    tier: str = "standard"
    first_token: float | None = None
    """Unix time of the first token, where the reply was streamed."""
    replayed: dict[str, Any] | None = None
    """Where a replayed reply comes from, how it was found, and what it cost there."""


class CallError(Exception):
    """A try that gave no reply. `outcome` is one of `OUTCOMES`; what was billed all the same is in `usage`."""

    tier = "standard"
    last = False
    """Whether another try could not go otherwise, whatever the outcome."""
    replayed: dict[str, Any] | None = None
    """As a reply's; for an `unrecorded` call, how far the nearest recorded one is."""

    def __init__(self, outcome: str, message: str, *, retry_after: float | None = None, usage_raw: dict[str, Any] | None = None,
                 usage: Usage | None = None, usage_source: str = "unknown", request_id: str | None = None,
                 first_token: float | None = None):  # fmt: skip
        super().__init__(message)
        self.outcome = outcome
        self.retry_after = retry_after
        self.usage_raw = usage_raw
        self.usage = usage
        self.usage_source = usage_source
        self.request_id = request_id
        self.first_token = first_token


OUTCOMES = (
    "ok",
    "timeout",
    "connection",
    "429",
    "5xx",
    "cut_stream",
    "cancelled",
    "auth",
    "bad_request",
    "context_overflow",
    "refused",
    "declined",
    "unrecorded",
)
RETRIABLE = frozenset({"timeout", "connection", "429", "5xx", "cut_stream"})
OUTAGES = frozenset({"connection", "429", "5xx", "auth", "bad_request", "unrecorded"})
"""Outcomes that say nothing of the model's skill: it could not be asked. Mended, the same request is asked again. All others are data."""


class Model(Protocol):
    """What answers a prompt. `name` is the value that the user typed (`templates`, `openai/gpt-5`)."""

    name: str
    free: bool
    """No money is ever charged for this model's tokens (embedded or replayed)."""
    sampling: dict[str, Any]
    """Fields of `Sampling` that the user fixed in `model_args`; they win over the request's."""

    async def complete(self, request: Request) -> Reply:
        """One try. Raises `CallError`; a reply of any content is a reply."""
        ...

    async def close(self) -> None: ...
