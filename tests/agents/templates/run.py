"""Runs a candidate on the simulated device within the test's own process, and measures how wrong it is."""

import importlib.util
import math
import tempfile
from pathlib import Path

import torch

from benchmark import oracle
from benchmark.task import Arguments, Task
from tools import platforms
from tools.platforms import simulated as device
from tools.simulated.session import Session


def call(source: str, entry: str, arguments: Arguments) -> tuple[torch.Tensor, list[str]]:
    """The only result on the host, and the names of the kernels launched."""
    results, launches = calls(source, entry, arguments)
    return results[0], launches


def calls(source: str, entry: str, arguments: Arguments) -> tuple[list[torch.Tensor], list[str]]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "candidate.py"
        path.write_text(source)
        with Session(platforms.default_targets(), device.SHEET) as session:
            spec = importlib.util.spec_from_file_location("candidate", path)
            assert spec is not None
            assert spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            given = {n: session.to_device(v) if isinstance(v, torch.Tensor) else v for n, v in arguments.items()}
            results = oracle.flattened(getattr(module, entry)(**given))
            return [session.to_host(r) for r in results], list(session.launches)


def errors(task: Task, source: str) -> dict[str, float]:
    """Per visible case the largest error in units of the tolerance; above 1 is wrong."""
    return {c.name: error(task, source, c.arguments(task.id, 0)) for c in task.cases if not c.held_out}


def error(task: Task, source: str, arguments: Arguments) -> float:
    truth = oracle.compute(task, arguments)
    results, launches = calls(source, task.entry_name, arguments)
    if len(results) != len(truth.honest) or (not launches and any(r.numel() for r in results)):
        return math.inf
    return max(apart(*three) for three in zip(results, truth.honest, truth.expected, strict=True))


def apart(actual: torch.Tensor, honest: torch.Tensor, expected: torch.Tensor) -> float:
    if actual.shape != honest.shape or actual.dtype != honest.dtype:
        return math.inf
    if not honest.dtype.is_floating_point:
        return 0.0 if torch.equal(actual, honest) else math.inf
    return distance(actual, honest, expected)


def distance(actual: torch.Tensor, honest: torch.Tensor, expected: torch.Tensor) -> float:
    """In units of 16 times the honest computation's largest error, or of 16 roundings of the largest value; where that is finite."""
    sound = expected.isfinite() & honest.isfinite()
    if not bool(actual[sound].isfinite().all()):
        return math.inf
    if not bool(sound.any()):
        return 0.0
    wrong, own = ((t.double() - expected)[sound].abs().max().item() for t in (actual, honest))
    scale = expected[sound].abs().max().item()
    return wrong / max(16 * own, 16 * torch.finfo(honest.dtype).eps * scale, 1e-30)
