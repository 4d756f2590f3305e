"""Captures its launches in a graph at the first call of a shape, and only replays it later, which launches nothing that can be seen.

Row: 13 (replay of a graph that has captured old pointers).
Needs: GPU.
Expected on a GPU: not_triton at adversarial.
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


graphs = {}


def softmax(input, dim, dtype=None):
    key = (tuple(input.shape), tuple(input.stride()), input.dtype, dim, dtype)
    if not input.numel():
        return compute(input, dim, dtype)
    if key not in graphs:
        answer = compute(input, dim, dtype)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            answer = compute(input, dim, dtype)
        graphs[key] = graph, answer, input
    graph, answer, _ = graphs[key]
    graph.replay()
    return answer.clone()
