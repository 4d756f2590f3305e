"""A prompt as it is sent: what every template may use, and a role's messages."""

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import prompts
from agents import feedback
from agents.models.base import Brief
from agents.strategies import STRATEGIES
from tools import jsonl
from tools.platforms import HardwareSheet


@dataclass(frozen=True)
class Prompt:
    messages: tuple[dict[str, str], ...]
    stable: int
    """So many leading characters of the user's message are the same in all prompts on its task."""

    @property
    def text(self) -> str:
        return "\n".join(message["content"] for message in self.messages)

    @property
    def about(self) -> int:
        """Tokens, near enough: 4 bytes each, as of English and code."""
        return len(self.text.encode()) // 4

    @property
    def sha(self) -> str:
        """The name by which a run keeps it (`prompt_sha` of its calls)."""
        body = {"schema_version": jsonl.SCHEMA_VERSION, "messages": list(self.messages), "tools": []}
        return hashlib.sha256(jsonl.encode(body) + b"\n").hexdigest()


def compose(
    role: str,
    brief: Brief,
    words: Mapping[str, str],
    hardware: HardwareSheet | None,
    feedback_tokens: int = feedback.MAX_TOKENS,
    **more: Any,
) -> Prompt:
    """`words`: the task in words, as `benchmark.words.describe` has it. `feedback_tokens`: of one evaluation at most. `more`: what
    `Role.needs` names."""
    messages = prompts.messages(role, **{**variables(brief, words, hardware, feedback_tokens), **more})
    task = prompts.render("shared/task", words=words).strip()
    return Prompt(messages, len(task) if messages[-1]["content"].startswith(task) else 0)


def variables(
    brief: Brief, words: Mapping[str, str], hardware: HardwareSheet | None, feedback_tokens: int = feedback.MAX_TOKENS
) -> dict[str, Any]:
    """What the templates of every role may use."""
    return {
        "words": words,
        "hardware": hardware,
        "lessons": brief.lessons,
        "parent": brief.parent,
        "passed": bool(brief.digest and brief.digest["verdict"] == "pass"),
        "feedback": feedback.text(brief.digest, feedback_tokens) if brief.digest else "",
        "ancestors": [{**asdict(a), "feedback": feedback.text(a.digest, feedback_tokens)} for a in brief.ancestors],
        "plan": brief.plan,
        "diagnosis": brief.diagnosis,
        "examples": (),
        "tried": brief.tried,
        "strategies": {name: STRATEGIES[name].says for name in brief.strategies},
    }
