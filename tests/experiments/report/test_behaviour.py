"""What a reader does with the page: filters, order, trajectories, changes, keyboard, theme."""

from collections.abc import Iterator
from typing import Any

import pytest

from experiments.report import page
from tests.experiments.report import stores
from tests.experiments.report.visits import opened, shown, visit

ADD = "trajectory/r/quick%2Fadd%400"


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    out = tmp_path_factory.mktemp("page") / "report.html"
    page.write([stores.hostile(tmp_path_factory.mktemp("runs") / "r")], out)
    with opened(out, color_scheme="light") as tab:
        yield tab


@pytest.fixture
def tab(kept: Any) -> Iterator[Any]:
    """At the table, with nothing filtered; the console must stay silent."""
    visit(kept, "tasks")
    kept.get_by_role("button", name="Clear").click()
    yield kept
    assert kept.faults == []


def test_filters_and_words_combine(tab: Any) -> None:
    tab.get_by_label("Result").select_option("broken")
    assert shown(tab) == ["quick/gelu"]
    tab.get_by_label("Search").fill("wrong_numeric")
    assert shown(tab) == []
    tab.get_by_label("Result").select_option("")
    assert shown(tab) == ["quick/add"]
    assert tab.locator("#shown").inner_text() == "1 of 3"


def test_a_head_sorts_up_and_down_with_unknown_last(tab: Any) -> None:
    head = tab.get_by_role("button", name="Speedup")
    head.click()
    assert shown(tab)[0] == "quick/add"
    head.click()
    assert shown(tab)[0] == "quick/add"
    assert tab.locator("#rows [aria-sort=descending]").inner_text() == "Speedup"
    tab.get_by_role("button", name="Task", exact=True).click()
    assert shown(tab) == ["quick/add", "quick/gelu", "quick/sum"]


def test_a_trajectory_opens_at_its_champion_and_the_next_is_a_link_away(tab: Any) -> None:
    tab.get_by_role("link", name="quick/add").click()
    tab.wait_for_selector("#trajectory .champion")
    assert tab.locator(".attempt[aria-current]").inner_text().startswith("pass")
    tab.get_by_role("link", name="Next").click()
    tab.wait_for_selector("#trajectory h1:has-text('quick/gelu')")
    tab.go_back()
    tab.wait_for_selector("#trajectory h1:has-text('quick/add')")


def test_timing_and_resources_are_shown_with_their_numbers(tab: Any) -> None:
    visit(tab, f"{ADD}/001.00.00")
    timing = tab.get_by_role("region", name="Timing by size").inner_text()
    assert "2.00x [1.90, 2.10]" in timing
    assert "20.00" in timing
    assert "1,024" in tab.get_by_role("region", name="Compiled kernels").inner_text()


def test_the_changes_to_the_parent_are_those_made(tab: Any) -> None:
    visit(tab, f"{ADD}/001.00.00")
    tab.get_by_role("tab", name="Changes").click()
    tab.wait_for_selector("#panel .add")
    assert tab.locator("#panel .del").all_inner_texts() == ["BLOCK = 1024"]
    assert tab.locator("#panel .add").all_inner_texts() == ["BLOCK = 2048"]


def test_a_source_is_coloured_and_whole(tab: Any) -> None:
    visit(tab, f"{ADD}/000.00.00")
    tab.get_by_role("tab", name="Kernel").click()
    tab.wait_for_selector("#panel .hK")
    assert tab.locator("#panel .code > span").all_text_contents() == stores.FIRST.split("\n")[:-1]


def test_arrows_move_between_the_tabs(tab: Any) -> None:
    visit(tab, ADD)
    tab.get_by_role("tab", name="Kernel").click()
    tab.keyboard.press("ArrowRight")
    assert tab.evaluate("document.activeElement.textContent") == "Changes"
    assert tab.get_by_role("tab", name="Changes").get_attribute("aria-selected") == "true"


def test_a_trajectory_that_is_not_there_says_so(tab: Any) -> None:
    visit(tab, "trajectory/r/none")
    assert "No such trajectory" in tab.locator("#trajectory").inner_text()


def test_the_theme_changes_by_its_button(tab: Any) -> None:
    before = tab.evaluate("getComputedStyle(document.body).backgroundColor")
    tab.get_by_role("button", name="Switch between light and dark").click()
    assert tab.evaluate("document.documentElement.dataset.theme") == "dark"
    assert tab.evaluate("getComputedStyle(document.body).backgroundColor") != before
