import json
import subprocess
import sys
from typing import Any

import pytest

from benchmark import list as listing

KEYS = ["id", "suite", "category", "source", "entry", "contract"]


def rows(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, Any]]:
    assert listing.main([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_json_holds_one_row_per_task(capsys: pytest.CaptureFixture[str]) -> None:
    found = rows(capsys, "--suite", "quick")
    assert len(found) == 12
    assert [list(row) for row in found] == [KEYS] * 12
    gelu = {"id": "quick/gelu", "suite": "quick", "category": "Activation", "source": "torch.nn.functional", "entry": "gelu"}
    assert gelu.items() <= found[1].items()


def test_the_contract_is_given_in_words_and_in_fields(capsys: pytest.CaptureFixture[str]) -> None:
    (contract,) = [row["contract"] for row in rows(capsys, "--suite", "quick") if row["id"] == "quick/matmul_w8a8"]
    assert contract["accumulate"] == "int32"
    assert [grid["bits"] for grid in contract["checker"]["grids"]] == [8, 8]
    assert any("int8" in clause for clause in contract["words"])


def test_options_are_given_several_times(capsys: pytest.CaptureFixture[str]) -> None:
    found = rows(capsys, "--suite", "quick", "--suite", "kernelbench_x", "--category", "Loss", "--category", "Reduce", "--source", "torch")
    assert {(row["suite"], row["category"]) for row in found} == {("quick", "Reduce"), ("kernelbench_x", "Reduce")}


def test_a_category_narrows_the_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert listing.main(["--category", "Reduce", "--suite", "quick"]) == 0
    out = capsys.readouterr().out
    assert "quick/sum" in out
    assert "quick/gelu" not in out


@pytest.mark.parametrize("arguments", [["--suite", "quik"], ["--category", "Redcue"], ["--source", "torch.nn.functionl"]])
def test_a_mistake_is_exit_code_2_with_the_near_name(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert listing.main(arguments) == 2
    said = capsys.readouterr()
    assert "Did you mean" in said.err
    assert said.out == ""


@pytest.mark.parametrize("arguments", [[], ["--json"]])
def test_the_command_is_quick(arguments: list[str]) -> None:
    code = "import sys, time; from benchmark import list as l; l.main(sys.argv[1:]); print(time.process_time(), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)
    assert "quick/add" in done.stdout
    # Its own processor time, since the machine may be busy.
    assert float(done.stderr.splitlines()[-1]) < 3.5
