"""Anytime curves, again by SQL from the raw lines."""

from itertools import pairwise
from pathlib import Path
from random import Random

import duckdb
import polars as pl
import pytest
from scipy import stats

from experiments.analysis.anytime import AXES, curves
from experiments.analysis.frames import Frames, load
from tests.experiments.analysis.rounds import Candidate, drawn, lines, run

FAILED = Candidate("wrong_numeric")
KNOWN = """
CREATE TABLE known AS
WITH judged AS (
  SELECT a.*, own.end AS seen, sum(a.gpu_s) OVER (PARTITION BY a.run, a.trajectory ORDER BY own.end) AS gpu_so_far
  FROM attempts a JOIN calls own ON own.run = a.run AND own.call_id = a.calls[1])
SELECT j.scaffold AS method, j.run, j.trajectory, j.verdict = 'pass' AS passed, j.speedup, (j.round + 1)::DOUBLE AS rounds,
  sum(c.usage.input + c.usage.output)::DOUBLE AS tokens, sum(c.cost_usd) AS usd, any_value(j.gpu_so_far) AS gpu_s
FROM judged j JOIN calls c ON c.run = j.run AND c.identity.trajectory = j.trajectory AND c.end <= j.seen
GROUP BY j.scaffold, j.run, j.trajectory, j.attempt, j.verdict, j.speedup, j.round
"""
CURVE = """
WITH points AS (SELECT DISTINCT method, {axis} AS x FROM known),
best AS (
  SELECT p.method, p.x, q.run, q.trajectory, count(*) FILTER (k.passed) > 0 AS solved, max(k.speedup) FILTER (k.passed) AS speedup
  FROM points p JOIN asked q ON q.method = p.method
  LEFT JOIN known k ON k.run = q.run AND k.trajectory = q.trajectory AND k.{axis} <= p.x GROUP BY ALL)
SELECT method, x, count(*), avg(solved::INT), avg(ln(coalesce(speedup, 1))), stddev_samp(ln(coalesce(speedup, 1)))
FROM best GROUP BY ALL ORDER BY method, x
"""


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[Frames, duckdb.DuckDBPyConnection]:
    folder, random = tmp_path_factory.mktemp("runs"), Random(5)
    runs = [run(folder / name, drawn(random, 20, 3, failing=0.7), scaffold=name, open_=2) for name in ("geak", "evolve")]
    found = lines(runs)
    found.execute(KNOWN)
    return load(runs), found


@pytest.mark.parametrize("axis", AXES)
def test_curves_by_sql(both: tuple[Frames, duckdb.DuckDBPyConnection], axis: str) -> None:
    rows = both[1].execute(CURVE.format(axis=axis)).fetchall()
    theirs = pl.DataFrame(rows, schema=["method", "x", "n", "share", "mean", "sd"], orient="row").sort("x")
    ours = curves(both[0], axis).sort("at")
    for measure, value in (("solved", pl.col("share")), ("geomean", pl.col("mean").exp())):
        wanted = theirs.select("method", "n", "mean", "sd", at=pl.col("x") + 1e-9, wanted=value)
        joined = wanted.join_asof(ours.filter(pl.col("measure") == measure), on="at", by="method", check_sortedness=False)
        assert joined["n"].to_list() == joined["count"].to_list()
        assert joined["value"].to_list() == pytest.approx(joined["wanted"].to_list())
        if measure == "geomean":
            half = joined["sd"] / joined["n"].sqrt() * stats.t.ppf(0.975, 21)
            assert joined["low"].to_list() == pytest.approx((joined["mean"] - half).exp().to_list())
            assert joined["high"].to_list() == pytest.approx((joined["mean"] + half).exp().to_list())


@pytest.mark.parametrize("axis", AXES)
def test_curves_begin_at_nothing_and_never_fall(both: tuple[Frames, duckdb.DuckDBPyConnection], axis: str) -> None:
    for (method,), part in curves(both[0], axis).filter(pl.col("measure") == "solved").group_by("method"):
        assert part.select("at", "value").row(0) == (0.0, 0.0)
        assert all(a <= b for a, b in pairwise(part["value"]))
        solved = both[0].asked.filter(pl.col("method") == method)["solved"]
        assert part["value"][-1] == pytest.approx(solved.mean())


def test_the_last_row_is_where_the_dearest_trajectory_ended(tmp_path: Path) -> None:
    frames = load([run(tmp_path / "r", {"quick/a": [[Candidate(speedup=2.0)], [FAILED]], "quick/b": [[FAILED], [FAILED], [FAILED]]})])
    curve = curves(frames, "rounds").filter(pl.col("measure") == "solved")
    assert curve.select("at", "value").rows() == [(0.0, 0.0), (1.0, 0.5), (3.0, 0.5)]


def test_a_pass_without_a_measurement_leaves_the_mean_unknown(tmp_path: Path) -> None:
    frames = load([run(tmp_path / "r", {"quick/a": [[FAILED], [Candidate()], [Candidate(speedup=2.0)]]})])
    curve = curves(frames, "rounds").filter(pl.col("measure") == "geomean")
    assert curve.select("at", "value").rows() == [(0.0, 1.0), (2.0, None), (3.0, pytest.approx(2.0))]


def test_a_slow_pass_lowers_the_mean_below_a_failure(tmp_path: Path) -> None:
    frames = load([run(tmp_path / "r", {"quick/a": [[Candidate(speedup=0.25)]], "quick/b": [[FAILED]]})])
    assert curves(frames, "rounds").filter(pl.col("measure") == "geomean")["value"][-1] == pytest.approx(0.5)


def test_simulated_methods_have_modelled_means_only(tmp_path: Path) -> None:
    frames = load([run(tmp_path / "r", {"quick/a": [[Candidate(speedup=4.0)]]}, simulated=True)])
    table = curves(frames, "rounds")
    assert table.filter(pl.col("measure") == "geomean")["value"].to_list() == [None, None]
    assert table.filter(pl.col("measure") == "modelled")["value"].to_list() == [1.0, pytest.approx(4.0)]


def test_unknown_spending_is_said(tmp_path: Path) -> None:
    frames = load([run(tmp_path / "r", {"quick/a": [[Candidate(speedup=4.0, known=False)]]})])
    assert "at least" in curves(frames, "tokens")["note"][0]
    assert curves(frames, "gpu_s").filter(pl.col("measure") == "solved")["note"][0] == ""
