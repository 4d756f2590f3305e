"""The launches of a module, read from its text: which literals decide block sizes, programs, warps and stages, and what goes together.

Nothing is executed: a value counts where the syntax tree leads from a launch `kernel[grid](...)`, a default of a constexpr, or a
`triton.Config` back to a literal, or from a launch to a constant at the head of the module that it is computed from. Other
computed values (`triton.next_power_of_2(n)`, `min(n, 64)`) are left alone.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from agents.syntax import HOPS, Number, bound, called, calls, defaults, parse, values

Kind = Literal["block", "programs", "warps", "stages"]
OPTIONS: dict[str, tuple[Kind, int]] = {"num_warps": ("warps", 4), "num_stages": ("stages", 3)}
"""Options of every launch, and what Triton takes where they are not given (stages: on most targets)."""
BLOCKS = re.compile(r"block|tile|chunk", re.IGNORECASE)
"""Constexpr parameters that are block sizes by their names, wherever the kernel uses them."""
SMALL = 8
"""Numbers of a grid below it may be anything: a stride, a padding, a count."""


@dataclass(frozen=True)
class Span:
    """Bytes of the UTF-8 source that a value replaces."""

    start: int
    end: int
    before: str = ""
    after: str = ""
    """What goes around the value, where none is written yet."""
    less: int = 0
    """The text is the value less this: 1 for the first number of `(n + 1023) // 1024`."""


@dataclass(frozen=True)
class Kernel:
    """A function under `triton.jit`, as far as its launches are concerned."""

    node: ast.FunctionDef

    @property
    def name(self) -> str:
        return self.node.name

    @cached_property
    def parameters(self) -> list[ast.arg]:
        return [*self.node.args.posonlyargs, *self.node.args.args]

    @cached_property
    def defaults(self) -> dict[str, ast.expr]:
        given, last = defaults(self.node.args), {a.arg for a in (*self.parameters, *self.node.args.kwonlyargs)}
        return {name: value for name, value in given.items() if name in last}

    @cached_property
    def calls(self) -> list[ast.Call]:
        return [node for node in ast.walk(self.node) if isinstance(node, ast.Call)]

    @cached_property
    def configured(self) -> bool:
        """By `autotune` or `heuristics`: its options are not the launch's to give."""
        return any(called(d) in ("autotune", "heuristics") for d in self.node.decorator_list)

    @cached_property
    def blocks(self) -> set[str]:
        """Constexpr parameters that shape a tile or step a loop."""
        every = (*self.parameters, *self.node.args.kwonlyargs)
        constant = {a.arg for a in every if a.annotation and "constexpr" in ast.unparse(a.annotation)}
        return {name for name in constant if BLOCKS.search(name) or name in self.shaping}

    @cached_property
    def shaping(self) -> set[str]:
        shapes: list[ast.expr] = []
        for call in self.calls:
            shapes += {"arange": call.args[1:2], "zeros": call.args[:1], "full": call.args[:1], "range": call.args[2:3]}.get(
                called(call), []
            )
        return {node.id for shape in shapes for node in ast.walk(shape) if isinstance(node, ast.Name)}

    @cached_property
    def multiplies(self) -> bool:
        return any(called(call) == "dot" for call in self.calls)

    @cached_property
    def loops(self) -> bool:
        return any(isinstance(node, ast.For | ast.While) for node in ast.walk(self.node))

    @cached_property
    def persistent(self) -> bool:
        return any(called(call) == "num_programs" for call in self.calls)

    def given(self, call: ast.Call) -> Iterator[tuple[str, ast.expr]]:
        """The arguments of a launch by parameter; after `*shape` they are counted from the end, where nothing is left to a default."""
        names = [a.arg for a in self.parameters]
        keywords = {k.arg: k.value for k in call.keywords if k.arg}
        starred = [n for n, arg in enumerate(call.args) if isinstance(arg, ast.Starred)]
        first = starred[0] if starred else len(call.args)
        yield from zip(names, call.args[:first], strict=False)
        rest = [name for name in names[first:] if name not in keywords]
        if starred and not any(name in self.defaults for name in rest):
            tail = call.args[starred[-1] + 1 :]
            yield from zip(rest[max(0, len(rest) - len(tail)) :], tail, strict=False)
        yield from keywords.items()


@dataclass(frozen=True)
class Site:
    """One literal that a launch depends on."""

    name: str
    kind: Kind
    value: int
    span: Span
    kernel: Kernel | None
    """None for an entry of a `triton.Config`, and where the kernel is not of this module."""
    entry: bool = False
    """Of a `triton.Config`, among which Triton's own tuner chooses."""


def rounding(node: ast.AST, scopes: tuple[ast.AST, ...], hops: int = HOPS) -> Iterator[Number]:
    """The whole numbers that a grid divides by, and those in what it divides: of `triton.cdiv(n, 1024)`, of `(n + 1023) // 1024`."""
    for part in ast.walk(node):
        if isinstance(part, ast.Call) and called(part) == "cdiv":
            yield from (number for divisor in part.args[1:2] for number in values(divisor, scopes))
        elif isinstance(part, ast.BinOp) and isinstance(part.op, ast.FloorDiv):
            yield from values(part.right, scopes)
            yield from (number for inner in ast.walk(part.left) if isinstance(inner, ast.Constant) for number in values(inner, scopes))
        elif isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load) and hops:
            for value in bound(part.id, scopes):
                yield from rounding(value, scopes, hops - 1)


class Module:
    """A parsed source. Raises SyntaxError, ValueError or RecursionError where it is none."""

    def __init__(self, source: str):
        self.text = source.encode()
        self.tree = parse(source)
        self.starts = [0]
        for line in self.text.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        jitted = (n for n in ast.walk(self.tree) if isinstance(n, ast.FunctionDef) and any(called(d) == "jit" for d in n.decorator_list))
        self.kernels = {node.name: Kernel(node) for node in jitted}
        self.functions = {n.name: n for n in self.tree.body if isinstance(n, ast.FunctionDef) and n.name not in self.kernels}
        single = (n for n in self.tree.body if isinstance(n, ast.Assign) and isinstance(n.targets[0], ast.Name))
        self.constants = {id(n.value): n.targets[0].id for n in single if isinstance(n.targets[0], ast.Name) and n.targets[0].id.isupper()}

    def ends(self, node: ast.expr) -> tuple[int, int]:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self.starts[node.lineno - 1] + node.col_offset, self.starts[node.end_lineno - 1] + node.end_col_offset

    def groups(self) -> list[list[Site]]:
        """All sites, those that must change together in one group, by the order of the text."""
        group: dict[Span, list[Site]] = {}
        for sites in self.together():
            known = [member for site in sites for member in group.get(site.span, [])]
            merged = list({site.span: site for site in (*sites, *known)}.values())
            group |= {site.span: merged for site in merged}
        distinct = {id(sites): sorted(sites, key=start) for sites in group.values()}
        return sorted((g for g in distinct.values() if len({site.value for site in g}) == 1), key=lambda g: start(g[0]))

    def together(self) -> Iterator[list[Site]]:
        """Sites that one launch binds together; what they share with other launches binds those too."""
        for node, scopes in calls(self.tree, ()):
            if called(node) == "Config" and node.args and isinstance(node.args[0], ast.Dict):
                yield from self.configuration(node, node.args[0])
            elif isinstance(node.func, ast.Subscript):
                yield from self.launch(node, node.func, scopes)

    def configuration(self, call: ast.Call, blocks: ast.Dict) -> Iterator[list[Site]]:
        keys = zip(blocks.keys, blocks.values, strict=True)
        entries = {str(k.value): value for k, value in keys if isinstance(k, ast.Constant) and BLOCKS.search(str(k.value))}
        for name, value in (entries | {k.arg: k.value for k in call.keywords if k.arg in OPTIONS}).items():
            yield from ([replace(site, name=f"Config.{name}", entry=True)] for site in self.sites(name, value, (), None))

    def launch(self, call: ast.Call, target: ast.Subscript, scopes: tuple[ast.AST, ...]) -> Iterator[list[Site]]:
        kernel = self.kernels.get(called(target.value))
        given = dict(kernel.given(call)) if kernel else {k.arg: k.value for k in call.keywords if k.arg}
        if kernel is None and not set(given) & set(OPTIONS) and all(k.arg for k in call.keywords):
            return  # An ordinary call of an element of something.
        blocks = kernel.blocks if kernel else {name for name in given if BLOCKS.search(name)}
        sites = [site for name in given if name in blocks for site in self.sites(name, given[name], scopes, kernel)]
        for name in sorted(blocks - set(given)) if kernel else ():
            sites += self.sites(name, kernel.defaults[name], (), kernel) if kernel and name in kernel.defaults else ()
        own = {site.span for site in sites}
        divisors = [(n, Span(*self.ends(node))) for n, node in rounding(target.slice, scopes)]
        for site in sites:
            near = [replace(span, less=site.value - n) for n, span in divisors if span not in own and stands_for(n, site.value)]
            yield [site, *(replace(site, span=span) for span in near)]
        if kernel and kernel.persistent:
            yield from ([site] for part in grid(target.slice) for site in self.sites("programs", part, scopes, kernel))
        for option in OPTIONS:
            yield from ([site] for site in self.option(option, given.get(option), call, scopes, kernel))
        yield from ([site] for site in self.named(call, scopes))

    def named(self, call: ast.Call, scopes: tuple[ast.AST, ...]) -> Iterator[Site]:
        """Constants at the head of the module, numbers or tuples of them, that take part in computing what the launch is given."""
        for value in self.origins(call, scopes, set()):
            if isinstance(value, ast.expr) and (name := self.constants.get(id(value))):
                kind: Kind = "warps" if "WARPS" in name else "stages" if "STAGES" in name else "block"
                literals = value.elts if isinstance(value, ast.Tuple) else [value]
                found = [number for part in literals for number in values(part, (), 0) if fits(number[0], kind)]
                yield from (Site(name, kind, n, Span(*self.ends(literal)), None) for n, literal in found)

    def origins(self, node: ast.AST, scopes: tuple[ast.AST, ...], seen: set[int]) -> Iterator[ast.AST]:
        """What the names in an expression were given, and the functions that it calls, all the way back."""
        for name in (part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load)):
            made: list[ast.AST] = [*bound(name, scopes)] or [f for f in [self.functions.get(name)] if f]
            for value in (value for value in made if id(value) not in seen):
                seen.add(id(value))
                yield value
                yield from self.origins(value, (value, self.tree) if isinstance(value, ast.FunctionDef) else scopes, seen)

    def sites(self, name: str, node: ast.expr, scopes: tuple[ast.AST, ...], kernel: Kernel | None) -> list[Site]:
        """Literals behind an argument. Blocks that are no powers of two are left alone: no tile is."""
        kind: Kind = OPTIONS[name][0] if name in OPTIONS else "programs" if name == "programs" else "block"
        label = node.id if isinstance(node, ast.Name) else f"{kernel.name}.{name}" if kernel else name
        found = [(n, literal) for n, literal in values(node, scopes) if fits(n, kind)]
        return [Site(label, kind, n, Span(*self.ends(literal)), kernel) for n, literal in found]

    def option(self, name: str, node: ast.expr | None, call: ast.Call, scopes: tuple[ast.AST, ...], kernel: Kernel | None) -> list[Site]:
        if node is not None:
            return self.sites(name, node, scopes, kernel)
        if kernel is None or kernel.configured or any(k.arg is None for k in call.keywords) or (name == "num_stages" and not kernel.loops):
            return []
        begin, end = self.ends(call)
        for before, after in ((f", {name}=", ""), (f" {name}=", ",")):
            text = self.text[begin : end - 1] + f"{before}1{after})".encode()
            if parses(text):
                kind, value = OPTIONS[name]
                return [Site(f"{kernel.name}.{name}", kind, value, Span(end - 1, end - 1, before, after), kernel)]
        return []


def start(site: Site) -> int:
    return site.span.start


def fits(number: int, kind: Kind) -> bool:
    return number > 0 and (kind == "stages" or number & (number - 1) == 0)


def stands_for(number: int, value: int) -> bool:
    """Whether a number of a grid is a block of this size: the size itself, or that less one, as in rounding up."""
    return value >= SMALL and value - number in (0, 1)


def grid(node: ast.expr) -> list[ast.expr]:
    """The dimensions of a grid, and what a dimension is at most."""
    parts = list(node.elts) if isinstance(node, ast.Tuple) else [node]
    return [arg for part in parts for arg in (part.args if isinstance(part, ast.Call) and called(part) == "min" else [part])]


def parses(text: bytes) -> bool:
    try:
        parse(text)
    except SyntaxError:
        return False
    return True
