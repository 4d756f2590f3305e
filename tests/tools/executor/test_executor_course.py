"""What each stage does with what it is told."""

import hashlib
from pathlib import Path

from tools.executor.adversarial import REPLAY

KERNEL = """
import torch, triton, triton.language as tl
@triton.jit
def kernel(x, y, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at, mask=at < n) * 2, mask=at < n)
def double(x):
    y = torch.empty_like(x)
    kernel[(1,)](x, y, x.numel(), BLOCK=16)
    return y
"""
OWN = """
import torch
def double(x):
    return x * 2
def inputs():
    return {{"x": torch.zeros(1 << 27) if torch.initial_seed() == {seed} else torch.randn(9)}}
"""


def task(folder: Path, seed: int) -> str:
    """A task whose first case is larger than the shared memory for one seed."""
    name = f"{folder}/own.py:double"
    drawn = int.from_bytes(hashlib.sha256(f"{name}/inputs-0/{seed}".encode()).digest()[:7])
    (folder / "own.py").write_text(OWN.format(seed=drawn))
    return name


def test_case_that_cannot_be_given_in_the_replay_is_the_tasks_fault(evaluate, tmp_path):
    found = evaluate(KERNEL, task(tmp_path, REPLAY))
    assert (found.verdict, found.correct) == ("task_invalid", True), found.error
    assert "larger than the shared memory" in found.error.message


def test_case_of_another_seed_changes_nothing(evaluate, tmp_path):
    assert evaluate(KERNEL, task(tmp_path, 77)).verdict == "pass"
