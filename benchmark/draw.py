"""Seeded input generators: every tensor of every case comes from here, made by trusted code."""

import torch


class Draw:
    """A seeded source of tensors. Values are drawn on CPU, so that they are the same on every device."""

    def __init__(self, seed: int, device: str = "cpu"):
        self.device = device
        self.rng = torch.Generator().manual_seed(seed)

    def normal(self, *shape: int, dtype: torch.dtype = torch.float32, scale: float = 1.0, shift: float = 0.0) -> torch.Tensor:
        """Gaussian values with the given standard deviation and mean."""
        return (torch.randn(shape, generator=self.rng) * scale + shift).to(dtype).to(self.device)
