"""A key that is planted in the environment reaches the server, and no file, line of output or other process."""

import os
from pathlib import Path
from typing import Any

import pytest

from benchmark import secrets
from tests.experiments import author, cli
from tests.servers.wire import Fault, WireServer, in_turn

KEY = "sk-planted-0123456789abcdef"
OPERATOR = f"""\
import os
from pathlib import Path

import torch


def silu(x):
    return torch.nn.functional.silu(x)


def inputs():
    if "{KEY}" in str(dict(os.environ)):
        raise RuntimeError(str(dict(os.environ)))
    return {{"x": torch.randn(64, 64)}}
"""
SPY = f"import os\nprint(sorted(os.environ.items()), open('/proc/self/environ').read())\n{author.RIGHT}"
"""A right kernel that tells what its process knows; what it prints is kept with the evaluation."""


def failing(number: int, asked: dict[str, Any]) -> Fault | None:
    """Servers like to repeat the key that they refuse."""
    words = f"Your key {KEY} is slow"
    told = {"retry-after-ms": "1"}
    faults = [Fault("status", 429, words, headers=told), Fault("status", 500, words, headers=told), Fault("reset"), Fault("truncate")]
    return in_turn(*faults, Fault("status", 503, words, headers=told))(number, asked)


@pytest.mark.slow
@pytest.mark.parametrize(
    "words", [["model=openai/m"], ["model=openai/m", "model_args.api=responses"], ["model=anthropic/m", "model_args.stream=true"]]
)
def test_a_key_is_nowhere_after_a_run_with_failures(words: list[str], tmp_path: Path) -> None:
    with WireServer(lambda asked: author.fenced(SPY), failing) as server:
        url = server.anthropic_url if "anthropic" in words[0] else server.openai_url
        options = [f"model_args.base_url={url}", "model_args.api_key_env=PLACE_OF_MINE", "scaffold=oneshot", "benchmark.tasks=[silu]"]
        done = cli.run(*words, *options, f"runs_dir={tmp_path}", "run_id=r", env={"PLACE_OF_MINE": KEY, "OTHER_API_KEY": f"{KEY}-other"})
        assert KEY in str(server.headers)
    assert done.returncode == 0, done.stderr
    assert len(cli.lines(tmp_path / "r", "calls")) == len(server.requests) == 6
    assert [attempt["verdict"] for attempt in cli.lines(tmp_path / "r", "attempts")] == ["pass"]
    assert "PATH" in str(cli.lines(tmp_path / "r", "evaluations")[0]["evaluation"]["logs"])
    assert "[PLACE_OF_MINE]" in done.stderr
    assert KEY not in done.stdout + done.stderr
    assert holding(tmp_path) == []


@pytest.mark.slow
def test_a_refused_key_is_not_repeated(tmp_path: Path) -> None:
    with WireServer(faults=lambda number, asked: Fault("status", 401, f"Incorrect API key provided: {KEY}")) as server:
        done = cli.run(*cli.asking(server, tmp_path), "run_id=r", "scaffold=oneshot", env={"OPENAI_API_KEY": KEY})
    assert done.returncode == 2
    assert "[OPENAI_API_KEY]" in done.stderr
    assert KEY not in done.stdout + done.stderr
    assert holding(tmp_path) == []


@pytest.mark.slow
def test_an_operators_own_file_cannot_read_a_key(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(OPERATOR)
    with WireServer(lambda asked: author.fenced(author.RIGHT.replace("input, inplace=False", "x").replace("input.", "x."))) as server:
        words = [*cli.asking(server, tmp_path), "run_id=r", "scaffold=oneshot", f"task={tmp_path / 'mine.py'}:silu"]
        done = cli.run(*words, env={"OPENAI_API_KEY": KEY})
    assert KEY not in done.stdout + done.stderr
    assert done.returncode == 0, done.stderr


def holding(folder: Path) -> list[Path]:
    return [p for p in folder.rglob("*") if p.is_file() and p.name != "mine.py" and KEY.encode() in p.read_bytes()]


def test_no_child_gets_a_variable_that_was_read_as_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secrets, "NAMED", set())
    monkeypatch.setenv("PLACE_OF_MINE", KEY)
    monkeypatch.setenv("SOME_api_key", KEY)
    assert secrets.without() == {n: v for n, v in os.environ.items() if n != "SOME_api_key" and not n.endswith(secrets.ENDINGS)}
    assert secrets.read("PLACE_OF_MINE") == KEY
    assert "PLACE_OF_MINE" not in secrets.without()
