"""Results that may be asked for in a tensor of the caller's."""

from torch import Tensor


def into(result: Tensor, out: Tensor | None) -> Tensor:
    """`result`, or `out` with the values of `result` where `out` is given."""
    return result if out is None else out.copy_(result)
