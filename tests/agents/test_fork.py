"""A resumed run whose request is not the recorded one: it stops, or goes on under an identity that is never reused."""

from typing import Any

import pytest

from agents.caller import Caller, Diverged
from agents.ledger import Ledger
from agents.models.base import Identity, Reply
from tests.agents.memory import MemoryRecorder, request
from tests.agents.test_caller import Scripted


def start(recorder: MemoryRecorder, *answers: Any, fork: bool = True) -> Caller:
    return Caller(Scripted(*answers), recorder, Ledger(), fork=fork)


async def test_without_fork_it_stops_before_anything_is_asked() -> None:
    recorder = MemoryRecorder()
    await start(recorder, Reply("old", "m")).complete(request("One."))
    with pytest.raises(Diverged, match=r"diverged at generator/0 \(t/generator/0/0/0\).*resume\.on_divergence=fork\.$"):
        await start(recorder, fork=False).complete(request("Two."))
    assert len(recorder.calls) == 1


async def test_with_fork_it_asks_under_the_next_identity_and_says_so() -> None:
    recorder = MemoryRecorder()
    await start(recorder, Reply("old", "m")).complete(request("One."))
    assert (await start(recorder, Reply("new", "m")).complete(request("Two."))).text == "new"
    assert [call.call_id for call in recorder.calls] == ["t/generator/0/0/0", "t/generator/0/0/0/f1"]
    assert [call.identity.fork for call in recorder.calls] == [0, 1]
    assert [fields["fork"] for name, fields in recorder.events if name == "fork"] == [1]


async def test_what_a_fork_was_answered_is_never_asked_again_and_each_new_request_opens_another() -> None:
    recorder = MemoryRecorder()
    for prompt, text in (("One.", "1"), ("Two.", "2"), ("Three.", "3")):
        await start(recorder, Reply(text, "m")).complete(request(prompt))
    again = start(recorder, fork=False)
    assert [(await again.complete(request(prompt))).text for prompt in ("Three.", "One.", "Two.")] == ["3", "1", "2"]
    assert again.model.asked == []  # type: ignore[attr-defined]
    assert [call.identity.fork for call in recorder.calls] == [0, 1, 2]


async def test_a_request_that_waits_in_a_batch_under_its_identity_is_forked_too() -> None:
    class Waiting:
        def asked(self, identity: Identity) -> str | None:
            return request("One.").sha if identity == request().identity else None

    caller = start(MemoryRecorder())
    caller.lot = Waiting()  # type: ignore[assignment]
    assert caller.place(request("One.")).identity.fork == 0
    assert caller.place(request("Two.")).identity.fork == 1


def test_forks_have_names_of_their_own_that_sort_behind_the_first() -> None:
    first = Identity("t", "generator", 1, 2, 3)
    assert [first.attempt, first.next.attempt] == ["001.02.03", "001.02.03.f1"]
    assert sorted(["001.02.04", first.next.attempt, first.attempt]) == ["001.02.03", "001.02.03.f1", "001.02.04"]
