"""The launches of a module, read from its text: which literals decide block sizes, programs, warps and stages, and what goes together.

Nothing is executed: a value counts where the syntax tree leads from a launch `kernel[grid](...)`, a default of a constexpr, or a
`triton.Config` back to a literal. What is computed (`triton.next_power_of_2(n)`, `min(n, 64)`) is left alone.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

Kind = Literal["block", "programs", "warps", "stages"]
Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
OPTIONS: dict[str, tuple[Kind, int]] = {"num_warps": ("warps", 4), "num_stages": ("stages", 3)}
"""Options of every launch, and what Triton takes where they are not given (stages: on most targets)."""
BLOCKS = re.compile(r"block|tile|chunk", re.IGNORECASE)
"""Constexpr parameters that are block sizes by their names, wherever the kernel uses them."""
Number = tuple[int, ast.Constant]
"""A whole number, and the literal that it is."""
HOPS = 4
"""Names that are followed from a launch back to a literal."""


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


def called(node: ast.expr) -> str:
    """The last name of what is called, or of a decorator."""
    target = node.func if isinstance(node, ast.Call) else node
    return target.attr if isinstance(target, ast.Attribute) else target.id if isinstance(target, ast.Name) else ""


def defaults(arguments: ast.arguments) -> dict[str, ast.expr]:
    positional = [*arguments.posonlyargs, *arguments.args]
    last = positional[len(positional) - len(arguments.defaults) :]
    own = {a.arg: value for a, value in zip(last, arguments.defaults, strict=True)}
    return own | {a.arg: value for a, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if value is not None}


def calls(node: ast.AST, scopes: tuple[ast.AST, ...]) -> Iterator[tuple[ast.Call, tuple[ast.AST, ...]]]:
    """All calls below a node in the order of the text, each with the functions around it, the innermost first, and the module last."""
    if isinstance(node, ast.Call):
        yield node, scopes
    inner = (node, *scopes) if isinstance(node, Function | ast.Module) else scopes
    for child in ast.iter_child_nodes(node):
        yield from calls(child, inner)


def bindings(scope: ast.AST, name: str) -> list[ast.expr]:
    """What a scope assigns to a name, its parameters' defaults included."""
    found = [defaults(scope.args)[name]] if isinstance(scope, Function) and name in defaults(scope.args) else []
    for node in own(scope):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
        found += [v for target in targets if value for v in assigned(target, value, name)]
    return found


def assigned(target: ast.expr, value: ast.expr, name: str) -> list[ast.expr]:
    """The part of an assigned value that goes to a name; of a choice between tuples, the part of each."""
    if isinstance(target, ast.Name):
        return [value] if target.id == name else []
    if isinstance(value, ast.IfExp):
        return assigned(target, value.body, name) + assigned(target, value.orelse, name)
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        return [v for t, part in zip(target.elts, value.elts, strict=True) for v in assigned(t, part, name)]
    return []


def own(scope: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a scope without those of functions and classes in it."""
    for child in ast.iter_child_nodes(scope):
        if not isinstance(child, Function | ast.ClassDef):
            yield child
            yield from own(child)


def values(node: ast.expr, scopes: tuple[ast.AST, ...], hops: int = HOPS) -> Iterator[Number]:
    """The whole numbers that an expression may be: a literal, either side of a choice, or what a name was given."""
    if isinstance(node, ast.Constant) and type(node.value) is int:
        yield node.value, node
    elif isinstance(node, ast.IfExp):
        yield from values(node.body, scopes, hops)
        yield from values(node.orelse, scopes, hops)
    elif isinstance(node, ast.Call) and called(node) == "constexpr" and node.args:
        yield from values(node.args[0], scopes, hops)
    elif isinstance(node, ast.Name) and hops:
        for value in next(filter(None, (bindings(scope, node.id) for scope in scopes)), []):
            yield from values(value, scopes, hops - 1)


def numbers(node: ast.AST, scopes: tuple[ast.AST, ...], hops: int = HOPS) -> Iterator[Number]:
    """All whole numbers that take part in an expression, those of its names' values among them."""
    for part in ast.walk(node):
        if isinstance(part, ast.Constant) and type(part.value) is int:
            yield part.value, part
        elif isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load) and hops:
            for value in next(filter(None, (bindings(scope, part.id) for scope in scopes)), []):
                yield from numbers(value, scopes, hops - 1)


class Module:
    """A parsed source. Raises SyntaxError, ValueError or RecursionError where it is none."""

    def __init__(self, source: str):
        self.text = source.encode()
        self.tree = ast.parse(source)
        self.starts = [0]
        for line in self.text.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        jitted = (n for n in ast.walk(self.tree) if isinstance(n, ast.FunctionDef) and any(called(d) == "jit" for d in n.decorator_list))
        self.kernels = {node.name: Kernel(node) for node in jitted}

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
            yield from ([site] for site in self.sites(name, value, (), None))

    def launch(self, call: ast.Call, target: ast.Subscript, scopes: tuple[ast.AST, ...]) -> Iterator[list[Site]]:
        kernel = self.kernels.get(called(target.value))
        given = dict(kernel.given(call)) if kernel else {k.arg: k.value for k in call.keywords if k.arg}
        if kernel is None and not set(given) & set(OPTIONS):
            return  # An ordinary call of an element of something.
        blocks = kernel.blocks if kernel else {name for name in given if BLOCKS.search(name)}
        sites = [site for name in given if name in blocks for site in self.sites(name, given[name], scopes, kernel)]
        for name in sorted(blocks - set(given)) if kernel else ():
            sites += self.sites(name, kernel.defaults[name], (), kernel) if kernel and name in kernel.defaults else ()
        rounding = list(numbers(target.slice, scopes))
        for site in sites:
            near = [Span(*self.ends(node), less=site.value - n) for n, node in rounding if stands_for(n, site.value)]
            yield [site, *(replace(site, span=span) for span in near)]
        if kernel and kernel.persistent:
            yield from ([site] for part in grid(target.slice) for site in self.sites("programs", part, scopes, kernel))
        for option in OPTIONS:
            yield from ([site] for site in self.option(option, given.get(option), call, scopes, kernel))

    def sites(self, name: str, node: ast.expr, scopes: tuple[ast.AST, ...], kernel: Kernel | None) -> list[Site]:
        """Literals behind an argument. Blocks that are no powers of two are left alone: no tile is."""
        kind: Kind = OPTIONS[name][0] if name in OPTIONS else "programs" if name == "programs" else "block"
        label = node.id if isinstance(node, ast.Name) else f"{kernel.name}.{name}" if kernel else name
        found = [(n, literal) for n, literal in values(node, scopes) if n > 0 and (kind == "stages" or n & (n - 1) == 0)]
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


def stands_for(number: int, value: int) -> bool:
    """Whether a number of a grid is a block of this size: the size itself, or that less one, as in rounding up."""
    return number == value or (number == value - 1 and value >= 16)


def grid(node: ast.expr) -> list[ast.expr]:
    """The dimensions of a grid, and what a dimension is at most."""
    parts = list(node.elts) if isinstance(node, ast.Tuple) else [node]
    return [arg for part in parts for arg in (part.args if isinstance(part, ast.Call) and called(part) == "min" else [part])]


def parses(text: bytes) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True
