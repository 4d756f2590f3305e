"""Foreign files as text: which ids are foreign, where a checkout has its tasks, what belongs to one, and what a description may be."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmark import importers, suites
from benchmark.errors import UserError
from benchmark.importers import described, files, options
from benchmark.origin import Origin, packed, unpacked

MODEL = "class Model:\n    pass\ndef get_inputs():\n    return []\ndef get_init_inputs():\n    return []\n"
LINE = "\n" + "#" * 146 + "\n"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for name, text in {
        "KernelBench/level1/2_Second.py": MODEL, "KernelBench/level1/10_Tenth.py": MODEL, "KernelBench/level2/1_First.py": MODEL,
        "data/kernelbenchx/Math/twice.py": f"def twice(x):\n    return 2 * x\n{LINE}def test_twice():\n    twice(1)\n",
        "data/TritonBench_T_v1/thrice.py": f"def thrice(x):\n    return 3 * x\n{LINE}thrice(1)\n",
    }.items():  # fmt: skip
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.parametrize(
    ("task_id", "foreign"),
    [
        ("quick/gelu", False), ("./ops.py:f", True), ("/a/b/ops.py:f", True), ("kernelbench:here/level1/19_ReLU", True),
        ("tritonbench_g:here/add", True), ("gelu", False),
    ],
)  # fmt: skip
def test_a_foreign_id_has_a_colon(task_id: str, foreign: bool) -> None:
    assert importers.is_foreign(task_id) is foreign


def test_a_checkouts_tasks_are_listed_by_number_with_their_category(checkout: Path) -> None:
    listed = importers.listed("kernelbench", checkout)
    assert [(task.id.removeprefix(f"kernelbench:{checkout}/"), task.category) for task in listed] == [
        ("level1/2_Second", "level1"), ("level1/10_Tenth", "level1"), ("level2/1_First", "level2"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "task_id", ["kernelbenchx:{}/Math/twice", "kernelbenchx:{}/twice", "kernelbenchx:{}/data/kernelbenchx/Math/twice.py"]
)
def test_a_task_is_found_by_category_name_or_path(checkout: Path, task_id: str) -> None:
    assert importers.read(task_id.format(checkout)).entry == "twice"


def test_a_folder_without_tasks_is_said(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no tasks of tritonbench_g"):
        importers.listed("tritonbench_g", tmp_path)


def test_an_id_of_no_format_names_the_formats() -> None:
    with pytest.raises(UserError, match="kernelbench:CHECKOUT"):
        importers.read("nobench:here/task")


def test_suites_of_ours_do_not_run_foreign_files() -> None:
    with pytest.raises(UserError, match="run in a sandbox only"):
        suites.find("./ops.py:f")


def test_what_a_file_imports_from_beside_it_goes_along_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text("import torch, json\nimport near\nfrom deep import inner\n")
    (tmp_path / "near.py").write_text("import further\n")
    (tmp_path / "further.py").write_text("")
    (tmp_path / "json.py").write_text("")
    (tmp_path / "unused.py").write_text("")
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "inner.py").write_text("")
    found = files.beside(tmp_path / "main.py", [tmp_path], tmp_path)
    assert sorted(found) == ["deep/inner.py", "further.py", "main.py", "near.py"]


def test_packed_files_come_out_as_they_went_in() -> None:
    given = {"a.py": b"1", "deep/b.py": b"", "c": bytes(range(256))}
    assert unpacked(packed(given)) == given


@pytest.mark.parametrize(
    ("text", "found"), [("tolerance=1e-3", ("tolerance", 1e-3)), ("scale=off", ("scale", "off")), ("sizes=[[1,2]]", ("sizes", [[1, 2]]))]
)
def test_an_option_of_the_command_line_is_json_where_it_can_be(text: str, found: tuple[str, Any]) -> None:
    assert options.typed(text) == found


def test_an_option_without_a_value_is_said() -> None:
    with pytest.raises(UserError, match="is no key=value"):
        options.typed("tolerance")


ORIGIN = Origin("own", "ops.py", "./ops.py", "f", "", {}, "0" * 64)
LAYOUT = {"t": {"dtype": "float32", "shape": [2, 3], "strides": [3, 1]}}
CASE = {"name": "a", "recipe": {}, "held_out": False, "device_only": False, "layout": {"x": LAYOUT}}
DESCRIPTION: dict[str, Any] = {
    "parameters": [{"name": "x", "kind": "positional"}], "doc": "", "cases": [CASE], "timing": [], "mutates": [], "exact": True,
    "notes": [], "model": None,
}  # fmt: skip


def test_a_description_makes_a_task_without_its_code() -> None:
    task = described.task("./ops.py:f", replace(ORIGIN, description=DESCRIPTION))
    assert task.signature == "f(x)"
    assert tuple(task.cases[0].arguments(task.id, 0, "meta")["x"].shape) == (2, 3)


@pytest.mark.parametrize(("exact", "options", "measured"), [(True, {}, True), (False, {}, False), (True, {"tolerance": 1e-3}, False)])
def test_the_magnitude_is_measured_where_the_reference_takes_fp64_and_the_user_sets_no_tolerance(
    exact: bool, options: dict[str, Any], measured: bool
) -> None:
    origin = replace(ORIGIN, options=options, description=DESCRIPTION | {"exact": exact})
    assert described.task("./ops.py:f", origin).measured is measured


@pytest.mark.parametrize(
    "forged",
    [
        {}, {"cases": 3}, {"parameters": [{"name": "x y", "kind": "positional"}]}, {"parameters": [{"name": "x", "kind": "any"}]},
        {"cases": [{**CASE, "layout": {"x": {"t": {"dtype": "load", "shape": [1], "strides": [1]}}}}]},
        {"cases": [{**CASE, "layout": {"x": {"t": {"dtype": "float32", "shape": [-1], "strides": [1]}}}}]},
        {"cases": [{**CASE, "layout": {"x": {"v": {}}}}]},
    ],
)  # fmt: skip
def test_a_description_of_another_form_is_refused(forged: dict[str, Any]) -> None:
    description = {**DESCRIPTION, **forged} if forged else {}
    with pytest.raises((KeyError, TypeError, ValueError)):
        described.task("./ops.py:f", replace(ORIGIN, description=description))
