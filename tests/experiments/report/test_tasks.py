"""The table of tasks and the head of the page, from records."""

from pathlib import Path

import pytest

from agents.models.base import Usage
from experiments.report import overview, tasks
from experiments.report.texts import Shelf
from experiments.report.trajectories import Reader
from experiments.runs import Run
from experiments.totals import audit
from tests.experiments.books import book
from tests.experiments.report import stores


def rows(run: Run) -> list[tasks.Row]:
    return tasks.rows(run, Reader(run, Shelf()), "geak")


def test_a_row_has_the_champions_speed_with_its_interval(tmp_path: Path) -> None:
    record = rows(stores.hostile(tmp_path / "r"))[0].record
    assert (record["champion"], record["speedup"], record["speedup_low"], record["speedup_high"]) == ("001.00.00", 2.0, 1.9, 2.1)


def test_spend_is_that_of_the_audit_and_says_what_is_unknown(tmp_path: Path) -> None:
    calls = [
        ("quick/add", "generator", 0, Usage(input=100, output=10)),
        ("quick/add", "reflector", 0, Usage(input=7, output=1)),
        ("quick/gelu", "generator", 0, None),
    ]
    run = book(tmp_path / "r", calls)
    total = overview.summed("geak", rows(run))
    audited = audit([run], {})["total"]
    assert total["tokens"] == audited["tokens_at_least"] == 118
    assert total["usd"] == pytest.approx(audited["usd_at_least"])
    assert (total["tokens_unknown"], total["usd_unknown"]) == (1, 1)


def test_shares_are_of_what_was_asked(tmp_path: Path) -> None:
    run = stores.hostile(tmp_path / "r")
    head = overview.overview([run], rows(run))
    assert {key: head.methods[0][key] for key in ("asked", "solved", "compiled")} == {"asked": 3, "solved": 1, "compiled": 1}
    assert head.methods[0]["speedup_all"] == pytest.approx(2.0 ** (1 / 3))
    assert head.totals[0] == ("solved", "1 of 3")


def test_the_head_says_what_was_not_begun_and_what_has_not_ended(tmp_path: Path) -> None:
    run, ended = stores.hostile(tmp_path / "r"), tmp_path / "r" / "trajectories.jsonl"
    assert overview.unended(rows(run)) == ["Of the trajectories asked for, 1 not begun: what they lack counts as not solved."]
    ended.write_text("".join(ended.read_text().splitlines(keepends=True)[:-1]))
    assert "asked for, 1 not begun and 1 not ended: what they lack" in overview.overview([run], rows(Run(run.path))).lead


def test_an_anchor_quotes_its_parts() -> None:
    assert tasks.anchor("r", "quick/add@0") == "trajectory/r/quick%2Fadd%400"
