"""`torch.cuda` and its kin answering from a hardware sheet."""

import contextlib
import types
from typing import Any

import torch

from tools.platforms.sheet import HardwareSheet
from tools.simulated.errors import Unsupported
from tools.simulated.patches import Patches
from tools.simulated.tensor import DEVICE, on_device, set_default_device


class Event:
    """Work on the simulated device is done when the call returns, so an event is always past."""

    def __init__(self, *args: Any, **kwargs: Any) -> None: ...

    def record(self, stream: Any = None) -> None: ...

    def wait(self, stream: Any = None) -> None: ...

    def synchronize(self) -> None: ...

    def query(self) -> bool:
        return True

    def elapsed_time(self, end: "Event") -> float:
        """No time is told here; a constant second, so that whoever repeats a call until enough time has passed repeats it once."""
        return 1000.0


class Stream(Event):
    cuda_stream = 0
    device = DEVICE
    device_index = DEVICE.index

    def wait_stream(self, stream: Any) -> None: ...

    def wait_event(self, event: Any) -> None: ...

    def record_event(self, event: Event | None = None) -> Event:
        return event or Event()

    def __enter__(self) -> "Stream":
        return self

    def __exit__(self, *error: Any) -> None: ...


class _Where(contextlib.nullcontext):
    """`torch.cuda.device(...)` and the like: there is only one device."""

    def __init__(self, where: Any = None) -> None:
        super().__init__()
        if where is not None and not isinstance(where, torch.Tensor):
            on_device(where)


class _Generator(torch.Generator):
    """A host generator that says where it was asked to be."""

    where: torch.device

    def __new__(cls, device: Any = "cpu") -> "_Generator":
        made = super().__new__(cls)
        made.where = DEVICE if on_device(device) else torch.device("cpu")
        return made

    def __getattribute__(self, name: str) -> Any:
        return super().__getattribute__("where" if name == "device" else name)


class _Autocast(torch.autocast):
    def __init__(self, device_type: str = DEVICE.type, dtype: torch.dtype | None = None, *args: Any, **kwargs: Any) -> None:
        if device_type == DEVICE.type:
            device_type, dtype = "cpu", dtype or torch.float16
        super().__init__(device_type, dtype, *args, **kwargs)


def properties(sheet: HardwareSheet) -> types.SimpleNamespace:
    """What `torch.cuda.get_device_properties` returns."""
    major, minor = divmod(int(sheet.arch), 10)
    return types.SimpleNamespace(
        name=sheet.name,
        major=major,
        minor=minor,
        multi_processor_count=sheet.multiprocessors,
        total_memory=sheet.memory_bytes,
        warp_size=sheet.warp_size,
        max_threads_per_multi_processor=sheet.max_threads_per_multiprocessor,
        max_threads_per_block=sheet.max_threads_per_block,
        regs_per_multiprocessor=sheet.registers_per_multiprocessor,
        shared_memory_per_block=48 << 10,
        shared_memory_per_block_optin=sheet.shared_per_block,
        shared_memory_per_multiprocessor=sheet.shared_per_multiprocessor,
        L2_cache_size=sheet.l2_bytes,
        is_integrated=False,
        is_multi_gpu_board=False,
        gcnArchName="",
    )


def install(patches: Patches, sheet: HardwareSheet) -> None:
    """Replaces the parts of `torch.cuda` that touch a device, until `patches` are restored."""
    facts = properties(sheet)
    stream = Stream()
    answers: dict[str, Any] = {
        **dict.fromkeys(("_lazy_init", "init", "set_device", "synchronize", "empty_cache", "ipc_collect", "set_stream")),
        **dict.fromkeys(("reset_peak_memory_stats", "manual_seed", "manual_seed_all")),
        **dict.fromkeys(("is_available", "is_initialized", "is_bf16_supported"), True),
        **dict.fromkeys(("memory_allocated", "max_memory_allocated", "memory_reserved", "max_memory_reserved"), 0),
        "device_count": 1,
        "current_device": DEVICE.index,
        "get_device_properties": facts,
        "get_device_name": sheet.name,
        "get_device_capability": (facts.major, facts.minor),
        "current_stream": stream,
        "default_stream": stream,
        "is_current_stream_capturing": False,
        "mem_get_info": (sheet.memory_bytes, sheet.memory_bytes),
        "get_arch_list": [f"sm_{sheet.arch}"],
    }
    for name, value in answers.items():
        patches.set(torch.cuda, name, _answer(value))
    patches.set(torch.cuda, "stream", lambda stream: contextlib.nullcontext(stream))
    for owned, kind in (("Stream", Stream), ("ExternalStream", Stream), ("Event", Event), ("device", _Where), ("device_of", _Where)):
        patches.set(torch.cuda, owned, kind)
    patches.set(torch.cuda.amp, "autocast", lambda enabled=True, dtype=torch.float16, **_: _Autocast(DEVICE.type, dtype, enabled))
    for name in ("range_push", "range_pop", "range_start", "range_end", "mark"):
        patches.set(torch.cuda.nvtx, name, _answer(None))
    for name in ("CUDAGraph", "graph", "make_graphed_callables"):
        patches.set(torch.cuda, name, _unsupported(f"torch.cuda.{name}"))
    patches.set(torch, "compile", _uncompiled)
    for owner in (torch, torch.amp, torch.amp.autocast_mode):
        patches.set(owner, "autocast", _Autocast)
    patches.set(torch, "Generator", _Generator)
    patches.set(torch, "set_default_device", set_default_device)
    patches.set(torch.version, "cuda", torch.version.cuda or "12.8")


def _unsupported(what: str) -> Any:
    def refuse(*args: Any, **kwargs: Any) -> None:
        raise Unsupported(f"The simulated device has no {what}.")

    return refuse


def _uncompiled(model: Any = None, **options: Any) -> Any:
    """`torch.compile` without its compiler: what it returns computes the same."""
    return model if model is not None else lambda model: model


def _answer(value: Any) -> Any:
    return lambda *args, **kwargs: value
