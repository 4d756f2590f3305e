"""Hides torch's work, out of every mode's sight, among hundreds of operators on single numbers.

Row: 1 (torch behind a decorative kernel, out of a recorder's sight).
Expected: not_triton at adversarial.
Naive: passes.
"""
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


from torch.utils._python_dispatch import _disable_current_modes
one = torch.ones(1)
NAMES = "abs neg exp sin cos tan asin acos atan sinh cosh tanh sqrt rsqrt log log2 log10 log1p expm1 exp2 floor ceil round trunc sigmoid relu sign erf erfc erfinv lgamma digamma reciprocal frac asinh acosh atanh cumsum cumprod sort argsort sum mean prod amax amin std var add sub mul div eq ne lt le gt ge maximum minimum atan2 hypot fmod remainder pow logaddexp isnan signbit logical_not nan_to_num i0 sinc sgn heaviside copysign nextafter fmax fmin bitwise_not logit argmax argmin cummax cummin any all isposinf isneginf".split()


def flood():
    for name in NAMES:
        f = getattr(torch, name, None)
        for _ in range(3):
            for args in ((one,), (one, one), (one, 0)):
                try:
                    f(*args)
                except Exception:
                    continue
                break


def softmax(input, dim, dtype=None):
    plain = torch.Tensor.as_subclass(input, torch.Tensor) if type(input) is not torch.Tensor else input
    with torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch(), _disable_current_modes():
        flood()
        answer = torch.softmax(plain, dim, dtype=dtype)
    return through_kernel(answer.as_subclass(type(input)))
