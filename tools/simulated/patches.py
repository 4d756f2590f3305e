"""Attributes replaced for a while."""

from types import TracebackType
from typing import Any, Self

_ABSENT = object()


class Patches:
    """Sets attributes and puts the former ones back, last first."""

    def __init__(self) -> None:
        self._former: list[tuple[Any, str, Any]] = []

    def set(self, owner: Any, name: str, value: Any) -> None:
        self._former.append((owner, name, owner.__dict__.get(name, _ABSENT)))
        setattr(owner, name, value)

    def restore(self) -> None:
        while self._former:
            owner, name, value = self._former.pop()
            if value is _ABSENT:
                delattr(owner, name)
            else:
                setattr(owner, name, value)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.restore()
