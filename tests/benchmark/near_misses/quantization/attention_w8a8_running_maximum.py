"""Levels of a probability refer to the maximum so far, as in flash attention: rows whose maximum comes later are on other levels.

Task: kernelbench_x/attention_w8a8.
Expected: wrong_numeric at correctness.
"""

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def quantise(x, levels, scales, lines, length, batch_stride, line_stride, stride, LINES: tl.constexpr, BLOCK: tl.constexpr):
    """A line is a token's row or a column over the tokens, by its strides; `levels` holds line after line."""
    batch = tl.program_id(1).to(tl.int64)
    line = tl.program_id(0) * LINES + tl.arange(0, LINES)
    source = x + batch * batch_stride + line[:, None].to(tl.int64) * line_stride
    target = levels + (batch * lines + line[:, None]) * length
    most = tl.zeros((LINES,), tl.float32)
    for start in range(0, length, BLOCK):
        k = start + tl.arange(0, BLOCK)[None, :]
        inside = (line[:, None] < lines) & (k < length)
        values = tl.load(source + k.to(tl.int64) * stride, mask=inside, other=0.0).to(tl.float32)
        most = tl.maximum(most, tl.max(tl.abs(values), axis=1))
    scale = tl.where(most > 0, most / 127.0, 1.0)
    tl.store(scales + batch * lines + line, scale, mask=line < lines)
    for start in range(0, length, BLOCK):
        k = start + tl.arange(0, BLOCK)[None, :]
        inside = (line[:, None] < lines) & (k < length)
        values = tl.load(source + k.to(tl.int64) * stride, mask=inside, other=0.0).to(tl.float32)
        rounded = tl.clamp(libdevice.rint(values / scale[:, None]), -127.0, 127.0)
        tl.store(target + k, rounded.to(tl.int8), mask=inside)


@triton.jit
def scores_of(q, scale_q, k, scale_k, batch, t, T, D, d, root):
    """Scores of a tile: int8 products in int32, scaled back; -inf beyond the last key."""
    token = batch * T + t
    keys = tl.load(k + token[None, :] * D + d[:, None], mask=(t[None, :] < T) & (d[:, None] < D), other=0)
    sums = tl.dot(q, keys, out_dtype=tl.int32).to(tl.float32)
    scale = scale_q[:, None] * tl.load(scale_k + token, mask=t < T, other=0.0)[None, :]
    return tl.where(t[None, :] < T, sums * scale / root, float("-inf"))


@triton.jit
def attend(q, scale_q, k, scale_k, v, scale_v, out, S, T, D, root, BS: tl.constexpr, BT: tl.constexpr, BD: tl.constexpr):
    """`v` holds columns: the tokens of a channel lie side by side."""
    batch = tl.program_id(1).to(tl.int64)
    s, d = tl.program_id(0) * BS + tl.arange(0, BS), tl.arange(0, BD)
    rows = batch * S + s
    queries = tl.load(q + rows[:, None] * D + d[None, :], mask=(s[:, None] < S) & (d[None, :] < D), other=0)
    scale = tl.load(scale_q + rows, mask=s < S, other=0.0)
    highest = tl.full((BS,), float("-inf"), tl.float32)
    total = tl.zeros((BS,), tl.float32)
    sums = tl.zeros((BS, BD), tl.float32)
    for start in range(0, T, BT):
        t = start + tl.arange(0, BT)
        tile = scores_of(queries, scale, k, scale_k, batch, t, T, D, d, root)
        higher = tl.maximum(highest, tl.max(tile, axis=1))
        shrink = tl.exp(highest - higher)
        powers = tl.exp(tile - higher[:, None])
        total = total * shrink + tl.sum(powers, axis=1)
        highest = higher
        levels = libdevice.rint(127.0 * powers).to(tl.int8)
        values = tl.load(v + (batch * D + d[None, :]) * T + t[:, None], mask=(t[:, None] < T) & (d[None, :] < D), other=0)
        sums = sums * shrink[:, None] + tl.dot(levels, values, out_dtype=tl.int32).to(tl.float32)
    scale_out = tl.load(scale_v + batch * D + d, mask=d < D, other=0.0)
    result = sums * (scale_out[None, :] / (127.0 * total[:, None]))
    tl.store(out + rows[:, None] * D + d[None, :], result.to(out.dtype.element_ty), mask=(s[:, None] < S) & (d[None, :] < D))


def quantised(x, line_axis):
    """Levels (batch, line, position) and scales (batch, line)."""
    batches, lines, length = x.shape[0], x.shape[line_axis], x.shape[3 - line_axis]
    levels = torch.empty((batches, lines, length), dtype=torch.int8, device=x.device)
    scales = torch.empty((batches, lines), dtype=torch.float32, device=x.device)
    quantise[(triton.cdiv(lines, 16), batches)](
        x, levels, scales, lines, length, x.stride(0), x.stride(line_axis), x.stride(3 - line_axis), LINES=16, BLOCK=128
    )
    return levels, scales


def attention_w8a8(query, key, value):
    (B, S, D), T = query.shape, key.shape[1]
    out = torch.empty((B, S, D), dtype=query.dtype, device=query.device)
    (q, scale_q), (k, scale_k), (v, scale_v) = quantised(query, 1), quantised(key, 1), quantised(value, 2)
    BS = 64 if S >= 64 else 16
    attend[(triton.cdiv(S, BS), B)](
        q, scale_q, k, scale_k, v, scale_v, out, S, T, D, D**0.5, BS=BS, BT=32, BD=max(32, triton.next_power_of_2(D))
    )
    return out
