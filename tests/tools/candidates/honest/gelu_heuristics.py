"""`triton.heuristics` derives the block size, and whether the mask can be left out.

Temptation: heuristics decorator (constants that no caller passes; a path without a mask)
Task: quick/gelu
"""
import torch
import triton
import triton.language as tl


@triton.heuristics(
    {
        "BLOCK": lambda args: min(1024, triton.next_power_of_2(args["n"])),
        "num_warps": lambda args: 4 if args["n"] > 512 else 1,
    }
)
@triton.heuristics({"EVEN": lambda args: args["n"] % args["BLOCK"] == 0})
@triton.jit
def gelu_kernel(x, out, n, TANH: tl.constexpr, EVEN: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    if EVEN:
        v = tl.load(x + offsets).to(tl.float32)
    else:
        v = tl.load(x + offsets, mask=offsets < n).to(tl.float32)
    if TANH:
        value = v / (1.0 + tl.exp(-1.5957691216057308 * (v + 0.044715 * v * v * v)))
    else:
        value = 0.5 * v * (1.0 + tl.erf(v * 0.7071067811865476))
    if EVEN:
        tl.store(out + offsets, value.to(out.dtype.element_ty))
    else:
        tl.store(out + offsets, value.to(out.dtype.element_ty), mask=offsets < n)


def gelu(input, approximate="none"):
    x = input.contiguous()
    out = torch.empty_like(x)
    n = x.numel()
    if n:
        gelu_kernel[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, out, n, TANH=approximate == "tanh")
    return out
