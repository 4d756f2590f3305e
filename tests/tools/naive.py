"""A harness of the usual kind, as a measure of what a hack is: in the candidate's process, seeded inputs, `allclose`, own clock.

`python tests/tools/naive.py FILE...` gives each candidate a throw-away process and prints a line of JSON:
`{"name", "passes", "said"}`. It believes an exit status of 0 as long as nobody has said FAIL. On a GPU, or on the
simulated device without one. Never give it what harms the machine: nothing is walled in.
"""

import argparse
import atexit
import contextlib
import importlib.util
import json
import os
import select
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import torch

from benchmark.suites import find
from tests.tools.corpus import Candidate, hostile
from tools import platforms, simulated
from tools.platforms.simulated import SHEET

SEED, TRIALS, CALLS = 42, 3, 10
SECONDS = 60.0

INPUTS: dict[str, Callable[[], list[Any]]] = {
    "softmax": lambda: [torch.randn(16, 4096), -1],
    "gelu": lambda: [torch.randn(16384)],
    "silu": lambda: [torch.randn(16384)],
    "add": lambda: [torch.randn(16384), torch.randn(16384)],
    "fused_add_gelu": lambda: [torch.randn(16384), torch.randn(16384)],
    "sum": lambda: [torch.randn(16, 4096), -1],
    "argmax": lambda: [torch.randn(16, 1024), 1],
    "layer_norm": lambda: [torch.randn(4, 1 << 17), [1 << 17], torch.ones(1 << 17), torch.zeros(1 << 17)],
    "rms_norm": lambda: [torch.randn(8, 1 << 16), [1 << 16], torch.ones(1 << 16)],
    "cross_entropy": lambda: [torch.rand(128, 1000), torch.randint(0, 1000, (128,))],
    "matmul": lambda: [torch.rand(64, 256), torch.rand(256, 64)],
    "matmul_w8a8": lambda: [torch.randn(64, 256), torch.randn(256, 64)],
}
"""Inputs as such harnesses draw them: standard normal or uniform, one shape, parameters as a fresh module has them."""


def place(value: Any, device: Callable[[torch.Tensor], torch.Tensor]) -> Any:
    return device(value) if isinstance(value, torch.Tensor) else value


def correct(model: Callable[..., Any], reference: Callable[..., Any], trials: list[list[Any]]) -> bool:
    for inputs in trials:
        expected = reference(*inputs).cpu()
        output = model(*inputs)
        torch.cuda.synchronize()
        if not torch.allclose(output.cpu(), expected, atol=1e-2, rtol=1e-2):
            return False
    return True


def timed(call: Callable[..., Any], inputs: list[Any]) -> float:
    call(*inputs)
    torch.cuda.synchronize()
    begun = time.perf_counter()
    for _ in range(CALLS):
        call(*inputs)
    torch.cuda.synchronize()
    return (time.perf_counter() - begun) / CALLS


class Result:
    def __init__(self, correct: bool, speedup: float):
        self.correct = correct
        self.speedup = speedup


def judge(candidate: Candidate, path: Path) -> Result:
    """Everything in one process, one call after the other."""
    task = find(candidate.task)
    with contextlib.ExitStack() as stack:
        if torch.cuda.is_available():
            device: Callable[[torch.Tensor], torch.Tensor] = torch.Tensor.cuda
        else:
            device = stack.enter_context(simulated.Session(platforms.default_targets()[:1], SHEET)).to_device
        spec = importlib.util.spec_from_file_location("candidate", path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        model = getattr(module, task.entry_name)
        trials = []
        for trial in range(TRIALS):
            torch.manual_seed(SEED + trial)
            trials.append([place(value, device) for value in INPUTS[task.name]()])
        if not correct(model, task.reference, trials):
            return Result(False, 0.0)
        return Result(True, timed(task.reference, trials[0]) / max(timed(model, trials[0]), 1e-9))


def report(candidate: Candidate, path: Path) -> int:
    result = judge(candidate, path)
    print("PASS" if result.correct else "FAIL", f"{result.speedup:.2f}x")
    return 0 if result.correct else 1


def throw_away(candidate: Candidate, path: Path) -> tuple[bool, str]:
    """The verdict of a process that may do with itself what it likes, and what it said."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.setsid()
        os.dup2(writer, 1)
        os.dup2(writer, 2)
        _live(candidate, path)
    os.close(writer)
    said, ended = _heard(reader, pid, time.monotonic() + SECONDS)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)
    status = ended if ended is not None else os.waitpid(pid, 0)[1]
    os.close(reader)
    return os.waitstatus_to_exitcode(status) == 0 and "FAIL" not in said, said


def _live(candidate: Candidate, path: Path) -> None:
    """What an interpreter does with a script, in a fork."""
    status: Any = 1
    try:
        os.environ["TRITON_CACHE_DIR"] = tempfile.mkdtemp()
        sys.stdout = os.fdopen(1, "w", buffering=1, closefd=False)
        status = report(candidate, path)
    except SystemExit as left:
        status = left.code or 0
    except BaseException as error:
        print(f"{type(error).__name__}: {error}"[:300])
    finally:
        atexit._run_exitfuncs()
        os._exit(status if isinstance(status, int) else 1)


def _heard(reader: int, pid: int, deadline: float) -> tuple[str, int | None]:
    said = b""
    while (left := deadline - time.monotonic()) > 0:
        if select.select([reader], [], [], min(left, 0.1))[0] and (data := os.read(reader, 1 << 16)):
            said = (said + data)[-4096:]
            continue
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return said.decode("utf-8", "replace"), status
    return said.decode("utf-8", "replace"), None


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("files", nargs="+", type=Path)
    torch.set_num_threads(1)
    if not torch.cuda.is_available():
        simulated.warm()
    known = {candidate.name.partition("/")[2]: candidate for candidate in hostile()}
    for path in parser.parse_args(arguments).files:
        passes, said = throw_away(known[path.stem], path)
        print(json.dumps({"name": path.stem, "passes": passes, "said": said}), flush=True)


if __name__ == "__main__":
    main()
