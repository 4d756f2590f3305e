import subprocess
import sys

import pytest
import torch

from benchmark.errors import UserError
from tools import platforms


@pytest.mark.parametrize("name", platforms.names())
def test_a_sheet_is_plausible_and_names_its_source(name: str) -> None:
    sheet = platforms.sheet(name)
    assert sheet.shared_per_block <= sheet.shared_per_multiprocessor
    assert sheet.max_threads_per_block <= sheet.max_threads_per_multiprocessor
    assert sheet.peak_flops["float64"] < sheet.peak_flops["float32"] < sheet.peak_flops["tensorfloat32"] < sheet.peak_flops["bfloat16"]
    assert sheet.max_threads_per_multiprocessor % sheet.warp_size == 0
    lanes = sheet.peak_flops["float32"] / (2 * sheet.multiprocessors * sheet.clock_hz)
    assert lanes == pytest.approx(round(lanes), rel=0.001)
    assert round(lanes) in (64, 128)
    assert 1e12 < sheet.memory_bandwidth < 1e13
    assert sheet.l2_bytes < sheet.memory_bytes
    assert str(platforms.gpu_target(sheet.target).arch) == sheet.arch
    assert platforms.gpu_target(sheet.target).warp_size == sheet.warp_size
    assert sheet.source


def test_names_are_found_in_any_case() -> None:
    assert platforms.sheet("H200").memory_bandwidth > platforms.sheet("h100").memory_bandwidth


def test_unknown_hardware_is_the_users_mistake_and_names_the_nearest() -> None:
    with pytest.raises(UserError, match="'h100'"):
        platforms.sheet("h10")


@pytest.mark.parametrize("target", ["cuda", "cuda:", "cuda:sm90", "cuda:12345", "hip:90", "hip:gfx000", "tpu:4", "90"])
def test_a_target_that_is_none_is_the_users_mistake_and_lists_those_that_are(target: str) -> None:
    with pytest.raises(UserError, match=r"target.*cuda:90.*hip:gfx942"):
        platforms.gpu_target(target)


@pytest.mark.parametrize(
    ("name", "parts"), [("cuda:80", ("cuda", 80, 32)), ("hip:gfx942", ("hip", "gfx942", 64)), ("hip:gfx1100", ("hip", "gfx1100", 32))]
)
def test_a_target_is_tritons_target(name: str, parts: tuple) -> None:
    target = platforms.gpu_target(name)
    assert (target.backend, target.arch, target.warp_size) == parts


@pytest.mark.skipif(torch.cuda.is_available(), reason="needs a machine without a GPU")
def test_without_a_gpu_the_simulated_device_is_found() -> None:
    device = platforms.detect()
    assert device.simulated
    assert device.count == 1
    assert "simulated" in device.name
    assert device.sheet is not None
    assert platforms.default_targets() == (device.sheet.target,)


@pytest.mark.gpu
def test_the_gpu_is_found_without_a_context() -> None:
    device = platforms.detect()
    assert device.platform == "nvidia"
    assert device.count >= 1
    assert not torch.cuda.is_initialized()
    assert device.name == torch.cuda.get_device_name(0)


def test_importing_platforms_imports_neither_torch_nor_triton() -> None:
    code = "import sys, tools.platforms as p; p.sheet('h100'); p.default_targets(); sys.exit(len({'torch', 'triton'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_nearest_target_is_the_same_or_of_the_same_vendor() -> None:
    assert platforms.nearest(["hip:gfx942", "cuda:80", "cuda:90"], "cuda:90") == "cuda:90"
    assert platforms.nearest(["hip:gfx942", "cuda:80", "cuda:120"], "cuda:90") == "cuda:80"
    assert platforms.nearest(["hip:gfx942", "hip:gfx90a"], "cuda:90") == "hip:gfx942"
