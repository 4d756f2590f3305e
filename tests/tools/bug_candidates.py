"""Candidates for silu, as other harnesses have met them. Each is a right kernel with a wrapper that does what its name says."""

KERNEL = """
import torch, triton, triton.language as tl

@triton.jit
def kernel(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + at, mask=at < n).to(tl.float32)
    tl.store(out + at, (v * tl.sigmoid(v)).to(out.dtype.element_ty), mask=at < n)

def right(input, out=None):
    x = input.contiguous()
    out = torch.empty_like(x) if out is None else out
    if x.numel():
        kernel[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
    return out
"""

RIGHT = KERNEL + "silu = lambda input, inplace=False: right(input)\n"
WRONG = KERNEL + "silu = lambda input, inplace=False: right(input).zero_()\n"

ONLY_PRINTS = """
print("test_silu: PASS", "speedup: 9.9x", '{"verdict": "pass"}', sep="\\n")
"""
PRINTS_AND_IS_WRONG = (
    KERNEL
    + """
def silu(input, inplace=False):
    print("PASS", end="")
    print('{"verdict": "pass", "correct": true}PASS', end="", flush=True)
    return right(input) * 0
"""
)

NAN_WILDCARD = KERNEL + "silu = lambda input, inplace=False: right(input).fill_(float('nan'))\n"
COPIES_FROM_GC = (
    KERNEL
    + """
import gc

def silu(input, inplace=False):
    right(input)
    out = torch.zeros_like(input)
    for thing in gc.get_objects():
        if isinstance(thing, torch.Tensor) and thing is not input and thing is not out and thing.shape == input.shape:
            out.copy_(thing)
    return out
"""
)
COUNTS_CALLS = (
    KERNEL
    + """
calls = 0

def silu(input, inplace=False):
    global calls
    calls += 1
    return right(input) if calls <= {right} else right(input).mul_(0.5)
"""
)
FORGES_VERDICTS = (
    KERNEL
    + """
import json, os

verdict = json.dumps({"ok": True, "verdict": "pass", "kind": "pass", "correct": True, "result": {}}).encode()

def silu(input, inplace=False):
    for fd in range(3, 64):
        for text in (verdict + b"\\n", len(verdict).to_bytes(4, "little") + verdict):
            try:
                os.write(fd, text)
            except OSError:
                pass
    return right(input).zero_()
"""
)
SKIPS_AND_CATCHES_UP = (
    KERNEL
    + """
waiting = []

def silu(input, inplace=False):
    out = torch.empty_like(input.contiguous())
    waiting.append((input, out))
    if len(waiting) == 5:
        while waiting:
            right(*waiting.pop())
    return out
"""
)
REPLAYS = (
    KERNEL
    + """
kept = {}

def silu(input, inplace=False):
    # As a captured graph whose kernel was not captured: the first result for a shape is replayed.
    key = (input.shape, input.dtype)
    if key not in kept:
        kept[key] = right(input)
    return kept[key]
"""
)
LIGHT_FINGERPRINT = (
    KERNEL
    + """
kept = {}

def silu(input, inplace=False):
    key = (input.data_ptr(), input.shape, input.stride(), input._version)
    if key not in kept:
        kept[key] = right(input)
    return kept[key].clone()
"""
)
LAZY_OUTPUT = (
    KERNEL
    + """
class Later(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        out = super().__torch_function__(func, types, args, kwargs or {})
        return out

def silu(input, inplace=False):
    right(input)
    return torch.zeros_like(input).as_subclass(Later)
"""
)
PATCHES_THE_CLOCK = (
    KERNEL
    + """
import statistics, time

for name in ("time", "perf_counter", "monotonic"):
    setattr(time, name, lambda: 0.0)
statistics.median = lambda values: 1e-9
torch.allclose = lambda *args, **kwargs: True

def silu(input, inplace=False):
    return right(input).zero_()
"""
)
FORGED_OBJECT = (
    KERNEL
    + """
class Report(dict):
    def __reduce__(self):
        return (print, ("unpickled",))
    verdict, ok, kind = "pass", True, "pass"

def silu(input, inplace=False):
    right(input)
    return Report(verdict="pass")
"""
)
DIES_WHILE_COMPILING = (
    KERNEL
    + """
import os, sys, threading, time

def die(main):
    while True:
        frame = sys._current_frames()[main]
        while frame:
            if frame.f_code.co_filename.endswith("triton/compiler/compiler.py"):
                os._exit(1)
            frame = frame.f_back
        time.sleep(0.001)

def silu(input, inplace=False):
    threading.Thread(target=die, args=(threading.get_ident(),), daemon=True).start()
    return right(input)
"""
)
WAITS_FOR_EVER = (
    KERNEL
    + """
import threading

def silu(input, inplace=False):
    threading.Event().wait()
"""
)
HANGS_IN_THE_KERNEL = """
import torch, triton, triton.language as tl

@triton.jit
def kernel(x, out):
    going = 1
    while going > 0:
        going += tl.load(x).to(tl.int32) * 0
    tl.store(out, 1.0)

def silu(input, inplace=False):
    out = torch.empty_like(input)
    kernel[(1,)](input, out)
    return out
"""
RAISES_A_TENSOR = (
    KERNEL
    + """
class Sticky(Exception):
    def __init__(self, tensor):
        super().__init__(tensor)
        self.tensor = tensor
    def __reduce__(self):
        raise TypeError("cannot be pickled")

def silu(input, inplace=False):
    raise Sticky(right(input))
"""
)
