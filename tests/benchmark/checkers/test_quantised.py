"""`quantised`: faithful kernels pass whatever their last place, other schemes fail."""

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from benchmark import oracle, suites
from benchmark.checkers import Grid, quantised
from benchmark.probes import Trial
from benchmark.task import Arguments, Check, Contract, Task
from tests.benchmark.checkers import schemes
from tests.benchmark.checkers.schemes import FAITHFUL, OPERATORS, UNFAITHFUL, Style

each_operator = pytest.mark.parametrize("name", OPERATORS)
each_style = pytest.mark.parametrize("style", FAITHFUL.values(), ids=list(FAITHFUL))
seeds = st.integers(0, 2**32)


def task(name: str) -> Task:
    return suites.find(f"kernelbench_x/{name}")


def check(name: str, function: Callable[..., Tensor], arguments: Arguments) -> Check:
    return task(name).contract.checker(oracle.compute(task(name), arguments), (function(**arguments),), arguments)


def normal(seed: int, *shape: int) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def operands(seed: int, rows: int, inner: int, columns: int, scale: float = 0.0) -> Arguments:
    return {"input": normal(seed, rows, inner) * 10**scale, "weight": normal(seed + 1, inner, columns)}


@each_style
@each_operator
def test_faithful_kernels_pass_every_case(name: str, style: Style) -> None:
    for case in task(name).cases:
        for seed in (3, 4, 5):
            trial = Trial(task(name), case, seed)
            answer = trial.check((OPERATORS[name](style)(**trial.arguments),))
            assert answer.ok, (case.name, seed, answer.message)


@pytest.mark.parametrize("style", UNFAITHFUL)
@each_operator
def test_other_schemes_fail(name: str, style: str) -> None:
    trials = [Trial(task(name), case, 3) for case in task(name).cases]
    failed = [not trial.check((OPERATORS[name](UNFAITHFUL[style])(**trial.arguments),)).ok for trial in trials]
    # Some cases have little to round: integers, single values, wide results.
    assert sum(failed) >= len(trials) // 2


@each_style
@given(seed=seeds, rows=st.integers(1, 20), inner=st.integers(1, 90), columns=st.integers(1, 20), scale=st.floats(-4, 4))
@settings(max_examples=30, deadline=None)
def test_faithful_products_pass_in_any_shape(style: Style, seed: int, rows: int, inner: int, columns: int, scale: float) -> None:
    answer = check("matmul_w8a8", schemes.product(style), operands(seed, rows, inner, columns, scale))
    assert answer.ok, answer.message


@each_style
@given(seed=seeds, tokens=st.integers(1, 12), keys=st.integers(1, 40), width=st.sampled_from([8, 16, 32]), scale=st.floats(-2, 1))
@settings(max_examples=30, deadline=None)
def test_faithful_attention_passes_in_any_shape(style: Style, seed: int, tokens: int, keys: int, width: int, scale: float) -> None:
    """Open roundings of queries and keys are followed through the softmax."""
    query, key, value = normal(seed, 1, tokens, width) * 10**scale, normal(seed + 1, 1, keys, width), normal(seed + 2, 1, keys, width)
    answer = check("attention_w8a8", schemes.attention(style), {"query": query, "key": key, "value": value})
    assert answer.ok, answer.message


@each_style
@given(seed=seeds, rows=st.integers(1, 8), length=st.integers(2, 90), scale=st.floats(-2, 3), shift=st.floats(-20, 20))
@settings(max_examples=30, deadline=None)
def test_faithful_norms_pass_in_any_shape(style: Style, seed: int, rows: int, length: int, scale: float, shift: float) -> None:
    arguments = {"input": (normal(seed, rows, length) + shift) * 10**scale, "normalized_shape": [length], "bias": normal(seed + 1, length)}
    answer = check("layernorm_w8a8", schemes.layer_norm(style), arguments)
    assert answer.ok, answer.message


@each_style
def test_exact_halves_may_be_rounded_either_way(style: Style) -> None:
    """The largest value is 127, so that scales are 1 and every k + 0.5 is a tie."""
    input = torch.tensor([[127.0, 0.5, 1.5, -2.5, 3.25]])
    assert check("matmul_w8a8", schemes.product(style), {"input": input, "weight": normal(0, 5, 3)}).ok


@given(seed=seeds)
@settings(max_examples=30, deadline=None)
def test_a_plain_product_fails(seed: int) -> None:
    assert check("matmul_w8a8", lambda input, weight: input @ weight, operands(seed, 16, 64, 16)).kind == "wrong_numeric"


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_dequantised_weights_may_be_rounded_to_half_precision(dtype: torch.dtype) -> None:
    rounded = schemes.linear(FAITHFUL["as written"], rounded_weight=True)
    for seed in range(20):
        arguments = {"input": normal(seed, 13, 67).to(dtype), "weight": normal(seed + 1, 19, 67).to(dtype)}
        answer = check("linear_w4a16", rounded, arguments)
        assert answer.ok, answer.message
        assert check("linear_w4a16", torch.nn.functional.linear, arguments).kind == "wrong_numeric"


def test_one_wrong_step_of_one_element_fails() -> None:
    def slip(input: Tensor, weight: Tensor) -> Tensor:
        (scale, left), (scale_r, right) = FAITHFUL["as written"](input, 1), FAITHFUL["as written"](weight, 0)
        left[2, 5] += 1
        return left @ right * scale * scale_r

    answer = check("matmul_w8a8", slip, operands(1, 4, 32, 4))
    assert answer.kind == "wrong_numeric"
    assert answer.matched == pytest.approx(0.75)


def test_zero_rows_and_columns_give_zeros_not_nan() -> None:
    arguments = operands(2, 3, 8, 3)
    arguments["input"][1] = 0

    def careless(input: Tensor, weight: Tensor) -> Tensor:
        scale, scale_r = input.abs().amax(1, keepdim=True) / 127, weight.abs().amax(0, keepdim=True) / 127
        return (input / scale).round() @ (weight / scale_r).round() * scale * scale_r

    assert check("matmul_w8a8", careless, arguments).kind == "nonfinite"
    assert check("matmul_w8a8", schemes.product(FAITHFUL["as written"]), arguments).ok


GRIDS = {
    "rows of 8 bits": Grid("input", (-1,), "row"),
    "columns of 4 bits": Grid("input", (-2,), "column", bits=4),
    "the whole": Grid("input", (-1, -2), "tensor"),
    "groups": Grid("input", (-1,), "row", bits=4, group=8),
    "asymmetric rows": Grid("input", (-1,), "row", symmetric=False),
    "asymmetric groups of columns": Grid("input", (-2,), "column", bits=4, symmetric=False, group=4),
}


def by_grid(grid: Grid, tensor: Tensor) -> Tensor:
    """The grid's rule once more, in fp32."""
    axes = grid.axes
    split = tensor.float()
    if grid.group:
        axis = grid.axes[0] % tensor.dim()
        split, axes = split.unflatten(axis, (-1, grid.group)), (axis + 1,)
    if grid.symmetric:
        most = split.abs().amax(axes, keepdim=True)
        scale = torch.where(most > 0, most / grid.top, 1.0)
        values = (split / scale).round().clamp(-grid.top, grid.top) * scale
    else:
        low, high = split.amin(axes, keepdim=True).clamp(max=0), split.amax(axes, keepdim=True).clamp(min=0)
        scale = torch.where(high > low, (high - low) / grid.levels, 1.0)
        zero = (-low / scale).round()
        values = (((split / scale).round() + zero).clamp(0, grid.levels) - zero) * scale
    return values.flatten(axis, axis + 1) if grid.group else values


@pytest.mark.parametrize("name", GRIDS)
@given(seed=seeds, rows=st.sampled_from([4, 8, 16]), scale=st.floats(-3, 3), shift=st.floats(-2, 2))
@settings(max_examples=40, deadline=None)
def test_a_grid_reaches_every_fp32_rounding_and_no_further(name: str, seed: int, rows: int, scale: float, shift: float) -> None:
    tensor, grid = (normal(seed, rows, 32) + shift) * 10**scale, GRIDS[name]
    found = grid(tensor.double())
    off = (by_grid(grid, tensor).double() - found.values).abs()
    assert bool((off <= found.reach + 1e-5 * found.values.abs().max()).all())
    assert float((found.reach > 0).double().mean()) < 0.1


@pytest.mark.parametrize("name", GRIDS)
def test_a_declared_grid_is_judged_by(name: str) -> None:
    """Any of them can be the contract of a product."""

    def reference(input: Tensor, weight: Tensor) -> Tensor:
        return (by_grid(GRIDS[name], input).to(weight.dtype) if input.dtype == torch.float32 else GRIDS[name](input).values) @ weight

    own = replace(task("matmul_w8a8"), reference=reference, contract=Contract(quantised((GRIDS[name],))))
    for seed in range(10):
        arguments = {"input": normal(seed, 8, 32) + 0.3, "weight": normal(seed + 1, 32, 5)}
        truth = oracle.compute(own, arguments)
        assert own.contract.checker(truth, truth.honest, arguments).ok
        for other in {*GRIDS} - {name}:
            wrong = by_grid(GRIDS[other], arguments["input"]) @ arguments["weight"]
            assert not own.contract.checker(truth, (wrong,), arguments).ok, other
        assert not own.contract.checker(truth, (arguments["input"] @ arguments["weight"],), arguments).ok


def test_the_scheme_is_put_into_words() -> None:
    words = quantised((GRIDS["groups"], Grid("weight", (-1,), "output channel"), GRIDS["asymmetric rows"])).words
    assert "`input` to symmetric int4, one scale per group of 8 along each row" in words
    assert "clamped to -7 .. 7" in words
    assert "`weight` to symmetric int8, one scale per output channel: scale = max|values| / 127" in words
    assert "asymmetric int8" in words
    assert "zero point" in words
