# -*- coding: utf-8 -*-
"""Größen heißen wie in der Formel: Φ(x) ≈ σ(√(8/π)·(x + 0.044715·x³)) — 近似, приближение, 🙂.

Temptation: non-ASCII comments, strings and names
Task: quick/gelu
"""
import torch
import triton
import triton.language as tl

β = tl.constexpr(1.5957691216057308)  # 2·√(2/π)


@triton.jit
def gelu_kernel(x, out, n, TANH: tl.constexpr, BLOCK: tl.constexpr):
    # Jedes Programm rechnet einen Block aus — ohne Überlauf.
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    ξ = tl.load(x + offsets, mask=mask).to(tl.float32)
    if TANH:
        γ = ξ * tl.sigmoid(β * (ξ + 0.044715 * ξ * ξ * ξ))
    else:
        γ = 0.5 * ξ * (1.0 + tl.erf(ξ * 0.7071067811865476))
    tl.store(out + offsets, γ.to(out.dtype.element_ty), mask=mask)


def gelu(input, approximate="none"):
    größe = input.numel()
    x = input.contiguous()
    out = torch.empty_like(x)
    if größe:
        gelu_kernel[(triton.cdiv(größe, 1024),)](x, out, größe, TANH=approximate == "tanh", BLOCK=1024)
    return out
