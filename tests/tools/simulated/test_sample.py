"""Some programs of a launch stand for all of them, and blank memory can be larger than the machine's."""

import pytest
import torch
import triton
import triton.language as tl

from tools.simulated import Session


@triton.jit
def double(x, y, n, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n) * 2.0, mask=i < n)


COUNTS = ("sectors_loaded", "sectors_stored", "flops", "loads", "stores")


def test_a_sample_counts_its_share_of_the_whole(session: Session) -> None:
    x, y = session.to_device(torch.rand(4096)), torch.empty(4096, device="cuda")
    double[(16,)](x, y, 4096, BLOCK=256)
    session.sample = 4
    double[(16,)](x, y, 4096, BLOCK=256)
    whole, sample = session.traffic
    assert (whole["programs_run"], sample["programs_run"]) == (16, 4)
    assert [sample[name] * 4 for name in COUNTS] == [whole[name] for name in COUNTS]


def test_a_sample_is_no_larger_than_the_grid(session: Session) -> None:
    session.sample = 4
    double[(3,)](session.to_device(torch.rand(768)), torch.empty(768, device="cuda"), 768, BLOCK=256)
    assert session.traffic[0]["programs_run"] == 3


def test_grids_that_are_too_large_to_run_can_be_sampled(session: Session) -> None:
    count = 1 << 26
    session.sample = 2
    double[(count // 256,)](session.blank(count, torch.float32), session.blank(count, torch.float32), count, BLOCK=256)
    (found,) = session.traffic
    assert found["grid"] == [count // 256, 1, 1]
    assert (found["sectors_loaded"], found["span_loaded"] >= count * 4) == (2048, True)


def test_blank_memory_reads_as_zeros(session: Session) -> None:
    x, y = session.blank(256, torch.float32), session.to_device(torch.ones(256))
    double[(1,)](x, y, 256, BLOCK=256)
    assert session.to_host(y).eq(0).all()


@pytest.mark.parametrize("name", ["registers", "spills", "shared_bytes", "occupancy"])
def test_launches_have_the_needs_of_the_kernel_built(session: Session, name: str) -> None:
    double[(1,)](session.to_device(torch.rand(256)), torch.empty(256, device="cuda"), 256, BLOCK=256)
    assert session.traffic[0][name] is not None
