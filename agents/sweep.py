"""An LLM-free sweep over the launch parameters of a settled kernel: coordinate descent by what was measured, the same each time.

What can be varied is read from the text (`agents.launches`), and a variant is that text with other numbers in it.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from agents.launches import Kind, Module, Site, Span
from tools.platforms import HardwareSheet

Values = dict[str, int]
"""Of every parameter, by name."""
Move = tuple[str, int]
"""A parameter, and +1 or -1: its next larger or smaller choice."""
TUNER = "tuner"
"""The role of attempts that come from here: no model has it."""
ORDER: tuple[Kind, ...] = ("block", "programs", "warps", "stages")
WIDEST = 16384
"""Elements of the widest tile of one dimension, and programs, where the device is unknown."""
WARPS = 16
"""Most warps of a program, where the device is unknown."""
STAGES = 5


@dataclass(frozen=True)
class Parameter:
    name: str
    """Of the variable, or of kernel and argument; unique in its module."""
    kind: Kind
    value: int
    spans: tuple[Span, ...]
    """All places that change together, in the order of the text."""
    choices: tuple[int, ...]
    """Ascending; `value` is one of them."""


@dataclass(frozen=True)
class Trial:
    """A judged variant. `speed` is a speedup, measured or modelled, or None where there is none."""

    values: Values
    speed: float | None
    verdict: str


@dataclass(frozen=True)
class Variant:
    values: Values
    source: str
    says: str
    """What differs from the source, for people."""


def parameters(source: str, sheet: HardwareSheet | None = None) -> tuple[Parameter, ...]:
    """What the launches of a module can be varied in, blocks first and what Triton's own tuner chooses from last.

    Nothing where the module cannot be parsed.
    """
    try:
        groups = Module(source).groups()
    except (SyntaxError, ValueError, RecursionError):
        return ()
    seen: dict[str, int] = {}
    found = []
    for sites in sorted(groups, key=lambda group: (group[0].entry, ORDER.index(group[0].kind))):
        site = sites[0]
        seen[site.name] = seen.get(site.name, 0) + 1
        name = site.name if seen[site.name] == 1 else f"{site.name}#{seen[site.name]}"
        found.append(Parameter(name, site.kind, site.value, tuple(s.span for s in sites), choices(site, sheet)))
    return tuple(found)


def choices(site: Site, sheet: HardwareSheet | None) -> tuple[int, ...]:
    """Powers of two (stages: whole numbers) that device and kernel allow, and always the present value."""
    if site.kind == "stages":
        return tuple(range(1, max(STAGES, site.value) + 1))
    low, high = bounds(site, sheet)
    low, high = min(low, site.value), max(high, site.value)
    return tuple(2**n for n in range(high.bit_length()) if low <= 2**n <= high)


def bounds(site: Site, sheet: HardwareSheet | None) -> tuple[int, int]:
    if site.kind == "warps":
        return 1, sheet.max_threads_per_block // sheet.warp_size if sheet else WARPS
    if site.kind == "programs":
        return 1, 16 * sheet.multiprocessors if sheet else WIDEST
    if site.kernel and site.kernel.multiplies:
        return 16, 256  # What tl.dot takes at least, and the longest side of a tile whose accumulators fit anywhere.
    if site.kernel and len(site.kernel.blocks) > 1:
        return 1, 1024
    return 16, sheet.registers_per_multiprocessor // 4 if sheet else WIDEST


def origin(space: Sequence[Parameter]) -> Values:
    """The values that a source has."""
    return {p.name: p.value for p in space}


def written(source: str, space: Sequence[Parameter], values: Mapping[str, int]) -> str:
    """The source with these values; byte for byte the same elsewhere."""
    changes = [(span, values[p.name]) for p in space if values[p.name] != p.value for span in p.spans]
    text = source.encode()
    for span, value in sorted(changes, key=lambda change: change[0].start, reverse=True):  # Backwards, so that positions hold.
        text = text[: span.start] + f"{span.before}{value - span.less}{span.after}".encode() + text[span.end :]
    return text.decode()


def proposals(source: str, tried: Sequence[Trial], sheet: HardwareSheet | None = None) -> Iterator[Variant]:
    """What to try next, the most promising first: single steps from the best so far, then pairs of steps, then double steps.

    Nothing that was tried, the source itself included, is proposed again. The order depends on the arguments alone.
    """
    space = parameters(source, sheet)
    start = origin(space)
    passed = [t for t in tried if t.verdict == "pass" and t.speed is not None]
    best = max(passed, key=lambda t: t.speed or 0.0, default=Trial(start, None, "pass"))
    seen = {frozenset(values.items()) for values in (start, *(t.values for t in tried))}
    for values in neighbours(space, best.values, evidence(tried)):
        if frozenset(values.items()) not in seen:
            seen.add(frozenset(values.items()))
            yield Variant(values, written(source, space, values), says(start, values))


def says(old: Values, new: Values) -> str:
    return ", ".join(f"{name} {old[name]} -> {value}" for name, value in new.items() if value != old[name])


def neighbours(space: Sequence[Parameter], at: Values, gains: Mapping[Move, float]) -> Iterator[Values]:
    """Points around `at`: moves that gained before come first, those that lost come last."""
    moves = sorted(((p.name, step) for p in space for step in (1, -1)), key=lambda move: -gains.get(move, 0.0))
    by_name = {p.name: p for p in space}
    yield from filter(None, (moved(by_name, at, [move]) for move in moves))
    yield from filter(None, (moved(by_name, at, pair) for pair in combinations(moves, 2) if pair[0][0] != pair[1][0]))
    yield from filter(None, (moved(by_name, at, [move, move]) for move in moves))


def moved(space: Mapping[str, Parameter], at: Values, moves: Sequence[Move]) -> Values | None:
    """None where a step leads out of bounds."""
    values = dict(at)
    for name, step in moves:
        choices = space[name].choices
        place = choices.index(values[name]) + step
        if not 0 <= place < len(choices):
            return None
        values[name] = choices[place]
    return values


FAILED = -1.0
"""What a move counts that led to a failure: e times slower."""


def evidence(tried: Sequence[Trial]) -> dict[Move, float]:
    """Mean log gain of each move between trials that differ in one parameter."""
    found: dict[Move, list[float]] = {}
    for old, new in ((a, b) for a in tried for b in tried if a.verdict == "pass" and a.speed):
        differ = [name for name in new.values if new.values[name] != old.values[name]]
        if len(differ) == 1:
            move = differ[0], 1 if new.values[differ[0]] > old.values[differ[0]] else -1
            passed = new.verdict == "pass" and new.speed
            found.setdefault(move, []).append(math.log(new.speed / old.speed) if passed and new.speed and old.speed else FAILED)
    return {move: math.fsum(gains) / len(gains) for move, gains in found.items()}
