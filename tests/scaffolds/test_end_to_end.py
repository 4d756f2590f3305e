"""GEAK with the real executor and the real run store: a wrong kernel, its numbers in the next prompt, and the right one."""

import random
from pathlib import Path

from agents.caller import Caller
from agents.ledger import Ledger
from agents.models.base import Request
from benchmark import suites
from experiments.store import RunStore
from scaffolds import loader, trajectory
from scaffolds.context import Context
from tests.scaffolds.scripted import ScriptedModel
from tools import platforms
from tools.executor.local import LocalExecutor
from tools.settings import Settings

KERNEL = """import torch
import triton
import triton.language as tl


@triton.jit
def _silu(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + at, mask=at < n).to(tl.float32)
    tl.store(y + at, FACTOR * v / (1.0 + tl.exp(-v)), mask=at < n)


def silu(input, inplace=False):
    source = input.contiguous()
    result = torch.empty_like(source)
    if source.numel():
        _silu[(triton.cdiv(source.numel(), 256),)](source, result, source.numel(), BLOCK=256)
    if inplace:
        return input.copy_(result)
    return result.view(input.shape)
"""


def script(request: Request) -> str:
    if request.identity.role == "reflector":
        return "Cause: the factor is 1.01\nFix: make it 1\nLesson: no stray factors"
    return f"Strategy: one pass\n```python\n{KERNEL.replace('FACTOR', '1.01' if request.identity.role == 'generator' else '1.0')}```"


async def test_a_wrong_kernel_is_judged_reflected_on_and_repaired(tmp_path: Path, executor: LocalExecutor) -> None:
    store = RunStore.create(tmp_path / "run", "{}", {}, {})
    model, ledger = ScriptedModel(script), Ledger()
    context = Context(
        task=suites.find("quick/silu"), trajectory="quick/silu@0", scaffold="geak", model_name="scripted", seed=0,
        caller=Caller(model, store, ledger), executor=executor, recorder=store, settings=Settings(device="simulated", profile="off"),
        ledger=ledger, hardware=platforms.sheet(platforms.names()[0]), rng=random.Random(0),
    )  # fmt: skip
    try:
        record = await trajectory.run("geak", loader.build_config("geak", {"descendants": 1}), context)
    finally:
        store.close()
    told = [(a["attempt"], a["role"], a["verdict"], a["parents"]) for a in store.attempts.values()]
    assert told == [("000.00.00", "generator", "wrong_numeric", []), ("001.00.00", "repairer", "pass", ["000.00.00"])]
    assert (record.end_reason, record.champion) == ("solved", "001.00.00")
    repair = model.requests[-1].messages[1]["content"]
    assert "max abs error" in repair
    assert "% of elements wrong" in repair
    assert "Cause: the factor is 1.01" in repair
    assert (tmp_path / "run" / "best" / "quick" / "silu.py").read_text() == KERNEL.replace("FACTOR", "1.0")
