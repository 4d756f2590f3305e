"""Providers' exports: each format as its provider writes it, in our kinds."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmark.errors import UserError
from experiments.statements import Entry, Statement, read

DAY, NEXT = 1764460800, 1764547200  # 2025-11-30 and 2025-12-01, UTC.
OPENAI = {
    "object": "organization.usage.completions.result", "input_tokens": 1000, "output_tokens": 500, "input_cached_tokens": 800,
    "input_cache_write_tokens": 50, "input_uncached_tokens": 150, "input_audio_tokens": 0, "num_model_requests": 5, "project_id": None,
    "user_id": None, "api_key_id": None, "model": "gpt-5-2025-08-07", "batch": True, "service_tier": None,
}  # fmt: skip
ANTHROPIC = {
    "uncached_input_tokens": 1500, "cache_creation": {"ephemeral_1h_input_tokens": 1000, "ephemeral_5m_input_tokens": 500},
    "cache_read_input_tokens": 200, "output_tokens": 300, "server_tool_use": {"web_search_requests": 10}, "api_key_id": None,
    "workspace_id": None, "model": "claude-opus-4-6", "service_tier": "standard", "context_window": "0-200k",
}  # fmt: skip


def page(start: Any, *results: dict[str, Any], more: bool = False) -> dict[str, Any]:
    if isinstance(start, int):
        bucket = {"object": "bucket", "start_time": start, "end_time": start + 86400, "results": list(results)}
        return {"object": "page", "data": [bucket], "has_more": more, "next_page": "p" if more else None}
    return {"data": [{"starting_at": start, "ending_at": start, "results": list(results)}], "has_more": more, "next_page": None}


def told(path: Path, body: Any) -> Statement:
    path.write_text(body if isinstance(body, str) else json.dumps(body), encoding="utf-8")
    return read([path])[0]


def amounts(statement: Statement) -> dict[str, float]:
    return {entry.kind: entry.amount for entry in statement.entries}


def test_openai_usage_pages_are_parted_into_disjoint_kinds(tmp_path: Path) -> None:
    found = told(tmp_path / "u.json", page(DAY, OPENAI))
    assert (found.provider, found.unit, found.days) == ("openai", "tokens", {"2025-11-30"})
    assert amounts(found) == {"requests": 5, "input": 150, "cache_read": 800, "cache_write": 50, "output": 500}
    assert {(e.model, e.tier) for e in found.entries} == {("gpt-5-2025-08-07", "batch")}


@pytest.mark.parametrize(
    ("batch", "service", "ours"),
    [
        (True, "default", "batch"),
        (False, "default", "standard"),
        (False, "priority", "priority"),
        (False, None, "standard"),
        (None, None, None),
    ],
)
def test_tiers_of_openai_are_ours(tmp_path: Path, batch: bool | None, service: str | None, ours: str | None) -> None:
    found = told(tmp_path / "u.json", page(DAY, {**OPENAI, "batch": batch, "service_tier": service}))
    assert {entry.tier for entry in found.entries} == {ours}


def test_openai_usage_sheet_has_the_same_fields(tmp_path: Path) -> None:
    head = "start_time,end_time,start_time_iso,end_time_iso,project_id,num_model_requests,api_key_id,model,batch,input_tokens,output_tokens"
    rows = [
        f"{head},input_cached_tokens,input_uncached_tokens",
        f"{DAY},{NEXT},2025-11-30T00:00:00+00:00,2025-12-01T00:00:00+00:00,proj_1,3.0,key_1,gpt-5-2025-08-07,False,4212.0,1673,1280,2932",
        f"{NEXT},,2025-12-01T00:00:00+00:00,,,,,,,,,,",
    ]
    found = told(tmp_path / "u.csv", "\ufeff" + "\n".join(rows) + "\n")
    assert amounts(found) == {"requests": 3, "input": 2932, "cache_read": 1280, "output": 1673}
    assert found.days == {"2025-11-30", "2025-12-01"}
    assert {entry.tier for entry in found.entries} == {"standard"}


def test_openai_cost_lines_are_parted_by_model_and_kind(tmp_path: Path) -> None:
    items = {
        "gpt-5.5-2026-04-23, input": ("gpt-5.5-2026-04-23", "input", None),
        "gpt-5.5-2026-04-23, cached input": ("gpt-5.5-2026-04-23", "cache_read", None),
        "priority | gpt-5.6-sol, output, long context": ("gpt-5.6-sol", "output", "priority"),
        "web search tool calls": (None, "web search tool calls", None),
    }
    results = [{"object": "organization.costs.result", "amount": {"value": 0.06, "currency": "usd"}, "line_item": item} for item in items]
    found = told(tmp_path / "c.json", page(DAY, *results))
    assert [(e.model, e.kind, e.tier) for e in found.entries] == list(items.values())
    assert {e.amount for e in found.entries} == {0.06}


def test_openai_cost_sheet_tells_how_far_it_is_rounded(tmp_path: Path) -> None:
    head = "start_time,end_time,start_time_iso,end_time_iso,amount_value,amount_currency,quantity,quantity_unit,line_item,project_id"
    rows = [head, f'{DAY},{NEXT},,,0.0038,usd,1000,tokens,"gpt-5-nano, input_tokens",proj_1', f"{NEXT},,,,,,,,,"]
    found = told(tmp_path / "c.csv", "\n".join(rows))
    assert found.entries == [Entry("2025-11-30", "gpt-5-nano", None, "input", 0.0038, pytest.approx(0.00005))]


def test_anthropic_usage_report(tmp_path: Path) -> None:
    found = told(tmp_path / "u.json", [page("2025-11-30T00:00:00Z", ANTHROPIC, more=True), page("2025-12-01T00:00:00Z")])
    assert (found.provider, found.unit, found.days) == ("anthropic", "tokens", {"2025-11-30", "2025-12-01"})
    assert amounts(found) == {"input": 1500, "cache_read": 200, "cache_write_5m": 500, "cache_write_1h": 1000, "output": 300}


def test_anthropic_usage_sheet(tmp_path: Path) -> None:
    head = ("usage_date_utc,model_version,api_key,workspace,usage_type,context_window,usage_input_tokens_no_cache,"
            "usage_input_tokens_cache_write_5m,usage_input_tokens_cache_write_1h,usage_input_tokens_cache_read,usage_output_tokens,"
            "web_search_count,inference_geo,speed")  # fmt: skip
    found = told(
        tmp_path / "u.csv", f'{head}\n2026-08-05,claude-opus-5,Mine,"Acme, Inc",batch,\u2264 200k,46981,15969,0,7,16932,0,global,\n'
    )
    assert amounts(found) == {"input": 46981, "cache_read": 7, "cache_write_5m": 15969, "output": 16932}
    assert {(e.day, e.model, e.tier) for e in found.entries} == {("2026-08-05", "claude-opus-5", "batch")}


def test_anthropic_cost_report_is_in_cents(tmp_path: Path) -> None:
    result = {"currency": "USD", "amount": "123.45", "workspace_id": None, "description": "Claude Sonnet 4.5 Usage - Cache Read",
              "cost_type": "tokens", "context_window": "0-200k", "model": "claude-sonnet-4-5-20250929", "service_tier": "standard",
              "token_type": "cache_read_input_tokens"}  # fmt: skip
    found = told(tmp_path / "c.json", page("2025-11-30T00:00:00Z", result))
    (entry,) = found.entries
    assert (found.unit, entry.kind, entry.amount, entry.slack) == ("usd", "cache_read", pytest.approx(1.2345), pytest.approx(0.00005))


def test_anthropic_cost_sheet(tmp_path: Path) -> None:
    head = (
        "usage_date_utc,model,workspace,api_key,usage_type,context_window,token_type,cost_usd,list_price_usd,cost_type,inference_geo,speed"
    )
    found = told(
        tmp_path / "c.csv", f"{head}\n2026-08-04,Claude Haiku 4.5,Default,k,message,\u2264 200k,input_no_cache,0.05,0.05,token,,\n"
    )
    assert found.entries == [Entry("2026-08-04", "Claude Haiku 4.5", None, "input", 0.05, pytest.approx(0.005))]


def test_files_of_one_kind_are_one_statement(tmp_path: Path) -> None:
    for name, start in (("a.json", DAY), ("b.json", NEXT)):
        (tmp_path / name).write_text(json.dumps(page(start, OPENAI)))
    (tmp_path / "c.jsonl").write_text(json.dumps(page("2025-11-30T00:00:00Z", ANTHROPIC)) + "\n")
    found = read([tmp_path / name for name in ("a.json", "b.json", "c.jsonl")])
    assert [(s.provider, len(s.files), len(s.days)) for s in found] == [("openai", 2, 2), ("anthropic", 1, 1)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\n", "its columns are a, b"),
        ("", "its columns are none"),
        (json.dumps(page(DAY, {"seconds": 3})), "its results have seconds"),
        (json.dumps(page(DAY, OPENAI, more=True)), "has_more"),
        ("{", "not as its format says"),
        ("start_time,input_tokens,output_tokens\nyesterday,1,2\n", "not as its format says"),
    ],
)
def test_a_file_that_is_no_export_is_the_users_error(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        told(tmp_path / "x", text)
    with pytest.raises(UserError, match="cannot be read"):
        read([tmp_path / "missing"])
