"""A function that is nothing but torch's operators can be called from its text; anything else is refused before it is."""

from pathlib import Path

import pytest
import torch

from benchmark import importers
from benchmark.importers.formula import NoFormula, formula

HEAD = "import math\nimport os\nimport torch\nimport torch.nn.functional as F\nfrom torch.nn.functional import gelu\n"
INPUTS = "\ndef inputs():\n    return {}\n"


def read(folder: Path, body: str) -> object:
    (folder / "ops.py").write_text(HEAD + body + INPUTS)
    return formula(importers.read(f"{folder}/ops.py:f"))


@pytest.mark.parametrize(
    "body",
    [
        "def f(x):\n    return gelu(x)\n",
        "def g(x):\n    return x\ndef f(x):\n    return F.gelu(g(x))\n",
        "def f(x: torch.Tensor, k: float = 1.0) -> torch.Tensor:\n    '''GELU.'''\n    y = torch.nn.functional.gelu(x) * k\n    return y\n",
        "def f(x):\n    return 0.5 * x * (1 + torch.erf(x / math.sqrt(2)))\n",
    ],
)
def test_a_formula_is_called_from_its_text(tmp_path: Path, body: str) -> None:
    x = torch.linspace(-3, 3, 7)
    assert torch.allclose(read(tmp_path, body)(x), torch.nn.functional.gelu(x), atol=1e-6)  # type: ignore[operator]


@pytest.mark.parametrize(
    "body",
    [
        "def f(x):\n    os.system('true')\n    return x\n",
        "def f(x):\n    return torch.load('file')\n",
        "def f(x):\n    return torch.os.getcwd()\n",
        "def f(x):\n    return x.__class__\n",
        "def f(x):\n    return x.numpy()\n",
        "def f(x):\n    return open('file')\n",
        "def f(x):\n    return (lambda: x)()\n",
        "def f(x):\n    import os\n    return x\n",
        "def f(x, y=os.getcwd()):\n    return x\n",
        "def f(x: os.getcwd()):\n    return torch.utils.data\n",
        "@torch.no_grad()\ndef f(x):\n    return x\n",
        "def f(x):\n    return '{0.__class__}'.format(x)\n",
        "def f(x):\n    return torch.ops.load_library('x')\n",
        "def f(x):\n    while True:\n        x = x + 1\n",
        "class C:\n    pass\ndef f(x):\n    return C()\n",
    ],
)
def test_more_than_a_formula_is_refused(tmp_path: Path, body: str) -> None:
    with pytest.raises(NoFormula):
        read(tmp_path, body)
