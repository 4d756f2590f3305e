"""The audit's totals, re-added from raw lines by arithmetic of the test's own."""

import csv
import io
import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.models.base import Usage
from benchmark.errors import UserError
from experiments import audit
from experiments.runs import Run
from experiments.store import RunStore
from tests.experiments import cli, records

KINDS = ("input", "cache_read", "cache_write_5m", "cache_write_1h", "output")
TASKS = ("quick/add", "quick/gelu")
USAGES = st.builds(Usage, *(st.integers(0, 10**6) for _ in range(6)))
CALLS = st.tuples(
    st.sampled_from(TASKS),
    st.sampled_from(("generator", "reflector", "planner")),
    st.integers(0, 3),
    st.none() | USAGES,
    st.none() | st.integers(0, 99),
)
Call = tuple[str, str, int, Usage | None, int | None]


def make_run(path: Path, calls: list[Call], solved: tuple[str, ...] = TASKS[:1]) -> Run:
    asked = {"tasks": {task: {} for task in TASKS}, "seeds": [0]}
    store = RunStore.create(path, "seed: 0\n", {"asked": asked, "scaffold": {"name": "geak"}, "model": "openai/x"}, {})
    for task, role, round, usage, cents in calls:
        cost, bound = (None, 1.0) if cents is None else (cents / 100, cents / 100)
        source, outcome = ("provider", "ok") if usage else ("unknown", "timeout")
        changes = {"usage": usage, "usage_source": source, "outcome": outcome, "cost_usd": cost, "cost_upper": bound}
        record = records.call(f"{task}@0", role, round, **changes)
        store.write_call(record)
    for task in TASKS:
        won = task in solved
        store.write_attempt(records.attempt(f"{task}@0", verdict="pass" if won else "wrong_numeric"))
        store.write_trajectory(records.trajectory(f"{task}@0", champion="000.00.00" if won else None))
    store.close()
    return Run(path)


def added(path: Path, group: str) -> dict[str, dict[str, float]]:
    """Sums by role or task, straight from the lines."""
    sums: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for text in (path / "calls.jsonl").read_text().splitlines():
        line = json.loads(text)
        name = line["identity"]["role"] if group == "role" else line["identity"]["trajectory"].split("@")[0]
        sums[name]["tries"] += 1
        sums[name]["usd"] += line["cost_usd"] or 0
        for kind in KINDS:
            sums[name][kind] += line["usage"][kind] if line["usage"] else 0
    return sums


@settings(max_examples=25, deadline=None)
@given(st.lists(CALLS, max_size=12))
def test_every_total_can_be_added_up_from_the_lines(tmp_path_factory: pytest.TempPathFactory, calls: list[Call]) -> None:
    path = tmp_path_factory.mktemp("audit") / "r"
    report = audit.audit(make_run(path, calls))
    for group, rows in (("role", report["roles"]), ("task", report["tasks"])):
        expected = added(path, group)
        assert {name for name, row in rows.items() if row["tries"]} == set(expected)
        for name, row in rows.items():
            for key in ("tries", *KINDS):
                assert row[key] == expected[name][key]
            assert row["usd"] == pytest.approx(expected[name]["usd"])
            assert row["tokens"] == sum(expected[name][kind] for kind in KINDS)
    assert report["total"]["tokens"] == sum(row["tokens"] for row in report["roles"].values())
    for task, roles in report["pairs"].items():
        assert report["tasks"][task]["tokens"] == sum(row["tokens"] for row in roles.values())
    assert report["total"]["tries_without_usage"] == sum(usage is None for _, _, _, usage, _ in calls)


def test_tokens_per_success_charge_failures_and_reflections(tmp_path: Path) -> None:
    calls = [("quick/add", "generator", 0, Usage(input=10), 1), ("quick/add", "reflector", 1, Usage(output=5), 1)]
    failed = [("quick/gelu", "generator", 0, Usage(input=100), 1)]
    report = audit.audit(make_run(tmp_path / "r", [*calls, *failed]))
    assert report["tasks"]["quick/add"]["tokens_per_success"] == 15
    assert report["tasks"]["quick/gelu"]["tokens_per_success"] is None
    assert report["total"]["tokens_per_success"] == 115
    assert [report["roles"][role]["tokens_per_success"] for role in ("generator", "reflector")] == [110, 5]


def test_tasks_that_were_asked_and_never_answered_stand_in_the_denominator(tmp_path: Path) -> None:
    report = audit.audit(make_run(tmp_path / "r", [("quick/add", "generator", 0, Usage(input=1), 1)]))
    assert (report["total"]["asked"], report["total"]["solved"]) == (2, 1)
    assert report["tasks"]["quick/gelu"]["calls"] == 0


def test_unknown_usage_and_cost_are_never_shown_as_numbers(tmp_path: Path) -> None:
    run = make_run(tmp_path / "r", [("quick/add", "generator", 0, None, None)])
    row = next(line for line in audit.table(audit.audit(run)).splitlines() if line.startswith("generator"))
    assert row.split()[3] == "unknown"
    assert "$ unknown" in row
    assert "1 tries did not tell their usage" in audit.table(audit.audit(run))


def test_a_sum_over_unknowns_says_at_least(tmp_path: Path) -> None:
    run = make_run(tmp_path / "r", [("quick/add", "generator", 0, Usage(input=1234), 50), ("quick/add", "generator", 1, None, None)])
    text = audit.markdown(audit.audit(run))
    assert "| >=1,234 |" in text
    assert "| >=$0.50 |" in text
    assert "at most $1.5000 in all" in text


def test_csv_and_json_hold_the_same_rows(tmp_path: Path) -> None:
    report = audit.audit(make_run(tmp_path / "r", [("quick/add", "generator", 0, Usage(input=3, output=4), 1)]))
    rows = {(row["by"], row["task"], row["role"]): row for row in csv.DictReader(io.StringIO(audit.as_csv(report)))}
    again = json.loads(audit.FORMATS["json"](report))
    assert rows["role", "", "generator"]["tokens"] == str(again["roles"]["generator"]["tokens"]) == "7"
    assert rows["pair", "quick/add", "generator"]["tokens"] == str(again["pairs"]["quick/add"]["generator"]["tokens"]) == "7"
    assert rows["task", "quick/gelu", ""]["tokens_per_success"] == ""


def test_a_torn_line_is_left_out_and_said(tmp_path: Path) -> None:
    path = make_run(tmp_path / "r", [("quick/add", "generator", n, Usage(input=1), 1) for n in range(2)]).path
    (path / "calls.jsonl").write_bytes((path / "calls.jsonl").read_bytes()[:-5])
    report = audit.audit(Run(path))
    assert report["total"]["tries"] == 1
    assert "dropped a torn last line of calls.jsonl" in audit.table(report)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["runn=x"], "Did you mean 'run'"),
        (["run=x", "format=xml"], "Choose one of: csv, json, md, table"),
        ([], "Name the run"),
    ],
)
def test_wrong_words_are_a_sentence(words: list[str], message: str) -> None:
    with pytest.raises(UserError, match=message):
        audit.options(words)


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_reader_who_leaves_is_no_error(tmp_path: Path, unbuffered: str) -> None:
    path = make_run(tmp_path / "r", [("quick/add", "generator", 0, Usage(input=3), 1)]).path
    assert cli.unread(sys.executable, "-m", "experiments.audit", f"run={path}", env={"PYTHONUNBUFFERED": unbuffered}) == (0, "")


def test_the_command_reads_a_run_without_torch(tmp_path: Path) -> None:
    path = make_run(tmp_path / "r", [("quick/add", "generator", 0, Usage(input=3), 1)]).path
    code = f"""
import sys
sys.argv = ["audit", "run={path}"]
from experiments import audit
sys.exit(audit.main() or "torch" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0
    assert "quick/add" in done.stdout
    assert subprocess.run([sys.executable, "-m", "experiments.audit", f"run={tmp_path}"], capture_output=True, text=True).returncode == 2
