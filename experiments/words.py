"""How numbers are written in tables: unknown stays unknown, and a sum over unknowns says "at least"."""

from typing import Any


def clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def dollars(usd: float | None, unknown: int = 0) -> str:
    if usd is None or (unknown and not usd):
        return "unknown"
    return f"{'>=' if unknown else ''}${usd:.4f}" if 0 < usd < 0.1 else f"{'>=' if unknown else ''}${usd:.2f}"


def count(number: int | float | None, unknown: int = 0) -> str:
    if number is None or (unknown and not number):
        return "unknown"
    return f"{'>=' if unknown else ''}{number:,.0f}"


def tokens_and_dollars(tokens: int, usd: float, unknown: int) -> str:
    return f"{count(tokens, unknown)} tokens  {dollars(usd, unknown)}"


def speedup(value: float | None, ci: list[float] | None) -> str:
    if value is None:
        return "-"
    return f"{value:.2f}x" + (f" [{ci[0]:.2f}, {ci[1]:.2f}]" if ci else "")


def cell(value: Any) -> str:
    return "" if value is None else str(value)
