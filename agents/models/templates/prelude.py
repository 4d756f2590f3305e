"""What every module of the author's begins with: helpers that lay tensors out for kernels and choose launches."""

IMPORTS = """\
import math
from functools import lru_cache, reduce
from operator import truediv

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice
"""

HELPERS = '''\
_TL = {torch.float16: tl.float16, torch.bfloat16: tl.bfloat16, torch.float32: tl.float32, torch.float64: tl.float64, torch.int8: tl.int8}


def _kind(value, rank=True):
    """What of an argument decides how it is computed: kind and rank of a tensor, presence of anything else."""
    if isinstance(value, torch.Tensor):
        kind = "f" if value.dtype.is_floating_point else "b" if value.dtype == torch.bool else "i"
        return (kind, value.dim()) if rank else kind
    if isinstance(value, torch.dtype):
        return "f" if value.is_floating_point else str(value)
    if isinstance(value, (list, tuple)):
        return tuple(_kind(v, rank) for v in value)
    return None if value is None else "n"


def _value(value):
    return tuple(value) if isinstance(value, (list, tuple)) else value


_READ = {"kind": _kind, "class": lambda value: _kind(value, False), "value": _value}


def _plan(given):
    for how, plans in PLANS:
        key = tuple(_READ[h](v) for h, v in zip(how, given))
        for units, plan, *fits in plans.get(key, ()):
            if all(given[i].size(d) == 1 for i, d in units) and all(f(*given) for f in fits):
                return plan
    raise ValueError("these arguments are not covered")


def _size(*sizes):
    if len(set(sizes)) > 1:
        raise ValueError(f"sizes {sizes} do not agree")
    return sizes[0]


def _accumulate(*dtypes):
    """The dtype that floating values are computed in."""
    return torch.float64 if torch.float64 in dtypes else torch.float32


def _promoted(*dtypes):
    return reduce(torch.promote_types, dtypes)


def _power(n):
    return triton.next_power_of_2(max(n, 1))


def _warps(elements):
    return min(max(elements // 512, 1), WARPS)


def _strides(tensor, dims):
    shape, strides = tensor.shape, tensor.stride()
    return tuple(0 if d is None or shape[d] == 1 else strides[d] for d in dims)


@lru_cache(4096)
def _join(sizes, strides, rank, join=True):
    """Joins neighbouring dims that every tensor walks as one; leading dims of size 1 fill up to `rank`."""
    joined = []
    for i, n in enumerate(sizes):
        now = [s[i] for s in strides]
        if join and n == 1:
            continue
        if join and joined and all(a == b * n for a, b in zip(joined[-1][1], now)):
            joined[-1] = (joined[-1][0] * n, now)
        else:
            joined.append((n, now))
    joined = [(1, [0] * len(strides))] * (rank - len(joined)) + joined
    flat = all(n == 1 for n, _ in joined[:-1])
    return tuple(n for n, _ in joined), tuple(tuple(s[k] for _, s in joined) for k in range(len(strides))), flat
'''

POINTWISE = '''\


def _pointwise(kernel, sizes, operands, join=True, **rest):
    """Launches a kernel over all elements. An operand is a tensor, its dim along each size, and its dims that are looked up."""
    total = math.prod(sizes)
    if total == 0:
        return
    n, strides, flat = _join(sizes, tuple(_strides(t, dims) for t, dims, _ in operands), 4, join)
    lookups = [_strides(t, looked) for t, _, looked in operands]
    walked = [s for a, b in zip(strides, lookups) for s in (*a, *b)]
    grid = (triton.cdiv(total, BLOCK),)
    kernel[grid](*(t for t, _, _ in operands), total, *n[1:], *walked, **rest, FLAT_O=flat, B=BLOCK, num_warps=_warps(BLOCK))


def _elementwise(kernel, tensors, out, **rest):
    """The same for tensors that are broadcast to the result, whatever their rank."""
    if out.numel() == 0:
        return
    tensors = [*(t.expand(out.shape) for t in tensors), out]
    every = range(out.dim())
    n, strides, flat = _join(out.shape, tuple(_strides(t, every) for t in tensors), 4)
    if len(n) > 4:
        tensors = [*(t.contiguous() for t in tensors[:-1]), out]
        n, strides, flat = _join(out.shape, tuple(_strides(t, every) for t in tensors), 4)
    walked = [s for a in strides for s in a]
    grid = (triton.cdiv(out.numel(), BLOCK),)
    kernel[grid](*tensors, out.numel(), *n[1:], *walked, **rest, FLAT_O=flat, B=BLOCK, num_warps=_warps(BLOCK))
'''

ROWS = '''\


@triton.jit
def _product(a, b):
    return a * b


def _rows(kernels, outer, inner, operands, join=True, **rest):
    """Launches a reduction over `inner` for each index of `outer`: in one pass where a row fits in a tile, else looped."""
    on, o_strides, o_flat = _join(outer, tuple(_strides(t, o) for t, o, _, _ in operands), 3, join)
    n, i_strides, i_flat = _join(inner, tuple(_strides(t, i) for t, _, i, _ in operands), 2, join)
    n_rows, n_cols = math.prod(on), math.prod(n)
    if n_rows == 0:
        return
    lookups = [_strides(t, looked) for t, _, _, looked in operands]
    walked = [s for a, b, c in zip(o_strides, i_strides, lookups) for s in (*a, *b, *c)]
    rest |= {"FLAT_O": o_flat, "FLAT_I": i_flat}
    across = 0 < o_strides[0][-1] < i_strides[0][-1]
    width = _power(n_cols)
    if width * (min(ACROSS, _power(n_rows)) if across else 1) <= ONCE:
        kernel, columns = kernels[0], width
        rows = min(_power(n_rows), max(ACROSS if across else 1, ROW_TILE // width))
        rows = max(1, min(rows, ONCE // width))
    else:
        rows = min(ACROSS, _power(n_rows)) if across else 1
        kernel, columns = kernels[1], max(SWEEP // rows, 16)
    grid = (triton.cdiv(n_rows, rows),)
    meta = {"R": rows, "B": columns, "num_warps": _warps(rows * columns)}
    kernel[grid](*(t for t, *_ in operands), n_rows, *on[1:], n_cols, *n[1:], *walked, **rest, **meta)
'''

MATMUL = '''\


def _matmul(kernel, size, left, right, operands, kind, acc, **rest):
    """Launches a product over `size` = (batch, M, N, K). An operand of the epilogue has its dims along batch, M and N."""
    batch, m, n, k = size
    if batch * m * n == 0:
        return
    dtypes = {left[0].dtype, right[0].dtype}
    wide = False
    if dtypes == {torch.int8}:
        dot, total = tl.int8, tl.int32
    elif kind == "i" or acc == torch.float64:
        dot = total = tl.int64 if kind == "i" else tl.float64
        wide = True
    else:
        dot, total = (_TL[left[0].dtype] if len(dtypes) == 1 else tl.float32), tl.float32
    bm, bn, bk = (16, 16, 16) if wide else IEEE_TILE if dot == tl.float32 else TILE
    bm, bn, bk = min(bm, max(_power(m), 16)), min(bn, max(_power(n), 16)), min(bk, max(_power(k), 32 if dot == tl.int8 else 16))
    while bm * bn > 64 * 64 and batch * triton.cdiv(m, bm) * triton.cdiv(n, bn) < FILL:
        bm, bn = (bm // 2, bn) if bm >= bn else (bm, bn // 2)
    walked = [s for t, b, i, j, looked in operands for s in (*_strides(t, (*b, *i, *j)), *_strides(t, looked))]
    grid = (triton.cdiv(m, bm) * triton.cdiv(n, bn), batch)
    meta = {"DOT": dot, "SUM": total, "WIDE": wide, "BM": bm, "BN": bn, "BK": bk, "GROUP": 8}
    meta |= {"num_warps": 8 if bm * bn >= 128 * 128 else 4, "num_stages": STAGES}
    tensors = (left[0], right[0], *(t for t, *_ in operands))
    kernel[grid](*tensors, m, n, k, *_strides(*left), *_strides(*right), *walked, **rest, **meta)
'''

SPLIT = '''\


def _split(kernel, inner, operands, dtypes, join=True, **rest):
    """First half of a reduction of everything: chunks, whose results are returned as tensors of the given dtypes."""
    n, strides, flat = _join(inner, tuple(_strides(t, i) for t, _, i, _ in operands), 2, join)
    n_cols = math.prod(n)
    chunk = triton.cdiv(triton.cdiv(n_cols, PARTS), SWEEP) * SWEEP
    count = triton.cdiv(n_cols, chunk)
    left = [torch.empty(count, dtype=dtype, device=operands[0][0].device) for dtype in dtypes]
    walked = [s for (t, _, _, looked), i in zip(operands, strides) for s in (0, 0, 0, *i, *_strides(t, looked))]
    meta = {"FLAT_O": True, "FLAT_I": flat, "R": 1, "B": SWEEP, "CHUNK": chunk, "num_warps": _warps(SWEEP)}
    kernel[(1, count)](*left, *(t for t, *_ in operands), 1, 1, 1, n_cols, *n[1:], *walked, **rest, **meta)
    return left


def _whole(kernel, left, operands, join=True, **rest):
    """Second half: one program reduces what the chunks left."""
    walked = [s for t, _, _, looked in operands for s in (0, 0, 0, 0, 0, *_strides(t, looked))]
    columns = _power(left[0].numel())
    meta = {"FLAT_O": True, "FLAT_I": True, "R": 1, "B": columns, "num_warps": _warps(columns)}
    kernel[(1,)](*left, *(t for t, *_ in operands), 1, 1, 1, left[0].numel(), 1, *walked, **rest, **meta)
'''

LAUNCHES = {"pointwise": POINTWISE, "rows": ROWS, "split": SPLIT, "matmul": MATMUL}
