"""Speeds, again by SQL from the raw lines."""

from pathlib import Path
from random import Random

import duckdb
import polars as pl
import pytest

from experiments.analysis import speed
from experiments.analysis.frames import Frames, load
from tests.experiments.analysis.rounds import Candidate, drawn, lines, run

Both = tuple[Frames, duckdb.DuckDBPyConnection]
CHAMPIONS = """
CREATE TABLE champions AS
SELECT q.method, q.run, q.task, a.attempt IS NOT NULL AS solved, a.speedup, a.modelled FROM asked q
LEFT JOIN trajectories t ON t.run = q.run AND t.trajectory = q.trajectory
LEFT JOIN attempts a ON a.run = t.run AND a.trajectory = t.trajectory AND a.attempt = t.champion
"""
SIX = {f"quick/{letter}": [[Candidate(speedup=2.0)]] for letter in "abcdef"}


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Both:
    folder, random = tmp_path_factory.mktemp("runs"), Random(4)
    runs = [run(folder / name, drawn(random, 15, 2, failing=0.7), scaffold=name, open_=2, simulated=name == "multiagent")
            for name in ("geak", "evolve", "multiagent")]  # fmt: skip
    found = lines(runs)
    found.execute(CHAMPIONS)
    return load(runs), found


def test_fast_by_sql(both: Both) -> None:
    known = "SELECT method FROM champions GROUP BY method HAVING count(*) FILTER (solved AND speedup IS NULL) = 0"
    sql = f"""SELECT method, p, count(*), count(*) FILTER (speedup > p) / count(*)
              FROM champions, (SELECT unnest({list(speed.THRESHOLDS)})::DOUBLE AS p) WHERE method IN ({known}) GROUP BY ALL ORDER BY ALL"""
    rows = both[1].execute(sql).fetchall()
    ours = speed.fast(both[0]).filter(pl.col("value").is_not_null()).sort("method", "threshold")
    assert {row[0] for row in rows} == {"geak", "evolve"}
    assert ours.select("method", "threshold", "count", "value").rows() == [(*row[:3], pytest.approx(row[3])) for row in rows]


@pytest.mark.parametrize(("measure", "column", "methods"), [("measured", "speedup", 2), ("modelled", "modelled", 1)])
def test_geomeans_by_sql(both: Both, measure: str, column: str, methods: int) -> None:
    sql = f"""SELECT method, 'all', count(*), exp(avg(ln(coalesce({column}, 1)))) FROM champions
              WHERE method IN (SELECT method FROM champions WHERE {column} IS NOT NULL) GROUP BY method UNION ALL
              SELECT method, 'solved', count(*), exp(avg(ln({column}))) FROM champions WHERE {column} IS NOT NULL GROUP BY method
              ORDER BY ALL"""
    rows = both[1].execute(sql).fetchall()
    ours = speed.geomeans(both[0]).filter((pl.col("measure") == measure) & pl.col("value").is_not_null()).sort("method", "over")
    assert len(rows) == 2 * methods
    assert ours.select("method", "over", "count", "value").rows() == [(*row[:3], pytest.approx(row[3])) for row in rows]
    assert ours.filter(pl.col("value").is_between("low", "high")).height == len(rows)


def test_slower_by_sql(both: Both) -> None:
    sql = """SELECT scaffold, count(*), count(*) FILTER (speedup < 1), count(*) FILTER (speedup_ci[2] < 1) FROM attempts
             WHERE verdict = 'pass' AND speedup IS NOT NULL GROUP BY scaffold ORDER BY scaffold"""
    ours = speed.slower(both[0]).filter(pl.col("count") > 0).sort("method")
    assert ours.select("method", "count", "found", "sure").rows() == both[1].execute(sql).fetchall()
    assert ours["value"].to_list() == pytest.approx((ours["found"] / ours["count"]).to_list())


def test_hardware_by_sql(both: Both) -> None:
    sql = """SELECT task, count(*), exp(avg(ln(speedup))), min(speedup), max(speedup) FROM champions
             WHERE speedup IS NOT NULL GROUP BY task ORDER BY task"""
    rows = both[1].execute(sql).fetchall()
    ours = speed.hardware(both[0])
    assert ours.select("task", "count", "value", "low", "high").rows() == [(*r[:2], *(pytest.approx(v) for v in r[2:])) for r in rows]
    assert ours["spread"].to_list() == [None] * len(rows)


def test_spread_is_over_the_devices_that_measured_a_task(tmp_path: Path) -> None:
    speeds = {"H200": {"quick/a": 3.0, "quick/b": 2.0}, "MI300X": {"quick/a": 1.5}, "T4": {"quick/a": 2.0}}
    runs = [run(tmp_path / device, {task: [[Candidate(speedup=speed)]] for task, speed in found.items()}, device=device)
            for device, found in speeds.items()]  # fmt: skip
    table = speed.hardware(load(runs))
    assert table.select("task", "device", "value").rows() == [
        ("quick/a", "H200", pytest.approx(3.0)), ("quick/a", "MI300X", pytest.approx(1.5)), ("quick/a", "T4", pytest.approx(2.0)),
        ("quick/b", "H200", pytest.approx(2.0)),
    ]  # fmt: skip
    assert table["spread"].to_list() == [pytest.approx(2.0)] * 3 + [None]


def test_simulated_runs_have_no_measured_speed_and_it_is_said(tmp_path: Path) -> None:
    frames = load([run(tmp_path / "a", SIX, simulated=True)])
    measured = speed.geomeans(frames).filter(pl.col("measure") == "measured")
    assert measured.select("value", "low", "note").unique().rows() == [(None, None, speed.SIMULATED)]
    assert set(speed.fast(frames)["value"]) == {None}
    assert speed.slower(frames).select("count", "value", "low", "high", "note").rows() == [(0, None, None, None, speed.SIMULATED)]


def test_a_failure_counts_as_one_in_the_mean_over_all(tmp_path: Path) -> None:
    frames = load([run(tmp_path / "a", SIX, open_=6)])
    assert dict(speed.geomeans(frames).select("over", "value").rows()) == {"solved": pytest.approx(2.0), "all": pytest.approx(2**0.5)}


def test_fast_is_above_not_at_its_threshold(tmp_path: Path) -> None:
    table = speed.fast(load([run(tmp_path / "a", SIX, open_=6)]), (1.9, 2.0))
    assert table.select("threshold", "value").rows() == [(1.9, 0.5), (2.0, 0.0)]


def test_few_tasks_have_no_interval_and_it_is_said(tmp_path: Path) -> None:
    frames = load([run(tmp_path / "a", {"quick/a": [[Candidate(speedup=2.0)]]})])
    assert set(speed.geomeans(frames).select("low", "note").rows()) == {(None, "fewer than 5 tasks: no interval")}
