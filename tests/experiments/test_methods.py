"""Which runs are one method, and what it is called."""

from pathlib import Path

from experiments.methods import groups, labelled
from tests.experiments.compared import run

TASKS = {"quick/a": 2.0}


def test_runs_that_differ_in_the_seed_alone_are_one_method(tmp_path: Path) -> None:
    runs = [run(tmp_path / "a", TASKS), run(tmp_path / "b", TASKS, seed=1)]
    assert groups(runs) == [runs]
    assert labelled(runs) == ["geak", "geak"]


def test_a_seed_that_was_run_twice_is_two_methods_by_the_runs_names(tmp_path: Path) -> None:
    runs = [run(tmp_path / "a", TASKS), run(tmp_path / "b", TASKS)]
    assert labelled(runs) == ["geak, a", "geak, b"]


def test_seeds_go_to_the_first_group_that_lacks_them(tmp_path: Path) -> None:
    runs = [run(tmp_path / "a", TASKS), run(tmp_path / "b", TASKS), run(tmp_path / "c", TASKS, seed=1)]
    assert labelled(runs) == ["geak, a and c", "geak, b", "geak, a and c"]


def test_models_are_named_where_they_differ(tmp_path: Path) -> None:
    runs = [run(tmp_path / "a", TASKS), run(tmp_path / "b", TASKS, model="openai/y")]
    assert labelled(runs) == ["geak, openai/x", "geak, openai/y"]


def test_other_settings_are_another_method_by_what_differs(tmp_path: Path) -> None:
    runs = [
        run(tmp_path / "a", TASKS),
        run(tmp_path / "b", TASKS, config="budget: {usd: 2}\n"),
        run(tmp_path / "c", TASKS, scaffold="evolve"),
    ]
    assert labelled(runs) == ["geak, budget.usd=-", "geak, budget.usd=2", "evolve"]


def test_of_many_other_settings_the_runs_names_are_told(tmp_path: Path) -> None:
    runs = [run(tmp_path / "a", TASKS), run(tmp_path / "b", TASKS, config="budget: {usd: 2, tokens: 3, gpu_s: 4}\n")]
    assert labelled(runs) == ["geak, a", "geak, b"]
