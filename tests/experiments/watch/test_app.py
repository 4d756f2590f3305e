"""The application under textual's pilot."""

import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import DataTable, Input

from experiments.store import RunStore
from experiments.watch.app import RunScreen
from experiments.watch.details import AttemptScreen, TrajectoryScreen
from tests.experiments import cli
from tests.experiments.watch import stores
from tests.experiments.watch.stores import screen, watched


async def until(pilot: "Pilot[None]", met: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not met():
        assert time.monotonic() < deadline
        await pilot.pause(0.05)


def stamps(path: Path) -> dict[Path, int]:
    return {found: found.stat().st_mtime_ns for found in [path, *path.rglob("*")]}


async def test_the_table_shows_every_trajectory_that_was_asked_for(tmp_path: Path) -> None:
    path = await stores.solved(tmp_path / "run")
    async with watched(path, (100, 60)) as (app, _):
        shown = screen(app)
    assert "interrupted" in shown.splitlines()[0]
    assert "quick/add@0" in shown
    assert "+ solved" in shown
    assert "1.50x modelled" in shown
    assert ". asked" in shown
    assert "trajectory_start quick/add@0" in shown


@pytest.mark.parametrize("plain", [False, True])
async def test_it_fits_80_by_24_also_without_colours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, plain: bool) -> None:
    if plain:
        monkeypatch.setenv("NO_COLOR", "1")
    path = await stores.solved(tmp_path / "run")
    async with watched(path, (80, 24)) as (app, _):
        lines = screen(app).splitlines()
    assert len(lines) == 24
    assert max(map(len, lines)) <= 80
    assert "Filter" in lines[-1]
    assert lines[1].startswith(" 1/2 ended")
    assert "Help" in lines[-1]
    assert any("quick/add@0" in line and "solved" in line and "pass" in line for line in lines)


async def test_enter_leads_to_the_tree_of_attempts_and_to_an_attempt(tmp_path: Path) -> None:
    path = await stores.solved(tmp_path / "run")
    async with watched(path) as (app, pilot):
        await pilot.press("enter")
        await pilot.pause()
        assert isinstance(app.screen, TrajectoryScreen)
        assert {name: node.parent and node.parent.data for name, node in app.screen.nodes.items()} == {
            "000.00.00": None, "001.00.00": "000.00.00",
        }  # fmt: skip
        await pilot.press("down", "enter")
        await pilot.pause()
        assert isinstance(app.screen, AttemptScreen)
        wanted = ("0.125", "BLOCK = 2048", "-BLOCK = 1024", "asked: tile it", "answered: tile it")
        for text in wanted:
            assert text in screen(app)
            await pilot.press("right_square_bracket")
            await pilot.pause(0.2)
        await pilot.press("escape", "escape")
        await pilot.pause()
        assert isinstance(app.screen, RunScreen)


async def test_filter_sort_help_and_log_by_keys(tmp_path: Path) -> None:
    path = await stores.solved(tmp_path / "run")
    async with watched(path) as (app, pilot):
        table = app.screen.query_one(DataTable)
        await pilot.press("slash", *"sum")
        await pilot.pause()
        assert table.row_count == 1
        await pilot.press("escape")
        await pilot.pause()
        assert (table.row_count, app.screen.query_one(Input).display) == (2, False)
        await pilot.press("S")
        await pilot.pause()
        assert [str(row.value) for row in table.rows] == ["quick/sum@0", "quick/add@0"]
        await pilot.press("question_mark")
        await pilot.pause()
        assert "Signs of states" in screen(app)
        await pilot.press("escape", "l")
        await pilot.pause()
        assert "trajectory_start quick/add@0" not in screen(app)


async def test_a_run_that_grows_is_followed(tmp_path: Path) -> None:
    path = stores.begun(tmp_path / "run")
    async with watched(path) as (app, pilot):
        assert "solved" not in screen(app)
        store = RunStore(path)
        await stores.solve(store)
        store.close()
        await until(pilot, lambda: "+ solved" in screen(app))
        await pilot.press("enter")
        await pilot.pause()
        assert len(app.screen.nodes) == 2  # type: ignore[attr-defined]


async def test_it_ends_when_the_run_is_removed(tmp_path: Path) -> None:
    path = stores.begun(tmp_path / "run")
    async with watched(path) as (app, pilot):
        shutil.rmtree(path)
        await until(pilot, lambda: app.fault is not None)
    assert "was removed while it was being watched" in str(app.fault)
    assert app.return_code == 2


async def test_nothing_of_the_run_is_changed(tmp_path: Path) -> None:
    path = await stores.solved(tmp_path / "run")
    before = stamps(path)
    async with watched(path) as (_, pilot):
        await pilot.press("enter", "enter")
        await pilot.pause(0.6)
    assert stamps(path) == before


async def test_ten_thousand_attempts_open_whole(tmp_path: Path) -> None:
    stores.large(tmp_path / "large")
    async with watched(tmp_path / "large", (120, 40)) as (app, _):
        assert screen(app).startswith(" finished")
        assert "2000/2000 ended" in screen(app)
        assert sum(len(row.attempts) for row in app.board.rows.values()) == 10_000


@pytest.mark.slow
async def test_a_real_run_is_followed_to_its_end(tmp_path: Path) -> None:
    words = ("scaffold=oneshot", "benchmark=quick", "benchmark.limit=2", f"runs_dir={tmp_path}", "run_id=live")
    process = cli.start(*words)
    path = tmp_path / "live"
    try:
        cli.until(process, lambda: (path / "log.jsonl").exists() and "trajectory_start" in (path / "log.jsonl").read_text())
        async with watched(path) as (app, pilot):
            assert app.board.state == "running"
            seen: set[str] = set()
            deadline = time.monotonic() + 240
            while app.is_running and app.board.state == "running" and time.monotonic() < deadline:
                seen |= {row.doing for row in app.board.rows.values()}
                await pilot.pause(0.05)
            await until(pilot, lambda: screen(app).startswith(" finished"))
            assert {"generate/generator", "generate/executor"} & seen
    finally:
        out, error = process.communicate(timeout=60)
    assert process.returncode == 0, out + error


def test_a_pipe_gets_one_summary(tmp_path: Path) -> None:
    run = stores.finished(tmp_path / "run")
    done = subprocess.run(
        [sys.executable, "-m", "experiments.watch", f"run={run.path}"], capture_output=True, text=True, cwd=cli.ROOT, check=True
    )
    assert done.stdout.splitlines()[0].startswith("interrupted | ")
    assert "+ solved" in done.stdout
    assert "\x1b" not in done.stdout
