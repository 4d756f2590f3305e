"""The judge: makes inputs, knows the truth, compares. It never sees candidate code, only bytes of its outputs.

Started by the broker with `-m`; one request at a time; ends when the broker hangs up.
"""

import cmath
import contextlib
import json
import math
import os
import traceback
from collections.abc import Callable
from typing import Any

import torch

from benchmark import oracle, suites
from benchmark.checkers.statistical import RandomChecker
from benchmark.errors import UserError
from benchmark.task import Arguments, Check, Oracle, Task
from tools import platforms
from tools.executor import memory
from tools.executor.arguments import bind, same_bytes, tensors_in
from tools.executor.channel import Channel, Closed, Message, TooLong
from tools.executor.judge.baseline import TimedBaseline
from tools.executor.judge.estimates import Estimates
from tools.executor.judge.fault import TaskFault
from tools.executor.judge.references import Here, Line, opened
from tools.executor.judge.truths import Truths, blamed
from tools.executor.walls import syscalls
from tools.executor.wire import BadLayout, Copies, Node, Overflow
from tools.platforms import clocks

L2_BYTES = 128 << 20
"""What is flushed where the hardware's figures are unknown."""


class Judge:
    def __init__(self) -> None:
        self._task: Task | None = None
        self.truths = Truths()
        self.shared: dict[tuple[int, str], torch.Tensor] = {}
        """Memory of GPUs that sandboxes map, one after another; by GPU and by whether candidates or references do."""
        self.exported: list[int] = []
        """Descriptors for the answer at hand."""
        self.copies = Copies(0)
        """What the check at hand may still copy."""
        self.sent: tuple[str, int] | None = None
        """Case and seed of the inputs that the candidate has."""
        self.drawn: tuple[tuple[str, int], tuple[torch.Tensor, ...]] | None = None
        """The candidate's last right result, with case and seed, where the contract is random."""
        self.line: Line | None = None
        """To the reference sandbox of a task that is not ours."""
        self.rooms = (self, TimedBaseline(self), Estimates(self))
        """Where the answers to requests are found."""

    def answer(self, request: Message, fds: list[int]) -> Message:
        found: Callable[..., Message] = next(getattr(room, request["op"]) for room in self.rooms if hasattr(room, request["op"]))
        return found(request, fds)

    @property
    def task(self) -> Task:
        assert self._task is not None
        return self._task

    def share(self, request: Message, fds: list[int]) -> Message:
        """Takes memory of a GPU for all evaluations to come; the descriptor for it goes with the answer."""
        gpu, user = request["gpu"], request["user"]
        try:
            fd, self.shared[gpu, user] = memory.on_device(gpu, torch.accelerator.get_memory_info(gpu)[1])
        except (OSError, RuntimeError) as error:
            # The driver shares none, or all of it is in use.
            return {"refused": str(error).partition("\n")[0]}
        self.exported = [fd]
        return {"size": self.shared[gpu, user].numel(), "gpu": gpu}

    def open(self, request: Message, fds: list[int]) -> Message:
        """Begins an evaluation: the task, its cases and the shared memory."""
        gpu = request["memory"]["gpu"]
        # What an earlier candidate has left in a GPU's memory, right answers among it, is nothing for this one.
        shared = memory.attached(fds[0], request["memory"]) if gpu is None else self.shared[gpu, "candidate"].zero_()
        self.sending, self.returned = memory.regions(shared)
        self.truths.device, self.drawn = request["device"], None
        if request["device"] != "cpu":
            torch.accelerator.set_device_index(torch.device(request["device"]).index)
        if self._task is None or (self.task.id, self.task.sha) != (request["task"], request["sha"]) or self._moved(request):
            self._take(request, fds)
        if self.task.sha != request["sha"]:
            return _invalid(f"the executor finds another version of task {self.task.id} than the one asked for")
        simulated = request["device"] == "cpu"
        cases = [{"name": c.name, "held_out": c.held_out} for c in self.task.cases if not (simulated and c.device_only)]
        timing = [{"name": c.name, "held_out": c.held_out} for c in self.task.timing]
        return {"cases": cases, "timing": timing, "entry": self.task.entry_name}

    def _take(self, request: Message, fds: list[int]) -> None:
        """The task by its name or, where it is not ours, by what the broker says of it and the line to its reference sandbox."""
        if self.line:
            self.line.close()
        about = request.get("reference")
        if about is None:
            self._task, self.line = suites.find(request["task"]), None
            self.truths.reference = Here(self._task)
            return
        described = json.loads(os.pread(fds[1], about["bytes"], 0))
        gpu = about["memory"]["gpu"]
        shared = self.shared[gpu, "reference"] if gpu is not None else memory.attached(fds[3], about["memory"])
        channel = Channel.inherited(os.dup(fds[2]), most_fds=0)
        self._task, self.line = opened(request["task"], described, channel, shared, request["device"], about["serial"])
        self.truths.reference = self.line

    def _moved(self, request: Message) -> bool:
        """Whether the reference of a foreign task is in another sandbox than it was."""
        about = request.get("reference")
        return about is not None and (self.line is None or self.line.serial != about["serial"])

    def free(self, request: Message, fds: list[int]) -> Message:
        """Bytes of the GPU's memory that nobody holds, and all of them."""
        free, total = torch.accelerator.get_memory_info()
        return {"free": free, "total": total}

    def inputs(self, request: Message, fds: list[int]) -> Message:
        """Draws the inputs of a case and puts them into the shared memory."""
        self.sent = (request["case"], request["seed"])
        arguments = self.truths.arguments(self.task, *self.sent)
        self.sending.clear()
        positional, keywords = bind(self.task, arguments)
        layout = {
            "args": [self.sending.write(value) for value in positional.values()],
            "kwargs": {name: self.sending.write(value) for name, value in keywords.items()},
            "tensors": [[name, tensor.numel()] for name, value in (positional | keywords).items() for tensor in tensors_in(value)],
            "empty": any(t.numel() == 0 for t in tensors_in(arguments)),
            "mutates": bool(self.task.contract.written(arguments)),
        }
        self.sending.settle()
        self.layout = {name: layout[name] for name in ("args", "kwargs")}
        return layout

    def check(self, request: Message, fds: list[int]) -> Message:
        """Compares what lies in the shared memory with the truth, and the inputs with what was sent."""
        assert self.sent is not None
        # A timed call names its set, one of several.
        case, seed = (request["case"], request["seed"]) if "case" in request else self.sent
        arguments, known = self.truths.arguments(self.task, case, seed), self.truths.truth(self.task, case, seed)
        truth = known.oracle
        about = {"trivial": _trivial(truth), "moves": sorted(known.moves), "operators": sorted(known.operators)}
        about["largest"] = max((tensor.numel() for tensor in (*tensors_in(arguments), *truth.honest)), default=0)
        about["nothing"] = not any(tensor.numel() for tensor in truth.honest)
        self.copies = Copies(self.returned.size)
        try:
            after = self._after(request["after"], arguments) if request["after"] else self._bound(arguments)
            result = self._result(request["result"], after)
            actual = oracle.outputs(self.task, result, after)
        except (torch.OutOfMemoryError, MemoryError):
            raise
        except (BadLayout, LookupError, TypeError, ValueError, ArithmeticError, RuntimeError) as error:
            # The candidate's process wrote it, so whatever is wrong with it is the candidate's fault.
            return about | {"ok": False, "kind": "wrong_dtype", "message": str(error)[:300]}
        if isinstance(result, list | tuple) and not truth.several:
            return about | {"ok": False, "kind": "wrong_dtype", "message": f"a sequence of {len(result)} where one tensor is expected"}
        with blamed():
            placed, given = self.truths.placed(actual), self.truths.placed(arguments)
            verdict = self.task.contract.checker(truth, placed, given)
            if verdict.ok and self.task.contract.random:
                verdict = self._anew((case, seed), truth, placed, given) or verdict
        answer = about | _message(verdict)
        if verdict.ok and (name := self._mutated(arguments, after)):
            answer |= {"ok": False, "kind": "input_mutated", "message": f"the call changed its input {name}"}
        return answer | {"aliasing": self._shared(request.get("shared"), case, seed)}

    def _anew(self, key: tuple[str, int], truth: Oracle, actual: tuple[torch.Tensor, ...], arguments: Arguments) -> Check | None:
        """What is wrong with a result beside the last one for the same inputs: each call draws its numbers anew."""
        last, self.drawn = self.drawn, (key, tuple(tensor.clone() for tensor in actual))
        if last is None or last[0] != key:
            return None
        checker: RandomChecker = self.task.contract.checker  # type: ignore[assignment]
        check = checker.fresh(truth, last[1], actual, arguments)
        return None if check.ok else check

    def _shared(self, claimed: Any, case: str, seed: int) -> str | None:
        """In words, memory that the outputs share with others though those of the reference do not."""
        if not claimed or not isinstance(claimed, list):
            return None
        names = [name for name, value in self._bound(self.truths.arguments(self.task, case, seed)).items() for _ in tensors_in(value)]
        allowed = self.truths.shared(self.task, case, seed)
        for entry in claimed:
            if not isinstance(entry, dict) or entry in allowed:
                continue
            number, other = entry.get("number"), entry.get("with")
            name = names[number] if other == "input" and type(number) is int and 0 <= number < len(names) else ""
            if name not in self.task.contract.written(self.truths.arguments(self.task, case, seed)):
                where = {"input": f"its input {name}", "output": "another output"}.get(str(other), "the result of an earlier call")
                return f"an output shares memory with {where}"
        return None

    def prepare(self) -> None:
        """Computes the truth for the inputs that were sent last, while the candidate is at work on them."""
        if self.sent is not None:
            # A task that fails here fails again in `check`, where it can be said.
            with contextlib.suppress(Exception):
                self.truths.truth(self.task, *self.sent)

    def _bound(self, arguments: Arguments) -> Arguments:
        """In the order in which they are sent: positional ones first."""
        positional, keywords = bind(self.task, arguments)
        return positional | keywords

    def _after(self, nodes: list[Node], sent: Arguments) -> Arguments:
        """The arguments as the call left them."""
        if not isinstance(nodes, list) or len(nodes) > 256:
            raise BadLayout("arguments")
        tensors = iter([self.returned.read(node, self.copies) for node in nodes])

        def replaced(value: Any) -> Any:
            if isinstance(value, torch.Tensor):
                return next(tensors, None)
            if isinstance(value, list | tuple):
                return type(value)(replaced(item) for item in value)
            return value

        return {name: replaced(value) for name, value in self._bound(sent).items()}

    def _result(self, node: Node, after: Arguments) -> Any:
        if isinstance(node, dict) and isinstance(node.get("l"), list) and len(node["l"]) <= 64:
            return [self._result(item, after) for item in node["l"]]
        if isinstance(node, dict) and type(node.get("a")) is int:
            tensors = list(tensors_in(after))
            return tensors[node["a"]] if 0 <= node["a"] < len(tensors) else None
        return self.returned.read(node, self.copies)

    def _mutated(self, sent: Arguments, after: Arguments) -> str | None:
        for name, value in after.items():
            if name in self.task.contract.written(sent) or name not in sent:
                continue
            for old, new in zip(tensors_in(sent[name]), tensors_in(value), strict=True):
                if new is None or old.shape != new.shape or old.dtype != new.dtype or not same_bytes(old, new.to(old.device)):
                    return name
        return None


def _trivial(truth: Oracle) -> bool:
    """Whether an untouched or freshly zeroed buffer might be the right answer, so that this case proves no launch."""
    for tensor in truth.honest:
        if tensor.numel() == 0:
            continue
        flat = tensor.reshape(-1)
        first = flat[0].item()
        constant = bool((flat == flat[0]).all()) or bool(flat.isnan().all() if flat.is_floating_point() else False)
        if not constant or not (first in (0, 1) or not cmath.isfinite(first)):
            return False
    return True


def _message(check: Check) -> Message:
    return {
        "ok": check.ok, "kind": check.kind, "message": check.message, "max_abs": _finite(check.max_abs), "rel_rms": _finite(check.rel_rms),
        "matched": _finite(check.matched), "tolerance": _finite(check.tolerance),
        "worst_index": check.worst_index and list(check.worst_index), "first_index": check.first_index and list(check.first_index),
    }  # fmt: skip


def _finite(number: float | None) -> float | None:
    return number if number is not None and math.isfinite(number) else None


def _device() -> Message:
    """The device at hand, and the simulated one that can be had anyway."""
    found, stand_in = platforms.detect(), platforms.simulated.device()
    facts = {"platform": found.platform, "name": found.name, "count": found.count, "simulated": found.simulated}
    facts |= {"nodes": platforms.nodes(), "driver": platforms.driver(), "kind": found.torch_device.partition(":")[0]}
    facts |= {"uuids": [] if found.simulated else [clocks.identity(index) for index in range(found.count)]}
    facts |= {"target": found.sheet.target if found.sheet else None, "l2_bytes": found.sheet.l2_bytes if found.sheet else L2_BYTES}
    return facts | {"stand_in": {"platform": stand_in.platform, "name": stand_in.name}}


def _invalid(message: str) -> Message:
    return {"invalid": message}


def main(fd: int) -> None:
    syscalls.die_with_parent()
    device = _device()
    if device["simulated"]:
        # A driver may write to the process's own /proc, which this closes.
        syscalls.hide_memory()
    torch.set_num_threads(1)
    channel, judge = Channel.inherited(fd), Judge()
    channel.send({"device": device})
    try:
        while True:
            request = channel.receive()
            try:
                reply = judge.answer(request, channel.fds)
            except Overflow as error:
                reply = _invalid(f"the case is larger than the shared memory: {error}")
            except UserError as error:
                reply = {"user_error": str(error)}
            except TaskFault as error:
                reply = _invalid(str(error))
            except Exception as error:
                reply = {"broken": f"{type(error).__name__}: {error}"[:500], "traceback": traceback.format_exc()[-4000:]}
            for number in channel.fds:
                os.close(number)
            try:
                channel.send(reply, judge.exported)
            except TooLong:
                channel.send(_invalid("the cases or arguments of the task are too many to be described in one message"))
            for number in judge.exported:
                os.close(number)
            judge.exported = []
            if request["op"] == "inputs" and request.get("compared", True):
                judge.prepare()
                memory.trim(judge.truths.device)
    except Closed:
        pass
