"""A third party's package, installed with pip: its scaffold is one like ours, and its broken one harms nobody."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.experiments import author, cli
from tests.servers.wire import WireServer

ROOT = Path(__file__).parents[2]
Command = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where pip has put the package."""
    target, source = tmp_path_factory.mktemp("site"), tmp_path_factory.mktemp("source")
    for path in (Path(__file__).parent / "mine").rglob("*.*"):
        if path.suffix in (".py", ".toml", ".j2"):
            copy = source / path.relative_to(Path(__file__).parent / "mine")
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(path.read_bytes())
    words = ["install", "--quiet", "--no-deps", "--no-index", "--no-build-isolation", "--target", str(target), str(source)]
    subprocess.run([sys.executable, "-m", "pip", *words], check=True, capture_output=True, text=True)
    return target


@pytest.fixture
def run(installed: Path, tmp_path: Path) -> Command:
    def command(*words: str) -> subprocess.CompletedProcess[str]:
        environment = os.environ | {"PYTHONPATH": os.pathsep.join((str(ROOT), str(installed)))}
        return subprocess.run(
            [sys.executable, "-m", "experiments.run", *words], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=200
        )

    return command


def test_its_scaffold_runs_with_its_own_options(run: Command, tmp_path: Path) -> None:
    done = run("scaffold=mine", "scaffold.depth=1", "task=quick/silu", "run_id=r")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "runs/r/config.yaml").read_text().count("depth: 1") == 1
    assert (tmp_path / "runs/r/best/quick/silu.py").is_file()


def layout(request: dict[str, Any]) -> str:
    """The server's answer: an architect's to an architect, else a right module."""
    return "Layout: one pass.\nLesson: mask the end." if "lay out GPU kernels" in json.dumps(request["messages"]) else author.right(request)


def test_its_own_role_is_asked_with_its_own_prompts_by_a_model_of_its_own_and_resumes(run: Command, tmp_path: Path) -> None:
    with WireServer(layout) as server:
        role = ["roles.architect.model=openai/other", f"roles.architect.model_args.base_url={server.openai_url}"]
        words = [*cli.asking(server, tmp_path), *role, "scaffold=mine", "scaffold.architect=true", "scaffold.depth=1", "task=quick/silu"]
        done = run(*words, "run_id=r")
        assert done.returncode == 0, done.stderr
        asked = {call["identity"]["role"]: call["model_asked"] for call in cli.lines(tmp_path / "r", "calls")}
        assert asked == {"architect": "openai/other", "generator": "openai/local"}
        texts = [json.dumps(request["messages"]) for request in server.requests]
        assert "132 multiprocessors" in texts[0]
        assert "Your layout is for 1 candidates." in texts[0]
        assert "- Layout: one pass." in texts[1].replace("\\n", "\n")
        resumed = run(f"resume={tmp_path / 'r'}")
        assert (resumed.returncode, len(server.requests)) == (0, 2), resumed.stderr
    assert "architect" in json.loads((tmp_path / "r/environment.json").read_text())["templates"]


def test_help_lists_it_with_its_options(run: Command) -> None:
    done = run("scaffold=mine", "--help")
    assert done.returncode == 0, done.stderr
    (listed,) = [line for line in done.stdout.splitlines() if line.startswith("scaffolds:")]
    assert {"geak", "mine", "torn"} <= set(listed.partition(":")[2].replace(" ", "").split(","))
    assert "  scaffold.luck: good  # Whether a second candidate is asked for at all." in done.stdout.splitlines()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["scaffold=mien"], "Did you mean 'mine'?"),
        (["scaffold=mine", "scaffold.luck=fair"], "scaffold.luck must be one of good, bad, not 'fair'."),
        (["scaffold=mine", "scaffold.lck=good"], "Did you mean 'scaffold.luck'?"),
        (["scaffold=torn"], "Scaffold 'torn' (entry point kernelwright_mine.torn) cannot be loaded: ModuleNotFoundError"),
    ],
)
def test_a_mistake_is_one_sentence_that_names_it(run: Command, words: list[str], says: str) -> None:
    done = run(*words)
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1), done.stderr
    assert says in done.stderr


def test_the_broken_one_harms_no_other(run: Command) -> None:
    done = run("scaffold=geak", "--cfg", "job")
    assert (done.returncode, done.stderr) == (0, "")
