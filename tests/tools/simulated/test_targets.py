"""Several compilation targets beside the device's own, and what a model is told when a kernel does not compile."""

from collections.abc import Callable
from types import ModuleType

import pytest
import torch
import triton
import triton.language as tl
from triton.runtime import driver

from tools import platforms
from tools.simulated import CompileFailed, LaunchFailed, Session

ALL = ("cuda:80", "cuda:90", "cuda:100", "cuda:120", "hip:gfx90a", "hip:gfx942", "hip:gfx1100")


@triton.jit
def double(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)


def run(session: Session, kernel: triton.JITFunction = double) -> torch.Tensor:
    x = session.to_device(torch.arange(300.0))
    y = torch.empty_like(x)
    kernel[(3,)](x, y, 300, BLOCK=128)
    return session.to_host(y)


def test_one_run_is_compiled_for_the_targets_of_two_vendors_and_interpreted_once() -> None:
    with Session(ALL, platforms.sheet("h100")) as session:
        assert torch.equal(run(session), torch.arange(300.0) * 2)
        assert driver.active.get_current_target().arch == 90
    assert session.launches == ["double"]
    assert [c["target"] for c in session.compiles] == list(ALL)
    for compiled in session.compiles:
        (kernel,) = compiled["kernels"]
        assert compiled["error"] is None
        assert kernel["name"] == "double"
        assert 0 < kernel["registers"] < 64
        assert kernel["spills"] == 0
        assert kernel["occupancy"] == 1.0


def test_the_binaries_are_asked_and_not_the_driver() -> None:
    with Session(("cuda:80", "hip:gfx942"), platforms.sheet("h100")) as session:
        run(session)
        built = [next(iter(cache[0].values())) for cache in double.device_caches.values()]
    figures = {kernel.metadata.target.arch: kernel for kernel in built}
    for compiled in session.compiles:
        arch = compiled["target"].partition(":")[2]
        kernel = figures[int(arch) if arch.isdigit() else arch]
        used = platforms.usage(compiled["target"], kernel.kernel, "double", kernel.metadata.shared)
        assert compiled["kernels"][0]["registers"] == used.registers


def test_without_a_target_of_its_own_vendor_the_device_still_interprets() -> None:
    with Session(("hip:gfx942",), platforms.sheet("h100")) as session:
        assert torch.equal(run(session), torch.arange(300.0) * 2)
        assert torch.cuda.get_device_capability() == (9, 0)
    assert session.compiles[0]["kernels"][0]["registers"] > 0


def test_sessions_with_other_targets_do_not_find_each_others_kernels() -> None:
    for target in ("cuda:80", "hip:gfx1100", "cuda:80"):
        with Session((target,), platforms.sheet("h100")) as session:
            run(session)
        assert session.compiles[0]["kernels"][0]["registers"] is not None


ONE_VENDOR = """
import torch, triton, triton.language as tl
from triton.language.extra.cuda import libdevice

@triton.jit
def kernel(x, y, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n).to(tl.float8e4nv).to(tl.float32), mask=i < n)
"""


def test_a_kernel_for_some_targets_only_names_the_one_that_refuses(load: Callable[[str], ModuleType]) -> None:
    module = load(ONE_VENDOR)
    with Session(("cuda:90", "cuda:80", "hip:gfx942"), platforms.sheet("h100")) as session, pytest.raises(CompileFailed) as failed:
        run(session, module.kernel)
    assert failed.value.detail["target"] == "cuda:80"
    assert "does not compile for cuda:80 at line 8" in failed.value.message
    assert "fp8e4nv" in failed.value.message
    good, bad, other = session.compiles
    assert good["error"] is None
    assert good["kernels"]
    assert bad["error"] == failed.value.message
    assert not bad["kernels"]
    assert other["kernels"] or other["error"]
    assert session.launches == []


MISTAKES = {
    "an unknown function": ("tl.softplus(v)", "no attribute 'softplus'", "AttributeError"),
    "shapes that do not fit": ("v + tl.arange(0, 2 * BLOCK)", "incompatible dimensions at index 0: 128 and 256", "ValueError"),
    "a name that is not defined": ("v * scale", "scale is not defined", "NameError"),
    "a block whose size is no power of two": ("v + tl.arange(0, 100)", "power of 2", "ValueError"),
    "a size that is not known before the launch": ("v + tl.arange(0, n)", "constexpr", "ValueError"),
    "a slice of a block": ("v[0:4]", "unsupported tensor index", "ValueError"),
    "a product of vectors": ("tl.dot(v, v)", "", "AssertionError"),
    "a host function": ("torch.exp(v)", "function referenced: <built-in method exp of type>", "RuntimeError"),
    "a pointer where a number belongs": ("v + y", "pointer<fp32>", "IncompatibleTypeError"),
}
SOURCE = """
import torch, triton, triton.language as tl


@triton.jit
def kernel(x, y, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    mask = i < n
    v = tl.load(x + i, mask=mask)
    # What a model might write.
    v = BODY
    tl.store(y + i, v, mask=mask)
"""


@pytest.mark.parametrize("target", ["cuda:90", "hip:gfx942"])
@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_typical_mistake_is_told_by_line_rule_and_type(mistake: str, target: str, load: Callable[[str], ModuleType]) -> None:
    body, rule, kind = MISTAKES[mistake]
    module = load(SOURCE.replace("BODY", body))
    with Session((target,), platforms.sheet("h100")) as session, pytest.raises(CompileFailed) as failed:
        run(session, module.kernel)
    detail = failed.value.detail
    assert (detail["line"], detail["source"], detail["type"]) == (11, f"v = {body}", kind)
    assert rule in detail["rule"]
    assert f"for {target} at line 11: " in failed.value.message
    assert not [part for part in ("\n", "0x", "Traceback") if part in failed.value.message]
    assert len(failed.value.message) < 400


def test_an_argument_that_no_kernel_takes_is_a_failed_launch_and_names_it() -> None:
    with Session(("cuda:90", "hip:gfx942"), platforms.sheet("h100")) as session:
        x = session.to_device(torch.ones(4))
        with pytest.raises(LaunchFailed, match="num_wraps"):
            double[(1,)](x, x, 4, BLOCK=4, num_wraps=8)
