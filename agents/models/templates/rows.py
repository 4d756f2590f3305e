"""Kernels of pointwise and rows stages: the pointwise tile, the one-pass tile, the looped tile and the split reduction."""

from collections.abc import Callable

from agents.models.templates.graph import Node, walk
from agents.models.templates.kernels import LAST, Group, Kernel, Tile, neutral
from agents.models.templates.ops import convert
from agents.models.templates.schedule import Axis, Index, Stage

POINT_DIMS, OUTER_DIMS, INNER_DIMS = 4, 3, 2
"""Dims that kernels are written for, at least; a launch joins what it can, and one text serves several ranks."""
ACCUMULATOR = {"f": "ACC", "i": "tl.int64", "b": "tl.int32"}


def padded(axes: list[Axis], dims: int) -> list[Axis | None]:
    return [*[None] * (dims - len(axes)), *axes]


def pointwise(stage: Stage, tensor: Callable[[Node], str], out: str) -> Kernel:
    """One program per block of elements, counted along all dims."""
    tile = Tile(stage, [Group("o", padded(stage.outer, POINT_DIMS), "rows", "n_rows")], tensor)
    tile.outside += ["rows = tl.program_id(0).to(tl.int64) * B + tl.arange(0, B)", *tile.groups[0].lines()]
    value, _ = tile.value(stage.root, stage.index)
    tile.store(out, stage.index, value, "o")
    return Kernel(tile.outside, list(tile.loads.values()), tile.scalars, tile.sizes)


class RowTile(Tile):
    """A tile of R rows by B columns. One-pass: the rows fit. Looped: one sweep over the columns per level of reduction, one to write."""

    unit = "(1, 1)"

    def __init__(self, stage: Stage, tensor: Callable[[Node], str], looped: bool):
        outer = Group("o", padded(stage.outer, OUTER_DIMS), "rows", "n_rows")
        self.columns = Group("i", padded(stage.inner, INNER_DIMS), "cols", "n_cols")
        super().__init__(stage, [outer, self.columns], tensor)
        self.looped = looped
        self.outside += ["rows = tl.program_id(0).to(tl.int64) * R + tl.arange(0, R)[:, None]", *outer.lines()]
        if not looped:
            self.outside += ["cols = tl.arange(0, B).to(tl.int64)[None, :]", *self.columns.lines()]
        self.nan = not any(n.op == "point" and n.name == "exp" for n in walk((stage.root,)))

    def write(self, out: str) -> None:
        levels = sorted({level for _, _, level in self.stage.reductions})
        for level in levels:
            self.sweep([(n, i) for n, i, at in self.stage.reductions if at == level])
        wide = any(a in self.stage.inner for a in self.stage.index)
        if self.looped and wide:
            self.begin()
        value, _ = self.value(self.stage.root, self.stage.index)
        self.store(out, self.stage.index, value, "oi" if wide else "o")
        if self.looped and wide:
            self.end()

    def sweep(self, reductions: list[tuple[Node, Index]]) -> None:
        """Computes reductions of one level; looped, by lanes that are joined after the loop."""
        if not self.looped:
            for node, index in reductions:
                masked = self.masked(node, index)
                position = "cols" if node.name.startswith("arg") else ""
                self.known[node, index] = (self.join(node, masked, position), frozenset("o"))
            return
        self.begin()
        lanes = [self.lane(node, index) for node, index in reductions]
        self.end()
        for (node, index), (lane, position) in zip(reductions, lanes, strict=True):
            self.known[node, index] = (self.join(node, lane, position), frozenset("o"))

    def begin(self) -> None:
        self.inside = []

    def end(self) -> None:
        head = ["cols = (start + tl.arange(0, B)).to(tl.int64)[None, :]", *self.columns.lines()]
        self.outside += [f"for start in range({self.bounds()}, B):", *(f"    {line}" for line in [*head, *self.inside])]
        self.inside = self.outside
        self.known = {k: v for k, v in self.known.items() if "i" not in v[1]}

    def bounds(self) -> str:
        return "0, n_cols"

    def masked(self, node: Node, index: Index) -> str:
        """A reduction's operand over the tile, with its neutral element where there is nothing."""
        arg = node.args[0]
        value, _ = self.value(arg, self.stage.full(node, index))
        if arg.op in ("const", "size", "scalar") or value.isidentifier() is False:
            value = self.wrap(value, arg.kind)
        wanted = "b" if node.name == "any" else arg.kind
        value = convert(value, arg.kind, wanted)
        value = f"{value}.to(tl.int32)" if wanted == "b" else value
        return self.new(f"tl.where({self.mask(frozenset('oi'))}, {value}, {neutral(node)})", frozenset("oi"), "m")

    def lane(self, node: Node, index: Index) -> tuple[str, str]:
        lane, position = f"lane{self.counter}", f"where{self.counter}"
        masked = self.masked(node, index)
        dtype = ACCUMULATOR[node.args[0].kind]
        self.outside.append(f"{lane} = tl.full((R, B), {neutral(node)}, {dtype})")
        name = node.name
        if name in ("sum", "prod"):
            self.inside.append(f"{lane} {'+' if name == 'sum' else '*'}= {masked}")
        elif name in ("any", "max", "min"):
            function = "minimum" if name == "min" else "maximum"
            keep = ", propagate_nan=tl.PropagateNan.ALL" if self.nan and dtype == "ACC" else ""
            self.inside.append(f"{lane} = tl.{function}({lane}, {masked}{keep})")
        else:
            self.outside.append(f"{position} = tl.zeros((R, B), tl.int64) + tl.arange(0, B)[None, :]")
            sign = ">" if name == "argmax" else "<"
            better = self.new(f"({masked} {sign} {lane}) | (({masked} != {masked}) & ({lane} == {lane}))", frozenset("oi"), "better")
            self.inside += [f"{position} = tl.where({better}, cols, {position})", f"{lane} = tl.where({better}, {masked}, {lane})"]
        return lane, position

    def join(self, node: Node, lane: str, position: str) -> str:
        """The reduction over a tile's columns, as one value per row."""
        name, row = node.name, frozenset("o")
        if name == "sum":
            return self.new(f"tl.sum({lane}, 1, keep_dims=True)", row, "r")
        if name == "prod":
            return self.new(f"tl.reduce({lane}, 1, _product, keep_dims=True)", row, "r")
        if name == "any":
            return self.new(f"tl.max({lane}, 1, keep_dims=True) != 0", row, "r")
        function = "max" if name.endswith("max") else "min"
        best = self.new(f"tl.{function}({lane}, 1, keep_dims=True)", row, "r")
        lost = ""
        if node.args[0].kind == "f" and (name != function or self.nan):
            lost = self.new(f"tl.max(({lane} != {lane}).to(tl.int32), 1, keep_dims=True) != 0", row, "nan")
        if name == function:
            return self.new(f'tl.where({lost}, float("nan"), {best})', row, "r") if lost else best
        hit = f"tl.where({lost}, {lane} != {lane}, {lane} == {best})" if lost else f"{lane} == {best}"
        return self.new(f"tl.min(tl.where({hit}, {position} + tl.zeros((R, B), tl.int64), {LAST}), 1, keep_dims=True)", row, "r")


class PartTile(RowTile):
    """A reduction of everything, first half: each program reduces a chunk and writes what it found."""

    def __init__(self, stage: Stage, tensor: Callable[[Node], str]):
        super().__init__(stage, tensor, looped=True)
        self.outside += ["first = tl.program_id(1).to(tl.int64) * CHUNK", "last = tl.minimum(first + CHUNK, n_cols)"]

    def bounds(self) -> str:
        return "first, last"

    def write(self, out: str) -> None:
        reductions = [(n, i) for n, i, _ in self.stage.reductions]
        self.begin()
        lanes = [self.lane(node, index) for node, index in reductions]
        self.end()
        for k, ((node, _), (lane, position)) in enumerate(zip(reductions, lanes, strict=True)):
            found = self.join(node, lane, position)
            if node.name.startswith("arg"):
                self.put(f"places{k}", found)
                found = self.join(extremum(node), lane, "")
            self.put(f"found{k}", found)

    def put(self, name: str, value: str) -> None:
        self.outside.append(f"tl.store({name} + tl.program_id(1) + rows * 0, {value}.to({name}.dtype.element_ty), mask=rows < n_rows)")


class WholeTile(RowTile):
    """Second half: one program reduces what the chunks left, and computes what follows."""

    def write(self, out: str) -> None:
        for k, (node, index, _) in enumerate(self.stage.reductions):
            kind = "b" if node.name == "any" else node.args[0].kind
            cast = "tl.int32" if kind == "b" else ACCUMULATOR[kind]
            part = self.new(f"tl.load(found{k} + cols, mask=cols < n_cols, other={neutral(node)}).to({cast})", frozenset("oi"), "part")
            place = f"tl.load(places{k} + cols, mask=cols < n_cols, other={LAST})" if node.name.startswith("arg") else ""
            self.known[node, index] = (self.join(node, part, place), frozenset("o"))
        value, _ = self.value(self.stage.root, self.stage.index)
        self.store(out, self.stage.index, value, "o")


def extremum(node: Node) -> Node:
    """The reduction to the value whose position a reduction asks for."""
    return Node("reduce", node.args, node.shape, node.args[0].kind, node.name.removeprefix("arg"), node.dims)


def parts(stage: Stage) -> list[tuple[str, str]]:
    """What the chunks of a split reduction leave: names and kinds, positions after values."""
    reductions = [n for n, _, _ in stage.reductions]
    found = [(f"found{k}", n.args[0].kind) for k, n in enumerate(reductions)]
    return found + [(f"places{k}", "i") for k, n in enumerate(reductions) if n.name.startswith("arg")]


def split(stage: Stage, tensor: Callable[[Node], str], out: str) -> tuple[Kernel, Kernel]:
    return _rows(PartTile(stage, tensor), out), _rows(WholeTile(stage, tensor, looped=False), out)


def one_pass(stage: Stage, tensor: Callable[[Node], str], out: str) -> Kernel:
    return _rows(RowTile(stage, tensor, looped=False), out)


def looped(stage: Stage, tensor: Callable[[Node], str], out: str, like: Kernel) -> Kernel:
    tile = RowTile(stage, tensor, looped=True)
    kernel = _rows(tile, out)
    order = {x.name: i for i, x in enumerate(like.loads)}
    kernel.loads.sort(key=lambda x: order[x.name])
    return kernel


def _rows(tile: RowTile, out: str) -> Kernel:
    tile.write(out)
    return Kernel(tile.outside, list(tile.loads.values()), tile.scalars, tile.sizes)
