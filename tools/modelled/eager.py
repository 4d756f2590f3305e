"""The modelled time of eager torch: one launch for each aten operation of the reference, views free.

An operation takes START + max(bytes in and out over the bandwidth reached, products over `DOT_REACHED` of the peak). Its inputs are
read once, except by kernels that pass over them more often (`PASSES`); torch's products are cut into tiles of 128 x 128 that are shared
out among the multiprocessors. fp32 products run without TF32, which is torch's default.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tools.modelled.launch import START_US
from tools.operations import Operation, dtype_name
from tools.platforms import HardwareSheet

REACHED = 0.9
REDUCED = 0.75
"""Bandwidth that torch's reductions reach."""
DOT_REACHED = 0.78
LATENCY_US = 1.8
TILE = 128
PASSES = {
    "_softmax": 3,
    "_log_softmax": 2.5,
    "native_layer_norm": 2,
    "rms_norm": 2,
    "argmax": 3,
    "argmin": 3,
    "var_mean": 2,
    "std": 2,
    "var": 2,
}
"""How often torch's kernel reads its input at large sizes; for argmax, whose pairs of value and index are slower than its reads, what
that amounts to."""


@dataclass(frozen=True)
class Eager:
    """What eager torch launches for one call, JSON-safe: `{name, read, written, products, dtype, tiles}` for each operation."""

    operations: tuple[dict[str, Any], ...]

    @classmethod
    def of(cls, operations: Sequence[Operation]) -> "Eager":
        return cls(tuple(_plain(operation) for operation in operations if not operation.view))


def eager(work: Eager, sheet: HardwareSheet) -> float:
    """Microseconds."""
    return sum(START_US + _took(operation, sheet) for operation in work.operations)


def _plain(operation: Operation) -> dict[str, Any]:
    dtype = dtype_name(operation.inputs[0].dtype) if operation.inputs else "float32"
    shape = operation.outputs[0].shape
    tiles = math.prod(shape[:-2]) * math.ceil(shape[-2] / TILE) * math.ceil(shape[-1] / TILE) if len(shape) > 1 else 1
    return {
        "name": operation.name,
        "read": operation.read,
        "written": operation.written,
        "products": operation.products,
        "dtype": dtype,
        "tiles": max(1, tiles),
        "reduction": "reduction" in operation.tags,
    }


def _took(operation: dict[str, Any], sheet: HardwareSheet) -> float:
    reached = REDUCED if operation["reduction"] else REACHED
    moved = operation["read"] * PASSES.get(operation["name"], 1) + operation["written"]
    memory = moved / (reached * sheet.memory_bandwidth)
    share = operation["tiles"] / sheet.multiprocessors
    rate = sheet.peak_flops.get(operation["dtype"], sheet.peak_flops["float32"])
    products = operation["products"] / (DOT_REACHED * rate * share / math.ceil(share))
    return LATENCY_US + max(memory, products) * 1e6
