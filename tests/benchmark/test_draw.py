import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmark.draw import Draw, move, offset, strided, transposed

DTYPES = [torch.float32, torch.float16, torch.bfloat16, torch.float64]
MAKERS = {
    "normal": lambda d: d.normal(5, 7),
    "uniform": lambda d: d.uniform(5, 7),
    "outliers": lambda d: d.outliers(5, 7),
    "ties": lambda d: d.ties(5, 7),
    "integers": lambda d: d.integers(-5, 5, 5, 7),
    "classes": lambda d: d.classes(9, 35, ignored=-1),
}
VIEWS = {"transposed": transposed, "strided": strided, "offset": offset}


@pytest.mark.parametrize("kind", MAKERS)
@given(seed=st.integers(0, 2**56 - 1))
@settings(max_examples=20, deadline=None)
def test_a_seed_gives_the_same_values_and_another_one_others(kind: str, seed: int) -> None:
    make = MAKERS[kind]
    assert torch.equal(make(Draw(seed)), make(Draw(seed)))
    assert not torch.equal(make(Draw(seed)), make(Draw(seed + 1)))


def test_draws_follow_one_another() -> None:
    draw = Draw(0)
    assert not torch.equal(draw.normal(9), draw.normal(9))


@pytest.mark.parametrize("dtype", DTYPES)
def test_values_have_the_dtype_that_is_asked_for(dtype: torch.dtype) -> None:
    draw = Draw(0)
    assert {t.dtype for t in (draw.normal(3, dtype=dtype), draw.uniform(3, dtype=dtype), draw.outliers(3, dtype=dtype))} == {dtype}


def test_integers_stay_integers() -> None:
    draw = Draw(0)
    assert draw.integers(0, 9, 4).dtype == torch.int64
    assert draw.integers(0, 9, 4, dtype=torch.int8).dtype == torch.int8
    assert draw.classes(3, 4).dtype == torch.int64


def test_fp64_is_drawn_with_all_its_bits() -> None:
    values = Draw(0).normal(100, dtype=torch.float64)
    assert not torch.equal(values, values.float().double())


@given(count=st.integers(1, 300))
@settings(max_examples=20, deadline=None)
def test_outliers_are_few_but_at_least_one(count: int) -> None:
    large = Draw(1).outliers(count, factor=1e6).abs() > 100
    assert 1 <= int(large.sum()) <= max(1, round(count * 0.005))


def test_classes_are_within_range_or_ignored() -> None:
    classes = Draw(0).classes(7, 500, ignored=-100)
    kept = classes[classes != -100]
    assert 300 < len(kept) < 480
    assert set(kept.tolist()) == set(range(7))


@pytest.mark.parametrize("kind", MAKERS)
def test_the_meta_device_knows_shapes_and_dtypes_without_drawing(kind: str) -> None:
    real, meta = MAKERS[kind](Draw(0)), MAKERS[kind](Draw(0, "meta"))
    assert (meta.shape, meta.dtype, meta.device.type) == (real.shape, real.dtype, "meta")


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int32])
def test_views_have_the_values_of_the_tensor_and_another_layout(view: str, dtype: torch.dtype) -> None:
    tensor = Draw(0).integers(0, 99, 5, 7, dtype=dtype)
    seen = VIEWS[view](tensor)
    assert torch.equal(seen, tensor)
    assert (seen.stride(), seen.storage_offset()) != (tensor.stride(), tensor.storage_offset())


@pytest.mark.parametrize("view", VIEWS)
def test_views_are_known_on_the_meta_device(view: str) -> None:
    real, meta = VIEWS[view](Draw(0).normal(5, 7)), VIEWS[view](Draw(0, "meta").normal(5, 7))
    assert (meta.shape, meta.stride(), meta.storage_offset()) == (real.shape, real.stride(), real.storage_offset())


def test_gaps_hold_no_value_that_could_pass_for_one() -> None:
    view = strided(Draw(0).normal(3, 5))
    assert view.as_strided((3, 10), (10, 1))[:, 1::2].isnan().all()


@pytest.mark.parametrize("view", VIEWS)
def test_moving_keeps_strides_offset_and_gaps(view: str) -> None:
    tensor = VIEWS[view](Draw(0).normal(5, 7))
    moved = move({"x": tensor, "more": [tensor], "dim": -1}, "cpu")
    for copy in (moved["x"], *moved["more"]):
        assert (copy.stride(), copy.storage_offset()) == (tensor.stride(), tensor.storage_offset())
        assert torch.equal(copy, tensor)
        assert copy.untyped_storage().data_ptr() != tensor.untyped_storage().data_ptr()
    assert moved["dim"] == -1


@pytest.mark.parametrize("tensor", [torch.empty(0, 5), torch.tensor(3.0), torch.ones(1, 4).expand(3, 4), torch.arange(9)[::3]])
def test_moving_takes_any_tensor(tensor: torch.Tensor) -> None:
    copy = move(tensor, "cpu")
    assert (copy.shape, copy.stride()) == (tensor.shape, tensor.stride())
    assert torch.equal(copy, tensor)


def test_complex_values_have_two_random_parts_and_their_views_poisoned_gaps() -> None:
    values = Draw(0).normal(3, 5, dtype=torch.complex64, scale=2)
    assert values.dtype == torch.complex64
    assert bool((values.real != 0).all() and (values.imag != 0).all())
    spread = strided(values)
    assert torch.equal(spread, values)
    assert spread.as_strided((3, 5), (10, 2), 1).isnan().all()


def test_a_device_among_arguments_becomes_the_one_moved_to() -> None:
    assert move({"device": torch.device("meta"), "size": (3,)}, "cpu") == {"device": torch.device("cpu"), "size": (3,)}
