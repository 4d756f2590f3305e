"""Transitions and deltas: definitions on small runs, and every number again by SQL from the raw lines."""

from pathlib import Path
from random import Random
from typing import Any

import duckdb
import polars as pl
import pytest

from experiments.analysis.frames import Frames, load
from experiments.analysis.transitions import deltas, transitions
from tests.experiments.analysis.rounds import Candidate, drawn, lines, run

FAILED = Candidate("wrong_numeric")
STEPS = """
WITH ranked AS (
  SELECT *, verdict = 'pass' AS passed, row_number() OVER (
    PARTITION BY run, trajectory, round ORDER BY verdict = 'pass' DESC, speedup DESC NULLS LAST, attempt) AS place
  FROM attempts WHERE verdict NOT IN ('unsupported', 'task_invalid', 'infra_error')),
states AS (SELECT * FROM ranked WHERE place = 1),
steps AS (
  SELECT l.scaffold AS method, l.round, l.task, e.speedup AS s0, l.speedup AS s1, e.speedup_ci AS i0, l.speedup_ci AS i1,
    CASE WHEN e.passed AND l.passed THEN 'persistent' WHEN l.passed THEN 'rescued' WHEN e.passed THEN 'regressed' ELSE 'never' END AS word,
    CASE WHEN e.kernel_sha = l.kernel_sha THEN 'identical' ELSE 'changed' END AS code
  FROM states l JOIN states e ON e.run = l.run AND e.trajectory = l.trajectory AND e.round + 1 = l.round)
"""
TRANSITIONS = f"""{STEPS},
words AS (SELECT unnest(['rescued', 'persistent', 'regressed', 'never']) AS word),
sizes AS (SELECT method, round, count(*) AS n FROM steps GROUP BY ALL),
found AS (
  SELECT z.method, z.round, w.word, z.n, count(s.task) AS k, count(s0) FILTER (w.word IN ('persistent', 'regressed')) AS m0,
    exp(avg(ln(s0)) FILTER (w.word IN ('persistent', 'regressed'))) AS g0,
    count(s1) FILTER (w.word IN ('persistent', 'rescued')) AS m1, exp(avg(ln(s1)) FILTER (w.word IN ('persistent', 'rescued'))) AS g1
  FROM sizes z CROSS JOIN words w LEFT JOIN steps s ON s.method = z.method AND s.round = z.round AND s.word = w.word GROUP BY ALL)
SELECT method, round, word, n, k, k / n, (k + 1.9207294) / (n + 3.8414588) - 1.959964 * sqrt(k * (n - k) / n + 0.9603647) / (n + 3.8414588),
  (k + 1.9207294) / (n + 3.8414588) + 1.959964 * sqrt(k * (n - k) / n + 0.9603647) / (n + 3.8414588), m0, g0, m1, g1
FROM found ORDER BY ALL
"""
DELTAS = f"""{STEPS},
timed AS (
  SELECT *, s1 / s0 AS ratio, (s1 BETWEEN i0[1] AND i0[2]) AND (s0 BETWEEN i1[1] AND i1[2]) AS alike FROM steps WHERE word = 'persistent')
SELECT method, round, code, count(*), count(DISTINCT task), exp(avg(ln(ratio))), median(ratio), max(ratio),
  count(*) FILTER (NOT alike AND s1 > s0), count(*) FILTER (NOT alike AND s1 <= s0), count(*) FILTER (alike)
FROM timed GROUP BY ALL ORDER BY method, round, code
"""
RANKS = f"""{STEPS},
logs AS (SELECT task, avg(ln(s1 / s0)) AS d FROM steps WHERE word = 'persistent' AND method = ? AND round = ? AND code = ? GROUP BY task),
ranks AS (SELECT d, rank() OVER (ORDER BY abs(d)) AS r FROM logs),
observed AS (SELECT coalesce(sum(r) FILTER (d > 0), 0) AS w FROM ranks),
drawn AS (
  SELECT signs, sum(r) FILTER ((signs >> (r - 1)::INT) & 1 = 1) AS w
  FROM range((2 ** (SELECT count(*) FROM ranks))::INT) t(signs), ranks GROUP BY signs)
SELECT least(1, 2 * least(avg((coalesce(drawn.w, 0) <= observed.w)::INT), avg((coalesce(drawn.w, 0) >= observed.w)::INT)))
FROM drawn, observed
"""


def moved(path: Path, *rounds: list[Candidate], **about: Any) -> Frames:
    return load([run(path / "r", {"quick/a": list(rounds)}, **about)])


def found(frames: Frames) -> dict[str, int]:
    table = transitions(frames)
    return {f"{later}: {word}": count for later, word, count in table.select("round", "transition", "found").rows() if count}


@pytest.mark.parametrize(
    ("before", "after", "word"),
    [
        (FAILED, Candidate(), "rescued"),
        (Candidate(), Candidate(), "persistent"),
        (Candidate(), FAILED, "regressed"),
        (FAILED, FAILED, "never"),
    ],
)
def test_the_four_transitions(tmp_path: Path, before: Candidate, after: Candidate, word: str) -> None:
    assert found(moved(tmp_path, [before], [after])) == {f"1: {word}": 1}


def test_a_round_is_its_best_attempt_not_the_best_so_far(tmp_path: Path) -> None:
    frames = moved(tmp_path, [FAILED, Candidate(speedup=2.0), Candidate(speedup=1.0)], [FAILED], [Candidate(speedup=1.5)])
    assert found(frames) == {"1: regressed": 1, "2: rescued": 1}
    table = transitions(frames)
    assert table.filter(pl.col("transition") == "regressed", pl.col("round") == 1)["speedup_before"].item() == pytest.approx(2.0)


def test_a_round_without_a_verdict_on_a_candidate_is_in_no_pair(tmp_path: Path) -> None:
    assert found(moved(tmp_path, [Candidate()], [Candidate("infra_error")], [Candidate()])) == {}


def test_simulated_speeds_stand_apart(tmp_path: Path) -> None:
    frames = moved(tmp_path, [Candidate(speedup=1.0)], [Candidate(speedup=2.0)], simulated=True)
    row = transitions(frames).filter(pl.col("transition") == "persistent").row(0, named=True)
    assert (row["speedup_after"], row["modelled_before"], row["modelled_after"]) == (None, pytest.approx(1.0), pytest.approx(2.0))
    assert "simulated" in row["note"]
    delta = deltas(frames).row(0, named=True)
    assert (delta["value"], delta["count"], delta["modelled"]) == (None, 0, pytest.approx(2.0))


@pytest.mark.parametrize(
    ("before", "after", "column"),
    [
        (Candidate(speedup=1.0, width=0.1), Candidate(speedup=1.05, width=0.1), "noise"),
        (Candidate(speedup=1.0, width=0.1), Candidate(speedup=1.05, width=0.01), "faster"),
        (Candidate(speedup=1.0, width=0.1), Candidate(speedup=0.5, width=0.1), "slower"),
        (Candidate(speedup=1.0, width=None), Candidate(speedup=5.0, width=0.1), "without_interval"),
    ],
)
def test_a_change_within_both_intervals_is_noise(tmp_path: Path, before: Candidate, after: Candidate, column: str) -> None:
    row = deltas(moved(tmp_path, [before], [after])).row(0, named=True)
    assert {name: row[name] for name in ("faster", "slower", "noise", "without_interval") if row[name]} == {column: 1}


def test_the_same_kernel_timed_again_is_told_apart(tmp_path: Path) -> None:
    frames = moved(tmp_path, [Candidate(speedup=1.0, sha="k")], [Candidate(speedup=1.1, sha="k")], [Candidate(speedup=1.2, sha="other")])
    assert deltas(frames).select("round", "code").rows() == [(1, "identical"), (2, "changed")]


def test_few_tasks_have_no_interval_and_no_test(tmp_path: Path) -> None:
    row = deltas(moved(tmp_path, [Candidate(speedup=1.0)], [Candidate(speedup=2.0)])).row(0, named=True)
    assert (row["value"], row["low"], row["p"]) == (pytest.approx(2.0), None, None)
    assert "fewer than 5" in row["note"]


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[Frames, duckdb.DuckDBPyConnection]:
    folder, random = tmp_path_factory.mktemp("runs"), Random(5)
    runs = [run(folder / name, drawn(random, 14, 4), scaffold=name) for name in ("geak", "evolve")]
    return load(runs), lines(runs)


def same(ours: list[tuple[Any, ...]], theirs: list[tuple[Any, ...]]) -> None:
    assert len(ours) == len(theirs) > 0
    for one, other in zip(ours, theirs, strict=True):
        assert list(one) == [pytest.approx(value, abs=1e-6) if isinstance(value, float) else value for value in other]


def test_transitions_by_sql(both: tuple[Frames, duckdb.DuckDBPyConnection]) -> None:
    wanted = ("method", "round", "transition", "count", "found", "value", "low", "high", "measured_before", "speedup_before",
              "measured_after", "speedup_after")  # fmt: skip
    table = transitions(both[0]).select(wanted).sort("method", "round", "transition")
    same(table.rows(), both[1].execute(TRANSITIONS).fetchall())


def test_deltas_by_sql(both: tuple[Frames, duckdb.DuckDBPyConnection]) -> None:
    wanted = ("method", "round", "code", "count", "tasks", "value", "median", "largest", "faster", "slower", "noise")
    same(deltas(both[0]).select(wanted).rows(), both[1].execute(DELTAS).fetchall())


def test_the_paired_test_by_sql(both: tuple[Frames, duckdb.DuckDBPyConnection]) -> None:
    """Exact, from all assignments of signs."""
    tested = deltas(both[0]).drop_nulls("p").select("method", "round", "code", "p").rows()
    theirs = [both[1].execute(RANKS, list(key)).fetchone() for *key, _ in tested]
    same([(p,) for *_, p in tested], [tuple(row) for row in theirs if row])


def test_intervals_hold_their_means(both: tuple[Frames, duckdb.DuckDBPyConnection]) -> None:
    table = deltas(both[0]).drop_nulls("low")
    assert table.height
    assert table.select((pl.col("low") <= pl.col("value")) & (pl.col("value") <= pl.col("high"))).to_series().all()
