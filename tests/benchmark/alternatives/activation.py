"""Another way for the activations: comparisons and expm1."""

import math

import torch
from torch import Tensor

from tests.benchmark.alternatives import Alternative


def written(result: Tensor, input: Tensor, inplace: bool) -> Tensor:
    return input.copy_(result) if inplace else result


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    return written(torch.where(input < 0, 0.0, input), input, inplace)


def selu(input: Tensor, inplace: bool = False) -> Tensor:
    x = input.float()
    result = 1.0507009873554805 * torch.where(x > 0, x, 1.6732632423543772 * torch.expm1(x))
    return written(result.to(input.dtype), input, inplace)


def tanh(input_tensor: Tensor, out_tensor: Tensor | None = None) -> Tensor:
    x = input_tensor.float()
    below = torch.expm1(-2 * x.abs())
    result = torch.copysign(-below / (below + 2), x).to(input_tensor.dtype)
    return result if out_tensor is None else out_tensor.copy_(result)


def gelu_fp16(input: Tensor, approximate: str = "none") -> Tensor:
    x = input.float()
    if approximate == "none":
        return (0.5 * x * (1 + torch.erf(x * math.sqrt(0.5)))).to(input.dtype)
    return (x / (1 + torch.exp(-1.5957691216057308 * (x + 0.044715 * x * x * x)))).to(input.dtype)


ALTERNATIVES = {
    "relu": Alternative(relu, without=("aten::relu",)),
    "selu": Alternative(selu, without=("aten::elu",)),
    "tanh": Alternative(tanh, without=("aten::tanh",)),
    "gelu_fp16": Alternative(gelu_fp16, without=("aten::gelu",)),
}
