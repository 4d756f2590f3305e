"""The course of one evaluation: stage after stage until one fails. Runs in the broker, which believes the judge only."""

import hashlib
import json
import signal
import time
from typing import Any, NoReturn

from benchmark.errors import UserError
from benchmark.task import Task
from tools.evaluation import CaseResult, Evaluation, Failure
from tools.executor.channel import Malformed, Message
from tools.executor.remote import Died, Hung, RemoteSandbox
from tools.executor.worker import Worker
from tools.settings import Settings

MAX_SOURCE = 256 << 10
PARSE_S = 10.0
OPEN_S = 30.0
"""Making the walls and, on a GPU, a context."""
FRESH, REPLAY = 1, 2
"""Added to the seed: new values for the same memory, and new values for the replay without launches."""


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
        self.record = Evaluation(candidate_sha=sha(candidate), task_id=task.id, task_sha=task.sha, settings_sha=settings.sha)

    def run(self) -> Evaluation:
        start = time.monotonic()
        record = self.record
        try:
            source = self._text()
            self._prepare()
            self._stages(source)
            record.verdict = "pass"
        except Stop as stop:
            record.verdict, record.error = stop.failure.kind, stop.failure
        finally:
            if self.sandbox:
                self._close_sandbox()
            self.worker.close_memory()
        record.resources = record.resources | {"wall_s": round(time.monotonic() - start, 4)}
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
        record.isolation = {"level": level, "layers": sorted(name for name, denied in found.items() if denied)}
        record.platform, record.device = worker.describe(record.mode)
        record.versions, record.data_path = worker.versions, "shared host memory"
        record.environment_sha = _digest([record.mode, record.platform, record.device, *sorted(record.versions.items())])
        memory = worker.open_memory(record.mode)
        request = {"op": "open", "task": self.task.id, "sha": self.task.sha, "device": "cpu", "split": worker.half}
        self.cases = self._judge(request, (memory,))

    def _stages(self, source: bytes) -> None:
        self._open(source)
        self._stage("import")
        self._ask({"op": "import", "entry": self.cases["entry"]}, self.settings.import_s)
        self._stage("compile")
        launches = self._correctness()
        self.record.correct = True
        self._own_work(launches)
        self._stage("timing")
        self.record.no_timing = "the simulated device has no clock: speed is measured on a GPU only"

    def _open(self, source: bytes) -> None:
        """Forks a sandbox and parses the source in it, before any of the candidate runs."""
        targets = list(self.settings.targets)
        plan = {"mode": self.record.mode, "targets": targets, "seed": self.settings.seed, "index": self.worker.gpu}
        self.sandbox = self.worker.sandbox(source, plan)
        self._guard(lambda box: box.answer(None, OPEN_S))
        answer = self._ask({"op": "parse"}, PARSE_S)
        self._stage("static")
        self.record.facts = answer["facts"]

    def _correctness(self) -> dict[str, int]:
        """All cases, the visible ones first; the held-out ones are tried only by candidates that pass those. Returns launches."""
        launches: dict[str, int] = {}
        shown = [c for c in self.cases["cases"] if not c["held_out"]]
        hidden = [c for c in (*self.cases["cases"], *self._sizes()) if c["held_out"]]
        again = next((c["name"] for c in shown), None)
        for cases in (shown, hidden):
            if cases is hidden:
                self.marks = {name: len(log.kept) for name, log in self._box.logs.items()}
            results = [self._case(case, launches, case["name"] == again) for case in cases]
            self.record.cases += results
            wrong = next((r for r in results if not r.ok), None)
            if wrong:
                raise Stop(wrong.kind, wrong.message, self._detail(wrong))
        return launches

    def _sizes(self) -> list[Message]:
        return []

    def _case(self, case: Message, launches: dict[str, int], again: bool) -> CaseResult:
        """One case; the first one a second time with new values where the old ones were."""
        result, answer = self._call(case, self.settings.seed)
        launches[case["name"]] = -1 if answer.get("empty") else answer.get("launches", 0)
        if result.ok and again:
            result, _ = self._call(case, self.settings.seed + FRESH, again=True)
        return result

    def _call(self, case: Message, seed: int, again: bool = False) -> tuple[CaseResult, Message]:
        name = case["name"]
        layout = self._judge({"op": "inputs", "case": name, "seed": seed})
        request = {"op": "call", "args": layout["args"], "kwargs": layout["kwargs"], "again": again, "noop": False}
        answer = self._ask(request, self.settings.case_s, soft=True)
        self._note_compiles(answer)
        self.failure = answer.get("error")
        if self.failure:
            failure = _failure(self.failure)
            if failure.kind in ("compile_error", "unsupported", "oom"):
                raise Stop(failure.kind, failure.message, failure.detail | {"case": name})
            self._stage("correctness")
            return CaseResult(name, case["held_out"], False, kind=failure.kind, message=failure.message), answer
        self._stage("correctness")
        check = self._judge({"op": "check", "result": answer.get("result"), "after": answer.get("after")})
        numbers = {n: check.get(n) for n in ("max_abs", "rel_rms", "worst_index", "matched", "tolerance")}
        result = CaseResult(name, case["held_out"], check["ok"], kind=check["kind"], message=check["message"], **numbers)
        return result, answer | {"empty": layout["empty"], "trivial": check.get("trivial")}

    def _note_compiles(self, answer: Message) -> None:
        self.record.compile = answer.get("compiles", [])
        self.record.launches = (self.record.launches or 0) + answer.get("launches", 0)
        self.record.compiled = not any(c.get("error") for c in self.record.compile)

    def _own_work(self, launches: dict[str, int]) -> None:
        """Own launches on every call with something to do, and outputs that need them."""
        idle = next((name for name, count in launches.items() if count == 0), None)
        if idle is not None:
            raise Stop("not_triton", f"no Triton kernel of the candidate was launched in case {idle}", {"case": idle})
        for case in [c for c in self.cases["cases"] if launches.get(c["name"], 0) > 0]:
            if self._right_without_launches(case):
                message = f"the output of case {case['name']} is right even when no kernel is launched"
                raise Stop("not_triton", message, {"case": case["name"]})

    def _right_without_launches(self, case: Message) -> bool:
        layout = self._judge({"op": "inputs", "case": case["name"], "seed": self.settings.seed + REPLAY})
        request = {"op": "call", "args": layout["args"], "kwargs": layout["kwargs"], "again": False, "noop": True}
        answer = self._ask(request, self.settings.case_s, soft=True)
        if answer.get("error"):
            return False
        check = self._judge({"op": "check", "result": answer.get("result"), "after": answer.get("after")})
        return bool(check["ok"]) and not check["trivial"]

    def _detail(self, wrong: CaseResult) -> dict[str, Any]:
        numbers = ("max_abs", "rel_rms", "worst_index", "matched", "tolerance")
        detail = {"case": wrong.case} | {n: v for n in numbers if (v := getattr(wrong, n)) is not None}
        return detail | (_failure(self.failure).detail if self.failure else {})

    @property
    def _box(self) -> RemoteSandbox:
        assert self.sandbox is not None
        return self.sandbox

    def _stage(self, stage: str) -> None:
        self.record.stage = stage

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
        answer = self._guard(lambda box: box.ask(request, seconds, compile_s))
        if answer.get("error") and not soft:
            failure = _failure(answer["error"])
            raise Stop(failure.kind, failure.message, failure.detail)
        return answer

    def _guard(self, action: Any) -> Message:
        """What a sandbox can do instead of answering, as verdicts."""
        try:
            answer = action(self._box)
        except Hung as hung:
            if hung.phase == "compile":
                self._stage("compile")
            raise Stop("timeout", f"no answer in time at stage {self.record.stage}") from None
        except Died as died:
            raise Stop("crash", _end(died.code)) from None
        except Malformed as error:
            raise Stop("suspected_hack", f"the candidate wrote to the executor's own channel: {error}"[:300]) from None
        if "broken" in answer:
            _infra(f"the sandbox could not be closed in: {answer['broken']}")
        return answer

    def _close_sandbox(self) -> None:
        box = self._box
        box.close()
        out, err = box.logs["stdout"], box.logs["stderr"]
        ends = self.marks or {}
        logs: dict[str, Any] = {"stdout": out.text(0, ends.get("stdout")), "stderr": err.text(0, ends.get("stderr"))}
        logs["truncated"] = out.truncated or err.truncated
        if self.marks:
            logs["held_out"] = {"stdout": out.text(ends["stdout"]), "stderr": err.text(ends["stderr"])}
        self.record.logs = logs
        self.record.resources = self.record.resources | {"max_rss": box.max_rss * 1024}


def sha(candidate: str) -> str:
    return hashlib.sha256(candidate.encode("utf-8", "surrogatepass")).hexdigest()


def _digest(parts: list[Any]) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


def _infra(message: str) -> NoReturn:
    raise Stop("infra_error", message)


def _failure(report: Any) -> Failure:
    """A sandbox's own word on what failed. It may be forged: it can never say `pass`."""
    report = report if isinstance(report, dict) else {}
    kind, detail = str(report.get("kind"))[:40], report.get("detail")
    if kind not in SELF_REPORTED:
        kind = "runtime_error"
    return Failure(kind, str(report.get("message"))[:500], detail if isinstance(detail, dict) else {})


SELF_REPORTED = {
    "syntax_error", "import_error", "missing_entry", "compile_error", "launch_error", "runtime_error", "device_mismatch",
    "wrong_shape", "unsupported", "oom",
}  # fmt: skip


def _why(found: Any) -> str:
    if isinstance(found, dict):
        return "not denied: " + ", ".join(name for name, denied in found.items() if not denied)
    return str(found)


def _end(code: int | None) -> str:
    if code is None:
        return "the candidate's process ended before it answered"
    if code < 0:
        return f"the candidate's process was ended by signal {-code} ({_signal(-code)})"
    return f"the candidate's process exited with code {code} before it answered"


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return "unknown"
