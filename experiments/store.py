"""The run store: `runs/<run_id>/`, append-only, written before it is used, and read again at resume (DESIGN 4.8)."""

import fcntl
import hashlib
import json
import os
import re
from collections import Counter
from collections.abc import Callable, MutableMapping
from concurrent.futures import Future
from dataclasses import asdict
from pathlib import Path
from typing import Any

import structlog
from structlog.typing import Processor

from agents.journal import Journal, call_record, settles
from agents.models.base import Identity, Usage
from agents.recorder import AttemptRecord, CallRecord, TrajectoryRecord
from benchmark.errors import UserError
from experiments.disk import Disk, landed
from experiments.records import standing
from experiments.runs import FILES
from tools import jsonl
from tools.evaluation import Evaluation

TEXTS = ("kernels", "prompts", "replies")
Listener = Callable[[str, dict[str, Any]], None]


class RunStore:
    """Implements `agents.recorder.Recorder`. One process at a time: the directory is locked while a store is open on it."""

    def __init__(self, path: Path):
        self.path = path
        self.run_id = path.resolve().name
        self.listeners: list[Listener] = []
        self.broken: UserError | None = None
        """Why this store can take no more records: the caller that met it may have been cancelled meanwhile."""
        self.lock = lock(path)
        self.disk = Disk()
        loaded = {name: jsonl.read(path / f"{name}.jsonl") for name in FILES}
        self.files = {name: jsonl.Lines(path / f"{name}.jsonl", part.size if part.torn else None) for name, part in loaded.items()}
        self.log_file = jsonl.Lines(path / "log.jsonl", sync=False)
        for folder in TEXTS:
            (path / folder).mkdir(exist_ok=True)
        jsonl.sync(path)
        self.log = logger(self.log_file)
        self.torn = {f"{name}.jsonl": part.torn for name, part in loaded.items() if part.torn}
        self.calls = loaded["calls"].records
        self.tries = Counter(c["call_id"] for c in self.calls)
        self.evaluations = {Identity(**e["identity"]).key: e["evaluation"] for e in loaded["evaluations"].records}
        self.choices = {Identity(**c["identity"]).key: c["choice"] for c in loaded["choices"].records}
        last = {c["call_id"]: c for c in self.calls}
        self.settled = {key: c for key, c in last.items() if settles(c)}
        self.attempts = {(a["trajectory"], a["attempt"]): a for a in loaded["attempts"].records}
        self.trajectories = {t["trajectory"]: t for t in loaded["trajectories"].records}

    @classmethod
    def create(cls, path: Path, config: str, environment: dict[str, Any], prices: dict[str, Any]) -> "RunStore":
        """A new run directory; one that exists is never written over."""
        try:
            path.mkdir(parents=True)
        except FileExistsError:
            raise UserError(
                f"Run directory {path} exists; a run is never overwritten. Continue it with resume={path}, or choose another run_id."
            ) from None
        except OSError as error:
            raise UserError(f"Cannot make the run directory {path}: {error.strerror}. Choose another runs_dir.") from error
        jsonl.put(path / "environment.json", document(environment))
        jsonl.put(path / "prices.json", document(prices))
        jsonl.put(path / "config.yaml", config.encode())
        return cls(path)

    def close(self) -> None:
        self.disk.close()
        for file in (*self.files.values(), self.log_file):
            file.close()
        os.close(self.lock)

    @property
    def answered(self) -> bool:
        """Whether any call of this run was ever answered."""
        return any(c["reply_sha"] for c in self.calls)

    def check(self) -> None:
        """Nothing is acted on once the store is broken; paid calls are still taken."""
        if self.broken:
            raise self.broken

    def watched(self, written: "Future[None]") -> "Future[None]":
        """Has the store broken when this fails."""
        written.add_done_callback(self.note)
        return written

    def note(self, written: "Future[None]") -> None:
        fault = written.exception()
        if isinstance(fault, UserError):
            self.broken = self.broken or fault

    # What an earlier start of this run has settled.

    def recorded_call(self, identity: Identity) -> CallRecord | None:
        found = self.settled.get(identity.key)
        return call_record(found) if found else None

    def recorded_tries(self, identity: Identity) -> int:
        return self.tries[identity.key]

    def recorded_evaluation(self, identity: Identity) -> Evaluation | None:
        found = self.evaluations.get(identity.key)
        return Evaluation.from_dict(found) if found else None

    def recorded_choice(self, identity: Identity) -> Any | None:
        return self.choices.get(identity.key)

    def evaluation(self, identity: Identity) -> Evaluation:
        return Evaluation.from_dict(self.evaluations[identity.key])

    # Records.

    async def write_call(self, record: CallRecord) -> None:
        line = {"run": self.run_id, **asdict(record)}
        line["try"] = line.pop("try_")
        written = self.append("calls", line, ("prompts", record.prompt_sha), ("replies", record.reply_sha))
        self.calls.append(line)
        self.tries[record.call_id] += 1
        if settles(line):
            self.settled[record.call_id] = line
        self.event("call", **call_event(line))
        await landed(written)

    async def write_evaluation(self, identity: Identity, evaluation: Evaluation) -> None:
        self.check()
        body = evaluation.to_dict()
        line = {"run": self.run_id, "attempt": identity.attempt, "identity": asdict(identity), "evaluation": body}
        written = self.append("evaluations", line, ("kernels", evaluation.candidate_sha))
        self.evaluations[identity.key] = body
        self.event(
            "evaluation", trajectory=identity.trajectory, attempt=identity.attempt, verdict=evaluation.verdict, stage=evaluation.stage
        )
        await landed(written)

    async def write_choice(self, identity: Identity, choice: Any) -> None:
        self.check()
        await landed(self.put_choice(identity, choice))

    def put_choice(self, identity: Identity, choice: Any) -> "Future[None]":
        self.choices[identity.key] = choice
        return self.append("choices", {"run": self.run_id, "identity": asdict(identity), "choice": choice})

    def adopt(self, journal: Journal) -> None:
        """Takes over the choices of a run that is replayed, but for those that this one has made."""
        for identity, choice in journal.choices:
            if identity.key not in self.choices:
                self.put_choice(identity, choice)

    async def write_attempt(self, record: AttemptRecord) -> None:
        self.check()
        key = (record.trajectory, record.attempt)
        written: list[Future[None]] = []
        if key not in self.attempts:
            line = {"run": self.run_id, **asdict(record)}
            written.append(self.append("attempts", line, ("kernels", record.kernel_sha)))
            self.attempts[key] = line
        self.event("attempt", **self.attempts[key])
        await landed(*written)

    async def write_trajectory(self, record: TrajectoryRecord) -> None:
        line = {"run": self.run_id, **asdict(record)}
        written = [self.append("trajectories", line, ("kernels", record.kernel_sha))]
        self.trajectories[record.trajectory] = line
        if record.kernel_sha:
            written.append(self.keep_best(record.task))
        self.event("trajectory", **line)
        await landed(*written)

    def keep_best(self, task: str) -> "Future[None]":
        """Puts the best champion of the task's trajectories, so far, where a user looks for it."""
        source = self.disk.read(self.place("kernels", self.champions()[task]))
        return self.watched(self.disk.replace(self.best(task), source))

    def champions(self) -> dict[str, str]:
        ended = sorted((t for t in self.trajectories.values() if t["champion"]), key=lambda t: str(t["trajectory"]))
        best: dict[str, str] = {}
        for t in sorted(ended, key=lambda t: standing(self.attempts.get((t["trajectory"], t["champion"]), {})), reverse=True):
            best.setdefault(t["task"], t["kernel_sha"])
        return best

    def best(self, task: str) -> Path:
        """Where the best kernel of a task lies, if it has one."""
        parts = re.sub(r"[^\w./-]", "_", f"{task}.py").split("/")
        return self.path.joinpath("best", *(part for part in parts if part.strip(".")))

    # Texts, by the digest of their bytes.

    def put_kernel(self, source: str) -> str:
        return self.put_text("kernels", source.encode("utf-8", "surrogatepass"))

    def kernel(self, sha: str) -> str:
        return self.disk.read(self.place("kernels", sha)).decode("utf-8", "surrogatepass")

    def put_prompt(self, messages: list[dict[str, str]], tools: list[dict[str, Any]]) -> str:
        return self.put_text("prompts", document({"messages": messages, "tools": tools}))

    def put_reply(self, reply: dict[str, Any]) -> str:
        return self.put_text("replies", document(reply))

    def prompt(self, sha: str) -> dict[str, Any]:
        return self.text("prompts", sha)

    def reply(self, sha: str) -> dict[str, Any]:
        return self.text("replies", sha)

    def text(self, folder: str, sha: str) -> dict[str, Any]:
        body = json.loads(self.disk.read(self.place(folder, sha)))
        return {k: v for k, v in body.items() if k != "schema_version"}

    def put_text(self, folder: str, data: bytes) -> str:
        sha = hashlib.sha256(data).hexdigest()
        if written := self.disk.put(self.place(folder, sha), data):
            self.watched(written)
        return sha

    def place(self, folder: str, sha: str) -> Path:
        return self.path / folder / f"{sha}.{'py' if folder == 'kernels' else 'json'}"

    async def saved(self) -> None:
        await landed(*self.disk.under_way)

    def append(self, name: str, line: dict[str, Any], *texts: tuple[str, str | None]) -> "Future[None]":
        """`texts` are those that the line names, by folder and digest."""
        named = [self.place(folder, sha) for folder, sha in texts if sha]
        return self.watched(self.disk.append(self.files[name], line, named))

    # Progress.

    def event(self, name: str, **fields: Any) -> None:
        try:
            self.log.info(name, **fields)
        except UserError as error:
            self.broken = self.broken or error
            raise
        for listen in self.listeners:
            listen(name, fields)


def lock(path: Path) -> int:
    """Takes the directory for this process. A POSIX lock: it ends with the process, and no forked child inherits it."""
    file = os.open(path / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        holder = os.pread(file, 32, 0).decode(errors="replace").strip()
        os.close(file)
        raise UserError(f"Run {path} is being written by process {holder or 'unknown'}; wait for it or stop it first.") from None
    os.ftruncate(file, 0)
    os.pwrite(file, str(os.getpid()).encode(), 0)
    return file


def logger(file: jsonl.Lines) -> Any:
    """structlog's JSON, to the run's `log.jsonl` only."""

    def render(_: Any, __: str, fields: MutableMapping[str, Any]) -> bytes:
        return jsonl.encode({"schema_version": jsonl.SCHEMA_VERSION, **fields}) + b"\n"

    class Sink:
        def info(self, line: bytes) -> None:
            file.write(line)

        warning = error = info

    steps: list[Processor] = [structlog.processors.TimeStamper(fmt="iso", utc=True), structlog.processors.add_log_level]
    return structlog.wrap_logger(Sink(), processors=[*steps, render], wrapper_class=structlog.BoundLogger)


def document(body: dict[str, Any]) -> bytes:
    return jsonl.encode({"schema_version": jsonl.SCHEMA_VERSION, **body}) + b"\n"


def call_event(line: dict[str, Any]) -> dict[str, Any]:
    """What the live view and the log need of a call."""
    usage = line["usage"]
    identity = line["identity"]
    return {
        **{key: identity[key] for key in ("trajectory", "role", "round")},
        **{key: line[key] for key in ("try", "final", "outcome", "cost_usd", "error")},
        "model": line["model_asked"],
        "tokens": Usage(**usage).total if usage else None,
    }
