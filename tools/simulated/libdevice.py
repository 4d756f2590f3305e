"""libdevice under the interpreter: the compiler's own dispatch on types, the functions by torch."""

import importlib
import re
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch
import triton.language as tl
from triton.runtime.interpreter import TensorHandle, _get_np_dtype

from tools.simulated.errors import Unsupported

_GENERIC = "triton.language.extra.libdevice"
_VENDOR = "triton.language.extra.cuda.libdevice"
_PREFIX = "__nv_"

_t = torch
_FUNCTIONS: dict[str, Callable] = dict(
    abs=_t.abs, llabs=_t.abs, fabs=_t.abs, floor=_t.floor, ceil=_t.ceil, trunc=_t.trunc, rint=_t.round, nearbyint=_t.round,
    round=lambda x: _t.trunc(x + _t.copysign(_t.full_like(x, 0.5), x)), sqrt=_t.sqrt, rsqrt=_t.rsqrt, cbrt=lambda x: x.sign() * x.abs() ** (1 / 3),
    rcbrt=lambda x: x.sign() * x.abs() ** (-1 / 3), exp=_t.exp, exp2=_t.exp2, exp10=lambda x: 10.0**x, expm1=_t.expm1,
    log=_t.log, log2=_t.log2, log10=_t.log10, log1p=_t.log1p, logb=lambda x: _t.frexp(x)[1].to(x.dtype) - 1, ilogb=lambda x: _t.frexp(x)[1] - 1,
    sin=_t.sin, cos=_t.cos, tan=_t.tan, asin=_t.asin, acos=_t.acos, atan=_t.atan, atan2=_t.atan2,
    sinpi=lambda x: _t.sin(x * _t.pi), cospi=lambda x: _t.cos(x * _t.pi), sinh=_t.sinh, cosh=_t.cosh, tanh=_t.tanh, asinh=_t.asinh,
    acosh=_t.acosh, atanh=_t.atanh, erf=_t.erf, erfc=_t.erfc, erfinv=_t.erfinv, erfcinv=lambda x: _t.erfinv(1 - x), erfcx=_t.special.erfcx,
    normcdf=_t.special.ndtr, normcdfinv=_t.special.ndtri, lgamma=_t.lgamma, tgamma=lambda x: _t.exp(_t.lgamma(x)), j0=_t.special.bessel_j0,
    j1=_t.special.bessel_j1, y0=_t.special.bessel_y0, y1=_t.special.bessel_y1, cyl_bessel_i0=_t.special.i0, cyl_bessel_i1=_t.special.i1,
    pow=_t.pow, powi=_t.pow, fmod=_t.fmod, remainder=lambda x, y: x - _t.round(x / y) * y, hypot=_t.hypot, rhypot=lambda x, y: 1 / _t.hypot(x, y),
    copysign=_t.copysign, nextafter=_t.nextafter, fdim=lambda x, y: _t.clamp(x - y, min=0), ldexp=lambda x, n: _t.ldexp(x, n).to(x.dtype),
    scalbn=lambda x, n: _t.ldexp(x, n).to(x.dtype), fma=lambda x, y, z: (x.double() * y.double() + z.double()).to(x.dtype),
    saturate=lambda x: _t.clamp(x, 0, 1), isnan=_t.isnan, isinf=_t.isinf, finite=_t.isfinite, isfinite=_t.isfinite, signbit=_t.signbit,
    fast_fdivide=_t.div, fast_sin=_t.sin, fast_cos=_t.cos, fast_tan=_t.tan, fast_log=_t.log, fast_log2=_t.log2, fast_log10=_t.log10,
    fast_exp=_t.exp, fast_exp10=lambda x: 10.0**x, fast_pow=_t.pow, fadd=_t.add, dadd=_t.add, fsub=_t.sub, dsub=_t.sub, fmul=_t.mul, dmul=_t.mul,
    fdiv=_t.div, ddiv=_t.div, frcp=_t.reciprocal, drcp=_t.reciprocal, fsqrt=_t.sqrt, dsqrt=_t.sqrt, frsqrt=_t.rsqrt,
    llrint=_t.round, llround=lambda x: _t.trunc(x + _t.copysign(_t.full_like(x, 0.5), x)),
    float_as_int=lambda x: x.view(_t.int32), int_as_float=lambda x: x.view(_t.float32),
)  # fmt: skip
"""By libdevice's name without prefix, type suffix and rounding suffix (only round to nearest is known)."""


def call(symbol: str, args: list[TensorHandle], ret_type: Any) -> TensorHandle:
    """One elementwise function on blocks; what torch has no counterpart of is `Unsupported`."""
    name = symbol.removeprefix(_PREFIX)
    candidates = (name, name.removesuffix("_rn"), name.removesuffix("f"), name.removesuffix("d"))
    function = next((_FUNCTIONS[c] for c in candidates if c in _FUNCTIONS), None) or _conversion(name)
    if function is None:
        raise Unsupported(f"The simulated device does not know the libdevice function {symbol}.", symbol=symbol)
    shape = np.broadcast_shapes(*(a.data.shape for a in args))
    operands = [torch.from_numpy(np.array(np.broadcast_to(a.data, shape))) for a in args]
    out = function(*operands).numpy()
    return TensorHandle(out.astype(_get_np_dtype(ret_type)), ret_type.scalar)


def _conversion(name: str) -> Callable | None:
    """`float2int_rd` and the like: rounded as the suffix says; the caller casts."""
    found = re.fullmatch(r"(double|float|u?int|u?ll)2(?:double|float|u?int|u?ll)_r([nzdu])", name)
    if found is None:
        return None
    rounding = {"n": _t.round, "z": _t.trunc, "d": _t.floor, "u": _t.ceil}[found[2]]
    return rounding if found[1] in ("double", "float") else (lambda x: x) if found[2] == "n" else None


def entries(semantic: Any) -> list[tuple[Any, str, Any, Any]]:
    """What to replace in Triton's libdevice modules while interpreting: (module, name, former, new)."""
    generic, vendor = importlib.import_module(_GENERIC), importlib.import_module(_VENDOR)
    changes = []
    for name, member in list(vars(vendor).items()):
        if tl.core.is_builtin(member):
            new = partial(member.__wrapped__, _semantic=semantic)
            changes += [(module, name, getattr(module, name), new) for module in (vendor, generic) if hasattr(module, name)]
    return changes
