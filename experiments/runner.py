"""Runs all trajectories of all collected runs in one event loop, under one budget, and stops cleanly when told to."""

import asyncio
import os
import random
import signal
import sys
import traceback
from collections import Counter, deque
from collections.abc import Coroutine, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from agents.caller import Caller
from agents.ledger import Ledger
from agents.models.base import OUTAGES, RETRIABLE, Identity, Reply
from agents.models.batch import Batch
from agents.models.replay import Replay
from agents.pace import Pace
from agents.parking import Lot
from benchmark.console import show
from benchmark.errors import UserError
from benchmark.task import Task
from experiments import batches, books, closing, environment, live
from experiments.config import Collected
from experiments.machine import Machine
from experiments.plan import Plan, prepare
from experiments.runs import trajectory_id
from experiments.store import RunStore, call_event
from scaffolds import trajectory
from scaffolds.context import Context
from tools.executor import Executor

FINAL = frozenset({"solved", "rounds", "stagnation", "declined", "limit"})
"""End reasons after which a resumed run has nothing left to do; the others go on from the journal."""
FAILED, NO_VERDICT, WAITING, INTERRUPTED = 1, 4, 75, 130
PATIENCE = 4
"""Calls in a row of one model that may fail, after all their tries, before the run stops by itself; the very first one stops it at once."""


@dataclass
class Job:
    """A run that is under way."""

    plan: Plan
    store: RunStore
    ledger: Ledger
    caller: Caller
    machine: Machine
    cast: dict[str, Caller] = field(default_factory=dict)
    """Who asks the models of single roles."""
    lot: Lot | None = None
    """Where calls wait for a batch, with `model=batch`."""
    under_way: set[str] = field(default_factory=set)
    """Trajectories."""

    @classmethod
    def open(cls, plan: Plan, purse: Ledger, machine: Machine) -> "Job":
        if plan.resumed:
            store = RunStore(plan.path)
        else:
            described = environment.describe(plan, machine)
            store = RunStore.create(plan.path, plan.yaml(), described, purse.prices.to_dict())
        store.event("start", templates=environment.templates())
        if isinstance(plan.model, Replay):
            for journal in plan.model.journals:
                store.adopt(journal)
        ledger = purse.share()
        if plan.resumed:
            books.restore(ledger, plan.resumed)
        fork = plan.config.resume.on_divergence == "fork"
        callers = {id(model): Caller(model, store, ledger, fork=fork) for model in plan.models}
        cast = {role: callers[id(model)] for role, model in plan.cast.items()}
        job = cls(plan, store, ledger, callers[id(plan.model)], machine, cast)
        if isinstance(plan.model, Batch):
            job.lot = job.caller.lot = Lot(plan.path, plan.model, job.caller)
        return job

    @property
    def callers(self) -> list[Caller]:
        return list(dict.fromkeys([self.caller, *self.cast.values()]))

    def close(self) -> None:
        if self.lot:
            self.lot.close()
        self.store.close()

    def key(self, task: Task, seed: int) -> str:
        return trajectory_id(task.id, seed)

    def left(self) -> list[tuple[Task, int]]:
        """Trajectories that are not over yet."""
        return [(t, s) for t, s in self.plan.trajectories if self.store.trajectories.get(self.key(t, s), {}).get("end_reason") not in FINAL]

    @property
    def waits(self) -> bool:
        """Whether nothing can be done before a batch is answered."""
        return self.lot is not None and bool(self.lot.waiting) and not self.lot.news

    def parse(self, executor: Executor, identity: Identity, reply: Reply) -> str:
        """How a reply reads that nobody is waiting for yet."""
        task, seed = next((t, s) for t, s in self.plan.trajectories if self.key(t, s) == identity.trajectory)
        return self.context(task, seed, executor).read(identity.role, identity, reply).parse

    def context(self, task: Task, seed: int, executor: Executor) -> Context:
        key = self.key(task, seed)
        return Context(
            task=task, trajectory=key, scaffold=self.plan.name, model_name=self.plan.model.name, seed=seed,
            caller=self.caller, cast=self.cast, executor=executor, settings=self.machine.settings, recorder=self.store,
            ledger=self.ledger, hardware=self.machine.sheet, rng=random.Random(key), measured=self.machine.measured,
            feedback_tokens=self.plan.config.feedback_tokens,
        )  # fmt: skip


@dataclass
class Runner:
    jobs: list[Job]
    view: live.View
    queue: deque[tuple[Job, Task, int]] = field(default_factory=deque)
    workers: set["asyncio.Task[None]"] = field(default_factory=set)
    watches: set["asyncio.Task[None]"] = field(default_factory=set)
    """What hands batches in."""
    fault: BaseException | None = None
    """The first thing that ended the run before its time."""
    crashes: list[str] = field(default_factory=list)
    """Tracebacks of our own faults."""
    stalled: list[str] = field(default_factory=list)
    """Why trajectories ended without a verdict: nobody answered or judged, or a task is broken."""
    interrupted: bool = False
    failures: Counter[str] = field(default_factory=Counter)
    """By model, calls in a row that failed after all their tries."""

    async def run(self) -> int:
        loop = asyncio.get_running_loop()
        for signum in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(signum, self.interrupt)
        executor = self.jobs[0].machine.executor()
        try:
            await self.all(self.collect(job, job.lot, executor) for job in self.jobs if job.lot)
            if not (self.fault or self.interrupted):
                await self.go(executor)
        finally:
            await asyncio.gather(*(caller.close() for job in self.jobs for caller in job.callers))
            await executor.close()
        return self.outcome()

    async def all(self, work: Iterable[Coroutine[Any, Any, None]]) -> None:
        """Does all of it, or as much as there is time for until the run is stopped."""
        self.workers = {asyncio.create_task(part) for part in work}
        await asyncio.gather(*self.workers, return_exceptions=True)

    async def collect(self, job: Job, lot: Lot, executor: Executor) -> None:
        try:
            await lot.collect(partial(job.parse, executor))
        except UserError as error:
            self.stop(error)

    async def go(self, executor: Executor) -> None:
        """Live trajectories take turns. Those that wait for a batch are all under way at once, so that the batch is whole."""
        self.queue.extend((job, task, seed) for job in self.jobs if not job.lot for task, seed in job.left())
        turns = [self.work(executor) for _ in range(min(self.jobs[0].machine.concurrency, len(self.queue)))]
        parked = []
        for job in self.jobs:
            if job.lot and not job.waits:
                counted, left = batches.Counted(executor), job.left()
                job.under_way = {job.key(task, seed) for task, seed in left}
                parked += [self.play(job, task, seed, counted) for task, seed in left]
                self.watches.add(asyncio.create_task(self.hand_in(job, job.lot, counted)))
        await self.all([*turns, *parked])
        await asyncio.gather(*self.watches)

    async def work(self, executor: Executor) -> None:
        """Takes trajectories from the queue until it is empty or the run is stopped."""
        while self.queue:
            await self.play(*self.queue.popleft(), executor)

    async def play(self, job: Job, task: Task, seed: int, executor: Executor) -> None:
        try:
            record = await trajectory.run(job.plan.name, job.plan.scaffold, job.context(task, seed, executor))
        except UserError as error:
            self.stop(error)
        except Exception as error:
            self.crashes.append("".join(traceback.format_exception(error)))
        else:
            self.stalled += [record.error or "A scaffold gave up without a reason."] if record.end_reason == "error" else []
        finally:
            job.under_way.discard(job.key(task, seed))

    async def hand_in(self, job: Job, lot: Lot, executor: batches.Counted) -> None:
        """Not among the workers: what is being handed in when the run is stopped is on record first."""
        try:
            await batches.hand_in(lot, job.under_way, executor)
        except UserError as error:
            self.stop(error)

    def hear(self, job: Job, name: str, fields: dict[str, Any]) -> None:
        """Listens to a run's events: tells the view, and stops the run when nobody answers."""
        self.view.take(name, {**fields, "key": self.label(job, fields.get("trajectory", ""))})
        if name == "call":
            self.silence(job, fields)

    def silence(self, job: Job, call: dict[str, Any]) -> None:
        """Stops the run once the model's side is down, so that not every task waits for it to the end of its tries."""
        if not call["final"] or call["outcome"] == "unrecorded":
            return
        failed = call["outcome"] in OUTAGES | RETRIABLE
        self.failures[call["model"]] = self.failures[call["model"]] + 1 if failed else 0
        # Entries of a batch fail side by side, which says nothing of those to come.
        if failed and (not job.store.answered or (self.failures[call["model"]] >= PATIENCE and not job.lot)):
            why = f"{call['model']} does not answer ({call['outcome']}). {call['error']}"
            job.store.broken = UserError(f"{why} Then continue with resume={job.store.path}.")
            self.stop(job.store.broken)

    def label(self, job: Job, trajectory: str) -> str:
        """A trajectory's name among all runs of this start."""
        return trajectory if len(self.jobs) == 1 else f"{job.store.run_id} {trajectory}"

    def welcome(self, job: Job) -> None:
        """Says where the run lies and what was found there, counts what an earlier start did, and listens from now on."""
        store = job.store
        tasks = "1 task" if len(job.plan.tasks) == 1 else f"{len(job.plan.tasks)} tasks"
        self.view.say(f"{store.path}: {job.plan.name} with {job.plan.model.name} on {tasks}, {job.machine.device.name}")
        for name, size in store.torn.items():
            self.view.say(f"{store.path}: dropped a torn last line of {name} ({size} bytes); what it told is asked again")
        left = {job.key(task, seed) for task, seed in job.left()}
        past = [("call", call_event(call)) for call in store.calls] + [("attempt", attempt) for attempt in store.attempts.values()]
        past += [("trajectory", t) for t in store.trajectories.values() if t["trajectory"] not in left]
        for name, fields in past:
            self.view.progress.take(name, {**fields, "key": self.label(job, fields["trajectory"])})
        self.view.progress.before = len(self.view.progress.ended)
        store.listeners.append(lambda name, fields: self.hear(job, name, fields))

    def interrupt(self) -> None:
        """The first signal drains calls in flight; the second one gives them up, and saves what was handed in."""
        if self.interrupted:
            self.view.__exit__()
            for job in self.jobs:
                job.store.disk.close()
            os._exit(INTERRUPTED)
        self.interrupted = True
        self.view.say("Stopping: waiting for calls in flight, so that what is paid is on record. Once more to stop at once.")
        self.halt()

    def stop(self, fault: BaseException) -> None:
        self.fault = self.fault or fault
        self.halt()

    def halt(self) -> None:
        self.queue.clear()
        for worker in self.workers:
            worker.cancel()

    def outcome(self) -> int:
        faults = [fault for fault in (*(job.store.broken for job in self.jobs), self.fault) if fault]
        if faults:
            raise faults[0]
        for why in dict.fromkeys([*self.crashes, *self.stalled]):
            print(why, file=sys.stderr)
        if self.interrupted or self.crashes:
            return INTERRUPTED if self.interrupted else FAILED
        return WAITING if any(job.lot and job.lot.open for job in self.jobs) else NO_VERDICT if self.stalled else 0


def run(collected: list[Collected]) -> int:
    """Validates all runs, then runs them. Returns the exit code."""
    plans, purse = prepare(collected)
    machines = [Machine.of(plan.config) for plan in plans]
    if any(machine != machines[0] for machine in machines):
        raise UserError("All runs of one -m share one executor: do not sweep over executor or concurrency.")
    jobs: list[Job] = []
    try:
        for plan in plans:
            jobs.append(Job.open(plan, purse, machines[0]))
        share_paces(jobs)
        progress = live.Progress(sum(len(job.plan.trajectories) for job in jobs))
        with live.view(progress, live.Screen(stderr=True, highlight=False)) as view:
            runner = Runner(jobs, view)
            for job in jobs:
                runner.welcome(job)
            return asyncio.run(runner.run())
    finally:
        for job in jobs:
            farewell(job)
            job.close()


def share_paces(jobs: list[Job]) -> None:
    """Roles of a run, and runs of one -m, that ask the same server go at one pace, the first one's."""
    paces: dict[tuple[str, str | None], Pace] = {}
    for caller in (caller for job in jobs for caller in job.callers):
        server = (caller.model.name.partition("/")[0], getattr(caller.model, "base_url", None))
        caller.pace = paces.setdefault(server, caller.pace)


def farewell(job: Job) -> None:
    asked = [(job.key(task, seed), task.id, seed) for task, seed in job.plan.trajectories]
    show("\n".join([*closing.lines(job.store, asked), *closing.budgets(job.ledger)]))
    if job.lot and job.lot.open:
        show(batches.sentence(job.lot, job.store.path, job.plan.name, job.plan.scaffold))
    elif job.left():
        show(f"Not over: continue with python -m experiments.run resume={job.store.path}")
