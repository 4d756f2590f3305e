"""Every link of a page that a real run made."""

from pathlib import Path
from typing import Any

import pytest

from experiments.report import page
from experiments.runs import Run
from tests.experiments.report.visits import opened, visit
from tests.experiments.warm import Warm


@pytest.mark.slow
def test_every_link_of_a_real_run_shows_what_it_names(warm: Warm, tmp_path: Path) -> None:
    done = warm.run("scaffold=geak", "rounds=2", "benchmark.limit=1", "model_args.flaws=1.0", f"runs_dir={tmp_path}", "run_id=real")
    assert done.returncode == 0, done.output
    page.write([Run(tmp_path / "real")], tmp_path / "report.html")
    with opened(tmp_path / "report.html") as tab:
        seen = walked(tab, "trajectory")
        assert tab.faults == []
    attempts = {attempt["attempt"] for attempt in Run(tmp_path / "real").attempts}
    assert attempts <= {name.rpartition("/")[2] for name in seen}


def walked(tab: Any, start: str) -> set[str]:
    """Every anchor from `start` on that the page links to, each shown without a complaint in the page."""
    seen: set[str] = set()
    found = links(tab, start)
    while found - seen:
        anchor = min(found - seen)
        visit(tab, anchor)
        assert "No such" not in tab.locator("#trajectory").inner_text()
        seen.add(anchor)
        found |= links(tab, start)
    return seen


def links(tab: Any, start: str) -> set[str]:
    return set(tab.eval_on_selector_all(f"a[href^='#{start}']", "links => links.map(a => a.getAttribute('href').slice(1))"))
