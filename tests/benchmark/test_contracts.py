"""A contract in words says what a candidate must know, and nothing that does not hold."""

from dataclasses import replace
from typing import Any

import pytest
import torch

from benchmark import contracts, suites
from benchmark.checkers import close, exact
from benchmark.task import Contract, Task, hidden, shown


def scaled(input: torch.Tensor, factor: float = 1.0, inplace: bool = False, out: torch.Tensor | None = None) -> torch.Tensor:
    return input * factor


def task(**contract: Any) -> Task:
    cases = shown({"a": lambda d: {"input": d.normal(3), "factor": 2.0}}) + hidden({"b": lambda d: {"input": d.normal(3)}})
    return Task("t/scaled", "c", "s", scaled, cases, (), Contract(close(), **contract))


def said(task: Task) -> str:
    return "\n".join(contracts.clauses(task))


def test_nothing_is_written_unless_declared() -> None:
    assert "no argument is written" in said(task())
    assert "writes `input` where `inplace` is true and `out` where a tensor is given for it, in place" in said(
        task(mutates=("input if inplace", "out"))
    )


def test_parameters_that_no_case_gives_are_named() -> None:
    assert contracts.never_given(task()) == ["inplace", "out"]
    assert "No input gives `inplace` and `out`: leave them in the signature, at the default." in said(task())
    given = {"input": torch.ones(3), "factor": 1, "inplace": True, "out": torch.ones(3)}
    more = replace(task(), cases=shown({"a": lambda d: given}))
    assert contracts.never_given(more) == []
    assert "No input gives" not in said(more)


def test_a_default_that_a_case_repeats_is_no_other_value() -> None:
    repeated = replace(task(), cases=shown({"a": lambda d: {"input": d.normal(3), "factor": 1.0, "inplace": False}}))
    assert contracts.never_given(repeated) == ["factor", "inplace", "out"]


@pytest.mark.parametrize(("options", "clause"), [
    ({}, "TF32 products do not count as float32."),
    ({"tf32": True}, "TF32 products count as float32."),
    ({"accumulate": "int32"}, "Sums are accumulated in int32"),
    ({"random": True}, "Each call draws anew"),
    ({"random": True}, "`torch.randint(2**31 - 1, (1,)).item()`"),
    ({"notes": ("Halves go to even.",)}, "Halves go to even."),
])  # fmt: skip
def test_clauses_follow_the_declaration(options: dict[str, Any], clause: str) -> None:
    assert clause in said(task(**options))
    assert (clause in said(task())) == (not options)


def test_sums_are_no_matter_of_copies() -> None:
    assert "Sums are" not in said(replace(task(), contract=Contract(exact())))


def test_fields_are_plain_values() -> None:
    fields = contracts.fields(task(mutates=("out",)))
    assert fields["checker"]["name"] == "close"
    assert fields["mutates"] == ["out"]
    assert fields["never_given"] == ["inplace", "out"]
    assert fields["words"] == contracts.clauses(task(mutates=("out",)))


@pytest.mark.parametrize("task", [task for name in suites.names() for task in suites.load(name).tasks], ids=lambda task: task.id)
def test_every_task_has_a_contract_in_whole_sentences(task: Task) -> None:
    for clause in contracts.clauses(task):
        assert clause.endswith("."), clause
        assert ".." not in clause.replace(" .. ", ""), clause
