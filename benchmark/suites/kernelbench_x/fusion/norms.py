"""Fusion of KernelBench-X: normalisations over batches and groups, and distances of normalised vectors."""

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from benchmark.checkers import close
from benchmark.draw import Draw, offset, strided, transposed
from benchmark.suites.kernelbench_x._honest import rounded_once
from benchmark.suites.kernelbench_x._out import into, nothing
from benchmark.suites.kernelbench_x.fusion._norm_terms import through_norm
from benchmark.task import Arguments, Case, Contract, Task, hidden, shown, timed

FP16, BF16 = torch.float16, torch.bfloat16


def fused_add_mul_groupnorm(
    input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor, num_groups: int, eps: float = 1e-5, *, out: Tensor | None = None
) -> Tensor:
    """Group norm of `z = (input1 + input2) * input2` (N, C, ...), where `input2` may broadcast: channels are split into `num_groups`
    runs, each sample's run is normalised over its channels and all further axes, `(z - mean) / sqrt(var + eps)` with the biased
    variance, and scaled by channel: `* weight + bias`, both (C,). With `out` the result is written there, and `out` is returned."""
    return into(functional.group_norm((input1 + input2) * input2, num_groups, weight, bias, eps), out)


def group_terms(
    input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor, num_groups: int, eps: float = 1e-5, *, out: Tensor | None = None
) -> Tensor:
    z, of_z = (input1 + input2) * input2, (input1.abs() + input2.abs()) * input2.abs()
    groups = (z.shape[0], num_groups, -1)
    normed = through_norm(z.reshape(groups), of_z.reshape(groups), (2,), eps).reshape(z.shape)
    by_channel = (-1, *[1] * (z.dim() - 2))
    return normed * weight.abs().view(by_channel) + bias.abs().view(by_channel)


def unbiased_groups(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor, num_groups: int, eps: float = 1e-5, **_: Any) -> Tensor:
    z = (input1 + input2) * input2
    groups, by_channel = z.reshape(z.shape[0], num_groups, -1), (-1, *[1] * (z.dim() - 2))
    normed = (groups - groups.mean(2, keepdim=True)) / (groups.var(2, keepdim=True) + eps).sqrt()
    return normed.reshape(z.shape) * weight.view(by_channel) + bias.view(by_channel)


def pair(d: Draw, *shape: int, dtype: torch.dtype = torch.float32, scale: float = 1.0, **options: Any) -> Arguments:
    tensors = {"input1": d.normal(*shape, dtype=dtype, scale=scale), "input2": d.normal(*shape, dtype=dtype, scale=scale)}
    affine = {"weight": d.normal(shape[1], dtype=dtype, shift=1), "bias": d.normal(shape[1], dtype=dtype)}
    return tensors | affine | options


def fused_sigmoid_batch_norm(
    input: Tensor,
    running_mean: Tensor,
    running_var: Tensor,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Batch norm of `input` (N, C, ...), then the sigmoid: `(x - mean) / sqrt(var + eps) * weight + bias` by channel, where None
    stands for 1 and 0. Not in training, mean and variance are `running_mean` and `running_var` (C,), which are only read. In
    training they are the batch's over all axes but the channels, with the biased variance, and the running statistics become
    `(1 - momentum) * running + momentum * batch's`, with the unbiased variance."""
    return torch.sigmoid(functional.batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps))


def fused_hardsigmoid_batch_norm(
    x: Tensor,
    running_mean: Tensor,
    running_var: Tensor,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
    inplace: bool = False,
) -> Tensor:
    """Batch norm of `x` (N, C, ...), then `min(max(y + 3, 0), 6) / 6`: `y = (x - mean) / sqrt(var + eps) * weight + bias` by channel,
    where None stands for 1 and 0. Not in training, mean and variance are `running_mean` and `running_var` (C,), which are only
    read. In training they are the batch's over all axes but the channels, with the biased variance, and the running statistics
    become `(1 - momentum) * running + momentum * batch's`, with the unbiased variance. `inplace` changes nothing that the caller
    sees."""
    return functional.hardsigmoid(functional.batch_norm(x, running_mean, running_var, weight, bias, training, momentum, eps), inplace)


def batch_terms(
    input: Tensor,
    running_mean: Tensor,
    running_var: Tensor,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> tuple[Tensor, ...]:
    """Behind the normalised values, and in training behind the running statistics."""
    by_channel, others = (-1, *[1] * (input.dim() - 2)), (0, *range(2, input.dim()))
    running: tuple[Tensor, ...] = ()
    if training:
        mean, size = input.mean(others, keepdim=True), input.abs() + input.abs().mean(others, keepdim=True)
        normed = through_norm(input, input.abs(), others, eps)
        running = (running_mean.abs() + input.abs().mean(others), running_var + (2 * (input - mean).abs() * size).mean(others))
    else:
        normed = (input.abs() + running_mean.abs().view(by_channel)) * (running_var.view(by_channel) + eps).rsqrt()
    normed = normed if weight is None else normed * weight.abs().view(by_channel)
    return (normed if bias is None else normed + bias.abs().view(by_channel), *running)


def sigmoid_terms(**arguments: Any) -> tuple[Tensor, ...]:
    normed, *running = batch_terms(**arguments)
    # The reference writes them in training.
    own = {name: arguments[name].clone() for name in ("running_mean", "running_var")}
    result = fused_sigmoid_batch_norm(**arguments | own)
    return (normed * result * (1 - result), *running)


def hardsigmoid_terms(x: Tensor, inplace: bool = False, **rest: Any) -> tuple[Tensor, ...]:
    normed, *running = batch_terms(x, **rest)
    return (normed / 6 + 0.5, *running)


def batch(d: Draw, name: str, *shape: int, dtype: torch.dtype = torch.float32, affine: bool = True, **options: Any) -> Arguments:
    """Values whose means and widths differ by channel, and running statistics that are not those of the batch."""
    channels, further = shape[1], (1,) * (len(shape) - 2)
    values = d.normal(*shape) * d.uniform(channels, *further, low=0.3, high=3) + d.normal(channels, *further)
    statistics = {"running_mean": d.normal(channels), "running_var": d.uniform(channels, low=0.3, high=3)}
    scale = {"weight": d.normal(channels, shift=1), "bias": d.normal(channels)} if affine else {}
    return {name: values.to(dtype)} | statistics | scale | options


def batches(name: str, **inplace: Any) -> tuple[Case, ...]:
    """Cases for an input of this name."""

    def viewed(view: Any, arguments: Arguments) -> Arguments:
        return arguments | {name: view(arguments[name])}

    return shown({
        "fp32": lambda d: batch(d, name, 31, 17),
        "training": lambda d: batch(d, name, 29, 13, training=True) | inplace,
        "fp16-images": lambda d: batch(d, name, 3, 5, 7, 11, dtype=FP16),
        "bf16-training": lambda d: batch(d, name, 4, 6, 37, dtype=BF16, training=True, momentum=0.3),
        "plain": lambda d: batch(d, name, 2, 7, 53, affine=False, eps=0.1) | inplace,
        "transposed-training": lambda d: viewed(transposed, batch(d, name, 3, 11, 19, training=True, eps=0.1)),
        "shifted-training": lambda d: batch(d, name, 5, 7, 31, affine=False, training=True) | {name: d.normal(5, 7, 31, shift=300)},
        "large": lambda d: batch(d, name, 13, 5)
        | {name: d.normal(13, 5, scale=1e4), "running_mean": d.normal(5, scale=1e4), "running_var": d.uniform(5, low=1e8, high=9e8)},
        "small": lambda d: batch(d, name, 13, 5, training=True) | {name: d.normal(13, 5, scale=1e-3)},
        "nothing": lambda d: batch(d, name, 0, 3, 5),
    }) + hidden({
        "strided-bf16": lambda d: viewed(strided, batch(d, name, 2, 5, 3, 23, dtype=BF16)),
        "offset-momentum": lambda d: viewed(offset, batch(d, name, 2, 3, 9, 7, training=True, momentum=1.0)),
        "outliers": lambda d: batch(d, name, 53, 7, training=True, momentum=0.0) | {name: d.outliers(53, 7, factor=30)},
    })  # fmt: skip


STATISTICS = ((64, 256), (2048, 512), (8192, 2048), (16384, 2048))


def no_eps(reference: Any) -> Any:
    return lambda eps=0.0, **rest: reference(**rest, eps=1e-30)


def biased_running(**arguments: Any) -> Any:
    """The running variance takes the biased one."""
    result, own = fused_sigmoid_batch_norm(**arguments), arguments
    if own.get("training"):
        count = own["input"].numel() // own["input"].shape[1]
        momentum, variance = own.get("momentum", 0.1), own["input"].double().var([a for a in range(own["input"].dim()) if a != 1])
        own["running_var"].sub_((momentum * variance / count).to(own["running_var"].dtype))
    return result


def fused_pairwise_distance_normalize(
    x1: Tensor, x2: Tensor, p_norm: float = 2.0, eps_norm: float = 1e-12, eps_distance: float = 1e-6, keepdim: bool = False
) -> Tensor:
    """Distances of each row of `x1` (N, D) from each row of `x2` (M, D), as (N, M), or (N, M, 1) with `keepdim`. Rows are first
    divided by `max(norm, eps_norm)`; the distance is the norm of the rows' difference, `eps_distance` at least. All norms are
    `sum(|v|**p_norm) ** (1 / p_norm)`, or the largest `|v|` where `p_norm` is infinite."""
    wide = torch.promote_types(x1.dtype, torch.float32)
    left, right = (functional.normalize(x.to(wide), p_norm, dim=-1, eps=eps_norm) for x in (x1, x2))
    distance = torch.cdist(left, right, p_norm, compute_mode="donot_use_mm_for_euclid_dist").clamp(min=eps_distance).to(x1.dtype)
    return distance.unsqueeze(-1) if keepdim else distance


def row_norms(
    x1: Tensor, x2: Tensor, p_norm: float = 2.0, eps_norm: float = 1e-12, eps_distance: float = 1e-6, keepdim: bool = False
) -> Tensor:
    """By the triangle inequality: the norms of both rows, which are 1 as a rule."""
    left, right = (functional.normalize(x, p_norm, dim=-1, eps=eps_norm).norm(p_norm, -1) for x in (x1, x2))
    sums = left[:, None] + right
    return sums.unsqueeze(-1) if keepdim else sums


def by_products(
    x1: Tensor, x2: Tensor, p_norm: float = 2.0, eps_norm: float = 1e-12, eps_distance: float = 1e-6, keepdim: bool = False
) -> Tensor:
    """`sqrt(|a|**2 + |b|**2 - 2 a b)`, which loses small distances."""
    left, right = (functional.normalize(x.float(), p_norm, dim=-1, eps=eps_norm) for x in (x1, x2))
    squares = left.square().sum(-1)[:, None] + right.square().sum(-1) - 2 * left @ right.mT
    distance = squares.clamp(min=eps_distance**2).sqrt().to(x1.dtype)
    return distance.unsqueeze(-1) if keepdim else distance


def eps_added(
    x1: Tensor, x2: Tensor, p_norm: float = 2.0, eps_norm: float = 1e-12, eps_distance: float = 1e-6, keepdim: bool = False
) -> Tensor:
    """Both eps added where they are the least."""
    left, right = (x.float() / (x.float().norm(p_norm, -1, keepdim=True) + eps_norm) for x in (x1, x2))
    distance = ((left[:, None] - right).norm(p_norm, -1) + eps_distance).to(x1.dtype)
    return distance.unsqueeze(-1) if keepdim else distance


def rows(d: Draw, left: int, right: int, size: int, dtype: torch.dtype = torch.float32, **options: Any) -> Arguments:
    return {"x1": d.normal(left, size, dtype=dtype), "x2": d.normal(right, size, dtype=dtype)} | options


def neighbours(d: Draw) -> Arguments:
    """Rows that are nearly, or exactly, those of the other tensor."""
    x = d.normal(11, 29)
    return {"x1": x, "x2": x + without_some(d.normal(11, 29, scale=1e-4)), "eps_distance": 2e-5}


def without_some(tensor: Tensor) -> Tensor:
    return tensor * (torch.arange(tensor.shape[0], device=tensor.device) % 3 != 0).unsqueeze(1)


DISTANCES = shown({
    "fp32": lambda d: rows(d, 17, 13, 37),
    "fp16": lambda d: rows(d, 16, 8, 64, dtype=FP16, keepdim=True),
    "bf16": lambda d: rows(d, 7, 19, 41, dtype=BF16),
    "manhattan": lambda d: rows(d, 11, 13, 23, p_norm=1.0),
    "cubes": lambda d: rows(d, 11, 7, 19, p_norm=3.0),
    "largest": lambda d: rows(d, 5, 11, 31, p_norm=float("inf"), keepdim=True),
    "transposed": lambda d: {"x1": transposed(d.normal(13, 29)), "x2": transposed(d.normal(11, 29))},
    "neighbours": neighbours,
    "short-rows": lambda d: rows(d, 9, 7, 33, eps_norm=8.0),
    "large": lambda d: {"x1": d.normal(7, 31, scale=1e6), "x2": d.normal(5, 31, scale=1e-6)},
    "nothing": lambda d: rows(d, 0, 3, 5),
}) + hidden({
    "strided-bf16": lambda d: {"x1": strided(d.normal(9, 47, dtype=BF16)), "x2": d.normal(5, 47, dtype=BF16), "eps_distance": 1.4},
    "offset-long": lambda d: {"x1": offset(d.normal(5, 257)), "x2": d.outliers(3, 257), "p_norm": 1.5},
    "zero-rows": lambda d: {"x1": without_some(d.normal(7, 23)), "x2": without_some(d.normal(5, 23)), "keepdim": True},
})  # fmt: skip


TASKS = (
    Task(
        "kernelbench_x/fused_add_mul_groupnorm",
        "Fusion",
        "fused",
        fused_add_mul_groupnorm,
        shown({
            "fp32": lambda d: pair(d, 2, 12, 7, 9, num_groups=4),
            "fp16": lambda d: pair(d, 3, 8, 11, 5, dtype=FP16, num_groups=2),
            "bf16-eps": lambda d: pair(d, 2, 6, 31, dtype=BF16, num_groups=3, eps=0.1),
            "one-group": lambda d: pair(d, 2, 5, 13, num_groups=1),
            "rows": lambda d: pair(d, 13, 20, num_groups=5, eps=1e-3),
            "broadcast": lambda d: pair(d, 3, 6, 7, 11, num_groups=2) | {"input2": d.normal(6, 1, 11, shift=1)},
            "transposed": lambda d: pair(d, 2, 4, 7, 11, num_groups=2) | {"input1": transposed(d.normal(2, 4, 7, 11))},
            "large": lambda d: pair(d, 2, 6, 37, scale=1e4, num_groups=3),
            "small": lambda d: pair(d, 2, 6, 37, scale=0.03, num_groups=3),
            "out": lambda d: pair(d, 2, 9, 23, num_groups=3, out=nothing(d, 2, 9, 23)),
        }) + hidden({
            "strided-bf16": lambda d: pair(d, 2, 4, 5, 17, dtype=BF16, num_groups=4)
            | {"input2": strided(d.normal(2, 4, 5, 17, dtype=BF16))},
            "offset-long": lambda d: pair(d, 2, 2, 1021, num_groups=1) | {"input1": offset(d.normal(2, 2, 1021))},
            "outliers": lambda d: pair(d, 3, 10, 4, 5, num_groups=5) | {"input1": d.outliers(3, 10, 4, 5, factor=30)},
        }),
        timed(lambda d, *shape: pair(d, *shape, num_groups=8),
              ((4, 64, 16, 16), (16, 64, 64, 64), (16, 64, 128, 128), (16, 64, 128, 256))),
        Contract(close(), mutates=("out",)),
        honest=rounded_once(fused_add_mul_groupnorm),
        magnitude=group_terms,
        wrong={"unbiased variance": unbiased_groups, "no eps": no_eps(fused_add_mul_groupnorm)},
    ),
    Task(
        "kernelbench_x/fused_sigmoid_batch_norm",
        "Fusion",
        "fused",
        fused_sigmoid_batch_norm,
        batches("input"),
        timed(lambda d, *shape: batch(d, "input", *shape, training=True), STATISTICS),
        Contract(close(), mutates=("running_mean if training", "running_var if training")),
        honest=rounded_once(fused_sigmoid_batch_norm),
        magnitude=sigmoid_terms,
        wrong={"no eps": no_eps(fused_sigmoid_batch_norm), "biased running variance": biased_running},
    ),
    Task(
        "kernelbench_x/fused_hardsigmoid_batch_norm",
        "Fusion",
        "fused",
        fused_hardsigmoid_batch_norm,
        batches("x", inplace=True),
        timed(lambda d, *shape: batch(d, "x", *shape), ((4, 64, 16, 16), (16, 64, 64, 64), (16, 64, 128, 128), (16, 64, 128, 256))),
        Contract(
            close(),
            mutates=("running_mean if training", "running_var if training"),
            notes=("`inplace` concerns the normalised values, which nobody else sees: `x` is not written.",),
        ),
        honest=rounded_once(fused_hardsigmoid_batch_norm),
        magnitude=hardsigmoid_terms,
        wrong={"no eps": no_eps(fused_hardsigmoid_batch_norm)},
    ),
    Task(
        "kernelbench_x/fused_pairwise_distance_normalize",
        "Fusion",
        "fused",
        fused_pairwise_distance_normalize,
        DISTANCES,
        timed(lambda d, n, m: rows(d, n, m, 128), ((64, 64), (1024, 512), (2048, 2048), (4096, 4096))),
        Contract(close(), notes=("Differences are taken before they are raised to a power: `|a|^2 + |b|^2 - 2 a b` loses small ones.",)),
        honest=rounded_once(fused_pairwise_distance_normalize),
        magnitude=row_norms,
        wrong={"by products": by_products, "eps added": eps_added},
    ),
)  # fmt: skip
