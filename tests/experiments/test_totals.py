"""Totals: that they add up along every dimension, what a success costs, and which part of the spending is which."""

import asyncio
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.models.base import Usage
from experiments.recheck import recheck
from experiments.runs import Run
from experiments.spend import DIMENSIONS, SLICES
from experiments.store import RunStore
from experiments.totals import audit
from tests.experiments import paid, records
from tests.experiments.books import MODEL, RATES, TASKS, Call, book

USAGES = st.builds(Usage, *(st.integers(0, 10**6) for _ in range(5)))
CALLS = st.lists(
    st.tuples(st.sampled_from(list(TASKS)), st.sampled_from(("generator", "reflector")), st.integers(0, 3), st.none() | USAGES), max_size=12
)
ADDITIVE = (
    "calls", "tries", "retries", "input", "cache_read", "cache_write_5m", "cache_write_1h", "output", "tries_without_usage",
    "tries_without_cost", "tokens_at_least", "tokens_at_most", "usd_at_least", "usd_at_most", "tokens_at_cost", "attempts", "passed",
)  # fmt: skip


def parts_of(report: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    pairs = [row for roles in report["pairs"].values() for row in roles.values()]
    return {"pairs": pairs, **{dimension: list(rows.values()) for dimension, rows in report["by"].items()}}


@settings(max_examples=30, deadline=None)
@given(st.lists(CALLS, min_size=1, max_size=2))
def test_rows_add_up_to_the_total_along_every_dimension(tmp_path_factory: pytest.TempPathFactory, runs: list[list[Call]]) -> None:
    path = tmp_path_factory.mktemp("audit")
    report = audit([book(path / f"r{n}", calls, solved=list(TASKS)[n:]) for n, calls in enumerate(runs)])
    for dimension, rows in parts_of(report).items():
        for key in ADDITIVE:
            assert sum(row[key] for row in rows) == pytest.approx(report["total"][key]), (dimension, key)
        for name in SLICES:
            for key in ("tries", "tokens_at_least", "usd_at_most"):
                assert sum(row["of_which"][name][key] for row in rows) == pytest.approx(report["total"]["of_which"][name][key])
        if dimension not in ("role", "round", "pairs"):
            assert sum(row["solved"] for row in rows) == report["total"]["solved"]
        if dimension in ("role", "round"):
            shares = [row["usd_at_least_per_success"] or 0.0 for row in rows]
            assert sum(shares) == pytest.approx((report["total"]["usd_at_least_per_success"] or 0.0) if rows else 0.0)


@settings(max_examples=20, deadline=None)
@given(CALLS)
def test_kinds_add_up_to_tokens_and_bounds_hold_them(tmp_path_factory: pytest.TempPathFactory, calls: list[Call]) -> None:
    total = audit([book(tmp_path_factory.mktemp("audit") / "r", calls)])["total"]
    known = [usage for *_, usage in calls if usage is not None]
    assert total["tokens_at_least"] == sum(usage.total for usage in known) == sum(total[kind] for kind in RATES)
    assert total["tokens_at_most"] == total["tokens_at_least"] + 900 * (len(calls) - len(known))
    assert (total["tokens"] is None) == (len(known) < len(calls))
    assert total["usd_at_least"] <= total["usd_at_most"]


def test_every_dimension_has_its_names(tmp_path: Path) -> None:
    report = audit([book(tmp_path / name, [("quick/add", "generator", 1, Usage(input=1))]) for name in ("a", "b")])
    assert list(report["by"]) == list(DIMENSIONS)
    assert {key: list(report["by"][key]) for key in ("run", "model", "scaffold", "category", "task", "role", "round")} == {
        "run": ["a", "b"], "model": [MODEL], "scaffold": ["geak"], "category": ["Math", "Activation"], "task": list(TASKS),
        "role": ["generator"], "round": ["0", "1"],
    }  # fmt: skip
    assert list(report["by"]["trajectory"]) == ["a:quick/add@0", "a:quick/gelu@0", "b:quick/add@0", "b:quick/gelu@0"]


def test_runs_of_one_name_in_two_places_are_told_apart(tmp_path: Path) -> None:
    report = audit([book(tmp_path / place / "r", [("quick/add", "generator", 0, Usage(input=n))]) for n, place in enumerate("ab", 1)])
    assert [row["tokens"] for row in report["by"]["run"].values()] == [1, 2]


def test_costs_per_success_charge_failures_and_reflections(tmp_path: Path) -> None:
    calls = [("quick/add", "generator", 0, Usage(input=10)), ("quick/add", "reflector", 1, Usage(output=5))]
    report = audit([book(tmp_path / "r", [*calls, ("quick/gelu", "generator", 0, Usage(input=100))])])
    assert report["by"]["task"]["quick/add"]["tokens_per_success"] == 15
    assert report["by"]["task"]["quick/gelu"]["tokens_per_success"] is None
    assert report["total"]["tokens_per_success"] == 115
    assert report["total"]["usd_per_success"] == pytest.approx(160e-6)
    assert [report["by"]["role"][role]["tokens_per_success"] for role in ("generator", "reflector")] == [110, 5]


def test_caches_at_cost_weigh_cached_tokens_by_their_price(tmp_path: Path) -> None:
    calls = [("quick/add", "generator", 0, Usage(10, 100, 8, 4, 2))]
    assert audit([book(tmp_path / "r", calls)])["total"]["tokens_at_cost_per_success"] == pytest.approx(10 + 10 + 10 + 8 + 2)
    assert audit([book(tmp_path / "unpriced", calls, prices={})])["total"]["tokens_at_cost"] is None
    plain = [("quick/add", "generator", 0, Usage(10, output=2))]
    assert audit([book(tmp_path / "plain", plain, prices={})])["total"]["tokens_at_cost"] == 12


def test_tasks_that_were_asked_and_never_answered_stand_in_the_denominator(tmp_path: Path) -> None:
    report = audit([book(tmp_path / "r", [("quick/add", "generator", 0, Usage(input=1))])])
    assert (report["total"]["asked"], report["total"]["solved"]) == (2, 1)
    assert report["by"]["task"]["quick/gelu"]["calls"] == 0
    assert report["by"]["category"]["Activation"]["asked"] == 1


def test_an_unknown_price_leaves_the_cost_unknown_and_never_0(tmp_path: Path) -> None:
    total = audit([book(tmp_path / "r", [("quick/add", "generator", 0, Usage(input=1))], prices={})])["total"]
    assert (total["usd"], total["usd_at_most"], total["usd_per_success"], total["tries_without_cost"]) == (None, None, None, 1)
    assert total["tokens"] == 1


def test_what_is_used_in_part_counts_as_the_least(tmp_path: Path) -> None:
    calls = [("quick/add", "generator", 0, Usage(output=10))]
    total = audit([book(tmp_path / "r", calls, usage_source="partial", tokens_upper=900, cost_usd=None)])["total"]
    assert (total["usd"], total["usd_at_least"]) == (None, pytest.approx(100e-6))
    assert total["usd_at_most"] == pytest.approx((800 * 2.0 + 100 * 10.0) / 1e6)


def test_a_batch_costs_its_share_and_another_tier_is_unknown(tmp_path: Path) -> None:
    calls = [("quick/add", "generator", 0, Usage(input=1000))]
    prices = {MODEL: {**RATES, "batch": 0.5}}
    assert audit([book(tmp_path / "batch", calls, prices=prices, tier="batch")])["total"]["usd"] == pytest.approx(0.0005)
    no_factor = audit([book(tmp_path / "no factor", calls, tier="batch")])["total"]
    assert (no_factor["usd"], no_factor["usd_at_most"]) == (None, pytest.approx(0.001))
    assert audit([book(tmp_path / "tier", calls, tier="priority")])["total"]["usd_at_most"] is None


def test_parts_of_the_spending(tmp_path: Path) -> None:
    run, server = paid.run(tmp_path / "r")
    report = audit([run])
    total, parts = report["total"], report["total"]["of_which"]
    assert total["tries"] == len(server.requests) == parts["retried"]["tries"] + total["calls"]
    assert parts["lost"]["tries"] == sum(line["reply_sha"] is None for line in run.calls) > 0
    assert total["tokens_at_least"] < server.billed.total <= total["tokens_at_most"]
    won = {"quick/add@0/generator/1/0/0"}
    replies = [line for line in run.calls if line["reply_sha"]]
    assert parts["unparsed"]["tries"] == sum(line["call_id"] not in won for line in replies)
    late = [line for line in run.calls if line["identity"]["trajectory"] == "quick/add@0" and line["identity"]["round"] == 2]
    assert parts["late"]["tries"] >= len(late) > 0
    assert parts["failed"]["tokens_at_most"] == report["by"]["task"]["quick/gelu"]["tokens_at_most"]


def test_the_most_expensive_failures_come_first(tmp_path: Path) -> None:
    calls = [("quick/add", "generator", 0, Usage(input=1)), ("quick/gelu", "generator", 0, Usage(input=2))]
    failed = audit([book(tmp_path / "r", calls, solved=())])["failures"]
    assert [(f["task"], f["tokens"], f["end_reason"], f["verdict"]) for f in failed] == [
        ("quick/gelu", 2, "rounds", "wrong_numeric"),
        ("quick/add", 1, "rounds", "wrong_numeric"),
    ]


def test_what_waits_for_a_batch_is_said(tmp_path: Path) -> None:
    run = book(tmp_path / "r", [("quick/add", "generator", 0, Usage(input=1))], end_reasons="waiting")
    assert audit([run])["notes"] == ["r: 2 trajectories wait for a batch; what it costs enters the books with its replies"]


def tuned(path: Path) -> Run:
    """quick/add, asked once at 1 s, settled at 1.5x, tuned to 1.8x; then asked once more, at 10 s."""
    book(path, [("quick/add", "generator", 0, Usage(input=7))])

    async def write(store: RunStore) -> None:
        late = {"usage": Usage(input=7), "usage_raw": asdict(Usage(input=7)), "usage_source": "counted", "parse": "ok"}
        await store.write_call(records.call(role="reflector", start=10.0, end=11.0, model_asked=MODEL, **late))
        asked = {"calls": ["quick/add@0/generator/0/0/0"], "parents": [], "speedup": 1.5}
        await store.write_attempt(records.attempt(name="000.01.00", **asked))
        variant = {"role": "tuner", "calls": [], "tokens": 0, "parents": ["000.01.00"], "gpu_s": 0.5}
        await store.write_attempt(records.attempt(name="001.01.01", speedup=1.8, **variant))
        await store.write_attempt(records.attempt(name="001.01.02", verdict="compile_error", **variant))
        await store.write_trajectory(records.trajectory(champion="001.01.01"))

    store = RunStore(path)
    asyncio.run(write(store))
    store.close()
    return Run(path)


def test_what_tuning_gained_is_told_apart_from_what_the_models_reached(tmp_path: Path) -> None:
    (row,) = audit([tuned(tmp_path / "r")])["tuned"]
    assert (row["trajectory"], row["variants"], row["passed"], row["models"], row["best"], row["gpu_s"]) == (
        "quick/add@0",
        2,
        1,
        1.5,
        1.8,
        1.0,
    )
    assert row["gain"] == pytest.approx(1.2)


def test_a_champion_that_was_tuned_was_found_after_the_call_behind_it(tmp_path: Path) -> None:
    run = tuned(tmp_path / "r")
    report = audit([run])
    assert report["total"]["of_which"]["late"]["tries"] == 1, "the call at 10 s alone"
    assert [found for found in recheck(report, [run.path], {})["differences"] if "late" in found] == []
