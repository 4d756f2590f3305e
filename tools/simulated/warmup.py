"""What a zygote pays once, so that its forks do not: imports, one compilation, one interpretation."""

import atexit
import gc
import os
import tempfile

import numpy as np
import torch
import triton
import triton.language as tl

from tools import platforms
from tools.platforms.simulated import SHEET
from tools.simulated.patches import Patches
from tools.simulated.selftest import examine, forbid
from tools.simulated.session import Session


@triton.jit
def _row(x, y, n, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]
    offsets = tl.arange(0, BLOCK)
    mask = offsets < n
    values = tl.load(x + offsets, mask=mask, other=0.0).to(tl.float32)
    peak = tl.max(values, axis=0)
    tl.store(y + offsets, tl.exp(values - peak) / tl.sum(values, axis=0), mask=mask)


def warm() -> None:
    """Once in the zygote, on one thread: the self-test, one compilation and interpretation of trusted code. Leaves no thread running."""
    os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")
    torch.set_num_threads(1)
    former = os.environ.get("TRITON_CACHE_DIR")
    with tempfile.TemporaryDirectory() as scratch:
        os.environ["TRITON_CACHE_DIR"] = scratch
        try:
            forbid(examine(), Patches())
            _run()
        finally:
            del os.environ["TRITON_CACHE_DIR"]
            if former is not None:
                os.environ["TRITON_CACHE_DIR"] = former
    # What is here now lives as long as the process; a fork's collector need not look at it, nor copy its pages.
    gc.collect()
    gc.freeze()
    atexit.register(gc.unfreeze)


def _run() -> None:
    with Session(platforms.default_targets(), SHEET) as session:
        x = session.to_device(torch.from_numpy(np.ones(100, dtype=np.float32)))
        y = torch.empty_like(x)
        _row[(1,)](x, y, 100, BLOCK=128)
        session.to_host(y)
