"""Cuts a graph into stages, one kernel each: pointwise, rows (reductions over the same dims with what surrounds them), or a matmul
with its epilogue."""

from dataclasses import dataclass, field

from agents.models.templates.graph import Declined, Node, Size


@dataclass(frozen=True, eq=False)
class Axis:
    """One loop dim of a stage."""

    size: Size


@dataclass(frozen=True)
class Looked:
    """An index that is itself computed: the value of `node` at `index`."""

    node: Node
    index: tuple["At", ...]


At = Axis | Looked | None
Index = tuple[At, ...]
LEAVES = ("input", "reshape", "window")


@dataclass
class Stage:
    """`root` computed at `index`, the axes of its dims. Rows stages run over `outer` and reduce over `inner`."""

    kind: str
    root: Node
    index: Index
    outer: list[Axis]
    inner: list[Axis] = field(default_factory=list)
    native: set[Node] = field(default_factory=set)
    """Reductions, or the matmul, that this stage computes itself."""
    reductions: list[tuple[Node, Index, int]] = field(default_factory=list)
    """With the index of the result and the level: a reduction of level 2 needs one of level 1 first."""
    buffers: set[Node] = field(default_factory=set)
    """Values that earlier stages leave in memory."""
    closed: bool = False
    """Whether no further reduction is adopted: below one over everything, each gets kernels of its own."""
    counted: bool = False
    """Whether an axis is used as a number, so that dims must not be joined."""

    def full(self, node: Node, index: Index) -> Index:
        """The index of a reduction's operand, given that of its result."""
        inner, kept = iter(a for a in self.inner), iter(index)
        source = node.args[0].shape
        return tuple((None if n == 1 else next(inner)) if d in node.dims else next(kept) for d, n in enumerate(source))


def operand_index(node: Node, arg: Node, index: Index) -> Index:
    """The index of a pointwise operand: dims are aligned on the right, and dims of size 1 stay at 0."""
    aligned = index[len(index) - len(arg.shape) :] if arg.shape else ()
    return tuple(None if n == 1 else at for n, at in zip(arg.shape, aligned, strict=True))


def view_index(node: Node, index: Index) -> Index:
    source = node.args[0]
    return tuple(None if d is None or n == 1 else index[d] for d, n in zip(node.dims, source.shape, strict=True))


def take_index(node: Node, index: Index) -> Index:
    """The index of a take's source, with computed entries."""
    entries: list[At] = []
    for d in node.dims:
        if isinstance(d, tuple):
            arg = node.args[1 + d[1]]
            entries.append(Looked(arg, operand_index(node, arg, index)))
        else:
            entries.append(index[d])
    return tuple(None if n == 1 and not isinstance(e, Looked) else e for n, e in zip(node.args[0].shape, entries, strict=True))


def below(node: Node, index: Index) -> list[tuple[Node, Index]]:
    """The values that a node needs at an index, each at its own."""
    if node.op == "point":
        return [(a, operand_index(node, a, index)) for a in node.args]
    if node.op == "view":
        return [(node.args[0], view_index(node, index))]
    if node.op == "take":
        return [*((a, operand_index(node, a, index)) for a in node.args[1:]), (node.args[0], take_index(node, index))]
    return []


def plan(root: Node) -> Stage:
    """The stage that computes `root`, with what it must find in memory."""
    index: Index = tuple(None if n == 1 else Axis(n) for n in root.shape)
    stage = _kind(root, index, [a for a in index if isinstance(a, Axis)])
    _scan(stage, root, index, {})
    return stage


def _reached(node: Node, index: Index, seen: dict[tuple[Node, Index], None]) -> list[tuple[Node, Index]]:
    """Reductions and matmuls that a value needs directly, at their indices."""
    if (node, index) in seen:
        return []
    seen[node, index] = None
    if node.op in ("reduce", "matmul"):
        return [(node, index)]
    return [h for a, i in below(node, index) for h in _reached(a, i, seen)]


def _kind(root: Node, index: Index, over: list[Axis]) -> Stage:
    reached = _reached(root, index, {})
    for node, at in reached:
        if node.op != "reduce" or any(isinstance(a, Looked) for a in at):
            continue
        kept = [a for a in at if isinstance(a, Axis)]
        left = [a for a in over if a not in kept]
        reduced = [node.args[0].shape[d] for d in node.dims if node.args[0].shape[d] != 1]
        if left and (not kept or [a.size for a in left] != reduced):
            continue
        inner = left or [Axis(n) for n in reduced]
        return Stage("rows", root, index, [a for a in over if a not in left], inner)
    for node, at in reached:
        if node.op == "matmul" and at == index[len(index) - len(at) :] and len([a for a in index if a]) == len([a for a in at if a]):
            return Stage("matmul", root, index, over, native={node})
    return Stage("point", root, index, over)


def _adopts(stage: Stage, node: Node, index: Index) -> bool:
    if node.op == "matmul":
        return node in stage.native
    if stage.kind != "rows" or stage.closed or any(isinstance(a, Looked) for a in index):
        return False
    reduced = [node.args[0].shape[d] for d in node.dims if node.args[0].shape[d] != 1]
    return axes(index) == set(stage.outer) and reduced == [a.size for a in stage.inner]


def _scan(stage: Stage, node: Node, index: Index, levels: dict[tuple[Node, Index], int]) -> int:
    """Marks what the stage computes and what it loads; the level is that of the deepest reduction below."""
    if (node, index) in levels:
        return levels[node, index]
    level = 0
    if node.op in LEAVES or _foreign(stage, node, index):
        stage.buffers.add(node)
    elif node.op == "iota":
        stage.counted = True
    elif node.op == "reduce":
        stage.native.add(node)
        stage.closed = not stage.outer
        level = 1 + _scan(stage, node.args[0], stage.full(node, index), levels)
        stage.closed = False
        stage.reductions.append((node, index, level))
    elif node.op != "matmul":
        level = max((_scan(stage, a, i, levels) for a, i in below(node, index)), default=0)
    levels[node, index] = level
    return level


def _foreign(stage: Stage, node: Node, index: Index) -> bool:
    """Whether a value is better loaded: its heavy parts belong to other stages, and it has as many elements as one of them."""
    if node.op in ("reduce", "matmul"):
        return not _adopts(stage, node, index)
    if node.op != "point" or node is stage.root:
        return False
    heavy = _reached(node, index, {})
    same = any(axes(i) == axes(index) for _, i in heavy)
    return same and not any(_adopts(stage, n, i) for n, i in heavy)


def axes(index: Index) -> set[Axis]:
    return {a for a in index if isinstance(a, Axis)}


def check(stage: Stage) -> None:
    if stage.kind == "matmul" and stage.counted:
        raise Declined("positions in a matmul's epilogue are not written")
