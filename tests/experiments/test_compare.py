"""What a comparison says of runs, against numbers reckoned by hand."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmark.errors import UserError
from experiments.compare import act, figures
from experiments.report.figures import Figure
from experiments.runs import Run
from tests.experiments.compared import FAILED, run

TASKS = {f"quick/{letter}": 2.0 for letter in "abcdef"}


def named(runs: list[Run], name: str) -> Figure:
    return next(figure for figure in figures(runs) if figure.name == f"compare-{name}")


def only(runs: list[Run]) -> dict[str, Any]:
    (row,) = named(runs, "pairs").table.to_dicts()
    return row


def test_mcnemar_is_exact_on_the_tasks_that_one_alone_solved(tmp_path: Path) -> None:
    lost = dict.fromkeys(list(TASKS)[:5], FAILED)
    row = only([run(tmp_path / "a", TASKS), run(tmp_path / "b", {**TASKS, **lost}, scaffold="oneshot")])
    assert (row["both"], row["only_left"], row["only_right"]) == (1, 5, 0)
    assert row["p"] == pytest.approx(2 * 0.5**5)


def test_the_ratio_is_of_tasks_that_both_solved_and_failures_count_as_one_in_all(tmp_path: Path) -> None:
    half = {**dict.fromkeys(TASKS, 0.5), "quick/f": FAILED}
    row = only([run(tmp_path / "a", TASKS), run(tmp_path / "b", half, scaffold="oneshot")])
    assert (row["faster_pairs"], row["ratio"], row["ratio_all"]) == (5, pytest.approx(4.0), pytest.approx((4**5 * 2) ** (1 / 6)))
    assert [row["low"], row["high"]] == pytest.approx([4.0, 4.0])


def test_tasks_that_are_not_shared_are_said_and_in_no_pair(tmp_path: Path) -> None:
    less = dict.fromkeys(list(TASKS)[:5], 2.0)
    runs = [run(tmp_path / "a", TASKS), run(tmp_path / "b", less, scaffold="oneshot", shas={"quick/a": "changed"})]
    assert only(runs)["count"] == 4
    note = named(runs, "pairs").note
    assert "quick/a (its cases or reference differ)" in note
    assert "quick/f (not asked of b)" in note


def test_conditions_that_differ_are_told_and_no_other(tmp_path: Path) -> None:
    left = run(tmp_path / "a", TASKS, config="budget: {usd: 1}\n")
    right = run(tmp_path / "b", TASKS, seed=7, config="budget: {usd: 2}\n", packages={"torch": "2.12.0", "triton": "3.6.0"})
    table = named([left, right], "conditions").table
    assert {row[0]: row[1:] for row in table.rows()} == {
        "packages.torch": ("2.11.0", "2.12.0"),
        "config.budget.usd": ("1", "2"),
        "seeds": ("0", "7"),
    }


def test_simulated_runs_have_no_ratio_and_it_is_said(tmp_path: Path) -> None:
    simulated = run(tmp_path / "b", dict.fromkeys(TASKS, FAILED), scaffold="oneshot", simulated=True)
    row = only([run(tmp_path / "a", TASKS), simulated])
    assert (row["ratio"], row["ratio_all"]) == (None, None)
    assert "simulated" in row["note"]


def test_seeds_are_said_and_the_surplus_left_out(tmp_path: Path) -> None:
    runs = [run(tmp_path / "a", TASKS), run(tmp_path / "a1", TASKS, seed=1), run(tmp_path / "b", TASKS, scaffold="oneshot")]
    row = only(runs)
    assert (row["count"], row["seeds"]) == (6, 1)
    assert "2 and 1 seeds: the first 1 of each count" in row["note"]


def test_few_tasks_have_no_interval_and_it_is_said(tmp_path: Path) -> None:
    few = {"quick/a": 2.0, "quick/b": 3.0}
    row = only([run(tmp_path / "a", few), run(tmp_path / "b", few, scaffold="oneshot")])
    assert (row["ratio"], row["low"]) == (pytest.approx(1.0), None)
    assert "too few for an interval" in row["note"]


def test_runs_without_a_common_task_have_no_test(tmp_path: Path) -> None:
    row = only([run(tmp_path / "a", {"quick/a": 2.0}), run(tmp_path / "b", {"quick/b": 2.0}, scaffold="oneshot")])
    assert (row["count"], row["p"], row["p_holm"]) == (0, None, None)
    assert "no task in common" in row["note"]


def test_three_methods_are_corrected_for_three_tests(tmp_path: Path) -> None:
    lost = dict.fromkeys(TASKS, FAILED)
    runs = [run(tmp_path / "a", TASKS), run(tmp_path / "b", lost, scaffold="oneshot"), run(tmp_path / "c", lost, scaffold="evolve")]
    table = named(runs, "pairs").table
    assert table.select("left", "right", "p", "p_holm").rows() == [
        ("geak", "oneshot", pytest.approx(2 / 64), pytest.approx(6 / 64)),
        ("geak", "evolve", pytest.approx(2 / 64), pytest.approx(6 / 64)),
        ("oneshot", "evolve", pytest.approx(1.0), pytest.approx(1.0)),
    ]


def test_one_run_is_a_sentence(tmp_path: Path) -> None:
    run(tmp_path / "a", TASKS)
    with pytest.raises(UserError, match="One run cannot be compared"):
        act([f"runs=[{tmp_path / 'a'}]"])


def test_json_holds_conditions_methods_and_pairs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(tmp_path / "a", TASKS)
    run(tmp_path / "b", TASKS, scaffold="oneshot")
    assert act([f"runs=[{tmp_path / 'a'},{tmp_path / 'b'}]", "format=json"]) == 0
    assert list(json.loads(capsys.readouterr().out)["figures"]) == ["compare-conditions", "compare-methods", "compare-pairs"]
