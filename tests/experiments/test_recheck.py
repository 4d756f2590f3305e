"""`check=true`: agrees with the audit on every honest run, and names the line of every number that was changed."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.models.base import Usage
from agents.prices import Rates, Row
from experiments.recheck import recheck
from experiments.runs import Run
from experiments.totals import audit
from tests.experiments import paid
from tests.experiments.books import MODEL, RATES, Call, book
from tests.experiments.test_totals import CALLS


def checked(*paths: Path, rows: dict[str, Row] | None = None) -> list[str]:
    report = audit([Run(path) for path in paths], rows)
    return list(recheck(report, paths, rows or {})["differences"])


@settings(max_examples=25, deadline=None)
@given(CALLS, st.sampled_from(("standard", "batch", "priority")), st.booleans(), st.booleans())
def test_both_ways_agree_on_any_records(
    tmp_path_factory: pytest.TempPathFactory, calls: list[Call], tier: str, half: bool, long: bool
) -> None:
    path = tmp_path_factory.mktemp("check")
    prices = {MODEL: {**RATES, **({"batch": 0.5} if half else {}), **({"long": {**RATES, "output": 70.0, "above": 10**6}} if long else {})}}
    runs = [book(path / name, calls, solved=solved, prices=prices, tier=tier) for name, solved in (("a", ("quick/add",)), ("b", ()))]
    assert checked(*(run.path for run in runs)) == []


@pytest.mark.parametrize("model", ["openai/m", "anthropic/m"])
def test_a_paid_run_with_every_fault_adds_up_both_ways(tmp_path: Path, model: str) -> None:
    run, _ = paid.run(tmp_path / "r", model)
    assert checked(run.path) == []
    assert (
        checked(run.path, rows={model: Row("new", "a page", Rates(1.0, 2.0, 3.0, 4.0, 5.0), long_above=10, long=Rates(9, 9, 9, 9, 9))})
        == []
    )


def test_a_run_without_prices_adds_up_both_ways(tmp_path: Path) -> None:
    assert checked(paid.run(tmp_path / "r", prices={})[0].path) == []


def change(path: Path, number: int, edit: Callable[[dict[str, Any]], object]) -> None:
    """Edits one line of a file of records."""
    lines = path.read_text().splitlines(keepends=True)
    record = json.loads(lines[number])
    edit(record)
    lines[number] = json.dumps(record) + "\n"
    path.write_text("".join(lines))


@pytest.mark.parametrize(
    ("edit", "sentence"),
    [
        (lambda line: line["usage"].update(cache_read=999), "usage.cache_read is 999, usage_raw says 20"),
        (lambda line: line["usage_raw"].update(output=50), "usage.output is 30, usage_raw says 50"),
        (lambda line: line.update(cost_usd=1.0), "cost_usd is 1.0, usage_raw times prices.json is"),
        (lambda line: line.update(price_row="another"), "valued by another, its row in prices.json is config:openai/m"),
        (lambda line: line.update(**{"try": 3}), "has tries [3], not one line for each"),
        (lambda line: line.update(reply_sha="0" * 64), "its reply 0000"),
    ],
)
def test_a_changed_line_is_named(tmp_path: Path, edit: Callable[[dict[str, Any]], object], sentence: str) -> None:
    path = book(tmp_path / "r", [("quick/add", "generator", n, Usage(input=10, cache_read=20, output=30)) for n in range(3)]).path
    change(path / "calls.jsonl", 1, edit)
    found = checked(path)
    assert any(sentence in text and ("calls.jsonl line 2 " in text or "quick/add@0/generator/1" in text) for text in found), found


def test_a_line_that_was_written_twice_is_found(tmp_path: Path) -> None:
    path = book(tmp_path / "r", [("quick/add", "generator", 0, Usage(input=10))]).path
    (path / "calls.jsonl").write_text((path / "calls.jsonl").read_text() * 2)
    assert any("has tries [1, 1]" in text for text in checked(path))


def test_totals_of_trajectories_and_attempts_are_held_against_the_lines(tmp_path: Path) -> None:
    path = book(tmp_path / "r", [("quick/add", "generator", 0, Usage(input=10))]).path
    change(path / "trajectories.jsonl", 0, lambda line: line.update(totals={"tokens": 11, "tries": 1, "usd": 10e-6}))
    change(path / "attempts.jsonl", 0, lambda line: line.update(tokens=12, calls=["quick/add@0/generator/0/0/0"]))
    assert checked(path) == [
        "r: trajectories.jsonl line 1 (quick/add@0): tokens is 11, its lines 1 say 10",
        "r: attempts.jsonl line 1 (000.00.00): tokens is 12, its lines 1 say 10",
    ]


def test_a_wrong_total_names_its_lines(tmp_path: Path) -> None:
    path = book(tmp_path / "r", [("quick/add", "generator", n, Usage(input=10)) for n in range(2)]).path
    report = audit([Run(path)])
    report["by"]["role"]["generator"]["usd_at_least"] += 1.0
    report["total"]["of_which"]["failed"]["tokens_at_least"] = 1
    report["by"]["category"]["Math"]["tries"] = 3
    found = recheck(report, [path], {})["differences"]
    assert [text.partition(" is ")[0] for text in found if "categories" not in text] == [
        "total, failed: tokens_at_least",
        "role generator: usd_at_least",
    ]
    assert any("lines 1, 2 say" in text for text in found)
    assert any(text.startswith("categories: tries adds up to 3") for text in found)


def test_a_replayed_run_adds_up_both_ways_at_no_cost(tmp_path: Path) -> None:
    for model in ("openai/m", "anthropic/m"):
        source, _ = paid.run(tmp_path / model.replace("/", "-"), model)
        again = paid.replay(tmp_path / f"{model.partition('/')[0]}-again", source)
        assert checked(again.path) == []
        report = audit([again])["total"]
        assert report["of_which"]["replayed"]["tries"] == report["tries"] == 12
        assert report["usd"] == 0.0
        assert report["tokens_at_least"] == audit([source])["total"]["tokens_at_least"] > 0


def test_a_forked_run_adds_up_both_ways(tmp_path: Path) -> None:
    run, _ = paid.run(tmp_path / "r")
    before = audit([run])["total"]["tries"]
    forked = paid.fork(run.path)
    assert checked(forked.path) == []
    report = audit([forked])["total"]
    assert (report["calls"], report["tries"]) == (24, before + 12)
