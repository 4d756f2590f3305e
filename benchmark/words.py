"""A task in words, for prompts: what is to be written, and on which inputs it is tried. Held-out cases never appear."""

from typing import Any

import torch

from benchmark import source
from benchmark.task import Case, Task

NO_SEED = 0
"""Shapes and dtypes do not depend on the seed; values are never put into words."""


def describe(task: Task) -> dict[str, str]:
    """`signature, semantics, reference, contract, cases`, each a text; the same for every call."""
    return {
        "signature": task.signature,
        "semantics": _unwrapped(task.reference.__doc__ or f"What the reference of `{task.name}` computes."),
        "reference": source.complete(task.reference),
        "contract": "\n".join(f"- {clause}" for clause in clauses(task)),
        "cases": cases(task),
    }


def clauses(task: Task) -> list[str]:
    contract = task.contract
    written = ", ".join(f"`{name}`" for name in contract.mutates)
    return [
        f"`{task.entry_name}` takes the parameters of the signature, in its order and with its defaults, and no others.",
        "The result has the shape and the dtype that the reference returns, on the device of the inputs.",
        f"It writes {written} and leaves every other argument as it is." if written else
        "It returns new tensors: no argument is written, and the result shares no memory with one.",
        f"Right means: {contract.checker.words}.",
        f"Sums are accumulated in {contract.accumulate}; TF32 products {'count' if contract.tf32 else 'do not count'} as float32.",
        *contract.notes,
    ]  # fmt: skip


def cases(task: Task) -> str:
    """The correctness cases that may be shown, and the timed sizes, one a line."""
    lines = [f"- {case.name}: {arguments(task, case)}" for case in task.cases if not case.held_out]
    sizes = [f"- {case.name}: {arguments(task, case)}" for case in task.timing]
    return "\n".join([*lines, *(["Timed:", *sizes] if sizes else [])])


def arguments(task: Task, case: Case) -> str:
    """`input float32 (37, 129), dim=-1`, with strides where they are not the usual ones."""
    return ", ".join(_argument(name, value) for name, value in case.arguments(task.id, NO_SEED, "meta").items())


def _argument(name: str, value: Any) -> str:
    if isinstance(value, torch.Tensor):
        return f"{name} {_tensor(value)}"
    if isinstance(value, list | tuple) and any(isinstance(item, torch.Tensor) for item in value):
        return f"{name} [{', '.join(_tensor(item) for item in value)}]"
    return f"{name}={value!r}"


def _tensor(tensor: torch.Tensor) -> str:
    text = f"{str(tensor.dtype).removeprefix('torch.')} {tuple(tensor.shape)}"
    if not tensor.is_contiguous():
        text += f" with strides {tensor.stride()}"
    return text + (f" at offset {tensor.storage_offset()}" if tensor.storage_offset() else "")


def _unwrapped(text: str) -> str:
    """Paragraphs on one line each."""
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.strip().split("\n\n"))
