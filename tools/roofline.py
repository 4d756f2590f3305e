"""The least work of a task: bytes that must pass through memory and FLOPs that must be done, and what time they need at best."""

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import torch

from benchmark.task import Arguments, Task
from tools.operations import GATHERS, Operation, distinct, dtype_name, size_of, tensors, trace
from tools.platforms import HardwareSheet

MARGIN = 0.8
"""Part of the floor that is held against a candidate. Sheets give rates at a clock that boards exceed by up to 8 %, and one
step of Strassen's scheme saves an eighth of a product."""
_WHOLE = frozenset({
    "mm", "bmm", "addmm", "baddbmm", "mv", "dot", "_softmax", "_log_softmax", "native_layer_norm", "native_group_norm",
    "native_batch_norm", "rms_norm", "_to_copy", "clone", "copy", "copy_", "cat", "cumsum", "cumprod", "logcumsumexp", "sort", "topk",
    "nll_loss_forward",
})  # fmt: skip
"""Operations beside pointwise ones and reductions whose whole output needs every element of every input."""
_SELECTIVE = frozenset({"any", "all", "where", "heaviside", "prod"})
_FASTEST = {
    "float64": ("float64", "float32"), "float32": ("float32", "tensorfloat32", "bfloat16"), "tensorfloat32": ("tensorfloat32", "bfloat16"),
}  # fmt: skip
"""Rates at which products of a dtype can be had by splitting them into narrower ones."""


@dataclass(frozen=True)
class Work:
    """The least work of one call, by the reference. `read` and `written` are what a plain kernel without waste moves: every input
    that is looked at once (of a table that is gathered from, as much as comes out), every output once.

    `sure_*` leave out whatever some kernel could do without: inputs that are masked, gathered from or sliced on the way to the
    output, operators that skip (strided windows), in-place arguments that are overwritten.
    """

    read: int
    written: int
    products: dict[str, float]
    """Matrix FLOPs by dtype, as hardware sheets name them."""
    plain: float
    """Elementary operations of everything else: one for each element of each aten operation."""
    sure_read: int
    sure_products: dict[str, float]
    notes: tuple[str, ...] = ()

    @property
    def moved(self) -> int:
        return self.read + self.written

    @property
    def flops(self) -> float:
        return sum(self.products.values()) + self.plain


def minimal(task: Task, arguments: Arguments) -> Work | None:
    """The work of `task` on arguments of these shapes (values are not looked at); None where the reference needs values to run."""
    arguments = _meta(arguments)
    try:
        result, operations = trace(task.reference, arguments)
    except (RuntimeError, ValueError, TypeError):
        return None
    inputs = {id(tensor): tensor for tensor in tensors(arguments)}
    written = [arguments[name] for name in task.contract.written(arguments)]
    returned = [*tensors(result), *tensors(written)]
    new = {tensor.untyped_storage()._cdata: tensor for tensor in returned if not _is_view(tensor, inputs) or id(tensor) in _ids(written)}
    needed = _needed(operations, returned)
    over = _ids(written)
    sure = sum(needed.get(key, 0) * tensor.element_size() for key, tensor in inputs.items() if key not in over)
    products: defaultdict[str, float] = defaultdict(float)
    sure_products: defaultdict[str, float] = defaultdict(float)
    for operation in operations:
        if not operation.products:
            continue
        name = _product_dtype(task, operation)
        products[name] += operation.products
        if operation.name in _WHOLE and any(needed.get(id(out)) == distinct(out) for out in operation.outputs):
            sure_products[name] += operation.products
    plain = sum(float(o.elements) for o in operations if not o.view and not o.products)
    read, notes = _read(operations, inputs)
    moved = sum(size_of(tensor) for tensor in new.values())
    return Work(read, moved, dict(products), plain, sure, dict(sure_products), notes)


def floor_us(work: Work, sheet: HardwareSheet, margin: float = MARGIN, warm: bool = False) -> float:
    """Microseconds below which no kernel can be: the longer of memory and products.

    Memory: with a cold L2 cache (flushed before the call) every needed input comes from memory; written bytes may stay in the
    cache when the clock stops, so only those beyond its capacity count. With a warm one, what fits into it is free altogether.
    Products: at the fastest rate that any way of computing them has. Launching is left out, since its time is not on a sheet.
    """
    cached = max(0, work.sure_read + work.written - sheet.l2_bytes)
    moved = cached if warm else max(work.sure_read, cached)
    memory = moved / sheet.memory_bandwidth
    products = sum(flops / fastest(dtype, sheet) for dtype, flops in work.sure_products.items())
    return margin * max(memory, products) * 1e6


def fastest(dtype: str, sheet: HardwareSheet) -> float:
    """FLOP/s of products of a dtype; infinite where the sheet has none."""
    rates = [sheet.peak_flops[name] for name in _FASTEST.get(dtype, (dtype,)) if name in sheet.peak_flops]
    return max(rates, default=float("inf"))


def _meta(value: Any) -> Any:
    """The same with tensors that hold nothing; one tensor stays one."""
    seen: dict[int, torch.Tensor] = {}

    def moved(item: Any) -> Any:
        if isinstance(item, dict):
            return {name: moved(part) for name, part in item.items()}
        if isinstance(item, list | tuple):
            return type(item)(moved(part) for part in item)
        if isinstance(item, torch.Tensor):
            return seen.setdefault(id(item), torch.empty_strided(item.shape, item.stride(), dtype=item.dtype, device="meta"))
        return item

    return moved(value)


def _is_view(tensor: torch.Tensor, inputs: dict[int, torch.Tensor]) -> bool:
    storages = {item.untyped_storage()._cdata for item in inputs.values()}
    return tensor.untyped_storage()._cdata in storages


def _ids(values: Any) -> set[int]:
    return {id(tensor) for tensor in tensors(values)}


def _needed(operations: list[Operation], outputs: list[torch.Tensor]) -> dict[int, int]:
    """By tensor, how many of its elements the outputs cannot do without: a lower bound, by walking back from the outputs."""
    needed = {id(tensor): distinct(tensor) for tensor in outputs}
    for operation in reversed(operations):
        for source in operation.inputs:
            found = _back(operation, source, needed)
            needed[id(source)] = max(needed.get(id(source), 0), found)
    return needed


def _back(operation: Operation, source: torch.Tensor, needed: dict[int, int]) -> int:
    """Elements of `source` that one operation needs for what is needed of its outputs."""
    wanted = [(needed.get(id(out), 0), distinct(out)) for out in operation.outputs]
    whole = any(have == size > 0 for have, size in wanted)
    if operation.view:
        out = operation.outputs[0]
        return wanted[0][0] if distinct(out) <= distinct(source) else 0
    selects = operation.name in _SELECTIVE or any(t.dtype == torch.bool for t in operation.inputs)
    known = operation.name in _WHOLE or operation.tags & {"pointwise", "reduction"}
    return distinct(source) if whole and known and not selects else 0


def _read(operations: list[Operation], inputs: dict[int, torch.Tensor]) -> tuple[int, tuple[str, ...]]:
    """Bytes of the inputs that are looked at, each once; what is gathered counts as much as comes out."""
    storages = {tensor.untyped_storage()._cdata: tensor for tensor in inputs.values()}
    looked: dict[int, int] = {}
    gathered = False
    for operation in operations:
        if operation.view:
            continue
        for source in operation.inputs:
            key = source.untyped_storage()._cdata
            if key not in storages:
                continue
            size = size_of(source)
            if operation.name in GATHERS and source is operation.inputs[0] and operation.written < size:
                size, gathered = operation.written, True
            looked[key] = min(looked.get(key, 0) + size, size_of(storages[key]))
    notes = ("of tables that are gathered from, only as much counts as comes out",) if gathered else ()
    return sum(looked.values()), notes


def _product_dtype(task: Task, operation: Operation) -> str:
    """What the products of an operation may be computed in."""
    if task.contract.accumulate == "int32":
        return "int8"
    name = dtype_name(operation.inputs[0].dtype) if operation.inputs else "float32"
    return "tensorfloat32" if name == "float32" and task.contract.tf32 else name
