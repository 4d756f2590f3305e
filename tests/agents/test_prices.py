"""Prices: where a row comes from, and what usage costs by it."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.models.base import Usage
from agents.prices import FREE, KINDS, Prices, Rates, Row, bundled, convert, stored, table
from benchmark.errors import UserError

TOKENS = st.integers(0, 10**7)
RATE = st.floats(0, 1000)


def test_pinned_model_is_priced_by_kind() -> None:
    row = Prices.load().row("anthropic/claude-sonnet-4-5")
    assert row is not None
    usage = Usage(input=10**6, cache_read=10**6, cache_write_5m=10**6, cache_write_1h=10**6, output=10**6, reasoning=10**5)
    assert row.rates == Rates(3.0, 0.3, 3.75, 6.0, 15.0)
    assert row.cost(usage) == pytest.approx(3.0 + 0.3 + 3.75 + 6.0 + 15.0)
    assert row.cost(usage, "batch") == pytest.approx(28.05 / 2)


def test_reasoning_is_not_charged_twice() -> None:
    row = Prices.load().row("openai/gpt-5")
    assert row is not None
    assert row.cost(Usage(output=1000)) == row.cost(Usage(output=1000, reasoning=900))


def test_long_prompt_is_charged_at_the_long_rates() -> None:
    row = Row("r", "s", Rates(1.0, output=2.0), long_above=1000, long=Rates(10.0, output=20.0))
    assert row.cost(Usage(input=1000, output=10)) == pytest.approx(1020e-6)
    assert row.cost(Usage(input=1001, output=10)) == pytest.approx(10210e-6)


def test_unknown_price_is_none_and_never_zero() -> None:
    assert Prices.load().row("openai/nobody-knows") is None
    assert Rates(1.0, None, output=2.0).cost(Usage(input=5, cache_read=1)) is None
    assert Rates(1.0, None, output=2.0).cost(Usage(input=5)) == pytest.approx(5e-6)
    assert Row("r", "s", Rates(1.0, output=1.0)).cost(Usage(input=1), "batch") is None


def test_a_tier_that_has_no_price_is_bounded_by_nothing() -> None:
    row = Row("r", "s", Rates(1.0, output=1.0))
    assert row.cost(Usage(input=1), "priority") is None
    assert row.upper(1, 1, "priority") is None
    assert row.upper(10**6, 0, "batch") == 1.0


def test_pinned_prices_have_a_date_and_a_source_each() -> None:
    prices = Prices.load()
    for name, entry in prices.pinned["models"].items():
        row = prices.row(name)
        assert row is not None
        assert row.date == entry["date"]
        assert row.source


def test_free_model_costs_nothing() -> None:
    row = Prices.load().row("templates", free=True)
    assert row == FREE
    assert row.cost(Usage(input=10**9, output=10**9)) == 0.0


def test_pinned_rows_are_those_of_the_bundled_table_that_they_name() -> None:
    table, revision = bundled()
    prices = Prices.load()
    if not prices.pinned["source"].startswith(revision):
        pytest.skip(f"pinned from another revision than {revision}")
    for name, pinned in prices.pinned["models"].items():
        converted = convert(table[name.partition("/")[2]])
        assert known({**pinned, "source": None, "date": None}) == known(converted), name


def known(entry: dict[str, Any]) -> dict[str, Any]:
    return {key: known(value) if isinstance(value, dict) else value for key, value in entry.items() if value is not None}


def test_other_models_are_priced_by_litellms_table_without_importing_it() -> None:
    code = (
        "import sys; from agents.prices import Prices; row = Prices.load().row('gemini/gemini-2.5-pro'); "
        "print(row.name, row.rates.input, row.source.startswith('litellm '), 'litellm' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["litellm:gemini/gemini-2.5-pro", "1.25", "True", "False"]


def test_override_wins_and_is_stored_with_the_run() -> None:
    prices = Prices.load({"openai/gpt-5": {"input": 1.0, "output": 2.0}})
    row = prices.row("openai/gpt-5")
    assert row is not None
    assert row.cost(Usage(input=10, cache_read=10, output=10)) == pytest.approx(40e-6)
    stored = json.loads(json.dumps(prices.to_dict()))
    assert stored["models"]["openai/gpt-5"]["rates"]["output"] == 2.0
    assert stored["date"]


def test_override_may_tell_what_long_prompts_cost() -> None:
    row = Prices.load({"openai/x": {"input": 1.0, "output": 2.0, "long": {"above": 1000, "input": 2.0, "output": 4.0}}}).row("openai/x")
    assert row is not None
    assert row.cost(Usage(input=900, output=10)) == pytest.approx(920e-6)
    assert row.cost(Usage(input=900, cache_read=101, output=10)) == pytest.approx(2042e-6)


def test_stored_rows_come_back_as_they_were() -> None:
    prices = Prices.load({"openai/mine": {"input": 1.0, "output": 2.0, "batch": 0.5}})
    rows = {
        name: prices.row(name, free=name == "templates") for name in ("openai/mine", "openai/gpt-5.4", "gemini/gemini-2.5-pro", "templates")
    }
    assert stored(json.loads(json.dumps(prices.to_dict()))) == rows


@pytest.mark.parametrize(
    "text",
    [
        '{"models": {"openai/x": {"input": 1, "cache_read": 0.5, "output": 2, "source": "a page", "date": "2026-01-01"}}}',
        "prices:\n  openai/x: {input: 1, cache_read: 0.5, output: 2}\n",
        '{"openai/x": {"input": 1, "cache_read": 0.5, "output": 2}}',
        '{"models": {"openai/x": {"name": "y", "source": "s", "rates": {"input": 1, "cache_read": 0.5, "output": 2}, "long": null}}}',
    ],
)
def test_price_tables_of_every_form_are_read(tmp_path: Path, text: str) -> None:
    (tmp_path / "p").write_text(text)
    row = table(tmp_path / "p")["openai/x"]
    assert row.cost(Usage(input=10**6, cache_read=10**6, output=10**6)) == 3.5


@pytest.mark.parametrize("text", ["", "[1]", "{", "models: {}", "openai/x: {input: 1}", "models: {openai/x: {input: 1, output: free}}"])
def test_a_price_table_that_is_none_is_the_users_error(tmp_path: Path, text: str) -> None:
    (tmp_path / "p").write_text(text)
    with pytest.raises(UserError):
        table(tmp_path / "p")
    with pytest.raises(UserError, match="cannot be read"):
        table(tmp_path / "missing")


@pytest.mark.parametrize(
    "entry",
    [
        {"input": 1.0},
        {"input": 1.0, "output": -1.0},
        {"input": "1", "output": 1.0},
        {"input": 1.0, "output": 1.0, "in": 2},
        {"input": 1.0, "output": 1.0, "long": 3},
        {"input": 1.0, "output": 1.0, "long": {"input": 1.0, "output": 1.0}},
        3,
        None,
    ],
)
def test_bad_override_is_the_users_error(entry: object) -> None:
    with pytest.raises(UserError, match="prices"):
        Prices.load({"openai/x": entry})


@settings(deadline=None, max_examples=50)
@given(st.builds(Rates, RATE, RATE, RATE, RATE, RATE), st.builds(Usage, TOKENS, TOKENS, TOKENS, TOKENS, TOKENS))
def test_upper_bounds_every_split_of_the_tokens(rates: Rates, usage: Usage) -> None:
    double = Rates(*(2 * getattr(rates, kind) for kind in KINDS))
    row = Row("r", "s", rates, long_above=10**6, long=double)
    cost, upper = row.cost(usage), row.upper(usage.total - usage.output, usage.output)
    assert cost is not None
    assert upper is not None
    assert cost <= upper * (1 + 1e-9)


@settings(deadline=None, max_examples=50)
@given(st.builds(Rates, RATE, RATE, RATE, RATE, RATE), st.builds(Usage, *[TOKENS] * 6), st.sampled_from(("standard", "batch")))
def test_parts_add_up_to_the_cost(rates: Rates, usage: Usage, tier: str) -> None:
    row = Row("r", "s", rates, batch=0.5, long_above=10**6, long=Rates(*(3 * getattr(rates, kind) for kind in KINDS)))
    assert sum(part or 0.0 for part in row.parts(usage, tier).values()) == pytest.approx(row.cost(usage, tier))


def test_a_resumed_run_keeps_the_prices_that_it_was_started_with() -> None:
    first = Prices.load({"openai/m": {"input": 1, "output": 2}})
    first.row("openai/m")
    kept = stored(json.loads(json.dumps(first.to_dict())))
    resumed = Prices.load({"openai/m": {"input": 5, "output": 6}}, {"openai/m": kept["openai/m"], "openai/gpt-5": None})
    assert resumed.row("openai/m") == first.row("openai/m")
    assert resumed.row("openai/gpt-5") is None
