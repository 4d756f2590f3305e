"""Hydra's view of the scaffolds, in a process of its own as under `@hydra.main`."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
APP = """
import sys
from scaffolds import loader
loader.register()
import hydra
from omegaconf import OmegaConf
@hydra.main(config_path=sys.argv.pop(1), config_name="config", version_base="1.3")
def main(config):
    print(loader.build_config(config.kind or "geak", OmegaConf.to_container(config.scaffold), config.rounds))
    print([name for name in ("torch", "langgraph", "scaffolds.geak", "scaffolds.oneshot") if name in sys.modules])
main()
"""


def app(tmp_path: Path, *overrides: str, files: str = "") -> subprocess.CompletedProcess[str]:
    (tmp_path / "config.yaml").write_text("defaults:\n  - scaffold: geak\n  - _self_\nrounds: null\nkind: null\n")
    quiet = [] if "--help" in overrides else [f"hydra.run.dir={tmp_path}/out", "hydra.output_subdir=null", "hydra/job_logging=none"]
    command = [sys.executable, "-c", APP, str(tmp_path), *overrides, *quiet]
    env = {**os.environ, "PYTHONPATH": str(ROOT), "KERNELWRIGHT_PLUGINS": files}
    return subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)


def test_only_the_chosen_module_is_imported(tmp_path: Path) -> None:
    done = app(tmp_path, "scaffold=oneshot", "kind=oneshot", "scaffold.samples=4", "rounds=9")
    assert done.stdout.splitlines() == ["Config(samples=4, tokens=None, tune=0, rounds=9)", "['scaffolds.oneshot']"], done.stderr


@pytest.mark.parametrize(("overrides", "rounds"), [([], 5), (["rounds=7"], 7), (["rounds=7", "scaffold.rounds=3"], 3)])
def test_top_level_rounds_reach_the_scaffold_and_its_own_win(tmp_path: Path, overrides: list[str], rounds: int) -> None:
    done = app(tmp_path, *overrides)
    assert f"Config(rounds={rounds}," in done.stdout, done.stderr


def test_help_lists_all_and_a_broken_plugin_harms_only_itself(tmp_path: Path) -> None:
    (tmp_path / "torn.py").write_text("def build(:")
    done = app(tmp_path, "--help", files=str(tmp_path / "torn.py"))
    assert "scaffold: evolve, geak, multiagent, oneshot, torn" in done.stdout, done.stderr
    broken = app(tmp_path, "scaffold=torn", files=str(tmp_path / "torn.py"))
    assert broken.returncode == 1
    assert "Scaffold 'torn'" in broken.stderr
    assert "Config(rounds=5" in app(tmp_path, files=str(tmp_path / "torn.py")).stdout


def test_an_unknown_option_and_an_unknown_scaffold_are_refused_with_names(tmp_path: Path) -> None:
    assert "Key 'typo' is not in" in app(tmp_path, "scaffold.typo=3").stderr
    assert "evolve\n\tgeak\n\tmultiagent\n\toneshot" in app(tmp_path, "scaffold=nope").stderr
