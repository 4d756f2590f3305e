"""Records as a run makes them, for tests of the store and of what reads it."""

from typing import Any

from agents.models.base import Identity, Usage
from agents.recorder import AttemptRecord, CallRecord, TrajectoryRecord


def call(trajectory: str = "quick/add@0", role: str = "generator", round: int = 0, try_: int = 1, **changes: Any) -> CallRecord:
    identity = Identity(trajectory, role, round)
    return CallRecord(
        **{
            "call_id": identity.key, "try_": try_, "identity": identity, "provider": "openai", "model_asked": "openai/x",
            "model_served": "x-1", "request_sha": "r", "prompt_sha": "p", "reply_sha": "y", "sampling": {"max_tokens": 10}, "start": 1.0,
            "first_token": None, "end": 2.0, "outcome": "ok", "finish_reason": "stop", "request_id": None, "error": None,
            "usage_raw": {"prompt_tokens": 7}, "usage": Usage(input=7, output=5, reasoning=2), "usage_source": "provider",
            "tier": "standard", "price_row": "x", "cost_usd": 0.25, "cost_upper": 0.25, **changes,
        }
    )  # fmt: skip


def attempt(trajectory: str = "quick/add@0", name: str = "000.00.00", **changes: Any) -> AttemptRecord:
    return AttemptRecord(
        **{
            "trajectory": trajectory, "attempt": name, "task": trajectory.partition("@")[0], "category": "pointwise", "suite": "quick",
            "scaffold": "geak", "model": "openai/x", "seed": 0, "round": int(name[:3]), "role": "generator", "parents": [],
            "strategy": "", "kernel_sha": None, "verdict": "pass", "stage": "timing", "compiled": True, "correct": True, "speedup": None,
            "speedup_ci": None, "no_speedup": "simulated device", "modelled": None, "baseline_us": None, "candidate_us": None,
            "calls": [], "tokens": 12,
            "cost_usd": 0.25, "wall_s": 1.0, "gpu_s": 0.0, "device": "d", "error_kind": None, "error": None, "parse": "ok", **changes,
        }
    )  # fmt: skip


def trajectory(name: str = "quick/add@0", champion: str | None = "000.00.00", **changes: Any) -> TrajectoryRecord:
    return TrajectoryRecord(
        **{
            "trajectory": name, "task": name.partition("@")[0], "scaffold": "geak", "model": "openai/x", "seed": 0, "start": 1.0,
            "end": 3.0, "champion": champion, "kernel_sha": None, "end_reason": "solved" if champion else "rounds", **changes,
        }
    )  # fmt: skip
