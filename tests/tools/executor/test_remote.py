"""How long the broker waits for compilations."""

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from tools.evaluation import Evaluation
from tools.executor.channel import Channel, Closed
from tools.executor.remote import Hung, RemoteSandbox
from tools.settings import Settings

ENDLESS = """
import torch
import triton
import triton.language as tl


@triton.jit
def product(a, b, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    at = i[:, None] * BLOCK + i[None, :]
    inside = (i[:, None] < n) & (i[None, :] < n)
    left = tl.load(a + at, mask=inside, other=0.0).to(tl.float32)
    right = tl.load(b + at, mask=inside, other=0.0).to(tl.float32)
    tl.store(out + at, tl.dot(left, right, input_precision="ieee").to(out.dtype.element_ty), mask=inside)


def softmax(input, dim, dtype=None):
    out = torch.empty_like(input)
    product[(1,)](input, input, out, 1, BLOCK=256)
    return out
"""


@pytest.fixture
def sandbox() -> Iterator[RemoteSandbox]:
    reader, writer = os.pipe()
    made = RemoteSandbox(reader, {}, os.memfd_create("memory"), {})
    yield made
    made.line_end.close()
    made.close()
    os.close(reader)
    os.close(writer)


def announce(sandbox: RemoteSandbox, notices: list[tuple[str, float]]) -> None:
    """Plays a sandbox that says these things, each after some seconds."""

    channel = Channel(sandbox.control_end)

    def play() -> None:
        with contextlib.suppress(Closed):
            for notice, seconds in notices:
                time.sleep(seconds)
                channel.send({"id": 1} if notice == "answer" else {"notice": notice})

    threading.Thread(target=play, daemon=True).start()


def test_each_compilation_has_time_of_its_own(sandbox: RemoteSandbox) -> None:
    announce(sandbox, [("compile", 0.0), ("run", 0.4)] * 3 + [("answer", 0.0)])
    assert sandbox.answer(1, seconds=1.0, compile_s=1.0)["id"] == 1


def test_all_compilations_together_have_an_end(sandbox: RemoteSandbox) -> None:
    sandbox.compiling_s = 0.3
    announce(sandbox, [("compile", 0.0), ("run", 0.2)] * 3 + [("answer", 0.0)])
    sandbox.line_end.close()
    with pytest.raises(Hung):
        sandbox.answer(1, seconds=5.0, compile_s=5.0)
    assert sandbox.phase == "compile"


@pytest.mark.slow
def test_a_compilation_of_more_than_a_minute_is_a_timeout_of_the_compiler(evaluate: Callable[..., Evaluation]) -> None:
    found = evaluate(ENDLESS, settings=Settings(device="simulated"))
    assert (found.verdict, found.stage) == ("timeout", "compile")
    assert 20 < found.resources["wall_s"] < 40


def test_what_was_said_of_torchs_work_before_an_answer_stays_said(sandbox: RemoteSandbox) -> None:
    channel = Channel(sandbox.control_end)
    for calls in (1, 2):
        channel.send({"notice": "torch", "row": ["add", [0], False, calls, 9, 9 * calls]})
    channel.send({"notice": "torch", "row": "no row"})
    channel.send({"id": 1, "torch": [], "told": []})
    assert sandbox.answer(1, 5.0)["told"] == [["add", [0], False, 2, 9, 18], "no row"]
