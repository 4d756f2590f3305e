"""The command: its words, its forms and its exit codes."""

import csv
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from agents.models.base import Usage
from agents.prices import Rates, Row
from benchmark.errors import UserError
from experiments import audit, keys, layout, totals
from experiments.runs import Run
from tests.experiments import cli, paid
from tests.experiments.books import book

ONE = [("quick/add", "generator", 0, Usage(input=3, output=4))]


def command(*words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([sys.executable, "-m", "experiments.audit", *words], capture_output=True, text=True, cwd=cli.ROOT)


def test_unknown_usage_and_cost_are_never_shown_as_numbers(tmp_path: Path) -> None:
    report = totals.audit([book(tmp_path / "r", [("quick/add", "generator", 0, None)], prices={})])
    row = next(line for line in layout.FORMATS["table"](report).splitlines() if line.startswith("generator"))
    assert row.split()[9:12] == ["<=900", "unknown", "1/2"]
    text = layout.FORMATS["table"](report)
    assert "1 tries without a known cost: usd are at least $0.00, at most unknown; nothing bounds them." in text
    assert "1 tries without a known usage: tokens are at least 0, at most 900; 100.0% of the upper bound is estimated." in text


def test_a_sum_over_unknowns_says_at_least_and_at_most(tmp_path: Path) -> None:
    run = book(tmp_path / "r", [("quick/add", "generator", 0, Usage(input=1234)), ("quick/add", "generator", 1, None)])
    text = layout.FORMATS["md"](totals.audit([run]))
    assert "| >=1,234, <=2,134 | >=$0.0012, <=$0.0038 |" in text


def test_the_prices_of_every_model_are_told(tmp_path: Path) -> None:
    runs = [book(tmp_path / "a", ONE), book(tmp_path / "b", ONE, prices={}, model="openai/nobody-knows"),
            book(tmp_path / "c", ONE, prices={}, model="openai/gpt-5")]  # fmt: skip
    text = layout.FORMATS["table"](totals.audit(runs, {"openai/m": Row("new", "a page", Rates(), date="2026-12-01")}))
    assert "prices of openai/m: a page, 2026-12-01\n" in text
    assert "prices of openai/nobody-knows: unknown\n" in text
    assert "prices of openai/gpt-5: https://developers.openai.com/api/docs/pricing, 2026-11-30\n" in text
    assert "valued anew: openai/m\n" in text


def test_csv_and_json_hold_the_same_rows(tmp_path: Path) -> None:
    report = totals.audit([book(tmp_path / "r", ONE)])
    rows = {(row["by"], row["name"], row["task"], row["role"]): row for row in csv.DictReader(io.StringIO(layout.FORMATS["csv"](report)))}
    again = json.loads(layout.FORMATS["json"](report))
    assert rows["role", "generator", "", ""]["tokens"] == str(again["by"]["role"]["generator"]["tokens"]) == "7"
    assert rows["pair", "", "quick/add", "generator"]["tokens"] == str(again["pairs"]["quick/add"]["generator"]["tokens"]) == "7"
    assert rows["task", "quick/gelu", "", ""]["tokens_per_success"] == ""
    assert rows["total", "", "", ""]["failed_tries"] == str(again["total"]["of_which"]["failed"]["tries"])


def test_every_form_shows_every_role_and_task(tmp_path: Path) -> None:
    report = totals.audit([paid.run(tmp_path / "r")[0]])
    for form, write in layout.FORMATS.items():
        text = write(report)
        assert all(name in text for name in (*paid.ROLES, *paid.TASKS, *paid.TASKS.values())), form


def test_a_torn_line_is_left_out_and_said(tmp_path: Path) -> None:
    path = book(tmp_path / "r", [("quick/add", "generator", n, Usage(input=1)) for n in range(2)]).path
    (path / "calls.jsonl").write_bytes((path / "calls.jsonl").read_bytes()[:-5])
    report = totals.audit([Run(path)])
    assert report["total"]["tries"] == 1
    assert "dropped a torn last line of calls.jsonl" in layout.FORMATS["table"](report)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["runn=x"], "Did you mean 'run'"),
        (["run=x", "format=xml"], "Choose one of: csv, json, md, table"),
        (["run=x", "check=yes"], "Choose one of: false, true"),
        (["run=x", "check=true", "reconcile=f"], "one after the other"),
        ([], "Name the run"),
        (["run=x", "runs=[x]"], "Name the run"),
    ],
)
def test_wrong_words_are_a_sentence(words: list[str], message: str) -> None:
    with pytest.raises(UserError, match=message):
        keys.runs(audit.options(words), "experiments.audit")


def test_one_run_cannot_be_counted_twice(tmp_path: Path) -> None:
    path = book(tmp_path / "r", ONE).path
    with pytest.raises(UserError, match="different run directories"):
        keys.runs({"runs": f"[{path},{path.parent}/r]"}, "experiments.audit")


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_reader_who_leaves_is_no_error(tmp_path: Path, unbuffered: str) -> None:
    path = book(tmp_path / "r", ONE).path
    assert cli.unread(sys.executable, "-m", "experiments.audit", f"run={path}", env={"PYTHONUNBUFFERED": unbuffered}) == (0, "")


def test_the_command_reads_a_run_without_torch_or_a_providers_sdk(tmp_path: Path) -> None:
    path = book(tmp_path / "r", ONE).path
    table = tmp_path / "table.json"
    table.write_text('{"models": {"openai/m": {"input": 2, "output": 2}}}')
    code = f"""
import sys
sys.argv = ["audit", "run={path}", "check=true", "prices={table}"]
from experiments import audit
heavy = ("torch", "litellm", "openai", "anthropic", "langgraph")
sys.exit(audit.main() or [name for name in heavy if name in sys.modules] or 0)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "quick/add" in done.stdout


def test_no_run_is_exit_code_2_and_a_failed_check_3(tmp_path: Path) -> None:
    assert command(f"run={tmp_path}").returncode == 2
    path = book(tmp_path / "r", ONE).path
    (path / "calls.jsonl").write_text((path / "calls.jsonl").read_text().replace('"input": 3', '"input": 4', 1))
    done = command(f"run={path}", "check=true")
    assert done.returncode == 3
    assert "calls.jsonl line 1" in done.stdout
    assert command(f"run={path}").returncode == 0


def test_a_reconciliation_with_differences_is_exit_code_3(tmp_path: Path) -> None:
    path = book(tmp_path / "r", ONE).path
    export = tmp_path / "usage.csv"
    export.write_text("start_time,end_time,model,num_model_requests,input_tokens,output_tokens\n1,2,x-1,1,3,4\n")
    assert command(f"run={path}", f"reconcile={export}").returncode == 0
    export.write_text("start_time,end_time,model,num_model_requests,input_tokens,output_tokens\n1,2,x-1,1,3,5\n")
    assert command(f"run={path}", f"reconcile={export}").returncode == 3
