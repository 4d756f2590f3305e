"""How our verdicts agree with recorded ones, on kernels that language models wrote for operators of KernelBench-X.

`python benchmarks/judge_corpus.py FILE [--device auto|simulated|cuda] [--timing off] [--out FOLDER] [--workers 1]`. A line of FILE is
`{"task": "Category/name", "round", "source", "recorded": {"exe_ok", ...}, "h200": {"exe", ...} | null}`: what was recorded when the
kernel was written, and how it did on an H200 in the original harness, where it ran there. Each source is judged against
`kernelbench_x/name`, or `corpus/name` for operators that are not official. What the numbers say stands apart from the verdict: a kernel
that leaves the work to torch may be right and is `not_triton` still. FOLDER gets `evaluations.jsonl` and `agreement.md`; the table is
printed too.
"""

import argparse
import ast
import asyncio
import json
import sys
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmark import suites
from benchmark.task import Case, Task
from tools.evaluation import NO_VERDICT, Evaluation
from tools.executor.local import LocalExecutor
from tools.settings import Settings

AUTOCAST = """

_recorded_autocast = autocast


def autocast(a, b):
    with _recorded_autocast(a.device.type):
        return a @ b
"""
ADAPTERS = {"Math/autocast": AUTOCAST}
"""What is appended to a source whose entry returns no tensors: `autocast` makes a context, which is then used for a product."""
HALF = "what it applies to fp16 values takes float32 only, and does not compile"
EIGENVALUES = "it calls torch's eigenvalues, which on a GPU overwrite a matrix that is stored column by column"
CAUSES = {
    "Activation/relu": "NaN becomes 0; tensors that cannot be viewed flat are refused",
    "Activation/sigmoid 0": "tensors that cannot be viewed flat are refused",
    "Activation/sigmoid 1": "fp16 is answered by a parabola that is no sigmoid; bf16, and tensors that cannot be viewed flat, are refused",
    "Activation/tanh": "(exp(2 x) - 1) / (exp(2 x) + 1) overflows for large x, and cancels for small x",
    "Fusion/fused_conv2d_add": "groups are left out of the convolution; an operand that broadcasts is refused",
    "Fusion/fused_sigmoid_conv2d": HALF,
    "Index/gather": "an index is read by strides of the result, which it has not when transposed",
    "LinearAlgebra/determinant_lu": "fp64 is computed in fp32; without pivots it calls torch's LU, which has that on a GPU only",
    "LinearAlgebra/eig": EIGENVALUES,
    "LinearAlgebra/least_squares_qr": "fp64 is computed in fp32",
    "LinearAlgebra/solve": "the original harness compares the text of an error",
    "Loss/nll_loss": "without reduction, results are stored as many places apart as there are rows, beyond their tensor",
    "Math/abs": "strides are not looked at",
    "Math/floor": HALF,
    "Math/ifftshift": "negative axes are refused",
    "Math/sqrt 0": "strides are not looked at",
    "Math/sqrt 1": HALF,
    "Math/sqrt 2": HALF,
    "MatrixMultiply/matrix_vector_dot": "y is written as a contiguous copy, so that a strided one keeps its old values",
    "MatrixMultiply/scaled_add_norm": "the first program stores its part where others add theirs atomically; the norm of bf16 is fp32",
    "Normalization/batch_norm": "every block updates the running statistics once more; None for them is refused",
    "Normalization/spectral_norm_eig": EIGENVALUES,
    "Optimizer/Lion": "sign(0) is -1",
    "Optimizer/RMSProp": "tensors that are not contiguous are refused",
    "Pooling/max_pool2d": "recorded as wrong without a reason; right on all our cases",
}
"""Why a verdict of ours differs from the recorded one, by `Category/name round`, or for all rounds: found by reading the kernel."""


@dataclass
class Judged:
    """A kernel with its recorded and its present verdict."""

    kernel: str
    """`Category/name round`."""
    parses: bool
    recorded: bool
    h200: bool | None
    evaluation: Evaluation | None
    plain: str
    """Shown cases like those of the original harness (fp32 or integers, nothing strided or empty) that are right, of those tried: `5/5`."""
    wrong: str
    """The cases that are not right."""
    cause: str

    @property
    def right(self) -> bool:
        return self.evaluation is not None and self.evaluation.correct

    @property
    def plainly_right(self) -> bool:
        right, _, tried = self.plain.partition("/")
        return self.right or (right == tried != "0")

    @property
    def row(self) -> list[str]:
        found = self.evaluation
        verdict, stage = (found.verdict, found.stage) if found else ("no task", "")
        ran = {True: "yes", False: "no", None: "-"}
        return [
            self.kernel, ran[self.parses], ran[self.recorded], ran[self.h200], ran[self.right], self.plain, verdict, stage, self.cause
        ]  # fmt: skip


COLUMNS = ("kernel", "parses", "recorded correct", "passed on an H200", "numbers right", "plain cases", "verdict", "stage", "cause")


def task_of(name: str) -> Task | None:
    stem = name.partition("/")[2]
    for suite in ("kernelbench_x", "corpus"):
        found = [task for task in suites.load(suite).tasks if task.name == stem]
        if found:
            return found[0]
    return None


def parses(source: str) -> bool:
    try:
        ast.parse(source)
    except SyntaxError:
        return False
    return True


def is_plain(task: Task, case: Case) -> bool:
    """Whether the original harness has cases of this kind."""
    tensors = [
        item
        for value in case.arguments(task.id, 0, "meta").values()
        for item in (value if isinstance(value, list | tuple) else [value])
        if isinstance(item, torch.Tensor)
    ]
    narrow = any(tensor.dtype in (torch.float16, torch.bfloat16, torch.float64) for tensor in tensors)
    return not narrow and all(tensor.is_contiguous() and tensor.numel() and not tensor.storage_offset() for tensor in tensors)


def plain_cases(task: Task) -> set[str]:
    """Shown cases like those of the original harness."""
    return {case.name for case in task.cases if not case.device_only and not case.held_out and is_plain(task, case)}


def cause_of(kernel: str, recorded: bool, task: Task, evaluation: Evaluation) -> str:
    if evaluation.correct == recorded:
        return ""
    known = CAUSES.get(kernel) or CAUSES.get(kernel.rpartition(" ")[0])
    if known:
        return known
    if evaluation.correct:
        return "right by our cases, and recorded as wrong"
    failed = [case for case in evaluation.cases if not case.ok]
    if failed and not plain_cases(task) & {case.case for case in failed}:
        return f"only where the original harness does not look: {', '.join(case.case for case in failed)}"
    return evaluation.error.message if evaluation.error else ""


def judged(record: dict[str, Any], task: Task | None, evaluation: Evaluation | None) -> Judged:
    kernel, recorded = f"{record['task']} {record['round']}", bool(record["recorded"]["exe_ok"])
    h200 = None if record["h200"] is None else bool(record["h200"]["exe"])
    if task is None or evaluation is None:
        return Judged(kernel, parses(record["source"]), recorded, h200, None, "-", "", "there is no such task")
    wrong = "; ".join(f"{case.case}: {case.kind} {case.message}" for case in evaluation.cases if not case.ok)
    plain = plain_cases(task)
    tried = [case.ok for case in evaluation.cases if case.case in plain]
    share = f"{sum(tried)}/{len(tried)}"
    cause = cause_of(kernel, recorded, task, evaluation)
    return Judged(kernel, parses(record["source"]), recorded, h200, evaluation, share, wrong, cause)


async def judge(records: list[dict[str, Any]], settings: Settings, workers: int) -> list[Judged]:
    executor, limit = LocalExecutor(workers), asyncio.Semaphore(workers)

    async def one(record: dict[str, Any]) -> Judged:
        task = task_of(record["task"])
        if task is None:
            return judged(record, None, None)
        async with limit:
            found = await executor.evaluate(record["source"] + ADAPTERS.get(record["task"], ""), task, settings)
        result = judged(record, task, found)
        print(
            f"{result.kernel}: recorded {result.recorded}, numbers {result.right}, {found.verdict} at {found.stage}",
            file=sys.stderr,
            flush=True,
        )
        return result

    try:
        return await asyncio.gather(*(one(record) for record in records))
    finally:
        await executor.close()


def table(results: list[Judged]) -> str:
    rows = [list(COLUMNS), ["---"] * len(COLUMNS), *([cell.replace("|", "\\|").replace("\n", " ") for cell in r.row] for r in results)]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def summary(results: list[Judged]) -> str:
    parsing = [r for r in results if r.parses]
    correct = [r for r in parsing if r.recorded]
    right = [r for r in correct if r.right]
    ran = [r for r in results if r.h200 is not None]
    none = [r.kernel for r in results if r.evaluation and r.evaluation.verdict == "not_triton"]
    verdicts = Counter(r.evaluation.verdict if r.evaluation else "no task" for r in results)
    both = sum(r.h200 is True and r.right for r in ran), sum(r.h200 is True for r in ran)
    unexplained = [r.kernel for r in correct if not r.right and not r.cause]
    unsure = [r.kernel for r in results if r.evaluation and r.evaluation.verdict in NO_VERDICT]
    return "\n".join([
        f"- {len(results)} kernels, {len(parsing)} parse; {sum(r.recorded for r in results)} recorded correct, {len(correct)} are both.",
        f"- Numbers right: {len(right)} of the {len(correct)}; of {both[1]} that passed on an H200, {both[0]}.",
        f"- Right on each plain case that was tried: {sum(r.plainly_right for r in correct)} of the {len(correct)}.",
        f"- Right though recorded as wrong: {', '.join(r.kernel for r in parsing if r.right and not r.recorded) or 'none'}.",
        f"- Recorded correct, not right, and no cause known: {', '.join(unexplained) or 'none'}.",
        f"- `not_triton`: {', '.join(none) or 'none'}.",
        f"- No verdict: {', '.join(unsure) or 'none'}.",
        f"- Verdicts: {', '.join(f'{name} {count}' for name, count in verdicts.most_common())}.",
    ])  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--timing", default="off", choices=("short", "off"))
    parser.add_argument("--out", type=Path, help="folder for evaluations.jsonl and agreement.md")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--only", default="", help="kernels whose `Category/name round` begins so")
    options = parser.parse_args()
    records = [json.loads(line) for line in options.file.read_text().splitlines()]
    records = [record for record in records if f"{record['task']} {record['round']}".startswith(options.only)]
    settings = Settings(device=options.device, timing=options.timing, profile="off")
    results = asyncio.run(judge(records, settings, options.workers))
    text = f"{summary(results)}\n\n{table(results)}\n"
    print(text)
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
        (options.out / "agreement.md").write_text(text)
        lines = [json.dumps(asdict(result)) for result in results]
        (options.out / "evaluations.jsonl").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
