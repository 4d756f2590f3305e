"""Problems of real checkouts through our importers, and beside them the original harnesses' own call and correctness stages.

`python benchmarks/importers.py CHECKOUTS [--device auto] [--only NAME] [--out FILE]`: CHECKOUTS holds checkouts of `KernelBench`
and `KernelBenchX`, which are read only. For each candidate (`importers_kernels/`, and our kernels for operators of KernelBench-X):
our verdict, whether its numbers are right for us, and what the original harness says of both stages. That one is imported from the
checkout, in a process of its own, with empty modules in the place of packages that these stages do not use (requests, pydantic,
openai, ...), and needs a GPU; without one its columns stay empty. Exit code 3 where numbers are judged otherwise than expected.
"""

import argparse
import asyncio
import contextlib
import importlib
import importlib.util
import io
import json
import os
import subprocess
import sys
import tempfile
import types
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # Runs from a checkout that is not installed.

KERNELS = Path(__file__).resolve().parent / "importers_kernels"
OURS = (
    "gelu", "leaky_relu", "sigmoid", "permute_copy", "sum", "mean", "argmax", "min", "matmul", "mse_loss", "cross_entropy", "mul",
    "index_select", "batch_norm",
)  # fmt: skip
"""Operators of KernelBench-X for which a kernel of our own suite is tried."""
THEIRS_S = 600.0
UNUSED = ("requests", "pydantic", "dotenv", "tqdm", "openai", "litellm", "datasets", "tomli", "radon")
"""What the harnesses import and their call and correctness stages do not use."""


@dataclass(frozen=True)
class Problem:
    suite: str
    name: str
    path: Path
    """The task's file."""
    candidate: Path

    @property
    def id(self) -> str:
        return f"{self.suite}:{self.path}"

    @property
    def expected(self) -> str:
        """By the candidate's first line: `Wrong: ...` and `Plain torch: ...` say what it is."""
        first = self.candidate.read_text(encoding="utf-8").splitlines()[0].lstrip('"')
        return "wrong" if first.startswith("Wrong") else "not_triton" if first.startswith("Plain torch") else "pass"


def problems(checkouts: Path) -> list[Problem]:
    found = []
    for candidate in sorted((KERNELS / "kernelbench").glob("*.py")):
        level, _, stem = candidate.stem.partition("__")
        found.append(Problem("kernelbench", f"{level}/{stem}", checkouts / "KernelBench" / "KernelBench" / level / f"{stem}.py", candidate))
    data = checkouts / "KernelBenchX" / "data" / "kernelbenchx"
    kernels = [
        *(ROOT / "benchmark" / "kernels" / "kernelbench_x" / f"{name}.py" for name in OURS),
        *(KERNELS / "kernelbenchx").glob("*.py"),
    ]
    for candidate in sorted(kernels):
        (path,) = [path for path in data.glob(f"*/{candidate.stem}.py") if path.parent.name[0].isupper()][:1] or [
            data / f"{candidate.stem}.py"
        ]
        found.append(Problem("kernelbenchx", f"{path.parent.name}/{path.stem}", path, candidate))
    return found


async def ours(todo: list[Problem], device: str, workers: int) -> list[dict[str, Any]]:
    from benchmark.errors import UserError
    from tools.executor.local import LocalExecutor
    from tools.platforms import default_targets
    from tools.settings import Settings
    from tools.tasks import Finder

    executor, one_by_one = LocalExecutor(workers=workers), asyncio.Lock()
    settings = Settings(device=device, targets=tuple(default_targets()[:1]), timing="off", profile="off")

    async def judged(problem: Problem, finder: Finder) -> dict[str, Any]:
        try:
            # Files are described one after another, while others are evaluated.
            async with one_by_one:
                task = await asyncio.to_thread(finder.find, problem.id)
        except UserError as error:
            return {"verdict": "task_invalid", "correct": None, "cases": 0, "message": str(error)}
        evaluation = await executor.evaluate(problem.candidate.read_text(encoding="utf-8"), task, settings)
        message = evaluation.error.message if evaluation.error else ""
        print(f"{problem.name}: {evaluation.verdict} {message}", file=sys.stderr, flush=True)
        return {"verdict": evaluation.verdict, "correct": bool(evaluation.correct), "cases": len(evaluation.cases), "message": message}

    try:
        with Finder() as finder:
            return await asyncio.gather(*(judged(problem, finder) for problem in todo))
    finally:
        await executor.close()


def theirs(problem: Problem) -> dict[str, Any]:
    """What the original harness says, from a process of its own."""
    command = [sys.executable, __file__, "--theirs", problem.suite, str(problem.path), str(problem.candidate)]
    with tempfile.TemporaryDirectory() as folder:
        try:
            done = subprocess.run(
                command,
                cwd=folder,
                env=dict(os.environ) | {"PYTHONDONTWRITEBYTECODE": "1"},
                capture_output=True,
                text=True,
                timeout=THEIRS_S,
            )
        except subprocess.TimeoutExpired:
            return {"call": None, "exe": None, "message": f"not done in {THEIRS_S:.0f} s"}
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if not lines:
        return {"call": None, "exe": None, "message": (done.stderr.strip().splitlines() or ["no answer"])[-1][:200]}
    answer: dict[str, Any] = json.loads(lines[-1])
    return answer


class _Anything(types.ModuleType):
    """A module in which every name is a class that takes anything."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {"__init__": lambda self, *args, **fields: vars(self).update(fields)})


def harness(suite: str, path: Path, candidate: Path) -> dict[str, Any]:
    """Runs in a process of its own."""
    for name in UNUSED:
        if importlib.util.find_spec(name) is None:
            sys.modules[name] = _Anything(name)
    # What it prints is no answer.
    with contextlib.redirect_stdout(io.StringIO()):
        return (_kernelbench if suite == "kernelbench" else _kernelbenchx)(path, candidate)


def _kernelbench(path: Path, candidate: Path) -> dict[str, Any]:
    sys.path.insert(0, str(path.parents[2] / "src"))
    import torch

    judge = importlib.import_module("kernelbench.eval")
    found = judge.eval_kernel_against_ref(
        path.read_text(encoding="utf-8"), candidate.read_text(encoding="utf-8"), num_correct_trials=3, backend="triton",
        device=torch.device("cuda", 0),
    )  # fmt: skip
    about = {str(name): str(value)[:200] for name, value in found.metadata.items() if "issue" in name or "error" in name}
    return {"call": bool(found.compiled), "exe": bool(found.correctness), "message": "; ".join(about.values())[:300]}


def _kernelbenchx(path: Path, candidate: Path) -> dict[str, Any]:
    checkout = path.parents[3]
    call, exe = (_module(checkout / "EVAL" / f"{name}.py") for name in ("0_call_acc", "1_exe_acc"))
    box = Path(tempfile.mkdtemp())
    tests = path.read_text(encoding="utf-8").split("#" * 146)[-1]
    called, _, _, stderr, _ = call.run_script_on_gpu((candidate.read_text(encoding="utf-8"), False), tests, path.name, str(box), 0)
    if not called:
        return {"call": False, "exe": None, "message": (stderr.strip().splitlines() or [""])[-1][:300]}
    os.chdir(box)
    right, _, _, message = exe.compare_python_files(str(box / path.name), str(path), exe.load_precision_thresholds())
    return {"call": True, "exe": bool(right), "message": (message.strip().splitlines() or [""])[0][:300]}


def _module(path: Path) -> Any:
    sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location(f"harness_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def table(rows: list[dict[str, Any]]) -> str:
    lines = [
        "| problem | candidate is | our verdict | our cases | our numbers | their call | their exe | agree |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        mine, other = row["ours"], row["theirs"]
        cells = [
            row["problem"],
            row["expected"],
            mine["verdict"],
            mine["cases"],
            _word(mine["correct"]),
            _word(other["call"]),
            _word(other["exe"]),
        ]
        lines.append(f"| {' | '.join(map(str, cells))} | {_word(row['agree'], 'yes', 'NO')} |")
    return "\n".join(lines)


def _word(value: bool | None, yes: str = "right", no: str = "wrong") -> str:
    return "" if value is None else yes if value else no


def row(problem: Problem, mine: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Whether the numbers are judged alike; None where the other side says nothing."""
    passed = bool(other["call"] and other["exe"])
    agree = None if other["call"] is None or mine["correct"] is None else passed == mine["correct"]
    return {"problem": f"{problem.suite} {problem.name}", "expected": problem.expected, "ours": mine, "theirs": other, "agree": agree}


def as_expected(found: dict[str, Any]) -> bool:
    verdict = found["ours"]["verdict"]
    return bool(verdict == found["expected"] if found["expected"] != "wrong" else verdict in ("wrong_numeric", "nonfinite"))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("checkouts", type=Path, nargs="?")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--only", help="part of a problem's name")
    parser.add_argument("--out", type=Path, help="file for a JSON line per problem")
    parser.add_argument("--workers", type=int, default=1, help="problems at a time; first ours, then theirs")
    parser.add_argument("--theirs", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.theirs:
        suite, path, candidate = options.theirs
        print(json.dumps(harness(suite, Path(path), Path(candidate))))
        return 0
    if options.checkouts is None:
        parser.error("give the folder in which the checkouts lie")
    todo = [problem for problem in problems(options.checkouts.resolve()) if (options.only or "") in f"{problem.suite} {problem.name}"]
    import torch

    silent = {"call": None, "exe": None, "message": "the original harness needs a GPU"}
    mine = asyncio.run(ours(todo, options.device, options.workers))
    # Theirs keep tens of GiB of a GPU for a problem: they come when our own processes are gone.
    with ThreadPoolExecutor(options.workers) as pool:
        others = list(pool.map(theirs, todo)) if torch.cuda.is_available() else [silent] * len(todo)
    rows = [row(problem, one, other) for problem, one, other in zip(todo, mine, others, strict=True)]
    print(table(rows))
    for found in rows:
        for side in ("ours", "theirs"):
            if found[side]["message"] and found["theirs"]["call"] is not None:
                print(f"- {found['problem']}, {side}: {found[side]['message']}")
    if options.out:
        options.out.write_text("".join(json.dumps(found) + "\n" for found in rows))
    surprises = [found["problem"] for found in rows if not as_expected(found)]
    agreed = [found["agree"] for found in rows if found["agree"] is not None]
    print(f"{len(rows)} problems, {len(rows) - len(surprises)} as expected; numbers agree in {sum(agreed)} of {len(agreed)}")
    print(f"not as expected: {', '.join(surprises) or 'none'}")
    return 3 if surprises else 0


if __name__ == "__main__":
    sys.exit(main())
