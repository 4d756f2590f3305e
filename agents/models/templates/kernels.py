"""Writes the body of one Triton kernel for one stage of the schedule."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from agents.models.templates.graph import Declined, Node
from agents.models.templates.ops import FUNCTIONS, convert, literal
from agents.models.templates.schedule import Axis, Index, Looked, Stage, operand_index, take_index, view_index

RESULT = "RESULT"
"""Stands for the tensor that a stage writes."""
NEUTRAL = {"sum": "0", "prod": "1", "any": "0", "max": 'float("-inf")', "min": 'float("inf")'}
WHOLE = {"max": "-9223372036854775807", "min": "9223372036854775807"}
RESERVED = frozenset(
    {"tl", "triton", "libdevice", "rows", "cols", "start", "batch", "acc", "at", "bt", "k", "R", "B", "left", "right", "pid"}
)
LAST = "9223372036854775807"


@dataclass
class Group:
    """Axes that a kernel walks as one: `name` is the letter of its strides, `at` the variable of its position, `limit` its bound.

    Leading entries may be None: a kernel is written for more axes than a stage has, so that one text serves several ranks.
    """

    name: str
    axes: list[Axis | None]
    at: str
    limit: str

    @property
    def flat(self) -> str:
        """The constexpr that says that the axes were joined into one."""
        return f"FLAT_{self.name.upper()}"

    def place(self, k: int) -> str:
        """The position along the k-th axis."""
        return self.at if len(self.axes) == 1 else f"{self.name}{k}"

    def lines(self) -> list[str]:
        """Positions along each axis, from the position along all."""
        lines, rest, last = [], self.at, len(self.axes) - 1
        for k in range(last, -1, -1):
            text = f"{rest} % {self.name}n{k}" if k else rest
            lines.append(f"{self.name}{k} = {self.at if k == last else 0} if {self.flat} else {text}")
            rest = f"({rest}) // {self.name}n{k}" if k < last else f"{rest} // {self.name}n{k}"
        return lines if last > 0 else []


@dataclass
class Load:
    """A tensor that a kernel reads or writes, with its dim along each axis of each group, and the dims with computed indices."""

    name: str
    tensor: str
    dims: dict[str, tuple[int | None, ...]]
    looked: tuple[int, ...] = ()


@dataclass
class Kernel:
    """Parameters in the order of a launch: pointers, bounds, strides; then sizes and constexprs by keyword."""

    body: list[str]
    loads: list[Load]
    scalars: dict[str, str]
    """Keyword -> the wrapper's expression; compile-time constants."""
    sizes: dict[str, str]
    """Keyword -> the wrapper's expression; run-time integers."""


class Tile:
    """Values of one stage over a tile. `tensor(node)` names the wrapper's tensor of a node that lies in memory."""

    unit = "(1,)"

    def __init__(self, stage: Stage, groups: list[Group], tensor: Callable[[Node], str]):
        self.stage, self.groups, self.tensor = stage, groups, tensor
        self.group_of = {a: g for g in groups for a in g.axes if a is not None}
        self.known: dict[tuple[Node, Index], tuple[str, frozenset[str]]] = {}
        self.loads: dict[tuple[str, Index], Load] = {}
        self.scalars: dict[str, str] = {}
        self.sizes: dict[str, str] = {}
        self.outside: list[str] = []
        self.inside: list[str] = self.outside
        self.counter = 0

    def new(self, text: str, deps: frozenset[str], stem: str = "v") -> str:
        """A fresh variable with the given value, computed as far out as it can be."""
        name = f"{stem}{self.counter}"
        self.counter += 1
        (self.inside if "i" in deps else self.outside).append(f"{name} = {text}")
        return name

    def mask(self, deps: frozenset[str]) -> str:
        return " & ".join(f"({g.at} < {g.limit})" for g in self.groups if g.name in deps and g.limit)

    def value(self, node: Node, index: Index) -> tuple[str, frozenset[str]]:
        key = (node, index)
        if key not in self.known:
            self.known[key] = self._value(node, index)
        return self.known[key]

    def _value(self, node: Node, index: Index) -> tuple[str, frozenset[str]]:
        if node in self.stage.buffers:
            return self.load(node, index)
        if node.op == "const":
            return literal(node.value), frozenset()
        if node.op in ("scalar", "size"):
            return self.number(node), frozenset()
        if node.op == "view":
            return self.value(node.args[0], view_index(node, index))
        if node.op == "take":
            return self.value(node.args[0], take_index(node, index))
        if node.op == "iota":
            return self.position(index)
        if node.op == "point":
            return self.point(node, index)
        raise Declined(f"a {node.op} in this place is not written")

    def position(self, index: Index) -> tuple[str, frozenset[str]]:
        axis = index[0]
        if axis is None:
            return "0", frozenset()
        if isinstance(axis, Looked):
            return self.value(axis.node, axis.index)
        group = self.group_of[axis]
        return group.place(group.axes.index(axis)), frozenset({group.name})

    def number(self, node: Node) -> str:
        if node.op == "scalar":
            name = node.name if node.name.isidentifier() else f"number{len(self.scalars)}"
            found = [k for k, v in self.scalars.items() if v == node.name]
            if not found:
                self.scalars[name] = node.name
            return found[0] if found else name
        if node.name not in self.sizes.values():
            self.sizes[f"count{len(self.sizes)}"] = node.name
        return next(k for k, v in self.sizes.items() if v == node.name)

    def point(self, node: Node, index: Index) -> tuple[str, frozenset[str]]:
        function = FUNCTIONS.get(node.name)
        if function is None:
            raise Declined(f"the function {node.name} is not written")
        values = [self.value(a, operand_index(node, a, index)) for a in node.args]
        deps = frozenset().union(*(d for _, d in values))
        texts = [self.operand(node, i, a, v) for i, (a, (v, _)) in enumerate(zip(node.args, values, strict=True))]
        if all(a.op in ("const", "size", "scalar") for a in node.args):
            texts[0] = self.wrap(texts[0] if texts[0].count("(") == 0 else values[0][0], node.kind)
        text = function.text.format(*texts)
        if text.isidentifier():  # a cast within a kind: no line of its own, so that equal kernels have equal texts
            return text, deps
        if node.name in ("relu", "sign", "where") and node.kind == "f":
            text = f"({text}).to(ACC)"
        return self.new(text, deps), deps

    def wrap(self, text: str, kind: str) -> str:
        """A literal as a tensor."""
        dtype = {"f": "ACC", "i": "tl.int64", "b": "tl.int1"}[kind]
        return f"tl.full({self.unit}, {text}, {dtype})"

    def operand(self, node: Node, position: int, arg: Node, text: str) -> str:
        function = FUNCTIONS[node.name]
        if node.name == "where" and position == 0:
            return text if arg.op != "const" else self.wrap(text, "b")
        wanted = {"result": node.kind, "f": "f", "b": "b", "any": arg.kind, "common": max((a.kind for a in node.args), key="bif".index)}[
            function.operands
        ]
        if _number(arg):
            if wanted == "b" or (function.tensors and arg.op != "size"):
                return self.wrap(text, wanted)
            if function.tensors:
                return f"(tl.full({self.unit}, 0, ACC) + {text})" if wanted == "f" else f"(tl.full({self.unit}, 0, tl.int64) + {text})"
            return text
        return convert(text, arg.kind, wanted)

    def load(self, node: Node, index: Index) -> tuple[str, frozenset[str]]:
        load, at, deps = self.address(self.tensor(node), index, _stem(self.tensor(node)))
        mask = self.mask(deps)
        text = f"tl.load({at}, mask={mask}, other=0)" if mask else f"tl.load({at})"
        cast = {"f": ".to(ACC)", "i": ".to(tl.int64)", "b": " != 0"}[node.kind]
        return self.new(f"({text}{cast})" if node.kind == "b" else f"{text}{cast}", deps, f"{load.name}_"), deps

    def address(self, tensor: str, index: Index, stem: str) -> tuple[Load, str, frozenset[str]]:
        axes = [a for a in index if isinstance(a, Axis)]
        if len(set(axes)) != len(axes):
            raise Declined("a diagonal is not written")
        dims = {g.name: tuple(index.index(a) if a in axes else None for a in g.axes) for g in self.groups}
        looked = tuple(d for d, a in enumerate(index) if isinstance(a, Looked))
        deps = walked = frozenset(self.group_of[a].name for a in axes)
        values = []
        for d in looked:
            at = index[d]
            assert isinstance(at, Looked)
            text, below = self.value(at.node, at.index)
            values.append(text)
            deps |= below
        if (tensor, index) not in self.loads:
            self.loads[tensor, index] = Load(self.name(stem), tensor, dims, looked)
        load = self.loads[tensor, index]
        name = load.name
        # All axes of a group that is walked at all: one text then serves every rank, and absent axes have stride 0.
        terms = [f"{g.place(k)} * {name}_{g.name}{k}" for g in self.groups if g.name in walked for k in range(len(g.axes))]
        terms += [f"{v} * {name}_g{k}" for k, v in enumerate(values)]
        return load, " + ".join([name, *terms]), deps

    def name(self, stem: str) -> str:
        taken = RESERVED | {x.name for x in self.loads.values()} - {"out"}
        while stem in taken and stem != "out":
            stem += "_"
        return stem

    def store(self, tensor: str, index: Index, value: str, groups: str) -> None:
        """Writes the stage's result; `groups` are the letters of the groups that the result has."""
        _, at, _ = self.address(tensor, index, "out")
        # A result dim of size 1 has no axis; the tile is wide all the same, so the address must be too.
        wide = " + ".join(f"{g.at} * 0" for g in self.groups if g.name in groups and not any(a in g.axes for a in index if a is not None))
        (self.inside if "i" in groups else self.outside).append(
            f"tl.store({at}{f' + {wide}' if wide else ''}, {value}.to(out.dtype.element_ty), mask={self.mask(frozenset(groups))})"
        )


def _number(node: Node) -> bool:
    return node.op in ("const", "scalar", "size") or (node.op == "view" and _number(node.args[0]))


def _stem(tensor: str) -> str:
    return (re.findall(r"[A-Za-z_]\w*", tensor) or ["x"])[0]


def neutral(node: Node) -> str:
    """What a reduction's masked elements must be."""
    name = node.name.removeprefix("arg")
    return WHOLE[name] if node.args[0].kind == "i" and name in WHOLE else NEUTRAL[name]
