"""The course of one evaluation: stage after stage until one fails. Runs in the broker, which believes the judge only."""

import contextlib
import hashlib
import json
import random
import signal
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from benchmark.errors import UserError
from benchmark.task import Task
from tools.evaluation import CaseResult, Evaluation, Failure, TimedSize
from tools.executor import claims
from tools.executor.channel import Malformed, Message
from tools.executor.isolation import LAYERS
from tools.executor.remote import Died, Hung, RemoteSandbox
from tools.executor.timing import FLUSH_BYTES, SETS, Contest, combined, gpu_lock
from tools.executor.worker import Worker
from tools.settings import Settings

MAX_SOURCE = 256 << 10
PARSE_S = 10.0
OPEN_S = 30.0
"""Making the walls and, on a GPU, a context."""
NOOP_S = 5.0
"""For a call without launches, which may make an honest wrapper wait for ever."""
FRESH, REPLAY, TIMED = 1, 2, 3
"""Added to the seed: new values for the same memory, for the replay without launches, for timing."""
FATAL = frozenset({"compile_error", "unsupported", "oom"})
"""Errors after which no further case is tried."""
OURS = frozenset({"task_invalid", "infra_error"})
"""Not the candidate's doing: no verdict is found by them, whatever was asked."""
NUMBERS = ("max_abs", "rel_rms", "worst_index", "matched", "tolerance", "first_index")


class Stop(Exception):
    """The verdict is found."""

    def __init__(self, verdict: str, message: str, detail: dict[str, Any] | None = None):
        super().__init__(message)
        self.failure = Failure(verdict, message, detail or {})


class Course:
    """One candidate on one worker. `run` returns the evaluation; it raises `WorkerLost` and `UserError` only."""

    def __init__(self, worker: Worker, candidate: str, task: Task, settings: Settings, level: str = "auto"):
        self.worker = worker
        self.level = level if settings.sandbox == "auto" else settings.sandbox
        self.candidate = candidate
        self.task = task
        self.settings = settings
        self.sandbox: RemoteSandbox | None = None
        self.marks: dict[str, int] | None = None
        """How much had been printed when the held-out cases began."""
        self.failures: dict[str, Stop] = {}
        """By case, what to raise for it."""
        self.launches: dict[str, int] = {}
        """By case, for cases in which there is something to compute."""
        self.record = Evaluation(candidate_sha=sha(candidate), task_id=task.id, task_sha=task.sha, settings_sha=settings.sha)

    def run(self) -> Evaluation:
        start, record = time.monotonic(), self.record
        self.entered = start
        record.resources = {"wall_s": 0.0, "gpu_s": 0.0, "max_rss": 0.0}
        try:
            source = self._text()
            self._prepare()
            self._stages(source)
            record.verdict = "pass"
        except Stop as stop:
            record.verdict, record.error = stop.failure.kind, stop.failure
        finally:
            self._stage(record.stage)
            if self.sandbox:
                self._close_sandbox()
            self.worker.close_memory()
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
        if worker.isolation["level"] is None:
            tried = "; ".join(f"{level}: {_why(found)}" for level, found in worker.isolation["tried"].items())
            raise UserError(
                f"Candidates cannot be isolated at level {self.level!r} here ({tried}). "
                "Run where user namespaces and Landlock are allowed, or accept the risk with sandbox=process."
            )
        level = worker.isolation["level"]
        found = worker.isolation["tried"][level]
        record.isolation = {
            "level": level,
            "layers": list(LAYERS[level]),
            "denied": sorted(name for name, denied in found.items() if denied),
        }
        record.platform, record.device = worker.describe(record.mode)
        record.versions, record.data_path = worker.versions, "shared host memory"
        record.environment_sha = _digest([record.mode, record.platform, record.device, *sorted(record.versions.items())])
        memory = worker.open_memory(record.mode)
        request = {"op": "open", "task": self.task.id, "sha": self.task.sha, "device": worker.place(record.mode), "split": worker.half}
        self.cases = self._judge(request, (memory,))

    def _stages(self, source: bytes) -> None:
        self._open(source)
        self._correctness()
        self.record.correct = True
        self._stage("adversarial")
        self._own_work()
        if self.record.mode == "simulated":
            self.record.no_timing = "the simulated device has no clock: speed is measured on a GPU only"
        elif self.settings.timing == "off":
            self.record.no_timing = "timing was switched off"
        else:
            self._stage("timing")
            self._timing(source)

    def _open(self, source: bytes) -> None:
        """Forks a sandbox, parses the source in it before any of the candidate runs, and imports it."""
        worker, settings = self.worker, self.settings
        targets = [worker.device["target"] or "unknown"] if self.record.mode == "device" else list(settings.targets)
        plan = {"mode": self.record.mode, "targets": targets, "seed": settings.seed, "index": worker.gpu}
        self.sandbox = worker.sandbox(source, plan)
        hello = self._guarded(lambda: self._box.answer(None, OPEN_S))
        if "broken" in hello:
            raise Stop("infra_error", f"the sandbox could not be set up: {hello['broken']}")
        answer = self._ask({"op": "parse"}, PARSE_S)
        self._stage("static")
        self.record.facts = answer["facts"]
        self._stage("import")
        self._ask({"op": "import", "entry": self.cases["entry"]}, settings.import_s)
        self._stage("compile")

    def _correctness(self) -> None:
        """All cases, the visible ones first; the held-out ones are tried only by candidates that pass those."""
        cases = self.cases["cases"] + (self.cases["timing"] if self.record.mode == "device" else [])
        groups = [[c for c in cases if not c["held_out"]], [c for c in cases if c["held_out"]]]
        for number, group in enumerate(groups):
            if number == 1:
                self.marks = {name: len(log.kept) for name, log in self._box.logs.items()}
            for case in group:
                if not self._case(case, again=case is groups[0][0]):
                    break
            wrong = next((r for r in self.record.cases if not r.ok), None)
            if wrong:
                raise self.failures[wrong.case]

    def _case(self, case: Message, again: bool) -> bool:
        """Tries one case; the first one a second time, with new values where the old ones were. False where no further one can be."""
        name, usable = case["name"], True
        try:
            result = self._call(case, self.settings.seed)
            if again and result.ok:
                result = self._call(case, self.settings.seed + FRESH, again=True)
        except Stop as stop:
            if stop.failure.kind in OURS:
                raise
            self.failures[name], usable = stop, False
            result = CaseResult(name, case["held_out"], False, kind=stop.failure.kind, message=stop.failure.message)
        self.record.cases.append(result)
        return usable

    def _call(self, case: Message, seed: int, again: bool = False) -> CaseResult:
        name = case["name"]
        layout, answer = self._answered(case, seed, again=again)
        self._note(answer)
        if answer.get("error"):
            failure = claims.failure(answer["error"])
            stop = Stop(failure.kind, failure.message, failure.detail | {"case": name})
            if failure.kind != "compile_error":
                self._stage("correctness")
            if failure.kind in FATAL or self.record.mode == "device":
                raise stop
            self.failures[name] = stop
            return CaseResult(name, case["held_out"], False, kind=failure.kind, message=failure.message)
        self._stage("correctness")
        if not layout["empty"]:
            self.launches[name] = self.launches.get(name, 0) + claims.count(answer.get("launches"))
        check = self._bounds(answer) or self._check(answer)
        numbers = {n: check.get(n) for n in NUMBERS}
        if not check["ok"]:
            detail = {"case": name} | check.get("detail", {}) | {n: v for n, v in numbers.items() if v is not None}
            self.failures[name] = Stop(check["kind"], check["message"], detail)
        return CaseResult(name, case["held_out"], check["ok"], kind=check["kind"], message=check["message"], **numbers)

    def _answered(self, case: Message, seed: int, again: bool = False, noop: bool = False) -> tuple[Message, Message]:
        """Draws inputs and has the candidate called on them."""
        layout = self._judge({"op": "inputs", "case": case["name"], "seed": seed})
        request = {"op": "call", "args": layout["args"], "kwargs": layout["kwargs"], "again": again, "noop": noop}
        with self._gpu(shared=True):
            return layout, self._ask(request, NOOP_S if noop else self.settings.case_s, soft=True)

    def _bounds(self, answer: Message) -> Message | None:
        """The failure of a call that left the memory of its tensors; its numbers then mean nothing."""
        accesses = claims.accesses(answer.get("out_of_bounds"))
        if self.record.mode == "simulated":
            self.record.memory = self.record.memory or {"out_of_bounds": []}
            self.record.memory["out_of_bounds"] += accesses
        if not accesses:
            return None
        first = accesses[0]
        where = f"{first['kernel']} {first['kind']}s outside the memory of {first['tensor']}"
        message = f"{where}: {first['lanes']} lanes, first in program {first['program']}"
        return {"ok": False, "kind": "out_of_bounds", "message": message, "detail": first}

    def _check(self, answer: Message) -> Message:
        return self._judge({"op": "check", "result": answer.get("result"), "after": answer.get("after")})

    def _note(self, answer: Message) -> None:
        self.record.compile = claims.compiles(answer.get("compiles"))
        self.record.launches = (self.record.launches or 0) + claims.count(answer.get("launches"))
        failed = bool(answer.get("error")) and claims.failure(answer["error"]).kind == "compile_error"
        self.record.compiled = not failed and not any(c["error"] for c in self.record.compile)

    def _own_work(self) -> None:
        """Own launches on every call with something to do, and outputs that need them."""
        for case in self.cases["cases"]:
            shown = "a case that is not shown" if case["held_out"] else f"case {case['name']}"
            if self.launches.get(case["name"]) == 0:
                raise Stop("not_triton", f"no Triton kernel of the candidate was launched in {shown}")
        for case in [c for c in self.cases["cases"] if c["name"] in self.launches]:
            shown = "a case that is not shown" if case["held_out"] else f"case {case['name']}"
            try:
                _, answer = self._answered(case, self.settings.seed + REPLAY, noop=True)
            except Stop as stop:
                if stop.failure.kind in OURS:
                    raise
                # Without its launches it hangs or crashes: it needs them.
                return
            if answer.get("error"):
                continue
            check = self._check(answer)
            if check["ok"] and not check["trivial"]:
                raise Stop("not_triton", f"the output of {shown} is right even when no kernel is launched")

    def _gpu(self, shared: bool) -> contextlib.AbstractContextManager[None]:
        """Holds the GPU, shared for a call and alone for timing, so that no other candidate's kernels run beside timed ones."""
        return gpu_lock(self.worker.gpu, self.worker, shared) if self.record.mode == "device" else contextlib.nullcontext()

    def _timing(self, source: bytes) -> None:
        """The ladder of sizes under the GPU's lock, in the same sandbox unless the replay has cost it its life."""
        if self._box.ended:
            self._close_sandbox()
            self._open(source)
            self._stage("timing")
        rng, sizes = random.Random(self.settings.seed), []
        with self._gpu(shared=False):
            start = time.monotonic()
            for number, case in enumerate(self.cases["timing"]):
                sizes.append(self._size(case, rng, start + self.settings.timing_s * (number + 1) / len(self.cases["timing"])))
            self.record.resources["gpu_s"] = round(time.monotonic() - start, 3)
        if not sizes:
            self.record.no_timing = "the task has no timing cases"
        elif None in sizes:
            self.record.no_timing = "the device times that the candidate's process reports disagree with the time that went by"
        else:
            self.record.timing = combined([size for size in sizes if size])

    def _size(self, case: Message, rng: random.Random, deadline: float) -> TimedSize | None:
        """One size, once more if the candidate's claim disagrees with our clock; None where it still does."""
        for _ in range(2):
            contest = self._contest(case, rng)
            size: TimedSize = self._guarded(partial(contest.run, case["name"], deadline))
            self._judge({"op": "rest"})
            if contest.claim_ok():
                return size
        if contest.claim_absurd():
            raise Stop(
                "suspected_hack", "the device times that the candidate's process reports are far too short for the time that went by"
            )
        return None

    def _contest(self, case: Message, rng: random.Random) -> Contest:
        """Gives both sides the same input sets."""
        for number in range(SETS):
            layout = self._judge({"op": "inputs", "case": case["name"], "seed": self.settings.seed + TIMED + number})
            load = {"op": "load", "set": number, "flush": max(2 * self.worker.device["l2_bytes"], FLUSH_BYTES)}
            self._judge(load)
            self._ask(load | {"args": layout["args"], "kwargs": layout["kwargs"]}, self.settings.case_s)

        def check(kept: int, number: int) -> None:
            answer = self._ask({"op": "give", "kept": kept, "after": self.cases["mutates"]}, self.settings.case_s)
            seed = self.settings.seed + TIMED + number
            found = self._judge(
                {"op": "check", "seed": seed, "case": case["name"], "result": answer.get("result"), "after": answer.get("after")}
            )
            if not found["ok"]:
                raise Stop(found["kind"], f"wrong in a timed call: {found['message']}", {"case": case["name"]})

        return Contest(self._judge, lambda request: self._ask(request, self.settings.timing_s), check, rng)

    @property
    def _box(self) -> RemoteSandbox:
        assert self.sandbox is not None
        return self.sandbox

    def _stage(self, stage: str) -> None:
        """Enters a stage; the seconds of the last one go to its account."""
        now, name = time.monotonic(), f"{self.record.stage}_s"
        self.record.resources[name] = round(self.record.resources.get(name, 0.0) + now - self.entered, 4)
        self.record.stage, self.entered = stage, now

    def _judge(self, request: Message, fds: tuple[int, ...] = ()) -> Message:
        answer = self.worker.ask_judge(request, fds)
        if "user_error" in answer:
            raise UserError(answer["user_error"])
        if "invalid" in answer:
            raise Stop("task_invalid", answer["invalid"])
        return answer

    def _ask(self, request: Message, seconds: float, soft: bool = False) -> Message:
        """An answer of the sandbox. Its error stops the course, unless `soft`."""
        compile_s = self.settings.compile_s
        answer = self._guarded(lambda: self._box.ask(request, seconds, compile_s))
        if answer.get("error") and not soft:
            failure = claims.failure(answer["error"])
            raise Stop(failure.kind, failure.message, failure.detail)
        return answer

    def _guarded(self, action: Callable[[], Any]) -> Any:
        """An answer of the sandbox, or as a verdict what it did instead."""
        try:
            return action()
        except (Hung, Died, Malformed) as failure:
            if self.record.stage in ("compile", "correctness"):
                self._stage("compile" if self._box.phase == "compile" else "correctness")
            self._box.kill()
            raise self._lost(failure) from None

    def _lost(self, failure: Exception) -> Stop:
        if isinstance(failure, Hung):
            return Stop("timeout", f"no answer in time at stage {self.record.stage}")
        if isinstance(failure, Died):
            return Stop("crash", _end(failure.code))
        return Stop("suspected_hack", f"the candidate wrote to the executor's own channel: {failure}"[:300])

    def _close_sandbox(self) -> None:
        box = self._box
        box.close()
        out, err = box.logs["stdout"], box.logs["stderr"]
        ends = self.marks or {}
        logs: dict[str, Any] = {"stdout": out.text(0, ends.get("stdout")), "stderr": err.text(0, ends.get("stderr"))}
        logs["truncated"] = out.truncated or err.truncated
        if self.marks and (hidden := out.text(ends["stdout"]) + err.text(ends["stderr"])):
            logs["held_out"] = hidden
        self.record.logs = self.record.logs or logs
        self.record.resources |= {"max_rss": box.max_rss * 1024}


def sha(candidate: str) -> str:
    return hashlib.sha256(candidate.encode("utf-8", "surrogatepass")).hexdigest()


def _digest(parts: list[Any]) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


def _why(found: Any) -> str:
    if isinstance(found, dict):
        return "not denied: " + ", ".join(name for name, denied in found.items() if not denied)
    return str(found)


def _end(code: int | None) -> str:
    if code is None:
        return "the candidate's process hung up without an answer"
    if code < 0:
        return f"the candidate's process was ended by signal {-code} ({_signal(-code)})"
    return f"the candidate's process exited with code {code} before it answered"


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return "unknown"
