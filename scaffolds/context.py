"""What a scaffold's nodes work with: LangGraph's runtime context. `ask` and `evaluate` are the only ways to a model and to the executor."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from statistics import geometric_mean
from typing import Any

from agents import feedback, parsing, plans, roles
from agents.caller import Caller, CallFailed
from agents.ledger import Ledger
from agents.models.base import OUTAGES, Ancestor, Brief, Identity, Reply, Request, Sampling
from agents.plans import Diagnosis, Plan
from agents.prompt import compose
from agents.recorder import AttemptRecord, Recorder
from agents.strategies import BOTTLENECKS
from benchmark.task import Task
from benchmark.words import describe
from scaffolds.rank import better
from scaffolds.state import Attempt
from tools.evaluation import Evaluation, Failure
from tools.executor import Executor
from tools.platforms import HardwareSheet
from tools.settings import Settings

MAX_REASON = 300
"""Characters of a reason that a reply could not be used."""


class Outage(Exception):
    """The model could not be asked, or the executor could not judge: nobody's failure. The trajectory stops, and goes on when resumed."""


@dataclass(frozen=True)
class Answer:
    """What one call of a role came to. A call without a reply is an answer too: `kernel` is None and `parse` says why."""

    role: str
    calls: tuple[Identity, ...]
    parse: str
    kernel: str | None = None
    """Sha of the candidate in the run store."""
    strategy: str = ""
    note: str = ""
    """A reflector's text, bounded."""
    lesson: str = ""
    plan: Plan | None = None
    diagnosis: Diagnosis | None = None
    declined: bool = False

    @classmethod
    def made(cls, role: str, kernel: str, strategy: str) -> "Answer":
        """A candidate that no model wrote: it has cost no call."""
        return cls(role, (), "ok", kernel, strategy)


def unanswered(role: str, identity: Identity, outcome: str, why: str) -> Answer:
    return Answer(role, (identity,), f"{outcome}: {parsing.readable(why.strip())[:MAX_REASON]}", declined=outcome == "declined")


@dataclass
class Context:
    task: Task
    trajectory: str
    scaffold: str
    model_name: str
    seed: int
    caller: Caller
    executor: Executor
    settings: Settings
    recorder: Recorder
    ledger: Ledger
    hardware: HardwareSheet | None
    rng: random.Random
    """For choices made between supersteps; branches of one superstep must not draw from it."""
    sampling: Sampling = field(default_factory=Sampling)
    measured: bool = False
    """Whether candidates are timed, so that an evaluation takes GPU time."""
    cast: Mapping[str, Caller] = field(default_factory=dict)
    """Who asks for the roles that have a model of their own."""
    feedback_tokens: int = feedback.MAX_TOKENS
    """What a prompt says of one evaluation, at most."""
    champion: Attempt | None = field(default=None, init=False)
    exhausted: str = field(default="", init=False)
    """What a used-up budget said, once one ended the trajectory."""
    attempts: dict[str, Attempt] = field(default_factory=dict, init=False)
    """All attempts of the trajectory by id, for the books; prompts and choices are made from the graph's state."""
    digests: dict[str, dict[str, Any]] = field(default_factory=dict, init=False)
    """By attempt, once asked for: a pool's members are shown again and again."""

    @cached_property
    def words(self) -> dict[str, str]:
        return describe(self.task)

    def brief(self, role: str, parent: Attempt | None = None, ancestors: Sequence[Attempt] = (), lessons: Sequence[str] = (),
              plan: Plan | None = None, diagnosis: Diagnosis | None = None, strategies: Sequence[str] = (),
              tried: Sequence[str] = ()) -> Brief:  # fmt: skip
        """A brief with sources and public digests taken from the run store."""
        source = self.recorder.kernel(parent["kernel"]) if parent and parent["kernel"] else None
        digest = self.digest(parent) if parent else None
        shown = tuple(self.ancestor(a) for a in ancestors)
        return Brief(self.task.id, role, source, digest, shown, tuple(lessons), plan, diagnosis, tuple(strategies), tuple(tried))

    def ancestor(self, attempt: Attempt) -> Ancestor:
        assert attempt["kernel"] is not None
        return Ancestor(attempt["id"], self.recorder.kernel(attempt["kernel"]), self.digest(attempt), attempt["strategy"])

    def digest(self, attempt: Attempt) -> dict[str, Any]:
        """What an author may know of an attempt's evaluation; not to be changed."""
        if attempt["id"] not in self.digests:
            self.digests[attempt["id"]] = self.digested(attempt)
        return self.digests[attempt["id"]]

    def digested(self, attempt: Attempt) -> dict[str, Any]:
        where = (attempt["round"], attempt["lineage"], attempt["sample"], attempt["fork"])
        evaluation = self.recorder.evaluation(Identity(self.trajectory, "evaluation", *where))
        return feedback.digest(evaluation, frozenset(case.name for case in self.task.cases if case.held_out))

    async def ask(self, role: str, brief: Brief, *, round: int, lineage: int = 0, sample: int = 0, **variables: Any) -> Answer:
        """Asks a role once. `variables`: what `Role.needs` names.

        Raises BudgetExhausted before anything is spent, Diverged where the journal holds another prompt, and Outage; a call that failed
        otherwise is an answer.
        """
        identity = Identity(self.trajectory, role, round, lineage, sample)
        prompt = compose(role, brief, self.words, self.hardware, self.feedback_tokens, **variables)
        caller = self.cast.get(role, self.caller)
        request = caller.place(Request(prompt.messages, identity, brief, self.sampling, stable=prompt.stable))
        identity = request.identity
        try:
            reply = await caller.complete(request, lambda reply: self.read(role, identity, reply).parse)
        except CallFailed as failed:
            if failed.outcome in OUTAGES:
                raise Outage(f"{caller.model.name} does not answer ({failed.outcome}). {failed}") from failed
            return unanswered(role, identity, failed.outcome, str(failed))
        return self.read(role, identity, reply)

    def read(self, role: str, identity: Identity, reply: Reply) -> Answer:
        if reply.finish_reason == "declined":
            return unanswered(role, identity, "declined", reply.text)
        reads = roles.find(role).reads
        if reads == "reflection":
            reflection = parsing.reflection(reply.text)
            return Answer(role, (identity,), "ok" if reflection.note else "empty", note=reflection.note, lesson=reflection.lesson)
        if reads == "plan":
            plan = plans.plan(reply.text)
            return Answer(role, (identity,), "ok" if plan else "no edit", strategy=plan.strategy if plan else "", plan=plan)
        if reads == "diagnosis":
            diagnosis = plans.diagnosis(reply.text, BOTTLENECKS)
            return Answer(role, (identity,), "ok" if diagnosis else "no single bottleneck", diagnosis=diagnosis)
        parsed = parsing.code(reply.text, self.task.entry_name)
        kernel = self.recorder.put_kernel(parsed.source) if parsed.source is not None else None
        return Answer(role, (identity,), parsed.outcome, kernel, parsing.strategy(reply.text))

    async def evaluate(self, answer: Answer, *, round: int, lineage: int = 0, sample: int = 0, parents: Sequence[str] = ()) -> Attempt:
        """Judges an answer's candidate, writes evaluation and attempt, and keeps the champion.

        At most one per (round, lineage, sample). Raises BudgetExhausted before anything is spent, and Outage with nothing on record.
        """
        fork = max((call.fork for call in answer.calls), default=0)
        identity = self.place(Identity(self.trajectory, "evaluation", round, lineage, sample, fork), answer)
        evaluation = await self.judge(identity, answer)
        modelled = evaluation.modelled["speedup"] if evaluation.modelled else None
        attempt = Attempt(
            id=identity.attempt,
            round=round,
            lineage=lineage,
            sample=sample,
            fork=identity.fork,
            role=answer.role,
            kernel=answer.kernel,
            verdict=evaluation.verdict,
            speedup=evaluation.speedup,
            modelled=modelled,
            strategy=answer.strategy,
            declined=answer.declined,
        )
        await self.recorder.write_attempt(self.record(attempt, answer, evaluation, parents))
        self.attempts[attempt["id"]] = attempt
        self.crown(attempt)
        return attempt

    def place(self, first: Identity, answer: Answer) -> Identity:
        """The first fork under which this candidate was judged, or nothing was. Raises Diverged as `Caller.place` does."""
        identity = first
        while (recorded := self.recorder.recorded_evaluation(identity)) is not None and recorded.candidate_sha != (answer.kernel or ""):
            identity = identity.next
        if recorded is None and identity != first:
            self.caller.diverge(first, identity)
        return identity

    async def judge(self, identity: Identity, answer: Answer) -> Evaluation:
        """The evaluation on record, or a new one, written before it is used."""
        recorded = self.recorder.recorded_evaluation(identity)
        if recorded is not None:
            return recorded
        if answer.kernel is None:
            evaluation = Evaluation(
                "", self.task.id, self.task.sha, verdict="no_code", error=Failure("no_code", answer.parse), no_timing="no code"
            )
        else:
            evaluation = await self.execute(answer.kernel)
        await self.recorder.write_evaluation(identity, evaluation)
        return evaluation

    async def execute(self, kernel: str) -> Evaluation:
        hold = await self.ledger.reserve_evaluation(self.trajectory, self.settings.timing_s if self.measured else 0.0)
        try:
            self.recorder.event("judge", trajectory=self.trajectory)
            evaluation = await self.executor.evaluate(self.recorder.kernel(kernel), self.task, self.settings)
        except BaseException:
            self.ledger.release(hold)
            raise
        if evaluation.verdict == "infra_error":
            self.ledger.release(hold)
            why = evaluation.error.message.rstrip(".") if evaluation.error else "it gave no reason"
            raise Outage(f"The executor could not judge a candidate: {why}.")
        self.ledger.settle_evaluation(hold, evaluation.resources.get("gpu_s", 0.0))
        evaluation.candidate_sha = kernel
        return evaluation

    def crown(self, attempt: Attempt) -> None:
        champion = better(self.champion, attempt)
        if champion is not self.champion:
            self.champion = champion
            self.recorder.event("champion", trajectory=self.trajectory, attempt=attempt["id"], speedup=attempt["speedup"])

    def record(self, attempt: Attempt, answer: Answer, evaluation: Evaluation, parents: Sequence[str]) -> AttemptRecord:
        costs = [self.ledger.call(identity) for identity in answer.calls]
        sizes = evaluation.timing.sizes if evaluation.timing else []
        return AttemptRecord(
            trajectory=self.trajectory,
            attempt=attempt["id"],
            task=self.task.id,
            category=self.task.category,
            suite=self.task.suite,
            scaffold=self.scaffold,
            model=self.model_name,
            seed=self.seed,
            round=attempt["round"],
            role=answer.role,
            parents=list(parents),
            strategy=answer.strategy,
            kernel_sha=answer.kernel,
            verdict=evaluation.verdict,
            stage=evaluation.stage,
            compiled=evaluation.compiled,
            correct=evaluation.correct,
            speedup=evaluation.speedup,
            speedup_ci=evaluation.timing.ci if evaluation.timing else None,
            no_speedup=None if evaluation.timing else evaluation.no_timing or f"ended with {evaluation.verdict}",
            modelled=attempt["modelled"],
            baseline_us=geometric_mean(s.baseline_us for s in sizes) if sizes else None,
            candidate_us=geometric_mean(s.candidate_us for s in sizes) if sizes else None,
            calls=[identity.key for identity in answer.calls],
            tokens=sum(c.tokens for c in costs) if all(c.tokens == c.tokens_upper for c in costs) else None,
            cost_usd=sum(c.usd for c in costs) if not any(c.unknown for c in costs) else None,
            wall_s=evaluation.resources.get("wall_s", 0.0),
            gpu_s=evaluation.resources.get("gpu_s", 0.0),
            device=evaluation.device,
            error_kind=evaluation.error.kind if evaluation.error else None,
            error=evaluation.error.message if evaluation.error else None,
            parse=answer.parse,
        )
