"""What a model on the loopback server answers: right, wrong and codeless replies for two quick tasks, chosen by the prompt alone."""

import hashlib
import json
import re
from typing import Any

POINTWISE = """\
import torch
import triton
import triton.language as tl


@triton.jit
def kernel(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + at, mask=at < n, other=0.0).to(tl.float32)
    tl.store(y + at, ({expression}).to(y.dtype.element_ty), mask=at < n)


def silu(input, inplace=False):
    x = input.contiguous()
    y = torch.empty_like(x)
    if x.numel():
        kernel[(triton.cdiv(x.numel(), 1024),)](x, y, x.numel(), BLOCK=1024)
    return y
"""
RIGHT = POINTWISE.replace("{expression}", "v * tl.sigmoid(v)")
WRONG = POINTWISE.replace("{expression}", "v * tl.sigmoid(v) + 1.0")


def fenced(source: str) -> str:
    return f"Strategy: one pass.\n\n```python\n{source}```\n"


def right(_: dict[str, Any]) -> str:
    return fenced(RIGHT)


def wrong_first(request: dict[str, Any]) -> str:
    """Wrong until the prompt shows a failed kernel; a reflection where no code is asked for."""
    text = json.dumps(request["messages"])
    return fenced(RIGHT if "+ 1.0" in text else WRONG)


def late(request: dict[str, Any]) -> str:
    """No code while more than one round is left, then as `always_wrong`: few evaluations, and prompts that differ all the same."""
    return "Let me think." if re.search(r"[2-9] more rounds", json.dumps(request["messages"])) else always_wrong(request)


def always_wrong(request: dict[str, Any]) -> str:
    """Wrong in a way that depends on the prompt, so that a run lasts all its rounds and every candidate differs."""
    digest = int(hashlib.sha256(json.dumps(request["messages"]).encode()).hexdigest()[:8], 16)
    return fenced(POINTWISE.replace("{expression}", f"v * tl.sigmoid(v) + {1 + digest % 1000}.0"))
