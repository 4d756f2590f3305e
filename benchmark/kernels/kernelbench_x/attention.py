"""Attention in one pass over the keys: each program keeps the running maximum and sum of its queries, and never stores a score."""

import torch
import triton
import triton.language as tl


@triton.jit
def attend(
    q, k, v, out, heads, S, T, qb, qh, qs, qd, kb, kh, kt, kd, vb, vh, vt, ve, ob, oh, os, oe, scale,
    CAUSAL: tl.constexpr, D: tl.constexpr, E: tl.constexpr, SIZE: tl.constexpr, WIDTH: tl.constexpr,
    QUERIES: tl.constexpr, KEYS: tl.constexpr,
):  # fmt: skip
    batch, head = (tl.program_id(1) // heads).to(tl.int64), (tl.program_id(1) % heads).to(tl.int64)
    rows = tl.program_id(0) * QUERIES + tl.arange(0, QUERIES)
    d, e = tl.arange(0, SIZE), tl.arange(0, WIDTH)
    own = q + batch * qb + head * qh + rows[:, None].to(tl.int64) * qs + d[None, :] * qd
    queries = tl.load(own, mask=(rows[:, None] < S) & (d[None, :] < D), other=0.0)
    top = tl.full((QUERIES,), float("-inf"), tl.float32)
    sums = tl.zeros((QUERIES,), tl.float32)
    total = tl.zeros((QUERIES, WIDTH), tl.float32)
    end = tl.minimum(T, (tl.program_id(0) + 1) * QUERIES) if CAUSAL else T
    for start in range(0, end, KEYS):
        t = start + tl.arange(0, KEYS)
        there = t < T
        key = tl.load(
            k + batch * kb + head * kh + t[None, :].to(tl.int64) * kt + d[:, None] * kd, mask=there[None, :] & (d[:, None] < D), other=0.0
        )
        scores = tl.dot(queries, key, input_precision="ieee") * scale
        seen = there[None, :]
        if CAUSAL:
            seen = seen & (t[None, :] <= rows[:, None])
        scores = tl.where(seen, scores, float("-inf"))
        # The first block of keys holds one that every query sees, so that the maximum is finite.
        higher = tl.maximum(top, tl.max(scores, 1))
        powers = tl.exp(scores - higher[:, None])
        shrink = tl.exp(top - higher)
        value = tl.load(
            v + batch * vb + head * vh + t[:, None].to(tl.int64) * vt + e[None, :] * ve, mask=there[:, None] & (e[None, :] < E), other=0.0
        )
        total = total * shrink[:, None] + tl.dot(powers.to(value.dtype), value, input_precision="ieee")
        sums = sums * shrink + tl.sum(powers, 1)
        top = higher
    place = out + batch * ob + head * oh + rows[:, None].to(tl.int64) * os + e[None, :] * oe
    tl.store(place, (total / sums[:, None]).to(out.dtype.element_ty), mask=(rows[:, None] < S) & (e[None, :] < E))


def attention(q, k, v, causal=False, softmax_scale=None, *, out=None):
    (B, H, S, D), T, E = q.shape, k.shape[2], v.shape[3]
    if softmax_scale is None:
        softmax_scale = D**-0.5
    if out is None:
        out = torch.empty((B, H, S, E), dtype=q.dtype, device=q.device)
    size, width = max(16, triton.next_power_of_2(D)), max(16, triton.next_power_of_2(E))
    block = 64 if S >= 512 and q.element_size() == 2 else 32
    attend[(triton.cdiv(S, block), B * H)](
        q, k, v, out, H, S, T, *q.stride(), *k.stride(), *v.stride(), *out.stride(), float(softmax_scale),
        CAUSAL=causal, D=D, E=E, SIZE=size, WIDTH=width, QUERIES=block, KEYS=block,
    )  # fmt: skip
    return out
