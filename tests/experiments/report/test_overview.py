"""The head of the page, again by SQL from the raw lines."""

from random import Random

import pytest

from experiments.report import overview, tasks
from experiments.report.texts import Shelf
from experiments.report.trajectories import Reader
from experiments.runs import Run
from tests.experiments.analysis.rounds import drawn, lines, run

KEYS = ("method", "asked", "solved", "compiled", "attempts", "calls", "tokens", "tokens_unknown", "usd", "speedup_solved", "speedup_all")
SQL = """
WITH standing AS (
  SELECT q.method, a.speedup, a.attempt IS NOT NULL AS solved,
    (SELECT count(*) FROM attempts x WHERE x.run = q.run AND x.trajectory = q.trajectory) AS attempts,
    (SELECT count(*) > 0 FROM attempts x WHERE x.run = q.run AND x.trajectory = q.trajectory AND x.compiled) AS compiled
  FROM asked q LEFT JOIN trajectories t ON t.run = q.run AND t.trajectory = q.trajectory
  LEFT JOIN attempts a ON a.run = t.run AND a.trajectory = t.trajectory AND a.attempt = t.champion),
spent AS (
  SELECT method, count(DISTINCT (run, call_id)) AS calls, count(*) FILTER (usage IS NULL)::INT AS tokens_unknown,
    sum(usage.input + usage.output + usage.cache_read + usage.cache_write_5m + usage.cache_write_1h)::INT AS tokens, sum(cost_usd) AS usd
  FROM calls JOIN (SELECT DISTINCT run, method FROM asked) USING (run) GROUP BY method)
SELECT method, count(*), count(*) FILTER (solved), count(*) FILTER (compiled), sum(attempts)::INT, any_value(calls), any_value(tokens),
  any_value(tokens_unknown), any_value(usd), exp(avg(ln(speedup)) FILTER (solved)), exp(avg(CASE WHEN solved THEN ln(speedup) ELSE 0 END))
FROM standing JOIN spent USING (method) GROUP BY method ORDER BY method
"""


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Run]:
    folder, random = tmp_path_factory.mktemp("runs"), Random(6)
    return [run(folder / f"{name}{seed}", drawn(random, 12, 2, failing=0.7, unknown=0.2), scaffold=name, seed=seed, open_=2)
            for name in ("evolve", "geak") for seed in (0, 1)]  # fmt: skip


def head(runs: list[Run]) -> overview.Overview:
    names = [run.environment["scaffold"]["name"] for run in runs]
    return overview.overview(
        runs, [row for run, name in zip(runs, names, strict=True) for row in tasks.rows(run, Reader(run, Shelf()), name)]
    )


def test_methods_by_sql(runs: list[Run]) -> None:
    found = [tuple(method[key] for key in KEYS) for method in head(runs).methods]
    wanted = lines(runs).execute(SQL).fetchall()
    assert found == [tuple(pytest.approx(value) if isinstance(value, float) else value for value in row) for row in wanted]


def test_totals_are_the_sums_of_the_methods(runs: list[Run]) -> None:
    shown = head(runs)
    asked, solved, attempts = (sum(method[key] for method in shown.methods) for key in ("asked", "solved", "attempts"))
    assert shown.totals[:2] == [("solved", f"{solved} of {asked}"), ("attempts", f"{attempts:,}")]
    assert dict(shown.totals)["tokens"].startswith(">=")
