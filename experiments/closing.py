"""The table that a run closes with: what became of each task, and where its best kernel lies."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agents.budget import Account, CallLimits
from agents.ledger import Ledger
from experiments.records import champion, dollars, speedups, tokens, unpriced, unsure
from experiments.store import RunStore
from experiments.words import count, grid, speedup, usd

NOT_STARTED = {"champion": None, "end_reason": "not started", "error": None}


def lines(store: RunStore, asked: Sequence[tuple[str, str, int]]) -> list[str]:
    """The closing table of a run. `asked` are (trajectory, task, seed)."""
    seeds = len({seed for _, _, seed in asked}) > 1
    rows, reasons = [], set()
    for trajectory, task, seed in asked:
        cells, reason = row(store, trajectory, task)
        rows.append((task, *[str(seed)] * seeds, *cells))
        reasons |= {f"speedup '-': {reason}"} if reason else set()
    head = ("task", *["seed"] * seeds, "verdict", "rounds", "speedup", "tokens", "best kernel")
    return ["", *grid(head, rows, ("task", "verdict", "best kernel")), "", *sorted(reasons), *summary(store, len(asked))]


def row(store: RunStore, trajectory: str, task: str) -> tuple[list[str], str | None]:
    """Verdict, rounds, speedup, tokens and path of one trajectory, and why it has no speedup although it was solved."""
    ended: dict[str, Any] = store.trajectories.get(trajectory, NOT_STARTED)
    attempts = [a for a in store.attempts.values() if a["trajectory"] == trajectory]
    best = champion({**ended, "trajectory": trajectory}, store.attempts)
    calls = [c for c in store.calls if c["identity"]["trajectory"] == trajectory]
    rounds = max((a["round"] for a in attempts), default=-1) + 1
    return [
        verdict(ended, attempts, best),
        str(rounds),
        speedup(best["speedup"], best["speedup_ci"]) if best else "-",
        count(tokens(calls)["total"], unsure(calls)),
        short(store.best(task)) if best else "-",
    ], best["no_speedup"] if best and best["speedup"] is None else None


def verdict(ended: dict[str, Any], attempts: list[dict[str, Any]], best: dict[str, Any] | None) -> str:
    """`pass`, or the end reason with the last verdict that there was; both while a run waits for a batch."""
    if best:
        return "pass (waiting)" if ended["end_reason"] == "waiting" else "pass"
    last = max(attempts, key=lambda a: a["attempt"], default=None)
    return f"{last['verdict']} ({ended['end_reason']})" if last else ended["end_reason"]


def summary(store: RunStore, asked: int) -> list[str]:
    solved = [c["speedup"] for t in store.trajectories.values() if (c := champion(t, store.attempts))]
    compiled = len({a["trajectory"] for a in store.attempts.values() if a["compiled"]})
    of_solved, of_all = speedups(solved, asked)
    spent = f"{count(tokens(store.calls)['total'], unsure(store.calls))} tokens  {usd(dollars(store.calls)[0], unpriced(store.calls))}"
    calls = len({c["call_id"] for c in store.calls})
    lines = [f"correct {len(solved)}/{asked}  compiled {compiled}/{asked}  attempts {len(store.attempts)}  calls {calls}  {spent}"]
    if of_solved is not None:
        everywhere = f", {of_all:.2f}x over all {asked} (a failure counts as 1.0)" if of_all is not None else ""
        lines.append(f"geometric-mean speedup {of_solved:.2f}x over {sum(s is not None for s in solved)} solved and timed{everywhere}")
    return lines


def budgets(ledger: Ledger) -> list[str]:
    """What is used up of each limit that was set; of trajectories and calls, by the one that used most of it."""
    levels = [
        ("run", ledger.limits, [ledger.run]),
        ("trajectory", ledger.limits.trajectory, list(ledger.trajectories.values())),
        ("call", ledger.limits.call, list(ledger.calls.values())),
    ]
    return [line for level, limits, accounts in levels if (line := used(level, limits, accounts, ledger.clock()))]


def used(level: str, limits: CallLimits, accounts: Sequence[Account], now: float) -> str:
    parts = []
    for key, limit in vars(limits).items():
        # When a trajectory or a call was over is nothing that its account knows.
        if isinstance(limit, int | float) and (key != "wall_s" or level == "run"):
            most = max((a.wall_s(now) if key == "wall_s" else getattr(a.spent, key) for a in accounts), default=0)
            parts.append(f"${most:,.4f} of ${limit:,g}" if key == "usd" else f"{most:,.0f} of {limit:,g} {key}")
    return f"budget of {'the run: ' if level == 'run' else f'a {level}: at most '}{', '.join(parts)}" if parts else ""


def short(path: Path) -> str:
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)
