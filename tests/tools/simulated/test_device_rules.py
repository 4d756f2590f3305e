"""What fails on a GPU fails here, and what works on a GPU works here."""

from collections.abc import Callable
from types import ModuleType

import pytest
import torch

from tools.simulated import DeviceMismatch, Session, Unsupported

HEAD = """
import torch, triton, triton.language as tl

@triton.jit
def kernel(x, extra, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out + offsets, tl.load(x + offsets, mask=mask) * 2 + tl.load(extra + offsets, mask=mask) * 0, mask=mask)

def launch(x, extra, out):
    kernel[(triton.cdiv(x.numel(), 256),)](x, extra, out, x.numel(), BLOCK=256)
    return out

"""
MISTAKES = {
    "a host tensor made by arange goes to the kernel": (
        "def f(x):\n    return launch(x, torch.arange(x.numel()).float(), torch.empty_like(x))",
        "cannot be accessed from Triton",
    ),
    "the output is allocated on the host": (
        "def f(x):\n    return launch(x, x, torch.empty(x.numel()))",
        "cannot be accessed from Triton",
    ),
    "numpy() on the input": (
        "def f(x):\n    x.numpy()\n    return launch(x, x, torch.empty_like(x))",
        "can't convert cuda:0 device type tensor to numpy",
    ),
    "asarray on the input": (
        "import numpy as np\ndef f(x):\n    np.asarray(x)\n    return launch(x, x, torch.empty_like(x))",
        "can't convert cuda:0 device type tensor to numpy",
    ),
    "a device tensor plus a host tensor": (
        "def f(x):\n    return launch(x, x, torch.empty_like(x)) + torch.zeros(x.numel())",
        "Expected all tensors to be on the same device",
    ),
    "a parameter made by torch.tensor stays on the host": (
        "def f(x):\n    return launch(x, torch.tensor([1.0] * x.numel()), torch.empty_like(x))",
        "cannot be accessed from Triton",
    ),
    "the result is returned on the host": (
        "def f(x):\n    return launch(x, x, torch.empty_like(x)).cpu()",
        "is on cpu",
    ),
}
IDIOMS = {
    "device=x.device": "def f(x):\n    extra = torch.arange(x.numel(), device=x.device).float()\n"
    "    return launch(x, extra, torch.empty(x.shape, device=x.device, dtype=x.dtype))",
    "device='cuda' and assertions on the input": "def f(x):\n    assert x.is_cuda and x.device.type == 'cuda' and not x.is_cpu\n"
    "    out = launch(x, torch.zeros(x.numel(), device='cuda'), torch.empty_like(x, device='cuda'))\n"
    "    torch.cuda.synchronize()\n    return out",
    "with torch.cuda.device": "def f(x):\n    with torch.cuda.device(x.device):\n        return launch(x, x, torch.empty_like(x))",
    "properties of the device": "def f(x):\n    facts = torch.cuda.get_device_properties(x.device)\n"
    "    assert facts.multi_processor_count > 0 and torch.cuda.get_device_capability() == (9, 0)\n"
    "    return launch(x, x, torch.empty_like(x))",
    "properties by Triton's driver": "def f(x):\n    from triton.runtime import driver\n"
    "    facts = driver.active.utils.get_device_properties(torch.cuda.current_device())\n"
    "    assert facts['multiprocessor_count'] == 132 and driver.active.get_current_target().arch == 90\n"
    "    return launch(x, x, torch.empty_like(x))",
    "autograd.Function and nn.Parameter": "class F(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n"
    "        ctx.save_for_backward(x)\n        return launch(x, x, torch.empty_like(x))\n\n"
    "def f(x):\n    return F.apply(torch.nn.Parameter(x.clone()))",
    "a host tensor moved": "def f(x):\n    return launch(x, torch.arange(x.numel()).float().to(x.device), torch.empty_like(x))",
    "streams and events": "def f(x):\n    stream, event = torch.cuda.Stream(), torch.cuda.Event(enable_timing=True)\n"
    "    with torch.cuda.stream(stream):\n        out = launch(x, x, torch.empty_like(x))\n        event.record()\n"
    "    stream.synchronize()\n    torch.cuda.current_stream().wait_stream(stream)\n    return out",
    "a module moved to the device": "def f(x):\n    layer = torch.nn.Linear(4, 4).to('cuda')\n    assert layer.weight.is_cuda\n"
    "    return launch(x, layer.cuda().weight.new_zeros(x.numel()), torch.empty_like(x))",
    "torch.device as a context": "def f(x):\n    with torch.device('cuda'):\n        extra = torch.zeros(x.numel())\n"
    "    return launch(x, extra, torch.empty_like(x))",
    "a compiled wrapper": "@torch.compile(dynamic=True)\ndef g(x):\n    return launch(x, x, torch.empty_like(x))\n\n"
    "def f(x):\n    return torch.compile(g)(x)",
    "cuda() and a default device": "def f(x):\n    torch.set_default_device('cuda')\n    out = torch.empty(x.numel())\n"
    "    torch.set_default_device(None)\n    return launch(x, torch.zeros(x.numel()).cuda(), out)",
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_device_mistake_is_refused_in_cudas_words(mistake: str, session: Session, load: Callable[[str], ModuleType]) -> None:
    source, words = MISTAKES[mistake]
    module = load(HEAD + source)
    with pytest.raises(DeviceMismatch, match=words):
        session.to_host(module.f(session.to_device(torch.randn(300))))


@pytest.mark.parametrize("idiom", IDIOMS)
def test_an_honest_idiom_runs_unchanged(idiom: str, session: Session, load: Callable[[str], ModuleType]) -> None:
    x = torch.randn(300)
    out = session.to_host(load(HEAD + IDIOMS[idiom]).f(session.to_device(x)))
    assert torch.equal(out, 2 * x)
    assert session.launches == ["kernel"]


def test_a_mismatch_is_caught_by_the_exception_that_cuda_would_raise(session: Session) -> None:
    with pytest.raises(TypeError):
        session.to_device(torch.ones(3)).numpy()
    with pytest.raises(RuntimeError):
        session.to_device(torch.ones(3)) + torch.ones(3)


def test_a_graph_of_launches_is_unsupported(session: Session, load: Callable[[str], ModuleType]) -> None:
    module = load("import torch\ndef f(x):\n    graph = torch.cuda.CUDAGraph()")
    with pytest.raises(Unsupported, match="CUDAGraph"):
        module.f(session.to_device(torch.ones(1)))


def test_timing_a_launch_runs_it_a_few_times_and_tells_nothing(session: Session, load: Callable[[str], ModuleType]) -> None:
    module = load(HEAD + "from triton.testing import do_bench\ndef f(x):\n    return do_bench(lambda: launch(x, x, torch.empty_like(x)))")
    assert module.f(session.to_device(torch.ones(300))) > 0
    assert len(session.launches) < 15
