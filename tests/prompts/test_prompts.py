"""Every role's prompt renders from what a context gives it, and says only what is true of the installed triton."""

import importlib
import re
from typing import Any

import pytest
from jinja2 import UndefinedError

import prompts
from agents.roles import ROLES
from tools import platforms

WORDS = {"signature": "gelu(x)", "semantics": "Gelu.", "reference": "def gelu(x): ...", "contract": "- same dtype", "cases": "- fp32"}


def variables(**changes: Any) -> dict[str, Any]:
    ancestor = {"attempt": "001.00.00", "source": "def gelu(x): fast\n", "strategy": "fused", "feedback": "1.5x"}
    made = {
        "words": WORDS, "hardware": platforms.sheet(platforms.names()[0]), "lessons": ("mask loads",), "parent": "def gelu(x): old\n",
        "passed": False, "feedback": "Verdict: wrong_numeric", "ancestors": [ancestor], "note": "Cause: the mask", "author": 1,
        "authors": 2, "rounds_left": 3, "plan": None, "diagnosis": None, "strategies": {"fuse": "one kernel"},
    }  # fmt: skip
    return {**made, **changes}


@pytest.mark.parametrize("role", ROLES)
def test_every_role_renders_the_task(role: str) -> None:
    system, user = prompts.messages(role, **variables())
    assert (system["role"], user["role"]) == ("system", "user")
    for word in WORDS.values():
        assert word in user["content"]


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize(
    "changes", [{"lessons": (), "note": "", "hardware": None}, {"passed": True}, {"rounds_left": 0, "authors": 1, "strategies": {}}]
)
def test_every_role_renders_without_what_is_optional(role: str, changes: dict[str, Any]) -> None:
    for message in prompts.messages(role, **variables(**changes)):
        assert "None" not in message["content"]
        assert "\n\n\n" not in message["content"]


@pytest.mark.parametrize("role", ROLES)
def test_a_missing_variable_is_an_error(role: str) -> None:
    with pytest.raises(UndefinedError):
        prompts.messages(role, **{key: value for key, value in variables().items() if key != "words"})


@pytest.mark.parametrize("role", [r.name for r in ROLES.values() if r.writes])
def test_authors_are_told_how_to_answer(role: str) -> None:
    system = prompts.messages(role, **variables())[0]["content"]
    assert "```python" in system
    assert "`Strategy: `" in system


def test_the_part_that_providers_cache_is_the_same_for_every_task() -> None:
    one = prompts.messages("generator", **variables())[0]
    other = prompts.messages("generator", **variables(words={**WORDS, "signature": "relu(x)"}, lessons=(), rounds_left=0))[0]
    assert one == other


def test_reflector_has_one_review_for_failing_and_one_for_slow_code() -> None:
    assert "defect" in prompts.messages("reflector", **variables())[1]["content"]
    assert "bottleneck" in prompts.messages("reflector", **variables(passed=True))[1]["content"]


def test_nothing_of_this_machine_or_hour_is_in_a_prompt() -> None:
    for role in ROLES:
        text = "".join(m["content"] for m in prompts.messages(role, **variables()))
        assert not re.search(r"/work|/home|/tmp|20\d\d-\d\d|0x[0-9a-f]{6}", text)


def facts() -> str:
    return prompts.render("shared/triton")


def test_names_said_to_be_in_triton_are_there_and_the_invented_ones_are_not() -> None:
    tl = importlib.import_module("triton.language")
    libdevice = importlib.import_module("triton.language.extra.libdevice")
    there = re.search(r"^- In `tl`: (.*)\.$", facts(), re.MULTILINE)
    invented = re.search(r"^- Not in `tl`, though often written: (.*?)\. `from(.*)$", facts(), re.MULTILINE)
    assert there
    assert invented
    names = re.findall(r"`tl\.(\w+)`", there[1])
    assert len(names) > 10
    assert [n for n in names if not hasattr(tl, n)] == []
    assert [n for n in re.findall(r"`tl\.(\w+)`", invented[1]) if hasattr(tl, n)] == []
    said = re.findall(r"\b(tanh|pow|round|isnan|log1p|expm1)\b", invented[2])
    assert len(said) == 6
    assert [n for n in said if not hasattr(libdevice, n)] == []
