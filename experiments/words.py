"""How numbers and tables are written: unknown stays unknown, and a sum over unknowns says "at least"."""

from collections.abc import Callable, Sequence


def clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def usd(amount: float | None, unknown: int = 0) -> str:
    """`unknown` is how many tries the amount leaves out."""
    if amount is None or (unknown and not amount):
        return "$ unknown"
    return f"{'>=' if unknown else ''}{money(amount)}"


def count(number: float | None, unknown: int = 0) -> str:
    """`unknown` is how many tries the number leaves out."""
    if number is None or (unknown and not number):
        return "unknown"
    return f"{'>=' if unknown else ''}{number:,.0f}"


def number(value: float) -> str:
    return f"{value:,.0f}"


def money(value: float) -> str:
    """USD; below ten cents to the hundredth of a cent."""
    return f"${value:.{4 if 0 < value < 0.1 else 2}f}"


def between(exact: float | None, low: float | None, high: float | None, write: Callable[[float], str]) -> str:
    """A number that is known, or its bounds as far as they are."""
    if exact is not None:
        return write(exact)
    ends = [f">={write(low)}"] if low else []
    return ", ".join([*ends, *([f"<={write(high)}"] if high is not None else [])]) or "unknown"


def speedup(value: float | None, ci: list[float] | None) -> str:
    if value is None:
        return "-"
    return f"{value:.2f}x" + (f" [{ci[0]:.2f}, {ci[1]:.2f}]" if ci else "")


def grid(head: Sequence[str], rows: Sequence[Sequence[str]], left: Sequence[str]) -> list[str]:
    """Aligned lines of a table, as wide as they need to be, so that paths can be copied. Columns named in `left` are text."""
    widths = [max(len(row[i]) for row in (head, *rows)) for i in range(len(head))]
    lines = []
    for row in (head, *rows):
        cells = [cell.ljust(w) if title in left else cell.rjust(w) for title, cell, w in zip(head, row, widths, strict=True)]
        lines.append("  ".join(cells).rstrip())
    return lines
