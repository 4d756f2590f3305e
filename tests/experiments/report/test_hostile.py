"""The page in a browser, with texts that try to run."""

from collections.abc import Iterator
from typing import Any

import pytest

from experiments.report import page
from tests.experiments.report import stores
from tests.experiments.report.visits import opened, visit

ANCHORS = [f"trajectory/hostile/{task}%400" for task in ("quick%2Fadd", "quick%2Fgelu")]


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    out = tmp_path_factory.mktemp("page") / "report.html"
    page.write([stores.hostile(tmp_path_factory.mktemp("runs") / "hostile")], out)
    with opened(out) as tab:
        yield tab


@pytest.mark.parametrize("anchor", [*ANCHORS, f"{ANCHORS[0]}/000.00.00", f"{ANCHORS[0]}/call-2"])
def test_kernels_replies_and_errors_stay_text(tab: Any, anchor: str) -> None:
    visit(tab, anchor)
    tabs = tab.locator("[role=tab]")
    assert tabs.count() >= 2
    for number in range(tabs.count()):
        tabs.nth(number).click()
        tab.wait_for_selector(f"#panel[aria-labelledby=tab-{number}] > *")
        assert tab.locator("img").count() == 0
    assert stores.MARK in tab.locator("#trajectory").inner_text()
    assert tab.evaluate("window.harmed") is None


def test_an_inline_script_would_not_run(tab: Any) -> None:
    tab.evaluate("document.body.append(Object.assign(document.createElement('script'), {textContent: 'window.inline = 1'}))")
    assert tab.evaluate("window.inline") is None
