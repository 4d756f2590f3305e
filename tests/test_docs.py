"""What the documentation shows runs as it is shown."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmark import lint

ROOT = Path(__file__).parent.parent


def test_the_example_scaffold_runs_as_a_single_file_plugin(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "experiments.run", "scaffold=retry", "rounds=2", "task=quick/silu", f"runs_dir={tmp_path}"]
    environment = os.environ | {"KERNELWRIGHT_PLUGINS": str(ROOT / "docs/examples/retry.py")}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr
    assert len(list(tmp_path.glob("*/best/**/*.py"))) == 1


def test_the_example_scaffold_has_about_forty_lines() -> None:
    assert len((ROOT / "docs/examples/retry.py").read_text().splitlines()) <= 45


def test_links_between_documents_lead_somewhere() -> None:
    broken = []
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        targets = re.findall(r"\]\((?!https?:)([^)#]+)\)", page.read_text(encoding="utf-8"))
        broken += [(page.name, target) for target in targets if not (page.parent / target).exists()]
    assert broken == []


def test_the_example_task_passes_lint() -> None:
    (example,) = [
        block for block in re.findall(r"```python\n(.*?)```", (ROOT / "docs/tasks.md").read_text(), re.DOTALL) if "Task(" in block
    ]
    names: dict[str, Any] = {}
    exec(compile(example, "docs/tasks.md", "exec"), names)
    assert lint.lint(names["LEAKY"]).faults == []
