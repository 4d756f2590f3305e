"""Rates, again by SQL from the raw lines."""

from pathlib import Path
from random import Random
from typing import Any

import duckdb
import polars as pl
import pytest

from experiments.analysis import rates
from experiments.analysis.frames import Frames, load
from tests.experiments.analysis.rounds import Candidate, drawn, lines, run

Both = tuple[Frames, duckdb.DuckDBPyConnection]
LAST = """
CREATE TABLE ended AS SELECT run, trajectory, arg_max(champion, "end") AS champion FROM trajectories GROUP BY ALL;
CREATE TABLE outcomes AS
SELECT q.method, q.run, q.trajectory, q.category,
  coalesce((SELECT bool_or(compiled) FROM attempts a WHERE a.run = q.run AND a.trajectory = q.trajectory), false) AS compiled,
  coalesce((SELECT bool_or(correct) FROM attempts a WHERE a.run = q.run AND a.trajectory = q.trajectory), false) AS correct,
  (SELECT count(*) > 0 FROM ended e WHERE e.run = q.run AND e.trajectory = q.trajectory AND e.champion IS NOT NULL) AS solved
FROM asked q
"""
WILSON = """
  (({k} + 1.920729) / {n} - 1.959964 * sqrt({k}::DOUBLE * ({n} - {k}) / {n} + 0.960365) / {n}) / (1 + 3.841459 / {n})"""


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Both:
    folder, random = tmp_path_factory.mktemp("runs"), Random(3)
    runs = [run(folder / f"{name}{seed}", drawn(random, 12, 3, failing=0.8), scaffold=name, seed=seed, open_=2)
            for name in ("geak", "evolve") for seed in (0, 1)]  # fmt: skip
    found = lines(runs)
    found.execute(LAST)
    return load(runs), found


def same(ours: pl.DataFrame, columns: str, both: Both, sql: str) -> list[tuple[Any, ...]]:
    """The rows of both, in any order, numbers approximately."""
    wanted = sorted(both[1].execute(sql).fetchall(), key=str)
    found = sorted(ours.select(columns.split()).rows(), key=str)
    assert found == [tuple(pytest.approx(v) if isinstance(v, float) else v for v in row) for row in wanted]
    return wanted


def test_overview_by_sql(both: Both) -> None:
    union = " UNION ALL ".join(
        f"SELECT method, '{o}', count(*), sum({o}::INT)::INT, avg({o}::INT) FROM outcomes GROUP BY method" for o in rates.OUTCOMES
    )
    assert len(same(rates.overview(both[0]), "method outcome count found value", both, union)) == 6


def test_every_interval_of_the_overview_is_wilsons_by_sql(both: Both) -> None:
    union = " UNION ALL ".join(
        f"SELECT method, '{o}', {WILSON.format(k=f'sum({o}::INT)', n='count(*)')} FROM outcomes GROUP BY method" for o in rates.OUTCOMES
    )
    wanted = {(method, outcome): low for method, outcome, low in both[1].execute(union).fetchall()}
    for method, outcome, low in rates.overview(both[0]).select("method", "outcome", "low").rows():
        assert low == pytest.approx(wanted[method, outcome], abs=1e-6)


def test_by_round_by_sql(both: Both) -> None:
    stages = {"compiled": "compiled", "correct": "correct", "solved": "verdict = 'pass'"}
    union = " UNION ALL ".join(
        f"""SELECT q.method, r.round, '{stage}', count(*), count(*) FILTER (EXISTS (
              SELECT 1 FROM attempts a WHERE a.run = q.run AND a.trajectory = q.trajectory AND a.round <= r.round AND a.{truth}))
            FROM asked q, (SELECT DISTINCT scaffold, round FROM attempts) r WHERE r.scaffold = q.method GROUP BY ALL"""
        for stage, truth in stages.items()
    )
    assert len(same(rates.by_round(both[0]), "method round stage count found", both, union)) == 18


def test_verdicts_by_sql(both: Both) -> None:
    sql = """SELECT scaffold, verdict, sum(count(*)) OVER (PARTITION BY scaffold)::INT, count(*),
             count(*) / sum(count(*)) OVER (PARTITION BY scaffold) FROM attempts GROUP BY scaffold, verdict"""
    assert len(same(rates.verdicts(both[0]), "method verdict count found value", both, sql)) == 8


def test_failures_by_sql_with_examples_that_are_of_their_class(both: Both) -> None:
    sql = """SELECT scaffold, stage, verdict, (SELECT count(*) FROM attempts b WHERE b.scaffold = a.scaffold), count(*),
             list_sort(list(concat_ws('/', run, trajectory, attempt)))[:3]
             FROM attempts a WHERE verdict <> 'pass' GROUP BY scaffold, stage, verdict, error_kind"""
    assert len(same(rates.failures(both[0]), "method stage verdict count found examples", both, sql)) == 6


def test_matrix_by_sql(both: Both) -> None:
    sql = "SELECT method, category, count(*), sum(solved::INT)::INT, avg(solved::INT) FROM outcomes GROUP BY method, category"
    assert len(same(rates.matrix(both[0]), "method category count found value", both, sql)) == 4


def test_a_run_in_which_nothing_was_begun_has_solved_none(tmp_path: Path) -> None:
    frames = load([run(tmp_path / "a", {}, open_=4)])
    assert rates.overview(frames).select("outcome", "count", "value").rows() == [(outcome, 4, 0.0) for outcome in rates.OUTCOMES]


def test_a_later_failure_takes_nothing_away(tmp_path: Path) -> None:
    frames = load([run(tmp_path / "a", {"quick/a": [[Candidate(speedup=2.0)], [Candidate("wrong_numeric")]]})])
    assert rates.by_round(frames).filter(pl.col("stage") == "solved").select("round", "value").rows() == [(0, 1.0), (1, 1.0)]
