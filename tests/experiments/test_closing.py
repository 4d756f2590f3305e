"""The closing table: one row per trajectory, unknown shown as unknown."""

from pathlib import Path

from agents.budget import Limits, TrajectoryLimits
from agents.ledger import Ledger
from agents.prices import Prices
from experiments import closing
from experiments.store import RunStore
from tests.experiments import records

ASKED = [("quick/add@0", "quick/add", 0), ("quick/gelu@0", "quick/gelu", 0), ("quick/sum@0", "quick/sum", 0)]


async def table(path: Path, speedup: float | None) -> list[str]:
    store = RunStore.create(path / "r", "seed: 0\n", {}, {})
    sha = store.put_kernel("# kernel\n")
    await store.write_call(records.call())
    ci, why = (None, "no clock") if speedup is None else ([speedup - 0.1, speedup + 0.1], None)
    await store.write_attempt(records.attempt(speedup=speedup, speedup_ci=ci, no_speedup=why, kernel_sha=sha))
    await store.write_trajectory(records.trajectory(kernel_sha=sha))
    await store.write_attempt(records.attempt("quick/gelu@0", "001.00.00", verdict="wrong_numeric", correct=False, no_speedup="ended"))
    await store.write_trajectory(records.trajectory("quick/gelu@0", champion=None))
    return closing.lines(store, ASKED)


async def test_each_task_has_a_row_with_the_path_of_its_best_kernel(tmp_path: Path) -> None:
    lines = await table(tmp_path, 2.0)
    assert lines[2].split() == ["quick/add", "pass", "1", "2.00x", "[1.90,", "2.10]", "12", str(tmp_path / "r/best/quick/add.py")]
    assert lines[3].split() == ["quick/gelu", "wrong_numeric", "(rounds)", "2", "-", "0", "-"]
    assert lines[4].split() == ["quick/sum", "not", "started", "0", "-", "0", "-"]


async def test_the_mean_is_given_over_the_solved_and_over_all(tmp_path: Path) -> None:
    lines = await table(tmp_path, 8.0)
    assert any(line.startswith("correct 1/3  compiled 2/3") for line in lines)
    assert "geometric-mean speedup 8.00x over 1 solved and timed, 2.00x over all 3 (a failure counts as 1.0)" in lines


async def test_a_missing_speedup_is_a_dash_with_its_reason_once(tmp_path: Path) -> None:
    lines = await table(tmp_path, None)
    assert lines.count("speedup '-': no clock") == 1
    assert not any("geometric-mean" in line for line in lines)


def test_of_each_limit_that_was_set_it_says_how_much_is_used() -> None:
    limits = Limits(usd=5.0, wall_s=60.0, trajectory=TrajectoryLimits(tokens=1000, evaluations=2, wall_s=30.0))
    ledger = Ledger(limits, Prices.load(), clock=lambda: 0.0)
    ledger.restore([records.call()], [("quick/add@0", 0.0)], wall_s=12.4)
    assert closing.budgets(ledger) == [
        "budget of the run: $0.2500 of $5, 12 of 60 wall_s",
        "budget of a trajectory: at most 12 of 1,000 tokens, 1 of 2 evaluations",
    ]
    assert closing.budgets(Ledger()) == []
