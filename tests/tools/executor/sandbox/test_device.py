"""What of a device's session needs no device."""

from typing import Any

import torch

from tools.executor.sandbox.device import DeviceSession


class Late(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: tuple = (), kwargs: Any = None) -> Any:
        return torch.ones(3)

    def __getattribute__(self, name: str) -> Any:
        return lambda *args, **kwargs: torch.ones(3)

    """Of `__torch_dispatch__` too."""


def test_a_result_that_computes_when_it_is_looked_at_is_taken_as_it_lies() -> None:
    later = torch.zeros(3)
    for name in ("detach", "cpu"):
        setattr(later, name, lambda: torch.ones(3))
    for tensor in (torch.zeros(3).as_subclass(Late), later):
        taken = DeviceSession(0, "").to_host(tensor)
        assert type(taken) is torch.Tensor
        assert torch.equal(taken, torch.zeros(3))
