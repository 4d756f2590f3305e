"""What is tried: launch parameters, read back from a candidate's own source, and moved towards what was faster."""

import random
import re
from ast import literal_eval
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from agents.models.base import Ancestor, Identity


@dataclass(frozen=True)
class Parameters:
    """Constants at the head of a module. Blocks count elements."""

    block: int = 1024
    """A pointwise program's."""
    warps: int = 8
    """Most warps per program."""
    once: int = 8192
    """The widest tile that is reduced in one pass; longer rows are looped over."""
    row_tile: int = 1024
    """What a program reduces at least, where rows are short."""
    sweep: int = 2048
    """One step of a looped reduction."""
    parts: int = 512
    """Most chunks that a reduction of everything is split into."""
    across: int = 32
    """Rows per program where neighbouring rows lie side by side in memory."""
    tile: tuple[int, int, int] = (128, 128, 64)
    """M, N and K of a product's tile, at most."""
    fill: int = 128
    """Programs that a product is cut into at least, by halving its tile: about as many as a large device runs at once."""
    ieee_tile: tuple[int, int, int] = (32, 32, 32)
    """The same for fp32 without TF32, which is computed without tensor cores and compiles slowly."""
    stages: int = 3

    def text(self) -> str:
        return "".join(f"{name.upper()} = {value}\n" for name, value in asdict(self).items())


CHOICES: dict[str, tuple[Any, ...]] = {
    "block": (256, 512, 1024, 2048, 4096),
    "warps": (2, 4, 8, 16),
    "once": (4096, 8192, 16384, 32768),
    "row_tile": (256, 512, 1024, 2048, 4096),
    "sweep": (1024, 2048, 4096, 8192),
    "parts": (128, 256, 512, 1024),
    "across": (16, 32, 64),
    "tile": ((64, 64, 32), (64, 64, 64), (128, 128, 32), (128, 128, 64), (128, 256, 64)),
    "fill": (1, 64, 128, 256),
    "ieee_tile": ((32, 32, 16), (32, 32, 32), (64, 32, 32), (64, 64, 16), (64, 64, 32)),
    "stages": (2, 3, 4),
}
USES = {
    "_pointwise": ("block", "warps"),
    "_elementwise": ("block", "warps"),
    "_rows": ("once", "row_tile", "sweep", "across", "warps"),
    "_split": ("parts",),
    "_matmul": ("tile", "fill", "stages", "ieee_tile"),
}
"""The parameters that a module's helpers read, those that matter most first."""
FAMILIES = {
    "tile": ("block", "row_tile", "across", "tile", "ieee_tile"),
    "launch": ("block", "warps", "row_tile", "sweep", "stages"),
    "reuse": ("once",),
    "algebra": ("once",),
    "split": ("parts", "fill", "row_tile"),
    "access": ("block", "warps", "across"),
    "pipeline": ("stages", "sweep"),
}
"""The parameters that a family of strategies (`agents.strategies`) may move; of other families none does.

Block over warps is how wide a thread's accesses are."""
VALUE = r"\d{1,6}|\(\d{1,6}, ?\d{1,6}, ?\d{1,6}\)"
LEAPS = 64


def read(source: str) -> Parameters | None:
    """The parameters that a candidate was written with, or None where it is not one of ours."""
    values = {}
    for field in fields(Parameters):
        found = re.search(rf"^{field.name.upper()} = (\(?[\d, ]+\)?)$", source, re.MULTILINE)
        if found is None:
            return None
        values[field.name] = literal_eval(found[1])
    return Parameters(**values)


def used(source: str) -> list[str]:
    """The parameters that matter to a module, by the helpers that it calls."""
    names = [n for helper, ns in USES.items() if re.search(rf"^ +(?:left = )?{helper}\(", source, re.MULTILINE) for n in ns]
    return list(dict.fromkeys(names))


def chance(identity: Identity, seed: int, *salt: object) -> random.Random:
    """Randomness that depends on the call alone, so that the same request is answered the same."""
    return random.Random(f"{seed}/{identity.key}/{salt}")


def fresh(names: Sequence[str], rng: random.Random, first: bool) -> Iterator[Parameters]:
    """Starting points: the defaults for a trajectory's first author, then random ones."""
    if first:
        yield Parameters()
    for _ in range(64):
        yield replace(Parameters(), **{n: rng.choice(CHOICES[n]) for n in names})


def neighbours(start: Parameters, names: Sequence[str], rng: random.Random, first: int = 0) -> Iterator[Parameters]:
    """Single steps from `start`, beginning with the name at `first`, then pairs of steps.

    Authors that write at the same time begin with different names, and so do not repeat each other.
    """
    steps: list[dict[str, Any]] = []
    for name in (names[(first + i) % len(names)] for i in range(len(names))):
        choices = CHOICES[name]
        at = choices.index(getattr(start, name)) if getattr(start, name) in choices else len(choices) // 2
        there = [{name: choices[i]} for i in (at - 1, at + 1) if 0 <= i < len(choices)]
        steps += rng.sample(there, len(there))
    yield from (replace(start, **step) for step in steps)
    pairs = [a | b for a in steps for b in steps if a.keys() != b.keys()]
    rng.shuffle(pairs)
    yield from (replace(start, **pair) for pair in pairs)


def leaps(start: Parameters, names: Sequence[str], used: Sequence[str], rng: random.Random) -> Iterator[Parameters]:
    """Random parameters in which `names` lie far from where they are, the farthest half in random order; then the same for all `used`."""
    for chosen in (names, used):
        found = [replace(start, **{n: rng.choice(CHOICES[n]) for n in chosen}) for _ in range(LEAPS)]
        far = sorted((p for p in found if p != start), key=lambda p: -distance(start, p))[: LEAPS // 2]
        yield from rng.sample(far, len(far))


def distance(a: Parameters, b: Parameters) -> float:
    """Steps between choices, each as a share of its parameter's range."""
    apart = 0.0
    for name, choices in CHOICES.items():
        one, other = (choices.index(v) if (v := getattr(p, name)) in choices else len(choices) // 2 for p in (a, b))
        apart += abs(one - other) / (len(choices) - 1)
    return apart


def family(name: str, strategies: Sequence[str] = ()) -> str:
    """The first of the allowed families that a parameter belongs to; no strategies: any family, the first that is known. "" for none."""
    return next((s for s in strategies or FAMILIES if name in FAMILIES.get(s, ())), "")


def named(old: Parameters, new: Parameters, strategies: Sequence[str] = ()) -> str:
    """The changes, headed by the family of the first one."""
    first = next(f.name for f in fields(Parameters) if getattr(old, f.name) != getattr(new, f.name))
    return f"{family(first, strategies) or family(first)}: {changes(old, new)}"


def stated(text: str) -> dict[str, Any]:
    """The values that a text gives to parameters: `BLOCK = 1024 -> 2048`, `WARPS = 4`, `TILE from (64, 64, 32) to (64, 64, 64)`."""
    values = {}
    for field in fields(Parameters):
        pattern = rf"\b{field.name.upper()}\b *(?:=|:|to|from)? *({VALUE})(?: *(?:->|to) *({VALUE}))?"
        if found := re.search(pattern, text):
            value = literal_eval(found[2] or found[1])
            if type(value) is type(field.default):
                values[field.name] = value
    return values


def edited(source: str, values: dict[str, Any]) -> str:
    """The module with these values of its constants, all else kept."""
    for name, value in values.items():
        source = re.sub(rf"^{name.upper()} = .*$", f"{name.upper()} = {value}", source, flags=re.MULTILINE)
    return source


def speed(digest: dict[str, Any]) -> float | None:
    """Measured, else modelled, else unknown."""
    measured: float | None = digest.get("speedup")
    return measured if measured is not None else (digest.get("modelled") or {}).get("speedup")


def best(ancestors: Sequence[Ancestor]) -> Ancestor | None:
    """The fastest ancestor of ours, measured before modelled; None without any that passes."""
    ours = [a for a in ancestors if read(a.source) is not None and a.digest.get("verdict", "pass") == "pass"]
    return max(ours, key=_rank, default=None)


def _rank(ancestor: Ancestor) -> tuple[float, float]:
    measured = ancestor.digest.get("speedup")
    modelled = (ancestor.digest.get("modelled") or {}).get("speedup")
    return (measured if measured is not None else -1.0, modelled if modelled is not None else -1.0)


def changes(old: Parameters, new: Parameters) -> str:
    """What differs, in words."""
    parts = [
        f"{f.name} {getattr(old, f.name)} -> {getattr(new, f.name)}"
        for f in fields(Parameters)
        if getattr(old, f.name) != getattr(new, f.name)
    ]
    return ", ".join(parts)
