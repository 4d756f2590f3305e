"""A page in a browser: charts drawn under its own policy without a network, print, themes, axe."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from experiments.report import page
from tests.experiments import compared
from tests.experiments.report.visits import opened

SPEEDS = {f"quick/{i}": 0.5 + i / 4 if i % 3 else compared.FAILED for i in range(12)}
LABEL = ".chart .role-axis-label text"


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two methods with measured speedups, in three runs."""
    runs, out = tmp_path_factory.mktemp("runs"), tmp_path_factory.mktemp("page") / "report.html"
    slower = {task: speed and speed / 1.5 for task, speed in SPEEDS.items()}
    geak = [compared.run(runs / f"g{seed}", SPEEDS, seed=seed) for seed in (0, 1)]
    page.write([*geak, compared.run(runs / "o", slower, scaffold="oneshot")], out)
    return out


@pytest.fixture(scope="module")
def tab(out: Path) -> Iterator[Any]:
    with opened(out, color_scheme="dark") as tab:
        tab.requests = []
        tab.on("request", lambda request: tab.requests.append(request.url))
        tab.reload()
        drawn(tab)
        yield tab


def drawn(tab: Any) -> None:
    """Waits until the last chart is."""
    for place in tab.locator(".chart").all():
        tab.wait_for_selector(f"#{place.get_attribute('id')} svg", state="attached")


def fill(tab: Any, selector: str = LABEL) -> str:
    return str(tab.eval_on_selector(selector, "one => getComputedStyle(one).fill"))


def test_charts_are_drawn_in_silence_and_without_a_network(tab: Any, out: Path) -> None:
    assert tab.locator(".chart svg").count() == tab.locator(".chart").count() > 1
    assert tab.faults == []
    assert [url for url in tab.requests if not url.startswith(("data:", "blob:"))] == [out.as_uri()]


def test_on_a_narrow_screen_nothing_but_tables_and_charts_scrolls_sideways(tab: Any) -> None:
    usual = tab.viewport_size
    tab.set_viewport_size({"width": 420, "height": 800})
    assert tab.evaluate("() => document.documentElement.scrollWidth") == 420
    tab.set_viewport_size(usual)


def test_a_chart_takes_the_colours_of_the_theme(tab: Any) -> None:
    before = fill(tab)
    tab.get_by_role("button", name="Switch between light and dark").click()
    assert fill(tab) != before
    tab.get_by_role("button", name="Switch between light and dark").click()
    assert fill(tab) == before


def test_a_dark_page_is_printed_on_white_with_every_chart(tab: Any) -> None:
    tab.emulate_media(media="print")
    printed = tab.evaluate("() => getComputedStyle(document.body).backgroundColor")
    ink = fill(tab)
    wide = tab.eval_on_selector_all(".chart", "all => all.filter(one => one.scrollWidth > one.clientWidth + 1).map(one => one.id)")
    pages = tab.pdf(format="A4")
    tab.emulate_media(media="screen")
    assert printed == "rgb(255, 255, 255)"
    assert ink == "rgb(0, 0, 0)"
    assert wide == []
    assert pages.startswith(b"%PDF")


def test_what_was_never_in_view_is_drawn_too(tab: Any, out: Path) -> None:
    other = tab.context.browser.new_page(viewport={"width": 1000, "height": 60})
    other.goto(out.as_uri())
    drawn(other)
    assert other.evaluate("() => scrollY") == 0
    other.close()


def test_every_link_within_the_page_has_an_end(tab: Any) -> None:
    anchors = tab.eval_on_selector_all(
        "a[href^='#']:not([href^='#trajectory'])", "links => links.map(a => a.getAttribute('href').slice(1))"
    )
    ends = set(tab.eval_on_selector_all("[id]", "all => all.map(one => one.id)"))
    assert "figure-compare-pairs" in anchors
    assert set(anchors) <= ends


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(tab: Any, out: Path, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    context = tab.context.browser.new_context(bypass_csp=True, color_scheme=scheme)
    other = context.new_page()
    other.goto(out.as_uri())
    drawn(other)
    found = axe.Axe().run(other).response["violations"]
    context.close()
    assert [one["id"] for one in found if one["impact"] in ("serious", "critical")] == []
