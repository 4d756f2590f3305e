"""What the self-test asks the interpreter, and what torch or Python's integers answer."""

import itertools
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import torch
import triton.language as tl
from triton._C.libtriton import ir
from triton.runtime.interpreter import InterpreterBuilder, TensorHandle, _get_np_dtype

from tools.simulated import libdevice
from tools.simulated.narrow import as_float

Probe = tuple[str, tuple[Any, ...], Any]
"""Method of the builder or function of `reduce`, its arguments, and the result: a tensor, a list of integers, or a check of it."""

_FLOATS = {tl.float16: torch.float16, tl.bfloat16: torch.bfloat16, tl.float32: torch.float32, tl.float64: torch.float64}
_EIGHTS = {tl.float8e5: torch.float8_e5m2, tl.float8e4nv: torch.float8_e4m3fn}
_SIGNED = {tl.int8: torch.int8, tl.int16: torch.int16, tl.int32: torch.int32, tl.int64: torch.int64}
_INTEGERS = (*_SIGNED, tl.uint8, tl.uint16, tl.uint32, tl.uint64)
_NUMBERS = (0.0, -0.0, 1.0, -1.0, 0.1, -2.5, 3.0, 1e-3, 300.0, -300.0, float("inf"), -float("inf"), float("nan"))
_MASK = torch.tensor([True, False, True, True])

_TWO: dict[str, Callable] = {
    "fadd": torch.add, "fsub": torch.sub, "fmul": torch.mul, "fdiv": torch.div, "precise_divf": torch.div, "frem": torch.fmod,
    "minimumf": torch.minimum, "maximumf": torch.maximum, "minnumf": torch.fmin, "maxnumf": torch.fmax, "fcmpOLT": torch.lt,
    "fcmpOGT": torch.gt, "fcmpOLE": torch.le, "fcmpOGE": torch.ge, "fcmpOEQ": torch.eq, "fcmpUNE": torch.ne,
}  # fmt: skip
_ONE: dict[str, Callable] = {"fneg": torch.neg, "fabs": torch.abs, "floor": torch.floor, "ceil": torch.ceil}
_MATH: dict[str, Callable] = {
    "exp": torch.exp, "exp2": torch.exp2, "log": torch.log, "log2": torch.log2, "sin": torch.sin, "cos": torch.cos, "erf": torch.erf,
    "sqrt": torch.sqrt, "precise_sqrt": torch.sqrt, "rsqrt": torch.rsqrt,
}  # fmt: skip
"""On fp32 and fp64 only, as in the language."""
_LIBDEVICE: dict[str, Callable] = {"tanh": torch.tanh, "log1p": torch.log1p, "erf": torch.erf, "expm1": torch.expm1}
_ON_INTEGERS: dict[str, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b, "and": lambda a, b: a & b,
    "or": lambda a, b: a | b, "xor": lambda a, b: a ^ b, "icmpEQ": lambda a, b: a == b, "icmpNE": lambda a, b: a != b,
}  # fmt: skip
_BY_SIGN: dict[tuple[str, str], Callable[[int, int], int]] = {
    ("sdiv", "udiv"): lambda a, b: abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1),
    ("srem", "urem"): lambda a, b: abs(a) % abs(b) * (-1 if a < 0 else 1),
    ("minsi", "minui"): min, ("maxsi", "maxui"): max,
    ("icmpSLT", "icmpULT"): lambda a, b: a < b, ("icmpSLE", "icmpULE"): lambda a, b: a <= b,
    ("icmpSGT", "icmpUGT"): lambda a, b: a > b, ("icmpSGE", "icmpUGE"): lambda a, b: a >= b,
}  # fmt: skip
_SHIFTS: dict[tuple[str, str], Callable[[int, int], int]] = {
    ("shl", "shl"): lambda a, b: a << b,
    ("ashr", "lshr"): lambda a, b: a >> b,
}
_EXTREMA: dict[Any, Callable[[list[int]], int]] = {
    tl.standard._elementwise_max: max,
    tl.standard._elementwise_min: min,
    tl.standard._sum_combine: sum,
}
_INDEXED = {tl.standard._argmax_combine_tie_break_left: 3, tl.standard._argmin_combine_tie_break_left: 1}
"""Where the largest and the smallest of `_ROW` stand."""
_ROW = [3, 1, 2, 7, 5, 4, 7, 2]


def probes() -> Iterator[Probe]:
    return itertools.chain(_floats(), _integers(), _casts(), _products(), _reductions(), _memory())


def _floats() -> Iterator[Probe]:
    for dtype, kind in _FLOATS.items():
        a = torch.tensor(_NUMBERS).to(kind)
        b = torch.cat([a.roll(1)[:6], a.roll(5)[6:]])
        one, two = handle(a, dtype), handle(b, dtype)
        for name, function in _TWO.items():
            yield f"create_{name}", (one, two), function(a, b)
        for name, function in _ONE.items():
            yield f"create_{name}", (one,), function(a)
        yield "create_select", (handle(a > 0, tl.int1), one, two), torch.where(a > 0, a, b)
    for dtype in (tl.float32, tl.float64):
        x = torch.tensor([0.25, 1.25, 3.5, 6.75], dtype=_FLOATS[dtype])
        for name, function in _MATH.items():
            yield f"create_{name}", (handle(x, dtype),), partial(_near, function(x.double()))
        for name, function in _LIBDEVICE.items():
            symbol = libdevice.PREFIX + name + ("f" if dtype is tl.float32 else "")
            called = ("", "", symbol, [handle(x, dtype)], dtype, True)
            yield "create_extern_elementwise", called, partial(_near, function(x.double()))
        power = ("", "", libdevice.PREFIX + "pow" + ("f" if dtype is tl.float32 else ""), [handle(x, dtype)] * 2, dtype, True)
        yield "create_extern_elementwise", power, partial(_near, x.double() ** x.double())
        yield "create_fma", (handle(x, dtype),) * 3, partial(_near, x.double() ** 2 + x)


def _integers() -> Iterator[Probe]:
    for dtype in _INTEGERS:
        bits, signed = dtype.primitive_bitwidth, dtype in _SIGNED
        high = (1 << (bits - signed)) - 1
        low = -high - 1 if signed else 0
        a, b, few = [0, 1, 2, 7, 100, high, low, high - 3], [3, 1, 5, 2, 9, 2, 3, high], [0, 1, 2, 3, 4, 5, 6, 7]
        one, two, shift = (whole(values, dtype) for values in (a, b, few))
        named = _ON_INTEGERS | {names[not signed]: function for names, function in _BY_SIGN.items()}
        for name, function in named.items():
            yield f"create_{name}", (one, two), [_wrapped(function(x, y), bits, signed) for x, y in zip(a, b, strict=True)]
        for names, function in _SHIFTS.items():
            wanted = [_wrapped(function(x, y), bits, signed) for x, y in zip(a, few, strict=True)]
            yield f"create_{names[not signed]}", (one, shift), wanted
        yield "create_select", (handle(torch.tensor([True, False] * 4), tl.int1), one, two), [(a, b)[i % 2][i] for i in few]
    left, right = (torch.tensor(values) for values in ([True, True, False, False], [True, False, True, False]))
    for name, of_bits in (("and", torch.logical_and), ("or", torch.logical_or), ("xor", torch.logical_xor)):
        yield f"create_{name}", (handle(left, tl.int1), handle(right, tl.int1)), of_bits(left, right)


def _casts() -> Iterator[Probe]:
    floats: dict[tl.dtype, torch.dtype] = _FLOATS | _EIGHTS
    for (source, kind), (target, wanted) in itertools.permutations(floats.items(), 2):
        values = torch.tensor(_NUMBERS[:10]).to(kind)
        # Eight bits saturate on a GPU.
        wide = values.double().clamp(-torch.finfo(wanted).max, torch.finfo(wanted).max) if target in _EIGHTS else values.double()
        yield "create_fp_to_fp", (handle(values, source), target, ir.ROUNDING_MODE.RTNE), wide.to(wanted)
        if source in _FLOATS and target in _FLOATS:
            name = "create_fp_trunc" if target.primitive_bitwidth < source.primitive_bitwidth else "create_fp_ext"
            yield name, (handle(values, source), target), wide.to(wanted)
    numbers = [0, 1, 2, 7, 100]
    for (source, kind), integer in itertools.product(_FLOATS.items(), _INTEGERS):
        fractions, sign = torch.tensor([0.0, 1.0, 2.9, 7.5, 100.0], dtype=kind), "s" if integer in _SIGNED else "u"
        yield f"create_fp_to_{sign}i", (handle(fractions, source), integer), numbers
        yield f"create_{sign}i_to_fp", (whole(numbers, integer), source), torch.tensor(numbers).to(kind)
    for one, other in itertools.product(_INTEGERS, repeat=2):
        given = [0, 1, 100, -1 if one in _SIGNED else (1 << one.primitive_bitwidth) - 1]
        narrowed = [_wrapped(n, other.primitive_bitwidth, other in _SIGNED) for n in given]
        yield "create_int_cast", (whole(given, one), other, one in _SIGNED), narrowed
    yield "create_bitcast", (handle(torch.tensor([1.0, -2.0]), tl.float32), tl.int32), [0x3F800000, -0x40000000]


def _products() -> Iterator[Probe]:
    """Of small integers, which every type holds, and of a number that TF32 rounds."""
    a, b = (torch.arange(256) % 9 - 4).reshape(16, 16), (torch.arange(256) % 7 - 3).reshape(16, 16)
    ieee, tf32 = ir.INPUT_PRECISION.IEEE, ir.INPUT_PRECISION.TF32
    for dtype, kind in (_FLOATS | _EIGHTS | {tl.int8: torch.int8}).items():
        out = {tl.float64: tl.float64, tl.int8: tl.int32}.get(dtype, tl.float32)
        of = (_FLOATS | _SIGNED)[out]
        operands = handle(a.to(kind), dtype), handle(b.to(kind), dtype), handle(torch.ones(16, 16, dtype=of), out)
        yield "create_dot", (*operands, ieee, 0), (a @ b + 1).to(of)
    fine, unit = torch.full((16, 16), 1 + 2**-12), handle(torch.eye(16), tl.float32)
    for precision, wanted in ((ieee, fine), (tf32, torch.ones(16, 16))):
        yield "create_dot", (handle(fine, tl.float32), unit, handle(torch.zeros(16, 16), tl.float32), precision, 0), wanted


def _reductions() -> Iterator[Probe]:
    yield "create_histogram", (whole(_ROW, tl.int32), 8, None), [_ROW.count(n) for n in range(8)]
    for dtype in (*_FLOATS, *_INTEGERS):
        row = handle(torch.tensor(_ROW).to(_FLOATS[dtype]), dtype) if dtype in _FLOATS else whole(_ROW, dtype)
        for combine, function in _EXTREMA.items():
            yield "known", ([(row.data, dtype)], 0, combine), partial(_first, dtype, function(_ROW))
        places = whole(list(range(8)), tl.int32)
        for combine, place in _INDEXED.items():
            yield "known", ([(row.data, dtype), (places.data, tl.int32)], 0, combine), partial(_first, dtype, _ROW[place], place)
        yield "cumulated", (np.cumsum, row.data, dtype, 0), partial(_all, dtype, list(itertools.accumulate(_ROW)))


def _memory() -> Iterator[Probe]:
    load, store = (_unused(f"create_masked_{name}") for name in ("load", "store"))
    mask = handle(_MASK, tl.int1)
    for dtype, kind in (_FLOATS | _EIGHTS | _SIGNED).items():
        there, given = torch.tensor([1, 2, 3, 4]).to(kind), torch.tensor([5, 6, 7, 8]).to(kind)
        yield "create_masked_load", (_places(there, dtype), mask, handle(given, dtype), *load), torch.tensor([1, 6, 3, 4]).to(kind)
        stored = partial(_in_memory, there, torch.tensor([5, 2, 7, 8]).to(kind))
        yield "create_gather", (handle(there, dtype), whole([3, 0, 0, 2], tl.int32), 0), torch.tensor([4, 1, 1, 3]).to(kind)
        yield "create_masked_store", (_places(there, dtype), handle(given, dtype), mask, *store), stored
    added = [(ir.ATOMIC_OP.FADD, torch.add, dtype, kind) for dtype, kind in _FLOATS.items()]
    of_integers: dict[Any, Callable] = {ir.ATOMIC_OP.ADD: torch.add, ir.ATOMIC_OP.MAX: torch.maximum, ir.ATOMIC_OP.MIN: torch.minimum}
    chosen = [(op, f, dtype, _SIGNED[dtype]) for op, f in of_integers.items() for dtype in (tl.int32, tl.int64)]
    for operation, function, dtype, kind in added + chosen:
        there, given = torch.tensor([1, 2, 3, 4]).to(kind), torch.tensor([5, 1, 7, 2]).to(kind)
        wanted = torch.where(_MASK, function(there, given), there)
        arguments = operation, _places(there, dtype), handle(given, dtype), mask, ir.MEM_SEMANTIC.ACQUIRE_RELEASE, None
        yield "create_atomic_rmw", arguments, partial(_in_memory, there, wanted)


def _unused(method: str) -> tuple[None, ...]:
    """Cache hints, of which Triton's releases have different ones: what follows the first three arguments."""
    return (None,) * (getattr(InterpreterBuilder, method).__code__.co_argcount - 4)


def handle(tensor: torch.Tensor, dtype: tl.dtype) -> TensorHandle:
    if dtype is tl.bfloat16 or dtype in _EIGHTS:
        tensor = tensor.view(torch.int16 if dtype is tl.bfloat16 else torch.int8)
    return TensorHandle(tensor.numpy().view(_get_np_dtype(dtype)), dtype)


def whole(values: list[int], dtype: tl.dtype) -> TensorHandle:
    return TensorHandle(np.array(values, dtype=_get_np_dtype(dtype)), dtype)


def _places(tensor: torch.Tensor, dtype: tl.dtype) -> TensorHandle:
    return TensorHandle(tensor.data_ptr() + np.arange(len(tensor), dtype=np.uint64) * np.uint64(tensor.itemsize), tl.pointer_type(dtype))


def _wrapped(value: int, bits: int, signed: bool) -> int:
    value %= 1 << bits
    return value - (1 << bits) if signed and value >> (bits - 1) else value


def _near(wanted: torch.Tensor, got: TensorHandle) -> bool:
    """Within a few units in the last place of an fp64 result."""
    few = 8 * float(np.finfo(got.data.dtype).eps)
    return np.allclose(got.data, wanted.numpy(), rtol=few, atol=few)


def _in_memory(there: torch.Tensor, wanted: torch.Tensor, got: None) -> bool:
    return torch.equal(there.float(), wanted.float())


def _first(dtype: tl.dtype, wanted: int, *rest: Any) -> bool:
    """The first part of a reduction, and the place where it was found if that is a part too."""
    got = rest[-1]
    return _all(dtype, wanted, got[0]) and all(part == place for part, place in zip(got[1:], rest[:-1], strict=True))


def _all(dtype: tl.dtype, wanted: Any, got: np.ndarray) -> bool:
    return as_float(TensorHandle(np.asarray(got), dtype)).tolist() == wanted
