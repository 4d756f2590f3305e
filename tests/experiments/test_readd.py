"""A stranger's script, without any of our code, comes to the audit's totals; and corrected prices change money alone."""

import ast
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from experiments.layout import FORMATS
from experiments.runs import Run
from experiments.totals import audit
from tests.experiments import cli, paid
from tests.servers.wire import WireServer

SCRIPT = cli.ROOT / "benchmarks" / "readd.py"


def readd(run: Path, tmp_path: Path, report: dict[str, Any]) -> "subprocess.CompletedProcess[str]":
    (tmp_path / "report.json").write_text(FORMATS["json"](report))
    return subprocess.run(
        [sys.executable, "-S", str(SCRIPT), str(run), str(tmp_path / "report.json")], capture_output=True, text=True, env={}
    )


def test_the_script_is_short_and_imports_nothing_of_ours() -> None:
    text = SCRIPT.read_text()
    names = {n.name for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Import) for n in node.names}
    names |= {str(node.module) for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ImportFrom)}
    assert names <= set(sys.stdlib_module_names)
    assert len(text.splitlines()) <= 60


@pytest.mark.parametrize("model", ["openai/m", "anthropic/m"])
def test_it_comes_to_the_audits_totals_of_a_paid_run(tmp_path: Path, model: str) -> None:
    run, _ = paid.run(tmp_path / "r", model)
    report = audit([run])
    done = readd(run.path, tmp_path, report)
    assert (done.returncode, done.stderr) == (0, "")
    for by in ("role", "trajectory", "task"):
        for name, row in report["by"][by].items():
            assert f"{by} {name}: {row['tokens_at_least']} tokens, ${row['usd_at_least']:.6f}\n" in done.stdout


def test_it_finds_a_wrong_total(tmp_path: Path) -> None:
    run, _ = paid.run(tmp_path / "r")
    report = audit([run])
    report["by"]["trajectory"]["quick/add@0"]["usd_at_least"] += 1e-6
    done = readd(run.path, tmp_path, report)
    assert done.returncode == 3
    assert "trajectory quick/add@0: " in next(line for line in done.stdout.splitlines() if "the report says" in line)


MONEY = ("usd", "at_cost", "without_cost")
"""What a price may change."""


def tokens_only(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: tokens_only(item) for key, item in value.items() if not any(word in key for word in MONEY)}
    return [tokens_only(item) for item in value] if isinstance(value, list) else value


def test_other_prices_change_money_alone_and_need_no_litellm(tmp_path: Path) -> None:
    run, _ = paid.run(tmp_path / "r")
    before = {path: path.read_bytes() for path in run.path.rglob("*") if path.is_file()}
    table = tmp_path / "table.json"
    table.write_text(json.dumps({"models": {"openai/m": {kind: 3 * rate for kind, rate in paid.RATES.items() if kind != "batch"}}}))
    code = f"""
import sys
sys.argv = ["audit", "run={run.path}", "prices={table}", "format=json", "check=true"]
sys.modules["litellm"] = None  # Its import would fail.
from agents import prices
prices.bundled = None  # So would reading its map.
from experiments import audit
sys.exit(audit.main())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=cli.ROOT)
    assert (done.returncode, done.stderr) == (0, "")
    new, old = json.loads(done.stdout), json.loads(FORMATS["json"](audit([Run(run.path)])))
    for report in (new, old):
        report.pop("check", None)
        report.pop("revalued")
        assert report["runs"][0].pop("prices").keys() == {"openai/m"}
    assert tokens_only(new) == tokens_only(old)
    for key in ("usd_at_least", "usd_at_most"):
        assert new["total"][key] == pytest.approx(3 * old["total"][key])
    assert {path: path.read_bytes() for path in run.path.rglob("*") if path.is_file()} == before


@pytest.mark.slow
@pytest.mark.parametrize("which", ["templates", "wire"])
def test_real_runs_add_up_both_ways(tmp_path: Path, which: str) -> None:
    words = ["scaffold=geak", "rounds=2", "benchmark.limit=2", "executor.device=simulated", "run_id=r", f"runs_dir={tmp_path}"]
    with WireServer(usage=paid.every_kind, faults=paid.everything_goes_wrong) as server:
        prices = "prices={openai/local:{input:2,cache_read:0.2,cache_write_5m:2.5,output:10}}"
        asking = [*cli.asking(server, tmp_path), prices] if which == "wire" else []
        done = cli.run(*words, *asking)
    assert done.returncode == 0, done.stderr
    command = [sys.executable, "-m", "experiments.audit", f"run={tmp_path / 'r'}", "check=true", "format=json"]
    told = subprocess.run(command, capture_output=True, text=True, cwd=cli.ROOT)
    report = json.loads(told.stdout)
    assert (told.returncode, report["check"]["differences"]) == (0, [])
    assert report["total"]["tries"] == (len(server.requests) if which == "wire" else report["total"]["calls"]) > 0
    assert readd(tmp_path / "r", tmp_path, report).returncode == 0
