"""The digest names what a kernel reaches and what holds it back."""

import pytest
import torch

from benchmark.suites import find
from tools import platforms
from tools.platforms.counters import Counters
from tools.profile import Kernel, achieved, bottleneck, digest, shares
from tools.roofline import Work, minimal

H200 = platforms.sheet("h200")


def work(name: str, **arguments: torch.Tensor) -> Work:
    found = minimal(find(f"quick/{name}"), arguments)
    assert found is not None
    return found


def test_a_pointwise_kernel_is_held_against_the_bandwidth() -> None:
    found = achieved("x", 100.0, work("add", input=torch.empty(1 << 25), other=torch.empty(1 << 25)), H200)
    assert (found.bound, found.gb_s, found.tflop_s) == ("memory", 4026.5, 0)
    assert found.bandwidth_share == found.roofline_share == pytest.approx(3 * (4 << 25) / 4.8e12 * 1e4, abs=1e-4)


def test_a_large_product_is_held_against_the_peak_of_its_dtype() -> None:
    half = {name: torch.empty(4096, 4096, dtype=torch.float16) for name in ("tensor1", "tensor2")}
    found = achieved("x", 200.0, work("matmul", **half), H200)
    assert (found.bound, found.tflop_s) == ("products", 687.19)
    assert found.products_share == found.roofline_share == pytest.approx(687.19 / 989.4, abs=1e-4)


def test_own_kernels_have_their_share_of_the_device_time() -> None:
    found = shares([Kernel("mine", 30.0, 5, True), Kernel("elementwise_kernel", 10.0, 5, False)])
    assert found["own_share"] == 0.75
    assert [kernel["name"] for kernel in found["kernels"]] == ["mine", "elementwise_kernel"]
    assert found["self_reported"]


def test_without_kernels_the_share_is_unknown() -> None:
    assert shares([])["own_share"] is None


@pytest.mark.parametrize(
    ("launch", "words"),
    [
        (Counters("k", memory=0.84, l2=0.44, multiprocessor=0.2), "bandwidth of device memory"),
        (Counters("k", memory=0.3, matrix=0.9, multiprocessor=0.8), "throughput of matrix units"),
        (Counters("k", memory=0.2, l2=0.75), "bandwidth of L2 cache"),
        (Counters("k", memory=0.88, l2=0.92), "bandwidth of device memory"),
        (Counters("k", memory=0.8, matrix=0.95), "throughput of matrix units"),
        (Counters("k", memory=0.1, multiprocessor=0.1, waves=0.1), "too few programs to fill the device"),
        (Counters("k", memory=0.3, waves=4.0, stalls={"barriers": 9.0, "fixed latency": 1.0}), "latency: warps wait for barriers"),
        (Counters("k", memory=0.3, waves=4.0), "latency"),
        (Counters("k"), "unknown"),
    ],
)
def test_the_bottleneck_is_named(launch: Counters, words: str) -> None:
    assert bottleneck(launch) == words


def test_the_digest_has_the_longest_launches() -> None:
    launches = [Counters("short", us=1.0, memory=0.1), *(Counters(f"long{n}", us=10.0 + n, memory=0.9) for n in range(8))]
    found = digest(launches)["launches"]
    assert [launch["kernel"] for launch in found][:2] == ["long7", "long6"]
    assert "short" not in {launch["kernel"] for launch in found}
    assert found[0]["bottleneck"] == "bandwidth of device memory"
