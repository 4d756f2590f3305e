import pytest
import torch
from torch.nn import functional

from agents.models.templates.calls import complete
from agents.models.templates.graph import Declined, Node, walk
from agents.models.templates.patterns import covers
from agents.models.templates.trace import read, trace

Tensor = torch.Tensor


def ops(outputs: tuple[Node, ...]) -> set[str]:
    return {n.name or n.op for n in walk(outputs)}


def test_sizes_stay_free_and_equal_ones_share_a_name() -> None:
    traced = trace(lambda x, y: x @ y, {"x": torch.empty(6, 6), "y": torch.empty(6, 4)})
    assert traced.outputs[0].shape == ("n_x_0", "n_y_1")
    assert traced.sizes["n_x_1"] == ["x.size(1)", "y.size(0)"]


def test_a_list_of_sizes_is_followed_and_a_list_of_dims_is_not() -> None:
    x = torch.empty(4, 5, 6)
    normal = trace(lambda x, shape: functional.layer_norm(x, shape), {"x": x, "shape": [5, 6]})
    summed = trace(lambda x, dims: x.sum(dims), {"x": x, "dims": [0, 2]})
    assert "shape" not in normal.exact
    assert normal.sizes["n_x_1"] == ["x.size(1)", "shape[0]"]
    assert summed.exact == {"dims"}


def test_a_number_that_only_scales_is_followed() -> None:
    traced = trace(lambda x, beta: x * torch.exp(-beta * x) + (1 - beta), {"x": torch.empty(3), "beta": 0.5})
    assert not traced.exact
    assert {n.name for n in walk(traced.outputs) if n.op == "scalar"} == {"(-beta)", "(1 - beta)"}


def test_numbers_that_move_together_are_told_apart() -> None:
    traced = trace(lambda x, low, high: x * low + high, {"x": torch.empty(3), "low": 0.5, "high": 0.5})
    assert {n.name for n in walk(traced.outputs) if n.op == "scalar"} == {"low", "high"}


def test_a_number_that_decides_the_graph_is_matched_exactly() -> None:
    def power(x: Tensor, p: float) -> Tensor:
        return x.sqrt() if p == 0.5 else torch.exp(p * x)

    patterns = read(power, [{"x": torch.empty(3), "p": 0.5}])
    assert patterns[0].exact == {"p"}
    assert any("exp" in ops(t.outputs) and not t.exact for t in patterns), "other values are covered as well"


def test_special_numbers_are_traced_by_themselves() -> None:
    def gap(x: Tensor, beta: float) -> Tensor:
        return x.abs() if beta == 0 else x.abs() / beta

    patterns = read(gap, [{"x": torch.empty(3), "beta": 2.0}])
    assert any(t.exact == {"beta"} and t.arguments["beta"] == 0 for t in patterns)


def test_a_size_that_decides_the_graph_becomes_a_condition() -> None:
    def tall(x: Tensor) -> Tensor:
        return x + 1 if x.shape[0] > 100 else x - 1

    traced = trace(tall, {"x": torch.empty(7, 3)})
    assert not covers(traced, {"x": torch.empty(500, 3)})
    assert covers(traced, {"x": torch.empty(99, 3)})


def test_ranks_dims_and_flags_that_no_case_shows_are_traced_too() -> None:
    def reduced(x: Tensor, dim: int, keepdim: bool = False) -> Tensor:
        return x.sum(dim, keepdim=keepdim)

    patterns = read(reduced, [{"x": torch.empty(3, 4), "dim": 1, "keepdim": False}])
    seen = {(t.arguments["x"].dim(), t.arguments["dim"], t.arguments["keepdim"]) for t in patterns}
    assert {(1, 0, False), (2, 0, True), (3, -2, False), (4, 3, True)} <= seen
    assert [t.needed for t in patterns].count(True) == 1


def test_absent_options_are_traced_too() -> None:
    def shifted(x: Tensor, b: Tensor | None = None) -> Tensor:
        return x if b is None else x + b

    patterns = read(shifted, [{"x": torch.empty(3), "b": torch.empty(3)}])
    assert any(t.arguments["b"] is None for t in patterns)


@pytest.mark.parametrize(
    ("reference", "word"),
    [
        (lambda x: functional.dropout(x, 0.5), "traced|written"),
        (lambda x: x if x.sum() > 0 else -x, "traced"),
        (lambda x: torch.sort(x).values, "sort"),
        (lambda x: torch.cumsum(x, 0), "cumsum"),
        (lambda x: x.add_(1), "writing into an argument"),
        (lambda x: torch.fft.fft(x), "fft"),
    ],
)
def test_what_cannot_be_written_is_declined_with_the_reason(reference: object, word: str) -> None:
    with pytest.raises(Declined, match=word):
        read(reference, [{"x": torch.rand(5)}])  # type: ignore[arg-type]


def test_defaults_are_completed_from_the_signature() -> None:
    def scaled(x: Tensor, by: float = 2.0) -> Tensor:
        return x * by

    assert complete(scaled, {"x": 1}) == {"x": 1, "by": 2.0}
