"""The terminal application: the run's screen at the bottom, a trajectory's and an attempt's above it."""

import asyncio
import time
from collections import deque
from typing import Any, ClassVar

from rich.text import Text
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.screen import ModalScreen, Screen
from textual.widgets import DataTable, Footer, Input, RichLog, Static

from benchmark.errors import UserError
from experiments.watch.board import Board, Row
from experiments.watch.clean import cell, line
from experiments.watch.details import TrajectoryScreen
from experiments.watch.order import ORDERS, matching, ordered
from experiments.watch.tail import SHOWN, Batch, Reader
from experiments.watch.words import COLUMNS, NUMBERS, cells, heading, told

MANY = 50
"""Rows that are changed one by one at most; beyond it the table is filled anew, which takes less."""
PAUSE_S = 0.5
"""Between two looks at the files."""
STYLES = {"running": "bold", "solved": "bold", "error": "bold underline", "asked": "dim"}
"""Of states: weights, not colours. Each state has its sign and its word besides."""
HELP = """\
enter       into a trajectory, and into an attempt
escape      back
arrows, page up, page down, home, end   move; left and right scroll a wide table
tab         from the table to the log and back
/           filter: words that are in a row (running, softmax, wrong_numeric); escape clears it
s, S        sort by the next column; the other way round
l           show or hide the log
[ and ]     the tabs of an attempt
?           this page
q, ctrl+q   leave; the run goes on

Signs of states:  . asked  > running  + solved  - rounds or stagnation used up  $ budget used up
                  x declined  ! error or limit  | interrupted  ~ waiting for a batch

A speedup is measured unless it says "modelled". >= before tokens or USD: some tries are of unknown size.
time is of a trajectory from its start to its end; left is what its own budget has left."""


class Help(ModalScreen[None]):
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,question_mark,q,enter", "dismiss", "Back")]
    CSS = """
    Help { align: center middle; }
    #help { width: 100%; max-width: 110; height: auto; max-height: 100%; border: round $foreground; padding: 0 1; }
    """

    def compose(self) -> ComposeResult:
        yield Static(Text(HELP), id="help")


class RunScreen(Screen[None]):
    """All trajectories of the run, and its log."""

    class Ready(Message):
        """The table has its columns: there is something to be drawn into."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "filter", "Filter", key_display="/"),
        Binding("s", "sort", "Sort"),
        Binding("S", "reverse", "Reverse", show=False),
        Binding("l", "log", "Log"),
        Binding("escape", "clear", "Clear filter", show=False),
    ]
    CSS = """
    #head { height: 2; padding: 0 1; text-wrap: nowrap; text-overflow: ellipsis; }
    #told { height: 1; padding: 0 1; text-style: dim; }
    #rows { height: 2fr; }
    #filter { display: none; height: 1; border: none; }
    #log { height: 1fr; min-height: 3; border-top: solid $foreground; padding: 0 1; scrollbar-size-horizontal: 0; }
    """

    def __init__(self, board: Board):
        super().__init__()
        self.board = board
        self.order = 0
        self.reverse = False
        self.words = ""
        self.shown: list[str] = []
        self.written: dict[str, list[str]] = {}
        self.widths: dict[str, int] = {}
        self.pending: deque[bytes] = deque(maxlen=SHOWN)

    def compose(self) -> ComposeResult:
        yield Static(id="head")
        yield Static(id="told")
        yield DataTable(id="rows", cursor_type="row", zebra_stripes=False)
        yield Input(id="filter", placeholder="filter", compact=True)
        yield RichLog(id="log", max_lines=1000, markup=False, highlight=False, wrap=False)
        yield Footer()

    @property
    def table(self) -> "DataTable[Text]":
        return self.query_one("#rows", DataTable)

    def on_mount(self) -> None:
        for name in COLUMNS:
            self.table.add_column(name, key=name)
        self.table.focus()
        self.post_message(self.Ready())

    def draw(self, everything: bool = False) -> None:
        """What has changed since the last time; all rows anew where their choice or order did."""
        now = time.time()
        top = heading(self.board, now)
        self.query_one("#head", Static).update(Text("\n".join(top), no_wrap=True, overflow="ellipsis"))
        rows = ordered([row for row in self.board.rows.values() if matching(row, self.words)], ORDERS[self.order], self.reverse)
        names = [row.name for row in rows]
        self.tell(len(names))
        if everything or names != self.shown or len(self.board.changed) > MANY:
            self.fill(rows, now)
        else:
            self.renew(rows, now)
        self.board.changed.clear()

    def tell(self, count: int) -> None:
        parts = [f"sorted by {ORDERS[self.order]}{', reversed' if self.reverse else ''}; s for the next"]
        parts += [f'filter "{line(self.words)}": {count} of {len(self.board.rows)}'] if self.words else []
        self.query_one("#told", Static).update(Text("  ".join(parts)))

    def fill(self, rows: list[Row], now: float) -> None:
        table = self.table
        at = self.shown[table.cursor_row] if self.shown and table.cursor_row < len(self.shown) else ""
        table.clear()
        self.written = {}
        for row in rows:
            self.written[row.name] = cells(self.board, row, now)
            table.add_row(*self.styled(row, self.written[row.name]), key=row.name)
        self.shown = [row.name for row in rows]
        self.widths = {name: max((len(row[number]) for row in self.written.values()), default=0) for number, name in enumerate(COLUMNS)}
        if at in self.written:
            table.move_cursor(row=self.shown.index(at), animate=False)

    def renew(self, rows: list[Row], now: float) -> None:
        for row in rows:
            if row.name in self.board.changed or row.state == "running":
                fresh = cells(self.board, row, now)
                for name, old, new, text in zip(COLUMNS, self.written[row.name], fresh, self.styled(row, fresh), strict=True):
                    if new != old:
                        wider = len(new) > self.widths[name]  # To measure a column takes all its rows.
                        self.widths[name] = max(self.widths[name], len(new))
                        self.table.update_cell(row.name, name, text, update_width=wider)
                self.written[row.name] = fresh

    def styled(self, row: Row, values: list[str]) -> list[Text]:
        texts = [cell(value, STYLES.get(row.state, "") if name == "state" else "") for name, value in zip(COLUMNS, values, strict=True)]
        for name, text in zip(COLUMNS, texts, strict=True):
            text.justify = "right" if name in NUMBERS else "left"
        return texts

    def write(self, batch: Batch) -> None:
        """The log's new lines, at once: while much is still being read, only the last of them are kept."""
        self.pending.extend(batch.lines)
        if self.pending and not batch.more:
            self.query_one("#log", RichLog).write(Text("\n".join(map(told, self.pending)), no_wrap=True))
            self.pending.clear()

    def action_filter(self) -> None:
        field = self.query_one("#filter", Input)
        field.styles.display = "block"
        field.focus()

    def action_clear(self) -> None:
        field = self.query_one("#filter", Input)
        field.value = ""
        field.styles.display = "none"
        self.table.focus()

    def action_sort(self) -> None:
        self.order = (self.order + 1) % len(ORDERS)
        self.draw(everything=True)

    def action_reverse(self) -> None:
        self.reverse = not self.reverse
        self.draw(everything=True)

    def action_log(self) -> None:
        log = self.query_one("#log", RichLog)
        log.display = not log.display
        if not log.display:
            self.table.focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        self.words = event.value
        self.draw(everything=True)

    def on_input_submitted(self) -> None:
        self.table.focus()

    def on_data_table_row_selected(self, event: "DataTable.RowSelected") -> None:
        app: Any = self.app
        app.push_screen(TrajectoryScreen(self.board, app.reader, self.board.rows[str(event.row_key.value)]))


class Watch(App[None]):
    """Looks at the run's files twice a second, away from the loop that draws, until it is left or the run is gone."""

    TITLE = "kernelwright watch"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("question_mark", "help", "Help", key_display="?"),
        Binding("q,ctrl+q", "quit", "Quit"),
    ]

    def __init__(self, board: Board, reader: Reader):
        super().__init__()
        self.board = board
        self.reader = reader
        self.fault: UserError | None = None
        self.looked = False
        """Whether all that was there at the start has been read."""
        self.overview = RunScreen(board)

    def on_mount(self) -> None:
        self.push_screen(self.overview)

    def on_run_screen_ready(self) -> None:
        self.run_worker(self.follow(), exclusive=True)

    async def follow(self) -> None:
        while True:
            try:
                batch = await asyncio.to_thread(self.reader.poll)
            except UserError as error:
                self.fault = error
                self.exit(return_code=2)
                return
            self.board.take(batch)
            self.overview.write(batch)
            if not batch.more:
                self.looked = True
            self.redraw(batch)
            await asyncio.sleep(0.0 if batch.more else PAUSE_S)

    def redraw(self, batch: Batch) -> None:
        """While much is still being read, what is counted only."""
        if not batch.more:
            self.overview.draw()
            top = self.screen
            if isinstance(top, TrajectoryScreen):
                top.draw()

    def action_help(self) -> None:
        self.push_screen(Help())
