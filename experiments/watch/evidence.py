"""What is told of one attempt, as what the terminal draws. Every text is cleaned before."""

import difflib
import json
from collections import Counter
from collections.abc import Iterable
from typing import Any

from rich.console import Group, RenderableType
from rich.syntax import Syntax
from rich.text import Text

from experiments.watch.board import Board, Call, Record, Row
from experiments.watch.clean import line, plain
from experiments.watch.tail import Reader
from experiments.watch.words import fast_with_interval
from experiments.words import count, grid, speedup, usd

THEME = "ansi_dark"
"""The terminal's own colours, so that they are as legible as the user has made them."""


def roles(row: Row) -> str:
    return ", ".join(f"{number} {line(role)}" for role, number in Counter(call.role for call in row.calls).items())


def verdict(board: Board, reader: Reader, row: Row, attempt: Record) -> RenderableType:
    """The attempt's record, and the evaluation where it is on disk already."""
    facts = {
        "verdict": f"{attempt['verdict']} (last stage: {attempt['stage']})",
        "compiled": "yes" if attempt["compiled"] else "no",
        "correct": "yes" if attempt["correct"] else "no",
        "speedup": fast_with_interval(attempt) + (f" ({attempt['no_speedup']})" if attempt["no_speedup"] else ""),
        "round, role": f"{attempt['round']}, {attempt['role']}",
        "parents": ", ".join(attempt["parents"]) or "none",
        "strategy": attempt["strategy"] or "-",
        "reply": attempt["parse"],
        "tokens, USD": f"{count(attempt['tokens'])}, {usd(attempt['cost_usd'])}",
        "judged in": f"{attempt['wall_s']:.1f} s, {attempt['gpu_s']:.1f} s of GPU, on {attempt['device']}",
        "error": f"{attempt['error_kind']}: {attempt['error']}" if attempt["error"] else "none",
    }
    told = [f"{name:12} {line(value)}" for name, value in facts.items()]
    body = reader.evaluation(row.name, attempt["attempt"])
    return Text("\n".join([*told, *(evaluated(body) if body else ["", "the evaluation is not on disk yet"])]))


def evaluated(body: Record) -> Iterable[str]:
    if body["cases"]:
        yield from ("", "cases")
        head = ("case", "verdict", "max abs", "rel rms", "within", "shown")
        rows = [[line(c["case"], 30), ("+ " if c["ok"] else "- ") + line(c["kind"]), number(c["max_abs"]), number(c["rel_rms"]),
                 share(c["matched"]), "no" if c["held_out"] else "yes"] for c in body["cases"]]  # fmt: skip
        yield from grid(head, rows, ("case", "verdict", "shown"))
        yield from (f"{line(c['case'], 30)}: {line(c['message'])}" for c in body["cases"] if c["message"])
    if body["timing"]:
        yield from ("", f"timing against {line(body['timing']['baseline'])}, in microseconds")
        sizes = [[line(s["case"], 30), number(s["baseline_us"]), number(s["candidate_us"]), speedup(s["speedup"], s["ci"])]
                 for s in body["timing"]["sizes"]]  # fmt: skip
        yield from grid(("size", "baseline", "candidate", "speedup"), sizes, ("size",))
        yield from map(line, body["timing"]["notes"])
    if body["modelled"] and body["modelled"].get("speedup") is not None:
        yield from ("", f"modelled, not measured: {body['modelled']['speedup']:.2f}x, {line(body['modelled'].get('label', ''))}")
    yield from compiled(body["compile"])
    if body["error"] and body["error"]["detail"]:
        yield from ("", "detail", plain(json.dumps(body["error"]["detail"], indent=1, ensure_ascii=False)))
    for name in ("stdout", "stderr"):
        if body["logs"].get(name):
            yield from ("", name, plain(body["logs"][name]))


def compiled(targets: Iterable[Record]) -> Iterable[str]:
    for target in targets:
        yield from ("", f"compiled for {line(target['target'])}")
        head = ("kernel", "registers", "spills", "shared bytes")
        rows = [[line(k["name"], 40), *(number(k.get(key)) for key in ("registers", "spills", "shared_bytes"))] for k in target["kernels"]]
        yield from grid(head, rows, ("kernel",)) if rows else ()
        if target["error"]:
            yield plain(target["error"])


def number(value: Any) -> str:
    return "-" if value is None else f"{value:,}" if isinstance(value, int) else f"{value:.3g}"


def share(value: float | None) -> str:
    return "-" if value is None else f"{value:.2%}"


def source(board: Board, reader: Reader, row: Row, attempt: Record) -> RenderableType:
    if not attempt["kernel_sha"]:
        return Text(f"no code: {line(attempt['parse'])}")
    return coloured(board.run.kernel(attempt["kernel_sha"]), "python", numbers=True)


def coloured(text: str, language: str, numbers: bool = False) -> Syntax:
    return Syntax(plain(text), language, theme=THEME, line_numbers=numbers, word_wrap=True, background_color="default")


def changes(board: Board, reader: Reader, row: Row, attempt: Record) -> RenderableType:
    """To each parent with a source."""
    parents = [row.attempts[name] for name in attempt["parents"] if name in row.attempts]
    shown = [p for p in parents if p["kernel_sha"] and attempt["kernel_sha"]]
    if not shown:
        return Text("no parent with a source to compare with")
    new = board.run.kernel(attempt["kernel_sha"])
    return Group(*(difference(board.run.kernel(p["kernel_sha"]), new, p["attempt"], attempt["attempt"]) for p in shown))


def difference(old: str, new: str, before: str, after: str) -> RenderableType:
    lines = list(difflib.unified_diff(plain(old).split("\n"), plain(new).split("\n"), plain(before), plain(after), lineterm=""))
    return coloured("\n".join(lines), "diff") if lines else Text(f"the same source as {line(before)}")


def asked(row: Row, attempt: Record) -> list[Call]:
    """The last try of each call that made the attempt."""
    return [tries[-1] for call in attempt["calls"] if (tries := row.tries(call))]


def prompts(board: Board, reader: Reader, row: Row, attempt: Record) -> RenderableType:
    return told(row, attempt, lambda call: messages(board.run.prompt(call.prompt)))


def messages(body: Record) -> str:
    return "\n\n".join(f"--- {message['role']}\n{message['content']}" for message in body["messages"])


def replies(board: Board, reader: Reader, row: Row, attempt: Record) -> RenderableType:
    return told(
        row, attempt, lambda call: str(board.run.reply(call.reply).get("text", "")) if call.reply else f"{call.outcome}: {call.error}"
    )


def told(row: Row, attempt: Record, tell: Any) -> RenderableType:
    calls = asked(row, attempt)
    if not calls:
        return Text("no model was asked for this attempt")
    heads = [f"=== {line(call.id)}: {line(call.outcome)}, {count(call.tokens)} tokens, {usd(call.usd)}" for call in calls]
    return Text("\n\n".join(f"{head}\n{plain(tell(call))}" for head, call in zip(heads, calls, strict=True)))
