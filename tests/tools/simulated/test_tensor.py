import copy

import numpy as np
import pytest
import torch
import torch.utils.dlpack

from tools import platforms
from tools.simulated import DeviceMismatch, Session, Unsupported
from tools.simulated.tensor import SimTensor


@pytest.mark.parametrize(
    "make",
    [
        lambda: torch.randn(4, 6),
        lambda: torch.randn(6, 4).t(),
        lambda: torch.randn(8, 8)[1::2, 2:],
        lambda: torch.randn(3, 1).expand(3, 5),
        lambda: torch.empty(0, 3),
        lambda: torch.tensor(2.5),
        lambda: torch.arange(6, dtype=torch.int8)[1:],
    ],
)
def test_the_way_to_the_device_and_back_keeps_values_and_layout(make, session: Session) -> None:
    tensor = make()
    there = session.to_device(tensor)
    back = session.to_host(there)
    assert type(back) is torch.Tensor
    assert torch.equal(back, tensor)
    assert back.stride() == tensor.stride()
    assert back.storage_offset() == tensor.storage_offset()
    assert there.device == torch.device("cuda", 0)
    assert back.device == torch.device("cpu")


def test_two_inputs_never_share_memory_on_the_device(session: Session) -> None:
    tensor = torch.zeros(4)
    first, second = session.to_device(tensor), session.to_device(tensor)
    first += 1
    assert second.sum() == 0
    assert tensor.sum() == 0


def test_views_share_memory_and_stay_on_the_device(session: Session) -> None:
    x = session.to_device(torch.zeros(2, 3))
    x[0].view(3, 1).add_(1)
    assert x.sum().item() == 3
    assert x[0].is_cuda


@pytest.mark.parametrize(
    "move",
    [
        lambda t: t.to("cuda"),
        lambda t: t.to(0),
        lambda t: t.to(torch.device("cuda"), torch.float32, non_blocking=True),
        lambda t: t.to(device="cuda:0", dtype=torch.float32),
        lambda t: t.cuda(),
        lambda t: torch.as_tensor(t, device="cuda"),
        lambda t: t.type("torch.cuda.FloatTensor"),
        lambda t: torch.nn.Parameter(t).to("cuda").data,
    ],
)
def test_moving_makes_new_memory(move, session: Session) -> None:
    host = torch.ones(3)
    there = move(host)
    there.add_(1)
    assert isinstance(there, SimTensor)
    assert host.sum() == 3
    assert there.sum().item() == 6


def test_the_device_index_must_exist(session: Session) -> None:
    with pytest.raises(RuntimeError, match="invalid device ordinal"):
        torch.ones(3, device="cuda:1")


@pytest.mark.parametrize(
    "call",
    [
        lambda x, h: torch.cat([x, h]),
        lambda x, h: torch.where(h > 0, x, x),
        lambda x, h: torch.nn.functional.mse_loss(x, h),
        lambda x, h: x.mul_(h),
        lambda x, h: torch.add(x, x, out=h),
        lambda x, h: x @ h,
    ],
)
def test_calls_on_both_sides_are_refused(call, session: Session) -> None:
    with pytest.raises(DeviceMismatch, match="two devices, cuda:0 and cpu"):
        call(session.to_device(torch.ones(3)), torch.ones(3))


@pytest.mark.parametrize(
    "call",
    [
        lambda x, h: x.copy_(h),
        lambda x, h: x + torch.tensor(1.0),
        lambda x, h: x[torch.tensor([0, 1])],
        lambda x, h: x.view_as(h),
        lambda x, h: h.type_as(x),
        lambda x, h: torch.empty_like(h, device=x.device),
        lambda x, h: torch.nn.functional.softmax(x, dim=0),
        lambda x, h: x.new_tensor([1.0]),
        lambda x, h: torch.rand(3, device="cuda", generator=torch.Generator("cuda").manual_seed(1)),
    ],
)
def test_calls_that_cuda_allows_stay_on_the_device(call, session: Session) -> None:
    assert call(session.to_device(torch.ones(3)), torch.ones(3)).is_cuda


@pytest.mark.parametrize("call", [lambda x: x.cpu(), lambda x: x.to("cpu"), lambda x: torch.empty_like(x, device="cpu")])
def test_calls_that_leave_the_device(call, session: Session) -> None:
    out = call(session.to_device(torch.ones(3)))
    assert type(out) is torch.Tensor
    assert not out.is_cuda


def test_a_copy_to_the_host_writes_into_the_host_tensor(session: Session) -> None:
    host = torch.zeros(3)
    host.copy_(session.to_device(torch.ones(3)))
    host[0] = session.to_device(torch.tensor(5.0))
    assert type(host) is torch.Tensor
    assert host.tolist() == [5, 1, 1]


def test_functions_with_several_results_stay_on_the_device(session: Session) -> None:
    x = session.to_device(torch.tensor([3.0, 1.0, 2.0]))
    values, indices = torch.sort(x)
    assert values.is_cuda
    assert indices.is_cuda
    assert x.max(dim=0).values.is_cuda
    assert all(part.is_cuda for part in x.split(1))


def test_gradients_live_on_the_device(session: Session) -> None:
    x = torch.randn(3, device="cuda", requires_grad=True)
    assert x.is_leaf
    (x * x).sum().backward()
    assert x.grad.is_cuda
    assert torch.equal(session.to_host(x.grad), session.to_host(2 * x))


def test_text_names_the_device(session: Session) -> None:
    x = session.to_device(torch.ones(1))
    assert repr(x) == "tensor([1.], device='cuda:0')"
    assert x.type() == "torch.cuda.FloatTensor"


def test_a_deep_copy_is_a_device_tensor_of_its_own(session: Session) -> None:
    x = session.to_device(torch.ones(2))
    copied = copy.deepcopy(x)
    copied.zero_()
    assert copied.is_cuda
    assert x.sum().item() == 2


def test_autocast_for_the_device_lowers_products(session: Session) -> None:
    x = session.to_device(torch.ones(4, 4))
    with torch.autocast("cuda", dtype=torch.bfloat16):
        assert (x @ x).dtype == torch.bfloat16


TOLD = {
    "tensor": lambda t: t.data_ptr(),
    "tensor, unbound": lambda t: torch.Tensor.data_ptr(t),
    "parameter": lambda t: torch.nn.Parameter(t).data_ptr(),
    "untyped storage": lambda t: t.untyped_storage().data_ptr(),
    "typed storage": lambda t: t.storage().data_ptr(),
    "array interface": lambda t: t.__cuda_array_interface__["data"][0],
}


@pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")
@pytest.mark.parametrize("told", TOLD.values(), ids=TOLD)
def test_addresses_of_the_device_lie_nowhere_on_the_host(told, session: Session) -> None:
    x = session.to_device(torch.ones(64))
    # Neither in the lower nor in the upper half of what a processor has addresses for.
    assert 0 < told(x) >> 47 < (1 << 17) - 1
    assert told(x) < 1 << 63
    assert told(x) % 16 == 0
    assert told(torch.empty(0, device="cuda")) == 0


def test_addresses_of_views_differ_by_where_they_begin(session: Session) -> None:
    x = session.to_device(torch.ones(8, 8))
    assert x[2:, 1].data_ptr() - x.data_ptr() == (2 * 8 + 1) * 4
    assert x.view(64).data_ptr() == x.data_ptr()
    assert x.cpu().data_ptr() >> 47 == 0


def test_storage_is_on_the_device_and_its_copy_on_the_host_has_its_bytes(session: Session) -> None:
    storage = session.to_device(torch.tensor([1.0, 2.0])).untyped_storage()
    assert storage.device == torch.device("cuda", 0)
    assert torch.empty(0, device="cuda").set_(storage.clone()).is_cuda
    there = storage.cpu()
    assert there.device.type == "cpu"
    assert there.tolist()[-1] == 0x40


@pytest.mark.parametrize(
    "borrow",
    [
        lambda t: torch.empty(0).set_(t),
        lambda t: torch.empty(0).set_(t.untyped_storage()),
        lambda t: torch.empty(0).set_(t.storage()),
        lambda t: torch.empty(0, device="cuda").set_(torch.ones(3)),
    ],
)
def test_memory_of_one_side_is_no_tensor_of_the_other(borrow, session: Session) -> None:
    with pytest.raises(DeviceMismatch):
        borrow(session.to_device(torch.ones(3)))


@pytest.mark.parametrize("export", [np.from_dlpack, lambda t: torch.utils.dlpack.to_dlpack(t), lambda t: t.__dlpack__()])
def test_capsules_of_device_memory_are_not_given_away(export, session: Session) -> None:
    with pytest.raises(Unsupported):
        export(session.to_device(torch.ones(3)))


def test_torch_takes_a_device_tensor_as_its_own(session: Session) -> None:
    x = session.to_device(torch.ones(3))
    assert torch.from_dlpack(x).data_ptr() == x.data_ptr()
    assert torch.from_dlpack(np.ones(3)).device.type == "cpu"


def test_nothing_of_the_session_stays_behind() -> None:
    before = torch.cuda.is_available, torch.Generator, torch.set_default_device
    with Session(platforms.default_targets(), platforms.sheet("h100")):
        assert torch.cuda.is_available()
        assert torch.cuda.device_count() == 1
    assert (torch.cuda.is_available, torch.Generator, torch.set_default_device) == before
    assert not torch.cuda.is_available()
