"""A run under budgets, from the command line: what ends, what goes on, and what a resumed run may still spend."""

from pathlib import Path

import pytest

from tests.experiments import author, cli
from tests.servers.wire import Fault, WireServer, in_turn

WORDS = [
    "scaffold=geak",
    "scaffold.descendants=1",
    "rounds=2",
    "benchmark.tasks=[silu]",
    "seed=[1,2]",
    "concurrency=1",
    "run_id=r",
    "model_args.max_tokens=500",
]
DEAR = {"prompt_tokens": 99_900, "completion_tokens": 0, "total_tokens": 99_900}


@pytest.mark.slow
def test_a_trajectory_s_budget_ends_it_alone_with_its_champion_until_a_resumed_run_has_a_larger_one(tmp_path: Path) -> None:
    path = tmp_path / "r"
    with WireServer(author.right, faults=in_turn(Fault("usage", body=DEAR))) as server:
        done = cli.run(*cli.asking(server, tmp_path), *WORDS, "budget.trajectory.tokens=100000")
        assert done.returncode == 0, done.stderr
        asked = len(server.requests)
        again = cli.run(f"resume={path}")
        assert len(server.requests) == asked
        more = cli.run(f"resume={path}", "budget.trajectory.tokens=null")
        assert more.returncode == 0, more.stderr
        assert len(server.requests) > asked
    first, second, resumed, larger = cli.lines(path, "trajectories")
    assert [t["end_reason"] for t in (first, second, resumed, larger)] == ["budget", "rounds", "budget", "rounds"]
    assert first["champion"] == resumed["champion"] == "000.00.00"
    assert first["error"].startswith("The trajectory's budget of 100,000 tokens is used up: 99,900 spent, and the next step may take")
    for output in (done.stdout, again.stdout):
        assert "budget of a trajectory: at most 99,900 of 100,000 tokens" in output
