"""Inside the sandbox: the loop that takes inputs, calls the candidate and gives back bytes.

From `import` on this process is the candidate's. Nothing here decides: every word it sends is self-reported, and a verdict
of `pass` needs output bytes that the judge finds right.
"""

import contextlib
import importlib.util
import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import torch
from triton.runtime.jit import JITFunction

from tools.executor.arguments import tensors_in
from tools.executor.channel import Channel, Message
from tools.executor.compiled import pack, unpack
from tools.executor.memory import attached, regions
from tools.executor.modules import ClassCandidate
from tools.executor.reference.room import References
from tools.executor.sandbox import account, tripwire
from tools.executor.sandbox.calls import Calls
from tools.executor.sandbox.exceptions import describe
from tools.executor.sandbox.launches import Launches
from tools.executor.sandbox.sampled import SampledCalls
from tools.executor.sandbox.seen import Instruments
from tools.executor.sandbox.static import facts, parse
from tools.executor.sandbox.timed import TimedCalls
from tools.executor.sandbox.traced import TracedCalls
from tools.executor.sandbox.watch import Record, Watch
from tools.executor.sandbox.zones import Zones
from tools.executor.unwritten import Poison
from tools.executor.wire import Node, Overflow

TARGETS, KERNELS, NAME = 8, 32, 200
"""Compilation targets, kernels of each, and characters of a kernel's name that are reported."""
CANDIDATE = (Calls, TimedCalls, SampledCalls, TracedCalls)
REFERENCE = (References, TimedCalls)
"""What answers requests where a foreign task's file runs in place of a candidate."""


class Session(Instruments, Protocol):
    """The device as the sandbox sees it: simulated (`tools.simulated`) or real (`tools.executor.sandbox.device`)."""

    launches: list[str]
    noop: bool
    interpreting: bool
    """Whether the device itself is at work in this process, with torch."""

    @property
    def compiles(self) -> list[dict[str, Any]]: ...

    def to_device(self, tensor: torch.Tensor) -> torch.Tensor: ...

    def to_host(self, tensor: torch.Tensor) -> torch.Tensor: ...


class Failed(Exception):
    """A stage that failed in a way the candidate's author can act on."""

    def __init__(self, kind: str, message: str, **detail: Any):
        super().__init__(message)
        self.report = {"kind": kind, "message": message, "detail": detail}


class Sandbox:
    """Answers one request at a time. Inputs lie in the first part of the shared memory, outputs in the second."""

    def __init__(
        self, channel: Channel, memory: torch.Tensor, session: Session, box: Path, device: bool, rooms: tuple[Callable[..., Any], ...]
    ):
        """`device`: whether the session is a real device. `rooms` are made, and answer requests beside this."""
        self.channel = channel
        self.device = device
        self.inputs, self.outputs = regions(memory)
        self.session = session
        self.box = box
        self.function: Callable[..., Any] | None = None
        self.model: ClassCandidate | None = None
        self.binder: Callable[..., Callable[[], Any]] | None = None
        """Makes a call of arguments where that takes more than the function."""
        self.held: list[torch.Tensor] = []
        """The flat memory behind the arguments of the last call."""
        self.compiling = False
        self.launches = Launches()
        sample = session.to_device(torch.empty(0))
        self.place = sample.device
        """Where the arguments' tensors lie, as the candidate sees it."""
        self.kinds = {torch.Tensor, torch.nn.Parameter, type(sample)}
        """Types that an output may have: a subclass might compute when it is looked at."""
        self.rooms = (self, *(room(self) for room in rooms))
        """Where the answers to requests are found."""

    def serve(self) -> None:
        while True:
            request = self.channel.receive()
            self.compiling = False
            reply: Message = {"id": request["id"]}
            try:
                reply |= self._answer(request)
            except BaseException as error:
                reply["error"] = self.described(error)
            _flush()
            try:
                self.channel.send(reply)
            except ValueError:
                self.channel.send({"id": request["id"], "error": {"kind": "runtime_error", "message": "an answer that is too long"}})

    def _answer(self, request: Message) -> Message:
        name = "do_" + request["op"]
        answer: Callable[[Message], Message] = next(getattr(room, name) for room in self.rooms if hasattr(room, name))
        return answer(request)

    def do_parse(self, request: Message) -> Message:
        with open(self.channel.fds.pop(), "rb") as file:
            source = file.read()
        (self.box / "candidate.py").write_bytes(source)
        tree = parse(source)
        return {"error": tree} if isinstance(tree, dict) else {"facts": facts(tree)}

    def do_recall(self, request: Message) -> Message:
        """Unpacks what the candidate's kernels compiled to last time."""
        with open(self.channel.fds.pop(), "rb") as file:
            unpack(file.read(), Path(os.environ["TRITON_CACHE_DIR"]))
        return {}

    def do_remember(self, request: Message) -> Message:
        with open(self.channel.fds.pop(), "wb") as file:
            file.write(pack(Path(os.environ["TRITON_CACHE_DIR"])))
        return {}

    def do_import(self, request: Message) -> Message:
        path = self.box / "candidate.py"
        spec = importlib.util.spec_from_file_location("candidate", path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        # Dataclasses with postponed annotations look their module up there.
        sys.modules[spec.name] = module
        try:
            with Watch(self.session, Poison(), Record(launches=self.launches)):
                spec.loader.exec_module(module)
        except BaseException as error:
            report = describe(error, self.box)
            kind = report["kind"] if report["kind"] in ("unsupported", "oom") else "import_error"
            raise Failed(kind, report["message"], **report["detail"]) from error
        names = [request["entry"], "kernel_function"]
        self.function = next((f for name in names if callable(f := getattr(module, name, None))), None)
        model = request.get("model")
        if self.function is None and model and callable(made := getattr(module, model["name"], None)):
            self.model = ClassCandidate(made, model, self.session.to_device)
            self.function, self.binder = made, self.model.bound
        if self.function is None:
            also = f", and no class {model['name']}" if model else ""
            raise Failed("missing_entry", f"the module defines no function {' or '.join(names)}{also}")
        return {"tampered": self.tampered()[:16]}

    def do_construct(self, request: Message) -> Message:
        """Makes the module for the next call, where the candidate is a class."""
        if self.model:
            self.model.prepare([self.inputs.read(node) for node in request["init"]])
        return {}

    def bound(self, request: Message, arguments: list[Any]) -> Callable[[], Any]:
        assert self.function is not None
        # Shared memory may lie on the host.
        arguments = [self.place if isinstance(value, torch.device) else value for value in arguments]
        count = len(request["args"])
        keywords = dict(zip(request["kwargs"], arguments[count:], strict=True))
        # Never an attribute of a candidate's own function, which would run where nobody looks.
        if self.binder:
            return self.binder(*arguments[:count], **keywords)
        return partial(self.function, *arguments[:count], **keywords)

    def take(self, request: Message, places: list[torch.Tensor] | None = None, zones: Zones | None = None) -> list[Any]:
        """The arguments, on the device; their values go to `places` where these are given, and else between red zones where there are
        `zones`.
        """
        free = iter(places or ())
        self.held = []

        def place(flat: torch.Tensor) -> torch.Tensor:
            fresh = self.session.to_device(flat)
            if places is not None:
                # By way of `data`, so that the tensor's version does not tell.
                old = next(free)
                old.data.copy_(fresh)
                fresh = old
            elif zones:
                fresh = zones.surround(fresh, f"an argument ({len(self.held)})")
            self.held.append(fresh)
            return fresh

        return [self.inputs.read(node, place) for node in (*request["args"], *request["kwargs"].values())]

    def described(self, error: BaseException) -> dict[str, Any]:
        if isinstance(error, Failed):
            return error.report
        report = describe(error, self.box)
        if self.compiling and report["kind"] == "runtime_error":
            report["kind"] = "compile_error"
        return report

    def watch_compiler(self) -> None:
        """Tells the broker when a compilation begins and ends: it has a deadline of its own."""

        compile_ = JITFunction._do_compile

        def watched(jit: Any, *args: Any, **kwargs: Any) -> Any:
            self.compiling = True
            self.channel.send({"notice": "compile"})
            kernel = compile_(jit, *args, **kwargs)
            self.channel.send({"notice": "run"})
            self.compiling = False
            return kernel

        JITFunction._do_compile = watched

    def compiles(self) -> list[dict[str, Any]]:
        return [_short(c) for c in self.session.compiles[:TARGETS]]

    def outputs_in(self, result: Any) -> list[torch.Tensor]:
        """The tensors of a result, which must be plain ones."""
        outputs = list(tensors_in(result))
        for output in outputs:
            if type(output) not in self.kinds:
                raise Failed("wrong_dtype", f"an output is a {type(output).__name__[:80]} where a plain tensor is expected")
        return outputs

    def arm(self) -> None:
        """From here on changes of our own instruments are noticed, and our modules are not found by their names."""
        self.tampered = tripwire.armed(self, self.session, self.channel, *self.rooms, Record(), Poison(), Zones(""))
        tripwire.forget()

    def give(self, result: Any, tensors: list[torch.Tensor], after: list[torch.Tensor]) -> Message:
        """Writes the result, and the arguments as the call left them, to shared memory."""
        self.outputs.clear()
        written = self.put(result, tensors, after)
        self.outputs.settle()
        return written

    def put(self, result: Any, tensors: list[torch.Tensor], after: list[torch.Tensor]) -> Message:
        """The same behind what has been written before, without waiting for the device."""
        device = tensors[0].device.type if tensors else None
        for tensor in self.outputs_in(result):
            if device and tensor.device.type != device:
                raise Failed("device_mismatch", f"an output is on {tensor.device}, the inputs are on {tensors[0].device}")
        try:
            return {
                "result": self._write(result, tensors),
                "after": [self.outputs.write(self.session.to_host(tensor)) for tensor in after],
            }
        except Overflow:
            shapes = [tuple(tensor.shape) for tensor in tensors_in(result)]
            raise Failed("wrong_shape", f"outputs of shapes {shapes} do not fit into the memory that this task needs") from None

    def _write(self, value: Any, arguments: list[torch.Tensor]) -> Node:
        if isinstance(value, torch.Tensor):
            for index, argument in enumerate(arguments):
                if value is argument:
                    return {"a": index}
            return self.outputs.write(self.session.to_host(value))
        if isinstance(value, list | tuple):
            return {"l": [self._write(v, arguments) for v in value]}
        return self.outputs.write(value)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()


def _short(compiled: dict[str, Any]) -> dict[str, Any]:
    error = compiled.get("error")
    kernels = [kernel | {"name": str(kernel["name"])[:NAME]} for kernel in compiled["kernels"][:KERNELS]]
    return compiled | {"kernels": kernels, "error": str(error)[:1000] if error else None}


def run(channel: Channel, fd: int, memory: Message, plan: Message, box: Path) -> None:
    """Opens the session that `plan` names and the memory that `memory` describes, and serves until the broker is gone."""
    with contextlib.ExitStack() as stack:
        try:
            session = stack.enter_context(open_session(plan))
            shared = attached(fd, memory)
            account.warm()
        except OSError as error:
            channel.send({"unmapped": str(error)[:500]})
            return
        except BaseException as error:
            channel.send({"broken": f"{type(error).__name__}: {error}"[:500]})
            return
        reference = plan.get("reference", False)
        sandbox = Sandbox(channel, shared, session, box, plan["mode"] == "device", REFERENCE if reference else CANDIDATE)
        if not reference:
            sandbox.watch_compiler()
            sandbox.launches.watch()
            sandbox.arm()
        channel.send({"ready": True})
        sandbox.serve()


def open_session(plan: Message) -> contextlib.AbstractContextManager[Session]:
    if plan["mode"] == "device":
        from tools.executor.sandbox.device import DeviceSession, seed_cache

        seed_cache()
        return DeviceSession(plan["index"], plan["targets"][0])
    from tools import simulated
    from tools.platforms.simulated import SHEET

    return simulated.Session(plan["targets"], SHEET, plan["seed"])
