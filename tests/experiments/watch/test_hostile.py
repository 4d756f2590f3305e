"""What models write reaches the terminal as text, and as nothing else."""

import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from experiments.runs import Run
from experiments.watch import evidence
from experiments.watch.board import Board
from experiments.watch.clean import cell, line, plain
from experiments.watch.details import TABS
from experiments.watch.tail import Reader
from experiments.watch.words import summary, told
from tests.experiments.watch import stores
from tests.experiments.watch.stores import screen, watched

HOSTILE = "[bold red]x[/] [@click=app.quit]y[/] \x1b[31m\x1b]0;owned\x07\x9b2J\x1b[2J\u202egpj\u2028\r\x08\x00 \udc9b[link=http://e]"


@given(st.text() | st.text("\x1b\x07\x9b[]m0\n\r\t\u202e\u2028\x00a"))
def test_no_control_or_format_character_is_left(text: str) -> None:
    assert all(c.isprintable() or c in "\n\t" for c in plain(text))
    assert line(text).isprintable()
    assert cell(text).spans == []


async def test_no_escape_and_no_markup_of_a_model_is_drawn(tmp_path: Path) -> None:
    store = stores.created(tmp_path / "run")
    await stores.solve(store, text=HOSTILE)
    store.close()
    async with watched(store.path, (140, 60)) as (app, pilot):
        shown = [screen(app)]
        await pilot.press("enter")
        await pilot.pause(0.2)
        shown.append(screen(app))
        await pilot.press("enter")
        for _ in TABS:
            await pilot.pause(0.2)
            shown.append(screen(app))
            await pilot.press("right_square_bracket")
    for text in shown:
        assert all(line.isprintable() for line in text.split("\n"))
    for text in shown[1:4]:
        assert "[bold red]x[/]" in text
        assert "\\x1b[31m" in text


@pytest.mark.parametrize("tab", TABS)
def test_what_a_tab_draws_on_a_terminal_has_only_its_own_escapes(tmp_path: Path, tab: str) -> None:
    run = hostile(tmp_path)
    board, reader = Board(run), Reader(run.path)
    board.take(reader.poll())
    row = board.rows["quick/add@0"]
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, color_system=None, width=200)
    console.print(TABS[tab](board, reader, row, row.attempts["001.00.00"]))
    assert all(c.isprintable() or c == "\n" for c in out.getvalue().replace("\x1b[0m", "").replace("\x1b[1m", ""))
    assert "[bold red]x[/]" in out.getvalue()


def hostile(path: Path) -> Run:
    import asyncio

    store = stores.created(path / "run")
    asyncio.run(stores.solve(store, text=HOSTILE))
    store.close()
    return Run(store.path)


def test_a_summary_and_the_log_are_clean(tmp_path: Path) -> None:
    run = hostile(tmp_path)
    board, reader = Board(run), Reader(run.path)
    batch = reader.poll()
    board.take(batch)
    assert all(c.isprintable() or c == "\n" for c in summary(board))
    assert all(told(raw).isprintable() for raw in batch.lines)
    assert any("[bold red]x[/]" in told(raw) for raw in batch.lines)


def test_a_cut_text_says_how_much_is_missing() -> None:
    assert plain("x" * 200_007).endswith("... 7 more characters")


def test_roles_are_counted(tmp_path: Path) -> None:
    run = hostile(tmp_path)
    board = Board(run)
    board.take(Reader(run.path).poll())
    assert evidence.roles(board.rows["quick/add@0"]) == "2 generator"
