"""What prompts say of the compiler, tried on the installed one."""

from pathlib import Path
from typing import Any

import pytest
import triton
import triton.language as tl
from triton.compiler import ASTSource
from triton.language.extra import libdevice

import prompts
from tools import platforms

PLAIN = 0.5
SCALE = tl.constexpr(0.5)


@triton.jit
def reads_constexpr(x, n: tl.constexpr):
    tl.store(x + tl.arange(0, n), tl.load(x + tl.arange(0, n)) * SCALE)


@triton.jit
def reads_plain_global(x, n: tl.constexpr):
    tl.store(x + tl.arange(0, n), tl.load(x + tl.arange(0, n)) * PLAIN)


@triton.jit
def exponential(x, n: tl.constexpr):
    tl.store(x + tl.arange(0, n), tl.exp(tl.load(x + tl.arange(0, n))))


@triton.jit
def converted_exponential(x, n: tl.constexpr):
    tl.store(x + tl.arange(0, n), tl.exp(tl.load(x + tl.arange(0, n)).to(tl.float32)))


@triton.jit
def breaks(x, n: tl.constexpr):
    for i in range(n):
        if i > 3:
            break
        tl.store(x + i, 1.0)


@triton.jit
def multiplies(x, n: tl.constexpr):
    rows = tl.arange(0, n)
    block = tl.load(x + rows[:, None] * n + rows[None, :])
    tl.store(x + rows[:, None] * n + rows[None, :], tl.dot(block, block, input_precision="ieee"))


@triton.jit
def accumulates_int8(x, y, n: tl.constexpr):
    rows = tl.arange(0, n)
    block = tl.load(x + rows[:, None] * n + rows[None, :])
    tl.store(y + rows[:, None] * n + rows[None, :], tl.dot(block, block, out_dtype=tl.int32))


@triton.jit
def rounds(x, n: tl.constexpr):
    v = tl.load(x + tl.arange(0, n))
    tl.store(x + tl.arange(0, n), libdevice.rint(v) - libdevice.round(v))


def compiled(kernel: Any, types: dict[str, str], n: int) -> str | None:
    """None, or what the compiler says."""
    source = ASTSource(kernel, {**types, "n": "constexpr"}, {(len(types),): n})
    try:
        triton.compile(source, target=platforms.gpu_target(platforms.default_targets()[0]))
    except Exception as error:
        return str(error) or type(error).__name__
    return None


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))


@pytest.mark.parametrize(
    ("kernel", "types", "n"),
    [
        (reads_constexpr, {"x": "*fp32"}, 16),
        (converted_exponential, {"x": "*fp16"}, 16),
        (converted_exponential, {"x": "*bf16"}, 16),
        (multiplies, {"x": "*fp32"}, 16),
        (accumulates_int8, {"x": "*i8", "y": "*i32"}, 32),
        (rounds, {"x": "*fp32"}, 16),
    ],
)
def test_what_prompts_advise_compiles(kernel: Any, types: dict[str, str], n: int) -> None:
    assert compiled(kernel, types, n) is None


@pytest.mark.parametrize(
    ("kernel", "types", "n", "said"),
    [
        (reads_plain_global, {"x": "*fp32"}, 16, "Module-level values"),
        (exponential, {"x": "*fp16"}, 16, "take fp32 and fp64 only"),
        (exponential, {"x": "*bf16"}, 16, "take fp32 and fp64 only"),
        (exponential, {"x": "*fp32"}, 12, "power of two"),
        (breaks, {"x": "*fp32"}, 16, "No `break`"),
        (accumulates_int8, {"x": "*i8", "y": "*i32"}, 16, "8-bit inputs at least 32"),
    ],
)
def test_what_prompts_warn_of_does_not_compile(kernel: Any, types: dict[str, str], n: int, said: str) -> None:
    assert said in prompts.render("shared/triton")
    assert compiled(kernel, types, n) is not None
