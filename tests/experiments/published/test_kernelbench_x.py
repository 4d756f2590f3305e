"""What is computed from a checkout of KernelBench-X, against numbers reckoned by hand."""

import json
from pathlib import Path

import polars as pl
import pytest

from benchmark.errors import UserError
from experiments.published import claims, corpus, golden
from experiments.published.kernelbench_x import CORPUS, Checkout
from tests.experiments.published import checkout


@pytest.fixture
def theirs(tmp_path: Path) -> Checkout:
    return Checkout(checkout.write(tmp_path))


def rows(table: pl.DataFrame, **chosen: object) -> list[dict[str, object]]:
    return [row for row in table.to_dicts() if all(row[key] == value for key, value in chosen.items())]


def test_a_step_between_rounds_has_its_kinds_counted(theirs: Checkout) -> None:
    table = corpus.transitions(theirs).table
    (first,), (second,) = rows(table, tasks="all", rounds="0 to 1"), rows(table, tasks="all", rounds="1 to 2")
    kinds = ("rescued", "regressed", "persistent", "never")
    assert [first[kind] for kind in kinds] == [2, 0, 1, 1]
    assert [second[kind] for kind in kinds] == [1, 1, 1, 0]
    assert (first["compiled_gained"], second["compiled_gained"]) == (2, 0)


def test_a_task_whose_category_was_renamed_is_official(theirs: Checkout) -> None:
    assert set(theirs.changes.filter("official")["name"]) == {"add", "exp", "where"}


def test_a_state_that_two_records_tell_is_timed_once(theirs: Checkout) -> None:
    assert theirs.timed.height == 6
    assert theirs.timed.filter(name="add").select("round", "speedup").rows() == [(1, 2.0), (2, 4.0)]


def test_means_of_rescued_kernels_are_arithmetic_and_geometric(theirs: Checkout) -> None:
    (found,) = rows(corpus.speedups(theirs, 0).table, tasks="official", rounds="0 to 1", kind="rescued")
    assert (found["count"], found["mean"], found["below_1"]) == (2, 1.25, 0.5)
    assert found["geomean"] == pytest.approx(1.0)


def test_few_values_have_no_interval(theirs: Checkout) -> None:
    assert corpus.speedups(theirs, 0).table["low"].null_count() == corpus.speedups(theirs, 0).table.height


def test_identical_codes_stand_apart_in_the_deltas(theirs: Checkout) -> None:
    table = corpus.deltas(theirs, 0).table
    assert [row["geomean"] for row in rows(table, tasks="all", code="byte-identical")] == pytest.approx([1.5])
    assert [row["geomean"] for row in rows(table, tasks="all", code="changed")] == pytest.approx([2.0])


def test_a_changed_code_counts_as_beyond_noise_above_the_identical_ones(theirs: Checkout) -> None:
    (found,) = rows(corpus.noise(theirs).table, tasks="all")
    assert (found["identical"], found["changed"], found["changed_above_max"]) == (1, 1, 1)


def test_the_golden_is_of_the_machine_whose_totals_the_speedups_divide(theirs: Checkout) -> None:
    agrees = {row["machine"]: (row["agrees"], row["count"]) for row in golden.machines(theirs).table.to_dicts()}
    assert agrees == {"one": (5, 5), "copy": (5, 5), "other": (0, 5)}


def test_copied_timings_are_counted_by_file_and_row(theirs: Checkout) -> None:
    (pair,) = rows(golden.copies(theirs).table, machine="copy", other="one")
    assert (pair["files"], pair["identical_files"], pair["rows"], pair["identical_rows"]) == (3, 2, 6, 4)


def test_short_rows_and_missing_sizes_are_told_per_machine(theirs: Checkout) -> None:
    table = golden.launches(theirs).table
    (one,), (other,) = rows(table, machine="one"), rows(table, machine="other")
    assert (one["below_10_us"], one["below_20_us"], one["fewer_sizes"]) == (pytest.approx(1 / 6), pytest.approx(2 / 6), 0)
    assert other["fewer_sizes"] == 3


def test_gains_are_net_of_losses(theirs: Checkout) -> None:
    table = claims.figures(theirs)[0].table
    gained = {row["claim"].partition(":")[0]: row["here"] for row in table.to_dicts() if "tasks gained" in row["claim"]}
    assert gained == {"compiled": 1, "correct": 1}


def test_what_the_corpus_cannot_tell_is_said(theirs: Checkout) -> None:
    table = claims.figures(theirs)[0].table
    absent = table.filter(pl.col("here").is_null())
    assert set(absent["agrees"]) == {claims.LACKING}
    assert absent.height == len(claims.ABSENT)


def test_a_folder_that_is_no_checkout_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="is no checkout of KernelBench-X: it has no data/kbx_corpus"):
        Checkout(tmp_path)


@pytest.mark.parametrize("line", ["{", json.dumps({"task_id": "Math/add.py"}), "[]"])
def test_a_line_of_another_format_is_named(theirs: Checkout, line: str) -> None:
    file = theirs.path / CORPUS
    file.write_text(file.read_text() + line + "\n")
    with pytest.raises(UserError, match="line 8, is no record"):
        _ = theirs.changes
