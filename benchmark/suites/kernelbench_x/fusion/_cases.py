"""Cases that several tasks have in common."""

from typing import Any

from benchmark.task import Arguments, Case, Maker, hidden, shown


def shared(
    seen: dict[str, Maker], unseen: dict[str, Maker], options: dict[str, Arguments] | None = None, **more: Maker
) -> tuple[Case, ...]:
    """Common cases with further options of a task by case, and shown cases of its own."""

    def optioned(makers: dict[str, Maker]) -> dict[str, Any]:
        return {name: lambda d, name=name: makers[name](d) | (options or {}).get(name, {}) for name in makers}

    return shown(optioned(seen) | more) + hidden(optioned(unseen))
