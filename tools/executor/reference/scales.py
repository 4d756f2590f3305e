"""Sizes of a KernelBench problem: the numbers at the top of its file, divided by a power of two, all of them alike.

Powers of two keep what divides what: heads and groups still divide channels. A size that the model does not take is passed over.
"""

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

Sizes = dict[str, Any]
"""Values for names at the top of the file."""
FLOORS = (16, 8, 4)
"""Numbers are made no smaller than these, in this order."""
STEPS = 20


@dataclass(frozen=True)
class Cost:
    largest: int
    """Elements of the largest tensor."""
    flops: float
    """Of matrix products and convolutions."""
    bytes: int
    """Of all inputs, tensors of the model and results."""


@dataclass(frozen=True)
class Bound:
    largest: int
    flops: float
    bytes: int

    def holds(self, cost: Cost) -> bool:
        return cost.largest <= self.largest and cost.flops <= self.flops and cost.bytes <= self.bytes


AIM = Bound(1 << 16, 2e7, 4 << 20)
"""For correctness: what an interpreter runs in a moment."""
SMALL = Bound(1 << 20, 4e8, 64 << 20)
"""What it runs at all."""
TIMED = Bound(1 << 30, 4e12, 512 << 20)
"""For timing, so that fp64 truths of several input sets fit beside it."""
Costs = Callable[[Sizes], Cost | None]


class Source:
    """A file's text, with its numbers at the top replaced."""

    def __init__(self, text: str):
        self.tree = ast.parse(text)
        self.numbers = {name: value for name, value in _constants(self.tree) if _whole(value)}
        self.of_model = self._used_by("get_init_inputs")

    def at(self, sizes: Sizes) -> ast.Module:
        """The module with other values for some names."""
        return ast.fix_missing_locations(_Replaced(sizes).visit(ast.parse(ast.unparse(self.tree)))) if sizes else self.tree

    def _used_by(self, function: str) -> set[str]:
        node = next((n for n in self.tree.body if isinstance(n, ast.FunctionDef) and n.name == function), None)
        return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} if node else set()


class _Replaced(ast.NodeTransformer):
    def __init__(self, sizes: Sizes):
        self.sizes = sizes

    def visit_Module(self, node: ast.Module) -> ast.Module:
        node.body = [self._assigned(statement) for statement in node.body]
        return node

    def _assigned(self, node: ast.stmt) -> ast.stmt:
        if (
            isinstance(node, ast.Assign)
            and len(node.targets) == 1
            and isinstance(target := node.targets[0], ast.Name)
            and target.id in self.sizes
        ):
            node.value = ast.parse(repr(self.sizes[target.id]), mode="eval").body
        return node


def _constants(tree: ast.Module) -> Iterator[tuple[str, Any]]:
    for node in tree.body:
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            try:
                yield node.targets[0].id, _literal(node.value)
            except (ValueError, TypeError, SyntaxError):
                continue


def _literal(node: ast.expr) -> Any:
    """The value of a literal, or of a product of some. Raises `ValueError` for all else."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return _literal(node.left) * _literal(node.right)
    return ast.literal_eval(node)


def _whole(value: Any) -> bool:
    """A whole number, or a list or tuple of some."""
    return type(value) is int or (isinstance(value, list | tuple) and bool(value) and all(map(_whole, value)))


def divided(value: Any, step: int, floor: int) -> Any:
    if isinstance(value, list | tuple):
        return type(value)(divided(item, step, floor) for item in value)
    return max(value >> step, min(value, floor))


def scaled(source: Source, step: int, floor: int, inputs_only: bool = False) -> Sizes:
    """The numbers that change."""
    found = {name: divided(value, step, floor) for name, value in source.numbers.items() if not (inputs_only and name in source.of_model)}
    return {name: value for name, value in found.items() if value != source.numbers[name]}


def steps(source: Source, floors: tuple[int, ...]) -> Iterator[Sizes]:
    """From the file's own sizes downwards: all alike, then those that only the inputs have."""
    seen: list[Sizes] = []
    for floor in floors:
        for inputs_only in (False, True):
            for step in range(STEPS):
                sizes = scaled(source, step, floor, inputs_only)
                if sizes not in seen:
                    seen.append(sizes)
                    yield sizes


def smallest(source: Source, costs: Costs) -> Sizes | None:
    """The largest sizes that are within `AIM`, else the cheapest that the model takes; None where it takes none."""
    best: tuple[float, Sizes] | None = None
    for sizes in steps(source, FLOORS):
        cost = costs(sizes)
        if cost is None:
            continue
        if AIM.holds(cost):
            return sizes
        if best is None or cost.bytes + cost.flops < best[0]:
            best = (cost.bytes + cost.flops, sizes)
    return best[1] if best else None


def odd(source: Source, sizes: Sizes, costs: Costs) -> Sizes | None:
    """The same with each number one larger that was made smaller, or those of the inputs alone, where the model takes that."""
    for names in (list(sizes), [name for name in sizes if name not in source.of_model], list(sizes)[:1]):
        more = sizes | {name: _more(sizes[name], source.numbers[name]) for name in names}
        cost = costs(more) if names else None
        if cost is not None and SMALL.holds(cost):
            return more
    return None


def _more(value: Any, before: Any) -> Any:
    if isinstance(value, list | tuple):
        return type(value)(_more(item, old) for item, old in zip(value, before, strict=True))
    return value if value == before else value + 1


def ladder(source: Source, costs: Costs) -> dict[str, Sizes]:
    """Sizes to time, small ones first: the largest that is within `TIMED`, and smaller ones; by name."""
    found: dict[str, Sizes] = {}
    for step in range(STEPS):
        sizes = scaled(source, step, FLOORS[0])
        cost = costs(sizes)
        if cost is not None and TIMED.holds(cost) and sizes not in found.values():
            found["file" if not sizes else f"file-by-{1 << step}"] = sizes
    chosen = list(found.items())[:5:2]
    return dict(reversed(chosen))
