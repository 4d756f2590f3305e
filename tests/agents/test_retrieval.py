"""Examples: what is found for a task, what would give it away, and that nothing shown solves it."""

import random
from pathlib import Path

import pytest

from agents import retrieval
from agents.retrieval import Index, computed, examples, known_work, leak, work
from benchmark import kernels, suites
from benchmark.errors import UserError
from benchmark.task import Task
from tools.executor.local import LocalExecutor
from tools.settings import Settings

TASKS: dict[str, Task] = {task.id: task for name in suites.names() for task in suites.load(name).tasks}
KERNELS = kernels.sources()


def found(task: str, count: int = 3) -> list[str]:
    return [example.task.partition("/")[2] for example in examples(TASKS[task], KERNELS, count)]


def hidden(task: str) -> dict[str, str]:
    """Kernels that are kept from a task, each with the reason."""
    asked = work(TASKS[task])
    return {name.partition("/")[2]: why for name in KERNELS if (shown := known_work(name)) and (why := leak(asked, shown))}


def test_bm25_prefers_rare_words_repeated_in_short_documents() -> None:
    documents = {"a": ["the", "row"], "b": ["the", "sum", "sum"], "c": ["the", "sum", *["row"] * 9], "d": ["mask"]}
    assert Index(documents).ranked(["sum", "the"]) == ["b", "c", "a"]
    assert Index(documents).ranked(["mask", "the"])[0] == "d"
    assert Index(documents).ranked(["nothing"]) == []
    assert Index({}).ranked(["sum"]) == []


def test_equal_scores_are_in_the_order_of_names() -> None:
    assert Index({"b": ["sum"], "a": ["sum"]}).ranked(["sum"]) == ["a", "b"]


@pytest.mark.parametrize(
    ("task", "best"),
    [
        ("quick/silu", "sigmoid"),
        ("quick/layer_norm", "batch_norm"),
        ("quick/argmax", "min"),
        ("quick/cross_entropy", "nll_loss"),
        ("kernelbench_x/fused_tanh_linear", "fused_elu_linear"),
        ("kernelbench_x/fused_gelu_conv2d", "fused_relu_conv2d"),
        ("kernelbench_x/grid_sample", "interpolate"),
        ("kernelbench_x/solve", "solve_and_add_scaled_vector"),
    ],
)
def test_the_best_example_is_a_relative(task: str, best: str) -> None:
    assert found(task)[0] == best


@pytest.mark.parametrize(
    ("task", "kept"),
    [
        (
            "quick/gelu",
            {"gelu": "the same operator", "gelu_bf16": "the same operator", "fused_gelu_min": "its work contains the whole task"},
        ),
        ("quick/softmax", {"softmax": "the same operator", "fused_softmax_log": "its work contains the whole task"}),
        ("quick/matmul", {"matmul": "the same operator", "addmm": "its work contains the whole task"}),
        ("quick/rms_norm", {"fused_bmm_rmsnorm_gelu_dropout": "its work contains the whole task"}),
        ("quick/matmul_w8a8", {"bmm_w8a8": "its work contains the whole task", "conv2d_w8a8": "nearly the same reference"}),
        ("kernelbench_x/Adam", {"AdamW": "its work contains the whole task"}),
        (
            "kernelbench_x/fused_bmm_rmsnorm_gelu_dropout_sub",
            {"fused_bmm_rmsnorm_gelu_dropout": "nearly the same reference"},
        ),
        ("quick/silu", {}),
    ],
)
def test_what_would_give_a_task_away_is_kept_from_it(task: str, kept: dict[str, str]) -> None:
    assert kept.items() <= hidden(task).items()
    assert not {*found(task, 99)} & {*hidden(task)}


def test_every_task_finds_examples_and_none_is_of_its_own_operator() -> None:
    works = {name: work(task) for name, task in TASKS.items()}
    texts = {name: TASKS[name].text for name in KERNELS}
    for name, task in TASKS.items():
        asked, shown = works[name], [example.task for example in examples(task, KERNELS, 99)]
        assert shown, name
        assert asked.operators, f"{name}: a reference without a known operator could not be checked"
        assert name not in shown
        assert not [other for other in shown if works[other].operator == asked.operator or texts[other] == task.text]
        assert not [other for other in shown if asked.operators.keys() <= works[other].operators.keys()]


def test_a_task_of_two_suites_hides_the_same_kernels() -> None:
    for task in suites.load("quick").tasks:
        if (twin := f"kernelbench_x/{task.name}") in TASKS:
            assert hidden(task.id) == hidden(twin)


def test_operators_have_one_name_however_they_are_written() -> None:
    assert computed("def f(x, w):\n    return x @ w.T\n") == ["matmul"]
    assert computed("def f(x, w):\n    return torch.nn.functional.linear(x, w)\n") == ["matmul"]
    assert computed("class M(nn.Module):\n    def forward(self, x):\n        return self.layer_norm(x)\n") == ["layernorm"]
    assert computed("def f(x: int | None):\n    return x.reshape(2**3, -1)\n") == []


def test_a_helper_counts_by_its_body() -> None:
    assert sorted(computed("def twice(x):\n    return x * 2\n\n\ndef f(x):\n    return twice(x).exp()\n")) == ["exp", "mul"]


def test_kernels_of_unknown_tasks_and_long_ones_are_left_out() -> None:
    task = TASKS["quick/silu"]
    assert examples(task, {"mine.py:sigmoid": "x", "nowhere/sigmoid": "x"}, 3) == []
    assert examples(task, {"kernelbench_x/sigmoid": "x" * (retrieval.MAX_SOURCE + 1)}, 3) == []


def test_champions_are_read_from_a_run_and_what_is_none_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"no run directory: it has no config\.yaml"):
        retrieval.champions(tmp_path)
    (tmp_path / "config.yaml").write_text("")
    assert retrieval.champions(tmp_path) == {}
    (tmp_path / "best" / "quick").mkdir(parents=True)
    (tmp_path / "best" / "quick" / "silu.py").write_text("y")
    assert retrieval.champions(tmp_path) == {"quick/silu": "y"}


def test_all_our_kernels_fit_into_a_prompt() -> None:
    assert max(map(len, KERNELS.values())) <= retrieval.MAX_SOURCE


def entered(source: str, example: Task, task: Task) -> str:
    """An example as a copyist would hand it in: under the name that the task asks for."""
    return source + f"\n\n{task.entry_name} = kernel_function = {example.entry_name}\n"


@pytest.mark.slow
async def test_no_example_passes_the_task_that_it_is_shown_for(executor: LocalExecutor, pytestconfig: pytest.Config) -> None:
    rng = random.Random(pytestconfig.getoption("--slow-seed"))
    for name in ["quick/gelu", "quick/matmul", *rng.sample(sorted(TASKS), 12)]:
        task = TASKS[name]
        for example in examples(task, KERNELS, 3):
            candidate = entered(example.source, TASKS[example.task], task)
            verdict = await executor.evaluate(candidate, task, Settings(device="simulated", profile="off"))
            assert verdict.verdict != "pass", f"{example.task} solves {name}"
