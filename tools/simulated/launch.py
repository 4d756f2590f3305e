"""Compile, then interpret: what happens at each kernel launch."""

import time
import traceback
import warnings
from collections.abc import Collection, Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import torch
import triton.language as tl
import triton.runtime.interpreter as interpreter
from triton.runtime.jit import JITFunction

from tools import platforms
from tools.simulated import language
from tools.simulated.budget import budget
from tools.simulated.builder import builder, semantic
from tools.simulated.errors import HostPointer, LaunchFailed, Unsupported
from tools.simulated.flops import tally
from tools.simulated.ordering import uses_old_values
from tools.simulated.tensor import SimTensor, tensors
from tools.simulated.watcher import Watcher

MOST_PROGRAMS = 4096
"""Programs of one launch; each takes the interpreter about a millisecond."""
_MOST_YZ = 65535
_SAMPLE_S = 0.25
"""Seconds after which no further program of a sample is begun."""


@dataclass
class TargetLog:
    """What was compiled for one target."""

    target: str
    kernels: list[dict[str, Any]] = field(default_factory=list)
    seconds: float = 0.0
    error: str | None = None
    seen: dict[str, dict[str, Any]] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        return {"target": self.target, "kernels": self.kernels, "seconds": self.seconds, "error": self.error}

    def add(self, kernel: Any) -> dict[str, Any]:
        """The facts of a kernel, noted once."""
        if kernel.hash not in self.seen:
            used = platforms.usage(self.target, kernel.kernel, kernel.metadata.name, kernel.metadata.shared)
            self.seen[kernel.hash] = {"name": kernel.metadata.name} | asdict(used)
            self.kernels.append(self.seen[kernel.hash])
        return self.seen[kernel.hash]


def check_memory(args: tuple, kwargs: dict[str, Any]) -> None:
    """Refuses host tensors, as the CUDA launcher does."""
    for index, value in enumerate((*args, *kwargs.values())):
        for tensor in tensors(getattr(value, "base", value)):
            if not isinstance(tensor, SimTensor):
                raise HostPointer(f"Pointer argument (at {index}) cannot be accessed from Triton (cpu tensor?)", argument=index)


def grid_of(grid: Any, jit: JITFunction) -> tuple[int, int, int]:
    x, y, z = (*grid, 1, 1)[:3]
    for axis, size in zip("xyz", (x, y, z), strict=True):
        if not hasattr(size, "__index__"):
            raise LaunchFailed(f"The grid of {jit.__name__} must be integers, not {type(size).__name__} ({axis}).", kernel=jit.__name__)
    if y > _MOST_YZ or z > _MOST_YZ or min(x, y, z) < 0:
        raise LaunchFailed(f"Triton Error [CUDA]: invalid argument (grid {x}, {y}, {z} of {jit.__name__})", kernel=jit.__name__)
    return int(x), int(y), int(z)


def watcher(jit: JITFunction, grid: tuple[int, int, int], kinds: Collection[str]) -> Watcher:
    """For one launch; `kinds` says what is recorded besides accesses out of bounds."""
    return Watcher(jit.__name__, grid_of(grid, jit), kinds, "races" in kinds and uses_old_values(jit))


def interpret(jit: JITFunction, grid: tuple[int, int, int], values: tuple, watcher: Watcher, sample: int | None = None) -> int:
    """Runs the programs of a launch on the CPU memory behind the arguments: all of them, or `sample` spread over the grid.

    A sample ends early when it has taken `_SAMPLE_S`. Returns how many programs ran.
    """
    x, y, z = grid_of(grid, jit)
    if sample is None and x * y * z > MOST_PROGRAMS:
        raise Unsupported(
            f"A launch of {x * y * z} programs is more than the {MOST_PROGRAMS} that the simulated device runs.", kernel=jit.__name__
        )
    language.begin_launch()
    tally.reset()
    with torch._C.DisableTorchFunction(), np.errstate(all="ignore"), warnings.catch_warnings(), language.language():
        warnings.simplefilter("ignore")
        fn = language.rewritten(jit)
        builder.watcher = watcher
        arguments = {p.name: _watched(p, value, watcher) for p, value in zip(jit.params, values, strict=True)}
        builder.set_grid_dim(x, y, z)
        begun, ran = time.perf_counter(), 0
        now = begun
        try:
            for number in _numbers(x * y * z, sample):
                program = (number // (y * z), number // z % y, number % z)
                builder.grid_idx = program
                watcher.begin(program, number)
                fn(**arguments)
                ran, former, now = ran + 1, now, time.perf_counter()
                budget.spend(now - former, jit.__name__, ran, x * y * z)
                if sample is not None and now - begun > _SAMPLE_S:
                    break
            return ran
        except MemoryError:
            raise
        except Exception as error:
            raise _trapped(jit, error) from error


def _numbers(count: int, sample: int | None) -> Iterable[int]:
    """All programs in order, or some from the middle of equal parts: those at the edges have masked lanes."""
    if sample is None or sample >= count:
        return range(count)
    return [(2 * part + 1) * count // (2 * sample) for part in range(sample)]


def _watched(parameter: Any, value: Any, watcher: Watcher) -> Any:
    if parameter.is_constexpr:
        return value
    made = argument(value, parameter.annotation_type)
    watcher.memory.add(parameter.name, value, made)
    return made


def argument(value: Any, annotation: str | None) -> Any:
    """A kernel argument as the interpreter's scalar or pointer, of the type that compiled code gives it."""
    if isinstance(value, (bool, float)):
        dtype, kind = (tl.int1, np.bool_) if isinstance(value, bool) else (tl.float32, np.float32)
        value = tl.tensor(interpreter.TensorHandle(np.array([value], dtype=kind), dtype), dtype)
    else:
        value = interpreter._implicit_cvt(value)
    if annotation and isinstance(value, tl.tensor) and not value.dtype.is_ptr():
        wanted = tl.str_to_ty(annotation, None)
        if wanted != value.dtype:
            value = semantic.cast(value, wanted)
    return value


def _trapped(jit: JITFunction, error: Exception) -> BaseException:
    frames = traceback.extract_tb(error.__traceback__)
    line = next((f.lineno for f in reversed(frames) if f.filename == jit.fn.__code__.co_filename), None)
    detail = {"kernel": jit.__name__, "line": line, "type": type(error).__name__}
    if isinstance(error, AssertionError):
        return LaunchFailed(f"{jit.__name__} trapped at line {line}: {error}", **detail)
    return Unsupported(f"The simulated device cannot interpret {jit.__name__} (line {line}): {type(error).__name__}: {error}", **detail)
