import subprocess
import sys

import pytest

from benchmark import suites
from benchmark.errors import UserError


def test_names_are_known_without_torch() -> None:
    code = "import sys; from benchmark import suites; assert 'quick' in suites.names(); sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_a_task_is_found_by_its_id() -> None:
    assert suites.find("quick/gelu").name == "gelu"


@pytest.mark.parametrize(
    ("task", "hint"),
    [("quick/gelo", "'quick/gelu'"), ("quik/gelu", "'quick'"), ("gelu", "suite/task"), ("", "suite/task"), ("quick/", "quick/add")],
)
def test_an_unknown_task_is_a_sentence_with_the_remedy(task: str, hint: str) -> None:
    with pytest.raises(UserError) as error:
        suites.find(task)
    assert hint in str(error.value)
    assert "\n" not in str(error.value)


def names(**chosen: object) -> list[str]:
    return [task.name for task in suites.select("quick", **chosen)]  # type: ignore[arg-type]


def test_everything_is_selected_by_default() -> None:
    assert len(names()) == 12


def test_categories_names_and_sources_narrow_the_selection() -> None:
    assert names(category="Reduce") == ["sum", "argmax"]
    assert names(category=["Loss", "Fusion"]) == ["cross_entropy", "fused_add_gelu"]
    assert names(tasks=["quick/softmax", "add"]) == ["add", "softmax"]
    assert names(source="torch.nn.functional") == ["gelu", "silu", "layer_norm", "rms_norm", "cross_entropy"]
    assert names(source=["torch", "fused"], category=["Reduce", "Fusion"]) == ["sum", "argmax", "fused_add_gelu"]
    assert names(category="Reduce", tasks="sum") == ["sum"]
    assert names(category="Reduce", tasks="gelu") == []


def test_tasks_of_several_suites_are_selected_by_name_or_id() -> None:
    found = suites.select(["quick", "kernelbench_x"], tasks=["silu", "gelu", "kernelbench_x/add"])
    assert [task.id for task in found] == ["quick/gelu", "quick/silu", "kernelbench_x/gelu", "kernelbench_x/add"]


def test_of_many_choices_the_nearest_are_named() -> None:
    with pytest.raises(UserError) as error:
        suites.select("kernelbench_x", tasks="fused_add_gely")
    assert "Did you mean 'fused_add_gelu'? The nearest of " in str(error.value)
    assert len(str(error.value)) < 300


def test_a_limit_takes_the_first_ones_and_a_seed_the_same_random_ones() -> None:
    assert names(limit=2) == ["add", "gelu"]
    assert names(limit=100) == names()
    assert names(limit=4, sample_seed=1) == names(limit=4, sample_seed=1) != names(limit=4, sample_seed=2)
    assert len(set(names(limit=4, sample_seed=1))) == 4


@pytest.mark.parametrize("chosen", [{"category": "Redcue"}, {"tasks": ["gelo"]}, {"source": "nowhere"}])
def test_unknown_choices_are_refused(chosen: dict) -> None:
    with pytest.raises(UserError, match="Choose one of"):
        suites.select("quick", **chosen)


def test_a_suite_of_checkouts_is_told_from_a_misspelt_one() -> None:
    with pytest.raises(UserError, match="in a checkout of your own"):
        suites.load("kernelbench")
