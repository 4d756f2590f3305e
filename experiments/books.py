"""Several runs under one budget: each keeps its own books, all reserve from the same purse."""

from collections.abc import Iterable

from agents.ledger import Hold, Ledger
from agents.models.base import Model, Request
from agents.recorder import CallRecord


class Share(Ledger):
    """A run's ledger. Identities are unique within a run only, so that books of two runs must not be one."""

    def __init__(self, purse: Ledger):
        super().__init__(purse.limits, purse.prices)
        self.purse = purse

    async def reserve_call(self, model: Model, request: Request, tier: str = "standard") -> Hold:
        return await self.purse.reserve_call(model, request, tier)

    def commit(self, model: Model, request: Request, tier: str = "standard") -> Hold:
        return self.purse.commit(model, request, tier)

    async def reserve_evaluation(self, gpu_s: float = 0.0) -> Hold:
        return await self.purse.reserve_evaluation(gpu_s)

    def settle_call(self, hold: Hold, record: CallRecord) -> None:
        self.purse.settle_call(hold, record)
        super().restore([record])

    def settle_evaluation(self, hold: Hold, gpu_s: float) -> None:
        self.purse.settle_evaluation(hold, gpu_s)

    def release(self, hold: Hold) -> None:
        self.purse.release(hold)

    def restore(self, calls: Iterable[CallRecord], evaluations: Iterable[float] = (), wall_s: float = 0.0) -> None:
        calls = list(calls)
        self.purse.restore(calls, evaluations, wall_s)
        super().restore(calls)
