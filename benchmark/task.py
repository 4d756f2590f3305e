"""A task: an operator to implement, the inputs it is tried on, and what a right answer is."""

import hashlib
import inspect
import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import torch

from benchmark import source
from benchmark.draw import Draw
from benchmark.origin import Origin

Arguments = dict[str, Any]
"""Arguments of one call by parameter name: tensors, or JSON-like values, or torch dtypes, or lists of these."""


@dataclass(frozen=True)
class Case:
    """One concrete input set. `make(draw)` returns the arguments, from (case, seed) and nothing else."""

    name: str
    make: Callable[[Draw], Arguments]
    held_out: bool = False
    """Never shown in a prompt or in feedback."""
    device_only: bool = False
    """Too large for anything but a real device: its inputs are drawn there, and no interpreter runs it."""

    def arguments(self, task_id: str, seed: int, device: str = "cpu") -> Arguments:
        """Inputs on `device`; the same (task, case, seed) gives the same values on devices of one kind."""
        key = f"{task_id}/{self.name}/{seed}".encode()
        return self.make(Draw(int.from_bytes(hashlib.sha256(key).digest()[:7]), device))


Maker = Callable[[Draw], Arguments]


def shown(makers: dict[str, Maker]) -> tuple[Case, ...]:
    """Correctness cases by name."""
    return tuple(Case(name, make) for name, make in makers.items())


def hidden(makers: dict[str, Maker]) -> tuple[Case, ...]:
    """Held-out correctness cases by name."""
    return tuple(Case(name, make, held_out=True) for name, make in makers.items())


def on_device(makers: dict[str, Maker]) -> tuple[Case, ...]:
    """Correctness cases by name that only a real device is given."""
    return tuple(Case(name, make, device_only=True) for name, make in makers.items())


def timed(make: Callable[..., Arguments], sizes: Iterable[tuple[int, ...]]) -> tuple[Case, ...]:
    """A timing case `make(draw, *size)` for each size."""

    def sized(size: tuple[int, ...]) -> Maker:
        return lambda draw: make(draw, *size)

    return tuple(Case("time-" + "x".join(map(str, size)), sized(size)) for size in sizes)


@dataclass(frozen=True)
class Contract:
    """What a right answer is, apart from the values that the reference gives."""

    checker: "Checker"
    accumulate: str = "float32"
    """The dtype in which sums are to be accumulated."""
    mutates: tuple[str, ...] = ()
    """Parameters that the operator writes, as `name` (where the case gives a tensor for it) or as `name if flag` (where the case
    gives a true `flag` as well); every other argument must be left as it was."""
    tf32: bool = False
    """Whether TF32 products count as fp32."""
    random: bool = False
    """Each call draws anew: two calls on the same arguments must differ, and the checker looks at distributions."""
    notes: tuple[str, ...] = ()
    """Further clauses, one sentence each: rounding, scale axis, clamp, NaN rules, ties."""

    def written(self, arguments: Arguments) -> tuple[str, ...]:
        """The parameters that a call with these arguments writes."""
        clauses = (clause.partition(" if ") for clause in self.mutates)
        return tuple(
            name for name, _, flag in clauses if isinstance(arguments.get(name), torch.Tensor) and (not flag or arguments.get(flag))
        )


@dataclass(frozen=True)
class Task:
    """An operator. The docstring of `reference` is the semantics that the model is given."""

    id: str
    category: str
    source: str
    reference: Callable[..., Any]
    cases: tuple[Case, ...]
    timing: tuple[Case, ...]
    contract: Contract
    entry: str = ""
    """The function's name in a candidate; `kernel_function` is accepted too. Defaults to the last part of the id."""
    honest: Callable[..., Any] | None = None
    """The honest same-dtype computation whose error sets the budget, where it is not `reference` itself."""
    truth: Callable[..., Any] | None = None
    """What the checker compares with, called like `reference` on fp64 arguments, where that is not the reference's own result:
    the values before dropout, say."""
    magnitude: Callable[..., Any] | None = None
    """Called like `reference`: the sum of the absolute terms of each output (|a| @ |b| for a dot product). Rounding
    of the accumulation dtype is allowed in proportion to it."""
    measured: bool = False
    """Whether the magnitude is measured (`benchmark.measured`), for references in fp64 that nobody has written one for."""
    wrong: dict[str, Callable[..., Any]] = field(default_factory=dict)
    """Wrong answers of the task's own, by name, called like `reference`: the checker must refuse them too."""
    exempt: dict[str, str] = field(default_factory=dict)
    """Lint probes that this task is exempt from, by name, with the reason."""
    exact: bool = True
    """Whether the reference computes in fp64; otherwise the truth is its own result in the dtypes of the case."""
    origin: Origin | None = None
    """The user's file that the task was read from, where it is not ours: its code runs in a reference sandbox only."""

    @property
    def suite(self) -> str:
        """The suite's name; `own` for a function in the user's own file, the format for other foreign files."""
        head, colon, _ = self.id.partition(":")
        return head.partition("/")[0] if not colon else "own" if head.endswith(".py") else head

    @property
    def name(self) -> str:
        return re.split("[/:]", self.id)[-1]

    @property
    def semantics(self) -> str:
        """What the reference computes, in the words that the model is given."""
        return self.reference.__doc__ or f"What the reference of `{self.name}` computes."

    @property
    def text(self) -> str:
        """The reference's source."""
        return self.origin.text if self.origin else source.complete(self.reference)

    @property
    def entry_name(self) -> str:
        return self.entry or self.name

    @property
    def signature(self) -> str:
        """`name(parameters)` as a candidate must define it."""
        return f"{self.entry_name}{inspect.signature(self.reference)}"

    @cached_property
    def sha(self) -> str:
        """Digest of everything that a verdict depends on: functions, contract, checkers, and the cases' very values; of a foreign
        task its files and options, for the cases follow from them."""
        if self.origin:
            return hashlib.sha256("\0".join([self.id, self.origin.digest, source.judges()]).encode()).hexdigest()[:16]
        functions = (self.reference, self.honest, self.truth, self.magnitude)
        sources = [source.complete(function) + source.held(function) if function else "" for function in functions]
        parts = [self.id, self.entry_name, repr(self.contract), source.judges(), *sources]
        digest = hashlib.sha256("\0".join(parts).encode())
        for case in (*self.cases, *self.timing):
            # Timed inputs are large: their shapes, dtypes and strides stand for them.
            large = case.device_only or case in self.timing
            arguments = case.arguments(self.id, 0, "meta" if large else "cpu")
            digest.update(json.dumps([case.name, case.held_out]).encode())
            _feed(digest, arguments)
        return digest.hexdigest()[:16]

    def case(self, name: str) -> Case:
        return next(c for c in (*self.cases, *self.timing) if c.name == name)


def _feed(digest: "hashlib._Hash", value: Any) -> None:
    if isinstance(value, dict):
        value = [item for pair in value.items() for item in pair]
    if isinstance(value, list | tuple):
        for item in value:
            _feed(digest, item)
    elif isinstance(value, torch.Tensor):
        digest.update(f"{value.dtype}{tuple(value.shape)}{value.stride()}{value.storage_offset()}".encode())
        if value.device.type != "meta":
            digest.update(value.contiguous().reshape(-1).view(torch.uint8).numpy().data)
    else:
        digest.update(repr(value).encode())


@dataclass(frozen=True)
class Oracle:
    """The truth for one case: outputs in fp64 (or exact integers), and an honest same-dtype computation."""

    expected: tuple[torch.Tensor, ...]
    honest: tuple[torch.Tensor, ...]
    magnitude: tuple[torch.Tensor, ...] = ()
    """Sums of the absolute terms of each output, where the task gives them, or measured roots of the sums of their squares."""
    several: bool = False
    """Whether the reference returns a list or a tuple, be it of one tensor, rather than a tensor."""


@dataclass(frozen=True)
class Check:
    """A checker's answer. `kind` is a verdict of `tools.evaluation` when not ok; numbers are finite or None."""

    ok: bool
    kind: str = "pass"
    message: str = ""
    max_abs: float | None = None
    rel_rms: float | None = None
    worst_index: tuple[int, ...] | None = None
    """Where the error is largest in units of its tolerance; None where errors have no size."""
    matched: float | None = None
    """Share of elements within tolerance."""
    tolerance: float | None = None
    """What is allowed at `worst_index`."""
    first_index: tuple[int, ...] | None = None
    """The first wrong element, rows before columns; None where all are right."""


class Checker(Protocol):
    """An object of a small frozen dataclass, so that its repr enters `Task.sha`; all tensors lie on one device."""

    @property
    def words(self) -> str:
        """The rule, for a prompt."""

    def __call__(self, oracle: Oracle, actual: tuple[torch.Tensor, ...], arguments: Arguments) -> Check: ...
