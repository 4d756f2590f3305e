"""Modules run on the simulated device: compiled, interpreted, and right on shapes that the author never saw."""

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch.nn import functional

from agents.models.templates.author import Author
from agents.models.templates.search import Parameters
from benchmark.task import Task
from tests.agents.templates.operators import ALL, DENSE, NLL, NORMALISED, QUANTISED, SOFT, SWISH, TOTAL, task
from tests.agents.templates.run import call, error

Tensor = torch.Tensor
SOURCES: dict[str, str] = {}


def written(operator: Task) -> str:
    name = next((n for n, t in ALL.items() if t is operator), "")
    if name not in SOURCES:
        source = Author(operator, 0.0, 0).write(Parameters())
        SOURCES.update({name: source} if name else {})
        return source
    return SOURCES[name]


def worst(operator: Task, **arguments: Any) -> float:
    return error(operator, written(operator), arguments)


def launched(operator: Task, **arguments: Any) -> list[str]:
    return call(written(operator), operator.entry_name, arguments)[1]


@pytest.mark.parametrize("name", ALL)
def test_the_visible_cases_pass(name: str) -> None:
    operator = ALL[name]
    for case in operator.cases:
        assert error(operator, written(operator), case.arguments(operator.id, 0)) <= 1


def test_an_elementwise_operator_holds_for_every_rank_layout_and_dtype() -> None:
    assert worst(SWISH, x=torch.randn(3, 5, 7, 2, 3).transpose(0, 2)) <= 1
    assert worst(SWISH, x=torch.randn(()), beta=0.0) <= 1
    assert worst(SWISH, x=torch.randn(31, dtype=torch.float64), beta=0.3) <= 1
    assert worst(SWISH, x=torch.randn(2, 0)) <= 1


def test_rows_longer_than_a_tile_are_looped_over() -> None:
    assert launched(SOFT, x=torch.randn(2, 9001), dim=1)[0].startswith("rows_looped")
    assert worst(SOFT, x=torch.randn(2, 9001), dim=1) <= 1


def test_any_dim_and_rank_of_a_reduction_is_right() -> None:
    assert worst(SOFT, x=torch.randn(3, 17, 5), dim=1) <= 1
    assert worst(SOFT, x=torch.randn(40, 70, dtype=torch.bfloat16).t(), dim=0) <= 1
    assert worst(SOFT, x=torch.randn(0, 4), dim=1) <= 1


def test_a_softmax_is_one_kernel() -> None:
    assert len(launched(SOFT, x=torch.randn(3, 17), dim=-1)) == 1


def test_a_norm_over_several_dims_with_and_without_gain() -> None:
    assert worst(NORMALISED, x=torch.randn(5, 30, dtype=torch.float16), shape=[30], gain=torch.randn(30, dtype=torch.float16), eps=0.1) <= 1
    assert worst(NORMALISED, x=torch.randn(2, 3, 30), shape=[30]) <= 1


def test_a_sum_of_everything_takes_two_kernels_and_is_deterministic() -> None:
    x = torch.randn(90, 701)
    assert [n.rstrip("_0123456789") for n in launched(TOTAL, x=x)] == ["part", "whole"]
    assert worst(TOTAL, x=x) <= 1
    first, second = (call(written(TOTAL), "operator", {"x": x})[0] for _ in range(2))
    assert torch.equal(first, second)


def test_a_product_takes_bias_and_activation_along() -> None:
    x, w, b = torch.randn(7, 33), torch.randn(33, 20), torch.randn(20)
    assert len(launched(DENSE, x=x, w=w, b=b)) == 1
    assert worst(DENSE, x=x, w=w.t().contiguous().t(), b=b) <= 1


def test_a_batched_product_with_one_matrix_is_one_kernel() -> None:
    batched = task(lambda x, w, b: torch.relu(x @ w + b), lambda d: {"x": d.normal(2, 7, 21), "w": d.normal(21, 18), "b": d.normal(18)})
    assert len(launched(batched, x=torch.randn(3, 5, 9), w=torch.randn(9, 4), b=torch.randn(4))) == 1
    assert worst(batched, x=torch.randn(3, 5, 9), w=torch.randn(9, 4), b=torch.randn(4)) <= 1


def test_a_loss_that_looks_a_class_up() -> None:
    target = torch.tensor([3, -100, 0, 40])
    for reduction in ("mean", "none"):
        assert worst(NLL, x=torch.randn(4, 41), target=target, reduction=reduction) <= 1


def test_a_quantised_product_sums_in_integers() -> None:
    source = written(QUANTISED)
    assert "dtype=torch.int8" in source
    assert worst(QUANTISED, x=torch.randn(4, 300), w=torch.randint(-127, 127, (300, 5), dtype=torch.int8)) <= 1


def test_several_outputs_of_several_kinds() -> None:
    def peaks(x: Tensor) -> tuple[Tensor, Tensor]:
        return x.max(1)

    assert worst(task(peaks, lambda d: {"x": d.normal(6, 11)}), x=torch.randn(5, 13)) <= 1


def test_truth_values_and_positions() -> None:
    causal = task(lambda x: torch.where(torch.ones_like(x).tril() > 0, x, 0.0), lambda d: {"x": d.normal(6, 11)})
    positive = task(lambda x: (x > 0).any(1), lambda d: {"x": d.normal(6, 11)})
    assert worst(causal, x=torch.randn(9, 5)) <= 1
    assert worst(positive, x=-torch.rand(4, 70)) <= 1


def test_views_of_the_input_cost_no_kernel() -> None:
    def gated(x: Tensor) -> Tensor:
        a, b = x.chunk(2, -1)
        return a * torch.sigmoid(b)

    operator = task(gated, lambda d: {"x": d.normal(6, 22)})
    assert len(launched(operator, x=torch.randn(5, 8))) == 1
    assert worst(operator, x=torch.randn(5, 8)) <= 1


def test_a_destination_is_written_where_it_is_given() -> None:
    def added(x: Tensor, y: Tensor, out: Tensor | None = None) -> Tensor:
        return torch.add(x, y, out=out)

    source = written(task(added, lambda d: {"x": d.normal(9), "y": d.normal(9)}))
    assert "if out is None else out" in source


def test_the_name_of_the_task_changes_nothing_but_the_name() -> None:
    def source(name: str) -> str:
        operator = task(functional.silu, lambda d: {"input": d.normal(9)}, name=name)
        return Author(operator, 0.0, 0).write(Parameters()).replace(name, "NAME")

    assert source("silu_of_a_suite") == source("f7")


CHANGES = {"low": lambda x: x.clamp_min_(0.1), "high": lambda x: x.clamp_max_(0.1), "floor": lambda x: x.floor_divide_(0.3)}


@pytest.mark.parametrize("name", CHANGES)
def test_intermediates_may_be_changed_in_place(name: str) -> None:
    change = CHANGES[name]
    # Their references read alike.
    operator = replace(task(lambda x: change(x * 2) + x, lambda d: {"x": d.normal(5, 7)}), id=f"own/{name}")
    assert worst(operator, x=torch.linspace(-2, 2, 33).reshape(3, 11)) <= 1


def test_truth_over_a_row_and_over_everything() -> None:
    def holds(x: Tensor, dim: int) -> Tensor:
        return (x > -1).all(dim) & (x > 3).any() | (x > 1).all(dim)

    operator = task(holds, lambda d: {"x": d.normal(5, 7), "dim": 1})
    x = torch.linspace(-4, 4, 91).reshape(7, 13)
    assert worst(operator, x=x, dim=1) == 0
    assert worst(operator, x=x, dim=0) == 0
