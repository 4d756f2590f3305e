"""Every operation of the interpreter on every type once, when the zygote starts.

What this Triton or this numpy gets wrong is found here, and whoever uses it is `Unsupported`: no kernel is blamed for it.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from triton._C.libtriton import ir
from triton.runtime.interpreter import TensorHandle

from tools.simulated import reduce
from tools.simulated.builder import Builder, builder
from tools.simulated.errors import Unsupported
from tools.simulated.narrow import as_float
from tools.simulated.patches import Patches
from tools.simulated.probes import probes

_MODES = (ir.ATOMIC_OP, ir.INPUT_PRECISION)


@dataclass(frozen=True)
class Fault:
    operation: str
    """A method of the builder, or a function of `reduce`."""
    types: tuple[str, ...]
    """Of operands and result, by Triton's names, and what else tells one use from another."""
    found: str


def examine() -> list[Fault]:
    """What is wrong here; nothing with the releases that this package was made with."""
    faults: dict[tuple[str, tuple[str, ...]], Fault] = {}
    builder.watcher.memory.integers = True
    with np.errstate(all="ignore"):
        for operation, arguments, wanted in probes():
            owner: Any = builder if operation.startswith("create_") else reduce
            if not hasattr(owner, operation):
                continue  # Not in this release's language.
            try:
                found = _differs(getattr(owner, operation)(*arguments), wanted)
            except Exception as error:
                found = f"{type(error).__name__}: {error}"
            if found:
                key = operation, types(arguments)
                faults[key] = Fault(*key, found)
    return list(faults.values())


def forbid(faults: Iterable[Fault], patches: Patches) -> None:
    """From now on these uses are `Unsupported`; the same operations on other types go on working."""
    broken: dict[str, set[tuple[str, ...]]] = {}
    for fault in faults:
        broken.setdefault(fault.operation, set()).add(fault.types)
    for operation, uses in broken.items():
        owner: Any = Builder if operation.startswith("create_") else reduce
        patches.set(owner, operation, _guarded(operation, getattr(owner, operation), uses))


def _guarded(operation: str, function: Any, broken: set[tuple[str, ...]]) -> Any:
    def guarded(*args: Any) -> Any:
        given = types(args)
        if given in broken:
            what = operation.removeprefix("create_").strip("_")
            raise Unsupported(f"The interpreter fails its self-test here in {what} ({', '.join(given)}).", operation=what)
        return function(*args)

    return guarded


def types(values: Iterable[Any]) -> tuple[str, ...]:
    """Of memory only what a pointer points to counts."""
    names = tuple(_names(values))
    pointers = tuple(name for name in names if name.startswith(("pointer", "ATOMIC_OP")))
    return pointers or names


def _names(values: Iterable[Any]) -> Iterator[str]:
    for value in values:
        if isinstance(value, TensorHandle):
            yield str(value.dtype.scalar)
        elif isinstance(value, (list, tuple)):
            yield from _names(value)
        elif isinstance(value, _MODES):
            yield str(value)
        elif callable(value):
            yield value.__name__
        elif hasattr(value, "scalar"):
            yield str(value.scalar)
        elif isinstance(value, str) and value.startswith("__"):
            yield value


def _differs(got: Any, wanted: Any) -> str:
    """What is wrong with a result, or nothing."""
    if callable(wanted):
        return "" if wanted(got) else "a wrong value"
    if isinstance(wanted, list):
        return "" if got.data.tolist() == wanted else f"{got.data.tolist()} for {wanted}"
    values, expected = as_float(got).astype(np.float64), wanted.double().numpy()
    return "" if np.array_equal(values, expected, equal_nan=True) else f"{values.reshape(-1)[:4]} for {expected.reshape(-1)[:4]}"
