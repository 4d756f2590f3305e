"""The judge's line to a reference sandbox: whatever comes back, the task is at fault and never a candidate, and nothing is believed."""

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch

from tools.executor.channel import Channel, Closed, Message
from tools.executor.judge.fault import TaskFault
from tools.executor.judge.references import Line

Reply = Callable[[Message], Message | None]
TENSOR = {"t": {"dtype": "float32", "shape": [2], "strides": [1], "offset": 0, "extent": 2}}


@pytest.fixture
def line() -> Iterator[Callable[[Reply], Line]]:
    """A line to somebody who answers as `reply` says; who answers None hangs up."""
    made: list[Line] = []

    def start(reply: Reply) -> Line:
        ours, theirs = Channel.pair()
        made.append(Line(ours, torch.zeros(1 << 16, dtype=torch.uint8), (), "cpu", "1"))

        def serve() -> None:
            other = Channel(theirs)
            try:
                while (answer := reply(request := other.receive())) is not None:
                    other.send({"id": request["id"]} | answer)
            except Closed:
                return
            other.close()

        threading.Thread(target=serve, daemon=True).start()
        return made[-1]

    yield start
    for one in made:
        one.close()


def says(line: Line, **request: Any) -> str:
    with pytest.raises(TaskFault) as fault:
        line.ask({"op": "inputs"} | request, 5.0)
    return str(fault.value)


def test_inputs_are_read_by_their_layout(line: Callable[[Reply], Line]) -> None:
    found = line(lambda request: {"arguments": {"x": TENSOR, "k": {"v": 3}}}).inputs({}, 0, "cpu")
    assert torch.equal(found["x"], torch.zeros(2))
    assert found["k"] == 3


@pytest.mark.parametrize(
    "node",
    [
        {"t": {**TENSOR["t"], "extent": 1 << 40, "shape": [1 << 40]}}, {"t": {**TENSOR["t"], "offset": 1 << 20}}, {"x": "object"}, 3,
        {"t": {**TENSOR["t"], "dtype": "load"}},
    ],
)  # fmt: skip
def test_a_forged_layout_is_the_tasks_fault(line: Callable[[Reply], Line], node: Any) -> None:
    with pytest.raises(TaskFault):
        line(lambda request: {"arguments": {"x": node}}).inputs({}, 0, "cpu")


def test_arguments_that_are_no_object_are_the_tasks_fault(line: Callable[[Reply], Line]) -> None:
    with pytest.raises(TaskFault, match="what is no answer"):
        line(lambda request: {"arguments": [1]}).inputs({}, 0, "cpu")


def test_what_the_reference_says_of_its_failure_is_passed_on(line: Callable[[Reply], Line]) -> None:
    assert says(line(lambda request: {"error": {"kind": "runtime_error", "message": "no"}})) == "the reference fails: no"
    assert says(line(lambda request: {"user_error": "draw again"})) == "draw again"


def test_who_hangs_up_is_asked_nothing_more(line: Callable[[Reply], Line]) -> None:
    asked: list[Message] = []
    made = line(lambda request: asked.append(request))
    assert says(made) == says(made) == "the reference's process ended before it answered"
    assert len(asked) == 1


def test_who_does_not_answer_in_time_is_asked_nothing_more(line: Callable[[Reply], Line]) -> None:
    made = line(lambda request: threading.Event().wait(1.0) or None)
    with pytest.raises(TaskFault, match="no answer in time"):
        made.ask({"op": "inputs"}, 0.1)
    with pytest.raises(TaskFault, match="no answer in time"):
        made.ask({"op": "inputs"}, 60.0)


def test_an_answer_to_another_question_is_passed_over(line: Callable[[Reply], Line]) -> None:
    made = line(lambda request: {"id": 7})
    with pytest.raises(TaskFault, match="no answer in time"):
        made.ask({"op": "inputs"}, 0.2)


def test_facts_of_a_timed_size_are_numbers_or_a_fault() -> None:
    facts = {"flush_us": 1.5, "free_bytes": 10, "input_bytes": 4}
    assert Line.facts(facts | {"more": "text"}) == facts
    for wrong in (facts | {"free_bytes": "many"}, {}):
        with pytest.raises(TaskFault):
            Line.facts(wrong)


def test_an_answer_is_no_larger_than_the_memory_that_it_lies_in(line: Callable[[Reply], Line]) -> None:
    whole = {"t": {**TENSOR["t"], "extent": 1 << 12, "shape": [1 << 12]}}
    several = {str(number): whole for number in range(3)}
    with pytest.raises(TaskFault, match="several times"):
        line(lambda request: {"arguments": several}).inputs({}, 0, "cpu")
    many = {"t": {**TENSOR["t"], "extent": 1, "shape": [1 << 40], "strides": [0]}}
    with pytest.raises(TaskFault, match="more elements"):
        line(lambda request: {"arguments": {"x": many}}).inputs({}, 0, "cpu")


WORK = {"read": 8, "written": 8, "products": {"float32": 2.0}, "plain": 2.0, "sure_read": 8, "sure_products": {}, "notes": ["all"]}
OPERATION = {"name": "mul", "read": 8, "written": 8, "products": 0.0, "dtype": "float32", "tiles": 1, "reduction": False}


def test_estimates_are_numbers_or_a_fault(line: Callable[[Reply], Line]) -> None:
    honest = line(lambda request: {"work": WORK, "eager": [OPERATION]})
    assert (honest.work({}).moved, honest.eager({})) == (16, [OPERATION])
    assert line(lambda request: {"work": None, "eager": None}).work({}) is None
    wrong = [WORK | {"read": "many"}, WORK | {"sure_read": -1}, WORK | {"products": [1]}, {"read": 8}, "much"]
    for work in wrong:
        with pytest.raises(TaskFault):
            line(lambda request, work=work: {"work": work, "eager": None}).work({})
    for operations in ([3], [OPERATION | {"tiles": 0}], None, [{"name": "mul"}]):
        with pytest.raises(TaskFault):
            line(lambda request, operations=operations: {"work": WORK, "eager": operations}).eager({})
