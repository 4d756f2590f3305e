"""The command, by its words."""

import json
from pathlib import Path

import pytest

from benchmark.errors import UserError
from experiments.published.__main__ import act
from tests.experiments.published import checkout

NAMES = ("paper", "corpus-size", "corpus-transitions", "corpus-speedups", "corpus-deltas", "corpus-noise",
         "golden-machine", "golden-copies", "golden-launches")  # fmt: skip


def test_json_holds_every_figure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert act([f"path={checkout.write(tmp_path)}", "format=json"]) == 0
    assert tuple(json.loads(capsys.readouterr().out)["figures"]) == NAMES


@pytest.mark.parametrize("form", ["table", "md"])
def test_text_tells_what_agrees_with_the_paper(form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    act([f"path={checkout.write(tmp_path)}", f"format={form}"])
    assert "cannot be told" in capsys.readouterr().out


def test_without_a_path_the_command_says_how(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UserError, match="Name the checkout"):
        act([])
