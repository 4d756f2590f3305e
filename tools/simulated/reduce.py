"""Reductions and scans of the interpreter: whole blocks at a time, for any combine function."""

from collections.abc import Callable
from typing import Any

import numpy as np
import triton.language as tl
from triton.runtime.interpreter import TensorHandle

from tools.simulated.flops import tally
from tools.simulated.narrow import as_float, from_float

_standard = tl.standard


def tensor(data: np.ndarray, dtype: tl.dtype) -> tl.tensor:
    """A block, or a scalar where `data` has no dimension."""
    if data.ndim == 0:
        return tl.tensor(TensorHandle(data.reshape(1), dtype), dtype)
    return tl.tensor(TensorHandle(data, dtype), tl.block_type(dtype, list(data.shape)))


def reduce(input: Any, axis: Any, combine_fn: Callable, keep_dims: Any = False, **context: Any) -> Any:
    """Stands in for `tl.reduce`."""
    given = _tuple(input)
    axis, keep_dims, rank = _plain(axis), _plain(keep_dims), given[0].handle.data.ndim
    parts = [(t.handle.data, t.dtype) for t in given]
    if axis is None:
        parts = [(data.reshape(-1), dtype) for data, dtype in parts]
    at = 0 if axis is None else axis % rank
    out = _reduced(parts, at, combine_fn)
    if keep_dims:
        out = [data.reshape((1,) * rank) if axis is None else np.expand_dims(data, at) for data in out]
    result = tuple(tensor(data, dtype) for data, (_, dtype) in zip(out, parts, strict=True))
    return result[0] if isinstance(input, tl.tensor) else result


def scan(input: Any, axis: Any, combine_fn: Callable, reverse: Any = False, **context: Any) -> Any:
    """Stands in for `tl.associative_scan`."""
    given = _tuple(input)
    at = _plain(axis) % given[0].handle.data.ndim
    parts = [(_flip(t.handle.data, at, reverse), t.dtype) for t in given]
    if combine_fn is _standard._sum_combine:
        out = [cumulated(np.cumsum, *parts[0], at)]
    elif combine_fn is _standard._prod_combine:
        out = [cumulated(np.cumprod, *parts[0], at)]
    else:
        out = _scanned(parts, at, combine_fn)
    result = tuple(tensor(_flip(data, at, reverse), dtype) for data, (_, dtype) in zip(out, parts, strict=True))
    return result[0] if isinstance(input, tl.tensor) else result


def _reduced(parts: list[tuple[np.ndarray, tl.dtype]], axis: int, combine_fn: Callable) -> list[np.ndarray]:
    data, dtype = parts[0]
    found = known(parts, axis, combine_fn)
    if found is None:
        return _folded(parts, axis, combine_fn)
    _count(dtype, data.size - found[0].size)
    return found


def _count(dtype: tl.dtype, combinations: int) -> None:
    """Combinations that no builder sees, one operation each."""
    if dtype.is_floating():
        tally.flops += combinations


def known(parts: list[tuple[np.ndarray, tl.dtype]], axis: int, combine_fn: Callable) -> list[np.ndarray] | None:
    """Reductions that numpy has."""
    data, dtype = parts[0]
    if combine_fn is _standard._sum_combine:
        return [_summed(data, dtype, axis)]
    if id(combine_fn) in _EXTREMA:
        values = as_float(TensorHandle(data, dtype))
        of_floats, of_integers = _EXTREMA[id(combine_fn)]
        return [from_float((of_floats if values.dtype.kind == "f" else of_integers).reduce(values, axis=axis), dtype).data]
    if id(combine_fn) in _INDEXED and not np.isnan(values := as_float(TensorHandle(data, dtype))).any():
        # The first of equal values, which is also an answer where the kernel leaves the choice open.
        where = np.expand_dims(_INDEXED[id(combine_fn)](values, axis=axis), axis)
        return [np.take_along_axis(part, where, axis).squeeze(axis) for part, _ in parts]
    return None


def _summed(data: np.ndarray, dtype: tl.dtype, axis: int) -> np.ndarray:
    """Half types are summed in fp32 and rounded once, as torch does."""
    if dtype.is_floating() and dtype.primitive_bitwidth <= 16:
        return from_float(np.asarray(np.sum(as_float(TensorHandle(data, dtype)), axis=axis, dtype=np.float32)), dtype).data
    return np.sum(data, axis=axis, dtype=data.dtype)


def cumulated(operation: Callable, data: np.ndarray, dtype: tl.dtype, axis: int) -> np.ndarray:
    _count(dtype, data.size - data.size // data.shape[axis])
    if dtype.is_floating() and dtype.primitive_bitwidth <= 16:
        return from_float(operation(as_float(TensorHandle(data, dtype)), axis=axis, dtype=np.float32), dtype).data
    return operation(data, axis=axis, dtype=data.dtype)


def _folded(parts: list[tuple[np.ndarray, tl.dtype]], axis: int, combine_fn: Callable) -> list[np.ndarray]:
    """Combines neighbours until one is left; the length is a power of two."""
    blocks = [np.moveaxis(data, axis, -1) for data, _ in parts]
    dtypes = [dtype for _, dtype in parts]
    while blocks[0].shape[-1] > 1:
        blocks = _combine(combine_fn, [b[..., 0::2] for b in blocks], [b[..., 1::2] for b in blocks], dtypes)
    return [block[..., 0] for block in blocks]


def _scanned(parts: list[tuple[np.ndarray, tl.dtype]], axis: int, combine_fn: Callable) -> list[np.ndarray]:
    """Inclusive scan by doubling."""
    blocks = [np.moveaxis(data, axis, -1) for data, _ in parts]
    dtypes = [dtype for _, dtype in parts]
    step = 1
    while step < blocks[0].shape[-1]:
        # Whole blocks, since their length must stay a power of two; the first `step` results are not used.
        combined = _combine(combine_fn, [np.roll(b, step, axis=-1) for b in blocks], blocks, dtypes)
        blocks = [np.concatenate([b[..., :step], new[..., step:]], axis=-1) for b, new in zip(blocks, combined, strict=True)]
        step *= 2
    return [np.ascontiguousarray(np.moveaxis(block, -1, axis)) for block in blocks]


def _combine(combine_fn: Callable, left: list[np.ndarray], right: list[np.ndarray], dtypes: list[tl.dtype]) -> list[np.ndarray]:
    """One call of the combine function on whole blocks."""
    operands = [tensor(data, dtype) for side in (left, right) for data, dtype in zip(side, dtypes, strict=True)]
    out = _tuple(combine_fn(*operands))
    return [np.broadcast_to(o.handle.data, left[0].shape).astype(part.dtype) for o, part in zip(out, left, strict=True)]


def _tuple(value: Any) -> tuple:
    return (value,) if isinstance(value, tl.tensor) else tuple(value)


def _plain(value: Any) -> Any:
    return value.value if isinstance(value, tl.constexpr) else value


def _flip(data: np.ndarray, axis: int, reverse: Any) -> np.ndarray:
    return np.ascontiguousarray(np.flip(data, axis)) if _plain(reverse) else data


_EXTREMA = {id(_standard._elementwise_max): (np.fmax, np.maximum), id(_standard._elementwise_min): (np.fmin, np.minimum)}
_INDEXED = {
    id(_standard._argmax_combine_tie_break_left): np.argmax,
    id(_standard._argmax_combine_tie_break_fast): np.argmax,
    id(_standard._argmin_combine_tie_break_left): np.argmin,
    id(_standard._argmin_combine_tie_break_fast): np.argmin,
}
