"""A recorded run answers again: replies and failures as they were, at no cost, and a sentence for what it does not have."""

from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agents.caller import Caller, CallFailed
from agents.ledger import Ledger
from agents.models import make
from agents.models.base import CallError, Reply, Request, Usage
from agents.prices import Prices
from benchmark.errors import UserError
from experiments.store import RunStore
from tests.agents.memory import TOOL, MemoryRecorder, no_tasks, request
from tests.agents.test_caller import Scripted
from tests.servers.wire import Fault, WireServer, in_turn

PRICES = Prices.load({"openai/m": {"input": 2.0, "output": 10.0}})


async def record(path: Path, model: Any, *requests: Request, **options: Any) -> RunStore:
    """A run of these calls, in order, as the runner would have left it."""
    store = RunStore.create(path, "seed: 0\n", {}, {})
    caller = Caller(model, store, Ledger(None, PRICES), first_wait_s=0.001, **options)
    for asked in requests:
        with suppress(CallFailed):
            await caller.complete(asked)
    await caller.close()
    store.close()
    return store


def replaying(*paths: Path, recorder: MemoryRecorder | None = None, **args: Any) -> Caller:
    model = make("replay", {"source": [str(path) for path in paths], **args}, no_tasks)
    return Caller(model, recorder or MemoryRecorder(), Ledger(None, PRICES))


async def test_a_reply_comes_back_as_it_was_and_costs_nothing(tmp_path: Path) -> None:
    with WireServer(lambda asked: "the kernel", faults=in_turn(Fault("reset"), None)) as server:
        store = await record(tmp_path / "r", make("openai/m", {"base_url": server.openai_url, "temperature": 0.5}, no_tasks), request())
    recorder = MemoryRecorder()
    reply = await replaying(tmp_path / "r", recorder=recorder).complete(request())
    (line,) = recorder.calls
    assert (reply.text, reply.model) == ("the kernel", "m-served")
    assert (line.outcome, line.model_asked, line.usage, line.usage_source) == ("ok", "replay", server.bill[-1], "replayed")
    assert (line.cost_usd, line.cost_upper, line.sampling["temperature"]) == (0.0, 0.0, 0.5)
    assert line.replayed is not None
    assert {k: line.replayed[k] for k in ("match", "run", "model", "tries")} == {
        "match": "request", "run": "r", "model": "openai/m", "tries": 2
    }  # fmt: skip
    assert line.replayed["cost_usd"] is None, "what the try cost that was reset is unknown"
    assert line.replayed["cost_upper"] >= store.calls[-1]["cost_usd"] > 0


@pytest.mark.parametrize(
    "answer",
    [
        Reply("", "m", "tool_calls", [{"id": "1", "name": "evaluate", "arguments": {"a": [1, None]}}], usage=Usage(input=5, output=2)),
        Reply("No.", "m", "refusal", usage=Usage(input=5)),
        Reply("Cannot.", "m", "declined"),
        Reply("half", "m", "length", usage=Usage(input=5, output=9), usage_source="partial", tier="flex"),
    ],
)
async def test_tool_calls_refusals_and_cut_replies_come_back_as_they_were(tmp_path: Path, answer: Reply) -> None:
    asked = replace(request(), tools=(TOOL,))
    store = await record(tmp_path / "r", Scripted(answer), asked)
    recorder = MemoryRecorder()
    reply = await replaying(tmp_path / "r", recorder=recorder).complete(asked)
    unlike = {"replayed": None, "usage_source": answer.usage_source}
    assert replace(reply, **unlike) == answer
    assert recorder.calls[0].outcome == store.calls[0]["outcome"]
    assert recorder.calls[0].cost_usd == 0.0


async def test_a_failure_that_was_data_fails_again_in_one_try(tmp_path: Path) -> None:
    timeout = CallError("timeout", "No answer in 30 s.", usage=Usage(input=7), usage_source="partial")
    await record(tmp_path / "r", Scripted(timeout, timeout, timeout), request(), tries=3)
    recorder = MemoryRecorder()
    with pytest.raises(CallFailed, match=r"No answer in 30 s\."):
        await replaying(tmp_path / "r", recorder=recorder).complete(request())
    (line,) = recorder.calls
    assert (line.outcome, line.final, line.cost_usd, line.usage_source) == ("timeout", True, 0.0, "partial")
    assert line.replayed is not None
    assert (line.replayed["tries"], line.replayed["usage"]["input"]) == (3, 21)
    assert recorder.recorded_call(request().identity) == line


async def unrecorded(caller: Caller, asked: Request) -> str:
    with pytest.raises(CallFailed) as failed:
        await caller.complete(asked)
    assert failed.value.outcome == "unrecorded"
    return str(failed.value)


async def test_another_request_has_no_recording_and_says_how_far_the_recorded_one_is(tmp_path: Path) -> None:
    await record(tmp_path / "r", Scripted(Reply("x", "m")), request("Write it.\nFast.\nNow."))
    recorder = MemoryRecorder()
    said = await unrecorded(replaying(tmp_path / "r", recorder=recorder), request("Write it.\nSlowly.\nOnce.\nNow."))
    assert said == (
        f"No recording of t/generator/0/0/0 (generator, round 0) in {tmp_path / 'r'}; what is recorded there is another request "
        "(+2 -1 of 6 lines), which model_args.match=identity accepts."
    )
    (line,) = recorder.calls
    assert (line.outcome, line.usage, line.cost_usd, line.tokens_upper) == ("unrecorded", Usage(), 0.0, None)
    assert line.replayed is not None
    assert line.replayed["match"] is None
    assert {k: line.replayed["nearest"][k] for k in ("call_id", "added", "removed", "lines")} == {
        "call_id": "t/generator/0/0/0", "added": 2, "removed": 1, "lines": 6
    }  # fmt: skip
    assert recorder.recorded_call(request().identity) is None, "with the old code it can be asked again"


async def test_the_nearest_recorded_call_is_of_the_same_role_and_task(tmp_path: Path) -> None:
    calls = [
        request("one\ntwo\nthree", round=0, trajectory="a@0"),
        request("one\ntwo\n3", round=1, trajectory="a@0"),
        request("one\ntwo\nfour", round=1, trajectory="b@0"),
        request("one\ntwo\nfour", round=1, role="reflector", trajectory="a@0"),
    ]
    await record(tmp_path / "r", Scripted(*[Reply("x", "m")] * 4), *calls)
    said = await unrecorded(replaying(tmp_path / "r"), request("one\ntwo\n3\nfour", round=2, trajectory="a@0"))
    assert said.endswith("; the nearest one is a@0/generator/1/0/0 (+1 -0 of 6 lines).")
    said = await unrecorded(replaying(tmp_path / "r"), request("one\ntwo\nfour", round=2, trajectory="b@0"))
    assert said.endswith("; the nearest one is b@0/generator/1/0/0 (the same request).")
    said = await unrecorded(replaying(tmp_path / "r"), request(role="planner"))
    assert said.endswith(", nor of any call of this role.")


async def test_other_tools_are_another_request(tmp_path: Path) -> None:
    await record(tmp_path / "r", Scripted(Reply("x", "m")), request())
    assert "another request (other tools)" in await unrecorded(replaying(tmp_path / "r"), replace(request(), tools=(TOOL,)))


async def test_a_call_that_was_never_answered_has_no_recording(tmp_path: Path) -> None:
    await record(tmp_path / "r", Scripted(Reply("x", "m"), CallError("auth", "no key")), request(), request(round=1))
    assert ", where it was never answered; the nearest one is " in await unrecorded(replaying(tmp_path / "r"), request(round=1))


async def test_a_match_by_identity_takes_the_reply_and_says_so(tmp_path: Path) -> None:
    await record(tmp_path / "r", Scripted(Reply("x", "m"), Reply("y", "m")), request("One."), request("Two.", round=1))
    recorder = MemoryRecorder()
    caller = replaying(tmp_path / "r", recorder=recorder, match="identity")
    assert [(await caller.complete(request(prompt, round=n))).text for n, prompt in enumerate(("One.", "Three."))] == ["x", "y"]
    exact, other = [line.replayed for line in recorder.calls]
    assert exact is not None
    assert other is not None
    assert (exact["match"], "differs" in exact) == ("request", False)
    assert (other["match"], other["differs"]["added"], other["differs"]["removed"]) == ("identity", 1, 1)
    assert "unrecorded" not in await unrecorded(caller, request(round=2))


async def test_several_sources_answer_as_one_and_the_exact_request_goes_first(tmp_path: Path) -> None:
    await record(tmp_path / "a", Scripted(Reply("a0", "m"), Reply("a1", "m")), request("One."), request("Two.", round=1))
    await record(tmp_path / "b", Scripted(Reply("b1", "m"), Reply("b2", "m")), request("2.", round=1), request("Three.", round=2))
    caller = replaying(tmp_path / "a", tmp_path / "b", match="identity")
    asked = [request("One."), request("2.", round=1), request("Three.", round=2)]
    assert [(await caller.complete(one)).text for one in asked] == ["a0", "b1", "b2"]


async def test_a_run_that_forked_has_both_requests_and_the_newer_one_by_identity(tmp_path: Path) -> None:
    await record(tmp_path / "r", Scripted(Reply("old", "m")), request("One."))
    store = RunStore(tmp_path / "r")
    await Caller(Scripted(Reply("new", "m")), store, Ledger(), fork=True).complete(request("Two."))
    store.close()
    for prompt, text in (("One.", "old"), ("Two.", "new"), ("Three.", "new")):
        reply = await replaying(tmp_path / "r", match="identity").complete(request(prompt))
        assert reply.text == text


async def test_a_replay_of_a_replay_tells_what_the_first_run_cost(tmp_path: Path) -> None:
    usage = Usage(input=1000, output=100)
    live = Scripted(Reply("x", "m", usage=usage))
    live.name, live.free = "openai/m", False
    await record(tmp_path / "r", live, request())
    await record(tmp_path / "s", make("replay", {"source": str(tmp_path / "r")}, no_tasks), request())
    recorder = MemoryRecorder()
    await replaying(tmp_path / "s", recorder=recorder).complete(request())
    (line,) = recorder.calls
    assert line.replayed is not None
    assert (line.replayed["run"], line.replayed["model"], line.replayed["cost_usd"]) == ("r", "openai/m", pytest.approx(0.003))
    assert line.usage_source == "replayed"


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ({}, r"^model=replay needs model_args\.source=runs/<run_id>, or a list of runs\.$"),
        ({"source": []}, r"or a list of runs; not \[\]\.$"),
        ({"source": "{path}", "match": "sha"}, r"match.*sha.*request"),
        ({"source": "{path}", "matches": "identity"}, r"matches.*match"),
        ({"source": "{path}/none"}, r"none is no run to replay: it has no calls\.jsonl\. Runs lie in runs/<run_id>\.$"),
        ({"source": "{path}"}, r"^Nothing to replay: no call in .*/r was ever answered\.$"),
    ],
)
def test_a_wrong_option_is_a_sentence(tmp_path: Path, args: dict[str, Any], said: str) -> None:
    RunStore.create(tmp_path / "r", "seed: 0\n", {}, {}).close()
    given = {k: v.format(path=tmp_path / "r") if isinstance(v, str) else v for k, v in args.items()}
    with pytest.raises(UserError, match=said):
        make("replay", given, no_tasks)
