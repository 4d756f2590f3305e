"""Whether tensors share memory, element by element: views of one buffer that lie side by side do not."""

from collections.abc import Sequence

import torch

from tools.executor.arguments import memory_of
from tools.executor.channel import Message

MOST = 1 << 28
"""Elements between first and last beyond which two interleaved tensors count as apart: looking would take too much memory."""


def overlaps(outputs: Sequence[torch.Tensor], inputs: Sequence[torch.Tensor], earlier: Sequence[torch.Tensor]) -> list[Message]:
    """Pairs that share memory: `output`, what it shares `with` (input, output, earlier), and the number of that one."""
    found = []
    for number, output in enumerate(outputs):
        groups = {"input": inputs, "output": outputs[:number], "earlier": earlier}
        for name, others in groups.items():
            found += [{"output": number, "with": name, "number": i} for i, other in enumerate(others) if share(output, other)]
    return found


def share(one: torch.Tensor, other: torch.Tensor) -> bool:
    if not one.numel() or not other.numel() or one.device != other.device:
        return False
    (low, end), (other_low, other_end) = _span(one), _span(other)
    if end <= other_low or other_end <= low:
        return False
    base = min(low, other_low)
    if max(end, other_end) - base > MOST:
        return False
    touched = torch.zeros(max(end, other_end) - base, dtype=torch.bool)
    touched[_bytes(one, base)] = True
    return bool(touched[_bytes(other, base)].any())


def _span(tensor: torch.Tensor) -> tuple[int, int]:
    flat = memory_of(tensor)
    return tensor.data_ptr(), tensor.data_ptr() + flat.numel() * flat.element_size()


def _bytes(tensor: torch.Tensor, base: int) -> torch.Tensor:
    """Where the elements begin, in bytes from `base`; elements are aligned, so that two of them share their first byte or none."""
    at = torch.tensor(tensor.data_ptr() - base)
    for size, stride in zip(tensor.shape, tensor.stride(), strict=True):
        at = at[..., None] + torch.arange(size) * stride * tensor.element_size()
    return at.reshape(-1)
