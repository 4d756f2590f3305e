"""The quick suite: what honest kernels may do is accepted, what the contracts forbid is not."""

import pytest
import torch

from benchmark import oracle, suites
from benchmark.probes import Trial
from benchmark.task import Case, Task
from tests.benchmark.alternatives.quick import BY_TASK

TASKS = suites.load("quick").tasks
GIB = 2**30
ASKED = {
    "add", "gelu", "silu", "sum", "argmax", "softmax", "layer_norm", "rms_norm", "cross_entropy", "matmul", "fused_add_gelu", "matmul_w8a8"
}  # fmt: skip
any_task = pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)


def outputs(trial: Trial, function: object) -> tuple[torch.Tensor, ...]:
    arguments = oracle.copied(trial.arguments)
    return oracle.outputs(trial.task, function(**arguments), arguments)  # type: ignore[operator]


def dtypes(task: Task, cases: tuple[Case, ...]) -> set[torch.dtype]:
    values = [value for case in cases for value in case.arguments(task.id, 0, "meta").values()]
    return {value.dtype for value in values if isinstance(value, torch.Tensor)}


def test_holds_the_twelve_operators() -> None:
    assert {task.name for task in TASKS} == ASKED
    assert {task.id for task in TASKS} == {f"quick/{name}" for name in ASKED}


@any_task
@pytest.mark.parametrize("seed", [3, 4])
def test_honest_computation_passes_every_case(task: Task, seed: int) -> None:
    for case in task.cases:
        trial = Trial(task, case, seed)
        check = trial.check(trial.oracle.honest)
        assert check.ok, (case.name, check.message)


@any_task
@pytest.mark.parametrize("seed", [5, 6])
def test_other_honest_algorithms_pass_every_case(task: Task, seed: int) -> None:
    for function in BY_TASK[task.name]:
        for case in task.cases:
            trial = Trial(task, case, seed)
            check = trial.check(outputs(trial, function))
            assert check.ok, (case.name, check.message)


@any_task
def test_has_cases_in_three_float_dtypes_and_no_exemption(task: Task) -> None:
    assert dtypes(task, task.cases) >= {torch.float32, torch.float16, torch.bfloat16}
    assert task.exempt == {}


@any_task
def test_has_views_and_two_held_out_cases(task: Task) -> None:
    tensors = [value for case in task.cases for value in case.arguments(task.id, 0).values() if isinstance(value, torch.Tensor)]
    assert any(not tensor.is_contiguous() for tensor in tensors)
    assert sum(case.held_out for case in task.cases) >= 2
    assert 8 <= len(task.cases) <= 12


@any_task
def test_correctness_cases_are_small_enough_for_an_interpreter(task: Task) -> None:
    for case in task.cases:
        tensors = [value for value in case.arguments(task.id, 0, "meta").values() if isinstance(value, torch.Tensor)]
        assert max(tensor.numel() for tensor in tensors) <= 8192, case.name


@any_task
def test_timed_sizes_fit_into_8_gib_with_the_oracle(task: Task) -> None:
    """Inputs, a copy, fp64 inputs and three fp64 intermediates; outputs with their copies and fp64 twin."""
    assert 3 <= len(task.timing) <= 4
    for case in task.timing:
        arguments = case.arguments(task.id, 0, "meta")
        inputs = [value for value in arguments.values() if isinstance(value, torch.Tensor)]
        results = oracle.flattened(task.reference(**arguments))
        own = sum(tensor.numel() * tensor.element_size() for tensor in inputs)
        wide = 8 * max(tensor.numel() for tensor in inputs)
        produced = sum(tensor.numel() * (4 * tensor.element_size() + 8) for tensor in results)
        assert 2 * own + 4 * wide + produced < 8 * GIB, case.name


@any_task
def test_sizes_grow_from_case_to_case(task: Task) -> None:
    sizes = [sum(v.numel() for v in case.arguments(task.id, 0, "meta").values() if isinstance(v, torch.Tensor)) for case in task.timing]
    assert sizes == sorted(sizes)
    assert sizes[-1] > 32 * sizes[0]


def test_a_matmul_without_quantisation_fails_matmul_w8a8_wherever_rounding_counts() -> None:
    task = suites.find("quick/matmul_w8a8")
    for case in task.cases:
        trial = Trial(task, case, 1)
        check = trial.check(outputs(trial, task.wrong["no quantisation"]))
        assert not check.ok or case.name == "one", case.name


def test_a_variance_from_squares_fails_layer_norm_on_shifted_rows() -> None:
    task = suites.find("quick/layer_norm")
    trial = Trial(task, task.case("shifted"), 1)
    x, bias = trial.arguments["input"], trial.arguments["bias"]
    mean = x.mean(1, keepdim=True)
    careless = (x - mean) * torch.rsqrt((x * x).mean(1, keepdim=True) - mean * mean + 1e-5) + bias
    assert trial.check((careless,)).kind == "wrong_numeric"


def test_accumulation_in_half_precision_fails_matmul() -> None:
    task = suites.find("quick/matmul")
    trial = Trial(task, task.case("fp16"), 1)
    a, b = trial.arguments["tensor1"], trial.arguments["tensor2"]
    total = torch.zeros(a.shape[0], b.shape[1], dtype=a.dtype)
    for k in range(a.shape[1]):
        total = total + a[:, k : k + 1] * b[k]
    assert trial.check((total,)).kind == "wrong_numeric"


def test_softmax_without_its_maximum_is_not_finite_on_large_logits() -> None:
    task = suites.find("quick/softmax")
    trial = Trial(task, task.case("large"), 1)
    assert trial.check(outputs(trial, task.wrong["no maximum subtracted"])).kind == "nonfinite"
