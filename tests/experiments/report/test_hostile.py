"""The page in a browser, with texts that try to run."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from experiments.report import page
from tests.experiments.report import stores

playwright = pytest.importorskip("playwright.sync_api")
CHROMIUM = Path("/usr/bin/chromium")
pytestmark = pytest.mark.skipif(not CHROMIUM.exists(), reason="needs Debian's chromium")


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator["playwright.Page"]:
    """The page of the hostile run; `faults` of the page holds what the console said."""
    out = tmp_path_factory.mktemp("page") / "report.html"
    page.write([stores.hostile(tmp_path_factory.mktemp("runs") / "hostile")], out)
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        tab = browser.new_page()
        tab.goto(out.as_uri())
        yield tab
        browser.close()


def visit(tab: "playwright.Page", anchor: str) -> None:
    tab.evaluate("hash => { location.hash = hash }", anchor)
    tab.wait_for_function("hash => document.documentElement.dataset.ready === hash", arg=f"#{anchor}")


ANCHORS = [f"trajectory/hostile/{task}%400" for task in ("quick%2Fadd", "quick%2Fgelu")]


@pytest.mark.parametrize("anchor", [*ANCHORS, f"{ANCHORS[0]}/000.00.00", f"{ANCHORS[0]}/call-2"])
def test_kernels_replies_and_errors_stay_text(opened: "playwright.Page", anchor: str) -> None:
    visit(opened, anchor)
    tabs = opened.locator("[role=tab]")
    assert tabs.count() >= 2
    for number in range(tabs.count()):
        tabs.nth(number).click()
        opened.wait_for_function("document.querySelector('#panel').childElementCount > 0")
        assert opened.locator("img").count() == 0
    assert stores.MARK in opened.locator("#trajectory").inner_text()
    assert opened.evaluate("window.harmed") is None


def test_an_inline_script_would_not_run(opened: "playwright.Page") -> None:
    opened.evaluate("document.body.append(Object.assign(document.createElement('script'), {textContent: 'window.inline = 1'}))")
    assert opened.evaluate("window.inline") is None


def test_the_changes_to_the_parent_are_those_made(opened: "playwright.Page") -> None:
    visit(opened, f"{ANCHORS[0]}/001.00.00")
    opened.get_by_role("tab", name="Changes").click()
    opened.wait_for_selector("#panel .add")
    assert opened.locator("#panel .del").all_inner_texts() == ["BLOCK = 1024"]
    assert opened.locator("#panel .add").all_inner_texts() == ["BLOCK = 2048"]
