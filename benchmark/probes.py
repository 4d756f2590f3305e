"""Answers that must fail: what a lazy or cheating kernel returns. Lint shows each of them to a task's checker."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch

from benchmark import oracle
from benchmark.draw import move
from benchmark.precision import BITS, cut
from benchmark.task import Arguments, Case, Check, Oracle, Task

Outputs = tuple[torch.Tensor, ...]


@dataclass(frozen=True)
class Trial:
    """One case of a task with its truth, for a seed and for the seed after it."""

    task: Task
    case: Case
    seed: int
    device: str = "cpu"

    @cached_property
    def arguments(self) -> Arguments:
        return self._drawn(self.seed)

    @cached_property
    def other_arguments(self) -> Arguments:
        return self._drawn(self.seed + 1)

    def _drawn(self, seed: int) -> Arguments:
        """As the judge has them: small inputs come from the CPU, so that they are the same everywhere."""
        if self.case.device_only or self.case in self.task.timing:
            return self.case.arguments(self.task.id, seed, self.device)
        return move(self.case.arguments(self.task.id, seed), self.device)

    @cached_property
    def oracle(self) -> Oracle:
        return oracle.compute(self.task, self.arguments)

    @cached_property
    def previous(self) -> Outputs:
        """The honest result for the other seed."""
        return self.honest(self.other_arguments)

    @property
    def tensors(self) -> dict[str, torch.Tensor]:
        return named(self.arguments)

    @property
    def float_dtypes(self) -> set[torch.dtype]:
        return {tensor.dtype for tensor in self.tensors.values() if tensor.dtype in BITS}

    def honest(self, arguments: Arguments) -> Outputs:
        """The honest computation for other arguments than the trial's own, which it may write."""
        arguments = oracle.copied(arguments)
        return oracle.outputs(self.task, oracle.call(self.task.honest or self.task.reference, arguments), arguments)

    def check(self, outputs: Outputs) -> Check:
        return self.task.contract.checker(self.oracle, outputs, self.arguments)

    def same(self, outputs: Outputs) -> bool:
        """Whether the outputs are the honest ones to the bit (as zeros are for an empty tensor)."""
        return len(outputs) == len(self.oracle.honest) and all(map(oracle.identical, outputs, self.oracle.honest))


def probes(trial: Trial) -> Iterator[tuple[str, Outputs]]:
    """Names and outputs of the probes that apply to the trial."""
    honest = trial.oracle.honest
    yield "zeros", tuple(map(torch.zeros_like, honest))
    yield "ones", tuple(map(torch.ones_like, honest))
    yield "mean", tuple(map(_mean, honest))
    for name, tensor in trial.tensors.items():
        if all(tensor.numel() >= output.numel() for output in honest):
            yield f"input {name}", tuple(_fitted(tensor, output) for output in honest)
    yield "previous", trial.previous
    yield "lower", tuple(map(cut, trial.honest(lowered(trial.arguments))))
    for name, function in trial.task.wrong.items():
        arguments = oracle.copied(trial.arguments)
        yield name, oracle.outputs(trial.task, oracle.call(function, arguments), arguments)


def lowered(value: Any) -> Any:
    """Arguments in the next lower precision."""
    if isinstance(value, dict):
        return {name: lowered(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(lowered(item) for item in value)
    return cut(value) if isinstance(value, torch.Tensor) else value


def influences(trial: Trial) -> Iterator[tuple[str, bool]]:
    """For each tensor argument, whether another value of it alone makes the present result wrong.

    Not for places that results are put into (`out`): written arguments that are the same for every seed."""
    others = named(trial.other_arguments)
    for name, tensor in trial.tensors.items():
        if name in trial.task.contract.written(trial.arguments) and oracle.identical(tensor, others[name]):
            continue
        changed = trial.honest(_replaced(trial.arguments, tensor, others[name]))
        yield name, not trial.same(changed) and not trial.check(changed).ok


def named(arguments: Arguments) -> dict[str, torch.Tensor]:
    """The tensors among arguments by name; those of a list by name and place, as `tensors[0]`."""
    found: dict[str, torch.Tensor] = {}
    for name, value in arguments.items():
        if isinstance(value, list | tuple):
            found |= named({f"{name}[{index}]": item for index, item in enumerate(value)})
        elif isinstance(value, torch.Tensor):
            found[name] = value
    return found


def _replaced(value: Any, old: torch.Tensor, new: torch.Tensor) -> Any:
    if isinstance(value, dict):
        return {name: _replaced(item, old, new) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_replaced(item, old, new) for item in value)
    return new if value is old else value


def written(task: Task, arguments: Arguments, call: Callable[..., Any]) -> list[str]:
    """Tensor arguments that `call` writes although the contract does not say so."""
    own = oracle.copied(arguments)
    oracle.call(call, own)
    allowed = task.contract.written(arguments)
    before = named(arguments)
    return [
        name for name, tensor in named(own).items() if name.partition("[")[0] not in allowed and not oracle.identical(tensor, before[name])
    ]


def _mean(output: torch.Tensor) -> torch.Tensor:
    """The mean everywhere; of a single number, which is its own mean, half of it."""
    values = output.to(torch.promote_types(output.dtype, torch.float64))
    if output.numel() == 1:
        return (values / 2).to(output.dtype)
    return torch.full_like(output, values[values.isfinite()].mean().nan_to_num(0.0).item())


def _fitted(tensor: torch.Tensor, output: torch.Tensor) -> torch.Tensor:
    """The first elements of `tensor` as the output."""
    return tensor.reshape(-1)[: output.numel()].reshape(output.shape).nan_to_num().to(output.dtype)
