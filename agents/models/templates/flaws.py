"""Known defects: how each is planted in a module of ours, and how it is recognised and mended from source and verdict alone.

| defect | what is lost | verdict that shows it (simulated device) |
|---|---|---|
| mask | the mask of a reduction's operand, or of a product's K tail | wrong_numeric, nonfinite (out_of_bounds where that is watched) |
| tail | the launch of the last, partial block | wrong_numeric, nonfinite |
| neutral | the neutral element of a reduction | wrong_numeric, nonfinite |
| eps | the summand that keeps a root from zero | wrong_numeric, nonfinite |
| dtype | the dtype of the result | wrong_dtype |
| offset | 64-bit offsets | out_of_bounds, crash, wrong_numeric |
"""

import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from agents.models.templates import foreign
from agents.models.templates.calls import complete, tensors
from agents.models.templates.kernels import LAST
from agents.models.templates.products import META
from benchmark.task import Task

NUMERIC = frozenset({"wrong_numeric", "nonfinite"})
MEMORY = frozenset({"out_of_bounds", "crash", "launch_error", "runtime_error", "data_race"})
NEUTRAL_OF = {"tl.sum": "0", "tl.max": 'float("-inf")', "tl.min": 'float("inf")'}
MASKED = re.compile(r"^( +)(m\d+) = tl\.where\((.+ < n_cols\)), (\S+), ([^()]+|float\(\"-?inf\"\))\)$", re.MULTILINE)
BARE = re.compile(r"^( +)(m\d+) = ([^\s]+)$", re.MULTILINE)
ROOT = re.compile(r"^( +)(v\d+) = \((v\d+|r\d+|t\d*_\d+) \+ (\w+)\)$(?=\n +v\d+ = .*tl\.sqrt\(\2\))", re.MULTILINE)
RESULT = re.compile(r"^(    result\d* = torch\.empty\(.*, dtype=)([^=]+)(, device=.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Flaw:
    """`plant` returns the source with the defect, `mend` without; None where it does not apply, or is not there."""

    name: str
    verdicts: frozenset[str]
    plant: Callable[[str, Task], str | None]
    mend: Callable[[str, str], str | None]
    """`mend(source, clean)`; `clean` is what the author would write now, for what the parent's text cannot say (dtypes)."""
    cause: str
    fix: str


def _plant_mask(source: str, task: Task) -> str | None:
    # Loads fill with 0, so only reductions of what 0 is not neutral for show that their mask is lost.
    if re.search(r"tl\.exp|\(\w+ - v\d+\)|" + LAST, source) and MASKED.search(source):
        return MASKED.sub(r"\1\2 = \4", source)
    lost = source.replace("mask=(rows < M) & (k[None, :] < K)", "mask=(rows < M)").replace(
        "mask=(k[:, None] < K) & (cols < N)", "mask=(cols < N)"
    )
    return lost if lost != source else None


def _mend_mask(source: str, clean: str) -> str | None:
    def mended(kernel: str) -> str:
        return BARE.sub(lambda m: f"{m[1]}{m[2]} = tl.where((rows < n_rows) & (cols < n_cols), {m[3]}, {_neutral(kernel, m[2])})", kernel)

    text = _by_kernel(source, mended)
    text = text.replace("left_k, mask=(rows < M), other", "left_k, mask=(rows < M) & (k[None, :] < K), other")
    text = text.replace("right_n, mask=(cols < N), other", "right_n, mask=(k[:, None] < K) & (cols < N), other")
    return text if text != source else None


def _by_kernel(source: str, change: Callable[[str], str]) -> str:
    return "".join(change(part) for part in re.split(r"(?=^@triton\.jit$)", source, flags=re.MULTILINE))


def _plant_tail(source: str, task: Task) -> str | None:
    lost = source.replace("triton.cdiv(total, BLOCK)", "total // BLOCK").replace("triton.cdiv(out.numel(), BLOCK)", "out.numel() // BLOCK")
    return lost if lost != source and re.search(r"^    _(pointwise|elementwise)\(.*\bresult\b", source, re.MULTILINE) else None


def _mend_tail(source: str, clean: str) -> str | None:
    mended = source.replace("(total // BLOCK,)", "(triton.cdiv(total, BLOCK),)").replace(
        "(out.numel() // BLOCK,)", "(triton.cdiv(out.numel(), BLOCK),)"
    )
    return mended if mended != source else None


def _neutral(kernel: str, name: str) -> str:
    """The neutral element that the use of a reduced variable asks for."""
    use = re.search(
        rf"(tl\.(?:sum|max|min))\({name}, |(lane\d+) \+= {name}\b|tl\.(maximum|minimum)\(lane\d+, {name}\b|\({name} ([<>]) lane", kernel
    )
    if use is None:
        return "1"
    if use[1]:
        return NEUTRAL_OF[use[1]]
    if use[2]:
        return "0"
    return NEUTRAL_OF["tl.max" if use[3] == "maximum" or use[4] == ">" else "tl.min"]


def _plant_neutral(source: str, task: Task) -> str | None:
    def wrong(m: re.Match[str]) -> str:
        # A sum that starts from 1 is always seen; a maximum that starts from 0 only where the position of a negative one is asked for.
        other = "1" if m[5] == "0" else "0" if "inf" in m[5] and LAST in source else m[5]
        return f"{m[1]}{m[2]} = tl.where({m[3]}, {m[4]}, {other})"

    lost = MASKED.sub(wrong, source)
    return lost if lost != source else None


def _mend_neutral(source: str, clean: str) -> str | None:
    def mended(kernel: str) -> str:
        return MASKED.sub(lambda m: f"{m[1]}{m[2]} = tl.where({m[3]}, {m[4]}, {_right(kernel, m)})", kernel)

    text = _by_kernel(source, mended)
    return text if text != source else None


def _right(kernel: str, m: re.Match[str]) -> str:
    """What is there, unless it is a 0 or 1 that the use speaks against."""
    wanted = _neutral(kernel, m[2])
    return wanted if m[5] in ("0", "1") and not (".to(tl.int32)" in m[4] or "9223" in m[5]) else m[5]


def _plant_eps(source: str, task: Task) -> str | None:
    names = {m[4] for m in ROOT.finditer(source)}
    shown = [n for n in names if _matters(task, n)]
    if not shown:
        return None
    return ROOT.sub(lambda m: f"{m[1]}{m[2]} = {m[3]}" if m[4] in shown else m[0], source)


def _matters(task: Task, name: str) -> bool:
    """Whether some visible case tells the operator from one whose number `name` is 0."""
    reference = foreign.reference(task)
    for case in task.cases:
        arguments = complete(reference, foreign.arguments(task, case))
        if case.held_out or not isinstance(arguments.get(name), float):
            continue
        right, wrong = (reference(**a) for a in (arguments, arguments | {name: 0.0}))
        if right.numel() and not ((right - wrong).abs().max() <= 0.02 * right.abs().max()):
            return True
    return False


def _mend_eps(source: str, clean: str) -> str | None:
    """A kernel that is given a number it does not use, and takes a root, has lost the sum of the two."""

    def mended(kernel: str) -> str:
        head, colon, body = kernel.partition("):\n")
        numbers = [n for n in re.findall(r"(\w+): tl\.constexpr", head) if n not in CONSTEXPRS]
        for number in (n for n in numbers if not re.search(rf"\b{n}\b", body)):
            body = re.sub(
                r"^( +)(v\d+) = (v\d+|r\d+)$(?=\n +v\d+ = .*tl\.sqrt\(\2\))", rf"\1\2 = (\3 + {number})", body, flags=re.MULTILINE
            )
        return head + colon + body

    text = _by_kernel(source, mended)
    return text if text != source else None


CONSTEXPRS = frozenset({"ACC", "R", "B", "FLAT_O", "FLAT_I", "CHUNK", *META})


def _plant_dtype(source: str, task: Task) -> str | None:
    def wrong(m: re.Match[str]) -> str:
        if m[2] == "torch.int64":
            return f"{m[1]}torch.int32{m[3]}"
        return f"{m[1]}torch.float16{m[3]}" if _only_fp32(task) else f"{m[1]}torch.float32{m[3]}"

    lost = RESULT.sub(wrong, source)
    return lost if lost != source else None


def _only_fp32(task: Task) -> bool:
    dtypes = {
        str(t.dtype) for c in task.cases if not c.held_out for t in tensors(c.arguments(task.id, 0)).values() if t.dtype.is_floating_point
    }
    return dtypes <= {"torch.float32"}


def _mend_dtype(source: str, clean: str) -> str | None:
    """The dtypes that the author would give, in the order of the results; the rest of the parent stays."""
    rules = [m[2] for m in RESULT.finditer(clean)]
    found = [m[2] for m in RESULT.finditer(source)]
    if len(rules) != len(found) or rules == found:
        return None
    right = iter(rules)
    return RESULT.sub(lambda m: f"{m[1]}{next(right)}{m[3]}", source)


def _plant_offset(source: str, task: Task) -> str | None:
    if not any(_extent(c.arguments(task.id, 0, "meta")) >= 2**31 for c in (*task.cases, *task.timing) if not c.held_out):
        return None
    return source.replace("tl.program_id(0).to(tl.int64)", "tl.program_id(0)")


def _extent(arguments: dict[str, Any]) -> int:
    """The farthest element offset in any tensor."""
    return max(
        (sum((n - 1) * s for n, s in zip(t.shape, t.stride(), strict=True)) for t in tensors(arguments).values() if t.numel()), default=0
    )


def _mend_offset(source: str, clean: str) -> str | None:
    mended = re.sub(r"rows = tl\.program_id\(0\) \*", "rows = tl.program_id(0).to(tl.int64) *", source)
    return mended if mended != source else None


FLAWS = (
    Flaw(
        "mask", NUMERIC | MEMORY, _plant_mask, _mend_mask,
        "elements past the end of a row take part in a reduction", "mask the operand of the reduction again",
    ),
    Flaw(
        "tail", NUMERIC | MEMORY | {"not_triton"}, _plant_tail, _mend_tail,
        "the last, partial block is never launched", "round the number of programs up",
    ),
    Flaw(
        "neutral", NUMERIC, _plant_neutral, _mend_neutral,
        "masked elements are not the reduction's neutral element", "fill with the neutral element",
    ),
    Flaw("eps", NUMERIC, _plant_eps, _mend_eps, "the root is taken without its small summand", "add the summand again under the root"),
    Flaw(
        "dtype", frozenset({"wrong_dtype"}), _plant_dtype, _mend_dtype,
        "the result is allocated in another dtype than asked for", "allocate the result in the dtype that is asked for",
    ),
    Flaw("offset", NUMERIC | MEMORY, _plant_offset, _mend_offset, "offsets are counted in 32 bits", "count offsets in 64 bits"),
)  # fmt: skip


def plant(source: str, core: str, task: Task, rng: random.Random) -> str:
    """The source with one defect that the visible cases show, chosen by `rng`; the source itself where none applies.

    `core` is the same module with only what the visible cases need: a defect that does not touch it stays unseen.
    """
    planted = [lost for flaw in FLAWS if flaw.plant(core, task) is not None and (lost := flaw.plant(source, task)) is not None]
    return rng.choice(planted) if planted else source


def diagnose(source: str, digest: dict[str, Any], clean: str) -> tuple[Flaw, str] | None:
    """The defect that explains the verdict and is there in the source, with the mended source."""
    for flaw in FLAWS:
        if digest.get("verdict") in flaw.verdicts:
            mended = flaw.mend(source, clean)
            if mended is not None:
                return flaw, mended
    return None
