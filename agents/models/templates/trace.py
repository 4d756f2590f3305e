"""Reads operators: traces a reference for each way it is called, with sizes and numbers left free where the mathematics allows it."""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import sympy  # type: ignore[import-untyped]
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv, StatelessSymbolicContext

from agents.models.templates.calls import Arguments, Reference, describe, is_list, is_number, replaced, tensors
from agents.models.templates.dtypes import observe
from agents.models.templates.graph import Declined, Node, Pool, Size
from agents.models.templates.lower import Lowering
from agents.models.templates.patterns import Traced, covers, moved, variations
from agents.models.templates.quiet import quiet

ATEN = torch.ops.aten
COMPOSITES = (
    ATEN.gelu, ATEN.silu, ATEN.native_layer_norm, ATEN._softmax, ATEN._log_softmax, ATEN.nll_loss_forward, ATEN.nll_loss2d_forward,
    ATEN.var_mean, ATEN.addmm, ATEN.addmv, ATEN.baddbmm, ATEN.mse_loss, ATEN._fused_rms_norm, ATEN.var, ATEN.std, ATEN.logsumexp,
    ATEN.leaky_relu, ATEN.elu, ATEN.hardtanh, ATEN.native_group_norm, ATEN.linalg_vector_norm, ATEN.norm, ATEN.softplus, ATEN.mish,
    ATEN.smooth_l1_loss, ATEN.huber_loss,
)  # fmt: skip
SPELLINGS = {
    "FloatPow(": "pow(", "ToFloat(": "float(", "IntTrueDiv(": "truediv(", "FloatTrueDiv(": "truediv(", "OpaqueUnaryFn_sqrt(": "math.sqrt(",
    "Max(": "max(", "Min(": "min(",
}  # fmt: skip
"""Functions of sizes, as SymPy prints them and as Python calls them."""
KNOWN = {"pow", "float", "truediv", "math", "sqrt", "max", "min"}
LIMIT = 200
"""Patterns of one operator."""


def read(reference: Reference, calls: list[Arguments]) -> list[Traced]:
    """Every pattern of `calls`, and of their variations, that could be traced. Raises `Declined` when a call itself cannot be."""
    found: list[Traced] = []
    for arguments in calls:
        if all(t.numel() for t in tensors(arguments).values()) and not any(covers(t, arguments) for t in found):
            found.append(_visible(reference, arguments))
    if not found:
        raise Declined("no case has values to look at")
    tried = set()
    for arguments in variations(reference, list(found)):
        key = repr([(n, describe(v), getattr(v, "shape", None)) for n, v in arguments.items()])
        if key in tried or len(found) >= LIMIT or any(covers(t, arguments) for t in found):
            continue
        tried.add(key)
        try:
            traced = trace(reference, arguments)
        except Exception:  # a call that the operator does not accept
            continue
        traced.needed = False
        found.append(traced)
    return found


def _visible(reference: Reference, arguments: Arguments) -> Traced:
    try:
        return trace(reference, arguments)
    except Declined:
        raise
    except Exception as error:  # whatever a foreign function does under tracing
        first = next(iter(str(error).splitlines()), type(error).__name__)
        raise Declined(f"the reference cannot be traced: {first}") from error


def trace(reference: Reference, arguments: Arguments) -> Traced:
    """Traces one call, follows its numbers, and observes its output dtypes."""
    pool = Pool()
    base = capture(reference, arguments, pool)
    numbers = [n for n, v in arguments.items() if is_number(v)]
    followed: set[str] = set()
    outputs = base.outputs
    # All at once is the usual case; one by one where some number decides the structure.
    for group in [numbers, *([n] for n in numbers)]:
        if set(group) - followed:
            merged = follow(reference, arguments, group, pool, outputs)
            if merged is not None:
                outputs, followed = merged, followed | set(group)
    loose = followed | base.free | {n for n, v in arguments.items() if _by_kind(v)}
    return Traced(arguments, outputs, base.sizes, frozenset(arguments) - loose, base.conditions, observe(reference, arguments))


def _by_kind(value: Any) -> bool:
    """Whether a value matters by kind only: tensors, absence, dtypes."""
    if isinstance(value, (list, tuple)):
        return all(isinstance(v, torch.Tensor) for v in value)
    return value is None or isinstance(value, (torch.Tensor, torch.dtype))


@dataclass
class Captured:
    outputs: tuple[Node, ...]
    sizes: dict[str, list[str]]
    free: set[str]
    """Lists of whole numbers that turned out to be sizes."""
    conditions: tuple[str, ...]


def capture(reference: Reference, arguments: Arguments, pool: Pool) -> Captured:
    """The lowered graph of one call."""
    lists = [n for n, v in arguments.items() if is_list(v) and min(v) > 1]
    if lists:
        try:
            captured = _capture(reference, arguments, pool, lists)
            if captured.free:
                return captured
        except Exception:  # these lists are not sizes
            pass
    return _capture(reference, arguments, pool, [])


def _capture(reference: Reference, arguments: Arguments, pool: Pool, lists: list[str]) -> Captured:
    """Traces with every size symbolic; `lists` are given as the symbolic shapes of stand-in tensors."""
    env = ShapeEnv(duck_shape=False)
    mode = FakeTensorMode(shape_env=env)
    fakes = {n: _fake(mode, canonical(t)) for n, t in tensors(arguments).items()}
    shapes = {n: _fake(mode, torch.empty(tuple(arguments[n]))) for n in lists}
    constant = {n: torch.float32 for n, v in arguments.items() if isinstance(v, torch.dtype) and v.is_floating_point}

    def call(*given: torch.Tensor) -> Any:
        values = dict(zip([*fakes, *shapes], given, strict=True))
        listed = {n: type(arguments[n])(values.pop(n).shape) for n in lists}
        return reference(**replaced(arguments | constant | listed, values))

    with torch.no_grad(), quiet():
        module = make_fx(call, decomposition_table=decompositions(), tracing_mode="symbolic")(*fakes.values(), *shapes.values())
    namer = SizeNames(env)
    for name, fake in fakes.items():
        namer.add(name, fake, f"{name}.size({{}})")
    for name, fake in shapes.items():
        namer.add(name, fake, f"{name}[{{}}]")
    outputs = Lowering(pool, namer.size, [*fakes, *shapes], module).run()
    free = {n for n, fake in shapes.items() if not any(isinstance(namer.size(s), int) for s in fake.shape)}
    return Captured(outputs, namer.sources, free, namer.conditions())


@cache
def decompositions() -> dict[Any, Callable[..., Any]]:
    return dict(torch._decomp.core_aten_decompositions()) | dict(torch._decomp.get_decompositions(COMPOSITES))


def _fake(mode: FakeTensorMode, tensor: torch.Tensor) -> torch.Tensor:
    return mode.from_tensor(tensor, symbolic_context=StatelessSymbolicContext(dynamic_sizes=[DimDynamic.DYNAMIC] * tensor.dim()))


def canonical(tensor: torch.Tensor) -> torch.Tensor:
    """A fresh contiguous tensor of the same kind: floats as fp32, so that one graph holds for every floating dtype."""
    return torch.empty(tensor.shape, dtype=torch.float32 if tensor.dtype.is_floating_point else tensor.dtype)


class SizeNames:
    """Gives symbolic sizes readable names, one per independent size, and knows where the wrapper finds each."""

    def __init__(self, env: ShapeEnv):
        self.env = env
        self.names: dict[Any, str] = {}
        self.sources: dict[str, list[str]] = {}

    def add(self, name: str, fake: torch.Tensor, source: str) -> None:
        for d, n in enumerate(fake.shape):
            symbol = None if isinstance(n, int) else self.env.simplify(n.node.expr)
            if symbol is not None and symbol.is_Symbol:
                plain = re.sub(r"\W+", "_", name).strip("_")
                chosen = self.names.setdefault(symbol, f"n_{plain}_{d}")
                self.sources.setdefault(chosen, []).append(source.format(d))

    def size(self, value: Any) -> Size:
        if isinstance(value, int):
            return value
        if isinstance(value, float):
            return repr(value)
        expr = self.env.simplify(value.node.expr)
        return int(expr) if expr.is_Integer else self.text(expr)

    def text(self, expr: Any) -> str:
        """A function of sizes in Python."""
        text = str(expr.xreplace({s: sympy.Symbol(n) for s, n in self.names.items()}))
        for theirs, ours in SPELLINGS.items():
            text = text.replace(theirs, ours)
        text = re.sub(r"^float\(([\w*]+)\)$", r"\1", text)
        unknown = set(re.findall(r"[A-Za-z_]\w*", text)) - set(self.sources) - KNOWN
        if unknown:
            raise Declined(f"a size depends on {', '.join(sorted(unknown))}")
        return text

    def conditions(self) -> tuple[str, ...]:
        """Inequalities between sizes and numbers above 2 that decided how the reference went on; smaller numbers are torch's own."""
        found = []
        for guard in self.env.guards:
            expr = self.env.simplify(guard.expr)
            bounds = [int(a) for a in expr.atoms(sympy.Integer)]
            if isinstance(expr, (sympy.Lt, sympy.Le, sympy.Gt, sympy.Ge)) and max(bounds, default=0) > 2:
                found.append(self.text(expr))
        return tuple(dict.fromkeys(found))


def follow(reference: Reference, arguments: Arguments, names: list[str], pool: Pool, base: tuple[Node, ...]) -> tuple[Node, ...] | None:
    """The graph with constants that move with `names` replaced by expressions of them; None where its structure depends on the values."""
    points, graphs = [arguments], [base]
    try:
        for step in (0, 1):
            # Each number is moved by its own amount, so that what follows one is not taken for what follows another.
            values = {n: moved(arguments[n], step) + type(arguments[n])(i * (1 + step)) for i, n in enumerate(names)}
            points.append(arguments | values)
            graphs.append(capture(reference, points[-1], pool).outputs)
        follower = Follower(pool, names, points)
        return tuple(follower.merge(nodes) for nodes in zip(*graphs, strict=True))
    except Exception:  # such a value is not accepted, or changes the graph
        return None


class Follower:
    """Merges graphs of the same structure, traced at `points` that differ in the parameters `names`."""

    FORMS: dict[str, Callable[[Any], Any]] = {
        "{}": lambda v: v, "(-{})": lambda v: -v, "(1 / {})": lambda v: 1 / v, "(1 - {})": lambda v: 1 - v, "({} * {})": lambda v: v * v,
        "(1 + {})": lambda v: 1 + v, "(2 * {})": lambda v: 2 * v, "(0.5 * {})": lambda v: 0.5 * v, "(-1 / {})": lambda v: -1 / v,
        "(0.5 * {} * {})": lambda v: 0.5 * v * v, "(0.5 / {})": lambda v: 0.5 / v,
    }  # fmt: skip

    def __init__(self, pool: Pool, names: list[str], points: list[Arguments]):
        self.pool, self.names, self.points = pool, names, points
        self.memo: dict[tuple[Node, ...], Node] = {}

    def merge(self, nodes: tuple[Node, ...]) -> Node:
        if nodes not in self.memo:
            self.memo[nodes] = self._merge(nodes)
        return self.memo[nodes]

    def _merge(self, nodes: tuple[Node, ...]) -> Node:
        first = nodes[0]
        if all(n is first for n in nodes):
            return first
        if all(n.op == "const" for n in nodes):
            return self.pool.node("scalar", kind=first.kind, name=self.expression([n.value for n in nodes]))
        if len({(n.op, n.shape, n.kind, n.name, n.dims, len(n.args)) for n in nodes}) > 1:
            raise Declined("the graph depends on the number")
        args = [self.merge(parts) for parts in zip(*(n.args for n in nodes), strict=True)]
        return self.pool.node(first.op, *args, shape=first.shape, kind=first.kind, name=first.name, dims=first.dims, value=first.value)

    def expression(self, values: list[Any]) -> str:
        """A short expression of one parameter that gives `values` at every point."""
        for name in self.names:
            given = [p[name] for p in self.points]
            for text, form in self.FORMS.items():
                if all((v or "/" not in text) and _same(form(v), value) for v, value in zip(given, values, strict=True)):
                    return text.replace("{}", name)
        raise Declined("a constant follows no simple expression of a parameter")


def _same(a: Any, b: Any) -> bool:
    """Equal, or as equal as fp32 can tell: some references round their numbers."""
    return bool(a == b) or (isinstance(a, float) and math.isclose(a, b, rel_tol=2e-7))
