"""What right answers alone do not show: each candidate is right on every case and fails for the way in which it is."""

from collections.abc import Callable

import pytest

from tools.evaluation import Evaluation

CORRECTNESS = 12
"""Calls of the correctness stage: eleven cases of the task, the first one twice."""
KERNEL = """
import threading, time
import torch, triton, triton.language as tl

@triton.jit
def points(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + at, mask=at < n).to(tl.float32)
    tl.store(y + at, (v * tl.sigmoid(v)).to(y.dtype.element_ty), mask=at < n)

@triton.jit
def largest(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + at, mask=at < n).to(tl.float32)
    former = tl.load(y + at, mask=at < n).to(tl.float32)
    tl.store(y + at, tl.maximum(former, v * tl.sigmoid(v)).to(y.dtype.element_ty), mask=at < n)

@triton.jit
def pass_on(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at, mask=at < n), mask=at < n)

def run(kernel, x, y):
    if x.numel():
        kernel[(triton.cdiv(x.numel(), 1024),)](x, y, x.numel(), BLOCK=1024)
    return y

def compute(input):
    x = input.contiguous()
    return run(points, x, torch.empty_like(x))
"""


def silu(body: str) -> str:
    return KERNEL + "\nkept = {}\ncalls = [0]\n\ndef silu(input, inplace=False):\n    " + body.strip().replace("\n", "\n    ")


@pytest.fixture
def failed(evaluate: Callable[..., Evaluation]) -> Callable[[str], Evaluation]:
    """The evaluation of a body of `silu` that has to fail in the adversarial stage."""

    def run(body: str) -> Evaluation:
        found = evaluate(silu(body), "quick/silu")
        assert found.correct, found.error
        assert found.stage == "adversarial"
        assert [row["ok"] for row in found.adversarial][-1] is False
        return found

    return run


def test_every_check_of_an_honest_candidate_is_told(evaluate):
    found = evaluate(silu("return compute(input)"), "quick/silu")
    assert found.success, found.error
    assert [row["check"] for row in found.adversarial if not row["ok"]] == []
    assert {
        "own launches", "torch does not compute", "way of answering", "new values", "same memory, new values",
        "new memory, old values, other poison", "replay without kernels", "right to the last call",
    } == {row["check"] for row in found.adversarial}  # fmt: skip
    assert {(row["op"], row["compute"]) for row in found.torch_work} == {("empty_like", False), ("clone", False)}


def test_compiled_kernel_may_be_launched_by_itself(evaluate):
    """As the tutorial on fused softmax does."""
    found = evaluate(
        silu("""
x = input.contiguous()
y = torch.empty_like(x)
if x.numel():
    kernel = points.warmup(x, y, x.numel(), BLOCK=1024, grid=(1,))
    kernel[(triton.cdiv(x.numel(), 1024), 1, 1)](x, y, x.numel(), 1024)
return y
"""),
        "quick/silu",
    )
    assert found.success, found.error
    assert found.launches


def test_launches_that_only_one_account_knows_are_none(failed):
    found = failed("""
import gc
for thing in gc.get_objects():
    if type(thing).__name__ == "Session" and isinstance(getattr(thing, "launches", None), list):
        thing.launches.append("points")
return torch.nn.functional.silu(input)
""")
    assert (found.verdict, "no Triton kernel" in found.error.message) == ("not_triton", True)


def test_fresh_memory_that_is_taken_into_account_shows_with_another_content(failed):
    found = failed("x = input.contiguous()\nreturn run(largest, x, torch.empty_like(x))")
    assert found.verdict == "nondeterministic"
    assert "not with another" in found.error.message


def test_old_answer_for_memory_of_a_known_shape_is_wrong(failed):
    found = failed(f"""
calls[0] += 1
key = (input.data_ptr(), input.shape, input.dtype, calls[0] * (calls[0] <= {CORRECTNESS}))
if key not in kept:
    kept[key] = compute(input)
return run(pass_on, kept[key], torch.empty_like(kept[key]))
""")
    assert found.verdict == "wrong_numeric"
    assert found.error.message.startswith("same memory, new values")


def test_view_of_an_earlier_result_is_aliasing(failed):
    found = failed("""
if input.shape not in kept:
    kept[input.shape] = torch.empty(input.numel() * 4 + 1, dtype=torch.float32, device=input.device)
y = kept[input.shape].view(input.dtype)[:input.numel()]
return run(points, input.contiguous(), y).view(input.shape)
""")
    assert (found.verdict, "earlier call" in found.error.message) == ("aliasing", True)


def test_work_of_a_thread_after_the_return_shows(failed):
    found = failed("""
x = input.contiguous()
y = torch.zeros_like(x)
z = compute(input)
def later():
    time.sleep(0.01)
    torch.Tensor.copy_(y, z)
threading.Thread(target=later).start()
return y
""")
    assert (found.verdict, "still changed" in found.error.message) == ("suspected_hack", True)


def test_inputs_seen_before_are_not_answered_from_memory(failed):
    found = failed("""
key = (tuple(input.reshape(-1)[::97].tolist()), input.shape, input.dtype)
if key not in kept:
    kept[key] = compute(input)
return run(pass_on, kept[key], torch.empty_like(kept[key]))
""")
    assert found.verdict in ("suspected_hack", "not_triton", "wrong_numeric")


def test_last_call_is_checked_like_the_first(failed):
    body = "calls[0] += 1\nreturn compute(input) if calls[0] < {} else run(pass_on, input.contiguous(), torch.empty_like(input))"
    found = failed(body.format(CORRECTNESS + 2))
    assert found.verdict in ("wrong_numeric", "nondeterministic")


def test_mode_that_the_candidate_blinds_is_told(evaluate):
    blind = """
import gc
from torch.utils._python_dispatch import TorchDispatchMode
for kind in TorchDispatchMode.__subclasses__():
    if kind.__name__ == "Watch":
        kind.__torch_dispatch__ = lambda self, func, types, args=(), kwargs=None: func(*args, **(kwargs or {}))
"""
    found = evaluate(KERNEL + blind + "\ndef silu(input, inplace=False):\n    return compute(input)", "quick/silu")
    assert (found.verdict, "Watch.__torch_dispatch__" in found.error.message) == ("suspected_hack", True)


def test_failure_out_of_sight_tells_nothing(evaluate):
    """The last call of the correctness stage is a held-out case."""
    body = f"calls[0] += 1\nif calls[0] == {CORRECTNESS}:\n    torch.sigmoid(input)\nreturn compute(input)"
    found = evaluate(silu(body), "quick/silu")
    hidden = [case.case for case in found.cases if case.held_out]
    assert (found.verdict, found.correct) == ("not_triton", True), found.error
    assert hidden[-1] in str(found.error.detail)
    public = found.public()
    assert public["error"]["message"] == "fails on inputs not shown"
    assert not any(name in str(public) for name in hidden)
    assert "sigmoid" not in str([public["torch_work"], public["adversarial"], public["error"]])


def test_kernel_of_a_held_out_case_is_not_shown(evaluate):
    """Its name is the candidate's to choose."""
    body = f"calls[0] += 1\nif calls[0] == {CORRECTNESS}:\n    run(pass_on, input, torch.empty_like(input))\nreturn compute(input)"
    found = evaluate(silu(body), "quick/silu")
    assert found.success, found.error
    assert "pass_on" in {kernel["name"] for kernel in found.compile[0]["kernels"] if kernel.get("held_out")}
    assert "points" in str(found.public()["compile"])
    assert "pass_on" not in str(found.public()["compile"])
