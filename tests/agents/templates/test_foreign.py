"""The embedded author writes for an operator in a user's file that is a formula, and declines one that is more."""

from pathlib import Path

import pytest

from agents.models.templates.author import Author
from agents.models.templates.graph import Declined
from agents.models.templates.search import Parameters
from benchmark import importers
from benchmark.importers import described
from benchmark.importers.described import node
from benchmark.task import Task

INPUTS = "\ndef inputs():\n    return {'x': torch.randn(64, 100), 'bias': torch.randn(100)}\n"


def task(folder: Path, body: str) -> Task:
    import torch

    (folder / "ops.py").write_text("import os\nimport torch\n" + body + INPUTS)
    origin = importers.read(f"{folder}/ops.py:f")
    layout = {"x": node(torch.empty(64, 100)), "bias": node(torch.empty(100))}
    case = {"name": "inputs-0", "held_out": False, "device_only": False, "recipe": {}, "layout": layout}
    parameters = [{"name": name, "kind": "positional"} for name in layout]
    description = {
        "parameters": parameters, "doc": "", "cases": [case], "timing": [], "mutates": [], "exact": True, "notes": [], "model": None,
    }  # fmt: skip
    return described.task(f"{folder}/ops.py:f", importers.Origin(**{**vars(origin), "description": description}))


def test_a_formula_is_written_as_a_kernel(tmp_path: Path) -> None:
    text = Author(task(tmp_path, "def f(x, bias):\n    return torch.relu(x + bias)\n"), 0.0, 0).write(Parameters())
    assert "@triton.jit" in text
    assert "def f(x, bias):" in text


def test_more_than_a_formula_is_declined_with_the_reason(tmp_path: Path) -> None:
    author = Author(task(tmp_path, "def f(x, bias):\n    os.getpid()\n    return x + bias\n"), 0.0, 0)
    with pytest.raises(Declined, match=r"more than a formula: it has \.getpid"):
        author.write(Parameters())
