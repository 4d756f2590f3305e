"""Kernels built once for the tests that read binaries."""

import os
from collections.abc import Callable, Iterator

import pytest
import triton
import triton.language as tl
from triton.compiler import ASTSource

os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")

from tools import platforms


@triton.jit
def row(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n, other=0.0)
    tl.store(y + i, tl.exp(v) / tl.sum(v, axis=0), mask=i < n)


@triton.jit
def product(a, b, c, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    at = i[:, None] * BLOCK + i[None, :]
    tl.store(c + at, tl.dot(tl.load(a + at), tl.load(b + at)))


ROW = {"x": "*fp32", "y": "*fp32", "n": "i32", "BLOCK": "constexpr"}
PRODUCT = {"a": "*fp16", "b": "*fp16", "c": "*fp32", "BLOCK": "constexpr"}
SOURCES = {
    "row": (row, ROW, 1024, {"num_warps": 4}),
    "wide row": (row, ROW, 2048, {"num_warps": 8}),
    "product": (product, PRODUCT, 64, {"num_warps": 4}),
    "spilling row": (row, ROW, 4096, {"num_warps": 1, "maxnreg": 32}),
    "spilling wave32": (row, ROW, 8192, {"num_warps": 1, "waves_per_eu": 8}),
    "spilling wave64": (row, ROW, 16384, {"num_warps": 1, "waves_per_eu": 8}),
}


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable]:
    """`built(target, name)`: Triton's compiled kernel."""
    former = os.environ.get("TRITON_CACHE_DIR")
    os.environ["TRITON_CACHE_DIR"] = str(tmp_path_factory.mktemp("triton"))
    done: dict[tuple[str, str], triton.compiler.CompiledKernel] = {}

    def build(target: str, name: str) -> triton.compiler.CompiledKernel:
        if (target, name) not in done:
            fn, signature, block, options = SOURCES[name]
            source = ASTSource(fn, signature, {"BLOCK": block})
            done[target, name] = triton.compile(source, target=platforms.gpu_target(target), options=options)
        return done[target, name]

    yield build
    if former is None:
        del os.environ["TRITON_CACHE_DIR"]
    else:
        os.environ["TRITON_CACHE_DIR"] = former
