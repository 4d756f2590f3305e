"""The suite kernelbench_x: it is the official list, and its cases are of the sizes and kinds that both modes need."""

import inspect
import re
from collections.abc import Iterator
from typing import Any

import pytest
import torch

from benchmark import oracle, suites
from benchmark.probes import Trial, named
from benchmark.task import Arguments, Case, Task
from tests.benchmark.kernelbench_x import SIGNATURES

TASKS = suites.load("kernelbench_x").tasks
GIB = 2**30
COUNTS = {
    "Activation": 10, "Convolution": 2, "Fusion": 60, "Index": 6, "LinearAlgebra": 17, "Loss": 6, "Math": 36, "MatrixMultiply": 10,
    "Normalization": 5, "Optimizer": 5, "Pooling": 2, "Quantization": 6, "Random": 2, "Reduce": 6, "SpatialOps": 3,
}  # fmt: skip
NEVER_GIVEN = {"out", "out_tensor", "inplace", "generator", "layout", "device", "requires_grad", "pin_memory"}
"""Parameters that may stay at their defaults in every case: where the result goes, and what gradients and streams are made of."""
WITHOUT_EFFECT = {
    # After truncation both forms give the same whole numbers.
    "gelu_int8": {"approximate"},
    "fused_gather_masked_fill": {"sparse_grad"},
    "fused_embedding_add_tanh": {"padding_idx", "scale_grad_by_freq", "sparse"},
    "fused_layer_norm_relu_linear": {"elementwise_affine"},
    "fused_instance_norm_selu_conv2d": {"num_features", "momentum", "affine", "track_running_stats"},
    "fused_mv_logsoftmax_dropout": {"dim"},
    "fused_sum_std": {"keepdim"},
    "fused_repeat_interleave_log_softmax": {"output_size"},
    "invert_matrix_lu": {"pivot"},
    "determinant_lu": {"pivot"},
    "determinant_via_qr": {"mode"},
    "pseudoinverse_svd": {"full_matrices"},
    "low_rank_svd_approximation": {"full_matrices"},
    "rand": {"device"},
    "logspace": {"device"},
}
"""Options that do not change what is right, as the semantics say; and `inplace` where nothing that the caller sees is written."""
ONE_DTYPE = ("_fp16", "_bf16", "_int8", "fused_qr_solve")
"""Ends of names of operators that are defined for one dtype."""
any_task = pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)


def tensors(arguments: Arguments) -> list[torch.Tensor]:
    return list(named(arguments).values())


def layouts(task: Task, cases: tuple[Case, ...]) -> Iterator[tuple[Case, Arguments]]:
    for case in cases:
        yield case, case.arguments(task.id, 0, "meta")


def without_annotations(task: Task) -> str:
    signature = inspect.signature(task.reference)
    plain = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in signature.parameters.values()]
    return task.entry_name + str(inspect.Signature(plain))


def test_official_list_has_176_names_in_15_categories() -> None:
    assert {category: len(names) for category, names in SIGNATURES.items()} == COUNTS
    assert sum(COUNTS.values()) == 176


@pytest.mark.parametrize("category", COUNTS)
def test_category_holds_the_official_names_once(category: str) -> None:
    names = [task.name for task in TASKS if task.category == category]
    assert sorted(names) == sorted(SIGNATURES[category])


def test_ids_are_the_suites_and_categories_the_official_ones() -> None:
    assert [task.id for task in TASKS if task.id != f"kernelbench_x/{task.name}"] == []
    assert {task.category for task in TASKS} == set(COUNTS)


def test_quick_refers_to_these_declarations() -> None:
    ours = {task.name: task for task in TASKS}
    shared = [(task, ours[task.name]) for task in suites.load("quick").tasks if task.name in ours]
    assert len(shared) == 9
    assert all(quick.cases == own.cases and quick.reference is own.reference for quick, own in shared)


@any_task
def test_signature_is_the_official_one(task: Task) -> None:
    assert without_annotations(task) == SIGNATURES[task.category][task.name]


@any_task
def test_semantics_are_said(task: Task) -> None:
    assert len((inspect.getdoc(task.reference) or "").split()) >= 8


@pytest.mark.sampled(40)
@any_task
def test_honest_computation_passes_every_case(task: Task) -> None:
    for case in [case for case in task.cases if not case.device_only]:
        trial = Trial(task, case, 3)
        check = trial.check(trial.oracle.honest)
        assert check.ok, (case.name, check.message)


@any_task
def test_has_seven_shown_cases_and_three_held_out_ones(task: Task) -> None:
    held_out = sum(case.held_out for case in task.cases)
    assert held_out >= 3
    assert 7 <= len(task.cases) - held_out <= 12


@any_task
def test_has_views_and_more_than_one_dtype(task: Task) -> None:
    given = [tensor for _, arguments in layouts(task, task.cases) for tensor in tensors(arguments)]
    if given:
        assert any(not tensor.is_contiguous() for tensor in given)
        assert len({tensor.dtype for tensor in given}) > 1 or task.name.endswith(ONE_DTYPE)


@any_task
def test_every_option_is_given_by_a_case(task: Task) -> None:
    given = {name for _, arguments in layouts(task, task.cases) for name in arguments}
    assert set(inspect.signature(task.reference).parameters) - given <= NEVER_GIVEN


@any_task
def test_an_option_that_is_ignored_is_refused_in_a_case(task: Task) -> None:
    torch.manual_seed(0)
    passed: dict[str, bool] = {}
    for case in [case for case in task.cases if not case.device_only]:
        trial = Trial(task, case, 0)
        for name in options(task, trial.arguments):
            passed[name] = passed.get(name, True) and passes_without(trial, name)
    unseen = set() if "inplace" in " ".join(task.contract.mutates) else {"inplace"} & passed.keys()
    assert {name for name, ok in passed.items() if ok} == WITHOUT_EFFECT.get(task.name, set()) | unseen


def options(task: Task, arguments: Arguments) -> list[str]:
    """Those that are given another value than their default's, but for places for results."""
    defaults = {name: parameter.default for name, parameter in inspect.signature(task.reference).parameters.items()}
    given = [name for name in arguments if defaults.get(name, inspect.Parameter.empty) is not inspect.Parameter.empty]
    others = [name for name in given if isinstance(arguments[name], torch.Tensor) or arguments[name] != defaults[name]]
    return [name for name in others if name not in ("out", "out_tensor")]


def passes_without(trial: Trial, name: str) -> bool:
    """Whether the honest computation passes that is not given an option."""
    own = oracle.copied(trial.arguments)
    left_out = own.pop(name)
    try:
        result = oracle.call(trial.task.honest or trial.task.reference, own)
    except (RuntimeError, TypeError, ValueError, AssertionError, IndexError):
        return False
    return trial.check(oracle.outputs(trial.task, result, {**own, name: left_out})).ok


@any_task
def test_semantics_and_cases_agree_on_whether_a_place_for_the_result_is_given(task: Task) -> None:
    given = {name for _, arguments in layouts(task, task.cases) for name in arguments}
    words = " ".join((inspect.getdoc(task.reference) or "").split())
    for name in {"out", "out_tensor"} & set(inspect.signature(task.reference).parameters):
        never = re.search(rf"`{name}`[^.]* (is always None|keep their defaults) here", words)
        assert (name in given) == (not never)
        assert f"`{name}`" in words


@any_task
def test_what_the_contract_writes_is_written_in_a_case(task: Task) -> None:
    written = {name for case in task.cases for name in task.contract.written(case.arguments(task.id, 0, "meta"))}
    assert written == {clause.partition(" if ")[0] for clause in task.contract.mutates}


@any_task
def test_correctness_cases_are_small_enough_for_an_interpreter(task: Task) -> None:
    """And so that each stays far below 1 GiB, its oracle included."""
    for case, arguments in layouts(task, tuple(case for case in task.cases if not case.device_only)):
        assert max((tensor.numel() for tensor in tensors(arguments)), default=0) <= 1 << 16, case.name


@any_task
def test_timed_sizes_fit_into_8_gib_with_the_oracle(task: Task) -> None:
    """Inputs, a copy, fp64 inputs and three fp64 intermediates; outputs with their copies and fp64 twin."""
    assert 3 <= len(task.timing) <= 4
    for case, arguments in layouts(task, task.timing):
        inputs = tensors(arguments)
        assert all(tensor.device.type == "meta" for tensor in inputs), f"{case.name} draws elsewhere than on the device"
        own = sum(tensor.numel() * tensor.element_size() for tensor in inputs)
        wide = 8 * max((tensor.numel() for tensor in inputs), default=0)
        produced = sum(tensor.numel() * (4 * tensor.element_size() + 8) for tensor in results(task, arguments))
        assert 2 * own + 4 * wide + produced < 8 * GIB, case.name


def results(task: Task, arguments: Arguments) -> list[Any]:
    """The outputs by their shapes; of an operator whose output depends on values, what it gets."""
    try:
        return oracle.flattened(oracle.call(task.reference, arguments))
    except (NotImplementedError, RuntimeError):
        return tensors(arguments)


@any_task
def test_timed_sizes_grow_from_case_to_case(task: Task) -> None:
    sizes = [work(task, arguments) for _, arguments in layouts(task, task.timing)]
    assert sizes == sorted(sizes)
    assert sizes[-1] > 8 * sizes[0]


def work(task: Task, arguments: Arguments) -> int:
    return sum(tensor.numel() for tensor in tensors(arguments)) or sum(tensor.numel() for tensor in results(task, arguments))
