"""Every mistake in `model=` and `model_args` is one sentence, before anything is asked."""

from typing import Any

import pytest

from agents.models import make
from benchmark.errors import UserError
from tests.agents.memory import no_tasks


def refuse(name: str, **args: Any) -> str:
    with pytest.raises(UserError) as caught:
        make(name, args, no_tasks)
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "near"), [("template", "'templates'"), ("opnai/gpt-5", "'openai/gpt-5'"), ("anthropic", "'anthropic/NAME'")]
)
def test_unknown_model_names_the_nearest(name: str, near: str) -> None:
    assert f"Did you mean {near}?" in refuse(name)


@pytest.mark.parametrize("name", ["", "gpt-5", "/", "openai/", "/gpt-5", "no such/thing"])
def test_what_is_no_model_is_refused(name: str) -> None:
    assert refuse(name).startswith("Unknown model")


def test_bare_word_is_told_the_valid_forms() -> None:
    assert all(form in refuse("gpt-5") for form in ("templates", "openai/NAME", "anthropic/NAME", "litellm"))


@pytest.mark.parametrize(
    ("name", "variable"),
    [("openai/gpt-5", "OPENAI_API_KEY"), ("anthropic/claude-sonnet-4-5", "ANTHROPIC_API_KEY"), ("gemini/gemini-2.5-pro", "GEMINI_API_KEY")],
)
def test_missing_key_names_its_variable(name: str, variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert refuse(name).startswith(f"Set {variable} ")
    monkeypatch.setenv(variable, "k")
    assert make(name, {}, no_tasks).name == name


def test_key_may_have_another_name(monkeypatch: pytest.MonkeyPatch) -> None:
    assert refuse("openai/gpt-5", api_key_env="MY_KEY").startswith("Set MY_KEY ")
    monkeypatch.setenv("MY_KEY", "k")
    make("openai/gpt-5", {"api_key_env": "MY_KEY"}, no_tasks)


def test_server_of_ones_own_needs_no_key() -> None:
    name = "openai/Qwen/Qwen2.5-Coder-32B"
    assert make(name, {"base_url": "http://localhost:8000/v1"}, no_tasks).name == name


def test_key_in_place_of_its_name_is_not_repeated() -> None:
    assert "sk-secret" not in refuse("openai/gpt-5", api_key_env="sk-secret")


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ({"base_ulr": "x"}, "Did you mean 'base_url'?"),
        ({"flaws": 0.5}, "Choose one of: api, api_key_env, base_url"),
        ({"timeout_s": "long"}, "timeout_s must be a number"),
        ({"timeout_s": 0}, "timeout_s must be positive"),
        ({"timeout_s": True}, "timeout_s must be a number"),
        ({"max_tokens": 1.5}, "max_tokens must be an integer or null"),
        ({"max_tokens": -1}, "max_tokens must be positive"),
        ({"base_url": "localhost:8000"}, "must start with http://"),
        ({"base_url": "http://me:pass@host/v1"}, "no credentials"),
        ({"base_url": 8000}, "base_url must be text or null"),
        ({"api": "response"}, "api must be one of chat, responses, not 'response'"),
        ({"stream": "yes"}, "stream must be true or false"),
        ({"concurrency": 0}, "concurrency must be positive"),
        ({"tokens_per_minute": 1.5}, "tokens_per_minute must be an integer or null"),
    ],
)
def test_bad_option_is_told_what_is_valid(args: dict[str, Any], words: str) -> None:
    assert words in refuse("openai/gpt-5", **args)


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ({"thinking_tokens": 100}, "at least 1024 and below max_tokens (16384)"),
        ({"thinking_tokens": 4000, "max_tokens": 4000}, "below max_tokens (4000)"),
        ({"thinking_tokens": 2000, "temperature": 0.5}, "temperature cannot be set together with thinking_tokens"),
        ({"cache": "2h"}, "cache must be one of 5m, 1h, none"),
    ],
)
def test_what_anthropic_would_refuse_is_refused_before(args: dict[str, Any], words: str) -> None:
    assert words in refuse("anthropic/m", base_url="http://localhost:9", **args)
