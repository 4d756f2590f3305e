"""What earlier starts of a run spent, entered into its books at every level of the budget."""

from collections import defaultdict

from agents.journal import call_record
from agents.ledger import Ledger
from agents.models.batches.base import TIER
from experiments.records import covered
from experiments.runs import Run


def restore(ledger: Ledger, run: Run) -> None:
    """What a batch takes is nobody's time."""
    spans = defaultdict(list)
    for call in run.calls:
        if call["tier"] != TIER:
            spans[call["identity"]["trajectory"]].append((call["start"], call["end"]))
    for start in run.load("trajectories").records:
        spans[start["trajectory"]].append((start["start"], start["end"]))
    judged = [(line["identity"]["trajectory"], line["evaluation"]) for line in run.load("evaluations").records]
    ledger.restore(
        [call_record(call) for call in run.calls],
        [(trajectory, made["resources"].get("gpu_s", 0.0)) for trajectory, made in judged if made["candidate_sha"]],
        covered(span for own in spans.values() for span in own),
        [(trajectory, covered(own)) for trajectory, own in spans.items()],
    )
