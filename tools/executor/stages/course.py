"""The course of one evaluation: stage after stage until one fails. Runs in the broker, which believes the judge only.

Which verdict wins: that of the first stage that fails. Within a call, what the sandbox did instead of answering (timeout, crash),
then the error it reports, then a launch that left its memory or raced (its numbers mean nothing), then the judge's comparison (form,
finite values, numbers), then an input that was changed. Visible cases come before held-out ones. In the adversarial stage: a call
without launches, torch's work, what was foul about the calls so far (changed instruments, aliasing, late writes), then call by call.
What fails in the task's own code is `task_invalid`, what fails in ours `infra_error`, at whatever stage.
"""

import contextlib
import hashlib
import os
import time
from collections.abc import Callable, Iterator
from typing import Any

from benchmark.errors import UserError
from benchmark.importers.described import node
from benchmark.task import Task
from tools.evaluation import Evaluation
from tools.executor import compiled
from tools.executor.arguments import tensors_in
from tools.executor.channel import Malformed, Message, TooLong, enclosed
from tools.executor.peer import WorkerLost
from tools.executor.referee import Misread
from tools.executor.remote import Died, Hung, RemoteSandbox
from tools.executor.stages.adversarial import Adversarial
from tools.executor.stages.correctness import Correctness
from tools.executor.stages.ladder import Ladder
from tools.executor.stages.lock import gpu_lock
from tools.executor.stages.modelling import Modelling
from tools.executor.stages.profiling import Profiling
from tools.executor.stages.trials import Trials, tampering
from tools.executor.stages.verdicts import Stop
from tools.executor.worker import Worker
from tools.settings import Settings

MAX_SOURCE = 256 << 10
PARSE_S = 10.0
PROMISED = 0.25
"""Of a GPU's memory, what a candidate that runs alone must find free if `oom` is to be its own fault."""


class Course:
    """One candidate on one worker. `run` returns the evaluation; it raises `WorkerLost` and `UserError` only.

    The stages (`Correctness`, `Adversarial`, `Ladder`) speak with judge and sandbox through it and fill its `record`.
    """

    def __init__(self, worker: Worker, candidate: str, task: Task, settings: Settings, level: str = "auto"):
        self.worker = worker
        self.level = level if settings.sandbox == "auto" else settings.sandbox
        self.candidate = candidate
        self.task = task
        self.settings = settings
        self.sandbox: RemoteSandbox | None = None
        self.marks: dict[str, int] | None = None
        """How much had been printed when the held-out cases began."""
        self.built: dict[str, int] = {}
        """How many kernels had been built by then, for each target."""
        self.reopened = False
        """Whether this is not the first sandbox."""
        self.record = Evaluation(candidate_sha=sha(candidate), task_id=task.id, task_sha=task.sha, settings_sha=settings.sha)

    def run(self) -> Evaluation:
        start, record = time.monotonic(), self.record
        self.entered = start
        record.resources = {"wall_s": 0.0, "gpu_s": 0.0, "max_rss": 0.0}
        try:
            self._prepare()
            self.source = self._text()
            self._stages()
            record.verdict = "pass"
        except Stop as stop:
            record.verdict, record.error = stop.failure.kind, stop.failure
        finally:
            self.stage(record.stage)
            if self.sandbox:
                self._close_sandbox()
        record.resources["wall_s"] = round(time.monotonic() - start, 4)
        return record

    def _text(self) -> bytes:
        """What needs no process to be seen."""
        if not self.candidate.strip():
            raise Stop("no_code", "the candidate is empty")
        try:
            source = self.candidate.encode()
        except UnicodeEncodeError as error:
            raise Stop("syntax_error", f"the source is not UTF-8 text: {error.reason} at character {error.start}") from None
        if len(source) > MAX_SOURCE:
            raise Stop("forbidden", f"the source has {len(source)} bytes; at most {MAX_SOURCE} are read")
        return source

    def _prepare(self) -> None:
        worker, record = self.worker, self.record
        record.mode = worker.ready(self.settings.device, self.level)
        worker.isolated(self.level)
        level = worker.isolation["level"]
        found = worker.isolation["tried"][level]
        record.isolation = {
            "level": level,
            "layers": worker.isolation["layers"],
            "denied": sorted(name for name, denied in found.items() if denied),
        }
        record.platform, record.device = worker.describe(record.mode)
        record.versions = dict(worker.versions)
        record.environment_sha = worker.environment(record.mode)

    def _stages(self) -> None:
        try:
            with self.gpu(shared=True):
                # Held throughout: who waits for it at each call waits for everybody's timing at each call.
                self._tried()
        except Stop as stop:
            if stop.failure.kind != "oom" or not self.device:
                raise
            self._again_alone()
        if not self.device:
            self.record.no_timing = "the simulated device has no clock: speed is measured on a GPU only"
            if self.settings.profile != "off":
                Modelling(self).run()
        elif self.settings.timing == "off":
            self.record.no_timing = "timing was switched off"
        else:
            # Timing ends this sandbox.
            self._remember()
            self.stage("timing")
            Ladder(self).run()
            if self.settings.profile != "off":
                self.stage("profile")
                Profiling(self).run()
        self._remember()

    def _tried(self) -> None:
        """What fails ends before the GPU is let go: a process that leaves it disturbs a clock, too."""
        try:
            self.open()
            self._calls()
        except Stop:
            if self.sandbox:
                self.box.kill()
            raise

    def _again_alone(self) -> None:
        """Others may have had the memory: what counts is whether it suffices for one."""
        self._forget()
        with self.gpu(shared=False):
            self.open()
            memory = self.judge({"op": "free"})
            free, total = memory["free"], memory["total"]
            try:
                self._calls()
            except Stop as stop:
                if stop.failure.kind != "oom" or free >= PROMISED * total:
                    raise
                message = f"others hold the GPU's memory: {free >> 20} of {total >> 20} MiB were free; executor.workers may be too many"
                raise Stop("infra_error", message) from None

    def _forget(self) -> None:
        """Begins anew."""
        self._close_sandbox()
        self.marks = None
        self.record.cases, self.record.adversarial, self.record.launches = [], [], None

    def _calls(self) -> None:
        trials = Trials(self)
        correctness = Correctness(self, trials)
        try:
            correctness.run()
        finally:
            self.record.torch_work = trials.work.summary()
        self.record.correct = True
        self.stage("adversarial")
        Adversarial(self, trials, correctness).run()

    @property
    def device(self) -> bool:
        """Whether the candidate runs on a real device."""
        return self.record.mode == "device"

    @property
    def box(self) -> RemoteSandbox:
        assert self.sandbox is not None
        return self.sandbox

    def open(self) -> None:
        """Takes a sandbox, parses the source in it before any of the candidate runs, and imports it."""
        worker, settings = self.worker, self.settings
        targets = [worker.device["target"] or "unknown"] if self.device else list(settings.targets)
        plan = {"mode": self.record.mode, "targets": targets, "seed": settings.seed, "index": worker.gpu}
        self.sandbox = worker.sandbox(plan)
        self.record.data_path = worker.data_path()
        self._brief(plan)
        worker.prepare(plan)
        answer = self._parse()
        self.stage("static")
        self.record.facts = answer["facts"]
        self.stage("import")
        self._recall()
        model = self.task.origin.description["model"] if self.task.origin else None
        answer = self.ask({"op": "import", "entry": self.cases["entry"], "model": model}, settings.import_s)
        if found := tampering(answer):
            raise Stop.because(found)
        self.stage("compile")

    def _brief(self, plan: Message) -> None:
        """Tells the judge of the task and of the memory; of a task that is not ours also how its reference is come at."""
        worker, task = self.worker, self.task
        request = {"op": "open", "task": task.id, "sha": task.sha, "device": worker.place(self.record.mode), "memory": self.box.memory}
        fds: tuple[int, ...] = (self.box.fd,)
        if task.origin:
            try:
                reference = worker.referred(task, plan)
            except Misread as error:
                raise Stop("task_invalid", str(error)) from None
            request["reference"] = reference.message
            fds += reference.fds
        self.cases = self.judge(request, fds)
        if not self.cases["cases"]:
            raise Stop("unsupported", "no case of this task is small enough for the simulated device; task_args may name smaller sizes")

    def init(self, case: str) -> list[Message] | None:
        """What a class in the candidate's place is constructed with, as nodes of `wire`. None where the task takes none, and where a
        tensor is among it: such a class is made in the call, and watched.
        """
        origin = self.task.origin
        if origin is None or origin.description["model"] is None:
            return None
        arguments = self.task.case(case).arguments(self.task.id, self.settings.seed, "meta")
        given = [arguments[name] for name in origin.description["model"]["init"]]
        return None if next(tensors_in(given), None) is not None else [node(value) for value in given]

    def _parse(self) -> Message:
        with enclosed(self.source) as fd:
            return self.ask({"op": "parse"}, PARSE_S, fds=(fd,))

    def _recall(self) -> None:
        """Gives the candidate back what it compiled in an earlier evaluation."""
        targets, cache = self.box.plan["targets"], self.worker.cache
        self.cache_key = compiled.key(self.source, [self.record.mode, targets, self.worker.versions])
        known = cache.get(self.cache_key)
        self.recalled = known is not None
        if known is not None:
            with enclosed(known) as fd:
                self.ask({"op": "recall"}, PARSE_S, fds=(fd,))

    def _remember(self) -> None:
        if self.recalled or self.box.ended:
            return
        # A candidate that fails here has its verdict already.
        with enclosed(b"") as fd, contextlib.suppress(Stop):
            self.ask({"op": "remember"}, PARSE_S, fds=(fd,))
            self.worker.cache.put(self.cache_key, os.pread(fd, compiled.MOST_BYTES + 1, 0))

    def reopen(self) -> None:
        """A new sandbox where the last one has died of what was tried on it; the stage stays. Called while the GPU is held."""
        if self.box.ended:
            stage, self.reopened = self.record.stage, True
            self._close_sandbox()
            self.open()
            self.stage(stage)

    def drawn(self, purpose: str) -> int:
        """A number for a purpose: nobody knows it before the candidate is written, and it is the same whenever it is tried."""
        key = f"{self.settings.seed}/{self.record.candidate_sha}/{self.task.sha}/{purpose}"
        return int.from_bytes(hashlib.sha256(key.encode()).digest()[:6])

    def mark_held_out(self) -> None:
        """From here on, what is printed belongs to held-out cases."""
        self.marks = {name: len(log.kept) for name, log in self.box.logs.items()}
        self.built = {c["target"]: len(c["kernels"]) for c in self.record.compile}

    def note_compiled(self, compiled: list[dict[str, Any]]) -> None:
        """What is compiled so far. A kernel's name is the candidate's to choose, so that it may tell of the case it was built for.
        What a later sandbox builds once more is left out: it no longer comes in the order of the cases.
        """
        if self.reopened:
            return
        if not self.marks:
            self.record.compile = compiled
            return
        # All else that is said from here on, be it a number of seconds, may tell of them too.
        for known, report in zip(self.record.compile, compiled, strict=False):
            built = self.built[known["target"]]
            known["kernels"] = known["kernels"][:built] + [kernel | {"held_out": True} for kernel in report["kernels"][built:]]
            known["error"] = known["error"] or (report["error"] and "a kernel for inputs not shown")

    @contextlib.contextmanager
    def gpu(self, shared: bool) -> Iterator[None]:
        """Holds the GPU, shared for calls and alone for timing, so that no other candidate's kernels run beside timed ones. Before it
        is let go, a spare sandbox that was begun meanwhile is at rest.
        """
        if not self.device:
            yield
            return
        with gpu_lock(self.worker.gpu, self.worker, shared):
            try:
                yield
            finally:
                self.worker.settle_spare()

    def stage(self, stage: str) -> None:
        """Enters a stage; the seconds of the last one go to its account."""
        now, name = time.monotonic(), f"{self.record.stage}_s"
        self.record.resources[name] = round(self.record.resources.get(name, 0.0) + now - self.entered, 4)
        self.record.stage, self.entered = stage, now

    def judge(self, request: Message, fds: tuple[int, ...] = ()) -> Message:
        answer = self.worker.ask_judge(request, fds)
        if "user_error" in answer:
            raise UserError(answer["user_error"])
        if "invalid" in answer:
            # Whatever it was, the next evaluation finds another one.
            self.worker.drop_reference()
            raise Stop("task_invalid", answer["invalid"])
        if "broken" in answer:
            raise Stop("infra_error", f"the judge failed at {request['op']}: {answer['broken']}", {"traceback": answer["traceback"]})
        return answer

    def check(self, answer: Message, **case: Any) -> Message:
        """The judge's word on what the sandbox has answered, for the inputs that were sent last or those of a `case` and `seed`."""
        request = {"op": "check", **case, **{name: answer.get(name) for name in ("result", "after", "shared")}}
        try:
            return self.judge(request)
        except TooLong as error:
            # Numbers may be written in fewer letters than we do, though not by our own code.
            self.box.kill()
            raise Stop.lost(error, self.record.stage) from None

    def ask(self, request: Message, seconds: float, soft: bool = False, fds: tuple[int, ...] = ()) -> Message:
        """An answer of the sandbox. Its error stops the course, unless `soft`."""
        compile_s = self.settings.compile_s
        try:
            answer = self.guarded(lambda: self.box.ask(request, seconds, compile_s, fds))
        except TooLong:
            raise Stop("task_invalid", "the arguments of the task are too many to be described in one message") from None
        if answer.get("error") and not soft:
            raise Stop.reported(answer["error"])
        return answer

    def guarded(self, action: Callable[[], Any]) -> Any:
        """An answer of the sandbox, or as a verdict what it did instead."""
        try:
            return action()
        except (Hung, Died, Malformed) as failure:
            if isinstance(failure, Died) and failure.unkept:
                self.worker.drop_spare()
                raise WorkerLost("the sandbox lost its keeper") from None
            if self.record.stage in ("compile", "correctness"):
                self.stage("compile" if self.box.phase == "compile" else "correctness")
            self.box.kill()
            raise Stop.lost(failure, self.record.stage) from None

    def _close_sandbox(self) -> None:
        box = self.box
        box.close()
        out, err = box.logs["stdout"], box.logs["stderr"]
        ends = self.marks or {}
        logs: dict[str, Any] = {"stdout": out.text(0, ends.get("stdout")), "stderr": err.text(0, ends.get("stderr"))}
        logs["truncated"] = out.truncated or err.truncated
        if self.marks and (hidden := out.text(ends["stdout"]) + err.text(ends["stderr"])):
            logs["held_out"] = hidden
        self.record.logs = self.record.logs or logs
        self.record.resources["max_rss"] = max(self.record.resources["max_rss"], box.max_rss * 1024.0)


def sha(candidate: str) -> str:
    return hashlib.sha256(candidate.encode("utf-8", "surrogatepass")).hexdigest()
