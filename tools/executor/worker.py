"""A worker: one judge and one zygote, started when they are needed and again when they were lost."""

import contextlib
import hashlib
import json
import os
from typing import Any

from benchmark.errors import UserError, unknown
from benchmark.origin import Origin
from benchmark.task import Task
from tools import simulated
from tools.executor import memory
from tools.executor.channel import Message, readable
from tools.executor.compiled import CompileCache
from tools.executor.peer import START_S, Peer, WorkerLost
from tools.executor.referee import RemoteReference, described
from tools.executor.remote import RemoteSandbox
from tools.platforms import default_targets

OPEN_S = 30.0
"""Making the walls and, on a GPU, a context."""


class Worker:
    """One of several, by its `number`; they take turns on `gpus`, or on all that are there.

    `cancelled` is a descriptor that becomes readable when the evaluation at hand is to be given up.
    """

    def __init__(self, number: int, gpus: tuple[int, ...] | None, cache: CompileCache):
        self.number = number
        self.cache = cache
        self.gpus = gpus
        self.gpu = 0
        self.judge: Peer | None = None
        self.zygote: Peer | None = None
        self.device: dict[str, Any] = {}
        self.versions: dict[str, str] = {}
        self.warm: tuple[str, str] | None = None
        self.isolation: dict[str, Any] = {}
        self.cancelled, self._cancel = os.pipe()
        self.spare: RemoteSandbox | None = None
        """A sandbox that is made while another is at work, for the next candidate."""
        self.reference: RemoteReference | None = None
        """The reference sandbox of the foreign task that was asked for last; it sees no candidate, so it stays for the next ones."""
        self.exported: dict[tuple[int, str], tuple[int, Message] | str] = {}
        """By GPU and user, the memory that the judge shares there, or why it cannot."""

    def ready(self, device: str, level: str) -> str:
        """Starts what is not running, warms the zygote for the device and the isolation level, and returns the mode."""
        # Both begin before one is waited for.
        for peer in (self._running_judge(), self._running_zygote()):
            hello = peer.start(self.cancelled)
            self.device = hello.get("device", self.device)
            self.versions |= hello.get("versions", {})
        self.versions["driver"] = self.device["driver"]
        mode = self._mode(device)
        if self.warm != (mode, level):
            if self.warm and self.zygote:
                self.drop_spare()
                self.drop_reference()
                self.zygote.stop()
                self.zygote = None
                return self.ready(device, level)
            assert self.zygote is not None
            nodes = self.device["nodes"] if mode == "device" else []
            request = {"op": "warm", "mode": mode, "level": level, "devices": nodes, "target": self.device["target"]}
            request["index"] = self.gpu
            answer = self.zygote.ask(request, self.cancelled, seconds=START_S)
            if "user_error" in answer:
                raise UserError(answer["user_error"])
            self.isolation = answer
            self.warm = (mode, level)
        return mode

    def _mode(self, device: str) -> str:
        """`simulated` or `device`; a device that is named must be there."""
        if device == "simulated" or (device == "auto" and self.device["simulated"]):
            return "simulated"
        count = 0 if self.device["simulated"] else self.device["count"]
        names = [f"{self.device['kind']}:{index}" for index in range(count)]
        usable = self.gpus or tuple(range(count))
        kind, colon, index = device.partition(":")
        wanted = [device] if colon else [f"{kind if device != 'auto' else self.device['kind']}:{gpu}" for gpu in usable]
        for name in wanted or [device]:
            if name not in names:
                raise unknown("device", name, ["auto", "simulated", *names])
        self.gpu = int(index) if colon else usable[self.number % len(usable)]
        return "device"

    def isolated(self, level: str) -> None:
        """Refuses to go on where candidates, and files that are not ours, cannot be isolated as was asked."""
        if self.isolation["level"] is None:
            tried = "; ".join(f"{name}: {_why(found)}" for name, found in self.isolation["tried"].items())
            raise UserError(
                f"Candidates cannot be isolated at level {level!r} here ({tried}). "
                "Run where user namespaces and Landlock are allowed, or accept the risk with sandbox=process."
            )

    def describe(self, mode: str) -> tuple[str, str]:
        """Platform and device name."""
        if mode == "device":
            return self.device["platform"], self.device["name"]
        return self.device["stand_in"]["platform"], self.device["stand_in"]["name"]

    def environment(self, mode: str) -> str:
        """Digest of where a verdict is found: the mode, the hardware and the versions of what compiles and runs."""
        parts = [mode, *self.describe(mode), *sorted(self.versions.items())]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]

    def place(self, mode: str) -> str:
        """Where the judge computes."""
        return f"{self.device['kind']}:{self.gpu}" if mode == "device" else "cpu"

    def _running_judge(self) -> Peer:
        if self.judge and self.judge.process.poll() is None:
            return self.judge
        if self.judge:
            self._forget_judge()
        self.judge = Peer.like_caller("tools.executor.judge")
        return self.judge

    def _running_zygote(self) -> Peer:
        if self.zygote and self.zygote.process.poll() is None:
            return self.zygote
        self.drop_spare()
        self.drop_reference()
        if self.zygote:
            self.zygote.stop()
        self.zygote = Peer.without_secrets("tools.executor.walls.zygote")
        self.warm = None
        return self.zygote

    def ask_judge(self, message: Message, fds: tuple[int, ...] = ()) -> Message:
        assert self.judge is not None
        return self.judge.ask(message, self.cancelled, fds)

    def sandbox(self, plan: Message) -> RemoteSandbox:
        """A sandbox for one candidate, ready to take it. Raises `WorkerLost` where none can be had."""
        # Until it is given away it is the spare one, which is dropped whatever happens.
        if self.spare and not self._fits(self.spare, plan):
            self.drop_spare()
        if self.spare is None:
            self.spare = self._fork(plan)
        hello = self.spare.wait(OPEN_S)
        if "ready" in hello:
            sandbox, self.spare = self.spare, None
            return sandbox
        self.drop_spare()
        if "unmapped" in hello:
            self.exported[self.gpu, "candidate"] = str(hello["unmapped"])
        raise WorkerLost(f"no sandbox could be set up: {hello.get('broken') or hello.get('unmapped')}")

    def _fits(self, spare: RemoteSandbox, plan: Message) -> bool:
        return spare.plan == plan and "ready" in spare.wait(OPEN_S) and spare.alive

    def prepare(self, plan: Message) -> None:
        """Begins a sandbox for the next candidate, which is likely to be asked for with the same plan."""
        self.drop_spare()
        self.spare = self._fork(plan)

    def settle_spare(self) -> None:
        """Waits until the spare sandbox is at rest, so that it disturbs no clock."""
        if self.spare:
            self.spare.wait(OPEN_S)

    def drop_spare(self) -> None:
        spare, self.spare = self.spare, None
        if spare:
            spare.close()

    def referred(self, task: Task, plan: Message) -> RemoteReference:
        """The reference sandbox of a foreign task. Raises `Misread` where the task's file cannot be read there."""
        plan = plan | {"reference": True}
        if self.reference and not self.reference.fits(task, plan):
            self.drop_reference()
        if self.reference is None:
            sandbox = self._fork(plan, "reference")
            try:
                self.reference = RemoteReference(sandbox, task)
            except BaseException:
                sandbox.close()
                raise
        return self.reference

    def drop_reference(self) -> None:
        reference, self.reference = self.reference, None
        if reference:
            reference.close()

    def describing(self) -> str:
        """The device on which foreign tasks are described: the simulated one where it works, for that takes no GPU's time."""
        try:
            simulated.require()
        except UserError:
            return "auto"
        return "simulated"

    def described(self, origin: Origin, mode: str) -> Origin:
        """The same with what a reference sandbox says of the task. Raises `Misread`."""
        plan = {"mode": mode, "targets": [self.device["target"] or "unknown"] if mode == "device" else list(default_targets())}
        sandbox = self._fork(plan | {"seed": 0, "index": self.gpu, "reference": True}, "described")
        try:
            return described(sandbox, origin)
        finally:
            sandbox.close()

    def _fork(self, plan: Message, user: str = "candidate") -> RemoteSandbox:
        assert self.zygote is not None
        fd, shared = self._memory(plan["mode"], user)
        sandbox = RemoteSandbox(self.cancelled, plan, fd, shared, heard=user == "candidate")
        try:
            line, control, out, err = sandbox.ends
            request = {"op": "fork", "level": self.isolation["level"], "memory": shared, "plan": plan}
            answer = self.zygote.ask(request, self.cancelled, (line, control, fd, out, err), seconds=30.0)
            if "user_error" in answer:
                raise UserError(answer["user_error"])
        except BaseException:
            sandbox.handed_over()
            sandbox.close()
            raise
        sandbox.handed_over()
        return sandbox

    def _memory(self, mode: str, user: str) -> tuple[int, Message]:
        """Memory for one sandbox: the GPU's where its driver shares it, else the host's."""
        if mode != "device" or user == "described" or isinstance(self.exported.get((self.gpu, "candidate")), str):
            return memory.host(mode)
        exported = self._export(user)
        return memory.host(mode) if isinstance(exported, str) else (os.dup(exported[0]), exported[1])

    def _export(self, user: str) -> tuple[int, Message] | str:
        key = (self.gpu, user)
        if key not in self.exported:
            answer = self.ask_judge({"op": "share", "gpu": self.gpu, "user": user})
            assert self.judge is not None
            self.exported[key] = (self.judge.channel.fds[0], answer) if "size" in answer else answer["refused"]
        return self.exported[key]

    def data_path(self) -> str:
        """How the sandbox's arguments and results travel."""
        exported = self.exported.get((self.gpu, "candidate"))
        if self.warm and self.warm[0] == "device":
            return f"shared host memory ({exported})" if isinstance(exported, str) else "shared device memory"
        return "shared host memory"

    def _forget_judge(self) -> None:
        """With it goes the memory that it has shared, and whoever maps it."""
        self.drop_spare()
        self.drop_reference()
        assert self.judge is not None
        self.judge.stop()
        for exported in self.exported.values():
            if not isinstance(exported, str):
                os.close(exported[0])
        self.exported = {}

    def cancel(self) -> None:
        with contextlib.suppress(OSError):
            os.write(self._cancel, b"x")

    def settle(self) -> None:
        """After an evaluation: forgets a cancellation, with judge and zygote, which may be in the middle of something."""
        if readable([self.cancelled], 0):
            os.read(self.cancelled, 1 << 10)
            self.stop_peers()

    def stop_peers(self) -> None:
        self.drop_spare()
        self.drop_reference()
        if self.judge:
            self._forget_judge()
        if self.zygote:
            self.zygote.stop()
        self.judge = self.zygote = None
        self.warm = None

    def stop(self) -> None:
        self.stop_peers()
        for fd in (self.cancelled, self._cancel):
            os.close(fd)


def _why(found: Any) -> str:
    if isinstance(found, dict):
        return "not denied: " + ", ".join(name for name, denied in found.items() if not denied)
    return str(found)
