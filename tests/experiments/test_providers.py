"""The command against a server in each dialect, as a user types it."""

from pathlib import Path

import pytest

from tests.experiments import author, cli
from tests.servers.wire import WireServer

pytestmark = pytest.mark.slow
WORDS = {
    "chat": ["model=openai/m"],
    "chat stream": ["model=openai/m", "model_args.stream=true"],
    "responses": ["model=openai/m", "model_args.api=responses", "model_args.reasoning_effort=low"],
    "responses stream": ["model=openai/m", "model_args.api=responses", "model_args.stream=true"],
    "messages": ["model=anthropic/m", "model_args.cache=1h", "model_args.thinking_tokens=2000"],
    "messages stream": ["model=anthropic/m", "model_args.stream=true"],
    "litellm": ["model=hosted_vllm/m"],
}


@pytest.mark.parametrize("dialect", WORDS)
def test_a_run_solves_its_task_and_books_what_the_server_billed(dialect: str, tmp_path: Path) -> None:
    with WireServer(author.right) as server:
        url = server.anthropic_url if "messages" in dialect else server.openai_url
        options = [f"model_args.base_url={url}", "scaffold=oneshot", "benchmark.tasks=[silu]", f"runs_dir={tmp_path}", "run_id=r"]
        done = cli.run(*WORDS[dialect], *options)
    assert done.returncode == 0, done.stderr
    (call,) = cli.lines(tmp_path / "r", "calls")
    (attempt,) = cli.lines(tmp_path / "r", "attempts")
    assert (call["outcome"], call["usage_source"], attempt["verdict"]) == ("ok", "provider", "pass")
    assert attempt["tokens"] == server.billed.total
    assert (call["first_token"] is not None) is ("stream" in dialect)


def test_the_task_is_what_a_provider_is_to_keep(tmp_path: Path) -> None:
    """All prompts of a role on a task begin with the same marked blocks."""
    with WireServer(author.always_wrong) as server:
        options = ["model=anthropic/m", f"model_args.base_url={server.anthropic_url}", f"runs_dir={tmp_path}"]
        cli.run(*options, "scaffold=geak", "rounds=2", "scaffold.descendants=1", "benchmark.tasks=[silu]")
    marked = [[b for b in request["messages"][0]["content"] if "cache_control" in b] for request in server.requests]
    assert len(marked) > 2
    assert all(len(blocks) == 1 and blocks == marked[0] for blocks in marked)
    assert "def silu" in marked[0][0]["text"]


def test_runs_of_one_command_share_one_pace(tmp_path: Path) -> None:
    with WireServer(author.right, delay_s=0.3) as server:
        words = [*cli.asking(server, tmp_path), "model_args.concurrency=1", "scaffold=oneshot", "benchmark.tasks=[silu]"]
        done = cli.run("-m", *words, "seed=1,2,3", "concurrency=3")
    assert done.returncode == 0, done.stderr
    assert (len(server.requests), server.peak) == (3, 1)
