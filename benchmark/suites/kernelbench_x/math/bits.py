"""Math of KernelBench-X: bits, and samples beside them."""

import torch
from torch import Tensor

from benchmark.checkers import beside, binomial, exact
from benchmark.draw import Draw, offset, strided, transposed
from benchmark.sizes import POINTS
from benchmark.suites.kernelbench_x._families import between, normal, planted
from benchmark.suites.kernelbench_x._out import into
from benchmark.task import Arguments, Contract, Task, hidden, shown, timed

FP16, BF16, INT8, INT32, INT64 = torch.float16, torch.bfloat16, torch.int8, torch.int32, torch.int64


def bitwise_and(input: Tensor, other: Tensor | int, out: Tensor | None = None) -> Tensor:
    """Bitwise AND of integers, logical AND of booleans, element by element, with broadcasting; `other` is a tensor or a number. The
    result has the dtype that torch's promotion gives. `out` is always None here."""
    return into(torch.bitwise_and(input, other), out)


def signbit_bitwise_and(input: Tensor, other: Tensor) -> tuple[Tensor, Tensor]:
    """Two results: whether the sign bit of each element of `input` is set, as bool (True for -0.0), and the bitwise AND of `input`
    and `other`, both converted to int8 before it, as int8. The conversion cuts floats towards zero, and they lie within -128 .. 127.
    `input` is of floats, int8 or bool, `other` of int8 or bool, in the same shape."""
    return torch.signbit(input), input.to(INT8) & other.to(INT8)


def bitwise_and_binomial(
    input: Tensor, other: Tensor, total_count: Tensor, probs: Tensor | None = None, logits: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Two results: the bitwise AND of `input` and `other` (integers or booleans, with broadcasting), and beside it samples of binomial
    distributions, one for each element of `probs` or of `logits`, just one of which is given, broadcast with `total_count`.

    A sample is the number of successes in `total_count` (whole numbers, of any dtype) independent trials with the probability `probs`,
    or `sigmoid(logits)`, and has their dtype. Each call draws anew."""
    chance = _chance(probs, logits)
    return input & other, torch.binomial(*_alike(total_count, chance))


def _chance(probs: Tensor | None, logits: Tensor | None) -> Tensor:
    if probs is not None:
        return probs
    assert logits is not None
    return torch.sigmoid(logits)


def _alike(total_count: Tensor, chance: Tensor) -> tuple[Tensor, Tensor]:
    count, chance = torch.broadcast_tensors(total_count.to(chance.dtype), chance)
    return count.contiguous(), chance.contiguous()


def and_with_distribution(
    input: Tensor, other: Tensor, total_count: Tensor, probs: Tensor | None = None, logits: Tensor | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    return input & other, *_alike(total_count, _chance(probs, logits))


def expected_counts(
    input: Tensor, other: Tensor, total_count: Tensor, probs: Tensor | None = None, logits: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    count, chance = _alike(total_count, _chance(probs, logits))
    return input & other, (count * chance).round()


def logits_as_probabilities(
    input: Tensor, other: Tensor, total_count: Tensor, probs: Tensor | None = None, logits: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    chance = _chance(probs, None if logits is None else torch.logit(logits.clamp(0, 1)))
    return input & other, torch.binomial(*_alike(total_count, chance))


def one_draw_for_all(
    input: Tensor, other: Tensor, total_count: Tensor, probs: Tensor | None = None, logits: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    count, chance = _alike(total_count, _chance(probs, logits))
    return input & other, (count * chance + torch.randn(1, device=chance.device) * (count * chance * (1 - chance)).sqrt()).round()


def ints(draw: Draw, *shape: int, dtype: torch.dtype = INT32) -> Tensor:
    """Over the whole range of the dtype, or of 32 bits."""
    top = min(torch.iinfo(dtype).max, 2**31 - 1)
    return draw.integers(-top - 1, top + 1, *shape, dtype=dtype)


def flags(draw: Draw, *shape: int) -> Tensor:
    return draw.integers(0, 2, *shape, dtype=torch.bool)


def bits(draw: Draw, *shape: int) -> Arguments:
    """Two tensors that do not matter much, beside samples."""
    return {"input": ints(draw, *shape), "other": ints(draw, *shape)}


TASKS = (
    Task(
        "kernelbench_x/bitwise_and",
        "Math",
        "torch",
        bitwise_and,
        shown({
            "int32": lambda d: {"input": ints(d, 4099), "other": ints(d, 4099)},
            "int64": lambda d: {"input": ints(d, 37, 41, dtype=INT64) * 65537, "other": ints(d, 37, 41, dtype=INT64) * 65537},
            "int8": lambda d: {"input": ints(d, 997, dtype=INT8), "other": ints(d, 997, dtype=INT8)},
            "bool": lambda d: {"input": flags(d, 1021), "other": flags(d, 1021)},
            "broadcast": lambda d: {"input": ints(d, 17, 31), "other": ints(d, 31)},
            "number": lambda d: {"input": ints(d, 1009), "other": 4095},
            "promoted": lambda d: {"input": ints(d, 769, dtype=INT8), "other": ints(d, 769)},
            "transposed": lambda d: {"input": transposed(ints(d, 29, 43)), "other": ints(d, 29, 43)},
            "one": lambda d: {"input": ints(d, 1), "other": ints(d, 1)},
            "empty": lambda d: {"input": ints(d, 0, 5), "other": ints(d, 0, 5)},
        }) + hidden({
            "broadcast-both": lambda d: {"input": ints(d, 5, 1, 33), "other": ints(d, 7, 1)},
            "strided-int16": lambda d: {
                "input": strided(ints(d, 13, 67, dtype=torch.int16)), "other": strided(ints(d, 13, 67, dtype=torch.int16), 3)
            },
            "offset-uint8": lambda d: {
                name: offset(d.integers(0, 256, 2, 3, 173, dtype=torch.uint8)) for name in ("input", "other")
            },
            "bool-broadcast": lambda d: {"input": flags(d, 23, 1), "other": flags(d, 31)},
        }),
        timed(lambda d, n: {"input": ints(d, n), "other": ints(d, n)}, POINTS),
        Contract(exact()),
        wrong={"or": lambda input, other, out=None: torch.bitwise_or(input, other)},
        exempt={"lower": "integers have no lower precision"},
    ),
    Task(
        "kernelbench_x/signbit_bitwise_and",
        "Math",
        "fused",
        signbit_bitwise_and,
        shown({
            "fp32": lambda d: {"input": d.uniform(4099, low=-128, high=127), "other": ints(d, 4099, dtype=INT8)},
            "fp16": lambda d: {"input": d.normal(31, 67, dtype=FP16, scale=20), "other": ints(d, 31, 67, dtype=INT8)},
            "bf16": lambda d: {"input": d.normal(997, dtype=BF16, scale=20), "other": ints(d, 997, dtype=INT8)},
            "int8": lambda d: {"input": ints(d, 1021, dtype=INT8), "other": ints(d, 1021, dtype=INT8)},
            "bool-bool": lambda d: {"input": flags(d, 1009), "other": flags(d, 1009)},
            "fp32-bool": lambda d: {"input": d.normal(769, scale=3), "other": flags(d, 769)},
            "edges": lambda d: {
                "input": planted(d.normal(521, scale=9), 0.0, -0.0, -0.5, 0.5, -128.0, 127.0, 127.5, -1.5),
                "other": planted(ints(d, 521, dtype=INT8), *[-1] * 8),
            },
            "transposed": lambda d: {"input": transposed(normal(20)(d, 29, 43)), "other": ints(d, 29, 43, dtype=INT8)},
            "one": lambda d: {"input": between(3, 90)(d, 1), "other": ints(d, 1, dtype=INT8)},
            "empty": lambda d: {"input": d.normal(0, 5), "other": ints(d, 0, 5, dtype=INT8)},
        }) + hidden({
            "strided": lambda d: {"input": strided(d.normal(13, 67, scale=20)), "other": strided(ints(d, 13, 67, dtype=INT8), 3)},
            "offset": lambda d: {"input": offset(d.normal(2, 3, 173, scale=20)), "other": offset(ints(d, 2, 3, 173, dtype=INT8), 1)},
            "fractions": lambda d: {"input": d.uniform(769, low=-2, high=2), "other": ints(d, 769, dtype=INT8)},
        }),
        timed(lambda d, n: {"input": d.uniform(n, low=-128, high=127), "other": ints(d, n, dtype=INT8)}, POINTS),
        Contract(exact()),
        wrong={
            "below zero": lambda input, other: (input < 0, input.to(INT8) & other.to(INT8)),
            "rounded": lambda input, other: (torch.signbit(input), input.float().round().clamp(-128, 127).to(INT8) & other.to(INT8)),
            "the sign bit in the AND": lambda input, other: (torch.signbit(input), torch.signbit(input).to(INT8) & other.to(INT8)),
        },
    ),
    Task(
        "kernelbench_x/bitwise_and_binomial",
        "Math",
        "fused",
        bitwise_and_binomial,
        shown({
            "probs": lambda d: {**bits(d, 4099), "total_count": d.integers(3, 12, 1).float(), "probs": d.uniform(4099, low=0.1, high=0.9)},
            "logits": lambda d: {**bits(d, 2053), "total_count": d.integers(3, 12, 1).float(), "logits": d.normal(2053)},
            "counts": lambda d: {**bits(d, 31, 67), "total_count": d.integers(0, 12, 31, 67), "probs": d.uniform(31, 67)},
            "broadcast": lambda d: {
                "input": ints(d, 17, 1), "other": ints(d, 31), "total_count": d.integers(1, 9, 43, 1).float(), "probs": d.uniform(61)
            },
            "bool": lambda d: {
                "input": flags(d, 1021), "other": flags(d, 1021), "total_count": d.integers(3, 9, 1), "logits": d.normal(1021)
            },
            "transposed": lambda d: {
                "input": transposed(ints(d, 29, 43)), "other": ints(d, 29, 43), "total_count": d.integers(5, 12, 1).float(),
                "probs": transposed(d.uniform(29, 43, low=0.1, high=0.9)),
            },
            "certain": lambda d: {**bits(d, 2053), "total_count": d.integers(3, 12, 2053), "probs": d.integers(0, 2, 2053).float()},
            "one-trial": lambda d: {**bits(d, 2053), "total_count": d.integers(1, 2, 1), "probs": d.uniform(2053)},
        }) + hidden({
            "rare": lambda d: {**bits(d, 2053), "total_count": d.integers(20, 30, 1).float(), "probs": d.uniform(2053, high=0.1)},
            "strided-logits": lambda d: {
                "input": strided(ints(d, 13, 167)), "other": ints(d, 13, 167), "total_count": d.integers(3, 9, 167).float(),
                "logits": strided(d.normal(13, 167)),
            },
            "many-trials": lambda d: {**bits(d, 2053), "total_count": d.integers(30, 40, 1), "probs": d.uniform(2053, low=0.4, high=0.6)},
        }),
        timed(
            lambda d, n: {**bits(d, n), "total_count": d.integers(10, 11, 1).float(), "probs": d.uniform(n)},
            ((1 << 12,), (1 << 16,), (1 << 20,), (1 << 23,)),
        ),
        Contract(beside(exact(), binomial()), random=True),
        truth=and_with_distribution,
        wrong={"the expected number": expected_counts, "logits as probabilities": logits_as_probabilities, "one draw": one_draw_for_all},
        exempt={"lower": "samples of a probability that is rounded cannot be told from the right ones"},
    ),
)  # fmt: skip
