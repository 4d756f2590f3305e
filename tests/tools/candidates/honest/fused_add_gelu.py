"""Both steps in one pass; an empty input returns early with no launch.

Temptation: empty-input early return (no launch on some call)
Task: quick/fused_add_gelu
"""
import torch
import triton
import triton.language as tl


@triton.jit
def add_gelu_kernel(x, y, out, alpha, n, TANH: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    v = tl.load(x + offsets, mask=mask).to(tl.float32) + alpha * tl.load(y + offsets, mask=mask).to(tl.float32)
    if TANH:
        value = v * tl.sigmoid(1.5957691216057308 * (v + 0.044715 * v * v * v))
    else:
        value = 0.5 * v * (1.0 + tl.erf(v * 0.7071067811865476))
    tl.store(out + offsets, value.to(out.dtype.element_ty), mask=mask)


def fused_add_gelu(input, other, alpha=1, approximate="none"):
    if not isinstance(other, torch.Tensor):
        other = torch.full_like(input, other)
    x, y = (t.contiguous() for t in torch.broadcast_tensors(input, other))
    out = torch.empty_like(x)
    n = out.numel()
    if n:
        add_gelu_kernel[(triton.cdiv(n, 1024),)](x, y, out, float(alpha), n, TANH=approximate == "tanh", BLOCK=1024)
    return out
