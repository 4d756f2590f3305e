import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tools.executor.wire import DTYPES, BadLayout, Copies, Overflow, Region

SIZE = 1 << 16


def region(size: int = SIZE) -> Region:
    return Region(torch.zeros(size, dtype=torch.uint8))


@settings(deadline=None, max_examples=60)
@given(st.sampled_from(sorted(DTYPES)), st.lists(st.integers(0, 5), max_size=4), st.randoms(use_true_random=False))
def test_tensor_of_any_dtype_and_strides_comes_back_bit_by_bit(dtype, shape, rng):
    flat = torch.randint(0, 2, (max(1, torch.Size(shape).numel() * DTYPES[dtype].itemsize),), dtype=torch.uint8)
    tensor = flat[: torch.Size(shape).numel() * DTYPES[dtype].itemsize].view(DTYPES[dtype]).reshape(shape)
    order = list(range(len(shape)))
    rng.shuffle(order)
    sent = tensor.permute(order)
    room = region()
    got = room.read(room.write(sent))
    assert got.dtype == sent.dtype
    assert got.shape == sent.shape
    assert got.stride() == sent.stride() or sent.numel() == 0
    assert torch.equal(got.contiguous().view(-1).view(torch.uint8), sent.contiguous().view(-1).view(torch.uint8))


@pytest.mark.parametrize("value", [None, True, 3, 2.5, float("inf"), "tanh", torch.bfloat16, torch.strided, [1, [2.0, None]], (1, 2)])
def test_plain_value_comes_back(value):
    room = region()
    assert room.read(room.write(value)) == value


def test_a_device_becomes_the_one_at_the_other_end():
    room = region()
    assert room.read(room.write(torch.device("meta"))) == room.bytes.device


def test_nan_comes_back_as_nan():
    room = region()
    assert room.read(room.write(float("nan"))) != 0.0


def test_expanded_tensor_takes_the_memory_of_one_row():
    room = region()
    sent = torch.arange(3.0).expand(1000, 3)
    got = room.read(room.write(sent))
    assert room.used < 256
    assert torch.equal(got, sent)


def test_tensor_that_does_not_fit_is_refused():
    with pytest.raises(Overflow):
        region(1024).write(torch.zeros(1024))


TENSOR = {"dtype": "float32", "shape": [4, 4], "strides": [4, 1], "offset": 0, "extent": 16}


@pytest.mark.parametrize(
    "change",
    [
        {"offset": 1 << 20},
        {"offset": -256},
        {"offset": 4},
        {"extent": 1 << 40},
        {"extent": 15},
        {"shape": [1 << 30, 1 << 30]},
        {"shape": [4, -4]},
        {"shape": [4]},
        {"shape": "44"},
        {"strides": [4, True]},
        {"strides": [1 << 47, 1]},
        {"dtype": "object"},
        {"dtype": ["float32"]},
        {"shape": [1] * 40, "strides": [1] * 40},
    ],
)
def test_forged_layout_is_refused(change):
    with pytest.raises(BadLayout):
        region().read({"t": TENSOR | change})


@pytest.mark.parametrize(
    "node", [None, 3, [], {}, {"t": None}, {"l": 3}, {"l": [None] * 1000}, {"v": {}}, {"d": "x"}, {"q": 1}, {"t": 1, "v": 2}]
)
def test_what_is_no_layout_is_refused(node):
    with pytest.raises(BadLayout):
        region().read(node)


def test_memory_that_is_named_again_and_again_is_not_copied_without_end():
    room, copies = region(), Copies(SIZE)
    node = room.write(torch.zeros(SIZE // 8))
    room.read({"l": [node, node]}, copies)
    with pytest.raises(BadLayout, match="several times"):
        room.read(node, copies)


def test_bytes_that_are_no_bool_are_read_as_true():
    room = region()
    node = room.write(torch.zeros(4, dtype=torch.bool))
    room.bytes[:4] = 7
    assert room.read(node).tolist() == [True] * 4
