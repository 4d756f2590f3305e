"""Predictions: a line for each task asked, sources that their check and their test can call, and the best attempt of each round."""

import ast
import json
from pathlib import Path

import pytest

from benchmark.errors import UserError
from benchmark.suites.kernelbench_x import TASKS
from experiments.export import predictions
from tests.experiments.export import stores


def lines(path: Path) -> dict[str, str]:
    return {row["file"]: row["predict"] for row in map(json.loads, path.read_text().splitlines())}


def test_every_task_of_the_suite_that_was_asked_has_one_line(tmp_path: Path) -> None:
    run = stores.run(tmp_path / "r")
    predictions.write([run], tmp_path / "out")
    rows = [json.loads(line) for line in (tmp_path / "out" / "r.seed0.jsonl").read_text().splitlines()]
    assert [row["file"] for row in rows] == ["Activation/gelu.py", "Optimizer/SGD.py"]
    assert all(set(row) == {"file", "predict"} for row in rows)


def test_a_trajectory_gives_its_champion_or_else_its_last_candidate(tmp_path: Path) -> None:
    predictions.write([stores.run(tmp_path / "r")], tmp_path / "out")
    found = lines(tmp_path / "out" / "r.seed0.jsonl")
    assert found["Activation/gelu.py"] == stores.RIGHT
    assert found["Optimizer/SGD.py"].startswith(stores.STEP)


def test_rounds_apart_give_the_candidates_of_each_and_an_empty_one_where_there_is_none(tmp_path: Path) -> None:
    said = predictions.write([stores.run(tmp_path / "r")], tmp_path / "out", which="rounds")
    assert lines(tmp_path / "out" / "r.seed0.round0.jsonl")["Activation/gelu.py"] == stores.WRONG
    assert lines(tmp_path / "out" / "r.seed0.round1.jsonl") == {"Activation/gelu.py": stores.RIGHT, "Optimizer/SGD.py": ""}
    assert said[1].endswith("round1.jsonl: 2 predictions, 1 of them empty")


@pytest.mark.parametrize(("source", "stem", "names"), [
    ("def gelu(x): ...", "gelu", []),
    ("def kernel_function(x): ...", "gelu", ["gelu"]),
    ("kernel_function = abs", "gelu", ["gelu"]),
    ("def sgd_step(p): ...", "SGD", ["kernel_function"]),
    ("def kernel_function(p): ...", "SGD", ["sgd_step"]),
    ("def SGD(p): ...\ndef sgd_step(p): ...", "SGD", []),
    ("def broken(", "gelu", []),
])  # fmt: skip
def test_a_source_gets_the_names_that_it_lacks(source: str, stem: str, names: list[str]) -> None:
    added = ast.parse(predictions.aliases(source, stem)).body
    assert [node.targets[0].id for node in added if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)] == names


def test_operators_that_are_called_by_another_name_are_those_of_the_suite() -> None:
    stems = {task.id.partition("/")[2]: task.entry_name for task in TASKS}
    assert {stem: entry for stem, entry in stems.items() if stem != entry} == predictions.CALLED


def test_text_that_their_reader_cuts_at_is_told(tmp_path: Path) -> None:
    line = predictions.told(tmp_path / "p.jsonl", [{"file": "Math/a.py", "predict": 'def a():\n    "```"\n'}])
    assert "cuts off Math/a.py" in line


def test_a_run_of_another_suite_is_refused(tmp_path: Path) -> None:
    run = stores.unanswered(tmp_path / "r")
    with pytest.raises(UserError, match="kernelbench_x"):
        predictions.write([run], tmp_path / "out")
    assert not (tmp_path / "out").exists()
