"""Arguments and results as raw bytes in shared memory, with a small JSON layout beside them. No pickle.

A layout node is `{"t": {dtype, shape, strides, offset, extent}}` for a tensor (strides and extent in elements, offset in bytes),
`{"d": name}` for a dtype or a layout, `{"p": "device"}` for the device of the call's tensors, `{"l": [...]}` and `{"u": [...]}` for
lists and tuples, `{"f": "inf"}` for a float, `{"v": ...}` for other plain values, and `{"x": type name}` for what cannot be sent.
"""

from collections.abc import Callable
from typing import Any

import torch

Node = dict[str, Any]
ALIGN = 256
MAX_NODES = 256
MAX_DIMS = 16
DTYPES = {
    str(d).removeprefix("torch."): d
    for d in (
        torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2, torch.float8_e4m3fnuz,
        torch.float8_e5m2fnuz, torch.int64, torch.int32, torch.int16, torch.int8, torch.uint64, torch.uint32, torch.uint16, torch.uint8,
        torch.bool, torch.complex64, torch.complex128,
    )
}  # fmt: skip

LAYOUTS = {"strided": torch.strided}


class Overflow(Exception):
    """The tensors do not fit into the shared memory."""


class BadLayout(Exception):
    """A layout that does not describe tensors inside the shared memory."""


class Copies:
    """Copies elements as `Region.read` has them copied, so many bytes in all: a forged layout names the same memory again and again."""

    def __init__(self, most: int):
        self.left = most

    def __call__(self, flat: torch.Tensor) -> torch.Tensor:
        self.left -= flat.numel() * flat.element_size()
        if self.left < 0:
            raise BadLayout("the same memory several times over")
        return flat.clone()


def span(shape: list[int], strides: list[int]) -> int:
    """Elements between the first and the last one of a strided tensor, both included."""
    if 0 in shape:
        return 0
    return 1 + sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True))


class Region:
    """A part of the shared memory (bytes, on the host or on a device) that values are written to one after another."""

    def __init__(self, memory: torch.Tensor):
        self.bytes = memory
        self.size = memory.numel()
        self.used = 0

    def clear(self) -> None:
        self.used = 0

    def settle(self) -> None:
        """Waits until what was written is there for the other process."""
        if self.bytes.device.type != "cpu":
            torch.accelerator.synchronize(self.bytes.device)

    def write(self, value: Any) -> Node:
        """Puts a value into the region and returns its layout."""
        if isinstance(value, torch.Tensor):
            return {"t": self._write_tensor(value)}
        if isinstance(value, torch.dtype | torch.layout):
            return {"d": str(value).removeprefix("torch.")}
        if isinstance(value, torch.device):
            return {"p": "device"}
        if isinstance(value, list):
            return {"l": [self.write(v) for v in value]}
        if isinstance(value, tuple):
            return {"u": [self.write(v) for v in value]}
        if type(value) is float:
            return {"f": repr(value)}
        if value is None or type(value) in (bool, int, str):
            return {"v": value}
        return {"x": type(value).__name__[:80]}

    def _write_tensor(self, tensor: torch.Tensor) -> Node:
        tensor = tensor.detach().resolve_conj().resolve_neg()
        shape, strides = list(tensor.shape), list(tensor.stride())
        extent = span(shape, strides)
        offset = -(-self.used // ALIGN) * ALIGN
        size = extent * tensor.element_size()
        if offset + size > self.size:
            raise Overflow(f"{size} bytes at {offset} of {self.size}")
        flat = tensor.as_strided((extent,), (1,), tensor.storage_offset())
        self.bytes[offset : offset + size].copy_(flat.view(torch.uint8))
        self.used = offset + size
        return {"dtype": str(tensor.dtype).removeprefix("torch."), "shape": shape, "strides": strides, "offset": offset, "extent": extent}

    def read(self, node: Any, place: Callable[[torch.Tensor], torch.Tensor] = torch.Tensor.clone) -> Any:
        """The value that a layout describes. `place` copies the flat elements of a tensor to where they are wanted.

        The layout may come from a candidate's process: everything about it is checked.
        """
        if not isinstance(node, dict) or len(node) != 1:
            raise BadLayout(str(node)[:80])
        ((kind, body),) = node.items()
        if kind == "t":
            return self._read_tensor(body, place)
        if kind == "d" and isinstance(body, str) and body in DTYPES | LAYOUTS:
            return (DTYPES | LAYOUTS)[body]
        if kind == "p":
            return self.bytes.device
        if kind in ("l", "u") and isinstance(body, list) and len(body) <= MAX_NODES:
            values = [self.read(n, place) for n in body]
            return values if kind == "l" else tuple(values)
        if kind == "f" and isinstance(body, str):
            return float(body[:40])
        if kind == "v" and (body is None or type(body) in (bool, int, str)):
            return body
        if kind == "x":
            raise BadLayout(f"{str(body)[:80]} where a tensor is expected")
        raise BadLayout(str(node)[:80])

    def _read_tensor(self, body: Any, place: Callable[[torch.Tensor], torch.Tensor]) -> torch.Tensor:
        try:
            dtype, shape, strides = DTYPES[body["dtype"]], body["shape"], body["strides"]
            numbers = [*shape, *strides, body["offset"], body["extent"]]
        except (TypeError, KeyError) as error:
            raise BadLayout(str(body)[:80]) from error
        if not all(type(n) is int and 0 <= n < 1 << 48 for n in numbers) or not len(shape) == len(strides) <= MAX_DIMS:
            raise BadLayout(str(body)[:80])
        size = body["extent"] * dtype.itemsize
        if span(shape, strides) != body["extent"] or body["offset"] % ALIGN or body["offset"] + size > self.size:
            raise BadLayout(str(body)[:80])
        flat = self.bytes[body["offset"] : body["offset"] + size]
        # A byte that is neither 0 nor 1 is no bool to torch.
        flat = flat != 0 if dtype is torch.bool else flat.view(dtype)
        return place(flat).as_strided(shape, strides)
