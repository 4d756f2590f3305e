import contextlib
import gc
import sys
from collections.abc import Callable
from dataclasses import replace
from types import ModuleType

import pytest
import torch
import triton
import triton.language as tl

from tools import platforms
from tools.simulated import CompileFailed, LaunchFailed, Session, Unsupported
from tools.simulated.budget import budget

SCALE = tl.constexpr(3)
OFFSET = tl.constexpr(1)


@triton.jit
def twice(v):
    return v * 2


@triton.jit
def affine(x, y, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(y + offsets, twice(tl.load(x + offsets, mask=mask)) * SCALE + OFFSET, mask=mask)


@triton.jit
def halve(x, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(x + offsets, tl.load(x + offsets, mask=mask) // 2, mask=mask)


@triton.autotune(
    configs=[triton.Config({"BLOCK": block}, num_warps=warps) for block in (64, 128, 256) for warps in (2, 4)],
    key=["n"],
    reset_to_zero=["total"],
)
@triton.jit
def tuned_sum(x, total, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(total, tl.sum(tl.load(x + offsets, mask=offsets < n, other=0.0)))


@triton.autotune(configs=[triton.Config({"BLOCK": 16}), triton.Config({"BLOCK": 128}, num_stages=1)], key=[])
@triton.jit
def big_or_small(a, out, BLOCK: tl.constexpr):
    rows, columns = tl.arange(0, BLOCK), tl.arange(0, BLOCK)
    at = rows[:, None] * BLOCK + columns[None, :]
    v = tl.load(a + at)
    tl.store(out + at, tl.dot(v, v).to(tl.float16))


@triton.heuristics({"BLOCK": lambda args: triton.next_power_of_2(args["n"])})
@triton.jit
def whole(x, y, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(y + offsets, tl.load(x + offsets, mask=offsets < n), mask=offsets < n)


@triton.jit
def unrolled(x, y, D: tl.constexpr):
    HALF: tl.constexpr = D // 2
    offsets = tl.arange(0, HALF)
    total = tl.zeros([HALF], dtype=tl.float32)
    for i in tl.static_range(2):
        total += tl.load(x + i * HALF + offsets)
    tl.store(y + offsets, total)


@triton.jit
def guarded(x, y, bias, n, HAS_BIAS: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    mask = (offsets < n) and (offsets >= 0)
    v = tl.load(x + offsets, mask=mask)
    if HAS_BIAS and bias is not None:
        v += tl.load(bias)
    count = 0
    for i in range(n):
        count += 1
        count += i.to(tl.int64).to(tl.int32) * 0
    tl.store(y + offsets, v + count.to(tl.float32), mask=mask)


@triton.jit
def trapped(x):
    tl.device_assert(tl.load(x) > 0, "x must be positive")
    tl.store(x, 1.0)


@triton.jit
def many(x):
    tl.atomic_add(x, 1)


@triton.jit
def by_assembly(x):
    v = tl.load(x)
    tl.store(x, tl.inline_asm_elementwise("mov.b32 $0, $1;", "=r,r", [v], dtype=tl.int32, is_pure=True, pack=1))


def run_affine(session: Session, n: int = 300) -> torch.Tensor:
    x = session.to_device(torch.arange(n, dtype=torch.float32))
    y = torch.empty_like(x)
    affine[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, y, n, BLOCK=128)
    return session.to_host(y)


def test_a_launch_is_compiled_for_every_target_and_then_interpreted() -> None:
    with Session(("cuda:90", "cuda:80"), platforms.sheet("h100")) as session:
        assert torch.equal(run_affine(session), torch.arange(300.0) * 6 + 1)
        run_affine(session)
    assert session.launches == ["affine", "affine"]
    assert [c["target"] for c in session.compiles] == ["cuda:90", "cuda:80"]
    for compiled in session.compiles:
        (kernel,) = compiled["kernels"]
        assert kernel["name"] == "affine"
        assert kernel["registers"] > 0
        assert kernel["spills"] == 0
        assert compiled["error"] is None
        assert compiled["seconds"] > 0


def test_without_effect_a_launch_leaves_memory_as_it_is(session: Session) -> None:
    x = session.to_device(torch.ones(4))
    session.noop = True
    whole[(1,)](x, x.mul_(3), 4)
    y = torch.zeros_like(x)
    whole[(1,)](x, y, 4)
    assert y.sum().item() == 0
    assert session.launches == ["whole", "whole"]
    assert session.compiles[0]["kernels"]


def test_a_wrapper_may_loop_on_what_its_own_kernel_computed(session: Session) -> None:
    x = session.to_device(torch.tensor([37, 5]))
    steps = 0
    while bool((x > 0).any()):
        halve[(1,)](x, 2, BLOCK=2)
        steps += 1
    assert steps == 6


def test_an_integer_that_is_one_is_specialised_as_on_a_device(session: Session) -> None:
    x = session.to_device(torch.tensor([7.0]))
    y = torch.empty_like(x)
    affine[(1,)](x, y, 1, BLOCK=1)
    assert session.to_host(y).item() == 43


def tuned(seed: int) -> tuple[float, str]:
    tuned_sum.cache.clear()
    with Session(platforms.default_targets(), platforms.sheet("h100"), seed) as session:
        x, total = session.to_device(torch.ones(500)), torch.full((1,), 9.0, device="cuda")
        tuned_sum[lambda meta: (triton.cdiv(500, meta["BLOCK"]),)](x, total, 500)
        assert session.launches == ["tuned_sum"]
        return total.item(), str(tuned_sum.best_config)


def test_the_seed_alone_picks_the_configuration() -> None:
    assert tuned(3) == tuned(3)
    assert len({tuned(seed)[1] for seed in range(6)}) > 1


def test_tuning_resets_what_the_kernel_asks_to_reset() -> None:
    assert tuned(1)[0] == 500


def test_a_configuration_that_does_not_fit_is_tuned_away() -> None:
    small = replace(platforms.sheet("h100"), shared_per_block=16 << 10)
    for seed in range(4):
        big_or_small.cache.clear()
        with Session(("cuda:90",), small, seed) as session:
            a = session.to_device(torch.randn(128, 128).half())
            big_or_small[(1,)](a, torch.empty_like(a))
            assert big_or_small.best_config.kwargs == {"BLOCK": 16}
            assert session.compiles[0]["error"] is None


def test_heuristics_compute_parameters(session: Session) -> None:
    x = session.to_device(torch.arange(5.0))
    y = torch.zeros_like(x)
    whole[(1,)](x, y, 5)
    assert torch.equal(session.to_host(y), torch.arange(5.0))


def test_constants_computed_in_a_kernel_stay_constants(session: Session) -> None:
    x = session.to_device(torch.arange(8.0))
    y = torch.empty(4, device="cuda")
    unrolled[(1,)](x, y, D=8)
    assert session.to_host(y).tolist() == [4, 6, 8, 10]


@pytest.mark.parametrize("bias", [None, 10.0])
@pytest.mark.filterwarnings("ignore:Logical operators")
def test_and_works_on_masks_and_on_constants_and_loops_make_tensors(bias: float | None, session: Session) -> None:
    x = session.to_device(torch.arange(3.0))
    y = torch.zeros(4, device="cuda")
    tensor = None if bias is None else torch.full((1,), bias, device="cuda")
    guarded[(1,)](x, y, tensor, 3, HAS_BIAS=bias is not None, BLOCK=4)
    assert session.to_host(y).tolist() == [3 + (bias or 0), 4 + (bias or 0), 5 + (bias or 0), 0]


def test_a_kernel_may_be_compiled_first_and_launched_by_its_occupancy(session: Session) -> None:
    x = session.to_device(torch.arange(100, dtype=torch.float32))
    y = torch.empty_like(x)
    kernel = affine.warmup(x, y, 100, BLOCK=128, grid=(1,))
    kernel._init_handles()
    assert kernel.n_regs > 0
    assert session.launches == []
    kernel[(1, 1, 1)](x, y, 100, 128)
    assert torch.equal(session.to_host(y), torch.arange(100.0) * 6 + 1)
    assert session.launches == ["affine"]


def test_a_kernel_may_outlive_the_session_that_has_loaded_it(monkeypatch: pytest.MonkeyPatch) -> None:
    unraisable: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", unraisable.append)
    with Session(platforms.default_targets(), platforms.sheet("h100"), seed=0) as session:
        x = session.to_device(torch.arange(6, dtype=torch.int32))
        kernel = halve.warmup(x, 6, BLOCK=8, grid=(1,))
        kernel._init_handles()
    halve.device_caches.clear()
    del kernel
    gc.collect()
    assert unraisable == []


BAD = """
import torch, triton, triton.language as tl

@triton.jit
def bad(x, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    v = tl.load(x + offsets)
    tl.store(x + offsets, BODY)

def f(x):
    bad[(1,)](x, BLOCK=4)
    return x
"""


@pytest.mark.parametrize(
    ("body", "rule"),
    [
        ("tl.no_such_function(v)", "no_such_function"),
        ("v + tl.arange(0, 8)", "incompatible dimensions"),
        ("undefined", "undefined is not defined"),
    ],
)
def test_a_compiler_error_names_line_and_rule(body: str, rule: str, session: Session, load: Callable[[str], ModuleType]) -> None:
    module = load(BAD.replace("BODY", body))
    with pytest.raises(CompileFailed) as failed:
        module.f(session.to_device(torch.ones(4)))
    detail = failed.value.detail
    assert detail["line"] == 8
    assert body in detail["source"]
    assert rule.lower() in detail["rule"].lower()
    assert detail["kernel"] == "bad"
    assert detail["target"] == "cuda:90"
    assert "line 8" in failed.value.message
    assert session.compiles[0]["error"] == failed.value.message
    assert session.launches == []


def test_a_compiler_error_in_a_helper_names_the_helpers_line(session: Session, load: Callable[[str], ModuleType]) -> None:
    helper = "\n@triton.jit\ndef helper(v):\n    return v.no_such_method()\n"
    source = BAD.replace("\n@triton.jit\ndef bad", helper + "\n@triton.jit\ndef bad").replace("BODY", "helper(v)")
    with pytest.raises(CompileFailed) as failed:
        load(source).f(session.to_device(torch.ones(4)))
    assert "no_such_method" in failed.value.detail["rule"]
    assert failed.value.detail["line"] == 6


def test_a_missing_argument_is_a_failed_launch(session: Session) -> None:
    with pytest.raises(LaunchFailed, match="missing"):
        affine[(1,)](torch.ones(3, device="cuda"), BLOCK=4)


def test_a_grid_beyond_the_device_is_a_failed_launch(session: Session) -> None:
    with pytest.raises(LaunchFailed, match="invalid argument"):
        many[(1, 70000)](torch.zeros(1, dtype=torch.int32, device="cuda"))


def test_an_empty_grid_runs_nothing(session: Session) -> None:
    x = torch.zeros(1, dtype=torch.int32, device="cuda")
    many[(0,)](x)
    many[(3, 2)](x)
    assert x.item() == 6


def test_too_many_programs_are_unsupported_and_not_wrong(session: Session) -> None:
    with pytest.raises(Unsupported, match="5000 programs"):
        many[(5000,)](torch.zeros(1, dtype=torch.int32, device="cuda"))


def test_a_call_that_takes_the_interpreter_too_long_is_unsupported_and_the_next_one_begins_anew(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(budget, "most", 0.05)
    total = session.to_device(torch.zeros(1, dtype=torch.int32))
    with pytest.raises(Unsupported, match=r"0\.05 s at most; \d+ of the 4096 programs of many"):
        many[(4096,)](total)
    assert 0 < total.item() < 4096
    many[(3,)](session.to_device(torch.zeros(1, dtype=torch.int32)))


def test_too_much_shared_memory_is_a_failed_launch() -> None:
    with Session(("cuda:90",), replace(platforms.sheet("h100"), shared_per_block=16)) as session:
        a = session.to_device(torch.randn(16, 16).half())
        with pytest.raises(LaunchFailed, match="out of resource: shared memory"):
            big_or_small.fn[(1,)](a, a, BLOCK=16)


def test_what_the_interpreter_cannot_do_is_unsupported_even_to_a_candidate_that_catches_everything(session: Session) -> None:
    x = torch.ones(1, dtype=torch.int32, device="cuda")

    def caught_by_the_candidate() -> None:
        with contextlib.suppress(Exception):
            by_assembly[(1,)](x)

    with pytest.raises(Unsupported, match="by_assembly"):
        caught_by_the_candidate()


def test_device_assertions_are_compiled_out_as_on_a_device(session: Session) -> None:
    x = session.to_device(torch.tensor([-1.0]))
    trapped[(1,)](x)
    assert x.item() == 1


def test_a_zero_dimensional_result_and_a_scalar_argument(session: Session) -> None:
    x = session.to_device(torch.tensor(2.0))
    y = torch.empty((), device="cuda")
    affine[(1,)](x, y, 1, BLOCK=1)
    assert session.to_host(y).item() == 13
