"""A `Task` from what a reference sandbox has said of a foreign file. Its reference is called there, by way of a `Host`.

A description is JSON: `parameters` ({name, kind, default}, the kind being positional, keyword or star), `doc`, `cases` and `timing`
({name, held_out, device_only, recipe, layout}), `mutates`, `exact`, `notes`, `model` (how a candidate's class takes the arguments, or
null). A layout has a node for each argument:
`{"t": {dtype, shape, strides}}`, `{"d": dtype}`, `{"l": [...]}`, `{"u": [...]}` (a tuple), `{"f": "0.5"}`, `{"v": 3}`. It comes from
a process that is not believed: whatever has not this form is refused.
"""

import inspect
from collections.abc import Callable
from typing import Any, Protocol

import torch

from benchmark.checkers import close
from benchmark.checkers.within import within
from benchmark.draw import Draw
from benchmark.origin import Origin
from benchmark.task import Arguments, Case, Contract, Task

MOST_CASES = 200
MEASURED = close(measured=True, terms=48.0)
WIDE = close(slack_wide=64.0, slack_half=4.0)
"""For references that cannot compute in fp64: their own error is not known."""
OWN_DTYPE = (
    "The reference cannot compute in float64, so the result is compared with the reference's own in the dtype of the inputs, and the "
    "budget is wider for that"
)
KINDS = {
    "positional": inspect.Parameter.POSITIONAL_OR_KEYWORD,
    "keyword": inspect.Parameter.KEYWORD_ONLY,
    "star": inspect.Parameter.VAR_POSITIONAL,
}


class Host(Protocol):
    """Where a foreign task's code runs."""

    def inputs(self, recipe: dict[str, Any], seed: int, device: str) -> Arguments: ...

    def call(self, signature: inspect.Signature, arguments: Arguments) -> Any:
        """What the reference returns for arguments by name; those that it writes are written here too."""
        ...


class Reference:
    """Called like the foreign function, by keyword, and called elsewhere."""

    def __init__(self, signature: inspect.Signature, doc: str, name: str, host: Host | None):
        self.__signature__ = signature
        self.__doc__ = doc
        self.__name__ = name
        self.host = host

    def __call__(self, **arguments: Any) -> Any:
        assert self.host is not None, f"{self.__name__} is not ours: it runs in a reference sandbox only"
        return self.host.call(self.__signature__, arguments)


def task(task_id: str, origin: Origin, host: Host | None = None) -> Task:
    """Raises `KeyError`, `TypeError` or `ValueError` for a description that is none."""
    found = origin.description
    doc = str(found["doc"]).strip() or str(origin.options.get("instruction") or "")
    reference = Reference(_signature(found["parameters"]), doc, origin.entry, host)
    cases, timing = (tuple(_case(case, host) for case in found[name][:MOST_CASES]) for name in ("cases", "timing"))
    if found["model"] is not None:
        _check_model(found["model"], [*found["cases"], *found["timing"]])
    notes = [str(note) for note in found["notes"]] + ([] if found["exact"] else [OWN_DTYPE])
    tolerance, exact = origin.options.get("tolerance"), bool(found["exact"])
    checker = within(tolerance) if tolerance else MEASURED if exact else WIDE
    contract = Contract(
        checker, mutates=tuple(str(name) for name in found["mutates"]), notes=tuple(f"{note.rstrip('.')}." for note in notes)
    )
    return Task(
        task_id, str(origin.options.get("category", "Own")), origin.named, reference, cases, timing, contract,
        entry=origin.entry, exact=exact, measured=exact and not tolerance, origin=origin,
    )  # fmt: skip


def _signature(parameters: Any) -> inspect.Signature:
    made = []
    for parameter in parameters:
        name = str(parameter["name"])
        if not name.isidentifier():
            raise ValueError(f"{name!r} is no name of a parameter")
        default = value(parameter["default"]) if "default" in parameter else inspect.Parameter.empty
        made.append(inspect.Parameter(name, KINDS[parameter["kind"]], default=default))
    return inspect.Signature(made)


def _check_model(model: dict[str, Any], cases: list[dict[str, Any]]) -> None:
    """How a class takes the arguments: all of them are names, those of the constructor are in every case."""
    names = [model["name"], *model["order"], *model["inputs"], *model["init"], *model["state"], *model["state"].values()]
    if not all(isinstance(name, str) for name in names) or not all(case["layout"].keys() >= set(model["init"]) for case in cases):
        raise ValueError(f"no way to call a class: {str(model)[:80]}")


def _case(case: dict[str, Any], host: Host | None) -> Case:
    recipe, layout = dict(case["recipe"]), dict(case["layout"])
    # Now, so that what is wrong with it is said when the task is read.
    {name: value(node) for name, node in layout.items()}
    return Case(str(case["name"]), _maker(recipe, layout, host), bool(case["held_out"]), bool(case["device_only"]))


def _maker(recipe: dict[str, Any], layout: dict[str, Any], host: Host | None) -> Callable[[Draw], Arguments]:
    def make(draw: Draw) -> Arguments:
        if draw.device == "meta":
            return {name: value(node) for name, node in layout.items()}
        assert host is not None, "the inputs of a foreign task are drawn in a reference sandbox only"
        found = host.inputs(recipe, draw.seed, draw.device)
        if found.keys() != layout.keys():
            raise ValueError(f"the inputs are {', '.join(found) or 'none'} where {', '.join(layout)} were described")
        return found

    return make


def value(node: Any) -> Any:
    """What a layout's node stands for; a tensor without memory."""
    if not isinstance(node, dict) or len(node) != 1:
        raise ValueError(f"no node of a layout: {str(node)[:80]}")
    ((kind, body),) = node.items()
    if kind == "t":
        return _tensor(body)
    if kind == "d":
        return _dtype(body)
    if kind in ("l", "u"):
        values = [value(item) for item in body]
        return values if kind == "l" else tuple(values)
    if kind == "f":
        return float(body)
    if kind == "v" and (body is None or isinstance(body, bool | int | str)):
        return body
    raise ValueError(f"no node of a layout: {str(node)[:80]}")


def _tensor(body: dict[str, Any]) -> torch.Tensor:
    shape, strides = body["shape"], body["strides"]
    if not all(type(n) is int and 0 <= n < 1 << 48 for n in (*shape, *strides)):
        raise ValueError(f"no sizes of a tensor: {str(body)[:80]}")
    try:
        return torch.empty_strided(shape, strides, dtype=_dtype(body["dtype"]), device="meta")
    except RuntimeError as error:
        raise ValueError(f"no sizes of a tensor: {error}") from None


def _dtype(name: Any) -> torch.dtype:
    found = getattr(torch, str(name), None)
    if not isinstance(found, torch.dtype):
        raise ValueError(f"{str(name)[:40]!r} is no dtype")
    return found


def node(found: Any) -> dict[str, Any]:
    """The node of a value, in a layout."""
    if isinstance(found, torch.Tensor):
        return {"t": {"dtype": str(found.dtype).removeprefix("torch."), "shape": list(found.shape), "strides": list(found.stride())}}
    if isinstance(found, torch.dtype):
        return {"d": str(found).removeprefix("torch.")}
    if isinstance(found, list | tuple):
        return {"l" if isinstance(found, list) else "u": [node(item) for item in found]}
    return {"f": repr(found)} if type(found) is float else {"v": found}
