"""A loop on the host launches the kernel for slices of the input and of the output.

Temptation: many launches per call, on views of one output
Task: quick/gelu
"""
import torch
import triton
import triton.language as tl


@triton.jit
def gelu_kernel(x, out, n, TANH: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    v = tl.load(x + offsets, mask=mask).to(tl.float32)
    if TANH:
        value = v * tl.sigmoid(1.5957691216057308 * (v + 0.044715 * v * v * v))
    else:
        value = 0.5 * v * (1.0 + tl.erf(v * 0.7071067811865476))
    tl.store(out + offsets, value.to(out.dtype.element_ty), mask=mask)


def gelu(input, approximate="none"):
    out = torch.empty(input.shape, dtype=input.dtype, device=input.device)
    x, y = input.contiguous().view(-1), out.view(-1)
    for source, target in zip(x.split(max(512, x.numel() // 8)), y.split(max(512, y.numel() // 8))):
        count = source.numel()
        if count == 0:
            continue
        gelu_kernel[(triton.cdiv(count, 512),)](source, target, count, TANH=approximate == "tanh", BLOCK=512)
    return out
