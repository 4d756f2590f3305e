"""A task's contract in words, one sentence a clause, and as plain fields."""

import inspect
from dataclasses import asdict, is_dataclass
from typing import Any

from benchmark.checkers import exact, ties
from benchmark.task import Task

NO_SEED = 0
"""Shapes, dtypes and options do not depend on the seed; values are never put into words."""


def clauses(task: Task) -> list[str]:
    return _clauses(task, never_given(task))


DRAWS = (
    "Each call draws anew: two calls on the same arguments must differ, and any generator will do, such as `tl.rand(seed, offsets)` in the"
    " kernel with a seed that the wrapper draws on the host for each call (`torch.randint(2**31 - 1, (1,)).item()` is allowed)."
)


def _clauses(task: Task, unused: list[str]) -> list[str]:
    contract = task.contract
    return [
        f"`{task.entry_name}` takes the parameters of the signature, in its order and with its defaults, and no others.",
        *_left_alone(unused),
        "The result has the shape and the dtype that the reference returns, on the device of the inputs; its strides are free.",
        _writes(task),
        f"Right means: {contract.checker.words}.",
        *([] if isinstance(contract.checker, exact | ties) else [_sums(task)]),
        *([DRAWS] if contract.random else []),
        *(note if note.endswith(".") else f"{note}." for note in contract.notes),
    ]


def _left_alone(unused: list[str]) -> list[str]:
    if not unused:
        return []
    return [f"No input gives {_joined(unused)}: leave {'it' if len(unused) == 1 else 'them'} in the signature, at the default."]


def never_given(task: Task) -> list[str]:
    """Parameters that have a default, and no correctness case gives another value for."""
    parameters = inspect.signature(task.reference).parameters.values()
    left = {parameter.name: parameter.default for parameter in parameters if parameter.default is not parameter.empty}
    for case in task.cases:
        if not left:
            break
        if not case.device_only:
            # Inputs of ours are small, and on meta some of their operators cost torch's compiler, whose import takes a second.
            given = case.arguments(task.id, NO_SEED, "meta" if task.origin else "cpu")
            left = {name: default for name, default in left.items() if not _differs(given.get(name, default), default)}
    return list(left)


def _differs(value: Any, default: Any) -> bool:
    return value is not default and not (type(value) is type(default) and value == default)


def _sums(task: Task) -> str:
    accumulate, tf32 = task.contract.accumulate, task.contract.tf32
    dtype = "float32 (float64 for float64)" if accumulate == "float32" else accumulate
    return f"Sums are accumulated in {dtype}; TF32 products {'count' if tf32 else 'do not count'} as float32."


def _writes(task: Task) -> str:
    written = [_written(clause, task) for clause in task.contract.mutates]
    if not written:
        return "It returns new tensors: no argument is written, and the result shares no memory with one."
    return (
        f"It writes {_joined(written, quoted=False)}, in place, and leaves every other argument as it is; what is written is compared as "
        "results are, and may be returned as well; any other result is a new tensor."
    )


def _written(clause: str, task: Task) -> str:
    name, _, flag = clause.partition(" if ")
    if flag:
        return f"`{name}` where `{flag}` is true"
    optional = inspect.signature(task.reference).parameters[name].default is None
    return f"`{name}` where a tensor is given for it" if optional else f"`{name}`"


def _joined(names: list[str], quoted: bool = True) -> str:
    names = [f"`{name}`" for name in names] if quoted else names
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def fields(task: Task) -> dict[str, Any]:
    """The clauses, and what the task declares of its contract; JSON-like."""
    contract = task.contract
    rule, unused = contract.checker, never_given(task)
    return {
        "words": _clauses(task, unused),
        "checker": {"name": type(rule).__name__, **(asdict(rule) if is_dataclass(rule) and not isinstance(rule, type) else {})},
        "accumulate": contract.accumulate,
        "mutates": list(contract.mutates),
        "tf32": contract.tf32,
        "random": contract.random,
        "never_given": unused,
        "notes": list(contract.notes),
    }
