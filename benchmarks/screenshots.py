"""Pictures of a report for the documentation: overview, figures and a trajectory, light and dark.

    python -m experiments.report 'runs=runs/*' out=report.html
    python benchmarks/screenshots.py report.html docs/img [FIGURE]

Needs Playwright (extra `dev`) and Debian's chromium. FIGURE, `matrix` by default, is the one that the picture of the figures begins with.
The trajectory is the first in the table that is solved after more than one round.
"""

import sys
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

SIZE = {"width": 1280, "height": 800}
LIMIT = 300_000
"""Bytes of a picture."""


def overview(tab: Page, figure: str) -> None:
    tab.evaluate("() => scrollTo(0, 0)")


def figures(tab: Page, figure: str) -> None:
    for place in tab.locator(".chart").all():
        tab.wait_for_selector(f"#{place.get_attribute('id')} svg", state="attached")
    tab.locator(f"#figure-{figure}").evaluate("one => scrollTo(0, one.getBoundingClientRect().top + scrollY - 70)")


def trajectory(tab: Page, figure: str) -> None:
    tab.locator("#rows tbody tr:has(.strip .next):has(i.pass) th a").first.click()
    tab.wait_for_selector("#trajectory .champion")
    tabs = [tab.get_by_role("tab", name=name) for name in ("Changes", "Kernel")]
    next(one for one in tabs if one.count()).click()
    tab.evaluate("() => scrollTo(0, 0)")


VIEWS = {"overview": overview, "figures": figures, "trajectory": trajectory}


def main(report: str, out: str, figure: str = "matrix") -> int:
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        for scheme in ("light", "dark"):
            tab = browser.new_page(viewport=SIZE, color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type]
            tab.goto(Path(report).resolve().as_uri())
            for name, show in VIEWS.items():
                show(tab, figure)
                tab.wait_for_timeout(300)
                taken = tab.screenshot(path=Path(out) / f"report-{name}-{scheme}.png")
                print(f"report-{name}-{scheme}.png: {len(taken) / 1000:.0f} kB")
                assert len(taken) <= LIMIT, "too large for the repository"
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
