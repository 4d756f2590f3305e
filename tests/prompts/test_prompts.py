"""Every role's prompt renders from what a context gives it, and says only what is true of the installed triton."""

import re
from dataclasses import replace
from typing import Any

import pytest
from jinja2 import UndefinedError

import prompts
from agents import examples, feedback
from agents.prompt import Prompt, compose, variables
from agents.roles import ROLES
from tools import platforms

WORDS = {"signature": "gelu(x)", "semantics": "Gelu.", "reference": "def gelu(x): ...", "contract": "- same dtype", "cases": "- fp32"}
SHEET = platforms.sheet(platforms.names()[0])
PASSING, FAILING = feedback.digest(examples.passing()), feedback.digest(examples.failing())


def prompt(
    role: str, words: dict[str, str] = WORDS, hardware: platforms.HardwareSheet | None = SHEET, needs: Any = None, **changes: Any
) -> Prompt:
    """What a role is sent: everything that its brief may hold, and the examples that it declares, but for `needs` and `changes`."""
    brief = replace(examples.brief(role, "quick/gelu", "def gelu(x): old\n"), **changes)
    return compose(role, brief, words, hardware, **{**ROLES[role].needs, **(needs or {})})


@pytest.mark.parametrize("role", ROLES)
def test_every_role_renders_the_task(role: str) -> None:
    made = prompt(role)
    assert [message["role"] for message in made.messages] == ["system", "user"]
    for word in WORDS.values():
        assert word in made.messages[1]["content"]


@pytest.mark.parametrize("role", ROLES)
def test_every_prompt_opens_with_what_all_prompts_on_its_task_have(role: str) -> None:
    user = prompt(role).messages[1]["content"]
    assert user[: prompt(role).stable] == prompts.render("shared/task", words=WORDS).strip()


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("digest", [PASSING, FAILING])
@pytest.mark.parametrize("changes", [{}, {"lessons": (), "strategies": ()}])
@pytest.mark.parametrize("empty", [True, False])
def test_every_role_renders_without_what_is_optional(role: str, digest: Any, changes: dict[str, Any], empty: bool) -> None:
    needs = {key: type(value)() for key, value in ROLES[role].needs.items()} if empty else {}
    for message in prompt(role, hardware=None, digest=digest, needs=needs, **changes).messages:
        assert not re.search(r"\bNone\b(?!\])", message["content"])
        assert "\n\n\n" not in message["content"]


@pytest.mark.parametrize("role", ROLES)
def test_a_role_declares_exactly_what_its_templates_need(role: str) -> None:
    common = {*variables(examples.brief(role, "quick/gelu", ""), WORDS, None), *prompts.environment().globals}
    assert prompts.needs(role) - common == set(ROLES[role].needs)


@pytest.mark.parametrize("role", [role for role in ROLES if ROLES[role].needs])
def test_a_missing_variable_is_an_error(role: str) -> None:
    with pytest.raises(UndefinedError):
        compose(role, examples.brief(role, "quick/gelu", "def gelu(x): old\n"), WORDS, None)


@pytest.mark.parametrize("role", [role for role in ROLES if ROLES[role].writes])
def test_authors_are_told_how_to_answer(role: str) -> None:
    system = prompt(role).messages[0]["content"]
    assert "```python" in system
    assert "`Strategy: `" in system


def test_the_part_that_providers_cache_is_the_same_for_every_task() -> None:
    other = prompt("generator", {**WORDS, "signature": "relu(x)"}, lessons=(), needs={"rounds_left": 0})
    assert prompt("generator").messages[0] == other.messages[0]


def test_reflector_has_one_review_for_failing_and_one_for_slow_code() -> None:
    assert "defect" in prompt("reflector", digest=FAILING).messages[1]["content"]
    assert "bottleneck" in prompt("reflector", digest=PASSING).messages[1]["content"]


@pytest.mark.parametrize("role", ROLES)
def test_nothing_of_this_machine_or_hour_is_in_a_prompt(role: str) -> None:
    assert not re.search(r"/work|/home|/tmp|20\d\d-\d\d|0x[0-9a-f]{6}", prompt(role).text)


@pytest.mark.parametrize("name", platforms.names())
def test_figures_and_notes_of_the_hardware_are_told(name: str) -> None:
    sheet = platforms.sheet(name)
    text = prompts.render("shared/hardware", hardware=sheet)
    assert text.splitlines()[1].startswith(f"{sheet.name}: {sheet.multiprocessors} multiprocessors")
    assert sheet.notes
    for note in sheet.notes:
        assert f"\n{note}\n" in text


@pytest.mark.parametrize("role", ROLES)
def test_a_roles_hash_is_that_of_all_templates_that_it_includes(role: str, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = prompts.sources(role)
    assert {f"{role}/system.j2", f"{role}/user.j2", "shared/task.j2"} <= set(texts)
    before = prompts.sha(role)
    for name in texts:
        monkeypatch.setattr(prompts, "sources", lambda _, name=name: {**texts, name: texts[name] + "!"})
        assert prompts.sha(role) != before
