"""From an FX graph of ATen operators to the author's graph: one short rule per operator."""

import operator
import re
from collections.abc import Callable
from typing import Any

import torch
from torch.fx import Node as Fx

from agents.models.templates.graph import Declined, Node, Pool, Size, broadcast
from agents.models.templates.ops import FUNCTIONS

SAME = frozenset(FUNCTIONS) - {"div", "round", "pow", "cast", "half", "bfloat16", "int8", "uint8", "int16", "int32"}
"""Operators that the table of functions writes as they are."""
ALIASES = {"fmin": "minimum", "fmax": "maximum", "bitwise_not": "logical_not", "true_divide": "div"}
IDENTITY = frozenset({"clone", "alias", "detach", "contiguous", "lift_fresh_copy", "lift_fresh", "view_of"})


def kind_of(dtype: torch.dtype) -> str:
    if dtype.is_complex:
        raise Declined("complex numbers are not written")
    return "f" if dtype.is_floating_point else "b" if dtype == torch.bool else "i"


class Lowering:
    """Reads one FX graph. `sizes` turns a symbolic size into the author's size; `inputs` are the placeholders' expressions."""

    def __init__(self, pool: Pool, sizes: Callable[[Any], Size], inputs: list[str], module: torch.fx.GraphModule):
        self.pool, self.sizes, self.inputs, self.module = pool, sizes, inputs, module
        self.values: dict[Fx, Any] = {}

    def run(self) -> tuple[Node, ...]:
        placeholders = iter(self.inputs)
        for fx in self.module.graph.nodes:
            if fx.op == "placeholder":
                self.values[fx] = self.placeholder(fx, next(placeholders))
            elif fx.op == "get_attr":
                self.values[fx] = self.constant(getattr(self.module, fx.target))
            elif fx.op == "call_function":
                self.values[fx] = self.call(fx)
            elif fx.op == "output":
                return self.outputs(fx.args[0])
        raise Declined("the traced graph has no output")

    def placeholder(self, fx: Fx, name: str) -> Node:
        val = fx.meta["val"]
        return self.pool.node(
            "input", shape=self.shape(fx), kind=kind_of(val.dtype), name=name, value=str(val.dtype).removeprefix("torch.")
        )

    def constant(self, tensor: torch.Tensor) -> Node:
        if tensor.numel() != 1:
            raise Declined("a constant tensor of several elements is not written")
        return self.pool.view(self.pool.const(tensor.item()), (1,) * tensor.dim(), ())

    def outputs(self, out: Any) -> tuple[Node, ...]:
        flat = out if isinstance(out, (tuple, list)) else (out,)
        if not all(isinstance(f, Fx) for f in flat):
            raise Declined("only tensors are returned")
        return tuple(self.values[f] for f in flat)

    def shape(self, fx: Fx) -> tuple[Size, ...]:
        return tuple(self.sizes(n) for n in fx.meta["val"].shape)

    def kind(self, fx: Fx) -> str:
        return kind_of(fx.meta["val"].dtype)

    def node(self, arg: Any) -> Node:
        """An argument as a value: a traced tensor, a number or a symbolic size."""
        if isinstance(arg, Fx):
            value = self.values[arg]
            return value if isinstance(value, Node) else self.number(value)
        return self.number(arg)

    def number(self, value: Any) -> Node:
        if isinstance(value, (torch.SymInt, torch.SymFloat)):
            text = self.sizes(value)
            if isinstance(value, torch.SymFloat) and isinstance(text, str) and not _whole(value):
                return self.pool.node("scalar", kind="f", name=text)
            return self.pool.expression(text)
        if isinstance(value, (bool, int, float)):
            return self.pool.const(value)
        raise Declined(f"a value of type {type(value).__name__} is not written")

    def call(self, fx: Fx) -> Any:
        val = fx.meta.get("val")
        if isinstance(val, (torch.SymInt, torch.SymFloat, int, float)):
            return val
        if fx.target is operator.getitem:
            source, index = fx.args
            assert isinstance(source, Fx)
            return self.values[source][index]
        name = getattr(fx.target, "_opname", "") or getattr(fx.target, "__name__", str(fx.target)).partition(".")[0]
        if name.endswith("_") and not name.endswith("__"):
            return self.mutate(fx, name[:-1])
        return self.apply(fx, name)

    def mutate(self, fx: Fx, name: str) -> Node:
        """An in-place operator on a fresh intermediate: the later readers of that value see the new one."""
        target = fx.args[0]
        if not isinstance(target, Fx) or target.op == "placeholder" or self.values[target].op in ("view", "reshape", "window"):
            raise Declined(f"writing into an argument or a view ({fx.target}) is not written")
        self.values[target] = self.apply(fx, name)
        return self.values[target]

    def apply(self, fx: Fx, name: str) -> Any:
        name = ALIASES.get(name, name)
        rule = getattr(self, f"op_{name}", None)
        if rule is not None:
            return rule(fx, *fx.args, **fx.kwargs)
        if name in IDENTITY:
            return self.node(fx.args[0])
        if name in SAME:
            return self.point(fx, name, *fx.args, **fx.kwargs)
        raise Declined(f"the operator {fx.target} is not written")

    def point(self, fx: Fx, name: str, *args: Any, **kwargs: Any) -> Node:
        nodes = [self.node(a) for a in args]
        if kwargs.get("alpha", 1) != 1:
            nodes[1] = self.pool.point(
                "mul", nodes[1], self.node(kwargs["alpha"]), kind=nodes[1].kind if nodes[1].kind != "b" else self.kind(fx)
            )
        if kwargs.get("rounding_mode"):
            raise Declined("division with a rounding mode is not written")
        return self.pool.point(name, *nodes, kind=self.kind(fx))

    # Elementwise operators whose form differs from the table's.

    def op_div(self, fx: Fx, a: Any, b: Any, rounding_mode: str | None = None) -> Node:
        if rounding_mode is None:
            return self.pool.point("div", self.node(a), self.node(b), kind=self.kind(fx))
        if self.kind(fx) != "f":
            raise Declined("integer division is not written")
        quotient = self.pool.point("div", self.node(a), self.node(b), kind="f")
        return self.pool.point(rounding_mode, quotient, kind="f")

    # The next three are met in place only: tracing decomposes the others.

    def op_floor_divide(self, fx: Fx, a: Any, b: Any) -> Node:
        return self.op_div(fx, a, b, "floor")

    def op_clamp_min(self, fx: Fx, x: Any, low: Any) -> Node:
        return self.op_clamp(fx, x, low)

    def op_clamp_max(self, fx: Fx, x: Any, high: Any) -> Node:
        return self.op_clamp(fx, x, None, high)

    def op_round(self, fx: Fx, x: Any, decimals: int = 0) -> Node:
        if decimals:
            raise Declined("rounding to decimals is not written")
        return self.node(x) if self.node(x).kind != "f" else self.point(fx, "round", x)

    def op_clamp(self, fx: Fx, x: Any, min: Any = None, max: Any = None) -> Node:
        node = self.node(x)
        for name, bound in (("maximum", min), ("minimum", max)):
            if bound is not None:
                node = self.pool.point(name, node, self.node(bound), kind=self.kind(fx))
        return node

    def op_pow(self, fx: Fx, a: Any, b: Any) -> Node:
        base, kind = self.node(a), self.kind(fx)
        if isinstance(b, (int, float)) and b in (2, 3, 4, 0.5, -0.5, 1, -1, -2):
            if b == 1:
                return base
            if b in (0.5, -0.5):
                return self.pool.point("sqrt" if b > 0 else "rsqrt", base, kind="f")
            power = base
            for _ in range(abs(int(b)) - 1):
                power = self.pool.point("mul", power, base, kind=kind)
            return power if b > 0 else self.pool.point("reciprocal", power, kind="f")
        if kind != "f":
            raise Declined("integer powers are not written")
        return self.pool.point("pow", base, self.node(b), kind="f")

    def op_fmod(self, fx: Fx, a: Any, b: Any) -> Node:
        return self._remainder(fx, a, b, "trunc")

    def op_remainder(self, fx: Fx, a: Any, b: Any) -> Node:
        return self._remainder(fx, a, b, "floor")

    def _remainder(self, fx: Fx, a: Any, b: Any, rounding: str) -> Node:
        if self.kind(fx) != "f":
            raise Declined("integer remainders are not written")
        whole = self.op_div(fx, a, b, rounding)
        return self.pool.point("sub", self.node(a), self.pool.point("mul", whole, self.node(b), kind="f"), kind="f")

    def op__to_copy(self, fx: Fx, x: Any, dtype: torch.dtype | None = None, **_: Any) -> Node:
        node, wanted = self.node(x), dtype or fx.meta["val"].dtype
        kind = kind_of(wanted)
        if kind == "f" and node.kind == "f":
            narrow = {torch.float16: "half", torch.bfloat16: "bfloat16"}.get(wanted)
            return self.pool.point(narrow, node, kind="f") if narrow else node
        node = node if node.kind == kind else self.pool.point("cast", node, kind=kind)
        width = str(wanted).removeprefix("torch.")
        return self.pool.point(width, node, kind="i") if kind == "i" and wanted != torch.int64 else node

    def op_convert_element_type(self, fx: Fx, x: Any, dtype: torch.dtype) -> Node:
        return self.op__to_copy(fx, x, dtype)

    def op_scalar_tensor(self, fx: Fx, value: Any, **_: Any) -> Node:
        return self.op_full(fx, [], value)

    def op_full(self, fx: Fx, size: Any, value: Any, **_: Any) -> Node:
        node = self.node(value)
        if node.op == "const":
            node = self.pool.const({"f": float, "i": int, "b": bool}[self.kind(fx)](node.value))
        return self.pool.view(node, self.shape(fx), ())

    def op_full_like(self, fx: Fx, x: Any, value: Any, **_: Any) -> Node:
        return self.op_full(fx, [], value)

    def op_iota(self, fx: Fx, length: Any, start: Any = 0, step: Any = 1, **_: Any) -> Node:
        return self._range(fx, start, step)

    def op_arange(self, fx: Fx, *bounds: Any, **_: Any) -> Node:
        start, step = (bounds[0] if len(bounds) > 1 else 0), (bounds[2] if len(bounds) > 2 else 1)
        return self._range(fx, start, step)

    def _range(self, fx: Fx, start: Any, step: Any) -> Node:
        node = self.pool.node("iota", shape=self.shape(fx), kind="i")
        if step != 1:
            node = self.pool.point("mul", node, self.node(step), kind=self.kind(fx))
        if start != 0:
            node = self.pool.point("add", node, self.node(start), kind=self.kind(fx))
        return node if node.kind == self.kind(fx) else self.pool.point("cast", node, kind=self.kind(fx))

    # Reductions.

    def dims(self, x: Node, dims: Any) -> tuple[int, ...]:
        if dims is None or dims == []:
            return tuple(range(len(x.shape)))
        dims = [dims] if isinstance(dims, int) else dims
        return tuple(d % max(len(x.shape), 1) for d in dims) if x.shape else ()

    def reduction(self, fx: Fx, name: str, x: Any, dims: Any, keep: bool) -> Node:
        node, kind = self.node(x), kind_of(fx.meta["val"].dtype) if hasattr(fx.meta["val"], "dtype") else "f"
        if node.kind != kind and name in ("sum", "prod"):
            node = self.pool.point("cast", node, kind=kind)
        return self.pool.reduce(name, node, self.dims(node, dims), kind, keep)

    def op_sum(self, fx: Fx, x: Any, dims: Any = None, keepdim: bool = False, **_: Any) -> Node:
        return self.reduction(fx, "sum", x, dims, keepdim)

    def op_prod(self, fx: Fx, x: Any, dims: Any = None, keepdim: bool = False, **_: Any) -> Node:
        return self.reduction(fx, "prod", x, dims, keepdim)

    def op_amax(self, fx: Fx, x: Any, dims: Any = None, keepdim: bool = False) -> Node:
        return self.reduction(fx, "max", x, dims, keepdim)

    def op_amin(self, fx: Fx, x: Any, dims: Any = None, keepdim: bool = False) -> Node:
        return self.reduction(fx, "min", x, dims, keepdim)

    def op_argmax(self, fx: Fx, x: Any, dim: Any = None, keepdim: bool = False) -> Node:
        return self.reduction(fx, "argmax", x, dim, keepdim)

    def op_argmin(self, fx: Fx, x: Any, dim: Any = None, keepdim: bool = False) -> Node:
        return self.reduction(fx, "argmin", x, dim, keepdim)

    def op_any(self, fx: Fx, x: Any, dims: Any = None, keepdim: bool = False) -> Node:
        node = self.node(x)
        node = node if node.kind == "b" else self.pool.point("cast", node, kind="b")
        return self.pool.reduce("any", node, self.dims(node, dims), "b", keepdim)

    def op_max(self, fx: Fx, x: Any, dim: Any = None, keepdim: bool = False) -> Any:
        return self._extremum(fx, "max", x, dim, keepdim)

    def op_min(self, fx: Fx, x: Any, dim: Any = None, keepdim: bool = False) -> Any:
        return self._extremum(fx, "min", x, dim, keepdim)

    def _extremum(self, fx: Fx, name: str, x: Any, dim: Any, keep: bool) -> Any:
        node = self.node(x)
        value = self.pool.reduce(name, node, self.dims(node, dim), node.kind, keep)
        if dim is None:
            return value
        return value, self.pool.reduce(f"arg{name}", node, self.dims(node, dim), "i", keep)

    def op_mean(self, fx: Fx, x: Any, dims: Any = None, keepdim: bool = False, **_: Any) -> Node:
        node = self.node(x)
        return self.pool.mean(node, self.dims(node, dims), keepdim)

    def op_var(self, fx: Fx, x: Any, dims: Any = None, correction: Any = 1, keepdim: bool = False, **_: Any) -> Node:
        node = self.node(x)
        over = self.dims(node, dims)
        centred = self.pool.point("sub", node, self.pool.mean(node, over, True), kind="f")
        squares = self.pool.reduce("sum", self.pool.point("mul", centred, centred, kind="f"), over, "f", keepdim)
        count = self.pool.size([node.shape[d] for d in over])
        if correction:
            count = self.pool.point(
                "maximum", self.pool.point("sub", count, self.pool.const(correction), kind="f"), self.pool.const(0.0), kind="f"
            )
        return self.pool.point("div", squares, count, kind="f")

    # Products.

    def op_mm(self, fx: Fx, a: Any, b: Any) -> Node:
        return self.pool.node("matmul", self.node(a), self.node(b), shape=self.shape(fx), kind=self.kind(fx))

    op_bmm = op_mm

    # Views.

    def op_permute(self, fx: Fx, x: Any, order: list[int]) -> Node:
        node = self.node(x)
        order = [d % len(order) for d in order]
        return self.pool.view(node, self.shape(fx), tuple(order.index(i) for i in range(len(order))))

    def op_unsqueeze(self, fx: Fx, x: Any, dim: int) -> Node:
        node = self.node(x)
        dim %= len(node.shape) + 1
        return self.pool.view(node, self.shape(fx), tuple(i if i < dim else i + 1 for i in range(len(node.shape))))

    def op_expand(self, fx: Fx, x: Any, *_: Any, **__: Any) -> Node:
        node, shape = self.node(x), self.shape(fx)
        return self.pool.view(node, shape, tuple(range(len(shape) - len(node.shape), len(shape))))

    def op_broadcast_in_dim(self, fx: Fx, x: Any, shape: Any, dims: Any) -> Node:
        return self.pool.view(self.node(x), self.shape(fx), tuple(dims))

    def op_view(self, fx: Fx, x: Any, *_: Any) -> Node:
        return reshape(self.pool, self.node(x), self.shape(fx))

    op__unsafe_view = op_squeeze = op__reshape_copy = op_view_copy = op_view

    def op_slice(self, fx: Fx, x: Any, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Node:
        node = self.node(x)
        bounds = [self.bound(b) for b in (start, end)]
        if self.shape(fx) == node.shape and step == 1:
            return node
        text = ":".join([*bounds, str(step)] if step != 1 else bounds)
        return self._window(fx, node, dim % len(node.shape), text)

    def op_select(self, fx: Fx, x: Any, dim: int, index: Any) -> Node:
        node = self.node(x)
        return self._window(fx, node, dim % len(node.shape), self.bound(index))

    def op_split_with_sizes(self, fx: Fx, x: Any, sizes: list[Any], dim: int = 0) -> list[Node]:
        node = self.node(x)
        dim %= len(node.shape)
        parts, start = [], "0"
        for size in sizes:
            n = self.sizes(self.values[size] if isinstance(size, Fx) else size)
            shape = (*node.shape[:dim], n, *node.shape[dim + 1 :])
            name = f"[{', '.join([':'] * dim + [f'{start} : {start} + {n}'])}]"
            parts.append(self.pool.node("window", node, shape=shape, kind=node.kind, name=name, value=node.value))
            start = f"{start} + {n}"
        return parts

    def bound(self, value: Any) -> str:
        value = self.values[value] if isinstance(value, Fx) else value
        if value is None or (isinstance(value, int) and value >= 2**62):
            return ""
        return str(self.sizes(value))

    def _window(self, fx: Fx, node: Node, dim: int, text: str) -> Node:
        return self.pool.node(
            "window", node, shape=self.shape(fx), kind=node.kind, name=f"[{', '.join([':'] * dim + [text])}]", value=node.value
        )

    # Lookups by computed indices.

    def op_gather(self, fx: Fx, x: Any, dim: int, index: Any, **_: Any) -> Node:
        node, at = self.node(x), self.node(index)
        dims = tuple(("index", 0) if i == dim % len(node.shape) else i for i in range(len(node.shape)))
        return self.pool.node("take", node, at, shape=self.shape(fx), kind=node.kind, dims=dims)

    def op_embedding(self, fx: Fx, weight: Any, indices: Any, *_: Any) -> Node:
        return self._take(fx, self.node(weight), [self.node(indices)], 0)

    def op_index_select(self, fx: Fx, x: Any, dim: int, index: Any) -> Node:
        node = self.node(x)
        return self._take(fx, node, [self.node(index)], dim % len(node.shape))

    def op_index(self, fx: Fx, x: Any, indices: list[Any]) -> Node:
        node, first = self.node(x), next(i for i, v in enumerate(indices) if v is not None)
        given = [v for v in indices[first:] if v is not None]
        if len(given) != len(indices) - first or any(self.node(v).kind == "b" for v in given):
            raise Declined("indexing with gaps or masks is not written")
        return self._take(fx, node, [self.node(v) for v in given], first)

    def _take(self, fx: Fx, node: Node, indices: list[Node], first: int) -> Node:
        rank, shape = len(broadcast(*(i.shape for i in indices))), self.shape(fx)
        trailing = len(shape) - first - rank
        wrapped = []
        for k, index in enumerate(indices):
            size = self.pool.expression(node.shape[first + k])
            negative = self.pool.point("lt", index, self.pool.const(0), kind="b")
            index = self.pool.point("where", negative, self.pool.point("add", index, size, kind="i"), index, kind="i")
            wrapped.append(self.pool.view(index, (*index.shape, *[1] * trailing), tuple(range(len(index.shape)))))
        dims = [*range(first), *(("index", k) for k in range(len(indices))), *range(first + rank, len(shape))]
        return self.pool.node("take", node, *wrapped, shape=shape, kind=node.kind, dims=tuple(dims))


def reshape(pool: Pool, x: Node, shape: tuple[Size, ...]) -> Node:
    """A reshape; where only dims of size 1 come or go it is a view, and a reshape of a reshape is one."""
    solid = [i for i, n in enumerate(shape) if n != 1]
    if [n for n in x.shape if n != 1] == [shape[i] for i in solid]:
        places = iter(solid)
        return pool.view(x, shape, tuple(None if n == 1 else next(places) for n in x.shape))
    if x.op == "reshape":
        return reshape(pool, x.args[0], shape)
    if x.op in ("const", "scalar"):
        return pool.view(x, shape, ())
    if x.op == "view" and not any(isinstance(a, Node) and a.shape for a in x.args):
        return pool.view(x.args[0], shape, ())
    return pool.node("reshape", x, shape=shape, kind=x.kind)


def _whole(value: torch.SymFloat) -> bool:
    return re.fullmatch(r"ToFloat\([\w*]+\)", str(value.node.expr)) is not None
