"""The comparison's figures, recomputed by SQL from the raw lines."""

from random import Random
from typing import Any

import duckdb
import pytest

from experiments.compare import figures
from experiments.runs import Run
from tests.experiments.compared import FAILED, run

STANDING = """
WITH champions AS (
  SELECT t.run, t.trajectory, a.speedup FROM trajectories t JOIN attempts a
  ON a.run = t.run AND a.trajectory = t.trajectory AND a.attempt = t.champion),
standing AS (
  SELECT q.run, q.task, q.seed, c.trajectory IS NOT NULL AS solved, c.speedup
  FROM asked q LEFT JOIN champions c ON c.run = q.run AND c.trajectory = q.task || '@' || q.seed)
"""
METHODS = f"""{STANDING}
SELECT s.run, count(*) FILTER (solved), count(*), avg((solved AND speedup > 1)::int), exp(avg(ln(speedup)) FILTER (solved)),
  exp(avg(CASE WHEN solved THEN ln(speedup) ELSE 0 END)),
  any_value(t.tokens) / count(*) FILTER (solved), any_value(t.usd) / count(*) FILTER (solved)
FROM standing s JOIN (
  SELECT run, sum(usage.input + usage.output + usage.cache_read + usage.cache_write_5m + usage.cache_write_1h) AS tokens,
    sum(cost_usd) AS usd FROM calls GROUP BY run) t ON t.run = s.run
GROUP BY s.run ORDER BY s.run
"""
PAIRS = f"""{STANDING}
SELECT l.run, r.run, count(*), count(*) FILTER (l.solved AND r.solved), count(*) FILTER (l.solved AND NOT r.solved),
  count(*) FILTER (r.solved AND NOT l.solved), exp(avg(ln(l.speedup / r.speedup)) FILTER (l.solved AND r.solved)),
  exp(avg(ln(coalesce(l.speedup, 1) / coalesce(r.speedup, 1))))
FROM standing l JOIN standing r ON l.task = r.task AND l.seed = r.seed AND l.run < r.run
GROUP BY l.run, r.run ORDER BY l.run, r.run
"""


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Run]:
    """Three methods; each is asked a few tasks that others are not, and has one not begun."""
    random, folder = Random(7), tmp_path_factory.mktemp("runs")
    drawn = [[FAILED if random.random() < 0.4 else random.uniform(0.3, 4) for _ in range(30)] for _ in range(3)]
    return [
        run(folder / name, {f"quick/t{i + 2 * k}": speedup for i, speedup in enumerate(values)}, scaffold=name, asked=("quick/open",))
        for k, (name, values) in enumerate(zip("abc", drawn, strict=True))
    ]


@pytest.fixture(scope="module")
def lines(runs: list[Run]) -> duckdb.DuckDBPyConnection:
    found = duckdb.connect()
    for name in ("attempts", "calls", "trajectories"):
        files = [str(one.path / f"{name}.jsonl") for one in runs]
        found.execute(f"CREATE TABLE {name} AS SELECT * FROM read_json_auto({files}, union_by_name=true)")
    rows = [(one.run_id, task, seed) for one in runs for task, seed in one.asked]
    found.execute("CREATE TABLE asked (run VARCHAR, task VARCHAR, seed BIGINT)")
    found.executemany("INSERT INTO asked VALUES (?, ?, ?)", rows)
    return found


def columns(runs: list[Run], name: str, *wanted: str) -> list[tuple[Any, ...]]:
    return next(figure.table for figure in figures(runs) if figure.name == name).select(wanted).rows()


def test_methods(runs: list[Run], lines: duckdb.DuckDBPyConnection) -> None:
    wanted = ("method", "solved", "asked", "fast_1", "geomean_solved", "geomean_all", "tokens_per_solved", "usd_per_solved")
    same(columns(runs, "compare-methods", *wanted), lines.execute(METHODS).fetchall())


def test_pairs(runs: list[Run], lines: duckdb.DuckDBPyConnection) -> None:
    wanted = ("left", "right", "count", "both", "only_left", "only_right", "ratio", "ratio_all")
    same(columns(runs, "compare-pairs", *wanted), lines.execute(PAIRS).fetchall())


def same(ours: list[tuple[Any, ...]], theirs: list[tuple[Any, ...]]) -> None:
    assert len(ours) == len(theirs) == 3
    for one, other in zip(ours, theirs, strict=True):
        assert list(one) == [value if isinstance(value, str) else pytest.approx(value) for value in other]
