"""Rows, ranks and conditions of the leaderboard, against numbers reckoned by hand."""

import json
from pathlib import Path

import pytest

from benchmark.errors import UserError
from experiments.leaderboard import MEASURED, act, entries, figures
from experiments.totals import audit
from tests.experiments.compared import FAILED, run

TASKS = {"quick/a": 2.0, "quick/b": 0.5, "quick/c": 4.0, "quick/d": FAILED}


def test_a_row_has_its_shares_of_all_that_was_asked(tmp_path: Path) -> None:
    (row,) = figures([run(tmp_path / "a", TASKS, asked=("quick/e",))])[0].table.to_dicts()
    assert (row["solved"], row["asked"], row["open"], row["fast_1"]) == (3, 5, 1, 0.4)
    assert row["geomean_solved"] == pytest.approx(4 ** (1 / 3))
    assert row["geomean_all"] == pytest.approx(4 ** (1 / 5))


def test_spending_of_failures_is_charged_to_the_solved(tmp_path: Path) -> None:
    (row,) = figures([run(tmp_path / "a", TASKS)])[0].table.to_dicts()
    assert row["tokens_per_solved"] == pytest.approx(4 * 12 / 3)
    assert row["gpu_hours"] == pytest.approx(4 * 36 / 3600)


def test_what_was_spent_is_the_audits(tmp_path: Path) -> None:
    runs = [run(tmp_path / "a", TASKS, seed=0), run(tmp_path / "b", TASKS, seed=1)]
    (row,) = figures(runs)[0].table.to_dicts()
    total = audit(runs)["total"]
    keys = ("tokens", "tokens_at_least", "usd", "usd_at_least")
    told = [row[key] for key in ("tokens_per_solved", "tokens_at_least", "usd_per_solved", "usd_at_least")]
    assert told == [total[f"{key}_per_success"] for key in keys]


def test_the_interval_is_wilsons(tmp_path: Path) -> None:
    """Brown, Cai and DasGupta 2001, by hand: (p + z^2/2n -+ z sqrt(p(1-p)/n + z^2/4n^2)) / (1 + z^2/n)."""
    (row,) = figures([run(tmp_path / "a", TASKS)])[0].table.to_dicts()
    z, n, p = 1.959964, 4, 0.75
    half = z * (p * (1 - p) / n + z * z / (4 * n * n)) ** 0.5
    assert [row["low"], row["high"]] == pytest.approx([(p + z * z / (2 * n) + sign * half) / (1 + z * z / n) for sign in (-1, 1)], abs=1e-6)


def test_runs_that_differ_in_their_seed_are_one_row(tmp_path: Path) -> None:
    runs = [run(tmp_path / "a", TASKS, seed=0), run(tmp_path / "b", TASKS, seed=1)]
    (row,) = figures(runs)[0].table.to_dicts()
    assert (row["asked"], row["seeds"], row["runs"]) == (8, [0, 1], ["a", "b"])


def test_the_same_seed_run_twice_is_two_rows(tmp_path: Path) -> None:
    assert len(entries([run(tmp_path / "a", TASKS), run(tmp_path / "b", TASKS)])) == 2


@pytest.mark.parametrize("other", [{"config": "budget: {usd: 3}\n"}, {"revision": "f"}, {"packages": {"torch": "2.12.0"}}])
def test_other_conditions_are_another_row(other: dict[str, object], tmp_path: Path) -> None:
    assert len(entries([run(tmp_path / "a", TASKS), run(tmp_path / "b", TASKS, seed=1, **other)])) == 2  # type: ignore[arg-type]


def test_simulated_runs_rank_apart_and_have_no_speedup(tmp_path: Path) -> None:
    simulated = run(tmp_path / "s", dict.fromkeys(TASKS), simulated=True)
    boards = {board.name: board.table for board in figures([run(tmp_path / "a", TASKS), simulated])}
    assert boards["measured"]["runs"].to_list() == [["a"]]
    assert boards["simulated"]["runs"].to_list() == [["s"]]
    assert not set(MEASURED) & set(boards["simulated"].columns)


def test_ranks_are_by_fast_1_and_equal_ones_share_theirs(tmp_path: Path) -> None:
    slow = run(tmp_path / "slow", {**TASKS, "quick/a": 0.9}, scaffold="slow")
    same = [run(tmp_path / name, TASKS, scaffold=name) for name in ("x", "y")]
    table = figures([slow, *same])[0].table
    assert dict(table.select("method", "rank").rows()) == {"x": 1, "y": 1, "slow": 3}


def test_other_tasks_or_another_device_are_another_board(tmp_path: Path) -> None:
    runs = [run(tmp_path / "a", TASKS), run(tmp_path / "b", TASKS, shas={"quick/a": "other"}),
            run(tmp_path / "c", TASKS, device={"name": "Other", "simulated": False})]  # fmt: skip
    table = figures(runs)[0].table
    assert table["board"].n_unique() == 3
    assert table["rank"].to_list() == [1, 1, 1]


def test_a_champion_without_a_measurement_leaves_the_speed_unknown(tmp_path: Path) -> None:
    (row,) = figures([run(tmp_path / "a", {**TASKS, "quick/a": None})])[0].table.to_dicts()
    assert (row["fast_1"], row["geomean_all"]) == (None, None)


def test_a_star_stands_for_the_run_directories(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(tmp_path / "a", TASKS)
    run(tmp_path / "b", TASKS, scaffold="oneshot")
    (tmp_path / "report.html").write_text("")
    assert act([f"runs={tmp_path}/*", "format=json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["figures"]["measured"]["rows"]) == 2


def test_a_run_that_never_began_is_left_out_and_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(tmp_path / "a", TASKS)
    (run(tmp_path / "b", TASKS).path / "environment.json").unlink()
    assert act([f"runs={tmp_path}/*", "format=json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [row["runs"] for row in told["figures"]["measured"]["rows"]] == [["a"]]
    assert "left out" in told["notes"][0]
    assert f"{tmp_path / 'b'}" in told["notes"][0]


def test_a_star_that_matches_no_run_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="names no run directory"):
        act([f"runs={tmp_path}/*"])
