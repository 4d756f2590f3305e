"""The sum goes to a scratch buffer of zeros in fp32, a second kernel reads it: fused by name only, and right.

Temptation: two passes over a scratch buffer from `torch.zeros`
Task: quick/fused_add_gelu
"""
import torch
import triton
import triton.language as tl


@triton.jit
def weighted_sum(x, y, scratch, alpha, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    a = tl.load(x + offsets, mask=mask).to(tl.float32)
    b = tl.load(y + offsets, mask=mask).to(tl.float32)
    # The scratch buffer is zero, so adding to it is the same as writing it.
    tl.atomic_add(scratch + offsets, a + alpha * b, mask=mask)


@triton.jit
def gelu(scratch, out, n, TANH: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    v = tl.load(scratch + offsets, mask=mask)
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
        scratch = torch.zeros(n, dtype=torch.float32, device=x.device)
        grid = lambda meta: (triton.cdiv(n, meta["BLOCK"]),)
        weighted_sum[grid](x, y, scratch, float(alpha), n, BLOCK=1024)
        gelu[grid](scratch, out, n, TANH=approximate == "tanh", BLOCK=2048)
    return out
