"""Tables: DuckDB reads them, and finds in them what it finds in the raw lines."""

import re
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest

from experiments.export import parquet
from experiments.export.columns import TABLES
from tests.experiments.export import stores

DOCS = Path(__file__).parents[3] / "docs" / "export.md"


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("parquet")
    parquet.write([stores.run(folder / "a"), stores.run(folder / "b")], folder / "out", texts="yes")
    return folder / "out"


def ask(out: Path, query: str) -> list[tuple[Any, ...]]:
    """`{name}` is a table, `<name>` the raw lines of both runs."""
    query = re.sub(r"\{(\w+)\}", rf"read_parquet('{out}/\1.parquet')", query)
    raw = rf"read_json(['{out.parent}/a/\1.jsonl', '{out.parent}/b/\1.jsonl'])"
    return duckdb.connect().execute(re.sub(r"<(\w+)>", raw, query)).fetchall()


@pytest.mark.parametrize("name", TABLES)
def test_a_table_has_the_stated_columns_and_types(out: Path, name: str) -> None:
    assert dict(pl.read_parquet_schema(out / f"{name}.parquet")) == TABLES[name]


@pytest.mark.parametrize("name", TABLES)
def test_the_documentation_names_the_columns_in_their_order(name: str) -> None:
    (row,) = [line for line in DOCS.read_text().splitlines() if line.startswith(f"| `{name}` |")]
    quoted = re.findall(r"`([^`]+)`", row.split("|")[3])
    named = [column for part in quoted for column in part.split(", ") if column not in ("kernels", "prompts", "replies") or name != "texts"]
    assert named == list(TABLES[name])


@pytest.mark.parametrize(("table", "raw"), [
    ("SELECT verdict, count(*), sum(tokens) FROM {attempts} GROUP BY 1 ORDER BY 1",
     "SELECT verdict, count(*), sum(tokens) FROM <attempts> GROUP BY 1 ORDER BY 1"),
    ("SELECT run, role, sum(input + cache_read + output), sum(cost_usd), count(*) FROM {calls} GROUP BY 1, 2 ORDER BY 1, 2",
     "SELECT run, identity.role, sum(usage.input + usage.cache_read + usage.output), sum(cost_usd), count(*) FROM <calls> "
     "GROUP BY 1, 2 ORDER BY 1, 2"),
    ("SELECT trajectory, attempt, verdict, speedup, baseline, gpu_s FROM {evaluations} ORDER BY run, trajectory, attempt",
     "SELECT identity.trajectory, attempt, evaluation.verdict, evaluation.timing.speedup, evaluation.timing.baseline, "
     "evaluation.resources.gpu_s FROM <evaluations> ORDER BY run, identity.trajectory, attempt"),
    ('SELECT "case", held_out, ok, max_abs FROM {cases} ORDER BY run, trajectory, attempt, "case"',
     'SELECT c."case", c.held_out, c.ok, c.max_abs FROM (SELECT run, identity, attempt, unnest(evaluation.cases) AS c FROM <evaluations>) '
     'ORDER BY run, identity.trajectory, attempt, c."case"'),
    ("SELECT trajectory, end_reason, champion FROM {trajectories} WHERE ended ORDER BY run, trajectory",
     "SELECT trajectory, end_reason, champion FROM <trajectories> ORDER BY run, trajectory"),
], ids=["attempts", "calls", "evaluations", "cases", "trajectories"])  # fmt: skip
def test_a_table_says_what_the_raw_lines_say(out: Path, table: str, raw: str) -> None:
    found = ask(out, table)
    assert found == ask(out, raw)
    assert found


def test_every_trajectory_that_was_asked_has_a_row(out: Path) -> None:
    found = ask(out, "SELECT task, ended, solved, speedup, speedup_low FROM {trajectories} WHERE run = 'a' ORDER BY task")
    assert found == [(stores.SGD, True, False, None, None), (stores.GELU, True, True, 2.0, 1.9), (stores.ADD, False, False, None, None)]


def test_an_attempt_joins_its_evaluation_its_sizes_and_its_source(out: Path) -> None:
    query = """SELECT e.registers, s.baseline_us, t.text FROM {attempts} a JOIN {evaluations} e USING (run, trajectory, attempt)
               JOIN {sizes} s USING (run, trajectory, attempt) JOIN {texts} t ON t.run = a.run AND t.sha = a.kernel_sha"""
    assert ask(out, query) == [(32, 20.0, stores.RIGHT)] * 2


def test_usage_that_is_unknown_is_null_beside_its_bound(out: Path) -> None:
    query = "SELECT tokens, cost_usd, tokens_upper, usage_source FROM {calls} WHERE outcome = 'timeout'"
    assert ask(out, query) == [(None, None, 900, "unknown")] * 2


def test_lines_of_before_a_field_was_added_are_read(tmp_path: Path) -> None:
    run = stores.run(tmp_path / "r")
    for name, old in (("calls", ', "replayed": null'), ("evaluations", ', "warm": null')):
        file = run.path / f"{name}.jsonl"
        assert old in file.read_text()
        file.write_text(file.read_text().replace(old, ""))
    parquet.write([run], tmp_path / "out")
    assert ask(tmp_path / "out", "SELECT replayed_from FROM {calls}") == [(None,)] * 5
    assert ask(tmp_path / "out", "SELECT warm_speedup FROM {sizes}") == [(None,)]


def test_texts_are_written_when_asked_for_only(tmp_path: Path) -> None:
    said = parquet.write([stores.unanswered(tmp_path / "r")], tmp_path / "out")
    assert not (tmp_path / "out" / "texts.parquet").exists()
    assert said[0] == f"{tmp_path / 'out' / 'trajectories.parquet'}: 1 rows"
