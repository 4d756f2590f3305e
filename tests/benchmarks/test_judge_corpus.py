"""Agreement with recorded verdicts: what is said of a kernel, apart from how it is judged."""

import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmark.suites import find
from tools.evaluation import CaseResult, Evaluation, Failure

ROOT = Path(__file__).resolve().parents[2]
RELU = """
import torch
import triton
import triton.language as tl


@triton.jit
def relu_kernel(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.maximum(tl.load(x + at, mask=at < n), 0.0), mask=at < n)


def relu(input, inplace=False):
    y = torch.empty_like(input)
    relu_kernel[(triton.cdiv(input.numel(), 1024),)](input.view(-1), y.view(-1), input.numel(), BLOCK=1024)
    return y
"""


@pytest.fixture(scope="module")
def judge() -> Any:
    spec = importlib.util.spec_from_file_location("judge_corpus", ROOT / "benchmarks/judge_corpus.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def record(task: str, right: bool, source: str = "", number: int = 0) -> dict[str, Any]:
    return {"task": task, "round": number, "source": source, "recorded": {"exe_ok": right}, "h200": {"exe": right}}


def evaluation(verdict: str, correct: bool, **cases: bool) -> Evaluation:
    results = [CaseResult(name.replace("_", "-"), False, ok) for name, ok in cases.items()]
    error = None if verdict == "pass" else Failure(verdict, "what is wrong")
    return Evaluation("", "", verdict=verdict, stage="correctness", correct=correct, cases=results, error=error)


@pytest.mark.parametrize(
    ("recorded", "task"),
    [("Math/abs", "kernelbench_x/abs"), ("Math/sqrt", "corpus/sqrt"), ("Optimizer/Lion", "kernelbench_x/Lion"), ("Math/nothing", "")],
)
def test_a_recorded_kernel_finds_its_task_in_one_of_both_suites(judge: Any, recorded: str, task: str) -> None:
    found = judge.task_of(recorded)
    assert (found.id if found else "") == task


def test_plain_cases_are_those_that_the_original_harness_has(judge: Any) -> None:
    plain = judge.plain_cases(find("corpus/sqrt"))
    assert {"fp32", "large"} <= plain
    assert not plain & {"fp16", "bf16", "transposed", "empty", "strided-bf16", "tiny"}


def test_a_kernel_that_fails_beyond_the_plain_cases_is_plainly_right(judge: Any) -> None:
    found = judge.judged(
        record("Math/erf", True), find("corpus/sqrt"), evaluation("runtime_error", False, fp32=True, large=True, transposed=False)
    )
    assert found.plain == "2/2"
    assert found.plainly_right
    assert not found.right
    assert found.cause == "only where the original harness does not look: transposed"


def test_a_cause_is_given_where_verdicts_differ_and_nowhere_else(judge: Any) -> None:
    task = find("kernelbench_x/Lion")
    assert (
        judge.judged(record("Optimizer/Lion", True), task, evaluation("wrong_numeric", False, fp32=True, still=False)).cause
        == "sign(0) is -1"
    )
    assert judge.judged(record("Optimizer/Lion", False), task, evaluation("compile_error", False)).cause == ""
    unknown = judge.judged(record("Math/erf", True), find("corpus/sqrt"), evaluation("wrong_numeric", False, fp32=False))
    assert unknown.cause == "what is wrong"


def test_the_summary_counts_what_agrees(judge: Any) -> None:
    task = find("corpus/sqrt")
    results = [
        judge.judged(record("Math/sqrt", True, "x = 1", 7), task, evaluation("pass", True, fp32=True)),
        judge.judged(record("Math/sqrt", True, "x = (", 8), task, evaluation("syntax_error", False)),
        judge.judged(record("Math/sqrt", False, "x = 1", 9), task, evaluation("not_triton", True, fp32=True)),
    ]
    text = judge.summary(results)
    assert "3 kernels, 2 parse; 2 recorded correct, 1 are both." in text
    assert "Numbers right: 1 of the 1" in text
    assert "`not_triton`: Math/sqrt 9." in text
    assert judge.table(results).count("\n") == len(results) + 1


@pytest.mark.slow
def test_a_file_is_judged_on_the_simulated_device(judge: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    autocast = "import torch\n\ndef autocast(device_type):\n    return torch.autocast(device_type)\n"
    lines = [record("Activation/relu", True, RELU), record("Math/autocast", True, autocast)]
    (tmp_path / "kernels.jsonl").write_text("\n".join(map(json.dumps, lines)))
    arguments = ["judge_corpus.py", str(tmp_path / "kernels.jsonl"), "--device", "simulated", "--out", str(tmp_path / "out")]
    monkeypatch.setattr(sys, "argv", arguments)
    judge.main()
    relu, context = map(json.loads, (tmp_path / "out/evaluations.jsonl").read_text().splitlines())
    assert relu["cause"].startswith("NaN becomes 0")
    assert (context["evaluation"]["verdict"], context["evaluation"]["correct"]) == ("not_triton", True)
    assert "| Activation/relu 0 | yes | yes | yes | no |" in (tmp_path / "out/agreement.md").read_text()
