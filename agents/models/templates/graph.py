"""The author's own small graph: what an operator computes, after views, casts and composite operators are resolved.

Sizes are integers, or Python expressions over names `n_<parameter>_<dim>` that the emitted wrapper defines.
"""

import re
from dataclasses import dataclass
from typing import Any

Size = int | str


class Declined(Exception):
    """The author cannot write this operator; the message says what it lacks."""


@dataclass(frozen=True, eq=False)
class Node:
    """One value. `op` is `input`, `const`, `scalar`, `size`, `iota`, `point`, `reduce`, `matmul`, `view`, `take`, `reshape` or `window`.

    `name`: of an input, scalar or size the wrapper's expression; of a point the function in `ops`; of a reduce the operator; of a
    window the subscript.
    `dims`: of a view, per source dim the result's dim (None: index 0); of a reduce the reduced dims (dropped from the shape);
    of a take, per source dim the result's dim, or `("index", k)`: the value of the k-th index argument.
    """

    op: str
    args: tuple["Node", ...] = ()
    shape: tuple[Size, ...] = ()
    kind: str = "f"
    name: str = ""
    dims: tuple[Any, ...] = ()
    value: Any = None


class Pool:
    """Makes nodes; an equal node is made once, so that common parts are shared."""

    def __init__(self) -> None:
        self.made: dict[tuple[Any, ...], Node] = {}

    def node(self, op: str, *args: Node, shape: tuple[Size, ...] = (), kind: str = "f", name: str = "", dims: tuple[Any, ...] = (),
             value: Any = None) -> Node:  # fmt: skip
        key = (op, tuple(id(a) for a in args), shape, kind, name, dims, type(value), repr(value))
        if key not in self.made:
            self.made[key] = Node(op, args, shape, kind, name, dims, value)
        return self.made[key]

    def const(self, value: float | int | bool) -> Node:
        return self.node("const", kind=kind_of_number(value), value=value)

    def point(self, name: str, *args: Node, kind: str) -> Node:
        """A pointwise function. Where an operand is a reshaped product, it is applied before the reshape, as the product's epilogue."""
        target = next((a for a in args if a.op == "reshape" and a.args[0].op in ("matmul", "point")), None)
        before = [self.before_reshape(a, target) for a in args] if target else [None]
        if target and all(b is not None for b in before):
            return self.node("reshape", self.point(name, *(b for b in before if b), kind=kind), shape=target.shape, kind=kind)
        return self.node("point", *args, shape=broadcast(*(a.shape for a in args)), kind=kind, name=name)

    def before_reshape(self, x: Node, target: Node) -> Node | None:
        """`x` in the shape that `target` was reshaped from, or None where it cannot be seen so."""
        source = target.args[0].shape
        if x.op == "reshape" and x.args[0].shape == source:
            return x.args[0]
        if x.shape == target.shape and x.op == "input":
            return self.node("reshape", x, shape=source, kind=x.kind, value=x.value)
        same = 0
        while same < min(len(source), len(target.shape)) and source[-1 - same] == target.shape[-1 - same]:
            same += 1
        return x if len(x.shape) <= same else None

    def reduce(self, name: str, x: Node, dims: tuple[int, ...], kind: str, keep: bool = False) -> Node:
        dims = tuple(sorted(d % max(len(x.shape), 1) for d in dims))
        kept = tuple(i for i in range(len(x.shape)) if i not in dims)
        out = self.node("reduce", x, shape=tuple(x.shape[i] for i in kept), kind=kind, name=name, dims=dims)
        if not x.shape:
            out = self.node("reduce", x, kind=kind, name=name)
        if not keep:
            return out
        return self.view(out, tuple(1 if i in dims else n for i, n in enumerate(x.shape)), kept)

    def view(self, x: Node, shape: tuple[Size, ...], dims: tuple[int | None, ...]) -> Node:
        """`x` seen in another order of dims, with dims of size 1 added, dropped or repeated; views of views are composed."""
        dims = tuple(None if n == 1 else d for n, d in zip(x.shape, dims, strict=True))
        if shape == x.shape and all(d == i or n == 1 for i, (d, n) in enumerate(zip(dims, x.shape, strict=True))):
            return x
        if x.op == "view":
            dims = tuple(None if d is None else dims[d] for d in x.dims)
            return self.view(x.args[0], shape, dims)
        return self.node("view", x, shape=shape, kind=x.kind, dims=dims)

    def mean(self, x: Node, dims: tuple[int, ...], keep: bool) -> Node:
        total = self.reduce("sum", x, dims, "f", keep)
        return self.point("div", total, self.size([x.shape[d] for d in dims]), kind="f")

    def size(self, sizes: list[Size]) -> Node:
        """The product of `sizes` as a value."""
        return self.expression(product(sizes))

    def expression(self, text: Size) -> Node:
        if isinstance(text, int):
            return self.const(text)
        return self.node("size", kind="i", name=text)


def kind_of_number(value: object) -> str:
    return "b" if isinstance(value, bool) else "i" if isinstance(value, int) else "f"


def product(sizes: list[Size]) -> Size:
    """The product of sizes, known ones multiplied out."""
    known, names = 1, []
    for n in sizes:
        if isinstance(n, int):
            known *= n
        else:
            names.append(n if re.fullmatch(r"\w+", n) else f"({n})")
    if not names:
        return known
    return "*".join([*sorted(names), *([str(known)] if known != 1 else [])])


def broadcast(*shapes: tuple[Size, ...]) -> tuple[Size, ...]:
    """The common shape. Tracing has seen that sizes agree, also where their expressions differ; the shortest stands for all."""
    rank = max((len(s) for s in shapes), default=0)
    result: list[Size] = [1] * rank
    for shape in shapes:
        for i, n in enumerate(shape, rank - len(shape)):
            if result[i] == 1:
                result[i] = n
            elif n != 1:
                result[i] = min(result[i], n, key=lambda size: (not isinstance(size, int), len(str(size)), str(size)))
    return tuple(result)


def walk(roots: tuple[Node, ...]) -> list[Node]:
    """Every node below `roots`, operands first."""
    seen: dict[Node, None] = {}

    def visit(node: Node) -> None:
        if node not in seen:
            for a in node.args:
                visit(a)
            seen[node] = None

    for root in roots:
        visit(root)
    return list(seen)


def fits_int8(node: Node) -> bool:
    """Whether every value is a whole number of int8's range, by the graph alone."""
    if node.op in ("view", "reshape", "window") or (node.op == "point" and node.name in ("cast", "int16", "int32", "half", "bfloat16")):
        return fits_int8(node.args[0])
    if node.op != "point":
        return False
    low, high = _bounds(node)
    return node.name == "int8" or (low >= -128 and high <= 127 and _whole(node))


def _whole(node: Node) -> bool:
    if node.op == "const":
        return float(node.value).is_integer()
    if node.op == "point" and node.name in ("maximum", "minimum"):
        return all(_whole(a) for a in node.args)
    return node.op == "point" and (node.name in ("round", "floor", "ceil", "trunc") or node.kind == "i")


def _bounds(node: Node) -> tuple[float, float]:
    if node.op == "const":
        return float(node.value), float(node.value)
    if node.op == "point" and node.name in ("maximum", "minimum"):
        (a, b), (c, d) = (_bounds(x) for x in node.args)
        return (max(a, c), max(b, d)) if node.name == "maximum" else (min(a, c), min(b, d))
    if node.op == "point" and node.name in ("round", "floor", "ceil", "trunc", "cast"):
        return _bounds(node.args[0])
    return float("-inf"), float("inf")


def unwidened(node: Node) -> Node:
    """An integer argument without the casts that only widen it: a product accumulates widely enough."""
    source = node
    while source.op == "point" and source.name in ("cast", "int16", "int32") and source.kind == source.args[0].kind == "i":
        source = source.args[0]
    return source if source.op == "input" or (source.op == "view" and source.args[0].op == "input") else node
