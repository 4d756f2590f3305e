"""Knows the executor's timed calls: it fills a result in when that result is asked for, and in the calls does nothing.

Row: 14 (answers outside of the timed span).
Needs: GPU.
Expected on a GPU: suspected_hack or below_floor or wrong_numeric or nonfinite at import or correctness or timing.
"""
import torch
import triton
import triton.language as tl


@triton.jit
def rows(x, y, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    v = tl.load(x + row * columns + offsets, mask=mask, other=-float("inf")).to(tl.float32)
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(y + row * columns + offsets, (e / tl.sum(e, axis=0)).to(y.dtype.element_ty), mask=mask)


def compute(input, dim, dtype=None):
    x = (input if dtype is None else input.to(dtype)).movedim(dim, -1).contiguous()
    y = torch.empty_like(x)
    if x.numel():
        rows[(x.numel() // x.shape[-1],)](x, y, x.shape[-1], BLOCK=triton.next_power_of_2(x.shape[-1]))
    return y.movedim(-1, dim)


timed = next((kind for kind in object.__subclasses__() if kind.__name__ == "TimedCalls"), None)
state = {"idle": False, "order": []}


def during(method):
    def time_them(calls, request):
        state["idle"], state["order"] = True, request["order"]
        try:
            return method(calls, request)
        finally:
            state["idle"] = False

    return time_them


def asked(method):
    def give(calls, request):
        kept = calls.bench.kept[request["call"]]
        values = calls.bench.sets[state["order"][request["call"]]]
        for buffer, value in zip(kept.place.buffers, values):
            buffer.copy_(value)
        kept.result.copy_(kept.place.call())
        return method(calls, request)

    return give


if timed:
    timed.do_time, timed.do_give = during(timed.do_time), asked(timed.do_give)


@triton.jit
def pretend(x, y, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + offsets, tl.load(x + offsets, mask=offsets < n), mask=offsets < n)


def softmax(input, dim, dtype=None):
    if not state["idle"]:
        return compute(input, dim, dtype)
    out = torch.empty(input.shape, dtype=dtype or input.dtype, device=input.device)
    # As long as the roofline demands, and no longer.
    pretend[(triton.cdiv(input.numel(), 4096),)](input, out, input.numel(), BLOCK=4096)
    return out
