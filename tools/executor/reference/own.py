"""The user's own function (`benchmark.importers.own` has the format)."""

import inspect
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from benchmark import oracle
from benchmark.errors import UserError
from benchmark.importers.own import EXAMPLES
from benchmark.task import Arguments
from tools.executor.channel import Message
from tools.executor.reference.subject import Made, Plan, load
from tools.executor.reference.values import cast, elements, fit, permuted, said, seeded

OTHERS = {torch.float32: torch.bfloat16, torch.bfloat16: torch.float32, torch.float16: torch.float32}
"""The second dtype in which float inputs are tried."""
SMALL = 1 << 20
"""Elements of an input set up to which it is tried in the second dtype too: on one core that is slow."""
STORED = {
    "F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16, "I64": torch.int64, "I32": torch.int32,
    "I16": torch.int16, "I8": torch.int8, "U8": torch.uint8, "BOOL": torch.bool, "F8_E4M3": torch.float8_e4m3fn,
    "F8_E5M2": torch.float8_e5m2,
}  # fmt: skip


class Own:
    def __init__(self, folder: Path, request: Message, place: Callable[[Arguments], Arguments]):
        """`place` brings arguments to where the reference runs."""
        self.named, self.options, self.place = request["named"], request["options"], place
        self.module = load(folder, request)
        found = getattr(self.module, request["entry"], None)
        if not inspect.isfunction(found):
            raise UserError(f"{request['entry']} in {self.named} is no function, but {type(found).__name__}.")
        self.function: Callable[..., Any] = found
        self.examples = Examples.read(folder / EXAMPLES, self) if self.options["examples"] else None

    def plan(self) -> Plan:
        first = self._sets("inputs", 0)
        cases = [made for held_out in (False, True) for made in self._cases(first, held_out)]
        notes = ["The values of the cases are those of the user's examples, and permutations of them"] if self.examples else []
        tried = [made for made in cases if not made.held_out]
        smallest = min(tried, key=lambda made: elements(first[made.recipe["index"]]))
        return Plan(cases, self._timing(first), [smallest], notes)

    def _cases(self, first: list[Arguments], held_out: bool) -> list[Made]:
        """Each input set in its own dtypes, and if it is small and the operator takes it, with its floats in another one."""
        cases = []
        for index, arguments in enumerate(first):
            name = f"{'others' if held_out else 'inputs'}-{index}"
            cases.append(Made(name, {"of": "inputs", "index": index}, held_out))
            other = _other_dtype(arguments)
            if other and elements(arguments) <= SMALL and self._takes(cast(arguments, other)):
                dtype = str(other).removeprefix("torch.")
                cases.append(Made(f"{name}-{dtype}", {"of": "inputs", "index": index, "dtype": dtype}, held_out))
        return cases

    def _takes(self, arguments: Arguments) -> bool:
        try:
            self.function(**oracle.copied(self.place(arguments)))
        except Exception:
            return False
        return True

    def _timing(self, first: list[Arguments]) -> list[Made]:
        if self.options["sizes"] or hasattr(self.module, "sizes"):
            return [Made("time-" + "x".join(map(str, row)), {"of": "sizes", "index": i}) for i, row in enumerate(self._rows())]
        of = "timing" if hasattr(self.module, "timing") else "inputs"
        return [Made(f"time-{index}", {"of": of, "index": index}) for index in range(len(self._sets(of, 0) if of == "timing" else first))]

    def _rows(self) -> list[list[Any]]:
        rows = self.options["sizes"] or self.module.sizes
        if not isinstance(rows, list | tuple) or not all(isinstance(row, list | tuple) for row in rows):
            raise UserError(f"sizes in {self.named} must be a list of argument lists for inputs(), as in [(64, 1000), (4096, 4096)].")
        return [list(row) for row in rows]

    def inputs(self, recipe: dict[str, Any], seed: int) -> Arguments:
        if recipe["of"] == "sizes":
            return self._made("inputs", seed, self._rows()[recipe["index"]])[0]
        made = self._sets(recipe["of"], seed)[recipe["index"]]
        dtype = recipe.get("dtype")
        arguments: Arguments = cast(made, getattr(torch, dtype) if dtype else None)
        return arguments

    def layout(self, recipe: dict[str, Any]) -> Arguments:
        return self.inputs(recipe, 0)

    def _sets(self, name: str, seed: int) -> list[Arguments]:
        if name == "inputs" and self.examples:
            return self.examples.drawn(seed)
        return self._made(name, seed, [])

    def _made(self, name: str, seed: int, sizes: list[Any]) -> list[Arguments]:
        """What the function `name` of the file returns from a seed, checked at each call."""
        try:
            with seeded(seed):
                made = getattr(self.module, name)(*sizes)
        except Exception as error:
            raise UserError(f"{name}({', '.join(map(str, sizes))}) in {self.named} fails: {said(error)}.") from error
        made = [made] if isinstance(made, dict) else made
        if not isinstance(made, list) or not made or not all(isinstance(item, dict) for item in made):
            found = f"{type(made).__name__} of {type(made[0]).__name__}" if isinstance(made, list | tuple) and made else f"{made!r:.40}"
            raise UserError(f"{name}() in {self.named} must return a dict of arguments by name, or a list of such dicts, not {found}.")
        return [self.checked(item, f"{name}() in {self.named}") for item in made]

    def checked(self, arguments: Arguments, where: str) -> Arguments:
        try:
            inspect.signature(self.function).bind(**arguments)
        except TypeError as error:
            raise UserError(f"{where} does not fit {self.function.__name__}{inspect.signature(self.function)}: {error}.") from error
        return fit(arguments, where)


@dataclass
class Examples:
    """Argument sets that a safetensors file holds. A seed other than 0 permutes the floats of each tensor; whole numbers stay, for
    they may be indices of something."""

    sets: list[Arguments]

    @classmethod
    def read(cls, path: Path, own: Own) -> "Examples":
        where = "the file of task_args.inputs"
        try:
            found = _stored(path.read_bytes())
        except (ValueError, KeyError, TypeError, RuntimeError) as error:
            raise UserError(f"{where} cannot be read: {said(error)}; write it with safetensors.torch.save_file.") from error
        numbered = all(name.partition(".")[0].isdigit() and "." in name for name in found)
        sets: dict[str, Arguments] = {}
        for name, value in found.items():
            number, _, argument = name.partition(".") if numbered else ("0", "", name)
            sets.setdefault(number, {})[argument] = value
        if not sets:
            raise UserError(f"{where} holds no tensors: save the arguments of {own.function.__name__} there, each by its name.")
        parameters = inspect.signature(own.function).parameters
        for argument in sorted({a for arguments in sets.values() for a in arguments} - set(parameters)):
            raise UserError(
                f"{where} has a tensor {argument!r}, and {own.function.__name__} takes {', '.join(parameters)}: name each tensor like its "
                "argument, or number several examples as in 0.x, 1.x."
            )
        return cls([own.checked(sets[number], where) for number in sorted(sets, key=int)])

    def drawn(self, seed: int) -> list[Arguments]:
        floats = [[n for n, v in one.items() if isinstance(v, torch.Tensor) and v.is_floating_point()] for one in self.sets]
        return [permuted(one, seed, names) if seed else one for one, names in zip(self.sets, floats, strict=True)]


def _stored(data: bytes) -> Arguments:
    """The tensors of a safetensors file, and what its metadata has as JSON."""
    start = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:start])
    metadata = header.pop("__metadata__", {})
    found: Arguments = {}
    for name, about in header.items():
        begin, end = about["data_offsets"]
        body, dtype = bytearray(data[start + begin : start + end]), STORED[about["dtype"]]
        flat = torch.frombuffer(body, dtype=dtype) if body else torch.empty(0, dtype=dtype)
        found[name] = flat.reshape(about["shape"])
    return found | {name: json.loads(text) for name, text in metadata.items() if name != "format"}


def _other_dtype(arguments: Arguments) -> torch.dtype | None:
    dtypes = {value.dtype for value in arguments.values() if isinstance(value, torch.Tensor) and value.dtype in OTHERS}
    return OTHERS[dtypes.pop()] if len(dtypes) == 1 else None
