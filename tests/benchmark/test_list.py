import json
import subprocess
import sys
import time

import pytest

from benchmark import list as listing


def test_json_holds_one_row_per_task(capsys: pytest.CaptureFixture[str]) -> None:
    assert listing.main(["--suite", "quick", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert len(rows) == 12
    assert {"id": "quick/gelu", "suite": "quick", "category": "Activation", "source": "torch.nn.functional"}.items() <= rows[1].items()


def test_a_category_narrows_the_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert listing.main(["--category", "Reduce", "--suite", "quick"]) == 0
    out = capsys.readouterr().out
    assert "quick/sum" in out
    assert "quick/gelu" not in out


@pytest.mark.parametrize("arguments", [["--suite", "quik"], ["--category", "Redcue"]])
def test_a_mistake_is_exit_code_2_with_the_near_name(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert listing.main(arguments) == 2
    said = capsys.readouterr()
    assert "Did you mean" in said.err
    assert said.out == ""


def test_the_command_is_quick() -> None:
    start = time.monotonic()
    done = subprocess.run([sys.executable, "-m", "benchmark.list"], capture_output=True, text=True, check=True)
    assert "quick (12 tasks)" in done.stdout
    assert time.monotonic() - start < 10  # 1.3 s alone; the machine may be busy
