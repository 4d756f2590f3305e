"""The hostile files and the table of rows agree, and no two hacks are the same one under other names."""

import re

import pytest

from benchmark.suites import find
from tests.tools.corpus import CANDIDATES, NO_GAIN, Candidate, hostile, shape
from tools.evaluation import STAGES, VERDICTS

HOSTILE = hostile()
ROWS = 52
NOT_OURS = {52}
"""Refusing what is honest: the honest set."""


def table() -> dict[int, list[str]]:
    """Files by row, as `ROWS.md` has them."""
    lines = re.findall(r"^\| (\d+) \| [^|]+ \| ([^|]+) \|$", (CANDIDATES / "ROWS.md").read_text(), re.MULTILINE)
    return {int(number): [] if cell.startswith("none: ") else re.findall(r"`(\w+)`", cell) for number, cell in lines}


def test_every_row_has_its_files_in_the_table_or_a_reason() -> None:
    found = {row: sorted(c.name.partition("/")[2] for c in HOSTILE if row in c.rows) for row in range(1, ROWS + 1)}
    assert table() == found
    assert {row for row, files in found.items() if not files} == NOT_OURS


def test_at_least_45_files_name_a_row() -> None:
    assert len([c for c in HOSTILE if c.rows]) >= 45


def test_no_two_files_differ_only_in_names_or_constants() -> None:
    shapes: dict[str, str] = {}
    for candidate in HOSTILE:
        # The file that is no Python is unlike all others.
        if candidate.name != "hostile/syntax":
            assert shapes.setdefault(shape(candidate.source), candidate.name) == candidate.name


@pytest.mark.parametrize("candidate", HOSTILE, ids=lambda c: c.name)
def test_a_hostile_file_states_a_known_verdict_stage_and_task(candidate: Candidate) -> None:
    find(candidate.task)
    for wanted in (candidate.expected, candidate.on_gpu):
        assert set(wanted.verdicts) <= {*VERDICTS, NO_GAIN} - {"pass"}
        assert set(wanted.stages) <= set(STAGES)
    assert candidate.needs in ("", "GPU", "simulated device")
