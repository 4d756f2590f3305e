"""What is seen of a call from inside the sandbox."""

import threading
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes

from tools.executor.aliasing import overlaps, share
from tools.executor.aten import FREE, LOOKUP, TOGETHER, TRANSFER
from tools.executor.sandbox import account, launches
from tools.executor.sandbox.account import accounted
from tools.executor.sandbox.tripwire import KERNELS, armed, kernels, shadowed
from tools.executor.sandbox.watch import Record, Watch
from tools.executor.sandbox.zones import WIDTH, Zones
from tools.executor.unwritten import Poison


class Host:
    interpreting = False


def record(function, *arguments) -> dict[str, tuple]:
    """By operator: the arguments it stems from, whether it copies one plainly, calls, largest, elements."""
    kept = Record(arguments)
    with Watch(Host(), Poison(), kept):
        function(*arguments)
    return {name: tuple(rest) for name, *rest in kept.report()}


def test_operators_are_recorded_with_the_arguments_that_they_stem_from():
    found = record(lambda x, w: x.t().contiguous().float().mul(w.exp()), torch.randn(8, 4, dtype=torch.float16), torch.randn(4, 8))
    assert found["mul"] == ([0, 1], False, 1, 32, 32)
    assert found["exp"] == ([1], False, 1, 32, 32)
    assert found["clone"][:2] == ([0], False)
    assert "t" not in found


def test_fresh_memory_stems_from_nothing_until_it_is_written():
    x = torch.randn(9)
    assert record(lambda x: torch.empty_like(x).sum(), x)["sum"][0] == []
    assert record(lambda x: torch.empty_like(x).copy_(x).sum(), x)["sum"][0] == [0]


def test_constants_may_be_computed_until_a_kernel_has_them():
    assert "mul" not in record(lambda x: torch.arange(9).float().mul(2).cos(), torch.randn(9))
    assert "add" in record(lambda x: torch.arange(9).float() + x, torch.randn(9))
    assert "rand" in record(lambda x: torch.rand(9), torch.randn(9))
    assert "mul" in record(lambda x: torch.empty(9).mul(2), torch.randn(9))
    assert "mul" in record(lambda x: x.clone()[:4].zero_().mul(2), torch.randn(9))
    kept = Record()
    with Watch(Host(), Poison(), kept):
        table = torch.zeros(9)
        kept.launched()
        table.mul(2)
    assert "mul" in {row[0] for row in kept.report()}


def test_elements_taken_one_by_one_are_counted():
    assert TRANSFER not in record(lambda x: [x[i].item() for i in range(32)], torch.randn(99))
    assert record(lambda x: [x[i].item() for i in range(50)], torch.randn(99))[TRANSFER][:2] == ([0], False)
    assert record(lambda x: [x[i].item() for i in range(50)], torch.randn(99))[TRANSFER][3] == 50


def test_copy_of_an_argument_as_it_lies_is_plain():
    assert record(lambda x: x.contiguous(), torch.randn(6, 4).t())["clone"][1] is True
    assert record(lambda x: x.t().contiguous(), torch.randn(6, 4))["clone"][1] is False
    assert record(lambda x: x.half(), torch.randn(6))["_to_copy"][1] is False


def test_one_element_is_nothing():
    assert record(lambda x: x[0].add(1).item(), torch.randn(5)) == {}


def test_printing_computes_nothing():
    assert record(lambda x: f"{x} {x!r}", torch.randn(50)) == {}


def test_more_rows_than_are_kept_are_one_row():
    def many(*tensors):
        for n in range(1, 9):
            for i in range(len(tensors)):
                sum(tensors[i : i + n])

    found = Record(given := [torch.randn(2) for _ in range(60)])
    with Watch(Host(), Poison(), found):
        many(*given)
    assert len(found.report()) <= 201
    assert any(row[0] == "more" for row in found.report())


@pytest.mark.parametrize(
    "evade",
    [
        lambda x: _without_modes(x),
        lambda x: _in_thread(x),
        lambda x: _without_dispatch(x),
        lambda x: _in_another_mode(x),
        lambda x: [torch.tensor(1.0).exp_() for _ in range(99)] and _without_modes(x),
    ],
)
def test_second_account_sees_what_a_mode_is_kept_from(evade):
    kept, x = Record(), torch.randn(40)
    with accounted(kept.shown) as unseen, Watch(Host(), Poison(), kept):
        evade(x)
    assert ["exp", 1, 40] in unseen.rows


class _Other(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        _without_modes(self.x)
        return func(*args, **(kwargs or {}))


def _in_another_mode(x):
    mode = _Other()
    mode.x = x
    with mode:
        torch.empty(1)


def test_what_a_tensor_subclass_does_is_seen():
    class Lazy(torch.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            return torch.ones(5).exp_().mul(x)

    x = torch.randn(5)
    assert record(lambda x: torch.empty_like(torch.Tensor._make_wrapper_subclass(Lazy, (1,))), x)["mul"][0] == [0]


def test_the_data_of_a_tensor_may_be_taken():
    class Plain(torch.Tensor):
        pass

    assert "mul" in record(lambda x: x.data.mul(2), torch.randn(5))
    assert "mul" in record(lambda x: x.as_subclass(Plain).data.mul(2), torch.randn(5))


def test_moves_that_combine_and_tables_that_are_looked_up_have_names_of_their_own():
    table, x = torch.arange(9.0), torch.tensor([1, 1, 2])
    assert "index_put_" + TOGETHER in record(lambda x: torch.zeros(9).index_put_((x,), torch.ones(3), accumulate=True), x)
    assert "scatter" + TOGETHER in record(lambda x: torch.zeros(9).scatter(0, x, 1.0, reduce="add"), x)
    assert "index_put_" in record(lambda x: torch.zeros(9).index_put_((x,), torch.ones(3)), x)
    assert "index" + LOOKUP in record(lambda x: table[x], x)
    assert "index" in record(lambda x: x.float()[x], x)


def test_kernels_behind_torchs_own_operators_are_compared():
    before = kernels("aten::alias_copy")
    library = torch.library.Library("aten", "IMPL")
    library.impl("alias_copy", lambda x: x.exp(), "CPU")
    assert kernels("aten::alias_copy") != before == KERNELS.get("aten::alias_copy", before)
    library._destroy()


def _without_modes(x):
    with _disable_current_modes():
        x.exp()


def _without_dispatch(x):
    with torch._C._DisableTorchDispatch():
        x.exp()


def _in_thread(x):
    thread = threading.Thread(target=x.exp)
    thread.start()
    thread.join()


def test_second_account_agrees_with_the_mode_on_ordinary_calls():
    kept, x = Record(), torch.randn(6, 7)
    with accounted(kept.shown) as unseen, Watch(Host(), Poison(), kept):
        y = torch.softmax(x.t().contiguous().half().float(), 0) @ x
        y[0] = 1
        x[x > 0].sum().item()
        f"{y} {x.mean()}"
        torch.nn.functional.layer_norm(torch.cat([x, x]), (7,)).var(0)
    assert [row for row in unseen.rows if row[0] not in FREE] == []


def test_blinded_mode_is_told_by_the_second_account():
    kept, x = Record(), torch.randn(40)
    watch = Watch(Host(), Poison(), kept)
    watch.record = Record()
    with accounted(kept.shown) as unseen, watch:
        x.exp()
    assert "exp" in {row[0] for row in unseen.rows}


def test_profiler_that_someone_ended_is_told():
    with accounted("") as unseen:
        torch.autograd._disable_profiler()
    assert unseen.broken


def test_operator_of_ones_own_is_looked_into():
    library = torch.library.Library("kernelwright_test", "DEF")
    library.define("twice(Tensor x) -> Tensor")
    library.impl("twice", lambda x: torch.add(x, x), "CompositeExplicitAutograd")
    kept, x = Record(), torch.randn(30)
    with accounted(kept.shown) as unseen, Watch(Host(), Poison(), kept):
        torch.ops.kernelwright_test.twice(x)
    library._destroy()
    assert unseen.rows == [["add", 1, 30]]


def test_red_zones_show_stores_beside_a_tensor():
    zones = Zones("cpu")
    inside = zones.surround(torch.randn(5, 3).t(), "x")
    assert zones.broken() == []
    beside = inside.storage_offset() + 15
    inside.as_strided((1,), (1,), beside).fill_(0)
    assert zones.broken() == [], "the rest of a granule of 16 bytes"
    inside.as_strided((1,), (1,), beside + 1).fill_(0)
    assert zones.broken() == [{"kernel": "a kernel", "kind": "store", "tensor": "x", "lanes": 4}]


def test_red_zones_keep_values_strides_and_alignment():
    x = torch.randn(4, 6).t()
    kept = Zones("cpu").surround(x, "x")
    assert torch.equal(kept, x)
    assert kept.stride() == x.stride()
    assert kept.storage_offset() * kept.element_size() == WIDTH
    assert WIDTH % 512 == 0


def test_fresh_memory_lies_between_red_zones_and_is_poisoned():
    zones = Zones("cpu")
    with Watch(Host(), Poison(), Record(), zones):
        made = [torch.empty(3), torch.zeros(3), torch.ones(4, dtype=torch.int8), torch.randn(3, 2).t().contiguous()]
    assert made[0].isnan().all()
    assert made[1].eq(0).all()
    assert len(zones.blocks) == 4


def test_parts_of_one_buffer_share_memory_only_where_they_overlap():
    buffer = torch.empty(6, 4)
    assert not share(buffer[:, 0], buffer[:, 1])
    assert share(buffer[1:4], buffer[3:])
    assert not share(buffer[:3], buffer[3:])
    assert share(buffer.t(), buffer[5])
    assert not share(buffer[:0], buffer)


def test_overlaps_are_named():
    x, y = torch.empty(4), torch.empty(4)
    assert overlaps([x[1:], y], [x], [y]) == [{"output": 0, "with": "input", "number": 0}, {"output": 1, "with": "earlier", "number": 0}]
    assert overlaps([y, y[:2]], [], []) == [{"output": 1, "with": "output", "number": 0}]


def test_tripwire_names_what_was_changed_and_forgives_what_is_new():
    kept = Record()
    changed = armed(kept)
    Record.extra = 1
    assert changed() == []
    note = Record.note
    Record.note = lambda *args: None
    try:
        assert changed() == ["Record.note"]
    finally:
        Record.note = note
        del Record.extra


def test_values_taken_to_the_host_are_recorded():
    class Far(torch.Tensor):
        device = property(lambda self: torch.device("meta"))

        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return super().__torch_function__(func, types, args, kwargs or {})

    assert record(lambda x: x.tolist(), torch.randn(9).as_subclass(Far))[TRANSFER][2:] == (1, 9, 9)


def test_printing_a_tensor_runs_none_of_torchs_python():
    printed, x = [], torch.arange(2000.0)
    found = record(lambda x: printed.extend([repr(x), f"{x[1]:.2f}", str(x[:2] > 0)]), x)
    assert printed[0].startswith("tensor([0, 1, 2, 3, 4, 5] ..., size=(2000,)")
    assert printed[1] == "1.00"
    assert printed[2].startswith("tensor([False, True], size=(2,)")
    assert set(found) <= {"gt"}


def test_a_device_at_work_in_this_process_is_exempt_with_its_own_tensors_only():
    x, host = torch.randn(40), Host()
    with Watch(host, Poison(), kept := Record([x])):
        host.interpreting = True
        torch.from_numpy(np.ones(9)).exp()
        x.exp()
    assert [row[:2] for row in kept.report()] == [["exp", [0]]]


def test_rows_are_told_as_they_begin_and_whenever_their_calls_have_doubled():
    told, x = [], torch.randn(9)
    with Watch(Host(), Poison(), Record([x], tell=told.append)):
        for _ in range(5):
            x.exp()
    assert [row[3] for row in told] == [1, 2, 4]


def test_methods_and_functions_that_were_replaced_are_told():
    kept, changed = Record(), armed(Record())
    assert changed() == shadowed(kept) == []
    kept.add = lambda key, touched: None
    assert shadowed(kept) == ["Record.add"]
    former = account._composite
    account._composite = lambda name: True
    assert changed() == ["tools.executor.sandbox.account._composite"]
    account._composite = former


def test_kernels_of_installed_packages_are_none_of_the_candidates():
    def kernel(code):
        return SimpleNamespace(src=SimpleNamespace(fn=SimpleNamespace(fn=SimpleNamespace(__code__=code))))

    assert launches._installed(kernel(torch.nn.functional.softmax.__code__))
    assert not launches._installed(kernel(record.__code__))
    assert not launches._installed(SimpleNamespace(src=None))
