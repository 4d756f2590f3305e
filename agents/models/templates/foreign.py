"""Tasks in files that are not ours: what of them can be looked at here, where their code must not run."""

import torch

from agents.models.templates.calls import Arguments, Reference
from agents.models.templates.graph import Declined
from benchmark.importers.formula import NoFormula, formula
from benchmark.task import Case, Task


def reference(task: Task) -> Reference:
    """The reference to trace. Raises `Declined` for a foreign one that is more than a formula."""
    if task.origin is None:
        return task.reference
    try:
        return formula(task.origin)
    except NoFormula as more:
        raise Declined(f"the reference is in a file of the user's and is more than a formula: {more}") from None


def arguments(task: Task, case: Case) -> Arguments:
    """Arguments of a case; of a foreign task, values that stand for its own, which are drawn in a sandbox."""
    if task.origin is None:
        return case.arguments(task.id, 0)
    return {name: _stand_in(value) for name, value in case.arguments(task.id, 0, "meta").items()}


def _stand_in(value: object) -> object:
    if isinstance(value, list | tuple):
        return type(value)(_stand_in(item) for item in value)
    if not isinstance(value, torch.Tensor):
        return value
    floats = value.dtype.is_floating_point or value.dtype.is_complex
    return torch.rand(value.shape, dtype=value.dtype) if floats else torch.zeros(value.shape, dtype=value.dtype)
