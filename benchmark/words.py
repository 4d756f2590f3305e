"""A task in words, for prompts: what is to be written, and on which inputs it is tried. Held-out cases never appear."""

from typing import Any

import torch

from benchmark.contracts import NO_SEED, clauses
from benchmark.task import Case, Task


def describe(task: Task) -> dict[str, str]:
    """`signature, semantics, reference, contract, cases`, each a text; the same for every call."""
    return {
        "signature": task.signature,
        "semantics": _unwrapped(task.semantics),
        "reference": task.text,
        "contract": "\n".join(f"- {clause}" for clause in clauses(task)),
        "cases": cases(task),
    }


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
    return f"{name}={'the device' if isinstance(value, torch.device) else repr(value)}"


def _tensor(tensor: torch.Tensor) -> str:
    text = f"{str(tensor.dtype).removeprefix('torch.')} {tuple(tensor.shape)}"
    if not tensor.is_contiguous():
        text += f" with strides {tensor.stride()}"
    return text + (f" at offset {tensor.storage_offset()}" if tensor.storage_offset() else "")


def _unwrapped(text: str) -> str:
    """Paragraphs on one line each."""
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.strip().split("\n\n"))
