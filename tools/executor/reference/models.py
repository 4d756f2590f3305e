"""KernelBench: a `Model` as a function of its inputs, its tensors and its constructor's arguments (`benchmark.importers.kernelbench`)."""

import inspect
import re
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from torch import nn

from benchmark.errors import UserError
from benchmark.importers import kernelbench
from benchmark.task import Arguments
from tools.executor import modules
from tools.executor.channel import Message
from tools.executor.reference import scales
from tools.executor.reference.scales import Cost, Sizes, Source
from tools.executor.reference.subject import Made, Plan, unimportable
from tools.executor.reference.values import cast, fit, said, seeded
from tools.operations import trace

MOST_TENSORS = 200
"""Parameters and buffers that can be passed with each call."""
MADE = 4
"""Sets of tensors that are no arguments, which are kept for the next call."""


@dataclass
class Problem:
    """The file at one set of sizes."""

    space: dict[str, Any]
    named: str

    def called(self, name: str) -> Any:
        try:
            return self.space[name]()
        except Exception as error:
            raise UserError(f"{name}() in {self.named} fails: {said(error)}.") from error

    @cached_property
    def constructor(self) -> inspect.Signature:
        parameters = list(inspect.signature(self.space["Model"].__init__).parameters.values())[1:]
        return inspect.Signature([p for p in parameters if p.kind is not p.VAR_KEYWORD])

    @cached_property
    def forward(self) -> inspect.Signature:
        return inspect.Signature(list(inspect.signature(self.space["Model"].forward).parameters.values())[1:])

    def init(self) -> Arguments:
        """What the constructor is given, by parameter."""
        return _bound(self.constructor, self.called("get_init_inputs"), f"get_init_inputs() in {self.named} does not fit Model")

    def given(self) -> Arguments:
        """What `forward` is given, by parameter."""
        return _bound(self.forward, self.called("get_inputs"), f"get_inputs() in {self.named} does not fit Model.forward")

    def model(self, init: Arguments) -> nn.Module:
        try:
            model: nn.Module = self.space["Model"](**init)
        except Exception as error:
            raise UserError(
                f"Model({', '.join(f'{n}={v!r:.40}' for n, v in init.items())}) in {self.named} fails: {said(error)}."
            ) from error
        return model


class Models:
    def __init__(self, folder: Path, request: Message, place: Callable[[Arguments], Arguments]):
        self.named, self.options, self.place = request["named"], request["options"], place
        self.path = folder / request["path"]
        self.source = Source(self.path.read_text(encoding="utf-8"))
        self.device: str | None = None
        """Where inputs and weights are drawn; the host without."""
        self.made: dict[str, dict[str, torch.Tensor]] = {}
        """Tensors of modules that are no arguments, by their constructor's arguments."""
        try:
            self.base = self._at({})
        except UserError:
            raise
        except Exception as error:
            raise unimportable(request, error) from error
        self._shape()

    def _at(self, sizes: Sizes) -> Problem:
        module = types.ModuleType("task_file")
        module.__file__ = str(self.path)
        sys.modules["task_file"] = module
        exec(compile(self.source.at(sizes), str(self.path), "exec"), module.__dict__)
        return Problem(module.__dict__, self.named)

    def _shape(self) -> None:
        """The names of all parameters of the task, found on the file's smallest sizes, on which nothing is large."""
        problem, sizes = self._small()
        with torch.no_grad(), seeded(0):
            init, given = problem.init(), problem.given()
            model = problem.model(init)
            self.written = self._written(model, given)
        self.inputs_of, self.init_of = list(given), list(init)
        tensors = [name for name in modules.tensors_of(model) if name not in self.written]
        if len(tensors) > MOST_TENSORS:
            raise UserError(
                f"Model in {self.named} has {len(tensors)} parameters and buffers; at most {MOST_TENSORS} can be passed to a kernel."
            )
        taken = {*self.inputs_of, *self.init_of}
        self.state = {_free(re.sub(r"\W", "_", name), taken): name for name in tensors}
        self.init_names = {name: f"init_{name}" if name in self.inputs_of else name for name in self.init_of}
        self.smallest = sizes

    def _small(self) -> tuple[Problem, Sizes]:
        sizes = scales.smallest(self.source, self._cost) if self.options["scale"] == "auto" and not self.options["sizes"] else None
        found = sizes if sizes is not None else (self.options["sizes"] or [{}])[0]
        return self._at(found), found

    def _cost(self, sizes: Sizes) -> Cost | None:
        """What a call takes at these sizes, by shapes alone; None where the model cannot be made or called so."""
        try:
            with torch.no_grad(), seeded(0), torch.device("meta"):
                problem = self._at(sizes)
                init, given = problem.init(), problem.given()
                model = problem.model(init)
                result, operations = trace(model.forward, given)
        except Exception:
            return None
        held = [*_tensors(given), *modules.tensors_of(model).values(), *_tensors(result)]
        return Cost(
            largest=max((tensor.numel() for tensor in held), default=0), flops=sum(o.products for o in operations),
            bytes=sum(tensor.numel() * tensor.element_size() for tensor in held),
        )  # fmt: skip

    def _written(self, model: nn.Module, given: Arguments) -> set[str]:
        """The buffers that a call writes, as batch norm in training does with its statistics."""
        for name, tensor in modules.tensors_of(model).items():
            modules.put(model, name, self.place({"tensor": tensor.detach()})["tensor"])
        before = {name: tensor.clone() for name, tensor in model.named_buffers()}
        try:
            model(**self.place(given))
        except Exception as error:
            raise UserError(f"Model in {self.named} fails on its own get_inputs(): {said(error)}.") from error
        return {name for name, tensor in model.named_buffers() if not torch.equal(tensor, before[name])}

    @cached_property
    def signature(self) -> inspect.Signature:
        kind = inspect.Parameter
        names = [*self.inputs_of, *self.state]
        first = [kind(name, kind.POSITIONAL_OR_KEYWORD) for name in names]
        return inspect.Signature([*first, *(kind(name, kind.KEYWORD_ONLY) for name in self.init_names.values())])

    @cached_property
    def function(self) -> Callable[..., Any]:
        def model(*args: Any, **kwargs: Any) -> Any:
            return self.bound(*args, **kwargs)()

        model.__signature__ = self.signature  # type: ignore[attr-defined]
        model.__doc__ = self._doc()
        return model

    def _doc(self) -> str:
        found = self.base.space["Model"]
        return "\n\n".join(inspect.cleandoc(text) for text in (found.__doc__, found.forward.__doc__) if text)

    def bound(self, *args: Any, **kwargs: Any) -> Callable[[], Any]:
        """A call on these arguments, by a module that holds them."""
        arguments = dict(self.signature.bind(*args, **kwargs).arguments)
        init = {name: arguments[given] for name, given in self.init_names.items()}
        module, wide = self._module(init), any(t.dtype == torch.float64 for t in _tensors(arguments))
        for name, kept in self._kept(init).items():
            modules.put(module, name, kept.double() if wide and kept.is_floating_point() else kept.clone())
        for name, of in self.state.items():
            modules.put(module, of, arguments[name])
        inputs = [arguments[name] for name in self.inputs_of]

        def call() -> Any:
            with torch.no_grad():
                return module(*inputs)

        return call

    def _kept(self, init: Arguments) -> dict[str, torch.Tensor]:
        """What a module made with these arguments has beside the tensors that are given to it, where the call runs."""
        key = repr(sorted((name, repr(value)) for name, value in init.items()))
        if key not in self.made:
            with seeded(0):
                own = modules.tensors_of(self.base.model(init))
            kept = {name: tensor.detach() for name, tensor in own.items() if name not in self.state.values()}
            self.made = {**dict(list(self.made.items())[1 - MADE :]), key: self.place(kept)}
        return self.made[key]

    def _module(self, init: Arguments) -> nn.Module:
        """A new module. Its own tensors are all replaced, so they need no memory, unless it holds some in another way."""
        try:
            with seeded(0), torch.device("meta"):
                module = self.base.model(init)
        except UserError:
            # It looks at values of its tensors.
            return self._real(init)
        bare = any(_is_meta(value) for part in module.modules() for value in vars(part).values())
        return self._real(init) if bare else module

    def _real(self, init: Arguments) -> nn.Module:
        with seeded(0), torch.device(self.device or "cpu"):
            return self.base.model(init)

    def plan(self) -> Plan:
        notes = [f"The model is called as constructed, in training mode; the arguments after its inputs are its {len(self.state)} tensors "
                 "and what its constructor is given"]  # fmt: skip
        notes.append(
            "In place of the function, a class `ModelNew` is taken: it is constructed with "
            f"({', '.join(self.init_names.values())}), its parameters and buffers are set by name to the tensors, and it is called with "
            f"({', '.join(self.inputs_of)})"
        )
        if self.written:
            notes.append(f"The statistics that the model keeps ({', '.join(sorted(self.written))}) are no arguments and are not compared")
        cases, timing = self._cases()
        tried = [made for made in cases if not made.held_out and not made.device_only]
        return Plan(cases, timing, tried, notes, self._class())

    def _class(self) -> dict[str, Any]:
        order = [*self.inputs_of, *self.state]
        return {"name": "ModelNew", "order": order, "inputs": self.inputs_of, "init": [*self.init_names.values()], "state": self.state}

    def _cases(self) -> tuple[list[Made], list[Made]]:
        if chosen := self.options["sizes"]:
            sized = {("-".join(f"{n}={v}" for n, v in sizes.items()).replace(" ", ""))[:80]: sizes for sizes in chosen}
            return self._both(sized), [Made(f"time-{name}", {"sizes": sizes}) for name, sizes in sized.items()]
        if self.options["scale"] == "off":
            return self._both({"file": {}}), [Made("time-file", {"sizes": {}})]
        found = {"small": self.smallest}
        if odd := scales.odd(self.source, self.smallest, self._cost):
            found["odd"] = odd
        ladder = scales.ladder(self.source, self._cost)
        return self._both(found), [Made(f"time-{name}", {"sizes": sizes}) for name, sizes in ladder.items()]

    def _both(self, found: dict[str, Sizes]) -> list[Made]:
        """Each size shown and held out; on a device alone where it is too large for an interpreter."""
        made = []
        for held_out in (False, True):
            for name, sizes in found.items():
                cost = self._cost(sizes)
                large = cost is not None and not scales.SMALL.holds(cost)
                made.append(Made(f"other-{name}" if held_out else name, {"sizes": sizes}, held_out, large))
        return made

    def inputs(self, recipe: dict[str, Any], seed: int) -> Arguments:
        """Drawn on the host, or on `device` where there is one."""
        with torch.no_grad(), seeded(seed), torch.device(self.device or "cpu"):
            return self._drawn(recipe["sizes"], seed)

    def layout(self, recipe: dict[str, Any]) -> Arguments:
        with torch.no_grad(), seeded(0), torch.device("meta"):
            return self._drawn(recipe["sizes"], 0)

    def _drawn(self, sizes: Sizes, seed: int) -> Arguments:
        problem = self._at(sizes)
        init, given = problem.init(), problem.given()
        torch.manual_seed(seed)
        own = modules.tensors_of(problem.model(init))
        state = {name: own[of] for name, of in self.state.items()}
        named = {self.init_names[name]: value for name, value in init.items()}
        return fit(cast(given | state | named), f"get_inputs() or get_init_inputs() in {self.named}")


def _bound(signature: inspect.Signature, values: Any, wrong: str) -> Arguments:
    try:
        bound = signature.bind(*values)
    except TypeError as error:
        raise UserError(f"{wrong}{signature}: {error}.") from error
    if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for n, p in signature.parameters.items() if n in bound.arguments):
        raise UserError(f"{wrong}{signature}: a parameter that takes any number of arguments has no name for each.")
    return dict(bound.arguments)


def _free(name: str, taken: set[str]) -> str:
    """A name that is not taken, which it then is."""
    name = kernelbench.function_name(name) if not name.isidentifier() else name
    while name in taken:
        name = f"{name}_"
    taken.add(name)
    return name


def _is_meta(value: Any) -> bool:
    """Whether it is a tensor, or holds some, that a module has as a plain attribute; parameters and buffers are in dicts of names."""
    if isinstance(value, list | tuple):
        return any(map(_is_meta, value))
    return isinstance(value, torch.Tensor) and value.is_meta


def _tensors(value: Any) -> list[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        return [value]
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    return [tensor for item in items for tensor in _tensors(item)]
