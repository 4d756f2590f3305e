"""Colours of sources as runs."""

import re
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from experiments.report import source
from experiments.report.source import CLASSES, runs


def read(text: str, told: str) -> list[tuple[str, str]]:
    """(class, text) of each run, cut in UTF-16 units as JavaScript cuts."""
    units, place, found = text.encode("utf-16-le", "surrogatepass"), 0, []
    for length, kind in re.findall(r"([0-9a-z]+)([A-Z])", told):
        end = place + 2 * int(length, 36)
        found.append((kind, units[place:end].decode("utf-16-le", "surrogatepass")))
        place = end
    return found


@given(st.text(alphabet=st.one_of(st.sampled_from("def x(:\n\"'#\\\r@1"), st.characters())))
def test_runs_cover_any_text_once(text: str) -> None:
    assert "".join(part for _, part in read(text, runs(text))) == text


def test_keywords_strings_comments_and_numbers_have_classes() -> None:
    found = read('def f():\n    return "s", 12  # why\n', runs('def f():\n    return "s", 12  # why\n'))
    assert {("K", "def"), ("K", "return"), ("S", '"s"'), ("N", "12"), ("C", "# why"), ("F", "f")} <= set(found)


def test_every_class_has_a_colour_in_the_style_sheet() -> None:
    sheet = Path(source.__file__).with_name("templates").joinpath("page.css").read_text()
    assert all(f".h{letter} {{" in sheet for letter in CLASSES.values())
