"""Bytes on both sides of a tensor that nobody may write: on a device, where no interpreter sees a store, they are looked at afterwards."""

import torch

from tools.executor.arguments import memory_of

WIDTH = 4096
"""On each side; a multiple of any alignment that a kernel may count on."""
RED = 0x5A
GRANULE = 16
"""A bulk store by descriptor writes whole granules: on the H200 it touched the rest of the one in which a tensor ends, and no more."""
MOST = 1 << 30
"""Bytes that are kept until the call has ended; what is allocated beyond them has no zones."""


class Zones:
    """Tensors moved to memory with red zones around it, which are looked at by `broken`."""

    def __init__(self, device: str) -> None:
        """`device` is the type of the device whose tensors are moved."""
        self.device = device
        self.bytes = 0
        self.blocks: list[tuple[torch.Tensor, int, str]] = []

    def surround(self, tensor: torch.Tensor, name: str, copy: bool = True) -> torch.Tensor:
        """The same tensor between red zones, with its values where `copy`."""
        if tensor.layout is not torch.strided or tensor.device.type != self.device:
            return tensor
        flat = memory_of(tensor)
        size = flat.numel() * flat.element_size()
        if not size or self.bytes + size > MOST:
            return tensor
        block = torch.full((2 * WIDTH + size,), RED, dtype=torch.uint8, device=tensor.device)
        self.blocks.append((block, size, name))
        self.bytes += size
        inner = block[WIDTH : WIDTH + size].view(tensor.dtype)
        if copy:
            inner.copy_(flat)
        return inner.as_strided(tensor.shape, tensor.stride())

    def broken(self) -> list[dict[str, object]]:
        """Stores into red zones: `kind`, `tensor`, `lanes` (bytes here), as the interpreter reports them."""
        found = []
        for block, size, name in self.blocks:
            after = WIDTH + -(-size // GRANULE) * GRANULE
            lanes = int((block[:WIDTH] != RED).sum() + (block[after:] != RED).sum())
            if lanes:
                found.append({"kernel": "a kernel", "kind": "store", "tensor": name, "lanes": lanes})
        return found
