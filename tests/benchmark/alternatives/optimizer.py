"""Optimiser steps term by term, without torch's fused updates."""

from typing import Any

from torch import Tensor

from tests.benchmark.alternatives import Alternative


def lion(
    param: Tensor, grad: Tensor, exp_avg: Tensor, lr: float = 1e-4, beta1: float = 0.9, beta2: float = 0.99, weight_decay: float = 0.0
) -> tuple[Tensor, Tensor]:
    p, g, m = param.float(), grad.float(), exp_avg.float()
    update = m + (1 - beta1) * (g - m)
    step = (update > 0).float() - (update < 0).float()
    param.copy_(p - lr * (weight_decay * p + step))
    exp_avg.copy_(m + (1 - beta2) * (g - m))
    return param, exp_avg


def rmsprop(
    param: Tensor, grad: Tensor, square_avg: Tensor, lr: float = 1e-2, alpha: float = 0.99, eps: float = 1e-8, weight_decay: float = 0.0
) -> tuple[Tensor, Tensor]:
    p, v = param.float(), square_avg.float()
    g = grad.float() + weight_decay * p
    v = alpha * v + (1 - alpha) * (g * g)
    param.copy_(p - lr * (g / (v**0.5 + eps)))
    square_avg.copy_(v)
    return param, square_avg


def adam(
    params: list[Tensor], lr: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8, weight_decay: float = 0
) -> list[Any]:
    results = []
    for at in range(0, len(params), 5):
        p, g, m, v = (tensor.float() for tensor in params[at : at + 4])
        time = int(params[at + 4]) + 1
        g = g + weight_decay * p
        m = betas[0] * m + (1 - betas[0]) * g
        v = betas[1] * v + (1 - betas[1]) * (g * g)
        # The corrections are moved into the rate and into eps.
        root = (1 - betas[1] ** time) ** 0.5
        p = p - lr * root / (1 - betas[0] ** time) * m * (v**0.5 + eps * root).reciprocal()
        results += [tensor.to(params[at].dtype) for tensor in (p, m, v)]
    return results


ALTERNATIVES = {
    "Lion": Alternative(lion, ("aten::sign",)),
    "RMSProp": Alternative(rmsprop, ("aten::addcmul", "aten::addcdiv", "aten::sqrt")),
    "Adam": Alternative(adam, ("aten::addcmul", "aten::sqrt")),
}
