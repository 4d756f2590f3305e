"""What only running a foreign file can tell of its task: how the reference is called, its cases, what it writes, whether it takes fp64."""

import inspect
from typing import TYPE_CHECKING, Any

import torch

from benchmark import oracle
from benchmark.errors import UserError
from benchmark.importers.described import node
from benchmark.task import Arguments
from tools.executor.reference.subject import Made, Plan, Subject
from tools.executor.reference.values import near, said, same, strange

if TYPE_CHECKING:
    from tools.executor.reference.room import References

KINDS = {
    inspect.Parameter.POSITIONAL_ONLY: "positional", inspect.Parameter.POSITIONAL_OR_KEYWORD: "positional",
    inspect.Parameter.KEYWORD_ONLY: "keyword", inspect.Parameter.VAR_POSITIONAL: "star",
}  # fmt: skip


def describe(subject: Subject, room: "References") -> dict[str, Any]:
    """A description as in `benchmark.importers.described`. Raises `UserError` for a task that has no one right answer."""
    plan = subject.plan()
    trials = [Trial(subject, made, room) for made in plan.tried]
    wrong = [trial for trial in trials if trial.fault]
    if wrong and (plan.varied or len(wrong) == len(trials)):
        raise UserError(wrong[0].fault)
    bad = [trial.made.recipe for trial in wrong]
    plan.cases, plan.timing = ([made for made in of if made.recipe not in bad] for of in (plan.cases, plan.timing))
    if wrong:
        plan.notes.append(f"{len(wrong)} of {len(trials)} calls have no one right answer and are left out")
    _follow_seed(subject, plan)
    good = [trial for trial in trials if not trial.fault]
    return {
        "parameters": _parameters(subject), "doc": inspect.getdoc(subject.function) or "",
        "cases": [_case(subject, made) for made in plan.cases], "timing": [_case(subject, made) for made in plan.timing],
        "mutates": sorted({name for trial in good for name in trial.written}), "exact": all(trial.exact for trial in good),
        "notes": plan.notes, "model": plan.model,
    }  # fmt: skip


class Trial:
    """The reference tried out on one case. `fault` is a sentence for the user, or ""."""

    def __init__(self, subject: Subject, made: Made, room: "References"):
        self.subject, self.made, self.room = subject, made, room
        self.name = f"{getattr(subject.function, '__name__', 'The reference')} in {subject.named}"
        self.written: set[str] = set()
        self.exact = True
        self.fault = self._tried(room.place(subject.inputs(made.recipe, 0)))

    def _tried(self, given: Arguments) -> str:
        before, own, again = (oracle.copied(given) for _ in range(3))
        try:
            returned, repeated = (oracle.flattened(self._call(arguments)) for arguments in (own, again))
        except Exception as error:
            return f"{self.name} fails on its own inputs: {said(error)}."
        tensors = [name for name, value in before.items() if isinstance(value, torch.Tensor)]
        self.written = {name for name in tensors if not same(before[name], own[name])}
        if not near(returned, repeated) or any(not near([own[name]], [again[name]]) for name in self.written):
            return f"{self.name} gives two answers for the same inputs, so that none is right: pass what is random as an argument."
        if not returned and not self.written:
            return f"{self.name} returns no tensor and writes no argument, so there is nothing to check."
        if home := self._elsewhere(returned, given):
            return home
        self.exact = self._takes_fp64(before)
        return ""

    def _call(self, arguments: Arguments) -> Any:
        return oracle.call(self.subject.function, arguments)

    def _elsewhere(self, returned: list[torch.Tensor], given: Arguments) -> str:
        places = {str(value.device) for value in given.values() if isinstance(value, torch.Tensor)}
        others = {str(tensor.device) for tensor in returned} - places
        if not places or not others:
            return ""
        where = f"on {others.pop()} where its inputs are on {places.pop()}"
        return f"{self.name} returns a tensor {where}: make new tensors on the device of the inputs."

    def _takes_fp64(self, given: Arguments) -> bool:
        try:
            outputs = oracle.flattened(self._call(oracle.upcast(given)))
        except Exception:
            return False
        return all(oracle.wide(tensor.dtype) == tensor.dtype for tensor in outputs)


def _follow_seed(subject: Subject, plan: Plan) -> None:
    """Refuses inputs that change without the seed, or do not change with it."""
    recipes = []
    for made in plan.cases:
        if made.recipe not in recipes and not made.device_only:
            recipes.append(made.recipe)
    firsts = [subject.inputs(recipe, 0) for recipe in recipes]
    if any(not same(first, subject.inputs(recipe, 0)) for first, recipe in zip(firsts, recipes, strict=True)):
        raise UserError(
            f"The inputs in {subject.named} are other values each time: draw them with torch, numpy or random, inside inputs()."
        )
    still = [same(first, subject.inputs(recipe, 1)) for first, recipe in zip(firsts, recipes, strict=True)]
    if plan.varied and any(still):
        raise UserError(
            f"The inputs in {subject.named} are the same values for every seed: draw them inside inputs(), and set no seed there."
        )


def _parameters(subject: Subject) -> list[dict[str, Any]]:
    found = []
    for name, parameter in inspect.signature(subject.function).parameters.items():
        if parameter.kind not in KINDS:
            # Nothing of it is in any case.
            continue
        about: dict[str, Any] = {"name": name, "kind": KINDS[parameter.kind]}
        if parameter.default is not parameter.empty:
            if kind := strange(parameter.default):
                raise UserError(f"{name} in {subject.named} has a default of type {kind}: give a number, a string, None, or a list.")
            about["default"] = node(parameter.default)
        found.append(about)
    return found


def _case(subject: Subject, made: Made) -> dict[str, Any]:
    layout = {name: node(value) for name, value in subject.layout(made.recipe).items()}
    return {"name": made.name, "recipe": made.recipe, "held_out": made.held_out, "device_only": made.device_only, "layout": layout}
