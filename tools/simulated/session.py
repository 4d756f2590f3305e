"""A session on the simulated device: inside it torch and Triton find a GPU."""

import functools
import random
import time
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Self

import numpy as np
import torch
from triton.compiler.compiler import make_backend, max_shared_mem
from triton.runtime import driver
from triton.runtime.autotuner import Autotuner, OutOfResources
from triton.runtime.jit import JITFunction

from tools import platforms
from tools.platforms.sheet import HardwareSheet
from tools.simulated import cuda, language, launch, products
from tools.simulated import tensor as device_tensor
from tools.simulated.budget import budget
from tools.simulated.builder import builder
from tools.simulated.driver import SimDriver
from tools.simulated.errors import CompileFailed, DeviceMismatch, LaunchFailed
from tools.simulated.patches import Patches
from tools.simulated.refusal import refused
from tools.simulated.tensor import SimMode, SimTensor, raw, simulated
from tools.simulated.watcher import KINDS

_TUNED_AWAY = {"OutOfResources", "CompileTimeAssertionFailure", "PTXASError"}
"""Errors that the autotuner takes as "too slow"."""
_GAP = 64 << 10


class Session:
    """A context in which candidates run unchanged. Each launch is compiled for every target, then interpreted."""

    def __init__(self, targets: Sequence[str], sheet: HardwareSheet, seed: int = 0) -> None:
        self.launches: list[str] = []
        """Names of the kernels launched, in order."""
        self.out_of_bounds: list[dict[str, Any]] = []
        """Accesses outside the tensors of a launch: `kernel`, `kind` (load, store, atomic), `tensor`, `index`, `program`, `lanes`."""
        self.races: list[dict[str, Any]] = []
        """Conflicts between the programs of a launch: `kernel`, `kind`, `tensor`, `index`, `programs`, `lanes` (see `races.Race`)."""
        self.advisories: list[str] = []
        """What could not be judged, a sentence each."""
        self.traffic: list[dict[str, Any]] = []
        """Per launch: `kernel`, `grid`, `num_warps`, `programs_run`; of the kernel built for the device's own target `registers`,
        `spills`, `shared_bytes`, `occupancy`; and what `traffic.Traffic` and `flops.Tally` counted."""
        self.watching = set(KINDS)
        """Which of these are recorded, of `races` and `traffic`; accesses out of bounds always are."""
        self.noop = False
        """Whether launches leave memory as it is."""
        self.interpreting = False
        """Whether a kernel runs: what torch computes meanwhile is the device's own work."""
        self.sample: int | None = None
        """How many programs of each launch run; None is all. With a number results are worth nothing: it is for counting."""
        self._built: dict[str, Any] = {}
        """Facts of the kernel compiled last for the device's own target."""
        self._logs = [launch.TargetLog(target) for target in targets]
        self._sheet = sheet
        self._seed = seed
        self._patches = Patches()
        self._mode = SimMode()
        # The device's own target is the one that candidates see and that is launched; the others are only compiled.
        own = targets.index(platforms.nearest(targets, sheet.target))
        self._driver = SimDriver(tuple(targets), own, sheet, self._launch)

    @property
    def compiles(self) -> list[dict[str, Any]]:
        """Per target: `target`, `kernels` (name, registers, spills, shared_bytes, occupancy), `seconds`, `error`."""
        return [log.to_dict() for log in self._logs]

    def to_device(self, tensor: torch.Tensor) -> torch.Tensor:
        """A copy in memory of its own on the simulated device, with the same strides and offset. New inputs are a new call."""
        budget.renew()
        with torch._C.DisableTorchFunction():
            offset = tensor.storage_offset()
            last = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True)) if tensor.numel() else -1
            memory = _guarded(int(offset + last + 1), tensor.dtype)
            memory.copy_(tensor.detach().as_strided(memory.shape, (1,), 0))
            return simulated(memory.as_strided(tensor.shape, tensor.stride(), offset))

    def blank(self, count: int, dtype: torch.dtype) -> torch.Tensor:
        """Elements on the simulated device that nobody has written: they read as zeros, and take no memory until they are touched."""
        with torch._C.DisableTorchFunction():
            return simulated(_guarded(count, dtype))

    def to_host(self, tensor: torch.Tensor) -> torch.Tensor:
        """The plain CPU tensor behind a result; a result that lies on the host is a `DeviceMismatch`."""
        if not isinstance(tensor, SimTensor):
            raise DeviceMismatch("The result is on cpu; it must be on the device of the inputs.", device="cpu")
        # Nothing of a class of the candidate's is called, which might compute only now.
        with torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch():
            return raw(tensor).detach()

    def __enter__(self) -> Self:
        patches = self._patches
        cuda.install(patches, self._sheet)
        device_tensor.install(patches)
        patches.set(driver, "_active", self._driver)
        patches.set(JITFunction, "run", self._wrap(JITFunction.run))
        patches.set(JITFunction, "__call__", language.device_call)
        patches.set(Autotuner, "prune_configs", self._choose(Autotuner.prune_configs))
        patches.set(Autotuner, "_bench", lambda tuner, *args, config, **kwargs: [1.0, 1.0, 1.0])
        max_shared_mem.cache_clear()
        target = self._driver.get_current_target()
        builder.prefer(make_backend(target).parse_options({}).default_dot_input_precision)
        self._mode.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._mode.__exit__(kind, error, trace)
        self._patches.restore()

    def _choose(self, prune: Any) -> Any:
        """Autotuning without timing: the seed picks among the configurations that compile and fit."""
        session = self

        def prune_configs(tuner: Any, kwargs: dict[str, Any], *rest: Any) -> list[Any]:
            configs = list(prune(tuner, kwargs, *rest))
            key = f"{session._seed}/{tuner.base_fn.__name__}"
            random.Random(key).shuffle(configs)
            chosen = next((c for c in configs if len(configs) == 1 or session._fits(tuner, c, kwargs)), configs[0])
            # Twice, so that the tuner still does what it does after tuning: reset its tensors.
            return [chosen] * min(2, len(configs))

        return prune_configs

    def _fits(self, tuner: Any, config: Any, kwargs: dict[str, Any]) -> bool:
        """Whether a configuration would survive tuning on a device."""
        errors = [log.error for log in self._logs]
        if config.pre_hook is not None:
            # It may shape what the kernel is compiled for, such as the blocks of tensor descriptors.
            config.pre_hook({**tuner.nargs, **kwargs, **config.all_kwargs()})
        try:
            kernel = tuner.fn.run(*tuner.nargs.values(), **{**kwargs, "warmup": True}, **config.all_kwargs())
            kernel._init_handles()
        except OutOfResources:
            return False
        except CompileFailed as failed:
            if failed.detail["type"] not in _TUNED_AWAY:
                raise
            for log, error in zip(self._logs, errors, strict=True):
                log.error = error
            return False
        return True

    def _wrap(self, run: Any) -> Any:
        session = self

        @functools.wraps(run)
        def wrapped(jit: JITFunction, *args: Any, grid: Any, warmup: bool, **kwargs: Any) -> Any:
            launch.check_memory(args, kwargs)
            kernel = session._compiled(run, jit, args, grid, kwargs)
            if warmup:
                return kernel
            try:
                return run(jit, *args, grid=grid, warmup=False, **kwargs)
            except OutOfResources as error:
                raise LaunchFailed(str(error), kernel=jit.__name__, type="OutOfResources") from error

        return wrapped

    def _compiled(self, run: Any, jit: JITFunction, args: tuple, grid: Any, kwargs: dict[str, Any]) -> Any:
        """The kernel for the device's own target. All targets are tried before the first that failed is told."""
        kernel, failed = None, None
        for index in self._driver.order if self.sample is None else self._driver.order[:1]:
            try:
                built = self._compile(run, index, jit, args, grid, kwargs)
                kernel = kernel or built
            except CompileFailed as error:
                failed = failed or error
        if failed:
            raise failed
        return kernel

    def _compile(self, run: Any, index: int, jit: JITFunction, args: tuple, grid: Any, kwargs: dict[str, Any]) -> Any:
        log, begun = self._logs[index], time.perf_counter()
        try:
            with self._driver.compiling_for(index):
                kernel = run(jit, *args, grid=grid, warmup=True, **kwargs)
            facts = log.add(kernel)
            if index == self._driver.order[0]:
                self._built = facts
                self._advise(products.advisory(jit, kernel.asm["ttir"]))
            return kernel
        except MemoryError:
            raise
        except Exception as error:
            failed = refused(jit, log.target, error)
            log.error = failed.message
            raise failed from error
        finally:
            log.seconds += time.perf_counter() - begun

    def _advise(self, advisory: str) -> None:
        if advisory and advisory not in self.advisories:
            self.advisories.append(advisory)

    def _launch(self, jit: JITFunction, grid: tuple[int, int, int], values: tuple, num_warps: int) -> None:
        launch.check_memory(values, {})
        self.launches.append(jit.__name__)
        if self.noop:
            return
        watcher, ran = launch.watcher(jit, grid, self.watching), 0
        self.interpreting = True
        try:
            ran = launch.interpret(jit, grid, values, watcher, self.sample)
        finally:
            self.interpreting = False
            found = watcher.findings()
            self.out_of_bounds += found.out_of_bounds
            self.races += found.races
            self.advisories += found.advisories
            if found.traffic is not None:
                built = {name: self._built.get(name) for name in ("registers", "spills", "shared_bytes", "occupancy")}
                facts = {"kernel": jit.__name__, "grid": list(grid), "num_warps": num_warps, "programs_run": ran}
                self.traffic.append(facts | built | found.traffic)


def _guarded(count: int, dtype: torch.dtype) -> torch.Tensor:
    """Memory with nothing of anyone's within `_GAP` bytes, so that no access beyond it is taken for one of a neighbour."""
    if not count:
        return torch.empty(0, dtype=dtype)
    return torch.frombuffer(np.zeros(count * dtype.itemsize + 2 * _GAP, np.uint8), dtype=dtype, count=count, offset=_GAP)
