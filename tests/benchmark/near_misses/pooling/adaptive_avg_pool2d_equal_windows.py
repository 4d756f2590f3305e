"""All windows have the size H // height by W // width, as if the sizes divided each other: elements are left out.

Task: kernelbench_x/adaptive_avg_pool2d.
Expected: wrong_numeric at correctness.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def pool(x, out, total, H, W, OH, OW, tall, broad, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    plane, row, column = at // (OH * OW), at // OW % OH, at % OW
    sums = tl.zeros((BLOCK,), tl.float32)
    for i in range(tall):
        for j in range(broad):
            y, z = tl.minimum(row * tall + i, H - 1), tl.minimum(column * broad + j, W - 1)
            sums += tl.load(x + (plane.to(tl.int64) * H + y) * W + z, mask=at < total, other=0.0).to(tl.float32)
    tl.store(out + at, (sums / (tall * broad)).to(out.dtype.element_ty), mask=at < total)


def adaptive_avg_pool2d(input, output_size):
    H, W = input.shape[-2:]
    wanted = (output_size,) * 2 if isinstance(output_size, int) else output_size
    OH, OW = H if wanted[0] is None else wanted[0], W if wanted[1] is None else wanted[1]
    out = torch.empty((*input.shape[:-2], OH, OW), dtype=input.dtype, device=input.device)
    if out.numel():
        grid = (triton.cdiv(out.numel(), 128),)
        pool[grid](input.contiguous(), out, out.numel(), H, W, OH, OW, max(1, H // OH), max(1, W // OW), BLOCK=128)
    return out
