from dataclasses import replace

import torch

from benchmark.checkers import close, exact
from benchmark.draw import transposed
from benchmark.task import Case, Contract, Task, hidden, shown, timed


def double(x: torch.Tensor) -> torch.Tensor:
    return _twice(x)


def _twice(x: torch.Tensor) -> torch.Tensor:
    return 2 * x


def triple(x: torch.Tensor) -> torch.Tensor:
    return 3 * x


TASK = Task(
    "suite/double", "Math", "here", double,
    shown({"a": lambda d: {"x": d.normal(5, 7)}}) + hidden({"b": lambda d: {"x": d.normal(3, 5)}}),
    timed(lambda d, m, n: {"x": d.normal(m, n)}, ((8, 8), (1 << 20, 1 << 20))), Contract(close()),
)  # fmt: skip


def with_case(make: object) -> str:
    return replace(TASK, cases=(Case("a", make), *TASK.cases[1:])).sha  # type: ignore[arg-type]


def test_arguments_follow_from_task_case_and_seed() -> None:
    case = TASK.cases[0]
    first = case.arguments(TASK.id, 0)["x"]
    assert torch.equal(first, case.arguments(TASK.id, 0)["x"])
    assert not torch.equal(first, case.arguments(TASK.id, 1)["x"])
    assert not torch.equal(first, case.arguments("suite/other", 0)["x"])
    assert not torch.equal(first, replace(case, name="c").arguments(TASK.id, 0)["x"])


def test_names_come_from_the_id() -> None:
    assert (TASK.suite, TASK.name, TASK.entry_name) == ("suite", "double", "double")
    assert TASK.signature == "double(x: torch.Tensor) -> torch.Tensor"


def test_a_task_of_the_users_own_file_is_named_by_its_function() -> None:
    own = replace(TASK, id="./some/my_ops.py:double")
    assert (own.suite, own.name) == ("own", "double")


def test_the_digest_is_the_same_each_time() -> None:
    assert replace(TASK).sha == TASK.sha


def test_the_digest_follows_the_values_of_the_cases_not_their_source() -> None:
    assert with_case(lambda d: {"x": d.normal(*(5, 7))}) == TASK.sha
    assert with_case(lambda d: {"x": d.normal(5, 7, scale=2)}) != TASK.sha
    assert with_case(lambda d: {"x": transposed(d.normal(5, 7))}) != TASK.sha
    assert with_case(lambda d: {"x": d.normal(5, 7).double()}) != TASK.sha


def test_the_digest_follows_functions_contract_visibility_and_timed_sizes() -> None:
    others = [
        replace(TASK, reference=triple),
        replace(TASK, honest=triple),
        replace(TASK, magnitude=triple),
        replace(TASK, contract=Contract(exact())),
        replace(TASK, contract=Contract(close(), tf32=True)),
        replace(TASK, cases=tuple(replace(case, held_out=not case.held_out) for case in TASK.cases)),
        replace(TASK, timing=timed(lambda d, m, n: {"x": d.normal(m, n)}, ((8, 8),))),
    ]
    assert len({task.sha for task in (TASK, *others)}) == len(others) + 1


def scaled(factor: float) -> Task:
    def scale(x: torch.Tensor) -> torch.Tensor:
        return x * factor

    return Task("tests/scale", "", "", scale, (Case("one", lambda draw: {"x": draw.normal(3)}),), (), Contract(close()))


def test_the_digest_follows_what_a_function_has_closed_over() -> None:
    assert scaled(2.0).sha == scaled(2.0).sha
    assert scaled(2.0).sha != scaled(3.0).sha


def test_timed_cases_are_named_by_their_sizes_and_found() -> None:
    assert [case.name for case in TASK.timing] == ["time-8x8", "time-1048576x1048576"]
    assert TASK.case("time-8x8").arguments(TASK.id, 0)["x"].shape == (8, 8)
