"""Tasks of a checkout chosen as those of a suite are, and options refused where there are none."""

import json
from pathlib import Path

import pytest

from benchmark.errors import UserError
from tools import jobs, tasks
from tools.evaluate import arguments

TEXT = """
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return x * {}
n = 64
def get_inputs():
    return [torch.rand(n)]
def get_init_inputs():
    return []
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for level, name, factor in (("level1", "1_Twice", 2), ("level1", "2_Thrice", 3), ("level2", "1_Half", 0.5)):
        folder = tmp_path / "KernelBench" / level
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.py").write_text(TEXT.format(factor))
    return tmp_path


def test_tasks_of_a_checkout_are_chosen_by_category_and_name(checkout: Path) -> None:
    found = tasks.select("kernelbench", checkout, category="level1", tasks=["2_Thrice", "level1/1_Twice"], args={"tolerance": 1e-3})
    assert [task.name for task in found] == ["1_Twice", "2_Thrice"]
    assert "0.001" in found[0].contract.checker.words


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"path": None}, "benchmark.path=FOLDER"),
        ({"path": "nowhere"}, "There is no folder 'nowhere'"),
        ({"category": "level7"}, "Unknown category 'level7'"),
        ({"tasks": "1_Twise"}, "Did you mean '1_Twice'"),
    ],
)
def test_a_wrong_choice_is_one_sentence(checkout: Path, asked: dict[str, str], says: str) -> None:
    with pytest.raises(UserError, match=says):
        tasks.select("kernelbench", **{"path": checkout, **asked})


def test_a_task_of_ours_takes_no_options() -> None:
    with pytest.raises(UserError, match="only tasks from files of your own take options"):
        tasks.find("quick/gelu", {"tolerance": 1e-3})


def test_what_has_a_colon_and_is_no_task_file_is_said() -> None:
    with pytest.raises(UserError, match="before the colon stands a Python file"):
        tasks.find("./my_ops:f")


def test_a_job_may_have_options_of_its_task(checkout: Path) -> None:
    lines = [
        {"id": i, "task": f"kernelbench:{checkout}/level1/1_Twice", "task_args": a, "candidate": "x"}
        for i, a in enumerate(({"scale": "off"}, 3))
    ]
    (checkout / "jobs.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    first, second = jobs.read(checkout / "jobs.jsonl")
    assert isinstance(first, jobs.Job)
    assert first.task.cases[0].name == "file"
    assert isinstance(second, jobs.Broken)


def test_options_of_a_task_go_with_a_task_on_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        arguments(["--task-arg", "tolerance=1e-3", "--jobs", "a", "--out", "b"])
    assert "--task-arg goes with --task" in capsys.readouterr().err
