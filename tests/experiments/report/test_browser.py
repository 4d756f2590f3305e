"""The charts of a page in a browser: drawn under the page's own policy, without a network, accessible."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from experiments.report import charts, page
from tests.experiments.report import stores
from tests.experiments.report.visits import opened


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("page") / "report.html"
    page.write([stores.hostile(tmp_path_factory.mktemp("runs") / "r")], out)
    return out


@pytest.fixture(scope="module")
def tab(out: Path) -> Iterator[Any]:
    with opened(out, color_scheme="light") as tab:
        tab.requests = []
        tab.on("request", lambda request: tab.requests.append(request.url))
        tab.reload()
        tab.locator("#figures").scroll_into_view_if_needed()
        tab.wait_for_selector(".chart svg")
        yield tab


def test_charts_are_drawn_in_silence_and_without_a_network(tab: Any, out: Path) -> None:
    assert tab.locator(".chart svg").count() == tab.locator(".chart").count() > 0
    assert tab.faults == []
    assert [url for url in tab.requests if not url.startswith(("data:", "blob:"))] == [out.as_uri()]


def test_every_link_within_the_page_has_an_end(tab: Any) -> None:
    anchors = tab.eval_on_selector_all(
        "a[href^='#']:not([href^='#trajectory'])", "links => links.map(a => a.getAttribute('href').slice(1))"
    )
    ends = set(tab.eval_on_selector_all("[id]", "all => all.map(one => one.id)"))
    assert anchors
    assert set(anchors) <= ends


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(tab: Any, out: Path, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    context = tab.context.browser.new_context(bypass_csp=True, color_scheme=scheme)
    other = context.new_page()
    other.goto(out.as_uri())
    other.locator("#figures").scroll_into_view_if_needed()
    other.wait_for_selector(".chart svg")
    found = axe.Axe().run(other).response["violations"]
    context.close()
    assert [one["id"] for one in found if one["impact"] in ("serious", "critical")] == []


def test_ratios_nobody_measured_have_no_chart() -> None:
    table = pl.DataFrame({"left": ["a"], "right": ["b"], "ratio": [None], "low": [None], "high": [None], "faster_pairs": [0]})
    assert charts.ratios(table) is None
    drawn = charts.ratios(table.with_columns(ratio=2.0, low=1.5, high=2.5))
    assert drawn is not None
    assert {"value": 1.0} in [row for rows in drawn["datasets"].values() for row in rows]
