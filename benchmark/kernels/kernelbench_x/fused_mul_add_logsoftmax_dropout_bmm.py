"""Two kernels: log_softmax of a * b + c with dropout, a line per program; then the product with mat2, in tiles."""

import torch
import triton
import triton.language as tl


@triton.jit
def log_softmax_dropout(a, b, c, out, columns, p, scale, seed, NUMBER: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    place = row * columns + offsets
    v = tl.load(a + place, mask=mask, other=0.0).to(tl.float32) * tl.load(b + place, mask=mask, other=0.0).to(tl.float32)
    if NUMBER:
        v += c
    else:
        v += tl.load(c + place, mask=mask, other=0.0).to(tl.float32)
    v = tl.where(mask, v, -float("inf"))
    v = v - tl.max(v, axis=0)
    v = v - tl.log(tl.sum(tl.exp(v), axis=0))
    tl.store(out + place, tl.where(tl.rand(seed, place) >= p, v * scale, 0.0), mask=mask)


@triton.jit
def bmm(a, b, c, N, K, M, ab, an, ak, bb, bk, bm, TALL: tl.constexpr, WIDE: tl.constexpr, DEEP: tl.constexpr):
    n = tl.program_id(1) * TALL + tl.arange(0, TALL)
    m = tl.program_id(0) * WIDE + tl.arange(0, WIDE)
    k = tl.arange(0, DEEP)
    batch = tl.program_id(2).to(tl.int64)
    at_a = a + batch * ab + n[:, None] * an + k[None, :] * ak
    at_b = b + batch * bb + k[:, None] * bk + m[None, :] * bm
    total = tl.zeros((TALL, WIDE), dtype=tl.float32)
    for start in range(0, K, DEEP):
        x = tl.load(at_a, mask=(n[:, None] < N) & (k[None, :] < K - start), other=0.0)
        y = tl.load(at_b, mask=(k[:, None] < K - start) & (m[None, :] < M), other=0.0)
        total += tl.dot(x, y.to(tl.float32), input_precision="ieee")
        at_a += DEEP * ak
        at_b += DEEP * bk
    place = c + batch * N * M + n[:, None] * M + m[None, :]
    tl.store(place, total.to(c.dtype.element_ty), mask=(n[:, None] < N) & (m[None, :] < M))


def fused_mul_add_logsoftmax_dropout_bmm(input1, input2, other, mat2, p=0.5, training=True, inplace=False, dim=-1, *, out=None):
    number = not isinstance(other, torch.Tensor)
    shape = torch.broadcast_shapes(*(t.shape for t in (input1, input2, other) if isinstance(t, torch.Tensor)))
    a, b, c = (t if not isinstance(t, torch.Tensor) else t.expand(shape).movedim(dim, -1).contiguous() for t in (input1, input2, other))
    logs = torch.empty(a.shape, dtype=torch.float32, device=a.device)
    p = float(p) if training else 0.0
    scale = 1.0 / (1.0 - p) if p < 1 else 0.0
    seed = torch.randint(2**31 - 1, (1,)).item()
    columns = a.shape[-1]
    log_softmax_dropout[(a.numel() // columns,)](
        a, b, c, logs, columns, p, scale, seed, NUMBER=number, BLOCK=triton.next_power_of_2(columns)
    )
    left = logs.movedim(-1, dim)
    (batches, n, k), m = left.shape, mat2.shape[2]
    result = torch.empty((batches, n, m), dtype=input1.dtype, device=input1.device)
    tile = 32 if n < 512 else 64
    grid = (triton.cdiv(m, tile), triton.cdiv(n, tile), batches)
    bmm[grid](left, mat2, result, n, k, m, *left.stride(), *mat2.stride(), TALL=tile, WIDE=tile, DEEP=32)
    return result if out is None else out.copy_(result)
