"""Elementwise mathematics in Triton: how each pointwise function is written, and over which kind of value.

Kinds are `f` (floating, computed in ACC), `i` (integer, computed in int64) and `b` (truth values).
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Function:
    text: str
    """Triton expression; `{0}`, `{1}` are its operands."""
    operands: str = "result"
    """Kind that operands are brought to: `result`, `f`, `b`, `common` (the widest among them) or `any`."""
    tensors: bool = False
    """Operands must be tensors: a literal is wrapped."""


def _unary(text: str) -> Function:
    return Function(text, "f", tensors=True)


def _lib(name: str, arity: int = 1) -> Function:
    return Function(f"libdevice.{name}({', '.join(f'{{{i}}}' for i in range(arity))})", "f", tensors=True)


def _compare(sign: str) -> Function:
    return Function(f"({{0}} {sign} {{1}})", "common")


def _extremum(name: str) -> Function:
    return Function(f"tl.{name}({{0}}, {{1}}, propagate_nan=tl.PropagateNan.ALL)", tensors=True)


FUNCTIONS = {
    "add": Function("({0} + {1})"),
    "sub": Function("({0} - {1})"),
    "mul": Function("({0} * {1})"),
    "div": Function("({0} / {1})", "f", tensors=True),
    "neg": Function("(-{0})"),
    "abs": Function("tl.abs({0})"),
    "square": Function("({0} * {0})"),
    "reciprocal": Function("(1.0 / {0})", "f"),
    "exp": _unary("tl.exp({0})"),
    "exp2": _unary("tl.exp2({0})"),
    "log": _unary("tl.log({0})"),
    "log2": _unary("tl.log2({0})"),
    "sqrt": _unary("tl.sqrt({0})"),
    "rsqrt": _unary("(1.0 / tl.sqrt({0}))"),
    "sin": _unary("tl.sin({0})"),
    "cos": _unary("tl.cos({0})"),
    "erf": _unary("tl.erf({0})"),
    "sigmoid": _unary("(1.0 / (1.0 + tl.exp(-{0})))"),
    "floor": _unary("tl.floor({0})"),
    "ceil": _unary("tl.ceil({0})"),
    "round": _lib("rint"),
    "trunc": _lib("trunc"),
    "relu": Function("tl.where({0} < 0, 0, {0})"),
    "sign": Function("(({0} > 0).to(tl.int32) - ({0} < 0).to(tl.int32))", "any"),
    "isnan": Function("({0} != {0})", "f"),
    "isinf": Function('(tl.abs({0}) == float("inf"))', "f"),
    "maximum": _extremum("maximum"),
    "minimum": _extremum("minimum"),
    "where": Function("tl.where({0}, {1}, {2})", "result", tensors=True),
    "eq": _compare("=="),
    "ne": _compare("!="),
    "lt": _compare("<"),
    "le": _compare("<="),
    "gt": _compare(">"),
    "ge": _compare(">="),
    "logical_and": Function("({0} & {1})", "b"),
    "logical_or": Function("({0} | {1})", "b"),
    "logical_xor": Function("({0} ^ {1})", "b"),
    "logical_not": Function("({0} == 0)", "any"),
    "bitwise_and": Function("({0} & {1})"),
    "bitwise_or": Function("({0} | {1})"),
    "bitwise_xor": Function("({0} ^ {1})"),
    "pow": _lib("pow", 2),
    "atan2": _lib("atan2", 2),
    "cast": Function("{0}"),
    "half": Function("{0}.to(tl.float16).to(ACC)"),
    "bfloat16": Function("{0}.to(tl.bfloat16).to(ACC)"),
    "int8": Function("{0}.to(tl.int8).to(tl.int64)"),
    "uint8": Function("{0}.to(tl.uint8).to(tl.int64)"),
    "int16": Function("{0}.to(tl.int16).to(tl.int64)"),
    "int32": Function("{0}.to(tl.int32).to(tl.int64)"),
} | {
    n: _lib(n)
    for n in ("tanh", "expm1", "log1p", "log10", "tan", "asin", "acos", "atan", "sinh", "cosh", "asinh", "acosh", "atanh", "erfc")
}


def convert(text: str, kind: str, wanted: str) -> str:
    """The tensor expression `text` of one kind, as another."""
    if kind == wanted or (kind, wanted) == ("f", "f"):
        return text
    if wanted == "b":
        return f"({text} != 0)"
    return f"{text}.to({'ACC' if wanted == 'f' else 'tl.int64'})"


def literal(value: float | int | bool) -> str:
    """A Python number as Triton source."""
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, int):
        return repr(value) if value >= 0 else f"({value!r})"
    if value != value or value in (float("inf"), float("-inf")):
        return f'float("{value}")'
    return repr(value) if value >= 0 else f"({value!r})"
