"""The command: every format by its words, and users' mistakes as one sentence."""

import subprocess
import sys
from pathlib import Path

import pytest

from benchmark.errors import UserError
from experiments.export.__main__ import FORMATS, __doc__, act
from tests.experiments.cli import ROOT
from tests.experiments.export import stores


@pytest.mark.parametrize("words", [("kernelbench_x", "which=rounds"), ("atif",), ("parquet", "texts=yes")], ids=lambda words: str(words[0]))
def test_a_format_is_written_and_the_run_is_as_it_was(words: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = stores.run(tmp_path / "r").path
    before = {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}
    assert act([f"run={run}", f"format={words[0]}", f"out={tmp_path / 'out'}", *words[1:]]) == 0
    assert str(tmp_path / "out") in capsys.readouterr().out
    assert {path: path.read_bytes() for path in run.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize(("words", "sentence"), [
    (["format=atif"], "Say what to write, and where"),
    (["format=atiff", "out=o"], "Did you mean 'atif'"),
    (["format=atif", "out=o", "texts=yes"], "texts= is no option of format=atif"),
    (["format=parquet", "out=o", "texts=all"], "Unknown value of texts 'all'"),
    (["format=kernelbench_x", "out=o", "which=last"], "Choose one of: best, rounds"),
    (["format=wandb", "out=o", "mode=maybe"], "Choose one of: offline, online"),
    (["format=atif", "out=."], "is there already"),
])  # fmt: skip
def test_a_mistake_is_one_sentence_and_nothing_is_written(
    words: list[str], sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = stores.run(tmp_path / "r").path
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match=sentence):
        act([f"run={run}", *words])
    assert not (tmp_path / "o").exists()


def test_runs_of_one_name_are_refused(tmp_path: Path) -> None:
    paths = [stores.run(tmp_path / folder / "r").path for folder in ("a", "b")]
    with pytest.raises(UserError, match="the same name"):
        act([f"runs=[{paths[0]},{paths[1]}]", "format=atif", f"out={tmp_path / 'out'}"])


@pytest.mark.parametrize("name", FORMATS)
def test_the_help_names_every_format_with_its_options(name: str) -> None:
    (line,) = [line for line in str(__doc__).splitlines() if line.strip().startswith(f"format={name} ")]
    assert all(f"{option}=" in line for option in FORMATS[name].options)


@pytest.mark.parametrize("name", ["predictions", "atif", "parquet", "sinks.wandb", "sinks.mlflow"])
def test_a_format_is_imported_without_torch(name: str) -> None:
    words = f"import sys, experiments.export.{name}; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", words], cwd=ROOT).returncode == 0
