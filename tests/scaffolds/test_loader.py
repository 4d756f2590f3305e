"""Scaffolds are found by name without an import; a broken one harms only itself."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from benchmark.errors import UserError
from scaffolds import loader

ROOT = Path(__file__).parent.parent.parent
MINE = "from dataclasses import dataclass\n@dataclass\nclass Config:\n    width: int = 3\ndef build(config):\n    return config\n"


@pytest.fixture
def plugins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory whose files are all named in the variable."""
    (tmp_path / "mine.py").write_text(MINE)
    (tmp_path / "torn.py").write_text("def build(:")
    (tmp_path / "bare.py").write_text("x = 1")
    (tmp_path / "quits.py").write_text("raise SystemExit(3)")
    files = [str(tmp_path / f"{name}.py") for name in ("mine", "torn", "bare", "quits", "absent")]
    monkeypatch.setenv(loader.FILES, os.pathsep.join(files))
    return tmp_path


def test_ours_are_found_and_helpers_are_not() -> None:
    assert {"geak", "oneshot"} <= set(loader.names())
    assert not {"state", "context", "loader", "nodes", "options", "rank", "trajectory"} & set(loader.names())


def test_a_file_dropped_into_the_folder_is_a_scaffold_at_once(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "scaffolds", tmp_path / "scaffolds")
    (tmp_path / "scaffolds/dropped.py").write_text(MINE)
    code = "from scaffolds import loader; print('dropped' in loader.names(), loader.build_config('dropped', {'width': 5}).width)"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join((str(tmp_path), str(ROOT)))}
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "True 5\n"


def test_names_and_configs_import_nothing_heavy() -> None:
    heavy = "{'torch', 'langgraph', 'litellm', 'openai', 'anthropic', 'jinja2'}"
    code = (
        "import sys; from scaffolds import loader; loader.names(); print(sorted(m for m in sys.modules if m in "
        "('scaffolds.geak', 'scaffolds.oneshot'))); loader.build_config('geak'); "
        f"print(sorted({heavy} & set(sys.modules)), 'scaffolds.oneshot' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["[]", "[] False"]


def test_an_unknown_name_suggests_the_near_one() -> None:
    with pytest.raises(UserError, match=r"Unknown scaffold 'geek'\. Did you mean 'geak'"):
        loader.build_config("geek")


def test_a_single_file_is_a_scaffold_named_after_it(plugins: Path) -> None:
    assert "mine" in loader.names()
    config = loader.build_config("mine", {"width": 5})
    assert config.width == 5
    assert loader.build("mine", config) is config


def test_a_single_file_is_run_once(plugins: Path) -> None:
    assert isinstance(loader.build_config("mine"), loader.config_of("mine"))


def test_a_single_file_that_failed_is_run_again(plugins: Path) -> None:
    with pytest.raises(UserError):
        loader.module("torn")
    (plugins / "torn.py").write_text(MINE)
    assert loader.build_config("torn").width == 3


@pytest.mark.parametrize(
    ("name", "why"),
    [("torn", "SyntaxError"), ("bare", "defines no Config and no build"), ("quits", "SystemExit"), ("absent", "FileNotFoundError")],
)
def test_a_broken_plugin_names_itself_and_harms_no_other(plugins: Path, name: str, why: str) -> None:
    with pytest.raises(UserError, match=why) as raised:
        loader.build_config(name)
    assert repr(name) in str(raised.value)
    assert str(plugins / f"{name}.py") in str(raised.value)
    assert loader.build_config("mine").width == 3
    assert loader.build_config("geak").rounds == 5


def test_a_plugin_never_takes_the_name_of_one_of_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "geak.py").write_text(MINE)
    monkeypatch.setenv(loader.FILES, str(tmp_path / "geak.py"))
    assert loader.config_of("geak").__module__ == "scaffolds.geak"


def test_rounds_of_the_scaffold_win_over_the_runs_which_win_over_the_default() -> None:
    assert loader.build_config("geak").rounds == 5
    assert loader.build_config("geak", rounds=7).rounds == 7
    assert loader.build_config("geak", {"rounds": 3}, rounds=7).rounds == 3
    assert loader.build_config("geak", {"rounds": None}, rounds=7).rounds == 7
    assert loader.build_config("oneshot", {"samples": 2}).rounds is None
    assert loader.build_config("oneshot", {"samples": 2}, rounds=7).rounds == 7


def test_ours_build_and_compile() -> None:
    for name in ("geak", "oneshot"):
        assert loader.build(name, loader.build_config(name)).compile()
