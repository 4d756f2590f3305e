"""Run by Nsight Compute inside the walls, as a program of its own: `ncu_target.py FOLDER`. It imports nothing of ours.

FOLDER holds `candidate.py`, `inputs.bin` and `call.json`: {"entry", "gpu", "args", "kwargs"} with layouts as in `tools.executor.wire`.
"""

import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import torch


def tensor(memory: torch.Tensor, body: dict[str, Any]) -> torch.Tensor:
    dtype = getattr(torch, body["dtype"])
    flat = memory[body["offset"] : body["offset"] + body["extent"] * dtype.itemsize].view(dtype)
    return flat.cuda().as_strided(body["shape"], body["strides"])


def value(memory: torch.Tensor, node: dict[str, Any]) -> Any:
    ((kind, body),) = node.items()
    if kind == "t":
        return tensor(memory, body)
    if kind in ("l", "u"):
        items = [value(memory, item) for item in body]
        return items if kind == "l" else tuple(items)
    if kind == "p":
        return torch.device("cuda", torch.cuda.current_device())
    if kind == "d":
        return getattr(torch, body)
    return float(body) if kind == "f" else body


def main(folder: Path) -> None:
    call = json.loads((folder / "call.json").read_text())
    torch.cuda.set_device(call["gpu"])
    memory = torch.frombuffer(bytearray((folder / "inputs.bin").read_bytes()), dtype=torch.uint8)
    args = [value(memory, node) for node in call["args"]]
    kwargs = {name: value(memory, node) for name, node in call["kwargs"].items()}
    spec = importlib.util.spec_from_file_location("candidate", folder / "candidate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["candidate"] = module
    spec.loader.exec_module(module)
    function = next(f for name in (call["entry"], "kernel_function") if callable(f := getattr(module, name, None)))
    # The first call compiles and tunes.
    function(*args, **kwargs)
    torch.cuda.synchronize()
    torch.cuda.profiler.start()
    function(*args, **kwargs)
    torch.cuda.synchronize()
    torch.cuda.profiler.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
