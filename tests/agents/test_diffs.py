"""Diffs for prompts: bounded, and never slow."""

from hypothesis import given
from hypothesis import strategies as st

from agents.diffs import MAX_DIFF, difference, spans


def test_a_diff_shows_what_changed_with_its_surroundings() -> None:
    before = "".join(f"line {n}\n" for n in range(1, 10))
    assert difference(before, before.replace("line 5", "other")) == "@@ -3,5 +3,5 @@\n line 3\n line 4\n-line 5\n+other\n line 6\n line 7\n"


def test_what_differs_at_the_ends_of_lines_alone_is_no_change() -> None:
    assert difference("a\nb\n", "a  \nb") == ""
    assert list(spans("a\nb\n", "a  \nb")) == []


def test_an_insertion_is_an_empty_span() -> None:
    assert list(spans("a\nb\n", "a\nx\ny\nb\n")) == [(1, 1)]


def test_a_long_diff_is_cut_at_a_line_and_says_so() -> None:
    made = difference("", "x = 1\n" * 5000)
    assert len(made) <= MAX_DIFF
    assert made.endswith("more lines of the diff)\n")


def test_modules_too_long_to_compare_are_said_to_be() -> None:
    assert "too long" in difference("\n" * 100_000, "\n" * 99_999)
    assert list(spans("\n" * 100_000, "x\n" * 99_999)) == [(0, 100_000)]


@given(st.text(), st.text(), st.integers(60, 500))
def test_a_diff_is_bounded_and_empty_for_equal_modules(before: str, after: str, limit: int) -> None:
    assert len(difference(before, after, limit)) <= limit
    assert difference(before, before) == ""
