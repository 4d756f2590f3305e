"""The tables of `format=parquet`: their columns and types. docs/export.md says what they hold."""

from typing import Any

from polars import Boolean, Float64, Int64, List, String

Text = List(String)
PLACE = {"run": String, "trajectory": String}
OF = {**PLACE, "attempt": String}
"""What every row about an attempt begins with: the key of a join."""
WHAT = {"task": String, "suite": String, "category": String, "scaffold": String, "model": String, "seed": Int64}
KINDS = {"input": Int64, "cache_read": Int64, "cache_write_5m": Int64, "cache_write_1h": Int64, "output": Int64, "reasoning": Int64}
SPEEDUP = {"speedup": Float64, "speedup_low": Float64, "speedup_high": Float64}

TABLES: dict[str, dict[str, Any]] = {
    "trajectories": {
        **PLACE, **WHAT, "task_sha": String, "ended": Boolean, "end_reason": String, "error": String, "start": Float64, "end": Float64,
        "solved": Boolean, "champion": String, "kernel_sha": String, **SPEEDUP, "modelled": Float64, "attempts": Int64, "passed": Int64,
        "calls": Int64, "tries": Int64, "tries_unknown": Int64, **KINDS, "tokens": Int64, "tokens_upper": Int64, "usd": Float64,
        "usd_upper": Float64,
    },
    "attempts": {
        **OF, **WHAT, "round": Int64, "role": String, "parents": Text, "strategy": String, "kernel_sha": String, "verdict": String,
        "stage": String, "compiled": Boolean, "correct": Boolean, **SPEEDUP, "no_speedup": String, "modelled": Float64,
        "baseline_us": Float64, "candidate_us": Float64, "calls": Text, "tokens": Int64, "cost_usd": Float64, "wall_s": Float64,
        "gpu_s": Float64, "device": String, "error_kind": String, "error": String, "parse": String,
    },
    "calls": {
        "run": String, "call_id": String, "try": Int64, "trajectory": String, "role": String, "round": Int64, "lineage": Int64,
        "sample": Int64, "fork": Int64, "provider": String, "model_asked": String, "model_served": String, "request_sha": String,
        "prompt_sha": String, "reply_sha": String, "temperature": Float64, "max_tokens": Int64, "sampling_seed": Int64, "start": Float64,
        "first_token": Float64, "end": Float64, "outcome": String, "finish_reason": String, "request_id": String, "error": String,
        **KINDS, "tokens": Int64, "tokens_upper": Int64, "usage_source": String, "usage_raw": String, "tier": String, "price_row": String,
        "cost_usd": Float64, "cost_upper": Float64, "parse": String, "final": Boolean, "replayed_from": String,
    },
    "evaluations": {
        **OF, "candidate_sha": String, "task": String, "task_sha": String, "environment_sha": String, "settings_sha": String,
        "mode": String, "platform": String, "device": String, "verdict": String, "stage": String, "compiled": Boolean, "correct": Boolean,
        "error_kind": String, "error": String, "cases": Int64, "cases_failed": Int64, "held_out_failed": Int64, "launches": Int64,
        "kernels": Int64, "registers": Int64, "spills": Int64, "shared_bytes": Int64, "compile_s": Float64, "out_of_bounds": Int64,
        "races": Int64, "sectors_loaded": Int64, "sectors_stored": Int64, "minimal_bytes": Int64, "flops": Int64, "baseline": String,
        **SPEEDUP, "compile_speedup": Float64, "warm_speedup": Float64, "self_ratio": Float64, "noisy": Boolean, "claim_ok": Boolean,
        "tuning_s": Float64, "no_timing": String, "modelled": Float64, "modelled_hardware": String, "modelled_bound": String,
        "isolation": String, "data_path": String, "python": String, "torch": String, "triton": String, "driver": String,
        "wall_s": Float64, "gpu_s": Float64, "max_rss": Float64,
    },
    "cases": {
        **OF, "case": String, "held_out": Boolean, "ok": Boolean, "kind": String, "message": String, "max_abs": Float64,
        "rel_rms": Float64, "matched": Float64, "tolerance": Float64,
    },
    "sizes": {
        **OF, "case": String, "baseline_us": Float64, "candidate_us": Float64, **SPEEDUP, "baseline_host_us": Float64,
        "candidate_host_us": Float64, "slope_us": Float64, "floor_us": Float64, "warm_speedup": Float64, "compile_speedup": Float64,
    },
    "texts": {"run": String, "kind": String, "sha": String, "text": String},
}  # fmt: skip
