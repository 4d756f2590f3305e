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
PREFIX = "__nv_"

_AS_IN_TORCH = (
    "abs", "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "ceil", "copysign", "cos", "cosh", "erf", "erfc", "erfinv", "exp",
    "exp2", "expm1", "floor", "fmod", "hypot", "isfinite", "isinf", "isnan", "lgamma", "log", "log10", "log1p", "log2", "nextafter", "pow",
    "rsqrt", "signbit", "sin", "sinh", "sqrt", "tan", "tanh", "trunc",
)  # fmt: skip
_RENAMED = {
    "fabs": "abs", "llabs": "abs", "rint": "round", "nearbyint": "round", "llrint": "round", "finite": "isfinite", "powi": "pow",
    "fast_sin": "sin", "fast_cos": "cos", "fast_tan": "tan", "fast_log": "log", "fast_log2": "log2", "fast_log10": "log10",
    "fast_exp": "exp", "fast_pow": "pow", "fast_fdivide": "div", "fadd": "add", "dadd": "add", "fsub": "sub", "dsub": "sub",
    "fmul": "mul", "dmul": "mul", "fdiv": "div", "ddiv": "div", "frcp": "reciprocal", "drcp": "reciprocal", "fsqrt": "sqrt",
    "dsqrt": "sqrt", "frsqrt": "rsqrt",
}  # fmt: skip
_SPECIAL = {
    "erfcx": "erfcx", "normcdf": "ndtr", "normcdfinv": "ndtri", "cyl_bessel_i0": "i0", "cyl_bessel_i1": "i1",
    "j0": "bessel_j0", "j1": "bessel_j1", "y0": "bessel_y0", "y1": "bessel_y1",
}  # fmt: skip


def _half_away(x: torch.Tensor) -> torch.Tensor:
    return torch.trunc(x + torch.copysign(torch.full_like(x, 0.5), x))


_FUNCTIONS: dict[str, Callable] = {
    **{name: getattr(torch, name) for name in _AS_IN_TORCH},
    **{name: getattr(torch, torchs) for name, torchs in _RENAMED.items()},
    **{name: getattr(torch.special, torchs) for name, torchs in _SPECIAL.items()},
    "cbrt": lambda x: x.sign() * x.abs() ** (1 / 3),
    "cospi": lambda x: torch.cos(x * torch.pi),
    "erfcinv": lambda x: torch.erfinv(1 - x),
    "exp10": lambda x: 10.0**x,
    "fast_exp10": lambda x: 10.0**x,
    "fdim": lambda x, y: torch.clamp(x - y, min=0),
    "float_as_int": lambda x: x.view(torch.int32),
    "fma": lambda x, y, z: (x.double() * y.double() + z.double()).to(x.dtype),
    "int_as_float": lambda x: x.view(torch.float32),
    "ldexp": lambda x, n: torch.ldexp(x, n).to(x.dtype),
    "llround": _half_away,
    "rcbrt": lambda x: x.sign() * x.abs() ** (-1 / 3),
    "remainder": lambda x, y: x - torch.round(x / y) * y,
    "rhypot": lambda x, y: 1 / torch.hypot(x, y),
    "round": _half_away,
    "saturate": lambda x: torch.clamp(x, 0, 1),
    "scalbn": lambda x, n: torch.ldexp(x, n).to(x.dtype),
    "sinpi": lambda x: torch.sin(x * torch.pi),
    "tgamma": lambda x: torch.exp(torch.lgamma(x)),
}
"""By libdevice's name without prefix, type suffix and rounding suffix (only round to nearest is known)."""


def call(symbol: str, args: list[TensorHandle], ret_type: Any) -> TensorHandle:
    """One elementwise function on blocks; what torch has no counterpart of is `Unsupported`."""
    name = symbol.removeprefix(PREFIX)
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
    rounding = {"n": torch.round, "z": torch.trunc, "d": torch.floor, "u": torch.ceil}[found[2]]
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
