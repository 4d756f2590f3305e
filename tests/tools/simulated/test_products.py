"""Products that the compiler makes where a kernel asks for none are told of."""

import pytest
import torch
import triton
import triton.language as tl

from tools.simulated import Session
from tools.simulated.products import advisory

TF32 = "%t = tt.dot %x, %y, %z, inputPrecision = tf32 : tensor<32x4xf32> * tensor<4x32xf32> -> tensor<32x32xf32>"


@triton.jit
def plain_sum(a, b, c):
    side, inner = tl.arange(0, 16), tl.arange(0, 4)
    x = tl.load(a + side[:, None] * 4 + inner[None, :])
    y = tl.load(b + inner[:, None] * 16 + side[None, :])
    tl.store(c + side[:, None] * 16 + side[None, :], tl.sum(x[:, :, None] * y[None, :, :], axis=1))


@triton.jit
def product(x, y):
    return tl.dot(x, y)


@triton.jit
def asks_for_it(a, b, c):
    side = tl.arange(0, 16)
    square = side[:, None] * 16 + side[None, :]
    tl.store(c + square, product(tl.load(a + square), tl.load(b + square)))


def test_a_product_that_nobody_asked_for_gets_an_advisory() -> None:
    assert "sum of products in plain_sum" in advisory(plain_sum, TF32)


@pytest.mark.parametrize(
    ("kernel", "ttir"), [(asks_for_it, TF32), (plain_sum, TF32.replace(", inputPrecision = tf32", "")), (plain_sum, "")]
)
def test_what_was_asked_for_or_is_exact_gets_none(kernel: triton.JITFunction, ttir: str) -> None:
    assert advisory(kernel, ttir) == ""


def test_a_session_tells_what_this_release_of_triton_does(session: Session) -> None:
    a, b, c = torch.ones(16, 4, device="cuda"), torch.ones(4, 16, device="cuda"), torch.empty(16, 16, device="cuda")
    for _ in range(2):
        plain_sum[(1,)](a, b, c)
    made = [int(part) for part in triton.__version__.split(".")[:2]] < [3, 8]
    assert ["plain_sum" in text for text in session.advisories] == [True] * made
    assert session.to_host(c).eq(4).all()
