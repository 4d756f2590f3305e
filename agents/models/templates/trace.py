"""Reads operators: traces a reference for each way it is called, with sizes and numbers left free where the mathematics allows it."""

import inspect
import logging
import math
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv, StatelessSymbolicContext

from agents.models.templates.graph import Declined, Node, Pool, Size, walk
from agents.models.templates.lower import Lowering, kind_of

Arguments = dict[str, Any]
ATEN = torch.ops.aten
COMPOSITES = (
    ATEN.gelu, ATEN.silu, ATEN.native_layer_norm, ATEN._softmax, ATEN._log_softmax, ATEN.nll_loss_forward, ATEN.nll_loss2d_forward, ATEN.var_mean,
    ATEN.addmm, ATEN.addmv, ATEN.baddbmm, ATEN.mse_loss, ATEN._fused_rms_norm, ATEN.var, ATEN.std, ATEN.logsumexp, ATEN.leaky_relu, ATEN.elu,
    ATEN.hardtanh, ATEN.native_group_norm, ATEN.linalg_vector_norm, ATEN.norm, ATEN.softplus, ATEN.mish, ATEN.smooth_l1_loss, ATEN.huber_loss,
)  # fmt: skip
FACTORS = ((1.37, 0.11), (2.21, 0.83))
"""How a number is moved to see what follows it."""


@dataclass(frozen=True)
class Observed:
    """The dtypes of one call's outputs, beside those of its arguments."""

    dtypes: dict[str, torch.dtype | None]
    outputs: tuple[torch.dtype, ...]


@dataclass
class Traced:
    """One way of calling the operator, as a graph that holds for every size and every followed number."""

    arguments: Arguments
    outputs: tuple[Node, ...]
    sizes: dict[str, list[str]]
    """Name of a size -> the wrapper's expressions that all give it."""
    exact: frozenset[str]
    """Parameters whose value the graph depends on; the others matter by kind only."""
    observed: list[Observed] = field(default_factory=list)
    needed: bool = True
    """Whether a visible case calls the operator so; else the pattern is a guess at inputs not shown."""


def read(reference: Callable[..., Any], calls: list[Arguments], limit: int = 200) -> list[Traced]:
    """Every pattern of `calls`, and of their variations, that could be traced. Raises `Declined` when a call itself cannot be."""
    found: list[Traced] = []
    for arguments in calls:
        if all(t.numel() for t in tensors(arguments).values()) and not any(covers(t, arguments) for t in found):
            found.append(_visible(reference, arguments))
    if not found:
        raise Declined("no case has values to look at")
    tried = set()
    for arguments in variations(reference, list(found)):
        key = repr((pattern(arguments), [t.shape for t in tensors(arguments).values()]))
        if key in tried or len(found) >= limit or any(covers(t, arguments) for t in found):
            continue
        tried.add(key)
        try:
            traced = trace(reference, arguments)
        except Exception:  # noqa: BLE001  a call that the operator does not accept
            continue
        traced.needed = False
        found.append(traced)
    return found


def _visible(reference: Callable[..., Any], arguments: Arguments) -> Traced:
    try:
        return trace(reference, arguments)
    except Declined:
        raise
    except Exception as error:  # noqa: BLE001  whatever a foreign function does under tracing
        raise Declined(f"the reference cannot be traced: {str(error).splitlines()[0] if str(error) else type(error).__name__}") from error


def covers(traced: Traced, arguments: Arguments) -> bool:
    """Whether a pattern already holds for a call."""
    free = elementwise(traced.outputs)
    for name, value in arguments.items():
        known = traced.arguments[name]
        if name in traced.exact:
            if describe(known) != describe(value):
                return False
        elif _outline(known, free) != _outline(value, free):
            return False
    return True


def _outline(value: Any, free: bool) -> Any:
    """A value's kind; of a tensor also rank and unit dims, unless the pattern is free of them."""
    if isinstance(value, torch.Tensor):
        return kind_of(value.dtype) if free else describe(value)
    if isinstance(value, (list, tuple)):
        return tuple(_outline(v, free) for v in value)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return "number"
    return describe(value)


def complete(reference: Callable[..., Any], arguments: Arguments) -> Arguments:
    """The call's arguments with the defaults of those left out."""
    bound = inspect.signature(reference).bind(**arguments)
    bound.apply_defaults()
    return dict(bound.arguments)


def tensors(arguments: Arguments) -> dict[str, torch.Tensor]:
    """The tensors of a call by the expression that reaches them."""
    found = {}
    for name, value in arguments.items():
        if isinstance(value, torch.Tensor):
            found[name] = value
        elif isinstance(value, (list, tuple)):
            found |= {f"{name}[{i}]": v for i, v in enumerate(value) if isinstance(v, torch.Tensor)}
    return found


def describe(value: Any) -> Any:
    """What of a value a pattern keeps: kind, rank and unit dims of a tensor, the value of anything else."""
    if isinstance(value, torch.Tensor):
        return kind_of(value.dtype), tuple(n == 1 for n in value.shape)
    if isinstance(value, torch.dtype):
        return "f" if value.is_floating_point else str(value)
    if isinstance(value, (list, tuple)):
        return tuple(describe(v) for v in value)
    return type(value).__name__, value


def pattern(arguments: Arguments) -> tuple[Any, ...]:
    return tuple((name, describe(value)) for name, value in arguments.items())


def trace(reference: Callable[..., Any], arguments: Arguments) -> Traced:
    """Traces one call, follows its numbers, and observes its output dtypes."""
    numbers = [n for n, v in arguments.items() if isinstance(v, (int, float)) and not isinstance(v, bool)]
    pool = Pool()
    base, sizes, tied = capture(reference, arguments, pool)
    listed = {n for n, v in arguments.items() if isinstance(v, (list, tuple)) and v and all(isinstance(i, int) for i in v)}
    followed: set[str] = set()
    groups = [numbers] if len(numbers) < 2 else [numbers, *([n] for n in numbers)]
    for group in groups:
        if not group or followed:
            if not group or set(group) <= followed:
                continue
        merged = follow(reference, arguments, group, pool, base)
        if merged is not None:
            base, followed = merged, followed | set(group)
    exact = frozenset(n for n, v in arguments.items() if not _loose(v) and n not in followed and n not in (listed & tied))
    return Traced(arguments, base, sizes, exact, observe(reference, arguments))


def _loose(value: Any) -> bool:
    """Whether a value matters by kind only: tensors, absence, dtypes."""
    return value is None or isinstance(value, (torch.Tensor, torch.dtype)) or (isinstance(value, (list, tuple)) and all(isinstance(v, torch.Tensor) for v in value))


def capture(reference: Callable[..., Any], arguments: Arguments, pool: Pool) -> tuple[tuple[Node, ...], dict[str, list[str]], set[str]]:
    """The lowered graph, its sizes by name, and the integer lists that turned out to be sizes."""
    lists = [n for n, v in arguments.items() if isinstance(v, (list, tuple)) and v and all(type(i) is int and i > 1 for i in v)]
    if lists:
        try:
            outputs, sizes, free = _capture(reference, arguments, pool, lists)
            if free:
                return outputs, sizes, free
        except Exception:  # noqa: BLE001  these lists are not sizes
            pass
    outputs, sizes, _ = _capture(reference, arguments, pool, [])
    return outputs, sizes, set()


def _capture(reference: Callable[..., Any], arguments: Arguments, pool: Pool, lists: list[str]) -> tuple[tuple[Node, ...], dict[str, list[str]], set[str]]:
    env = ShapeEnv(duck_shape=False)  # type: ignore[no-untyped-call]
    mode = FakeTensorMode(shape_env=env)
    names, fakes = [], []
    for name, tensor in tensors(arguments).items():
        names.append(name)
        fakes.append(_fake(mode, canonical(tensor)))
    shapes = [_fake(mode, torch.empty(tuple(arguments[n]))) for n in lists]

    def call(*given: torch.Tensor) -> Any:
        values = dict(zip(names, given, strict=False))
        return reference(**{n: _substitute(n, v, values, dict(zip(lists, given[len(names) :], strict=True))) for n, v in arguments.items()})

    with torch.no_grad(), quiet():
        module = make_fx(call, decomposition_table=decompositions(), tracing_mode="symbolic")(*fakes, *shapes)
    namer = SizeNames(env)
    for name, fake in zip(names, fakes, strict=True):
        namer.add(fake, lambda d, name=name: f"{name}.size({d})", name)
    for name, fake in zip(lists, shapes, strict=True):
        namer.add(fake, lambda d, name=name: f"{name}[{d}]", name)
    lowering = Lowering(pool, namer.size, [*names, *lists], module)
    outputs = lowering.run()
    free = {n for n, fake in zip(lists, shapes, strict=True) if all(not isinstance(namer.size(s), int) for s in fake.shape)}
    return outputs, namer.sources, free


@contextmanager
def quiet() -> Iterator[None]:
    """Keeps torch from logging calls that it refuses: trying them is how the author learns what an operator accepts."""
    logger = logging.getLogger("torch._subclasses.fake_tensor")
    was, logger.disabled = logger.disabled, True
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.disabled = was


@cache
def decompositions() -> dict[Any, Callable[..., Any]]:
    return dict(torch._decomp.core_aten_decompositions()) | torch._decomp.get_decompositions(COMPOSITES)


def _fake(mode: FakeTensorMode, tensor: torch.Tensor) -> torch.Tensor:
    return mode.from_tensor(tensor, symbolic_context=StatelessSymbolicContext(dynamic_sizes=[DimDynamic.DYNAMIC] * tensor.dim()))


def canonical(tensor: torch.Tensor) -> torch.Tensor:
    """A fresh contiguous tensor of the same kind: floats as fp32, so that one graph holds for every floating dtype."""
    dtype = torch.float32 if tensor.dtype.is_floating_point else tensor.dtype
    return torch.empty(tensor.shape, dtype=dtype)


def _substitute(name: str, value: Any, given: dict[str, torch.Tensor], shapes: dict[str, torch.Tensor]) -> Any:
    if name in given:
        return given[name]
    if name in shapes:
        return type(value)(shapes[name].shape)
    if isinstance(value, (list, tuple)):
        return type(value)(given.get(f"{name}[{i}]", v) for i, v in enumerate(value))
    if isinstance(value, torch.dtype) and value.is_floating_point:
        return torch.float32
    return value


class SizeNames:
    """Gives symbolic sizes readable names, one per independent size, and knows where the wrapper finds each."""

    def __init__(self, env: ShapeEnv):
        self.env = env
        self.names: dict[Any, str] = {}
        self.sources: dict[str, list[str]] = {}

    def add(self, fake: torch.Tensor, source: Callable[[int], str], name: str) -> None:
        for d, n in enumerate(fake.shape):
            if isinstance(n, int):
                continue
            symbol = self.env.simplify(n.node.expr)
            if not getattr(symbol, "is_Symbol", False):
                continue
            chosen = self.names.setdefault(symbol, f"n_{re.sub(r'[^0-9a-zA-Z]+', '_', name).strip('_')}_{d}")
            self.sources.setdefault(chosen, []).append(source(d))

    def size(self, value: Any) -> Size:
        if isinstance(value, (int, float)):
            return int(value) if isinstance(value, int) else repr(value)
        import sympy

        expr = self.env.simplify(value.node.expr)
        if expr.is_Integer:
            return int(expr)
        text = str(expr.xreplace({s: sympy.Symbol(n) for s, n in self.names.items()}))
        for theirs, ours in (("FloatPow(", "pow("), ("ToFloat(", "float("), ("IntTrueDiv(", "truediv("), ("FloatTrueDiv(", "truediv("),
                             ("OpaqueUnaryFn_sqrt(", "math.sqrt("), ("Max(", "max("), ("Min(", "min(")):  # fmt: skip
            text = text.replace(theirs, ours)
        text = re.sub(r"^float\(([\w*]+)\)$", r"\1", text)
        unknown = set(re.findall(r"[A-Za-z_]\w*", text)) - set(self.sources) - {"pow", "float", "truediv", "math", "sqrt", "max", "min"}
        if unknown:
            raise Declined(f"a size depends on {', '.join(sorted(unknown))}")
        return text


def _moved(value: Any, factor: tuple[float, float]) -> Any:
    if isinstance(value, int):
        return abs(value) + (3 if factor is FACTORS[0] else 8)
    return value * factor[0] + factor[1]


def follow(reference: Callable[..., Any], arguments: Arguments, names: list[str], pool: Pool, base: tuple[Node, ...]) -> tuple[Node, ...] | None:
    """The graph with the constants that move with `names` replaced by expressions of them; None where the structure itself depends on the values."""
    points = [arguments]
    graphs = [base]
    try:
        for factor in FACTORS:
            # Each number is moved by its own amount, so that what follows one is not taken for what follows another.
            moved = {n: _moved(arguments[n], factor) + (i if isinstance(arguments[n], int) else i * 0.0713) for i, n in enumerate(names)}
            points.append(arguments | moved)
            graphs.append(capture(reference, points[-1], pool)[0])
        return Follower(pool, names, points).merge_all(graphs)
    except Exception:  # noqa: BLE001  such a value is not accepted, or changes the graph
        return None


class Follower:
    def __init__(self, pool: Pool, names: list[str], points: list[Arguments]):
        self.pool, self.names, self.points = pool, names, points
        self.memo: dict[tuple[int, ...], Node] = {}

    def merge_all(self, graphs: list[tuple[Node, ...]]) -> tuple[Node, ...]:
        return tuple(self.merge(nodes) for nodes in zip(*graphs, strict=True))

    def merge(self, nodes: tuple[Node, ...]) -> Node:
        key = tuple(id(n) for n in nodes)
        if key not in self.memo:
            self.memo[key] = self._merge(nodes)
        return self.memo[key]

    def _merge(self, nodes: tuple[Node, ...]) -> Node:
        first = nodes[0]
        if all(n is first for n in nodes):
            return first
        if all(n.op == "const" for n in nodes):
            return self.pool.node("scalar", kind=first.kind, name=self.expression([n.value for n in nodes]))
        if any((n.op, n.shape, n.kind, n.name, n.dims, len(n.args)) != (first.op, first.shape, first.kind, first.name, first.dims, len(first.args)) for n in nodes):
            raise Declined("the graph depends on the number")
        args = [self.merge(parts) for parts in zip(*(n.args for n in nodes), strict=True)]
        return self.pool.node(first.op, *args, shape=first.shape, kind=first.kind, name=first.name, dims=first.dims, value=first.value)

    def expression(self, values: list[Any]) -> str:
        """A short expression of one parameter that gives `values` at every point."""
        forms: dict[str, Callable[[Any], Any]] = {
            "{}": lambda v: v, "-{}": lambda v: -v, "1 / {}": lambda v: 1 / v, "1 - {}": lambda v: 1 - v, "{} * {}": lambda v: v * v,
            "1 + {}": lambda v: 1 + v, "2 * {}": lambda v: 2 * v, "0.5 * {}": lambda v: 0.5 * v, "-1 / {}": lambda v: -1 / v,
            "0.5 * {} * {}": lambda v: 0.5 * v * v, "0.5 / {}": lambda v: 0.5 / v,
        }  # fmt: skip
        for name in self.names:
            given = [p[name] for p in self.points]
            for text, form in forms.items():
                if all((v or "/" not in text) and _same(form(v), value) for v, value in zip(given, values, strict=True)):
                    return f"({text})".replace("{}", name) if text != "{}" else name
        raise Declined("a constant follows no simple expression of a parameter")


def _same(a: Any, b: Any) -> bool:
    """Equal, or as equal as fp32 can tell: some references round their numbers."""
    return a == b or (isinstance(a, float) and math.isclose(a, b, rel_tol=2e-7))


def variations(reference: Callable[..., Any], traced: list[Traced]) -> Iterator[Arguments]:
    """Calls near the known ones: other ranks, dims, flags and absent options, for inputs not shown."""
    defaults = {n: p.default for n, p in inspect.signature(reference).parameters.items() if p.default is not inspect.Parameter.empty}
    bases = [t.arguments for t in traced]
    frontier = list(bases)
    for arguments in bases:
        for name, default in defaults.items():
            if default is None and arguments[name] is not None:
                frontier.append(arguments | {name: None})
            elif describe(default) != describe(arguments[name]):
                frontier.append(arguments | {name: default})
    for arguments in list(frontier):
        frontier += [arguments | {n: not v} for n, v in arguments.items() if isinstance(v, bool)]
    for t in traced:
        number = [n for n in t.exact if isinstance(t.arguments[n], (int, float)) and not isinstance(t.arguments[n], bool)]
        frontier += [t.arguments | {n: _moved(t.arguments[n], FACTORS[0])} for n in number]
    if not all(elementwise(t.outputs) for t in traced):
        plain = [a for a in bases if not any(1 in t.shape for t in tensors(a).values())]
        frontier += [changed for arguments in plain or bases for changed in ranked(arguments)]
    for arguments in frontier:
        yield arguments
        rank = max((t.dim() for t in tensors(arguments).values()), default=0)
        for name, value in arguments.items():
            if type(value) is int and -5 < value < 5 and any(name in t.exact for t in traced):
                yield from (arguments | {name: d} for d in range(-rank, rank))


def ranked(arguments: Arguments) -> Iterator[Arguments]:
    """The call with its highest tensors given or taken leading dims; of two tensors, also each by itself."""
    found = {n: t for n, t in tensors(arguments).items() if "[" not in n}
    top = max((t.dim() for t in found.values()), default=0)
    for rank in range(1, 5):
        if top and rank != top:
            yield arguments | {n: _of_rank(t, rank) for n, t in found.items() if t.dim() == top}
    if len(found) == 2:
        (a, first), (b, second) = found.items()
        yield from (arguments | {a: x, b: y} for x in _shapes(first) for y in _shapes(second))


def _of_rank(tensor: torch.Tensor, rank: int) -> torch.Tensor:
    """With leading dims of sizes 2, 3, ... added, or leading dims dropped."""
    if rank >= tensor.dim():
        return tensor.expand(*range(2, 2 + rank - tensor.dim()), *tensor.shape)
    return tensor[(0,) * (tensor.dim() - rank)]


def _shapes(tensor: torch.Tensor) -> Iterator[torch.Tensor]:
    yield from (_of_rank(tensor, rank) for rank in range(1, 5))
    if tensor.dim() > 1:
        yield tensor[..., 0]


def elementwise(outputs: tuple[Node, ...]) -> bool:
    """Whether the graph is pointwise with nothing but broadcasting, so that it holds for every rank."""
    nodes = walk(outputs)
    return all(n.op in ("point", "const", "scalar", "input") or _repeats(n) for n in nodes) and len({o.shape for o in outputs}) == 1 and all(
        o.op == "point" for o in outputs
    )


def _repeats(node: Node) -> bool:
    """Whether a view is that of a constant: it holds for every rank."""
    return node.op == "view" and node.args[0].op in ("const", "scalar")


def observe(reference: Callable[..., Any], arguments: Arguments) -> list[Observed]:
    """Output dtypes for the floating and integer dtypes that the call could meet."""
    floats = (torch.float16, torch.float64)
    trials: list[dict[str, torch.dtype]] = [{}]
    found = tensors(arguments)
    floating = [n for n, t in found.items() if t.dtype.is_floating_point]
    whole = [n for n, t in found.items() if kind_of(t.dtype) == "i"]
    trials += [dict.fromkeys(floating, d) for d in floats if floating] + [dict.fromkeys(whole, d) for d in (torch.int32, torch.int64) if whole]
    trials += [dict.fromkeys(floating, torch.float16) | {n: torch.float32} for n in floating] if len(floating) > 1 else []
    options = [n for n, v in arguments.items() if isinstance(v, torch.dtype) and v.is_floating_point]
    asked = [dict.fromkeys(options, d) for d in floats] if options else [{}]
    results = []
    for trial in trials:
        for option in asked:
            seen = _observe(reference, arguments, trial, option)
            if seen is not None:
                results.append(seen)
    return results


def _observe(reference: Callable[..., Any], arguments: Arguments, dtypes: dict[str, torch.dtype], options: dict[str, torch.dtype]) -> Observed | None:
    given = {n: t.to(dtypes.get(n, t.dtype)) for n, t in tensors(arguments).items()}
    call = {n: _replaced(n, v, given) for n, v in arguments.items()} | options
    mixed = len({t.dtype for t in given.values() if t.dtype.is_floating_point}) > 1
    try:
        # Fake tensors let mixtures through that operators refuse.
        with torch.no_grad(), quiet(), nullcontext() if mixed else FakeTensorMode(allow_non_fake_inputs=True) as mode:
            out = reference(**{n: v if mixed else _faked(v, mode) for n, v in call.items()})
    except Exception:  # noqa: BLE001  such a mixture of dtypes is not accepted
        return None
    flat = out if isinstance(out, (tuple, list)) else (out,)
    kinds = {n: t.dtype for n, t in given.items()} | {n: call[n] for n, v in arguments.items() if isinstance(v, torch.dtype)}
    return Observed(kinds, tuple(o.dtype for o in flat))


def _replaced(name: str, value: Any, given: dict[str, torch.Tensor]) -> Any:
    if name in given:
        return given[name]
    if isinstance(value, (list, tuple)):
        return type(value)(given.get(f"{name}[{i}]", v) for i, v in enumerate(value))
    return value


def _faked(value: Any, mode: FakeTensorMode) -> Any:
    if isinstance(value, torch.Tensor):
        return mode.from_tensor(value)
    if isinstance(value, (list, tuple)):
        return type(value)(_faked(v, mode) for v in value)
    return value
