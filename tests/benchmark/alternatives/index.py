"""Index by positions."""

import torch
from torch import Tensor

from tests.benchmark.alternatives import Alternative


def masked_select(input: Tensor, mask: Tensor) -> Tensor:
    """Each element that is chosen goes to the place that a running count gives it."""
    input, mask = (tensor.reshape(-1) for tensor in torch.broadcast_tensors(input, mask))
    places = mask.cumsum(0)
    count = int(places[-1])
    out = torch.empty(count + 1, dtype=input.dtype, device=input.device)
    return out.scatter_(0, torch.where(mask, places - 1, count), input)[:count].clone()


def expand_where(input: Tensor, target_sizes: list[int], cond: Tensor, other: Tensor) -> Tensor:
    """Picks from both, laid one upon the other."""
    dtype = torch.promote_types(input.dtype, other.dtype)
    expanded, cond, other = torch.broadcast_tensors(input.expand(*target_sizes).to(dtype), cond, other.to(dtype))
    return torch.stack([other, expanded]).gather(0, cond.long().unsqueeze(0)).squeeze(0)


ALTERNATIVES = {
    "masked_select": Alternative(masked_select, without=("aten::masked_select",)),
    "expand_where": Alternative(expand_where, without=("aten::where",)),
}
