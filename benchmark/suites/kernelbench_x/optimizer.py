"""Optimizer of KernelBench-X: single steps as functions. What a step writes (parameter, moments, buffers) is compared, all of it."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from benchmark.checkers import close
from benchmark.draw import Draw, offset, strided, transposed
from benchmark.sizes import POINTS
from benchmark.task import Arguments, Contract, Task, hidden, shown, timed

FP16, BF16 = torch.float16, torch.bfloat16
ONCE = "Fp16 and bf16 tensors are computed in float32, and each written tensor is rounded once, at the end."


def sgd_step(
    param: Tensor,
    grad: Tensor,
    momentum_buffer: Tensor | None = None,
    lr: float = 0.1,
    momentum: float = 0.9,
    weight_decay: float = 0.0,
    dampening: float = 0.0,
    nesterov: bool = False,
) -> tuple[Tensor, Tensor | None]:
    """One step of SGD, in place: `g = grad + weight_decay * param`; with `momentum > 0`, `b = momentum * b + (1 - dampening) * g`
    (b is `momentum_buffer`, or a new tensor of zeros for None), and g becomes `g + momentum * b` with `nesterov`, else b; at last
    `param -= lr * g`. Returns (param, b); with `momentum == 0`, (param, None), and a given buffer is left as it is."""
    if weight_decay:
        grad = grad.add(param, alpha=weight_decay)
    if momentum > 0:
        momentum_buffer = torch.zeros_like(grad) if momentum_buffer is None else momentum_buffer
        momentum_buffer.mul_(momentum).add_(grad, alpha=1 - dampening)
        grad = grad.add(momentum_buffer, alpha=momentum) if nesterov else momentum_buffer
    param.add_(grad, alpha=-lr)
    return param, momentum_buffer if momentum > 0 else None


def adamw_step(
    param: Tensor,
    grad: Tensor,
    exp_avg: Tensor,
    exp_avg_sq: Tensor,
    step: int,
    lr: float = 1e-3,
    beta1: float = 0.9,
    beta2: float = 0.999,
    eps: float = 1e-8,
    weight_decay: float = 0.01,
) -> tuple[Tensor, Tensor, Tensor]:
    """Step number `step` (1 is the first) of AdamW, in place: `param *= 1 - lr * weight_decay`;
    `exp_avg = beta1 * exp_avg + (1 - beta1) * grad`; `exp_avg_sq = beta2 * exp_avg_sq + (1 - beta2) * grad**2`;
    `param -= lr / (1 - beta1**step) * exp_avg / (sqrt(exp_avg_sq / (1 - beta2**step)) + eps)`.
    Returns (param, exp_avg, exp_avg_sq)."""
    param.mul_(1 - lr * weight_decay)
    exp_avg.mul_(beta1).add_(grad, alpha=1 - beta1)
    exp_avg_sq.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
    root = exp_avg_sq.sqrt().div_((1 - beta2**step) ** 0.5).add_(eps)
    param.addcdiv_(exp_avg, root, value=-lr / (1 - beta1**step))
    return param, exp_avg, exp_avg_sq


def lion_step(
    param: Tensor,
    grad: Tensor,
    exp_avg: Tensor,
    lr: float = 1e-4,
    beta1: float = 0.9,
    beta2: float = 0.99,
    weight_decay: float = 0.0,
) -> tuple[Tensor, Tensor]:
    """One step of Lion, in place: `u = sign(beta1 * exp_avg + (1 - beta1) * grad)`, with the old `exp_avg`, and sign(0) = 0;
    `param = param * (1 - lr * weight_decay) - lr * u`; then `exp_avg = beta2 * exp_avg + (1 - beta2) * grad`.
    Returns (param, exp_avg)."""
    update = exp_avg.mul(beta1).add_(grad, alpha=1 - beta1).sign_()
    param.mul_(1 - lr * weight_decay).add_(update, alpha=-lr)
    exp_avg.mul_(beta2).add_(grad, alpha=1 - beta2)
    return param, exp_avg


def rmsprop_step(
    param: Tensor,
    grad: Tensor,
    square_avg: Tensor,
    lr: float = 1e-2,
    alpha: float = 0.99,
    eps: float = 1e-8,
    weight_decay: float = 0.0,
) -> tuple[Tensor, Tensor]:
    """One step of RMSProp, in place: `g = grad + weight_decay * param`; `square_avg = alpha * square_avg + (1 - alpha) * g**2`;
    `param -= lr * g / (sqrt(square_avg) + eps)`. Returns (param, square_avg)."""
    if weight_decay:
        grad = grad.add(param, alpha=weight_decay)
    square_avg.mul_(alpha).addcmul_(grad, grad, value=1 - alpha)
    param.addcdiv_(grad, square_avg.sqrt().add_(eps), value=-lr)
    return param, square_avg


def Adam(
    params: list[Tensor], lr: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8, weight_decay: float = 0
) -> list[Tensor]:
    """One step of Adam for several parameters, without an optimizer object and without writing anything.

    `params` is a flat list with five tensors for each parameter: value p, gradient g, first moment m, second moment v (all of one
    shape and dtype) and the number of steps done before this one (int64, no axes). With t = steps done + 1 and (b1, b2) = `betas`:
    `g = g + weight_decay * p` (not decoupled); `m' = b1 * m + (1 - b1) * g`; `v' = b2 * v + (1 - b2) * g**2`;
    `p' = p - lr / (1 - b1**t) * m' / (sqrt(v' / (1 - b2**t)) + eps)`. Returns the flat list p', m', v' of each parameter in turn, as
    new tensors."""
    results = []
    for param, grad, exp_avg, exp_avg_sq, done in zip(*(params[i::5] for i in range(5)), strict=True):
        time = done.to(torch.promote_types(param.dtype, torch.float32)) + 1
        grad = grad.add(param, alpha=weight_decay) if weight_decay else grad
        first = exp_avg.mul(betas[0]).add_(grad, alpha=1 - betas[0])
        second = exp_avg_sq.mul(betas[1]).addcmul_(grad, grad, value=1 - betas[1])
        root = second.div(1 - betas[1] ** time).sqrt_().add_(eps)
        results += [param.sub(first.div(1 - betas[0] ** time).div_(root), alpha=lr), first, second]
    return results


def wide(step: Callable[..., Any]) -> Callable[..., Any]:
    """`step` in fp32 at least, with one rounding of each result: the honest computation for fp16 and bf16."""

    def honest(**arguments: Any) -> Any:
        own = {name: _widened(value) for name, value in arguments.items()}
        result = step(**own)
        for name, value in own.items():
            if isinstance(value, Tensor) and value is not arguments[name]:
                arguments[name].copy_(value)
        like = next(iter(arguments.values()))
        written = {id(value): arguments[name] for name, value in own.items()}
        back = (like[0] if isinstance(like, list) else like).dtype
        return [written.get(id(tensor), tensor.to(back)) for tensor in result if tensor is not None]

    return honest


def _widened(value: Any) -> Any:
    if isinstance(value, list):
        return [_widened(item) for item in value]
    halved = isinstance(value, Tensor) and value.dtype in (FP16, BF16)
    return value.float() if halved else value


def coupled(grad: str = "grad", decay: float = 0.01) -> Callable[..., Any]:
    def step(**a: Any) -> Any:
        a = {"weight_decay": decay, **a}
        return adamw_step(**a | {grad: a[grad] + a["weight_decay"] * a["param"], "weight_decay": 0})

    return step


def lion_with_new_average(**a: Any) -> Any:
    """The sign of the average after its update."""
    new = {**a, "exp_avg": a["exp_avg"].clone()}
    lion_step(**new)
    a["exp_avg"].copy_(new["exp_avg"])
    return lion_step(**a | {"exp_avg": new["exp_avg"], "grad": new["exp_avg"]})[0], a["exp_avg"]


def rmsprop_eps_inside(
    param: Tensor, grad: Tensor, square_avg: Tensor, lr: float = 1e-2, alpha: float = 0.99, eps: float = 1e-8, weight_decay: float = 0.0
) -> tuple[Tensor, Tensor]:
    grad = grad + weight_decay * param
    square_avg.copy_(alpha * square_avg + (1 - alpha) * grad * grad)
    return param.sub_(lr * grad / (square_avg + eps).sqrt()), square_avg


def state(d: Draw, *shape: int, dtype: torch.dtype = torch.float32, scale: float = 1.0, steady: float = 1.0) -> Arguments:
    """Parameter, gradient and both moments, of which callers take what their operator has."""
    moment, square = d.normal(*shape, dtype=dtype, scale=0.1 * scale), d.uniform(*shape, low=0.2, high=1, dtype=dtype) * scale**2
    return {
        "param": d.normal(*shape, dtype=dtype), "grad": d.normal(*shape, dtype=dtype, scale=scale),
        "exp_avg": moment * steady, "exp_avg_sq": square * steady,
    }  # fmt: skip


def moved(arguments: Arguments, view: Callable[[Tensor], Tensor]) -> Arguments:
    return {name: view(value) if isinstance(value, Tensor) else value for name, value in arguments.items()}


def renamed(arguments: Arguments, **names: str) -> Arguments:
    """The tensors that `names` maps to, under its names, beside what is no tensor of `state`."""
    return {name: arguments[source] for name, source in names.items()}


def sgd(d: Draw, *shape: int, **options: Any) -> Arguments:
    return renamed(state(d, *shape, **options), param="param", grad="grad", momentum_buffer="exp_avg")


def fresh(d: Draw, *shape: int, **options: Any) -> Arguments:
    return renamed(state(d, *shape, **options), param="param", grad="grad")


def lion(d: Draw, *shape: int, beta1: float = 0.9, **options: Any) -> Arguments:
    """The gradient is 0 where it nearly cancels the moment: whose sign is left would be a matter of rounding."""
    arguments = renamed(state(d, *shape, **options), param="param", grad="grad", exp_avg="exp_avg")
    old, new = beta1 * arguments["exp_avg"].float(), (1 - beta1) * arguments["grad"].float()
    cancel = (old + new).abs() < 1e-3 * (old.abs() + new.abs())
    return arguments | {"grad": arguments["grad"].masked_fill(cancel, 0)} | ({} if beta1 == 0.9 else {"beta1": beta1})


def rmsprop(d: Draw, *shape: int, **options: Any) -> Arguments:
    return renamed(state(d, *shape, **options), param="param", grad="grad", square_avg="exp_avg_sq")


def adam(d: Draw, *shapes: tuple[int, ...], done: int = 1, **options: Any) -> list[Tensor]:
    """Five tensors for each shape; every parameter has done `done` steps or some more, and none where that is 0."""
    lists = [[*state(d, *shape, **options).values(), d.integers(done, done + 100) * (done > 0)] for shape in shapes]
    return [tensor for five in lists for tensor in five]


def still(arguments: Arguments) -> Arguments:
    """Gradient and moments are zero in every third place."""
    return {name: value if name == "param" else value * (torch.arange(value.numel(), device=value.device) % 3 > 0)
            for name, value in arguments.items()}  # fmt: skip


TASKS = (
    Task(
        "kernelbench_x/SGD",
        "Optimizer",
        "torch.optim",
        sgd_step,
        shown({
            "fp32": lambda d: sgd(d, 4099),
            "fp16": lambda d: sgd(d, 31, 67, dtype=FP16) | {"weight_decay": 0.1},
            "bf16-nesterov": lambda d: sgd(d, 997, dtype=BF16) | {"nesterov": True, "momentum": 0.8},
            "first": lambda d: fresh(d, 13, 83) | {"dampening": 0.5},
            "first-nesterov": lambda d: fresh(d, 1021) | {"nesterov": True, "weight_decay": 0.01, "lr": 1.0},
            "plain": lambda d: fresh(d, 769) | {"momentum": 0.0, "weight_decay": 0.1},
            "dampened": lambda d: sgd(d, 5, 7, 31) | {"dampening": 0.3, "lr": 0.01},
            "transposed": lambda d: moved(sgd(d, 29, 43), transposed),
            "large": lambda d: sgd(d, 1021, scale=1e4) | {"weight_decay": 10.0, "nesterov": True},
            "empty": lambda d: sgd(d, 0),
        }) + hidden({
            "buffer-unused": lambda d: sgd(d, 513) | {"momentum": 0.0},
            "strided": lambda d: moved(sgd(d, 13, 67), strided) | {"momentum": 0.5, "dampening": 0.5},
            "offset-small": lambda d: moved(sgd(d, 1511, scale=1e-5), offset) | {"nesterov": True},
        }),
        timed(lambda d, n: sgd(d, n), POINTS),
        Contract(close(), mutates=("param", "momentum_buffer"), notes=(ONCE,)),
        entry="sgd_step",
        honest=wide(sgd_step),
        wrong={
            "no dampening": lambda **a: sgd_step(**a | {"dampening": 0.0}),
            "nesterov ignored": lambda **a: sgd_step(**a | {"nesterov": False}),
            "the buffer is not written": lambda **a: (
                sgd_step(**a | {"momentum_buffer": a["momentum_buffer"].clone()}) if a.get("momentum_buffer") is not None else sgd_step(**a)
            )[:1],
        },
    ),
    Task(
        "kernelbench_x/AdamW",
        "Optimizer",
        "torch.optim",
        adamw_step,
        shown({
            "fp32": lambda d: state(d, 4099) | {"step": 7},
            "first": lambda d: state(d, 31, 67, steady=0.0) | {"step": 1},
            "fp16": lambda d: state(d, 31, 67, dtype=FP16) | {"step": 3, "eps": 1e-4, "lr": 0.1},
            "bf16": lambda d: state(d, 997, dtype=BF16) | {"step": 10, "weight_decay": 0.5, "lr": 0.1},
            "betas": lambda d: state(d, 13, 83) | {"step": 100, "beta1": 0.5, "beta2": 0.95, "lr": 0.3},
            "transposed": lambda d: moved(state(d, 29, 43), transposed) | {"step": 2, "lr": 0.05},
            "no-decay": lambda d: state(d, 769) | {"step": 5, "weight_decay": 0.0, "lr": 0.1},
            "small": lambda d: state(d, 1021, scale=1e-7) | {"step": 4, "lr": 0.1},
            "eps": lambda d: state(d, 521, scale=1e-3) | {"step": 8, "eps": 1e-2, "lr": 1.0},
            "one": lambda d: state(d, 1) | {"step": 1, "lr": 1.0},
            "empty": lambda d: state(d, 3, 0) | {"step": 1},
        }) + hidden({
            "still": lambda d: still(state(d, 1511)) | {"step": 3, "lr": 0.2},
            "strided-late": lambda d: moved(state(d, 13, 67), strided) | {"step": 100000, "weight_decay": 0.3, "lr": 0.1},
            "offset-large": lambda d: moved(state(d, 5, 7, 31, scale=1e4), offset) | {"step": 6, "lr": 0.1},
        }),
        timed(lambda d, n: state(d, n) | {"step": 9}, POINTS),
        Contract(close(), mutates=("param", "exp_avg", "exp_avg_sq"), notes=(ONCE,)),
        entry="adamw_step",
        honest=wide(adamw_step),
        wrong={
            "coupled decay": coupled(),
            "no bias correction": lambda **a: adamw_step(**a | {"step": 10**6}),
            "the step from zero": lambda **a: adamw_step(**a | {"step": a["step"] + 1}),
        },
    ),
    Task(
        "kernelbench_x/Lion",
        "Optimizer",
        "torch.optim",
        lion_step,
        shown({
            "fp32": lambda d: lion(d, 4099) | {"lr": 1e-2},
            "default": lambda d: lion(d, 31, 67),
            "fp16": lambda d: lion(d, 31, 67, dtype=FP16) | {"lr": 0.1, "weight_decay": 0.1},
            "bf16": lambda d: lion(d, 997, dtype=BF16) | {"lr": 0.1},
            "betas": lambda d: lion(d, 13, 83, beta1=0.5) | {"beta2": 0.3, "lr": 0.3},
            "first": lambda d: lion(d, 769, steady=0.0) | {"lr": 0.05, "weight_decay": 0.2},
            "still": lambda d: still(lion(d, 1021)) | {"lr": 0.1},
            "transposed": lambda d: moved(lion(d, 29, 43), transposed) | {"lr": 0.2, "weight_decay": 1.0},
            "small": lambda d: lion(d, 769, scale=1e-7) | {"lr": 0.1},
            "empty": lambda d: lion(d, 0),
        }) + hidden({
            "strided": lambda d: moved(lion(d, 13, 67), strided) | {"lr": 0.1, "beta2": 0.9},
            "offset-large": lambda d: moved(lion(d, 5, 7, 31, scale=1e4), offset) | {"lr": 1.0, "weight_decay": 0.5},
            "one": lambda d: lion(d, 1) | {"lr": 0.5},
        }),
        timed(lambda d, n: lion(d, n), POINTS),
        Contract(close(), mutates=("param", "exp_avg"), notes=(ONCE,)),
        entry="lion_step",
        honest=wide(lion_step),
        wrong={
            "the new average": lion_with_new_average,
            "one beta": lambda **a: lion_step(**a | {"beta2": a.get("beta1", 0.9)}),
        },
    ),
    Task(
        "kernelbench_x/RMSProp",
        "Optimizer",
        "torch.optim",
        rmsprop_step,
        shown({
            "fp32": lambda d: rmsprop(d, 4099),
            "fp16": lambda d: rmsprop(d, 31, 67, dtype=FP16) | {"lr": 0.1, "eps": 1e-4},
            "bf16-decay": lambda d: rmsprop(d, 997, dtype=BF16) | {"lr": 0.1, "weight_decay": 0.3},
            "alpha": lambda d: rmsprop(d, 13, 83) | {"alpha": 0.5, "lr": 0.3},
            "first": lambda d: rmsprop(d, 769, steady=0.0) | {"lr": 0.05},
            "eps": lambda d: rmsprop(d, 1021, scale=1e-3) | {"eps": 1e-2, "lr": 1.0},
            "transposed": lambda d: moved(rmsprop(d, 29, 43), transposed) | {"lr": 0.2, "weight_decay": 0.1},
            "small": lambda d: rmsprop(d, 769, scale=1e-7) | {"lr": 0.1},
            "empty": lambda d: rmsprop(d, 3, 0),
        }) + hidden({
            "still": lambda d: still(rmsprop(d, 1511)) | {"lr": 0.1},
            "strided": lambda d: moved(rmsprop(d, 13, 67), strided) | {"lr": 0.1, "alpha": 0.9},
            "offset-large": lambda d: moved(rmsprop(d, 5, 7, 31, scale=1e4), offset) | {"lr": 1.0, "weight_decay": 2.0},
        }),
        timed(lambda d, n: rmsprop(d, n), POINTS),
        Contract(close(), mutates=("param", "square_avg"), notes=(ONCE,)),
        entry="rmsprop_step",
        honest=wide(rmsprop_step),
        wrong={
            "eps inside the root": rmsprop_eps_inside,
            "the old average": lambda **a: (rmsprop_step(**a | {"square_avg": a["square_avg"] + 0})[0], a["square_avg"]),
        },
    ),
    Task(
        "kernelbench_x/Adam",
        "Optimizer",
        "torch.optim",
        Adam,
        shown({
            "fp32": lambda d: {"params": adam(d, (4099,), done=6)},
            "several": lambda d: {"params": adam(d, (31, 67), (5,), (13, 17), done=2), "lr": 0.1},
            "first": lambda d: {"params": adam(d, (769,), (1,), done=0, steady=0.0), "lr": 0.1},
            "fp16": lambda d: {"params": adam(d, (31, 43), (67,), done=3, dtype=FP16), "lr": 0.1, "eps": 1e-4},
            "bf16-decay": lambda d: {"params": adam(d, (997,), done=1, dtype=BF16), "lr": 0.2, "weight_decay": 0.5},
            "betas": lambda d: {"params": adam(d, (13, 83), done=9), "betas": (0.5, 0.95), "lr": 0.3},
            "decay": lambda d: {"params": adam(d, (1021,), (3, 5), done=4), "weight_decay": 0.3, "lr": 0.1},
            "transposed": lambda d: {"params": [transposed(t) if t.dim() else t for t in adam(d, (29, 43), done=1)], "lr": 0.1},
            "eps": lambda d: {"params": adam(d, (521,), done=7, scale=1e-3), "eps": 1e-2, "lr": 1.0},
            "empty": lambda d: {"params": adam(d, (0,), (7,), done=1), "lr": 0.1},
        }) + hidden({
            "small": lambda d: {"params": adam(d, (1021,), done=3, scale=1e-7), "lr": 0.1},
            "late": lambda d: {"params": [strided(t) if t.dim() else t for t in adam(d, (13, 67), (11,), done=100000)], "lr": 0.1},
            "large-decay": lambda d: {"params": adam(d, (5, 7, 31), (2, 3), done=5, scale=1e4), "weight_decay": 1.0, "lr": 1.0},
        }),
        timed(lambda d, n: {"params": adam(d, (n,), (n // 4,), done=8)}, POINTS),
        Contract(close(), notes=(ONCE,)),
        honest=wide(Adam),
        wrong={
            "no bias correction": lambda **a: Adam(**a | {"params": [t + 10**6 if t.dtype == torch.int64 else t for t in a["params"]]}),
            "a step too late": lambda **a: Adam(**a | {"params": [t + 1 if t.dtype == torch.int64 else t for t in a["params"]]}),
            "no decay": lambda **a: Adam(**a | {"weight_decay": 0}),
        },
    ),
)  # fmt: skip
