"""Cost per success: by SQL from the raw lines, and as the audit has it."""

from pathlib import Path
from random import Random

import polars as pl
import pytest

from experiments.analysis.cost import per_success
from experiments.analysis.frames import load
from experiments.runs import Run
from experiments.totals import audit
from tests.experiments.analysis.rounds import Candidate, drawn, lines, run

FAILED = Candidate("wrong_numeric")
SQL = """
WITH tries AS (
  SELECT q.method, q.category, c.cost_usd IS NULL AS open, coalesce(c.usage.input + c.usage.output, 0) AS tokens,
    coalesce(c.tokens_upper, c.usage.input + c.usage.output) AS tokens_most, coalesce(c.cost_usd, 0) AS usd,
    coalesce(c.cost_usd, c.cost_upper) AS usd_most
  FROM calls c JOIN asked q ON q.run = c.run AND q.trajectory = c.identity.trajectory),
standing AS (
  SELECT q.method, q.category, t.champion IS NOT NULL AS solved
  FROM asked q LEFT JOIN trajectories t ON t.run = q.run AND t.trajectory = q.trajectory),
spent AS (SELECT method, category, sum(tokens) AS tokens, sum(tokens_most) AS tokens_most, sum(usd) AS usd, sum(usd_most) AS usd_most,
  count(*) FILTER (open) AS open FROM tries GROUP BY GROUPING SETS ((method), (method, category))),
won AS (SELECT method, category, count(*) AS asked, count(*) FILTER (solved) AS solved
  FROM standing GROUP BY GROUPING SETS ((method), (method, category)))
SELECT method, won.category, 'tokens' AS unit, solved, asked, tokens / solved, tokens_most / solved, open
FROM won JOIN spent USING (method) WHERE won.category IS NOT DISTINCT FROM spent.category
UNION ALL SELECT method, won.category, 'usd', solved, asked, usd / solved, usd_most / solved, open
FROM won JOIN spent USING (method) WHERE won.category IS NOT DISTINCT FROM spent.category
"""


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Run]:
    folder, random = tmp_path_factory.mktemp("runs"), Random(3)
    shares = {"geak": 0.0, "evolve": 0.2}
    return [run(folder / name, drawn(random, 20, 3, 0.7, unknown), scaffold=name, open_=2) for name, unknown in shares.items()]


def test_by_sql(runs: list[Run]) -> None:
    theirs = {row[:3]: row[3:] for row in lines(runs).execute(SQL).fetchall()}
    table = per_success(load(runs))
    assert table.height == len(theirs) == 12
    for row in table.select("method", "category", "unit", "count", "asked", "low", "high", "unknown").rows():
        assert list(row[3:]) == pytest.approx(list(theirs[row[:3]]))


def test_equals_the_audit(runs: list[Run]) -> None:
    """Of each run, in all and by category."""
    table = per_success(load(runs))
    for one in runs:
        report = audit([one])
        rows = {None: report["total"], **report["by"]["category"]}
        own = table.filter(pl.col("method") == one.environment["scaffold"]["name"])
        assert set(own["category"]) == set(rows)
        for row in own.iter_rows(named=True):
            wanted, unit = rows[row["category"]], row["unit"]
            ends = ("_per_success", "_at_least_per_success", "_at_most_per_success", "_at_least", "_at_most")
            names = [unit + end for end in ends]
            assert [row[key] for key in ("value", "low", "high", "spent_at_least", "spent_at_most")] == [
                None if wanted[name] is None else pytest.approx(wanted[name]) for name in names
            ]
            assert (row["count"], row["asked"]) == (wanted["solved"], wanted["asked"])


def test_failures_are_charged(tmp_path: Path) -> None:
    frames = load([run(tmp_path / "r", {"quick/a": [[Candidate(speedup=2.0)]], "quick/b": [[FAILED, FAILED, FAILED]]})])
    usd = per_success(frames).filter(pl.col("category").is_null(), pl.col("unit") == "usd")
    assert usd["value"].item() == pytest.approx(6 * 0.25)


def test_nothing_solved_has_no_cost_per_success_but_has_a_cost(tmp_path: Path) -> None:
    row = per_success(load([run(tmp_path / "r", {"quick/a": [[FAILED]]})])).row(0, named=True)
    assert (row["value"], row["low"], row["count"], row["note"]) == (None, None, 0, "nothing solved")
    assert row["spent_at_least"] == 24


def test_without_a_bound_the_upper_end_is_unknown(tmp_path: Path) -> None:
    frames = load([run(tmp_path / "r", {"quick/a": [[Candidate(speedup=2.0, known=False, bounded=False)]]})])
    row = per_success(frames).filter(pl.col("unit") == "tokens").row(0, named=True)
    assert (row["value"], row["low"], row["high"], row["unknown"]) == (None, 12.0, None, 1)
