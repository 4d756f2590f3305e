"""What a GPU reaches, held against what its sheet says: a sheet that is exceeded is wrong, and nothing may be decided by it."""

from collections.abc import Callable

import torch

from tools.platforms import HardwareSheet

COPY_BYTES = 1 << 30
SIDE = 8192
"""Of the square products; a quarter of it where products are slow."""
SLOW = frozenset({"float32", "float64"})
TRIES = 4
EXCESS = 1.02
"""Beyond the sheet by so much is no error of measurement."""
DTYPES = {"bfloat16": torch.bfloat16, "float16": torch.float16, "tensorfloat32": torch.float32, "float32": torch.float32}


def measured(device: str) -> dict[str, float]:
    """Bytes/s of a large copy (`memory`), and FLOP/s of large matrix products by dtype; the best of a few."""
    return {"memory": _copy(device)} | {name: _product(device, name) for name in DTYPES}


def doubt(reached: dict[str, float], sheet: HardwareSheet | None) -> str:
    """Why the sheet cannot be right, or "" where nothing speaks against it."""
    if sheet is None:
        return "no vendor figures of this device are known"
    known = {"memory": sheet.memory_bandwidth} | sheet.peak_flops
    for name, rate in reached.items():
        if name in known and rate > EXCESS * known[name]:
            what = "bytes/s of a copy" if name == "memory" else f"FLOP/s of {name} products"
            return f"the sheet of {sheet.name} is exceeded: {rate:.3g} {what} were measured, it allows {known[name]:.3g}"
    return ""


def _copy(device: str) -> float:
    free, _ = torch.accelerator.get_memory_info()
    size = min(COPY_BYTES, free // 8)
    source = torch.randint(0, 255, (size,), dtype=torch.uint8, device=device)
    target = torch.empty_like(source)
    return 2 * size / _best(device, lambda: target.copy_(source))


def _product(device: str, name: str) -> float:
    side = SIDE // 4 if name in SLOW else SIDE
    dtype, before = DTYPES[name], torch.get_float32_matmul_precision()
    a, b = (torch.randn(side, side, device=device).to(dtype) for _ in range(2))
    torch.set_float32_matmul_precision("high" if name == "tensorfloat32" else "highest")
    try:
        return 2.0 * side**3 / _best(device, lambda: torch.mm(a, b))
    finally:
        torch.set_float32_matmul_precision(before)


def _best(device: str, action: Callable[[], object]) -> float:
    """Seconds, the least of a few."""
    spans = []
    action()
    for _ in range(TRIES):
        start, end = torch.Event(device, enable_timing=True), torch.Event(device, enable_timing=True)
        start.record()
        action()
        end.record()
        spans.append((start, end))
    torch.accelerator.synchronize()
    return min(start.elapsed_time(end) for start, end in spans) / 1000
