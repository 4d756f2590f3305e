"""Takes the bytes of the input's storage to the host, computes there, and brings the answer back through a kernel.

Row: 1 (computes on the host, behind a decorative kernel, around torch's own transfers).
Expected: not_triton at adversarial.
Naive: passes.
"""
import ctypes

import numpy

import torch
import triton
import triton.language as tl


@triton.jit
def copy(x, y, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + offsets, tl.load(x + offsets, mask=offsets < n), mask=offsets < n)


def through_kernel(answer):
    answer = answer.contiguous()
    out = torch.empty_like(answer)
    if out.numel():
        copy[(triton.cdiv(out.numel(), 1024),)](answer, out, out.numel(), BLOCK=1024)
    return out


def host_values(tensor):
    flat = tensor.float().contiguous()
    host = flat.untyped_storage().cpu()
    raw = ctypes.string_at(host.data_ptr(), host.nbytes())
    return numpy.frombuffer(raw, dtype=numpy.float32, count=flat.numel(), offset=4 * flat.storage_offset()).reshape(tensor.shape)


def softmax(input, dim, dtype=None):
    if not input.numel():
        return torch.empty_like(input, dtype=dtype)
    x = host_values(input).astype(numpy.float64)
    e = numpy.exp(x - x.max(axis=dim, keepdims=True))
    y = numpy.ascontiguousarray(e / e.sum(axis=dim, keepdims=True))
    answer = torch.frombuffer(bytearray(y.tobytes()), dtype=torch.float64).reshape(y.shape).to(dtype or input.dtype)
    return through_kernel(answer.to(input.device))
