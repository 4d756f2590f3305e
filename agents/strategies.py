"""Families of ways to make a kernel fast: the vocabulary of planners, pools and archives, and how a candidate's family is told."""

import re
from dataclasses import dataclass

BOTTLENECKS = {
    "memory_traffic": "more bytes move than the operator needs, or device memory is at its limit",
    "memory_access": "loads and stores are scattered, narrow or masked, so that sectors are wasted",
    "launch_overhead": "more launches, or more programs, than the work needs: starting them takes longer than their work",
    "occupancy": "too few programs or warps are resident to hide latency",
    "spills": "registers spill to local memory",
    "arithmetic": "arithmetic units are at their limit, or tensor cores idle where they could work",
    "latency": "dependent steps wait for each other: a serial loop, a late load, a barrier",
}
"""What a judge may name, and what each means."""


@dataclass(frozen=True)
class Strategy:
    says: str
    serves: frozenset[str]
    """Bottlenecks that it may remove."""
    words: str
    """Pattern of the words by which a sentence means it."""
    shows: str = ""
    """Pattern that its source has; without a match the sentence only boasts. Empty: no text shows it."""


def strategy(says: str, serves: str, words: str, shows: str = "") -> Strategy:
    return Strategy(says, frozenset(serves.split()), words, shows)


STRATEGIES = {
    "tensor_core": strategy(
        "multiply with tl.dot, in the input precision that the contract allows",
        "arithmetic",
        r"tensor[ _-]?cores?|matrix units?|tl\.dot|\bmma\b|\bwgmma\b|\bmfma\b",
        r"\btl\.dot(_scaled)?\(",
    ),
    "persistent": strategy(
        "one program loops over many tiles",
        "launch_overhead latency",
        r"persistent|grid[ -]?stride|loops? over (many|several|all) (tiles|rows|blocks)",
        r"tl\.num_programs\(|range\(\s*(tl\.program_id|pid|start|row|tile)\w*",
    ),
    "split": strategy(
        "cut a reduction or a long row over more programs",
        "occupancy latency",
        r"\bsplit(s|ting)?\b|split[ -]?k|two[ -](stage|pass|kernel)|partial (sums?|results?)|(over|across) more programs|\batomics?\b",
        r"tl\.atomic_\w+\(|@triton\.jit[\s\S]*@triton\.jit",
    ),
    "order": strategy(
        "group programs so that neighbours share data in L2",
        "memory_traffic",
        r"swizzl|super-?group|raster|group(ed|ing)? (of )?(programs|tiles)|order of (the )?(programs|tiles)|\bGROUP_M\b|\bL2\b",
        r"(?i:swizzle|group)",
    ),
    "pipeline": strategy(
        "load ahead while computing (num_stages)",
        "latency memory_traffic",
        r"pipelin|prefetch|num_stages|software stages|double[ -]buffer|load(s|ing)? ahead",
        r"num_stages|\bSTAGES\b|stages",
    ),
    "fuse": strategy(
        "do in one kernel what several did",
        "launch_overhead memory_traffic",
        r"\bfus(e|es|ed|ing|ion)\b|(one|single) (kernel|launch)\b|epilogue",
    ),
    "algebra": strategy(
        "another formula with fewer or cheaper operations, or a one-pass form",
        "arithmetic memory_traffic",
        r"algebra|formula|online|welford|one[ -]pass|single[ -]pass|cheaper|reciprocal|\bexp2\b|\brsqrt\b|polynomial|identity|closed form",
    ),
    "access": strategy(
        "contiguous, wider, aligned accesses; another order of dimensions",
        "memory_access",
        r"coalesc|contiguous|vectori[sz]|align|wider|stride|transpos|order of dimensions|cache hint|evict",
    ),
    "reuse": strategy(
        "read each element once, keep it in registers or shared memory",
        "memory_traffic latency",
        r"re-?use|registers?\b|shared memory|(read|load)(s|ed)?( each)?[\w ]{0,20} once|keep(s|ing)? (the|each|a|it)|whole row",
    ),
    "tile": strategy(
        "another shape of blocks",
        "memory_traffic memory_access occupancy spills arithmetic",
        r"\btil(e|es|ed|ing)\b|shape of (the )?blocks?|block shapes?|2-?d blocks?|rows (per|for each) program|several rows|blocked",
    ),
    "launch": strategy(
        "num_warps, num_stages and block sizes alone",
        "occupancy spills latency",
        r"num_warps|\bwarps?\b|launch (param|config)|block[ _]?sizes?|\bblock\b|autotun",
    ),
}
"""Those that change a kernel's structure most come first: of two that a sentence names at one place, the first counts."""
HEAD = re.compile(r"[\s`*_\"'(\[<]*([a-z_]+(?:[ -]core)?)\b", re.IGNORECASE)
MEANT = {name: re.compile(kind.words, re.IGNORECASE) for name, kind in STRATEGIES.items()}
SHOWN = {name: re.compile(kind.shows) for name, kind in STRATEGIES.items() if kind.shows}
LONGEST = 100_000
"""Characters of a source that are looked at."""


def family(strategy: str, source: str = "") -> str:
    """The family of a candidate: what its `Strategy:` sentence names first, as far as its source bears that out; else what the source
    does. Without a source (a plan's, say) the sentence alone counts. `launch` where neither tells."""
    code = stripped(source[:LONGEST])
    claims = [name for name in named(strategy) if not code or shows(name, code)]
    return claims[0] if claims else structure(code)


def named(sentence: str) -> list[str]:
    """The families that a sentence means: the one whose name it begins with, then by the place of their words."""
    head = headed(sentence)
    places = {name: found.start() for name, pattern in MEANT.items() if (found := pattern.search(sentence[:1000]))}
    rest = sorted(places, key=lambda name: places[name])
    return list(dict.fromkeys([*([head] if head else []), *rest]))


def headed(sentence: str) -> str | None:
    """The family whose very name a sentence begins with, as prompts ask for."""
    found = HEAD.match(sentence[:200])
    name = re.sub(r"[ -]", "_", found[1].lower()).strip("_") if found else ""
    return name if name in STRATEGIES else None


def shows(name: str, code: str) -> bool:
    return name not in SHOWN or bool(SHOWN[name].search(code))


def structure(code: str) -> str:
    """The family by what a source does, the rarest structure first."""
    if re.search(r"\btl\.dot(_scaled)?\(", code):
        return "order" if re.search(r"swizzle2d|(?i:group_(size_)?m)", code) else "tensor_core"
    if "tl.num_programs(" in code:
        return "persistent"
    if re.search(r"tl\.atomic_\w+\(", code) or code.count("@triton.jit") > 1:
        return "split"
    if re.search(r"tl\.(sum|max|min|argmax|argmin|reduce|cumsum|associative_scan)\(", code):
        return "algebra" if re.search(r"\bfor\b[^\n]*\brange\(", code) else "reuse"
    return "tile" if re.search(r"\[\s*(None\s*,\s*:|:\s*,\s*None)\s*\]", code) else "launch"


def stripped(source: str) -> str:
    """Without comments, which boast as sentences do."""
    return re.sub(r"#[^\n]*", "", source)
