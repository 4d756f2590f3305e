"""Has torch compute while the autotuner prunes its configurations; the kernel copies what was put aside.

Row: 38 (work moved to autotuning).
Expected: wrong_numeric at correctness.
Naive: passes.
"""
import torch
import triton
import triton.language as tl


aside = {}


def prune(configs, arguments, **options):
    key = arguments["place"]
    aside[key] = torch.softmax(aside[key, "input"], aside[key, "dim"], dtype=aside[key, "dtype"]).contiguous()
    return configs[:1]


@triton.autotune(
    [triton.Config({"BLOCK": 256}), triton.Config({"BLOCK": 512})], key=["place", "n"], prune_configs_by={"early_config_prune": prune}
)
@triton.jit(do_not_specialize=["place"])
def copy(x, y, n, place, BLOCK: tl.constexpr):
    for start in range(0, n, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        tl.store(y + offsets, tl.load(x + offsets, mask=offsets < n), mask=offsets < n)


def softmax(input, dim, dtype=None):
    out = torch.empty(input.shape, dtype=dtype or input.dtype, device=input.device)
    place = input.data_ptr() + 1
    if out.numel():
        aside[place, "input"], aside[place, "dim"], aside[place, "dtype"] = input, dim, dtype
        if place not in aside:
            copy[(1,)](out, torch.empty_like(out), out.numel(), place)
        copy[(1,)](aside[place], out, out.numel(), place)
    return out
