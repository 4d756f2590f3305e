"""What earlier starts spent stands in the accounts of a resumed run: its own, its trajectories' and its calls'."""

from pathlib import Path

from agents.ledger import Ledger
from agents.models.base import Identity
from experiments import books
from experiments.runs import Run
from experiments.store import RunStore
from tests.experiments import records
from tools.evaluation import Evaluation

ADD, GELU = "quick/add@0", "quick/gelu@0"


def evaluation(candidate: str, gpu_s: float) -> Evaluation:
    return Evaluation(candidate, "quick/add", "task", resources={"gpu_s": gpu_s})


async def test_evaluations_gpu_seconds_and_time_are_those_of_their_trajectory(tmp_path: Path) -> None:
    store = RunStore.create(tmp_path / "r", "seed: 0\n", {}, {})
    for start, end in ((10.0, 14.0), (20.0, 21.0)):
        await store.write_trajectory(records.trajectory(ADD, start=start, end=end))
    await store.write_trajectory(records.trajectory(GELU, start=12.0, end=17.0))
    await store.write_evaluation(Identity(ADD, "evaluation", 0), evaluation("sha", 1.5))
    await store.write_evaluation(Identity(ADD, "evaluation", 1), evaluation("", 0.0))
    await store.write_evaluation(Identity(GELU, "evaluation", 0), evaluation("sha", 2.0))
    store.close()
    ledger = Ledger(clock=lambda: 0.0)
    books.restore(ledger, Run(tmp_path / "r"))
    add, gelu = ledger.trajectories[ADD], ledger.trajectories[GELU]
    assert (add.spent.evaluations, add.spent.gpu_s, add.wall_s(0.0)) == (1, 1.5, 5.0)
    assert (gelu.spent.evaluations, gelu.spent.gpu_s, gelu.wall_s(0.0)) == (1, 2.0, 5.0)
    assert (ledger.spent.evaluations, ledger.spent.gpu_s, ledger.wall_s) == (2, 3.5, 8.0)


async def test_tokens_of_every_try_stand_in_its_run_trajectory_and_call(tmp_path: Path) -> None:
    store = RunStore.create(tmp_path / "r", "seed: 0\n", {}, {})
    line = records.call()
    await store.write_call(line)
    store.close()
    ledger = Ledger()
    books.restore(ledger, Run(tmp_path / "r"))
    tokens = line.usage.total if line.usage else 0
    assert tokens > 0
    accounts = (ledger.run, ledger.trajectories[line.identity.trajectory], ledger.calls[line.identity])
    assert [account.spent.tokens for account in accounts] == [tokens] * 3
