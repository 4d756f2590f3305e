"""How an evaluation stops: a verdict that was found, and the words for a sandbox that is gone."""

import signal
from typing import Any

from tools.evaluation import Failure
from tools.executor.channel import Message
from tools.executor.remote import Died, Hung
from tools.executor.stages import claims

OURS = frozenset({"task_invalid", "infra_error"})
"""Not the candidate's doing: no verdict is found by them, whatever was asked."""


class Stop(Exception):
    """The verdict is found."""

    def __init__(self, verdict: str, message: str, detail: dict[str, Any] | None = None):
        super().__init__(message)
        self.failure = Failure(verdict, message, detail or {})

    @classmethod
    def because(cls, failure: Failure) -> "Stop":
        return cls(failure.kind, failure.message, failure.detail)

    @classmethod
    def reported(cls, error: Any, **more: Any) -> "Stop":
        """What the sandbox says went wrong."""
        failure = claims.failure(error)
        return cls(failure.kind, failure.message, failure.detail | more)

    @classmethod
    def lost(cls, failure: Exception, stage: str) -> "Stop":
        """What the sandbox did instead of answering."""
        if isinstance(failure, Hung):
            return cls("timeout", f"no answer in time at stage {stage}")
        if isinstance(failure, Died) and failure.over:
            return cls("oom" if failure.over == "memory" else "runtime_error", f"the candidate used more {failure.over} than it may")
        if isinstance(failure, Died):
            return cls("crash", _end(failure.code))
        return cls("suspected_hack", f"the candidate wrote to the executor's own channel: {failure}"[:300])


def shown(case: Message) -> str:
    """How a case is called in messages."""
    return "a case that is not shown" if case["held_out"] else f"case {case['name']}"


def _end(code: int | None) -> str:
    if code is None:
        return "the candidate's process hung up without an answer"
    if code < 0:
        return f"the candidate's process was ended by signal {-code} ({_signal(-code)})"
    return f"the candidate's process exited with code {code} before it answered"


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return "unknown"
