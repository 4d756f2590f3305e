"""Plans and diagnoses as models write them."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import prompts
from agents import plans
from agents.parsing import labelled
from agents.plans import Diagnosis, Edit, Plan, followed
from agents.strategies import BOTTLENECKS

WHOLE = """Strategy: tile: 128 columns instead of 64
Edit: lines 3-7: load 128 columns at once
Expected: traffic from 2.9 to 1.1 times the least
Risk: registers spill
Edit: line 12: BLOCK=128
Expected: the same
Risk: none
"""


def test_a_plan_has_its_strategy_and_its_edits() -> None:
    assert plans.plan(WHOLE) == Plan(
        "tile: 128 columns instead of 64",
        (
            Edit(3, 7, "load 128 columns at once", "traffic from 2.9 to 1.1 times the least", "registers spill"),
            Edit(12, 12, "BLOCK=128", "the same", "none"),
        ),
    )


@pytest.mark.parametrize(
    ("line", "first", "last"),
    [
        ("Edit: lines 3-7: do it", 3, 7),
        ("**Edit:** lines 3-7: do it", 3, 7),
        ("- **Edit**: Lines 3 - 7: do it", 3, 7),
        ("### Edit 1: lines 3-7: do it", 3, 7),
        ("1. Edit: lines 3\u20137: do it", 3, 7),
        ("Edit 2 (lines 3-7): do it", 3, 7),
        ("Edit lines 3-7: do it", 3, 7),
        ("Edit 3-7: do it", 3, 7),
        ("> Edit: L3-L7: do it", 3, 7),
        ("Edit: `L3`: do it", 3, 3),
        ("Edit: L3 - do it", 3, 3),
        ("Edit: [3..7] do it", 3, 7),
        ("Edit: lines 3 to 7 - do it", 3, 7),
        ("Edit: (lines 3 through 7): do it", 3, 7),
        ("Edit: **lines 3-7**: do it", 3, 7),
        ("Edit: 3-7: do it", 3, 7),
        ("Edit: line 3: do it", 3, 3),
        ("Edit: lines 7-3: do it", 3, 7),
        ("EDIT: LINES 3-7: do it", 3, 7),
    ],
)
def test_an_anchor_is_read_in_every_usual_form(line: str, first: int, last: int) -> None:
    made = plans.plan(line)
    assert made is not None
    assert made.edits == (Edit(first, last, "do it", "", ""),)


@pytest.mark.parametrize(
    "line", ["Edit 2: do it", "Edit: the loop: unroll it", "Edit: lines 3-7:", "Edits are risky: see lines 3-7", "", "3-7"]
)
def test_what_names_no_lines_or_no_change_is_no_edit(line: str) -> None:
    assert plans.plan(line) is None


def test_several_spans_of_one_edit_are_edits_with_the_same_change() -> None:
    made = plans.plan("Edit: lines 3-7, 12 and 20-21: rename it\nExpected: less")
    assert made is not None
    assert [(e.first, e.last, e.change, e.expected) for e in made.edits] == [
        (3, 7, "rename it", "less"),
        (12, 12, "rename it", "less"),
        (20, 21, "rename it", "less"),
    ]


def test_a_change_goes_on_over_lines_and_may_have_a_label_of_its_own() -> None:
    made = plans.plan("Edit: lines 3-7: load\n  - once\n  - with a mask\nExpected: less\n\nUnrelated.\nEdit: lines 9-9\nChange: 2.0 to 4.0")
    assert made is not None
    assert [(e.change, e.expected) for e in made.edits] == [("load - once - with a mask", "less"), ("2.0 to 4.0", "")]


def test_a_number_in_a_change_is_no_line() -> None:
    made = plans.plan("Edit: line 4: 2 stages instead of 3, and 8 warps")
    assert made is not None
    assert made.edits == (Edit(4, 4, "2 stages instead of 3, and 8 warps", "", ""),)


def test_a_plan_that_is_fenced_as_a_whole_is_read() -> None:
    assert plans.plan(f"```text\n{WHOLE}```\n") == plans.plan(WHOLE)


def test_code_beside_a_plan_is_not_read() -> None:
    made = plans.plan(WHOLE + "```python\n# Edit: lines 1-2: no\n```\n")
    assert made == plans.plan(WHOLE)


def test_the_last_strategy_counts() -> None:
    made = plans.plan("Strategy: first thought\n" + WHOLE)
    assert made is not None
    assert made.strategy.startswith("tile")


@given(st.text() | st.text(alphabet="Editlnes:-0123456789 ,and\n*`LStraegy|()[]", max_size=400))
def test_any_text_is_read_within_bounds(text: str) -> None:
    made = plans.plan(text)
    for edit in made.edits if made else ():
        assert 1 <= edit.first <= edit.last < 10**6
        assert 0 < len(edit.change) <= plans.MAX_CHANGE
        assert len(edit.expected) <= plans.MAX_FIELD
        assert len(edit.risk) <= plans.MAX_FIELD
    assert made is None or 0 < len(made.edits) <= plans.MAX_EDITS
    found = plans.diagnosis(text, BOTTLENECKS)
    assert found is None or found.bottleneck in BOTTLENECKS


@pytest.mark.parametrize(
    "text", ["Edit: lines 1-2: x\n" * 100_000, "Edit: 1" + ",1" * 200_000, "*" * 500_000, "Edit" + " " * 10**6 + ":", "\udc80" * 999]
)
def test_a_huge_reply_is_read_in_bounded_time_and_size(text: str) -> None:
    made = plans.plan(text)
    assert made is None or len(made.edits) <= plans.MAX_EDITS
    assert plans.diagnosis(text, BOTTLENECKS) is None


spans = st.lists(st.tuples(st.integers(1, 999), st.integers(0, 50)), min_size=1, max_size=plans.MAX_EDITS)


@given(spans, st.sampled_from(["", "**", "_"]), st.sampled_from(["-", " - ", "\u2013", " to "]))
def test_every_plan_in_the_asked_form_is_read_back(made: list[tuple[int, int]], mark: str, dash: str) -> None:
    text = f"{mark}Strategy:{mark} tile: more\n"
    for first, more in made:
        text += (
            f"{mark}Edit:{mark} lines {first}{dash}{first + more}: set BLOCK to {more}\n{mark}Expected:{mark} up\n{mark}Risk:{mark} few\n"
        )
    expected = tuple(Edit(first, first + more, f"set BLOCK to {more}", "up", "few") for first, more in made)
    assert plans.plan(text) == Plan("tile: more", expected)


PARENT = "".join(f"line {n}\n" for n in range(1, 21))
LINES = PARENT.splitlines(keepends=True)
TILE = Plan("tile", (Edit(5, 7, "change", "", ""),))


@pytest.mark.parametrize(
    ("child", "is_followed"),
    [
        ([*LINES[:5], "other\n", *LINES[6:]], True),
        ([*LINES[:4], *LINES[7:]], True),
        ([*LINES[:4], "new\n", *LINES[4:]], True),
        ([*LINES[:7], "new\n", *LINES[7:]], True),
        ([*LINES[:3], "new\n", *LINES[3:]], False),
        ([*LINES[:8], "new\n", *LINES[8:]], False),
        ([*LINES[:10], "other\n", *LINES[11:]], False),
        (["import\n"] * 9 + LINES, False),
        ([*["import\n"] * 9, *LINES[:6], "other\n", *LINES[7:]], True),
        ([f"{line.rstrip()}  \n" for line in LINES], False),
        (LINES, False),
    ],
)
def test_a_plan_is_followed_where_its_lines_change(child: list[str], is_followed: bool) -> None:
    assert followed(TILE, PARENT, "".join(child)) is is_followed


@given(st.integers(0, 20), st.integers(0, 9), st.integers(1, 20), st.integers(0, 5))
def test_lines_put_in_elsewhere_shift_nothing(at: int, count: int, first: int, more: int) -> None:
    child = [*LINES[:at], *(f"new {n}\n" for n in range(count)), *LINES[at:]]
    plan = Plan("tile", (Edit(first, min(20, first + more), "x", "", ""),))
    assert followed(plan, PARENT, "".join(child)) is (count > 0 and first - 1 <= at <= min(20, first + more))


@pytest.mark.parametrize(
    ("text", "bottleneck"),
    [
        ("Bottleneck: spills\nEvidence: 12 words", "spills"),
        ("**Bottleneck:** `memory_traffic`\n**Evidence:** 12 words", "memory_traffic"),
        ("bottleneck: Launch overhead (19 launches)\nEvidence: 12 words", "launch_overhead"),
        ("1. Bottleneck: memory-access.\nEvidence: 12 words", "memory_access"),
        ("```\nBottleneck: latency\nEvidence: 12 words\n```", "latency"),
        ("Bottleneck: arithmetic\nBottleneck: arithmetic\nEvidence: 12 words", "arithmetic"),
    ],
)
def test_one_bottleneck_is_a_diagnosis(text: str, bottleneck: str) -> None:
    assert plans.diagnosis(text, BOTTLENECKS) == Diagnosis(bottleneck, "12 words")


@pytest.mark.parametrize(
    "text",
    [
        "Bottleneck: memory_traffic and latency",
        "Bottleneck: spills\nEvidence: 1\nBottleneck: latency\nEvidence: 2",
        "Bottleneck: either occupancy, or else spills",
        "Bottleneck: the weather",
        "Bottleneck:",
        "It is latency.",
        "",
    ],
)
def test_none_or_several_are_no_diagnosis(text: str) -> None:
    assert plans.diagnosis(text, BOTTLENECKS) is None


def form(role: str, first: str) -> str:
    """The lines of a role's prompt that show how to answer, with numbers where lines are asked for."""
    system = (Path(prompts.__file__).parent / role / "system.j2").read_text(encoding="utf-8")
    return system[system.index(f"\n{first}: ") :].partition("\n\n")[0].replace("<first>-<last>", "3-7")


def test_the_forms_that_prompts_ask_for_are_read() -> None:
    made = plans.plan(form("planner", "Strategy"))
    assert made is not None
    assert made.strategy.startswith("<name from the list>")
    (edit,) = made.edits
    assert (edit.first, edit.last) == (3, 7)
    assert edit.change.startswith("<what to do")
    assert edit.expected
    assert edit.risk
    assert plans.diagnosis(form("judge", "Bottleneck").replace("<one name from the list", "<spills"), BOTTLENECKS) is not None
    assert all(labelled(form("critic", "Actual"), label) for label in ("avoid", "try", "lesson"))
