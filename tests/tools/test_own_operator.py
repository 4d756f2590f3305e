"""The user's own operator, from the README's own text: through `python -m tools.evaluate` beside its file, and through the executor."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from tools.evaluation import Evaluation

ROOT = Path(__file__).parents[2]
KERNEL = """
import torch
import triton
import triton.language as tl


@triton.jit
def bias_gelu(x, bias, y, size, columns, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < size
    v = tl.load(x + at, mask=mask).to(tl.float32) + tl.load(bias + at % columns, mask=mask).to(tl.float32)
    tl.store(y + at, (0.5 * v * (1 + tl.erf(v * 0.7071067811865476))).to(y.dtype.element_ty), mask=mask)


def fused_bias_gelu(x, bias):
    y = torch.empty_like(x)
    bias_gelu[(triton.cdiv(x.numel(), 1024),)](x, bias, y, x.numel(), x.shape[-1], BLOCK=1024)
    return y
"""
BOTH = """
import torch
def both(x):
    return x + 1, (x * 2).sum()
def inputs():
    return {"x": torch.randn(1000)}
"""
BOTH_KERNEL = """
import torch, triton, triton.language as tl
@triton.jit
def kernel(x, y, s, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    v = tl.load(x + at, mask=at < n, other=0.0).to(tl.float32)
    tl.store(y + at, (v + 1).to(y.dtype.element_ty), mask=at < n)
    tl.store(s, tl.sum(v * 2, axis=0).to(s.dtype.element_ty))
def both(x):
    y, s = torch.empty_like(x), x.new_empty(())
    kernel[(1,)](x, y, s, x.numel(), BLOCK=1024)
    return y, s
"""


def run(folder: Path, task: str, candidate: str) -> subprocess.CompletedProcess[str]:
    (folder / "mine.py").write_text(candidate)
    command = [sys.executable, "-m", "tools.evaluate", "--task", task, "--candidate", "mine.py", "--device", "simulated"]
    environment = {"PATH": "/usr/bin", "PYTHONPATH": str(ROOT), "KERNELWRIGHT_CACHE": os.environ["KERNELWRIGHT_CACHE"]}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


def readme(folder: Path) -> Path:
    """The README's example as a file."""
    found = re.search(r"```python\n# my_ops\.py\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert found
    path = folder / "my_ops.py"
    path.write_text(found[1])
    return path


def test_operator_of_the_readme_is_judged_beside_its_file(tmp_path: Path) -> None:
    readme(tmp_path)
    done = run(tmp_path, "./my_ops.py:fused_bias_gelu", KERNEL)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout


def test_mistake_in_an_own_operators_kernel_is_found(tmp_path: Path, evaluate: Callable[..., Evaluation]) -> None:
    found = evaluate(KERNEL.replace("at % columns", "at"), f"{readme(tmp_path)}:fused_bias_gelu")
    assert (found.verdict, found.error.detail["tensor"]) == ("out_of_bounds", "bias")


def test_operator_with_two_results_takes_a_tuple(tmp_path: Path, evaluate: Callable[..., Evaluation]) -> None:
    (tmp_path / "ops.py").write_text(BOTH)
    found = evaluate(BOTH_KERNEL, f"{tmp_path}/ops.py:both")
    assert found.verdict == "pass", found.error
