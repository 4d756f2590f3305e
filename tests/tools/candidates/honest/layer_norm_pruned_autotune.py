"""Autotune with an `early_config_prune`, and with rows longer than a block.

Temptation: autotune with pruning callbacks (host code that runs between launches)
Task: quick/layer_norm
"""
import math

import torch
import triton
import triton.language as tl


def not_too_large(configs, named, **kwargs):
    kept = [c for c in configs if c.kwargs["BLOCK"] <= max(128, triton.next_power_of_2(named["columns"]))]
    return kept or configs[:1]


@triton.autotune(
    configs=[triton.Config({"BLOCK": block}, num_warps=warps) for block, warps in ((128, 1), (512, 4), (2048, 8))],
    key=["columns"],
    prune_configs_by={"early_config_prune": not_too_large},
)
@triton.jit
def layer_norm_loop(x, weight, bias, out, columns, eps, HAS_WEIGHT: tl.constexpr, HAS_BIAS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    x += row * columns
    out += row * columns
    c = tl.arange(0, BLOCK)
    # Sums of differences from the first element: no cancellation however far the mean is from zero.
    origin = tl.load(x).to(tl.float32)
    first, second = tl.zeros((BLOCK,), tl.float32), tl.zeros((BLOCK,), tl.float32)
    for start in range(0, columns, BLOCK):
        d = tl.load(x + start + c, mask=start + c < columns, other=0.0).to(tl.float32) - origin
        d = tl.where(start + c < columns, d, 0.0)
        first += d
        second += d * d
    shift = tl.sum(first, axis=0) / columns
    variance = tl.sum(second, axis=0) / columns - shift * shift
    scale = 1.0 / tl.sqrt(tl.maximum(variance, 0.0) + eps)
    for start in range(0, columns, BLOCK):
        mask = start + c < columns
        y = (tl.load(x + start + c, mask=mask).to(tl.float32) - origin - shift) * scale
        if HAS_WEIGHT:
            y *= tl.load(weight + start + c, mask=mask).to(tl.float32)
        if HAS_BIAS:
            y += tl.load(bias + start + c, mask=mask).to(tl.float32)
        tl.store(out + start + c, y.to(out.dtype.element_ty), mask=mask)


def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5):
    x = input.contiguous()
    out = torch.empty_like(x)
    columns = math.prod(normalized_shape)
    if x.numel():
        w = weight.contiguous() if weight is not None else x
        b = bias.contiguous() if bias is not None else x
        layer_norm_loop[(x.numel() // columns,)](x, w, b, out, columns, eps, HAS_WEIGHT=weight is not None, HAS_BIAS=bias is not None)
    return out
