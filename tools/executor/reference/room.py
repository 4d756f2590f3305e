"""Answers the judge's requests in a reference sandbox: reads the file, describes the task, draws inputs, calls the reference.

A sentence for the user comes back as `user_error`; what fails otherwise as `error`, which makes the task invalid.
"""

import json
from typing import TYPE_CHECKING, Any

import torch

from benchmark import oracle
from benchmark.errors import UserError
from benchmark.importers.described import value
from benchmark.origin import unpacked
from benchmark.task import Arguments, Contract, Task
from tools.executor.aliasing import overlaps
from tools.executor.arguments import tensors_in
from tools.executor.channel import Message
from tools.executor.reference.describe import describe
from tools.executor.reference.models import Models
from tools.executor.reference.own import Own
from tools.executor.reference.recorded import Recorded
from tools.executor.reference.subject import Subject
from tools.executor.used import Used
from tools.executor.wire import Overflow
from tools.modelled import Eager
from tools.operations import trace
from tools.roofline import minimal

if TYPE_CHECKING:
    from tools.executor.sandbox.sandbox import Sandbox

ADAPTERS: dict[str, Any] = {
    "own": Own, "kernelbench": Models, "kernelbenchx": Recorded, "tritonbench_t": Recorded, "tritonbench_g": Recorded,
}  # fmt: skip


class References:
    def __init__(self, sandbox: "Sandbox"):
        self.sandbox = sandbox
        self.subject: Subject | None = None
        self.mutates: tuple[str, ...] = ()

    @property
    def known(self) -> Subject:
        assert self.subject is not None
        return self.subject

    def do_read(self, request: Message) -> Message:
        """Takes the files, and the adapter for their format; nothing of the file has run before."""
        oracle.multiply_as(Contract(None))  # type: ignore[arg-type]
        torch.set_grad_enabled(False)
        folder = self.sandbox.box / "task"
        with open(self.sandbox.channel.fds.pop(), "rb") as file:
            files = unpacked(file.read())
        for name, data in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(data)
        try:
            self.subject = ADAPTERS[request["kind"]](folder, request, self.place)
        except UserError as error:
            return {"user_error": str(error)}
        if self.sandbox.device and isinstance(self.subject, Models):
            self.subject.device = torch.accelerator.current_accelerator().type  # type: ignore[union-attr]
        self.mutates = tuple(request.get("mutates", ()))
        self.sandbox.function = self.subject.function
        self.sandbox.binder = getattr(self.subject, "bound", None)
        return {}

    def do_describe(self, request: Message) -> Message:
        """Writes the description to the descriptor that came along."""
        with open(self.sandbox.channel.fds.pop(), "wb") as file:
            try:
                file.write(json.dumps(describe(self.known, self)).encode())
            except UserError as error:
                return {"user_error": str(error)}
        return {}

    def do_inputs(self, request: Message) -> Message:
        """Draws arguments and puts them into the shared memory."""
        arguments = self.known.inputs(request["recipe"], request["seed"])
        self.sandbox.outputs.clear()
        try:
            written = {name: self.sandbox.outputs.write(self.plain(item)) for name, item in arguments.items()}
        except Overflow as error:
            return {"user_error": f"the case is larger than the shared memory: {error}"}
        self.sandbox.outputs.settle()
        return {"arguments": written}

    def do_refer(self, request: Message) -> Message:
        """Calls the reference on the arguments in shared memory."""
        arguments = self.sandbox.take(request)
        tensors = list(tensors_in(arguments))
        with Used() as used:
            result = self.sandbox.bound(request, arguments)()
        outputs = oracle.flattened(result)
        after = [tensors[number] for number in request["written"]]
        given = self.sandbox.give(_listed(result), tensors, after)
        return given | {"used": sorted(used.names), "shared": overlaps(outputs, tensors, [])[:16]}

    def do_work(self, request: Message) -> Message:
        """`work` as in `roofline.Work`, and eager's `operations`, by shapes alone; null where the reference needs values to run."""
        arguments = {name: value(node) for name, node in request["layout"].items()}
        found = self._traced(arguments)
        return {"work": None, "eager": None} if found is None else found

    def _traced(self, arguments: Arguments) -> Message | None:
        task = Task("", "", "", self.known.function, (), (), Contract(None, mutates=self.mutates))  # type: ignore[arg-type]
        try:
            work = minimal(task, arguments)
            if work is None:
                return None
            return {"work": vars(work), "eager": Eager.of(trace(self.known.function, arguments)[1]).operations}
        except Exception:
            return None

    def do_rest(self, request: Message) -> Message:
        """Gives the memory of a timed size back."""
        self.sandbox.held = []
        for room in self.sandbox.rooms:
            if hasattr(room, "bench"):
                del room.bench, room.arguments
        torch.accelerator.empty_cache()
        return {"free_bytes": torch.accelerator.get_memory_info()[0]}

    def place(self, arguments: Arguments) -> Arguments:
        """Copies where the reference runs; what lies there already is copied too."""
        return {name: self._placed(item) for name, item in arguments.items()}

    def _placed(self, item: Any) -> Any:
        if isinstance(item, list | tuple):
            return type(item)(self._placed(part) for part in item)
        return self.sandbox.session.to_device(self.plain(item)) if isinstance(item, torch.Tensor) else item

    def plain(self, item: Any) -> Any:
        """Tensors of the simulated device as those of the host that they are."""
        if isinstance(item, list | tuple):
            return type(item)(self.plain(part) for part in item)
        return self.sandbox.session.to_host(item) if isinstance(item, torch.Tensor) and type(item) is not torch.Tensor else item


def _listed(result: Any) -> Any:
    """What is returned by name comes in the order of the names."""
    return list(result.values()) if isinstance(result, dict) else result
