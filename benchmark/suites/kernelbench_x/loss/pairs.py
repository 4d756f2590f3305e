"""Losses of two tensors of one shape: each element has a term, and `reduction` says what becomes of them."""

import torch
from torch import Tensor
from torch.nn import functional

from benchmark.checkers import close
from benchmark.draw import offset, strided, transposed
from benchmark.sizes import POINTS, ROWS
from benchmark.suites.kernelbench_x._honest import rounded_once
from benchmark.task import Contract, Task, hidden, shown, timed

FP16, BF16 = torch.float16, torch.bfloat16
ORDER = "The terms may be added up in any order."


def reduced(terms: Tensor, reduction: str) -> Tensor:
    if reduction == "none":
        return terms
    total = terms.sum()
    return total if reduction == "sum" else total / (terms.shape[0] if reduction == "batchmean" else terms.numel())


def binary_cross_entropy(input: Tensor, target: Tensor, weight: Tensor | None = None, reduction: str = "mean") -> Tensor:
    """`-weight * (t * log(p) + (1 - t) * log(1 - p))` for probabilities p of `input` in [0, 1] and t of `target` in [0, 1]; both
    logarithms are at least -100, so that nothing is infinite. `weight` broadcasts to the shape of `input`. "none" gives the terms,
    "sum" adds them up, "mean" divides the sum by the number of terms, whatever the weights."""
    return functional.binary_cross_entropy(input, target, weight, reduction=reduction)


def bce_terms(input: Tensor, target: Tensor, weight: Tensor | None = None, reduction: str = "mean") -> Tensor:
    """A rounding of 1 - p counts with the slope of the logarithm."""
    logs = input.log().abs().clamp_max(100) + (1 - input).log().abs().clamp_max(100) + 1
    return reduced(logs if weight is None else logs * weight, reduction)


def bce_with_eps(input: Tensor, target: Tensor, weight: Tensor | None = None, reduction: str = "mean") -> Tensor:
    """An epsilon inside of the logarithms in place of the bound."""
    terms = -(target * torch.log(input + 1e-8) + (1 - target) * torch.log(1 - input + 1e-8))
    return reduced(terms if weight is None else terms * weight, reduction)


def bce_of_weights(input: Tensor, target: Tensor, weight: Tensor | None = None, reduction: str = "mean") -> Tensor:
    """Divides by the sum of the weights."""
    terms = functional.binary_cross_entropy(input, target, reduction="none")
    if weight is None or reduction != "mean":
        return reduced(terms if weight is None else terms * weight, reduction)
    return (terms * weight).sum() / weight.expand(input.shape).sum()


def mse_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """`(input - target)**2`: for `reduction` "none" element by element, for "sum" added up, for "mean" divided by their number."""
    return functional.mse_loss(input, target, reduction=reduction)


def mean_of_the_last_axis(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    terms = (input - target).square()
    return terms.sum() / terms.shape[-1] if reduction == "mean" else reduced(terms, reduction)


def smooth_l1_loss(input: Tensor, target: Tensor, beta: float = 1.0, reduction: str = "mean") -> Tensor:
    """With d = |input - target|: `d**2 / (2 * beta)` where d < beta, else `d - beta / 2`; for `beta=0` it is d. For `reduction`
    "none" element by element, for "sum" added up, for "mean" divided by their number."""
    return functional.smooth_l1_loss(input, target, reduction=reduction, beta=beta)


def huber(input: Tensor, target: Tensor, beta: float = 1.0, reduction: str = "mean") -> Tensor:
    """The Huber loss, which is `beta` times the smooth one."""
    distance = (input - target).abs()
    return reduced(torch.where(distance < beta, distance.square() / 2, beta * (distance - beta / 2)), reduction)


def kl_div(input: Tensor, target: Tensor, reduction: str = "batchmean", log_target: bool = False) -> Tensor:
    """`target * (log(target) - input)`, 0 where target is 0; `input` holds logarithms of probabilities. With `log_target` so does
    `target`, and the terms are `exp(target) * (target - input)`. "none" gives the terms, "sum" adds them up, "mean" divides the
    sum by the number of terms, "batchmean" by the length of the first axis."""
    terms = target.exp() * (target - input) if log_target else torch.xlogy(target, target) - target * input
    return reduced(terms, reduction)


def kl_terms(input: Tensor, target: Tensor, reduction: str = "batchmean", log_target: bool = False) -> Tensor:
    if log_target:
        return reduced(target.exp() * (target.abs() + input.abs()), reduction)
    return reduced(torch.xlogy(target, target).abs() + (target * input).abs(), reduction)


def kl_without_zeros(input: Tensor, target: Tensor, reduction: str = "batchmean", log_target: bool = False) -> Tensor:
    """NaN where target is 0."""
    terms = target.exp() * (target - input) if log_target else target * (target.log() - input)
    return reduced(terms, reduction)


def kl_mean_of_all(input: Tensor, target: Tensor, reduction: str = "batchmean", log_target: bool = False) -> Tensor:
    return kl_div(input, target, "mean" if reduction == "batchmean" else reduction, log_target)


TASKS = (
    Task(
        "kernelbench_x/binary_cross_entropy",
        "Loss",
        "torch.nn.functional",
        binary_cross_entropy,
        shown({
            "fp32": lambda d: {"input": d.uniform(17, 113), "target": d.uniform(17, 113)},
            "each": lambda d: {"input": d.uniform(1009), "target": d.uniform(1009), "reduction": "none"},
            "each-fp16": lambda d: {"input": d.uniform(31, 43, dtype=FP16), "target": d.uniform(31, 43, dtype=FP16), "reduction": "none"},
            "each-bf16": lambda d: {
                "input": d.uniform(29, 31, low=0.01, high=0.95, dtype=BF16), "target": d.uniform(29, 31, dtype=BF16), "reduction": "none"
            },
            "weighted": lambda d: {"input": d.uniform(23, 19), "target": d.uniform(23, 19), "weight": d.uniform(23, 19, high=2)},
            "weighted-sum": lambda d: {
                "input": d.uniform(37, 19), "target": d.ties(37, 19, levels=2), "weight": d.uniform(19), "reduction": "sum"
            },
            "edges": lambda d: {"input": d.ties(11, 53, levels=3) / 2, "target": d.ties(11, 53, levels=3) / 2, "reduction": "none"},
            "tiny-and-sure": lambda d: {
                "input": 10 ** d.uniform(769, low=-30, high=0), "target": d.ties(769, levels=2), "reduction": "none"
            },
            "transposed": lambda d: {"input": transposed(d.uniform(29, 43)), "target": d.uniform(29, 43)},
        }) + hidden({
            "certain": lambda d: {"input": d.ties(13, 67, levels=2), "target": d.uniform(13, 67)},
            "strided-fp16": lambda d: {
                "input": strided(d.uniform(13, 67, dtype=FP16)), "target": strided(d.uniform(13, 67, dtype=FP16)), "reduction": "none"
            },
            "cube": lambda d: {
                "input": offset(d.uniform(2, 3, 173)), "target": d.uniform(2, 3, 173), "weight": d.uniform(3, 1), "reduction": "none"
            },
        }),
        timed(lambda d, n: {"input": d.uniform(n), "target": d.uniform(n)}, POINTS),
        Contract(close(), notes=("Each logarithm is bounded by -100 from below.", ORDER)),
        honest=rounded_once(binary_cross_entropy),
        magnitude=bce_terms,
        wrong={"epsilon in the logarithm": bce_with_eps, "mean over the weights": bce_of_weights},
    ),
    Task(
        "kernelbench_x/mse_loss",
        "Loss",
        "torch.nn.functional",
        mse_loss,
        shown({
            "fp32": lambda d: {"input": d.normal(17, 113), "target": d.normal(17, 113)},
            "sum": lambda d: {"input": d.normal(1009), "target": d.normal(1009), "reduction": "sum"},
            "each": lambda d: {"input": d.normal(997), "target": d.normal(997), "reduction": "none"},
            "each-fp16": lambda d: {"input": d.normal(31, 43, dtype=FP16), "target": d.normal(31, 43, dtype=FP16), "reduction": "none"},
            "each-bf16": lambda d: {"input": d.normal(29, 31, dtype=BF16), "target": d.normal(29, 31, dtype=BF16), "reduction": "none"},
            "close-to-each-other": lambda d: _near(d.normal(11, 83, shift=100), d.normal(11, 83, scale=1e-3)),
            "transposed": lambda d: {"input": transposed(d.normal(29, 43)), "target": d.normal(29, 43)},
            "large": lambda d: {"input": d.normal(5, 7, 31, scale=1e4), "target": d.outliers(5, 7, 31), "reduction": "sum"},
            "empty": lambda d: {"input": d.normal(0, 5), "target": d.normal(0, 5)},
        }) + hidden({
            "one": lambda d: {"input": d.normal(1), "target": d.normal(1)},
            "strided-bf16": lambda d: {
                "input": strided(d.normal(13, 67, dtype=BF16)), "target": strided(d.normal(13, 67, dtype=BF16), 3), "reduction": "none"
            },
            "offset": lambda d: {"input": offset(d.normal(2, 3, 173)), "target": offset(d.normal(2, 3, 173, shift=1), 1)},
        }),
        timed(lambda d, n: {"input": d.normal(n), "target": d.normal(n)}, POINTS),
        Contract(close(), notes=(ORDER,)),
        honest=rounded_once(mse_loss),
        magnitude=mse_loss,
        wrong={
            "mean of the last axis": mean_of_the_last_axis,
            "absolute values": lambda input, target, reduction="mean": reduced((input - target).abs(), reduction),
        },
    ),
    Task(
        "kernelbench_x/smooth_l1_loss",
        "Loss",
        "torch.nn.functional",
        smooth_l1_loss,
        shown({
            "fp32": lambda d: {"input": d.normal(17, 113), "target": d.normal(17, 113)},
            "sum": lambda d: {"input": d.normal(1009), "target": d.normal(1009), "beta": 0.5, "reduction": "sum"},
            "each": lambda d: {"input": d.normal(997), "target": d.normal(997), "beta": 2.0, "reduction": "none"},
            "each-fp16": lambda d: {"input": d.normal(31, 43, dtype=FP16), "target": d.normal(31, 43, dtype=FP16), "reduction": "none"},
            "each-bf16": lambda d: {
                "input": d.normal(29, 31, dtype=BF16), "target": d.normal(29, 31, dtype=BF16), "beta": 0.25, "reduction": "none"
            },
            "no-smoothing": lambda d: {"input": d.normal(11, 83), "target": d.normal(11, 83), "beta": 0.0},
            "at-the-seam": lambda d: {
                "input": d.integers(-2, 3, 7, 61, dtype=torch.float32), "target": d.integers(-2, 3, 7, 61, dtype=torch.float32),
                "reduction": "none",
            },
            "transposed": lambda d: {"input": transposed(d.normal(29, 43)), "target": d.normal(29, 43), "beta": 0.1},
            "large": lambda d: {"input": d.normal(5, 7, 31, scale=1e4), "target": d.outliers(5, 7, 31), "beta": 100.0},
        }) + hidden({
            "small": lambda d: {"input": d.normal(13, 67, scale=1e-3), "target": d.normal(13, 67, scale=1e-3), "beta": 0.75},
            "strided-bf16": lambda d: {
                "input": strided(d.normal(13, 67, dtype=BF16)), "target": strided(d.normal(13, 67, dtype=BF16), 3), "reduction": "none"
            },
            "offset": lambda d: {"input": offset(d.normal(2, 3, 173)), "target": offset(d.normal(2, 3, 173, shift=1), 1), "beta": 3.0},
        }),
        timed(lambda d, n: {"input": d.normal(n), "target": d.normal(n)}, POINTS),
        Contract(close(), notes=(ORDER,)),
        honest=rounded_once(smooth_l1_loss),
        magnitude=smooth_l1_loss,
        wrong={"Huber": huber, "beta 1": lambda input, target, beta=1.0, reduction="mean": smooth_l1_loss(input, target, 1.0, reduction)},
    ),
    Task(
        "kernelbench_x/kl_div",
        "Loss",
        "torch.nn.functional",
        kl_div,
        shown({
            "fp32": lambda d: {"input": d.normal(17, 113).log_softmax(-1), "target": d.normal(17, 113).softmax(-1)},
            "log-target": lambda d: {
                "input": d.normal(19, 67).log_softmax(-1), "target": d.normal(19, 67).log_softmax(-1), "log_target": True
            },
            "each-fp16": lambda d: {
                "input": d.normal(31, 43, dtype=FP16), "target": d.uniform(31, 43, dtype=FP16), "reduction": "none"
            },
            "each-bf16-log": lambda d: {
                "input": d.normal(29, 31, dtype=BF16), "target": d.normal(29, 31, dtype=BF16, shift=-2), "reduction": "none",
                "log_target": True,
            },
            "mean": lambda d: {"input": d.normal(23, 41).log_softmax(-1), "target": d.normal(23, 41).softmax(-1), "reduction": "mean"},
            "sum": lambda d: {"input": d.normal(13, 59), "target": d.uniform(13, 59), "reduction": "sum"},
            "zeros": lambda d: {"input": d.normal(11, 37).log_softmax(-1), "target": d.ties(11, 37, levels=3) / 37},
            "transposed": lambda d: {
                "input": transposed(d.normal(29, 43)).log_softmax(-1), "target": transposed(d.normal(29, 43).softmax(-1))
            },
            "images": lambda d: {"input": d.normal(3, 5, 7, 11), "target": d.uniform(3, 5, 7, 11)},
        }) + hidden({
            "sharp": lambda d: {"input": d.normal(13, 97, scale=20).log_softmax(-1), "target": d.normal(13, 97, scale=20).softmax(-1)},
            "strided-fp16": lambda d: {
                "input": strided(d.normal(13, 67, dtype=FP16)), "target": strided(d.uniform(13, 67, dtype=FP16)), "reduction": "none"
            },
            "offset-sum-log": lambda d: {
                "input": offset(d.normal(7, 31).log_softmax(-1)), "target": offset(d.normal(7, 31).log_softmax(-1), 1), "reduction": "sum",
                "log_target": True,
            },
        }),
        timed(lambda d, *s: {"input": d.normal(*s).log_softmax(-1), "target": d.normal(*s).softmax(-1)}, ROWS),
        Contract(close(), notes=("A target of 0 counts nothing.", ORDER)),
        honest=rounded_once(kl_div),
        magnitude=kl_terms,
        wrong={"NaN for zero": kl_without_zeros, "mean of all": kl_mean_of_all},
    ),
)  # fmt: skip


def _near(input: Tensor, difference: Tensor) -> dict[str, Tensor]:
    return {"input": input, "target": input + difference}
