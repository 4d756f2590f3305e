"""Our records against a provider's bill: nothing to tell where they agree, and every difference by day, model, tier and kind."""

import csv
import io
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents import prices
from agents.models.base import Usage
from experiments.layout import RECONCILED
from experiments.reconcile import reconcile
from experiments.runs import Run
from experiments.statements import Statement, read
from tests.experiments import paid
from tests.experiments.books import RATES, book

KINDS = ("input", "cache_read", "cache_write_5m", "cache_write_1h", "output")
TODAY = time.strftime("%Y-%m-%d", time.gmtime())


def openai(bill: Sequence[Usage], model: str, day: str = TODAY) -> dict[str, Any]:
    """A page of OpenAI's usage endpoint over what its server charged."""
    used = sum(bill, Usage())
    result = {
        "object": "organization.usage.completions.result", "model": model, "num_model_requests": len(bill),
        "input_tokens": used.total - used.output, "input_cached_tokens": used.cache_read,
        "input_cache_write_tokens": used.cache_write_5m + used.cache_write_1h, "output_tokens": used.output,
    }  # fmt: skip
    return {"object": "page", "data": [{"object": "bucket", "start_time": seconds(day), "results": [result]}], "has_more": False}


def anthropic(bill: Sequence[Usage], model: str, day: str = TODAY) -> dict[str, Any]:
    used = sum(bill, Usage())
    created = {"ephemeral_5m_input_tokens": used.cache_write_5m, "ephemeral_1h_input_tokens": used.cache_write_1h}
    result = {"model": model, "service_tier": "standard", "uncached_input_tokens": used.input, "cache_creation": created,
              "cache_read_input_tokens": used.cache_read, "output_tokens": used.output}  # fmt: skip
    return {"data": [{"starting_at": f"{day}T00:00:00Z", "ending_at": f"{day}T23:59:59Z", "results": [result]}], "has_more": False}


def seconds(day: str) -> int:
    return int(time.mktime(time.strptime(day, "%Y-%m-%d")) - time.timezone)


def given_page(tmp_path: Path, *pages: dict[str, Any]) -> list[Statement]:
    (tmp_path / "export.json").write_text(json.dumps(list(pages)))
    return read([tmp_path / "export.json"])


def nothing_lost(number: int, asked: dict[str, Any]) -> None:
    return None


@pytest.mark.parametrize(("model", "export"), [("openai/m", openai), ("anthropic/m", anthropic)])
def test_the_bill_of_the_server_and_our_records_agree(tmp_path: Path, model: str, export: Any) -> None:
    run, server = paid.run(tmp_path / "r", model, faults=nothing_lost)
    found = reconcile([run], {}, given_page(tmp_path, export(server.bill, "m-served")))
    assert found["differences"] == []
    kinds = {total["kind"]: total["ours"] for total in found["totals"]}
    assert kinds["cache_read"] == server.billed.cache_read > 0
    assert kinds.get("requests", len(server.bill)) == len(server.bill) == 12


@pytest.mark.parametrize(("model", "export"), [("openai/m", openai), ("anthropic/m", anthropic)])
def test_what_was_billed_and_never_arrived_is_listed_with_its_cause(tmp_path: Path, model: str, export: Any) -> None:
    run, server = paid.run(tmp_path / "r", model)
    found = reconcile([run], {}, given_page(tmp_path, export(server.bill, "m-served")))
    listed = {row["kind"]: row for row in found["differences"]}
    assert listed["cache_read"]["theirs"] == server.billed.cache_read
    assert listed["cache_read"]["ours"] == sum(line["usage"]["cache_read"] for line in run.calls if line["usage"])
    assert {row["why"] for row in listed.values()} == {"3 tries of unknown usage or price, which may explain it"}
    assert all(row["ours"] < row["theirs"] <= row["ours_at_most"] for row in listed.values())


CALLS = st.lists(st.builds(Usage, *(st.integers(0, 10**6) for _ in KINDS)), min_size=1, max_size=6)


@settings(max_examples=25, deadline=None)
@given(CALLS, st.sampled_from(KINDS), st.integers(1, 10**6))
def test_one_wrong_number_is_one_difference(tmp_path_factory: pytest.TempPathFactory, used: list[Usage], kind: str, more: int) -> None:
    path = tmp_path_factory.mktemp("reconcile")
    run = book(path / "r", [("quick/add", "generator", n, usage) for n, usage in enumerate(used)], model="anthropic/x-1")
    right = anthropic(used, "x-1", "1970-01-01")
    assert reconcile([run], {}, given_page(path, right))["differences"] == []
    wrong = anthropic([*used, Usage(**{kind: more})], "x-1", "1970-01-01")
    (row,) = reconcile([run], {}, given_page(path, wrong))["differences"]
    assert (row["day"], row["model"], row["tier"], row["kind"], row["difference"]) == ("1970-01-01", "x-1", "standard", kind, more)


ONE = [("quick/add", "generator", 0, Usage(10, output=5))]


def test_days_and_models_of_one_side_are_listed(tmp_path: Path) -> None:
    run = book(tmp_path / "r", ONE, model_served="m-1")
    found = reconcile([run], {}, given_page(tmp_path, openai([Usage(7)], "other", "1970-01-01"), openai([Usage(8)], "m-1", "1970-01-02")))
    listed = {(row["day"], row["model"], row["kind"]): (row["ours"], row["theirs"], row["why"]) for row in found["differences"]}
    assert listed["1970-01-01", "m-1", "output"] == (5, 0, "only in our records")
    assert listed["1970-01-01", "other", "input"] == (0, 7, "only in the export")
    assert listed["1970-01-02", "m-1", "input"] == (0, 8, "only in the export")
    uncovered = reconcile([run], {}, given_page(tmp_path, openai([Usage(8)], "m-1", "1970-01-02")))["differences"]
    assert {row["why"] for row in uncovered if row["day"] == "1970-01-01"} == {"a day that the export does not cover"}


def test_a_model_is_known_by_another_spelling_and_without_its_date(tmp_path: Path) -> None:
    run = book(tmp_path / "r", ONE, model="anthropic/claude-haiku-4-5", model_served="claude-haiku-4-5-20251001")
    (tmp_path / "c.csv").write_text(
        "usage_date_utc,model,token_type,cost_usd\n"
        "1970-01-01,Claude Haiku 4.5,input_no_cache,0.00001\n1970-01-01,Claude Haiku 4.5,output,0.00005\n"
    )
    assert reconcile([run], {}, read([tmp_path / "c.csv"]))["differences"] == []


def test_costs_are_compared_by_kind_and_within_their_rounding(tmp_path: Path) -> None:
    run = book(tmp_path / "r", [("quick/add", "generator", 0, Usage(1234, 1000, output=100))], model_served="m-1")
    head = "start_time,end_time,amount_value,amount_currency,line_item\n"
    (tmp_path / "c.csv").write_text(head + '0,,0.0012,usd,"m-1, input"\n0,,0.0001,usd,"m-1, cached input"\n0,,0.0010,usd,"m-1, output"\n')
    assert reconcile([run], {}, read([tmp_path / "c.csv"]))["differences"] == []
    corrected = {"openai/m": prices.Row("new", "s", prices.Rates(**{**RATES, "output": 12.0}))}
    (row,) = reconcile([run], corrected, read([tmp_path / "c.csv"]))["differences"]
    assert (row["kind"], row["unit"], row["ours"]) == ("output", "usd", pytest.approx(0.0012))


def test_a_days_whole_cost_is_compared_where_nothing_is_itemised(tmp_path: Path) -> None:
    run = book(tmp_path / "r", ONE)
    (tmp_path / "c.csv").write_text("start_time,end_time,amount_value,amount_currency,line_item\n0,,0.000060,usd,\n86400,,,,\n")
    assert reconcile([run], {}, read([tmp_path / "c.csv"]))["differences"] == []


def test_a_tier_is_compared_where_the_export_tells_it(tmp_path: Path) -> None:
    run = book(tmp_path / "r", ONE, model="anthropic/x-1", tier="batch")
    right = anthropic([ONE[0][3]], "x-1", "1970-01-01")
    right["data"][0]["results"][0]["service_tier"] = "batch"
    assert reconcile([run], {}, given_page(tmp_path, right))["differences"] == []
    wrong = reconcile([run], {}, given_page(tmp_path, anthropic([ONE[0][3]], "x-1", "1970-01-01")))["differences"]
    assert {row["tier"] for row in wrong} == {"batch", "standard"}


def test_several_runs_stand_against_one_export_and_tries_of_others_are_said(tmp_path: Path) -> None:
    runs = [book(tmp_path / name, ONE) for name in "ab"]
    other = book(tmp_path / "c", ONE, model="anthropic/x")
    found = reconcile([*runs, other], {}, given_page(tmp_path, openai([ONE[0][3]] * 2, "x-1", "1970-01-01")))
    assert found["differences"] == []
    assert found["notes"] == ["1 tries of anthropic are in none of these exports."]


def test_every_form_lists_every_difference(tmp_path: Path) -> None:
    run = book(tmp_path / "r", ONE)
    found = reconcile([Run(run.path)], {}, given_page(tmp_path, openai([Usage(11)], "x-1", "1970-01-01")))
    assert len(found["differences"]) == 2
    assert [row["kind"] for row in csv.DictReader(io.StringIO(RECONCILED["csv"](found)))] == ["input", "output"]
    assert json.loads(RECONCILED["json"](found))["differences"] == found["differences"]
    for form in ("table", "md"):
        assert RECONCILED[form](found).rstrip().endswith("2 differences")
        assert "1970-01-01" in RECONCILED[form](found)
