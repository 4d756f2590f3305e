"""KernelBench-X as it lies in a checkout: trajectory corpus, official tasks, golden timings.

github.com/BonnieW05/KernelBenchX at fd41922. The corpus has one record for each task and step between two rounds of GEAK in which
something changed: compiled (`call_ok`), correct (`exe_ok`), timed (`perf_ok`), or speedup, and that only where it rose.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from benchmark.errors import UserError

CORPUS = "data/kbx_corpus/all_records.jsonl"
OFFICIAL = "data/kernelbenchx_v1.json"
GOLDEN = "metrics/golden_results"
CHANGES = {
    "task": pl.String, "name": pl.String, "official": pl.Boolean, "step": pl.Int64, "same_code": pl.Boolean,
    "compiled_before": pl.Boolean, "compiled_after": pl.Boolean, "correct_before": pl.Boolean, "correct_after": pl.Boolean,
    "speedup_before": pl.Float64, "speedup_after": pl.Float64, "ms_before": pl.Float64, "ms_after": pl.Float64,
    "jit_before": pl.Boolean, "jit_after": pl.Boolean,
}  # fmt: skip


@dataclass(frozen=True)
class Checkout:
    """Raises UserError where a file is missing or is not of their format."""

    path: Path

    def __post_init__(self) -> None:
        missing = [part for part in (CORPUS, OFFICIAL, GOLDEN) if not (self.path / part).exists()]
        if missing:
            raise UserError(
                f"{self.path} is no checkout of KernelBench-X: it has no {missing[0]}. "
                "Get one with git clone https://github.com/BonnieW05/KernelBenchX."
            )

    @cached_property
    def official(self) -> set[str]:
        """Names of the official tasks: a file's stem, for categories were renamed after the corpus was made."""
        return {name_of(entry["file"]) for entry in parsed(self.path / OFFICIAL)}

    @cached_property
    def changes(self) -> pl.DataFrame:
        """One row per record of the corpus, with its `kind`: rescued, persistent, regressed or never (DESIGN 4.9)."""
        source = self.path / CORPUS
        rows = []
        for number, line in enumerate(source.read_text(encoding="utf-8").rstrip("\n").split("\n"), 1):
            try:
                rows.append(change(json.loads(line), self.official))
            except (ValueError, KeyError, TypeError) as error:
                raise UserError(f"{source}, line {number}, is no record of their corpus: {error!r}.") from error
        frame = pl.DataFrame(rows, schema=CHANGES, orient="row")
        return frame.with_columns(kind=kind(pl.col("correct_before"), pl.col("correct_after")))

    @cached_property
    def timed(self) -> pl.DataFrame:
        """The timed states: task, round, speedup, milliseconds. A state that two records tell stands once."""
        before = self.changes.select("task", "name", "official", round="step", speedup="speedup_before", ms="ms_before")
        after = self.changes.select("task", "name", "official", round=pl.col("step") + 1, speedup="speedup_after", ms="ms_after")
        return pl.concat([before, after]).drop_nulls("speedup").unique().sort("task", "round")

    @cached_property
    def golden(self) -> pl.DataFrame:
        """Eager's timing per machine, task and size (`row` counts from 0): PyTorch alone, no candidate's."""
        schema = {"machine": pl.String, "name": pl.String, "row": pl.Int64, "size": pl.String, "ms": pl.Float64, "record": pl.String}
        return pl.DataFrame(list(self.timings()), schema=schema, orient="row")

    def timings(self) -> Iterator[tuple[Any, ...]]:
        for file in sorted((self.path / GOLDEN).glob("*/*.json")):
            try:
                for number, row in enumerate(parsed(file)):
                    yield file.parent.name, file.stem, number, json.dumps(row["input_size"]), float(row["ms"]), json.dumps(row)
            except (KeyError, TypeError, ValueError) as error:
                raise UserError(f"{file} is no list of their timings: {error!r}.") from error


def kind(before: pl.Expr, after: pl.Expr) -> pl.Expr:
    """What became of a task between two rounds, of whether it was correct in each."""
    word = pl.when(before & after).then(pl.lit("persistent")).when(after).then(pl.lit("rescued"))
    return word.when(before).then(pl.lit("regressed")).otherwise(pl.lit("never"))


def change(record: dict[str, Any], official: set[str]) -> tuple[Any, ...]:
    """A row of CHANGES."""
    before, after = record["before"], record["after"]
    codes = record["before_code"], record["after_code"]
    name = name_of(record["task_id"])
    pairs = [side[key] for key in ("call_ok", "exe_ok", "speedup", "runtime_ms") for side in (before, after)]
    step = int(record["from_round"].removeprefix("round_"))
    return (record["task_id"].removesuffix(".py"), name, name in official, step, codes[0] == codes[1], *pairs,
            *("triton.jit" in code for code in codes))  # fmt: skip


def name_of(file: str) -> str:
    return Path(file).stem


def parsed(file: Path) -> Any:
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise UserError(f"{file} is no JSON: {error}.") from error
