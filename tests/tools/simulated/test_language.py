"""Parts of the language that models use, each against torch."""

from collections.abc import Callable
from types import ModuleType

import pytest
import torch
import torch.nn.functional as F

from tools.simulated import Session

TEMPLATE = """
import torch, triton, triton.language as tl

@triton.jit
def pair(a, b):
    return a + b, a - b

@triton.jit
def first_positive(v, n):
    if n > 3:
        return v
    return v * 2

@triton.jit
def kernel(x_ptr, out_ptr, n, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    rows = tl.arange(0, M)
    cols = tl.arange(0, N)
    x = tl.load(x_ptr + rows[:, None] * N + cols[None, :], cache_modifier=".cg")
BODY
    i, j = tl.arange(0, M), tl.arange(0, K)
    tl.store(out_ptr + i[:, None] * K + j[None, :], out)

def f(x, out):
    kernel[(1,)](x, out, x.shape[0], *x.shape, out.shape[1])
    return out
"""
CASES: dict[str, tuple[str, Callable[[torch.Tensor], torch.Tensor]]] = {
    "transposition": ("out = tl.trans(tl.trans(x))", lambda x: x),
    "permutation and reshape": ("out = tl.reshape(tl.permute(tl.reshape(x, (2, 4, 16)), (0, 2, 1)), (8, 16))", None),
    "join and split": ("a, b = tl.split(tl.join(x, x * 3))\n    out = a + b", lambda x: x * 4),
    "interleave": ("out = tl.interleave(x, -x)", lambda x: torch.stack([x, -x], -1).flatten(1)),
    "expand and broadcast": ("out = x - tl.max(x, axis=1, keep_dims=True).broadcast_to(M, N)", lambda x: x - x.max(1, keepdim=True).values),
    "softmax": ("out = tl.softmax(x, dim=1, keep_dims=True)", lambda x: torch.softmax(x, 1)),
    "sigmoid of a method": ("out = x.sigmoid()", torch.sigmoid),
    "a method that sums": ("out = x / x.sum(axis=1)[:, None]", lambda x: x / x.sum(1, keepdim=True)),
    "sum over everything": ("out = x * 0 + tl.sum(x)", lambda x: x.sum().expand_as(x)),
    "flip": ("out = tl.flip(x, 1)", lambda x: x.flip(1)),
    "sort descending": ("out = tl.sort(x, 1, descending=True)", lambda x: x.sort(1, descending=True).values),
    "top k": ("out = tl.topk(x, 4)", lambda x: x.topk(4, 1).values),
    "gather": ("out = tl.gather(x, (x > 0).to(tl.int32), 1)", lambda x: x.gather(1, (x > 0).long())),
    "cumulative product backwards": ("out = tl.cumprod(x, axis=1, reverse=True)", lambda x: x.flip(1).cumprod(1).flip(1)),
    "a function with two results": ("a, b = pair(x, x * 2)\n    out = a * b", lambda x: -3 * x * x),
    "a function with an early return": ("out = first_positive(x, n)", lambda x: x),
    "a while loop": ("k = n\n    out = x\n    while k > 0:\n        out += 1.0\n        k -= 2", lambda x: x + 4),
    "a loop with a step": ("out = x\n    for k in range(0, n, 4):\n        out = out + k", lambda x: x + 4),
    "a loop of the language": ("out = x\n    for k in tl.range(0, n, 2, num_stages=2):\n        out += k.to(tl.float32)", lambda x: x + 12),
    "a loop that is unrolled": ("out = x\n    for k in tl.static_range(3):\n        if k != 1:\n            out += k", lambda x: x + 2),
    "a condition at run time": ("out = x\n    if n % 2 == 0 and n > 1 or n < 0:\n        out = x * 2.0", lambda x: x * 2),
    "a choice": ("s = 2.0 if n > 4 else 3.0\n    out = x * s", lambda x: x * 2),
    "a negation": ("out = tl.where(~(x > 0) & (rows[:, None] >= 0), x, 0.0)", lambda x: x.clamp(max=0)),
    "integer arithmetic": (
        "a = (x * 10).to(tl.int32)\n    out = (a // 3 + a % 3 + (a << 1) + (a >> 1) + (a ^ 5) + (a & 6) + (a | 1)).to(tl.float32)",
        None,
    ),
    "a product of blocks": ("h = x.to(tl.float16)\n    out = tl.dot(h, tl.trans(h))", lambda x: x.half().float() @ x.half().float().t()),
    "a batched product": (
        "h = tl.reshape(x, (1, M, N)).to(tl.float16)\n    out = tl.reshape(tl.dot(h, tl.permute(h, (0, 2, 1))), (M, M))",
        lambda x: x.half().float() @ x.half().float().t(),
    ),
    "eight bits": ("out = (x.to(tl.float8e5).to(tl.float32) + x.to(tl.float8e4nv).to(tl.float32))", None),
    "bits of another type": ("out = (x.to(tl.int32, bitcast=True) & 0x7FFFFFFF).to(tl.float32, bitcast=True)", torch.abs),
    "hints": ("c = tl.max_contiguous(tl.multiple_of(cols, N), N)\n    out = x + 0 * c[None, :]", lambda x: x),
    "static assertions and types": (
        "tl.static_assert(N >= 16)\n    T: tl.constexpr = x_ptr.dtype.element_ty\n    out = x.to(T)",
        lambda x: x,
    ),
    "a descriptor made in the kernel": (
        "d = tl.make_tensor_descriptor(x_ptr, shape=[M, N], strides=[N, 1], block_shape=[M, N])\n    out = d.load([0, 0]) * 2",
        lambda x: x * 2,
    ),
    "grid numbers": ("out = x + tl.program_id(0) + tl.num_programs(0) + tl.cdiv(n, 3)", lambda x: x + 4 + (len(x) > 9)),
    "swizzled numbers": ("a, b = tl.swizzle2d(0, 1, 2, 2, 1)\n    out = x + a + b", lambda x: x + 1),
    "clamping by min and max": ("out = tl.minimum(tl.maximum(x, -0.5), 0.5)", lambda x: x.clamp(-0.5, 0.5)),
    "a leaky relu": ("out = tl.where(x >= 0, x, 0.1 * x)", lambda x: F.leaky_relu(x, 0.1)),
}


def expected(case: str, x: torch.Tensor) -> torch.Tensor:
    if case == "permutation and reshape":
        return x.reshape(2, 4, 16).permute(0, 2, 1).reshape(8, 16)
    if case == "eight bits":
        return x.to(torch.float8_e5m2).float() + x.to(torch.float8_e4m3fn).float()
    a = (x * 10).int()
    quotient = torch.div(a, 3, rounding_mode="trunc")
    return (quotient + (a - quotient * 3) + (a << 1) + (a >> 1) + (a ^ 5) + (a & 6) + (a | 1)).float()


@pytest.mark.filterwarnings("ignore:The keep_dims")
@pytest.mark.parametrize("case", CASES)
def test_the_language_means_what_torch_computes(case: str, session: Session, load: Callable[[str], ModuleType]) -> None:
    body, reference = CASES[case]
    x = torch.randn(8, 16, generator=torch.Generator().manual_seed(1))
    if "product" in case:
        x = x.repeat(2, 1)
    wanted = (reference or (lambda t: expected(case, t)))(x)
    out = torch.empty(wanted.shape, device="cuda")
    module = load(TEMPLATE.replace("BODY", f"    {body}"))
    module.triton.set_allocator(lambda size, alignment, stream: torch.empty(size, dtype=torch.int8, device="cuda"))
    got = session.to_host(module.f(session.to_device(x), out))
    torch.testing.assert_close(got, wanted.contiguous(), rtol=1e-5, atol=1e-5)
    assert session.out_of_bounds == []


HOST = """
import torch, triton, triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

@triton.jit
def kernel(x, y, M: tl.constexpr, N: tl.constexpr):
    y.store([0, 0], x.load([0, 0]) * 2)

def f(x):
    out = torch.empty_like(x)
    kernel[(1,)](*(TensorDescriptor.from_tensor(t, [8, 16]) for t in (x, out)), 8, 16)
    return out
"""


def test_a_descriptor_made_on_the_host(session: Session, load: Callable[[str], ModuleType]) -> None:
    x = torch.randn(8, 16)
    assert torch.equal(session.to_host(load(HOST).f(session.to_device(x))), 2 * x)


CLOSURE = """
import torch, triton, triton.language as tl

def make(factor):
    factor = tl.constexpr(factor)

    @triton.jit
    def kernel(x, BLOCK: tl.constexpr):
        i = tl.arange(0, BLOCK)
        tl.store(x + i, tl.load(x + i) * factor)

    return kernel

two, five = make(2), make(5)

def f(x):
    two[(1,)](x, BLOCK=8)
    five[(1,)](x, BLOCK=8)
    return x
"""


def test_kernels_made_in_a_function_keep_their_own_constants(session: Session, load: Callable[[str], ModuleType]) -> None:
    x = session.to_device(torch.ones(8))
    assert session.to_host(load(CLOSURE).f(x)).tolist() == [10] * 8


CONSTANT = """
import torch, triton, triton.language as tl

TWO = tl.constexpr(2.0)

@triton.jit
def kernel(x, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i)
    tl.store(x + i, tl.where(TWO < v, -TWO * v, TWO - v))

def f(x):
    kernel[(1,)](x, BLOCK=4)
    return x
"""


def test_a_constant_stands_on_the_left_of_an_operator(session: Session, load: Callable[[str], ModuleType]) -> None:
    x = session.to_device(torch.tensor([1.0, 2.0, 3.0, 4.0], dtype=torch.float16))
    assert session.to_host(load(CONSTANT).f(x)).tolist() == [1, 0, -6, -8]
