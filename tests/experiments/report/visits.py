"""An open page, and ways through it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = Path("/usr/bin/chromium")


@contextmanager
def opened(out: Path, **options: Any) -> Iterator[Any]:
    """The page in Debian's chromium; its `faults` are what the console complained of. No event loop can run beside it in this thread."""
    playwright = pytest.importorskip("playwright.sync_api")
    if not CHROMIUM.exists():
        pytest.skip("needs Debian's chromium")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        tab = browser.new_page(**options)
        tab.faults = []
        tab.on("console", lambda message: tab.faults.append(message.text) if message.type in ("error", "warning") else None)
        tab.on("pageerror", lambda error: tab.faults.append(str(error)))
        tab.goto(out.as_uri())
        yield tab
        browser.close()


def visit(tab: Any, anchor: str) -> None:
    """Goes to an anchor and waits until the page shows it; by selector, for the page lets nobody evaluate strings."""
    tab.evaluate("hash => { location.hash = hash }", anchor)
    tab.wait_for_selector(f'html[data-ready="#{anchor}"]', state="attached")


def shown(tab: Any) -> list[str]:
    """Tasks of the rows that the table shows, in order."""
    return [str(task) for task in tab.eval_on_selector_all("#rows tbody tr:not([hidden])", "rows => rows.map(row => row.dataset.task)")]
