"""Lint passes the quick suite and catches tasks that could be solved without solving them."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch

from benchmark import lint, suites
from benchmark.checkers import close, uniform
from benchmark.probes import Trial, probes
from benchmark.task import Arguments, Check, Contract, Maker, Oracle, Task, hidden, shown, timed


def task(reference: Callable[..., Any], make: Maker, checker: Any = None, **options: Any) -> Task:
    cases = shown({"a": make, "b": make}) + hidden({"c": make, "d": make})
    return Task("t/op", "c", "s", reference, cases, (), Contract(checker or close()), **options)


def two(draw: Any) -> Arguments:
    return {"x": draw.normal(5, 32), "y": draw.normal(5, 32)}


def sound(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return x * torch.sigmoid(y)


def faults(made: Task) -> list[str]:
    return lint.lint(made).faults


def test_a_sound_task_has_no_faults() -> None:
    assert faults(task(sound, two)) == []


def test_a_constant_output_is_caught() -> None:
    found = faults(task(lambda x, y: torch.full_like(x, 0.5), two))
    assert "the output does not vary with seed" in found
    assert "the output does not vary with x" in found
    assert "previous fails on no case" in found


def test_an_output_of_zeros_is_caught() -> None:
    assert "zeros fails on no case" in faults(task(lambda x, y: 0 * x, two))


def test_an_input_without_influence_is_caught() -> None:
    assert faults(task(lambda x, y: x * torch.sigmoid(x), two)) == ["the output does not vary with y"]


def test_an_identity_is_caught() -> None:
    found = faults(task(lambda x, y: x + y * 1e-9, two))
    assert "a: input x passes" in found
    assert "the output does not vary with y" in found
    assert "input x fails on no case" in faults(task(lambda x, y: x.clone(), two))


class Loose(close):
    """A checker that nothing fails."""

    def __call__(self, oracle: Oracle, actual: tuple[torch.Tensor, ...], arguments: Arguments) -> Check:
        return Check(True)


def test_a_loose_checker_is_caught_by_every_probe() -> None:
    found = faults(task(sound, two, Loose()))
    for probe in ("zeros", "ones", "mean", "input x", "input y", "previous", "lower"):
        assert f"a: {probe} passes" in found


def test_a_tolerance_that_lets_the_next_lower_precision_pass_is_caught() -> None:
    found = faults(task(sound, lambda d: {"x": d.normal(5, 32), "y": d.normal(5, 32)}, close(terms=1e5), magnitude=lambda x, y: x.abs()))
    assert "a: lower passes" in found
    assert "a: zeros passes" not in found


def test_a_checker_that_no_honest_kernel_meets_is_caught() -> None:
    found = faults(task(sound, two, honest=lambda x, y: (x.bfloat16() * torch.sigmoid(y.bfloat16())).float()))
    assert any(fault.startswith("a: the honest computation fails") for fault in found)


def test_a_reference_that_writes_its_argument_is_caught() -> None:
    assert "a: the reference writes x, which the contract does not say" in faults(task(lambda x, y: x.mul_(y), two))


def test_wrong_answers_of_the_tasks_own_must_fail() -> None:
    assert faults(task(sound, two, wrong={"no gate": lambda x, y: x})) == []
    assert faults(task(sound, two, wrong={"slow": lambda x, y: y.sigmoid() * x * (1 + 1e-7)})) == ["slow fails on no case"]


def test_an_output_too_many_is_a_wrong_answer() -> None:
    assert faults(task(sound, two, wrong={"twice": lambda x, y: (sound(x, y), sound(x, y))})) == []


def test_an_exemption_is_proved() -> None:
    zeros = task(lambda x, y: torch.zeros_like(x), two, exempt={"zeros": "it returns zeros"})
    assert not any("zeros" in fault for fault in faults(zeros))
    needless = faults(task(sound, two, exempt={"zeros": "no reason"}))
    assert needless == ["zeros is exempt (no reason) and yet wrong on 4 cases"]


def test_held_out_cases_and_unique_names_are_asked_for() -> None:
    made = task(sound, two)
    assert "1 held-out cases, where two are needed" in faults(replace(made, cases=made.cases[:3]))
    assert "two cases are named 'a'" in faults(replace(made, cases=(*made.cases, made.cases[0])))


def test_inputs_are_shown_in_the_outputs_shape_and_dtype() -> None:
    shown = dict(probes(Trial(suites.find("quick/argmax"), suites.find("quick/argmax").case("fp32"), 0)))
    assert (shown["input input_tensor"].__len__(), shown["input input_tensor"][0].dtype) == (1, torch.int64)


def test_the_quick_suite_passes(capsys: pytest.CaptureFixture[str]) -> None:
    assert lint.main(["--suite", "quick"]) == 0
    assert "0 tasks with exemptions, 0 tasks with faults" in capsys.readouterr().out


def test_a_fault_is_exit_code_3(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    cases = shown({"plain": lambda d: {"x": d.normal(64)}})
    task = Task("some/f", "Own", "torch", lambda x: x, cases, (), Contract(close()))
    monkeypatch.setattr(suites, "find", lambda task_id: task)
    assert lint.main(["--task", "some/f"]) == 3
    assert "input x fails on no case" in capsys.readouterr().out


def test_what_a_reference_raises_is_a_fault_of_that_case() -> None:
    def picky(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        if x.shape[0] == 0:
            raise ValueError("nothing to do\nat all")
        return sound(x, y)

    made = task(picky, two)
    found = faults(replace(made, cases=(*made.cases, *shown({"empty": lambda d: {"x": d.normal(0, 3), "y": d.normal(0, 3)}}))))
    assert found == ["empty: ValueError: nothing to do"]


def test_each_tensor_of_a_list_must_count() -> None:
    made = task(lambda x: x[0] * torch.sigmoid(x[0]) + x[1], lambda d: {"x": [d.normal(5, 32), d.normal(5, 32), d.normal(5, 32)]})
    assert faults(made) == ["the output does not vary with x[2]"]


def test_a_written_tensor_of_a_list_is_caught() -> None:
    assert "a: the reference writes x[1], which the contract does not say" in faults(
        task(lambda x: x[1].mul_(x[0]) * 1, lambda d: {"x": [d.normal(5, 32), d.normal(5, 32)]})
    )


class Deaf(uniform):
    """Does not hear that a result was given before."""

    def fresh(self, oracle: Oracle, first: Any, second: Any, arguments: Arguments) -> Check:
        return Check(True)


class Suspicious(uniform):
    """Takes all results for repeated ones."""

    def fresh(self, oracle: Oracle, first: Any, second: Any, arguments: Arguments) -> Check:
        return Check(False, "wrong_numeric", "seen before")


def test_a_random_contract_must_tell_new_results_from_repeated_ones() -> None:
    sound = suites.find("kernelbench_x/rand")
    found = {
        checker: faults(replace(sound, contract=replace(sound.contract, checker=checker()))) for checker in (uniform, Deaf, Suspicious)
    }
    assert found[uniform] == []
    assert found[Deaf] == ["repeated fails on no case"]
    assert "fp32: two honest calls fail: seen before" in found[Suspicious]


def test_quick_may_have_no_exemption_and_all_suites_forty(capsys: pytest.CaptureFixture[str]) -> None:
    made = replace(task(lambda x, y: torch.zeros_like(x), two, exempt={"zeros": "it returns zeros"}), id="quick/nothing")
    assert "no task of quick may be exempt from anything" in faults(made)
    exempt = lint.Finding("t/op", 4, 2, {"zeros": "it returns zeros"}, ())
    assert (lint.report([exempt] * 40), lint.report([exempt] * 41)) == (0, 3)
    assert "exempt: t/op: zeros: it returns zeros" in capsys.readouterr().out


def test_timed_sizes_are_looked_at_where_asked() -> None:
    made = replace(task(sound, two), timing=timed(lambda d, n: {"x": d.normal(n), "y": d.normal(n - 1)}, ((64,),)))
    assert faults(made) == []
    assert lint.lint(made, timing=True).faults[0].startswith("time-64: RuntimeError: The size of tensor a (64)")


def test_processes_share_the_tasks(capsys: pytest.CaptureFixture[str]) -> None:
    assert lint.main(["--task", "quick/add", "--task", "quick/sum", "--task", "quick/silu", "--workers", "2"]) == 0
    rows = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert rows == ["task", "quick/add", "quick/sum", "quick/silu", "3"]


def test_a_sample_of_all_suites(capsys: pytest.CaptureFixture[str]) -> None:
    chosen = [lint.chosen(lint.parser().parse_args(["--limit", "3", "--sample-seed", seed])) for seed in ("1", "1", "2")]
    assert chosen[0] == chosen[1] != chosen[2]
    assert len(chosen[0]) == 3


@pytest.mark.parametrize(
    "arguments", [["--suite", "quik"], ["--task", "quick/gelo"], ["--task", "none.py:f"], ["--category", "Redcue"], ["--device", "moon"]]
)
def test_a_mistake_is_exit_code_2_and_one_line(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert lint.main(arguments) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_place_for_results_need_not_influence_them() -> None:
    def into(x: torch.Tensor, out: torch.Tensor) -> torch.Tensor:
        return torch.mul(x, 3, out=out)

    def make(draw: Any) -> Arguments:
        return {"x": draw.normal(5, 32), "out": torch.full((5, 32), torch.nan)}

    assert faults(replace(task(into, make), contract=Contract(close(), mutates=("out",)))) == []
