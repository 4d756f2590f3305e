"""Losses of class indices: each position picks a logarithm of its class, weighted, unless it is ignored."""

import torch
from torch import Tensor
from torch.nn import functional

from benchmark.checkers import close
from benchmark.draw import offset, strided, transposed
from benchmark.sizes import LOGITS
from benchmark.task import Contract, Task, hidden, shown, timed

FP16, BF16 = torch.float16, torch.bfloat16


def cross_entropy(input: Tensor, target: Tensor, weight: Tensor | None = None, ignore_index: int = -100, reduction: str = "mean") -> Tensor:
    """`-weight[t] * log_softmax(input, 1)[t]` at the class index t of `target`, for logits of shape (N, C) or (N, C, d1, ...).

    Positions whose target is `ignore_index` count nothing (0 for `reduction="none"`). "sum" adds up; "mean" divides the sum
    by the sum of the targets' weights (their number without `weight`), which is NaN where every position is ignored."""
    return functional.cross_entropy(input, target, weight, ignore_index=ignore_index, reduction=reduction)


def loss_terms(input: Tensor, target: Tensor, weight: Tensor | None = None, ignore_index: int = -100, reduction: str = "mean") -> Tensor:
    terms = input.abs().amax(1) * (1.0 if weight is None else weight.max())
    return {"none": terms, "sum": terms.sum(), "mean": terms.max()}[reduction]


def picked(logs: Tensor, target: Tensor, weight: Tensor | None, ignore_index: int, reduction: str, divisor: str) -> Tensor:
    """The loss of logarithms along axis 1, with another divisor of the mean."""
    terms = functional.nll_loss(logs, target, weight, ignore_index=ignore_index, reduction="none")
    if reduction != "mean":
        return terms if reduction == "none" else terms.sum()
    return terms.sum() / {"positions": target.numel(), "counted": int((target != ignore_index).sum())}[divisor]


def cross_entropy_ignored_counted(
    input: Tensor, target: Tensor, weight: Tensor | None = None, ignore_index: int = -100, reduction: str = "mean"
) -> Tensor:
    return picked(input.log_softmax(1), target, weight, ignore_index, reduction, "positions")


def nll_loss(input: Tensor, target: Tensor, weight: Tensor | None = None, ignore_index: int = -100, reduction: str = "mean") -> Tensor:
    """`-weight[t] * input[n, t, ...]` at the class index t of `target`, for `input` of shape (N, C) or (N, C, d1, ...), which holds
    logarithms of probabilities.

    Positions whose target is `ignore_index` count nothing (0 for `reduction="none"`). "sum" adds up; "mean" divides the sum
    by the sum of the targets' weights (their number without `weight`), which is NaN where every position is ignored."""
    return functional.nll_loss(input, target, weight, ignore_index=ignore_index, reduction=reduction)


def nll_terms(input: Tensor, target: Tensor, weight: Tensor | None = None, ignore_index: int = -100, reduction: str = "mean") -> Tensor:
    return functional.nll_loss(-input.abs(), target, weight, ignore_index=ignore_index, reduction=reduction)


def nll_ignored_counted(
    input: Tensor, target: Tensor, weight: Tensor | None = None, ignore_index: int = -100, reduction: str = "mean"
) -> Tensor:
    return picked(input, target, weight, ignore_index, reduction, "positions")


def nll_mean_of_the_number(
    input: Tensor, target: Tensor, weight: Tensor | None = None, ignore_index: int = -100, reduction: str = "mean"
) -> Tensor:
    """Divides by the number of targets, not by their weights."""
    return picked(input, target, weight, ignore_index, reduction, "counted")


TASKS = (
    Task(
        "kernelbench_x/cross_entropy",
        "Loss",
        "torch.nn.functional",
        cross_entropy,
        shown({
            "fp32": lambda d: {"input": d.normal(17, 113), "target": d.classes(113, 17)},
            "fp32-each": lambda d: {"input": d.normal(19, 67), "target": d.classes(67, 19), "reduction": "none"},
            "fp16-each": lambda d: {"input": d.normal(31, 43, dtype=FP16), "target": d.classes(43, 31), "reduction": "none"},
            "bf16-each": lambda d: {"input": d.normal(29, 31, dtype=BF16), "target": d.classes(31, 29, ignored=-100), "reduction": "none"},
            "ignored": lambda d: {"input": d.normal(17, 29), "target": d.classes(29, 17, ignored=7), "ignore_index": 7},
            "weighted": lambda d: {"input": d.normal(23, 19), "target": d.classes(19, 23), "weight": d.uniform(19, low=0.1, high=2.0)},
            "weighted-sum": lambda d: {
                "input": d.normal(19, 23), "target": d.classes(23, 19, ignored=-100), "weight": d.uniform(23), "reduction": "sum"
            },
            "large": lambda d: {"input": d.normal(13, 101, scale=100), "target": d.classes(101, 13), "reduction": "none"},
            "pixels": lambda d: {"input": d.normal(2, 11, 7), "target": d.classes(11, 2, 7)},
        }) + hidden({
            "all-ignored": lambda d: {"input": d.normal(5, 17), "target": d.integers(2, 3, 5), "ignore_index": 2},
            "outliers": lambda d: {"input": d.outliers(11, 211), "target": d.classes(211, 11), "reduction": "sum"},
            "strided-weighted": lambda d: {
                "input": strided(d.normal(13, 97)), "target": d.classes(97, 13, ignored=-1), "weight": d.uniform(97), "ignore_index": -1
            },
        }),
        timed(lambda d, m, n: {"input": d.normal(m, n), "target": d.classes(n, m)}, LOGITS),
        # Rows may be added up one after another: thousands of roundings, whose sum is some tens of one.
        Contract(close(terms=64.0)),
        magnitude=loss_terms,
        wrong={"ignored positions counted": cross_entropy_ignored_counted},
    ),
    Task(
        "kernelbench_x/nll_loss",
        "Loss",
        "torch.nn.functional",
        nll_loss,
        shown({
            "fp32": lambda d: {"input": d.normal(67, 31).log_softmax(1), "target": d.classes(31, 67)},
            "each": lambda d: {"input": d.normal(127, 19).log_softmax(1), "target": d.classes(19, 127, ignored=-100), "reduction": "none"},
            "each-fp16": lambda d: {"input": d.normal(61, 43, dtype=FP16), "target": d.classes(43, 61), "reduction": "none"},
            "each-bf16": lambda d: {
                "input": d.normal(59, 31, dtype=BF16), "target": d.classes(31, 59), "weight": d.uniform(31, low=0.5, high=2, dtype=BF16),
                "reduction": "none",
            },
            "ignored": lambda d: {"input": d.normal(47, 29).log_softmax(1), "target": d.classes(29, 47, ignored=7), "ignore_index": 7},
            "weighted": lambda d: {
                "input": d.normal(53, 19).log_softmax(1), "target": d.classes(19, 53, ignored=-100),
                "weight": d.uniform(19, low=0.1, high=2),
            },
            "weighted-sum": lambda d: {
                "input": transposed(d.normal(41, 23)), "target": d.classes(23, 41), "weight": d.uniform(23), "reduction": "sum"
            },
            "pixels": lambda d: {"input": d.normal(2, 11, 5, 7).log_softmax(1), "target": d.classes(11, 2, 5, 7, ignored=-100)},
            "large": lambda d: {"input": d.normal(71, 13, scale=1e4), "target": d.classes(13, 71), "reduction": "none"},
        }) + hidden({
            "all-ignored": lambda d: {"input": d.normal(5, 17), "target": d.integers(2, 3, 5), "ignore_index": 2},
            "strided-weighted": lambda d: {
                "input": strided(d.normal(83, 37)), "target": d.classes(37, 83, ignored=-1), "weight": d.uniform(37), "ignore_index": -1
            },
            "offset-sum": lambda d: {"input": offset(d.outliers(2, 19, 23)), "target": d.classes(19, 2, 23), "reduction": "sum"},
        }),
        timed(lambda d, m, n: {"input": d.normal(m, n).log_softmax(1), "target": d.classes(n, m)}, LOGITS),
        Contract(close(), notes=("Ignored positions count neither in the sum nor in the divisor.",)),
        magnitude=nll_terms,
        wrong={"ignored positions counted": nll_ignored_counted, "mean of the number": nll_mean_of_the_number},
    ),
)  # fmt: skip
