"""`benchmark=... benchmark.category=[...]` and its siblings choose tasks, and a misspelt name is one sentence."""

from typing import Any

import pytest

from benchmark import suites
from benchmark.errors import UserError
from experiments.config import parse
from experiments.plan import chosen
from tests.experiments.cli import ROOT, run
from tools.tasks import FORMATS

OPTIONS = sorted(path.stem for path in (ROOT / "experiments/conf/benchmark").glob("*.yaml"))


def names(**benchmark: Any) -> list[str]:
    return [task.name for task in chosen(parse({"scaffold": {}, "benchmark": {"suite": "kernelbench_x", **benchmark}}, "geak"))]


def test_every_suite_is_an_option_of_the_group_benchmark() -> None:
    assert sorted((*suites.names(), *FORMATS)) == OPTIONS


def test_lists_and_single_values_choose_alike() -> None:
    fusion = names(category=["Fusion"])
    assert fusion == names(category="Fusion")
    assert {"fused_add_gelu"} <= set(fusion)
    assert names(tasks=["kernelbench_x/matmul", "gelu"]) == ["gelu", "matmul"]
    assert set(names(source=["torch.optim"])) & {"SGD", "matmul"} == {"SGD"}


def test_a_seed_draws_the_same_sample_each_time() -> None:
    assert names(limit=20, sample_seed=0) == names(limit=20, sample_seed=0) != names(limit=20, sample_seed=1)
    assert len(names(limit=20, sample_seed=0)) == 20


@pytest.mark.parametrize(("benchmark", "nearest"), [
    ({"category": ["Fuson"]}, "'Fusion'"), ({"tasks": ["fused_add_gely"]}, "'fused_add_gelu'"),
    ({"source": "torch.optin"}, "'torch.optim'"),
])  # fmt: skip
def test_a_misspelt_name_suggests_the_nearest(benchmark: dict[str, Any], nearest: str) -> None:
    with pytest.raises(UserError, match=f"Did you mean {nearest}"):
        names(**benchmark)


@pytest.mark.parametrize(("benchmark", "sentence"), [
    ({"suite": "kernelbench"}, "benchmark.path=FOLDER"),
    ({"suite": "kernelbench", "path": "/nowhere"}, "There is no folder '/nowhere'"),
    ({"suite": "kernelbench", "path": ".", "source": "torch"}, "benchmark.source cannot be set for kernelbench"),
    ({"path": "/tmp"}, "benchmark.path cannot be set for kernelbench_x"),
])  # fmt: skip
def test_a_checkout_is_asked_for_where_it_is_needed_and_nowhere_else(benchmark: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        names(**benchmark)


def test_task_args_are_for_files_of_ones_own() -> None:
    with pytest.raises(UserError, match=r"task_args\.tolerance cannot be set for kernelbench_x"):
        chosen(parse({"scaffold": {}, "benchmark": {"suite": "kernelbench_x"}, "task_args": {"tolerance": 1e-3}}, "geak"))
    with pytest.raises(UserError, match=r"task_args\.tolerance cannot be set for quick/add"):
        chosen(parse({"scaffold": {}, "task": "quick/add", "task_args": {"tolerance": 1e-3}}, "geak"))


def test_the_command_refuses_a_misspelt_category_before_anything_starts() -> None:
    done = run("benchmark=kernelbench_x", "benchmark.category=[Fuson]", "benchmark.limit=20", "benchmark.sample_seed=0")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith("Unknown category 'Fuson'. Did you mean 'Fusion'?")
