"""Triton's interpreter with its wrong or missing operations put right.

The interpreter of triton 3.7 to 3.9 adds, multiplies and compares bf16 as integers, rounds casts to bf16 wrongly, keeps fp32 products
exact where the device uses TF32, and knows no libdevice.
"""

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
import triton.language as tl
import triton.runtime.interpreter as interpreter
from triton._C.libtriton import ir
from triton.language.semantic import TritonSemantic
from triton.runtime.interpreter import InterpreterBuilder, TensorHandle

from tools.simulated import libdevice
from tools.simulated.bounds import poison
from tools.simulated.flops import WEIGHTS, tally
from tools.simulated.memory import shown
from tools.simulated.narrow import as_float, from_float, is_bf16, narrow, to_tf32, widen, widened
from tools.simulated.watcher import Watcher

_FLOAT_OPS = (
    "fadd", "fsub", "fmul", "fdiv", "frem", "fneg", "precise_divf", "approx_divf", "minimumf", "minnumf", "maximumf", "maxnumf", "fma",
    "clampf", "cos", "sin", "exp", "exp2", "log", "log2", "sqrt", "precise_sqrt", "rsqrt", "erf", "floor", "ceil",
)  # fmt: skip
_COMPARISONS = [name for name in vars(InterpreterBuilder) if name.startswith(("create_fcmp", "create_icmp"))]
_BF16_ATOMICS: dict[Any, Callable] = {ir.ATOMIC_OP.FADD: np.add, ir.ATOMIC_OP.XCHG: lambda old, new: new}


class Builder(InterpreterBuilder):
    """What kernels run on. bf16 is calculated in fp32 and rounded to nearest even once per operation."""

    options: interpreter.InterpreterOptions

    def __init__(self) -> None:
        super().__init__()
        self.watcher = Watcher("", (1, 1, 1), ())
        self.watcher.memory.integers = True
        self.options = _options(self.options, self.options.default_dot_input_precision)

    def prefer(self, dot_precision: str) -> None:
        """Sets what `tl.dot` on fp32 means when the kernel does not say; the target's compiler decides it."""
        self.options = _options(self.options, dot_precision)

    def get_bf16(self, value: float) -> TensorHandle:
        return TensorHandle(narrow(np.array([value], dtype=np.float32)), tl.bfloat16)

    def cast_impl(self, src: TensorHandle, dst_type: Any) -> TensorHandle:
        return from_float(as_float(src), dst_type)

    def create_fp_to_fp(self, src: TensorHandle, dst_type: Any, rounding_mode: Any) -> TensorHandle:
        if rounding_mode == ir.ROUNDING_MODE.RTZ:
            if dst_type.scalar.name == "bf16":
                return TensorHandle((as_float(src).astype(np.float32).view(np.uint32) >> np.uint32(16)).astype(np.uint16), tl.bfloat16)
            return super().create_fp_to_fp(src, dst_type, rounding_mode)
        return from_float(as_float(src), dst_type)

    def create_masked_load(self, ptrs: TensorHandle, mask: TensorHandle, *rest: Any, **named: Any) -> TensorHandle:
        ptrs, mask, bad = self._seen("load", ptrs, mask)
        loaded = super().create_masked_load(ptrs, mask, *rest, **named)
        return loaded if bad is None else TensorHandle(poison(loaded.data, bad), loaded.dtype)

    def create_masked_store(self, ptrs: TensorHandle, value: TensorHandle, mask: TensorHandle, *rest: Any) -> None:
        ptrs, mask, _ = self._seen("store", ptrs, mask, value.data)
        return super().create_masked_store(ptrs, value, mask, *rest)

    def create_ptr_to_int(self, src: TensorHandle, dst_type: Any) -> TensorHandle:
        return self.create_bitcast(TensorHandle(shown(src.data), src.dtype), dst_type)

    def create_int_to_ptr(self, src: TensorHandle, dst_type: Any) -> TensorHandle:
        self.watcher.memory.integers = True
        return self.create_bitcast(src, dst_type)

    def _seen(
        self, kind: str, ptrs: TensorHandle, mask: TensorHandle | np.ndarray, values: np.ndarray | None = None
    ) -> tuple[TensorHandle, TensorHandle, np.ndarray | None]:
        """Pointers and mask of an access as memory may see them, and the lanes that were taken out of it, if any."""
        mask, size = _boolean(mask), max(1, ptrs.get_element_ty().primitive_bitwidth // 8)
        addresses, bad = self.watcher.see(kind, ptrs.data, mask.data, size, values)
        return TensorHandle(addresses, ptrs.dtype), mask if bad is None else TensorHandle(mask.data & ~bad, tl.int1), bad

    def create_erf(self, arg: TensorHandle) -> TensorHandle:
        return TensorHandle(torch.erf(torch.from_numpy(np.ascontiguousarray(arg.data))).numpy(), arg.dtype.scalar)

    def create_rsqrt(self, arg: TensorHandle) -> TensorHandle:
        return TensorHandle(np.reciprocal(np.sqrt(arg.data)), arg.dtype.scalar)

    def create_minnumf(self, lhs: TensorHandle, rhs: TensorHandle) -> TensorHandle:
        """A number where one operand is NaN, as on a device; triton 3.7 gives NaN here and in the next two."""
        return self.binary_op(lhs, rhs, np.fmin)

    def create_maxnumf(self, lhs: TensorHandle, rhs: TensorHandle) -> TensorHandle:
        return self.binary_op(lhs, rhs, np.fmax)

    def create_clampf(self, arg: TensorHandle, low: TensorHandle, high: TensorHandle, propagate_nan: Any) -> TensorHandle:
        if propagate_nan == ir.PROPAGATE_NAN.ALL:
            return self.ternary_op(arg, low, high, np.clip)
        return self.create_minnumf(self.create_maxnumf(arg, low), high)

    def create_dot(self, a: TensorHandle, b: TensorHandle, d: TensorHandle, input_precision: Any, *rest: Any) -> TensorHandle:
        """Products of narrow types are exact in the wide type that sums them."""
        tally.dot(a, b.data.shape[-1], input_precision)
        if a.data.dtype.kind in "iu" and a.dtype.scalar.is_int():
            product = np.matmul(a.data.astype(np.float64), b.data.astype(np.float64)).astype(d.data.dtype)
            return TensorHandle(product + d.data, d.dtype.scalar)
        left, right = as_float(a), as_float(b)
        wide = np.float64 if left.dtype == np.float64 else np.float32
        if a.dtype.scalar.name == "fp32" and input_precision == ir.INPUT_PRECISION.TF32:
            left, right = to_tf32(left), to_tf32(right)
        product = np.matmul(left.astype(wide, copy=False), right.astype(wide, copy=False))
        return from_float(product + as_float(d), d.dtype)

    def create_dot_scaled(self, left: TensorHandle, scale: Any, kind: Any, *rest: Any) -> TensorHandle:
        packed_along_k, summed = rest[4], rest[-1]
        packed = kind == ir.ScaleDotElemTypeTY.E2M1 and packed_along_k
        tally.scaled_dot(kind, summed.data, left.data.shape[-1] * (2 if packed else 1))
        return super().create_dot_scaled(left, scale, kind, *rest)

    def create_histogram(self, data: TensorHandle, bins: int, mask: TensorHandle | None) -> TensorHandle:
        """Counts as 32-bit integers, as the kernel's next store expects; values in no bin are dropped."""
        counted = (data.data >= 0) & (data.data < bins) & (True if mask is None else mask.data)
        return TensorHandle(np.bincount(data.data[counted], minlength=bins).astype(np.int32), tl.int32)

    def create_gather(self, src: TensorHandle, indices: TensorHandle, axis: int) -> TensorHandle:
        """Indices outside the block give what a load outside its memory gives."""
        bad = (indices.data < 0) | (indices.data >= src.data.shape[axis])
        taken = np.take_along_axis(src.data, np.where(bad, 0, indices.data), axis)
        if bad.any():
            self.watcher.outside_block(indices.data[bad])
            taken = poison(taken, bad)
        return TensorHandle(taken, src.dtype.scalar)

    def create_atomic_cas(self, ptr: TensorHandle, cmp: TensorHandle, val: TensorHandle, *rest: Any) -> TensorHandle:
        """Lanes that left their memory exchange with a word of nobody's."""
        self.watcher.order()
        everywhere = np.ones(ptr.data.shape, bool)
        ptr, _, bad = self._seen("atomic", ptr, everywhere)
        nobody = np.zeros(1, np.uint64)
        if bad is not None:
            ptr = TensorHandle(np.where(bad, np.uint64(nobody.ctypes.data), ptr.data), ptr.dtype)
        return super().create_atomic_cas(ptr, cmp, val, *rest)

    def create_atomic_rmw(self, rmwOp: Any, ptr: TensorHandle, val: TensorHandle, mask: TensorHandle, *rest: Any) -> TensorHandle:
        if self.watcher.uses_old_values or rmwOp == ir.ATOMIC_OP.XCHG:
            self.watcher.order()
        ptr, mask, _ = self._seen("atomic", ptr, mask)
        if rmwOp == ir.ATOMIC_OP.XCHG and val.data.dtype.kind == "f":
            # Bits are exchanged, whatever they mean.
            bits = TensorHandle(val.data.view(f"u{val.data.itemsize}"), tl.uint64 if val.data.itemsize == 8 else tl.uint32)
            return TensorHandle(super().create_atomic_rmw(rmwOp, ptr, bits, mask, *rest).data.view(val.data.dtype), val.dtype.scalar)
        if not is_bf16(val):
            return super().create_atomic_rmw(rmwOp, ptr, val, mask, *rest)
        combine = _BF16_ATOMICS[rmwOp]
        pointers, values, lanes = np.broadcast_arrays(ptr.data, val.data, mask.data)
        before = np.zeros(pointers.shape, np.uint16)
        one, nothing = np.ones(1, bool), np.zeros(1, np.uint16)
        for lane in zip(*np.nonzero(lanes), strict=True):
            here = np.ascontiguousarray(pointers[lane]).reshape(1)
            old = interpreter._interpreter.load(here, one, nothing, nothing.dtype)
            interpreter._interpreter.store(here, narrow(combine(widen(old), widen(values[lane].reshape(1)))), one)
            before[lane] = old[0]
        return TensorHandle(before, val.dtype.scalar)

    def create_descriptor_reduce(self, kind: Any, desc: Any, value: TensorHandle, indices: list[TensorHandle]) -> None:
        """A store by descriptor that combines, atomically and in no order."""
        pointers, mask = desc.materialize_pointers(indices)
        names = {"ADD": "FADD"} if value.dtype.scalar.is_floating() else {}
        if value.dtype.scalar.is_int_unsigned():
            names = {"MIN": "UMIN", "MAX": "UMAX"}
        operation = getattr(ir.ATOMIC_OP, names.get(kind.name, kind.name))
        self.create_atomic_rmw(operation, pointers, value, mask, ir.MEM_SEMANTIC.RELAXED, ir.MEM_SYNC_SCOPE.GPU)

    def create_extern_elementwise(
        self, lib_name: str, lib_path: str, symbol: str, args: list[TensorHandle], ret_type: Any, is_pure: bool
    ) -> TensorHandle:
        out = libdevice.call(symbol, args, ret_type)
        if ret_type.scalar.is_floating():
            tally.flops += out.data.size
        return out


def _options(options: interpreter.InterpreterOptions, dot_precision: str) -> interpreter.InterpreterOptions:
    known = (*options.allowed_dot_input_precisions, "bf16x3", "bf16x6")
    return dataclasses.replace(
        options,
        default_dot_input_precision=dot_precision,
        allowed_dot_input_precisions=tuple(dict.fromkeys(known)),
        # The checks for integer overflow are compiled out without debug, and here they cost more than the kernel.
        sanitize_overflow=False,
    )


def _boolean(mask: TensorHandle | np.ndarray) -> TensorHandle:
    """Masks of any integer type are true where they are not zero; descriptors bring theirs without a handle."""
    if isinstance(mask, np.ndarray):
        return TensorHandle(mask, tl.int1)
    return mask if mask.data.dtype == np.bool_ else TensorHandle(mask.data != 0, tl.int1)


def _in_fp32(operation: Callable) -> Callable:
    """The operation with bf16 operands calculated in fp32, and the result rounded to bf16 once."""

    def lifted(self: Builder, *args: Any) -> TensorHandle:
        if not any(is_bf16(arg) for arg in args):
            return operation(self, *args)
        return TensorHandle(narrow(operation(self, *[widened(arg) for arg in args]).data), tl.bfloat16)

    return lifted


def _compared(operation: Callable) -> Callable:
    """The comparison, whose result is a mask and not of the operands' type."""

    def compared(self: Builder, *args: Any) -> TensorHandle:
        return TensorHandle(operation(self, *[widened(arg) for arg in args]).data, tl.int1)

    return compared


def _counted(operation: Callable, weight: int) -> Callable:
    """The operation, with what it costs per lane."""

    def counted(self: Builder, *args: Any) -> TensorHandle:
        out = operation(self, *args)
        tally.flops += weight * out.data.size
        return out

    return counted


for _op in _FLOAT_OPS:
    if _made := getattr(Builder, f"create_{_op}", None):
        setattr(Builder, f"create_{_op}", _counted(_in_fp32(_made), WEIGHTS.get(_op, 1)))
for _name in _COMPARISONS:
    setattr(Builder, _name, _compared(getattr(Builder, _name)))

builder = Builder()
semantic: TritonSemantic = TritonSemantic(builder)
# The interpreter's own helpers reach for these two names.
interpreter.interpreter_builder = builder
interpreter.interpreter_semantic = semantic
