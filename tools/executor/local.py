"""The executor of this machine: a pool of workers, each with a judge and a zygote of its own."""

import asyncio
import contextlib
import os
import queue
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from benchmark.task import Task
from tools.evaluation import Evaluation, Failure
from tools.executor.compiled import CompileCache, default_folder
from tools.executor.peer import WorkerLost
from tools.executor.remote import Cancelled
from tools.executor.stages.course import Course
from tools.executor.worker import Worker
from tools.settings import Settings

TRIES = 2
T = TypeVar("T")


class Loan:
    """A worker while one evaluation has it: giving the evaluation up reaches that worker, and no later user of it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.worker: Worker | None = None
        self.given_up = False

    def begin(self, worker: Worker) -> None:
        with self.lock:
            self.worker = worker
            if self.given_up:
                worker.cancel()

    def end(self) -> None:
        with self.lock:
            self.worker = None

    def give_up(self) -> None:
        with self.lock:
            self.given_up = True
            if self.worker:
                self.worker.cancel()


class LocalExecutor:
    """Constructing starts nothing; the first evaluation starts a worker, and each worker lasts until `close`.

    `workers` evaluations run at a time. `gpus` are the device indices to use, all visible ones without. `sandbox` is the
    isolation level for evaluations whose settings say `auto`. `cache` keeps compiled kernels; without, there is one of the user.
    May be used from any event loop.
    """

    def __init__(
        self, workers: int | None = None, gpus: tuple[int, ...] | None = None, sandbox: str = "auto", cache: CompileCache | None = None
    ):
        cache = cache or CompileCache(default_folder())
        count = workers or max(1, (os.cpu_count() or 2) // 2)
        self.sandbox = sandbox
        self.workers = [Worker(number, gpus, cache) for number in range(count)]
        self.idle: queue.LifoQueue[Worker] = queue.LifoQueue()
        for worker in reversed(self.workers):
            self.idle.put(worker)
        # One thread per worker for as long as the executor lives: a judge dies with the thread that started it.
        self.threads = ThreadPoolExecutor(count, thread_name_prefix="executor")

    async def evaluate(self, candidate: str, task: Task, settings: Settings) -> Evaluation:
        return await self._on_a_worker(lambda worker: self._tried(worker, candidate, task, settings))

    async def environment(self, settings: Settings) -> str:
        """What `environment_sha` of an evaluation with these settings will be. Starts a worker."""
        level = self.sandbox if settings.sandbox == "auto" else settings.sandbox
        return await self._on_a_worker(lambda worker: worker.environment(worker.ready(settings.device, level)))

    async def _on_a_worker(self, work: Callable[[Worker], T]) -> T:
        loan = Loan()
        future = self.threads.submit(self._borrowed, loan, work)
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            loan.give_up()
            raise

    def _borrowed(self, loan: Loan, work: Callable[[Worker], T]) -> T:
        worker = self.idle.get()
        loan.begin(worker)
        try:
            return work(worker)
        finally:
            loan.end()
            worker.settle()
            self.idle.put(worker)

    def _tried(self, worker: Worker, candidate: str, task: Task, settings: Settings) -> Evaluation:
        """Evaluates, and once more if a trusted process was lost."""
        for _ in range(TRIES):
            course = Course(worker, candidate, task, settings, self.sandbox)
            try:
                return course.run()
            except WorkerLost as lost:
                reason = str(lost)
            except Cancelled:
                reason = "cancelled"
                break
        record = course.record
        record.verdict, record.error = "infra_error", Failure("infra_error", reason)
        return record

    async def close(self) -> None:
        """Ends what runs and leaves no process behind."""
        # Those that wait first, so that they do not begin when the others are given up.
        self.threads.shutdown(wait=False, cancel_futures=True)
        for worker in self.workers:
            worker.cancel()
        await asyncio.to_thread(self.threads.shutdown)
        for worker in self.workers:
            with contextlib.suppress(OSError):
                worker.stop()
