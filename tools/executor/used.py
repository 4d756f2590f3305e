"""The operators that run inside a block, by name."""

from typing import Any

from torch.utils._python_dispatch import TorchDispatchMode

from tools.executor.aten import COPIES, FREE, MOVES


class Used(TorchDispatchMode):
    """Views apart."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple = (), kwargs: dict[str, Any] | None = None) -> Any:
        if not func.is_view:
            self.names.add(func.overloadpacket.__name__)
        return func(*args, **(kwargs or {}))


def moves(names: set[str]) -> frozenset[str]:
    """Of the operators of a reference those that only move elements; copies count as such where it does nothing else."""
    if names <= FREE | COPIES:
        return COPIES
    return MOVES if names <= FREE | COPIES | MOVES else frozenset(names & MOVES)
