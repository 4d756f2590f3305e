"""A trajectory, and an attempt of it: the screens above the run's."""

import time
from collections.abc import Callable
from typing import Any, ClassVar

from rich.console import RenderableType
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import Screen
from textual.widgets import Footer, Static, TabbedContent, TabPane, Tree
from textual.widgets.tree import TreeNode

from experiments.watch import evidence
from experiments.watch.board import Board, Record, Row
from experiments.watch.clean import cell
from experiments.watch.tail import Reader
from experiments.watch.words import cells, fast, state

BACK = Binding("escape,backspace", "app.pop_screen", "Back")


class TrajectoryScreen(Screen[None]):
    """The attempts as a tree: each below its first parent, the others named."""

    BINDINGS: ClassVar[list[BindingType]] = [BACK]
    CSS = "#top { height: auto; max-height: 6; padding: 0 1; text-wrap: nowrap; text-overflow: ellipsis; } Tree { height: 1fr; }"

    def __init__(self, board: Board, reader: Reader, row: Row):
        super().__init__()
        self.board, self.reader, self.row = board, reader, row
        self.nodes: dict[str, TreeNode[str]] = {}

    def compose(self) -> ComposeResult:
        yield Static(id="top")
        tree: Tree[str] = Tree(cell(self.row.name), id="attempts")
        tree.show_root = False
        yield tree
        yield Footer()

    def on_mount(self) -> None:
        self.draw()
        tree = self.query_one(Tree)
        tree.focus()
        self.call_after_refresh(tree.move_cursor_to_line, 0)

    def draw(self) -> None:
        """The heading anew, and the attempts that have come."""
        self.query_one("#top", Static).update(self.top())
        for name, attempt in self.row.attempts.items():
            if name not in self.nodes:
                self.add(name, attempt)

    def top(self) -> Text:
        _, _, doing, round_, verdict, best, attempts, tokens, usd, seconds, left = cells(self.board, self.row, time.time())
        lines = [
            f"{self.row.name} | {state(self.row)} {doing} | {seconds or 'not begun'}",
            f"{attempts} attempts to round {round_ or '-'} | last {verdict or '-'} | best {best} | {tokens} tokens | {usd}",
            f"{len(self.row.calls)} tries of calls: {evidence.roles(self.row) or '-'}{' | left: ' + left if left else ''}",
        ]
        if self.row.ended and self.row.ended["error"]:
            lines.append(self.row.ended["error"].strip().splitlines()[-1])
        text = Text("\n").join(cell(written) for written in lines)
        text.no_wrap, text.overflow = True, "ellipsis"
        return text

    def add(self, name: str, attempt: Record) -> None:
        tree: Tree[str] = self.query_one(Tree)
        parent = next((self.nodes[p] for p in attempt["parents"] if p in self.nodes), tree.root)
        self.nodes[name] = parent.add(self.label(name, attempt), data=name, expand=True)
        tree.root.expand()

    def label(self, name: str, attempt: Record) -> Text:
        others = attempt["parents"][1:]
        passed = attempt["verdict"] == "pass"
        parts = [name, f"{'+' if passed else '-'} {attempt['verdict']}", fast(attempt) if passed else "", attempt["role"],
                 f"also from {', '.join(others)}" if others else "", attempt["strategy"]]  # fmt: skip
        return cell(" | ".join(part for part in parts if part), "bold" if passed else "", 300)

    def on_tree_node_selected(self, event: "Tree.NodeSelected[str]") -> None:
        if event.node.data:
            self.app.push_screen(AttemptScreen(self.board, self.reader, self.row, self.row.attempts[event.node.data]))


TABS: dict[str, Callable[[Board, Reader, Row, Record], RenderableType]] = {
    "Verdict": evidence.verdict,
    "Source": evidence.source,
    "Diff": evidence.changes,
    "Prompt": evidence.prompts,
    "Reply": evidence.replies,
}


class AttemptScreen(Screen[None]):
    """A tab is read from disk when it is first looked at."""

    BINDINGS: ClassVar[list[BindingType]] = [
        BACK,
        Binding("right_square_bracket", "turn(1)", "Next tab", key_display="]"),
        Binding("left_square_bracket", "turn(-1)", "Previous tab", key_display="["),
    ]
    CSS = """
    #which { height: 1; padding: 0 1; text-style: bold; }
    TabbedContent { height: 1fr; }
    TabPane { padding: 0; }
    VerticalScroll { padding: 0 1; }
    """

    def __init__(self, board: Board, reader: Reader, row: Row, attempt: Record):
        super().__init__()
        self.board, self.reader, self.row, self.attempt = board, reader, row, attempt
        self.read: set[str] = set()

    def compose(self) -> ComposeResult:
        yield Static(cell(f"{self.row.name} | {self.attempt['attempt']} | {self.attempt['verdict']} | {self.attempt['role']}"), id="which")
        with TabbedContent():
            for name in TABS:
                with TabPane(name, id=name.lower()), VerticalScroll():
                    yield Static(id=f"text-{name.lower()}")
        yield Footer()

    def on_mount(self) -> None:
        self.turn_to("verdict")

    def on_tabbed_content_tab_activated(self, event: TabbedContent.TabActivated) -> None:
        self.turn_to(str(event.pane.id))

    def turn_to(self, name: str) -> None:
        if name not in self.read:
            self.read.add(name)
            shown: Any = TABS[name.capitalize()](self.board, self.reader, self.row, self.attempt)
            self.query_one(f"#text-{name}", Static).update(shown)
        self.query_one(f"#{name} VerticalScroll").focus()

    def action_turn(self, step: int) -> None:
        names = [name.lower() for name in TABS]
        tabs = self.query_one(TabbedContent)
        tabs.active = names[(names.index(tabs.active) + step) % len(names)]
