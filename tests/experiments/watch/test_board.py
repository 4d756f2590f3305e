"""What records and events make of a run."""

from pathlib import Path

import pytest

from experiments.runs import PAUSED, Run
from experiments.watch.board import Board, Row
from experiments.watch.order import matching, ordered
from experiments.watch.tail import Batch, Reader
from experiments.watch.words import fast, heading, summary
from tests.experiments.watch import stores


def board(path: Path) -> Board:
    """Of a store that may still be open in this process, whose lock a process does not see."""
    made = Board(Run(path))
    batch = Reader(path).poll()
    batch.running = True
    made.take(batch)
    return made


def test_a_row_sums_its_calls_and_keeps_the_best_attempt(tmp_path: Path) -> None:
    row = board(stores.finished(tmp_path / "run").path).rows["quick/add@0"]
    assert (row.state, len(row.attempts), row.spent.tokens, row.spent.usd) == ("solved", 2, 24, 0.5)
    assert row.best is not None
    assert (row.best["attempt"], fast(row.best)) == ("001.00.00", "1.50x modelled")


def test_a_measured_speedup_is_not_called_modelled() -> None:
    assert fast({"speedup": 2.0, "modelled": 3.0}) == "2.00x"


def test_a_trajectory_that_is_under_way_tells_node_and_role(tmp_path: Path) -> None:
    store = stores.created(tmp_path / "run")
    store.event("start")
    stores.begin(store)
    made = board(store.path)
    store.close()
    assert [(row.state, row.doing) for row in made.rows.values()] == [("running", "author/generator"), ("asked", "")]
    store = type(store)(store.path)
    store.event("judge", trajectory="quick/add@0")
    assert board(store.path).rows["quick/add@0"].doing == "author/executor"
    store.close()


def test_what_a_kill_left_under_way_is_stopped_and_its_run_interrupted(tmp_path: Path) -> None:
    store = stores.created(tmp_path / "run")
    store.event("start")
    stores.begin(store)
    store.close()
    made = board(store.path)
    assert made.state == "running"
    made.take(Batch(running=False))
    assert (made.state, made.rows["quick/add@0"].state) == ("interrupted", "stopped")


@pytest.mark.parametrize(("reasons", "state"), [
    (("solved", "rounds"), "finished"), (("solved", "waiting"), "waiting for a batch"), (("solved", "interrupted"), "interrupted"),
    (("budget", "error"), "finished"),
])  # fmt: skip
def test_the_state_of_a_run_that_nobody_writes_follows_from_its_trajectories(tmp_path: Path, reasons: tuple[str, ...], state: str) -> None:
    made = board(stores.finished(tmp_path / "run").path)
    for row, reason in zip(made.rows.values(), reasons, strict=True):
        row.ended = {"end_reason": reason}
    made.running = False
    assert made.state == state
    assert [row.ended["end_reason"] for row in made.ended() if row.ended] == [one for one in reasons if one not in PAUSED]


def test_budgets_left_are_those_of_the_run_and_of_each_trajectory(tmp_path: Path) -> None:
    made = board(stores.finished(tmp_path / "run").path)
    assert "left: 976 tokens" in heading(made, 0.0)[1]
    assert made.rows["quick/add@0"].spent.left(made.budget["trajectory"], 0.0) == {"evaluations": 3}


def test_filter_words_are_all_found_in_a_row() -> None:
    row = Row("quick/add@0", "quick/add", 0)
    assert matching(row, "ADD asked")
    assert not matching(row, "add ended")


def test_rows_without_a_speedup_are_last_whichever_way_they_are_sorted() -> None:
    rows = [Row(name, name, 0) for name in "abc"]
    rows[1].best, rows[2].best = {"speedup": 1.0, "modelled": None}, {"speedup": 2.0, "modelled": None}
    assert [row.name for row in ordered(rows, "best", False)] == ["c", "b", "a"]
    assert [row.name for row in ordered(rows, "best", True)] == ["b", "c", "a"]


def test_the_summary_has_a_line_for_each_trajectory(tmp_path: Path) -> None:
    lines = summary(board(stores.finished(tmp_path / "run").path), 0.0).splitlines()
    assert lines[3].split()[:3] == ["trajectory", "state", "node"]
    assert [line.split()[0] for line in lines[4:]] == ["quick/add@0", "quick/sum@0"]
