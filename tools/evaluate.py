"""`python -m tools.evaluate --task quick/gelu --candidate FILE`: one candidate's verdict, with the evidence.
`python -m tools.evaluate --jobs jobs.jsonl --out results.jsonl --workers N`: many, as `tools.jobs` says.

Exit codes: 0 pass (with `--jobs`: every line has its result), 3 not pass, 4 no verdict, 2 a mistake of the user's, 130 interrupted.
"""

import argparse
import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from benchmark.console import show
from benchmark.errors import UserError
from benchmark.importers.options import typed
from tools.evaluation import NO_VERDICT, Evaluation
from tools.platforms import default_targets
from tools.settings import Settings


def arguments(argv: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m tools.evaluate", description="Compile, test and time candidates.")
    one = parser.add_argument_group("one candidate")
    one.add_argument("--task", help="suite/name, as in quick/gelu, ./file.py:function, or kernelbench:CHECKOUT/level1/19_ReLU and the like")
    one.add_argument("--task-arg", action="append", default=[], metavar="KEY=VALUE", help="option of a task in a file of your own")
    one.add_argument("--candidate", help="file with the candidate's source, - for standard input")
    one.add_argument("--json", action="store_true", help="print the evaluation as JSON")
    many = parser.add_argument_group("many candidates")
    many.add_argument("--jobs", type=Path, help='file with a line {"id", "task", "candidate"} per job, the candidate as source text')
    many.add_argument("--out", type=Path, help="file of results, to which lines are appended; what it holds is not evaluated again")
    many.add_argument("--workers", type=int, help="evaluations at a time (default: half the cores)")
    parser.add_argument("--device", default="auto", help="auto (a GPU where there is one), simulated, or what torch calls a device")
    parser.add_argument("--sandbox", default="auto", choices=("auto", "full", "landlock", "process"), help="isolation level")
    parser.add_argument("--timing", default="short", choices=("short", "off"), help="whether to measure speed on a GPU")
    parser.add_argument(
        "--baseline", action="append", choices=("eager", "compile"), help="what to time against: eager always, compile beside it on request"
    )
    parser.add_argument(
        "--profile", default="roofline", choices=("off", "roofline", "ncu"), help="what to find out beside the time on a GPU"
    )
    parser.add_argument("--target", action="append", help="compilation target of the simulated device; may be given several times")
    parser.add_argument("--seed", type=int, default=0, help="seed of the inputs")
    options = parser.parse_args(argv)
    wrong = mistake(options)
    if wrong:
        parser.error(wrong)
    return options


def mistake(options: argparse.Namespace) -> str:
    """What is wrong with the combination of options, if anything is."""
    one, many = (options.task, options.candidate), (options.jobs, options.out)
    if (any(one) and any(many)) or not (all(one) or all(many)):
        return "give --task and --candidate, or --jobs and --out"
    if options.task_arg and not options.task:
        return "--task-arg goes with --task"
    if options.workers is not None and (not any(many) or options.workers < 1):
        return "--workers is a number of evaluations at a time, 1 or more, with --jobs"
    return "--json is for one candidate: with --jobs every result is JSON" if options.json and any(many) else ""


def settings(options: argparse.Namespace) -> Settings:
    return Settings(
        device=options.device,
        targets=tuple(options.target or default_targets()),
        sandbox=options.sandbox,
        timing=options.timing,
        baselines=tuple(dict.fromkeys(("eager", *(options.baseline or ())))),
        profile=options.profile,
        seed=options.seed,
    )


def read(name: str) -> str:
    """The source; what is no UTF-8 comes as lone surrogates, which the executor reports as a verdict."""
    try:
        data = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except OSError as error:
        raise UserError(
            f"Cannot read the candidate {name!r}: {error.strerror}. Give the path of a Python file, or - for standard input."
        ) from None
    return data.decode("utf-8", "surrogateescape")


async def evaluate(options: argparse.Namespace) -> Evaluation:
    from tools.executor.local import LocalExecutor
    from tools.tasks import find

    candidate = read(options.candidate)
    task = find(options.task, dict(map(typed, options.task_arg)), options.sandbox)
    executor = LocalExecutor(workers=1)
    try:
        return await executor.evaluate(candidate, task, settings(options))
    finally:
        await executor.close()


def lines(evaluation: Evaluation) -> list[str]:
    """What a person wants to know, without what is held out."""
    shown = evaluation.public()
    found = [
        f"{evaluation.task_id}: {evaluation.verdict} (stage {evaluation.stage}, {evaluation.mode}, {evaluation.device or 'no device'})"
    ]
    if error := shown["error"]:
        found.append(f"  {error['message']}")
        found += [f"  {line}" for line in str(error["detail"].get("traceback", "")).splitlines()[-6:]]
    if shown["cases"]:
        wrong = [c["case"] for c in shown["cases"] if not c["ok"]]
        found.append(f"  cases shown: {len(shown['cases'])}, wrong: {', '.join(wrong) or 'none'}")
    for target in shown["compile"]:
        found.append(f"  compiled for {target['target']} in {target['seconds']:.2f} s: {_built(target['kernels'])}")
    found += [f"  {line}" for line in _speed(evaluation)]
    if evaluation.isolation:
        found.append(f"  isolation: {evaluation.isolation['level']}; {evaluation.resources.get('wall_s', 0):.2f} s")
    return found


def _built(kernels: list[dict[str, Any]]) -> str:
    """A kernel is built for every set of types and constants: each name once, with the range of what its builds take."""
    parts = []
    for name in list(dict.fromkeys(k["name"] for k in kernels))[:4]:
        builds = [k for k in kernels if k["name"] == name]
        taken = [f"{what} {span}" for what in ("registers", "spills", "occupancy") if (span := _span([k[what] for k in builds]))]
        parts.append(f"{name} ({', '.join([f'{len(builds)} builds'] * (len(builds) > 1) + taken)})")
    return ", ".join(parts) or "nothing"


def _span(values: list[float | None]) -> str:
    known = [value for value in values if value is not None]
    low, high = (f"{f(known, default=0):.3g}" for f in (min, max))
    return "" if not known else low if low == high else f"{low} to {high}"


def _speed(evaluation: Evaluation) -> list[str]:
    """What was measured, and what was only modelled, each called by its name."""
    found, timing = [], evaluation.timing
    if timing is None:
        found.append(f"speedup: none ({evaluation.no_timing or 'not reached'})")
    else:
        low, high = timing.ci
        also = [] if timing.compile_speedup is None else [f"{timing.compile_speedup:.2f} against torch.compile"]
        also += [] if timing.warm_speedup is None else [f"{timing.warm_speedup:.2f} with a warm cache"]
        also += ["on a noisy host"] if timing.noisy else []
        found.append(f"speedup: {', '.join([f'{timing.speedup:.2f} against {timing.baseline} (95 % {low:.2f} to {high:.2f})', *also])}")
    if (modelled := evaluation.modelled) and modelled["speedup"] is not None:
        found.append(f"modelled, not measured: {modelled['speedup']:.2f} on {modelled['hardware']}, bound by {modelled['bound']}")
    return found


def main(argv: list[str] | None = None) -> int:
    options = arguments(argv)
    try:
        if options.jobs:
            from tools import jobs

            return asyncio.run(jobs.run(options.jobs, options.out, settings(options), options.workers))
        evaluation = asyncio.run(evaluate(options))
    except UserError as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    show(json.dumps(evaluation.public(), indent=2) if options.json else "\n".join(lines(evaluation)))
    if evaluation.success:
        return 0
    return 4 if evaluation.verdict in NO_VERDICT else 3


if __name__ == "__main__":
    sys.exit(main())
