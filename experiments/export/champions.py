"""The best kernel of each task over several runs, with the evidence of its evaluation."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from agents.models.base import Identity
from benchmark.errors import UserError
from experiments.records import champion, standing
from experiments.runs import Run
from tools.evaluation import Evaluation


@dataclass(frozen=True)
class Champion:
    run: Run
    attempt: dict[str, Any]
    evaluation: dict[str, Any]
    source: str

    @property
    def task(self) -> str:
        return str(self.attempt["task"])


def champions(runs: Sequence[Run]) -> list[Champion]:
    """One for each task that has one, in the order in which the runs asked for the tasks: the fastest as measured, else as modelled; of
    equals the first."""
    best: dict[str, tuple[Run, dict[str, Any]]] = {}
    for run in runs:
        attempts = {(attempt["trajectory"], attempt["attempt"]): attempt for attempt in run.attempts}
        for trajectory in run.trajectories:
            found = champion(trajectory, attempts)
            task = trajectory["task"]
            if found and (task not in best or standing(found) > standing(best[task][1])):
                best[task] = (run, found)
    evaluations = {run.run_id: evidence(run, [a for r, a in best.values() if r is run]) for run in runs}
    order = dict.fromkeys(task for run in runs for task, _ in run.asked)
    return [
        Champion(run, attempt, evaluations[run.run_id][attempt["trajectory"], attempt["attempt"]], run.kernel(attempt["kernel_sha"]))
        for run, attempt in (best[task] for task in order if task in best)
    ]


def evidence(run: Run, attempts: Sequence[dict[str, Any]]) -> dict[tuple[str, str], dict[str, Any]]:
    """The last evaluation of each attempt."""
    wanted, found = {(a["trajectory"], a["attempt"]) for a in attempts}, {}
    for record in run.load("evaluations").records:
        identity = Identity(**record["identity"])
        key = (identity.trajectory, identity.attempt)
        if key in wanted:
            found[key] = Evaluation.from_dict(record["evaluation"]).to_dict()
    missing = wanted - found.keys()
    if missing:
        raise UserError(f"{run.path / 'evaluations.jsonl'} has no line on {'.'.join(min(missing))}: the run's files are not whole.")
    return found
