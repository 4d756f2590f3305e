"""How well modelled speedups rank kernels: against speedups measured on a GPU.

    python benchmarks/calibrate_model.py --jobs jobs.jsonl                      # here: the calibration kernels as job lines
    python -m tools.evaluate --jobs jobs.jsonl --out measured.jsonl             # on the GPU
    python benchmarks/calibrate_model.py measured.jsonl --plot docs/modelled_h200.svg   # here, no GPU

`measured.jsonl` has lines `{"id", "evaluation"}`; an id is a file of `benchmarks/calibration` (where `h200.jsonl` is such a file, cut to
what is read here). Each of them that passed with a timing is counted here in simulated mode; counts are kept in `--counted` and used
again. Prints a table and Spearman's rank correlation.
"""

import argparse
import asyncio
import json
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # Runs from a checkout that is not installed.

from benchmark.suites import find
from tools import platforms
from tools.evaluation import Evaluation
from tools.executor.local import LocalExecutor
from tools.modelled import Eager, Launch, Size, speedup
from tools.operations import trace
from tools.settings import Settings

KERNELS = Path(__file__).parent / "calibration"


def operator(name: str) -> str:
    return name.partition("__")[0]


def write_jobs(path: Path) -> None:
    names = sorted(p.stem for p in KERNELS.glob("*.py"))
    lines = [{"id": n, "task": f"quick/{operator(n)}", "candidate": (KERNELS / f"{n}.py").read_text()} for n in names]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def read(path: Path) -> dict[str, Evaluation]:
    lines = [json.loads(line) for line in path.read_text().splitlines() if line.strip()]
    return {line["id"]: Evaluation.from_dict(line["evaluation"]) for line in lines}


async def count(names: Sequence[str], path: Path) -> dict[str, list[dict[str, Any]]]:
    """What simulated mode counts of each kernel, by size; lines are appended as they come."""
    known = {line["id"]: line["counts"] for line in map(json.loads, path.read_text().splitlines())} if path.exists() else {}
    executor = LocalExecutor(workers=1)
    try:
        for name in [n for n in names if n not in known]:
            found = await executor.evaluate(
                (KERNELS / f"{name}.py").read_text(), find(f"quick/{operator(name)}"), Settings(device="simulated")
            )
            modelled = found.modelled or {}
            if "counts" not in modelled:
                print(f"{name}: not counted ({found.verdict}; {modelled.get('error') or (found.error and found.error.message)})")
                continue
            known[name] = modelled["counts"]
            with path.open("a") as file:
                file.write(json.dumps({"id": name, "counts": known[name]}) + "\n")
    finally:
        await executor.close()
    return known


def sizes(name: str, counts: list[dict[str, Any]]) -> list[Size]:
    task, found = find(f"quick/{operator(name)}"), []
    for size in counts:
        _, operations = trace(task.reference, task.case(size["case"]).arguments(task.id, 0, "meta"))
        found.append(Size(size["case"], tuple(Launch(**launch) for launch in size["launches"]), Eager.of(operations)))
    return found


def hardware_of(evaluation: Evaluation) -> str:
    """The short name of the sheet of the GPU that it was measured on."""
    return next(name for name in platforms.names() if platforms.sheet(name).name == evaluation.device)


def ranks(values: Sequence[float]) -> np.ndarray:
    """From 1; equal values share the mean of their ranks."""
    _, inverse, counts = np.unique(np.asarray(values), return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return (last - (counts - 1) / 2)[inverse]


def spearman(one: Sequence[float], other: Sequence[float]) -> float:
    return float(np.corrcoef(ranks(one), ranks(other))[0, 1])


def plot(rows: Sequence[tuple[str, float, float]], title: str) -> str:
    """A scatter diagram on logarithmic axes as SVG: measured to the right, modelled upwards, one colour for each operator."""
    size, edge = 640, 60
    low = math.floor(math.log10(min(min(a, b) for _, a, b in rows)))
    high = math.ceil(math.log10(max(max(a, b) for _, a, b in rows)))

    def at(value: float) -> float:
        return edge + (math.log10(value) - low) / (high - low) * (size - 2 * edge)

    operators = sorted({operator(name) for name, _, _ in rows})
    colours = {name: f"hsl({360 * number // len(operators)}, 70%, 42%)" for number, name in enumerate(operators)}
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{size + 150}" height="{size}" font-family="sans-serif" font-size="12">']
    parts.append(f'<rect width="100%" height="100%" fill="white"/><text x="{edge}" y="24" font-size="14">{title}</text>')
    for power in range(low, high + 1):
        for step in (1, 2, 5):
            if power == high and step > 1:
                break
            place = at(step * 10.0**power)
            text = f"{step * 10.0**power:g}"
            parts.append(f'<path d="M{place:.1f} {edge}V{size - edge}M{edge} {size - place:.1f}H{size - edge}" stroke="#ddd"/>')
            parts.append(f'<text x="{place:.1f}" y="{size - edge + 16}" text-anchor="middle">{text}</text>')
            parts.append(f'<text x="{edge - 6}" y="{size - place + 4:.1f}" text-anchor="end">{text}</text>')
    parts.append(f'<path d="M{edge} {size - edge}L{size - edge} {edge}" stroke="#888" stroke-dasharray="4"/>')
    parts.append(f'<text x="{size / 2}" y="{size - 14}" text-anchor="middle">measured speedup over eager</text>')
    parts.append(f'<text transform="translate(16 {size / 2}) rotate(-90)" text-anchor="middle">modelled speedup over eager</text>')
    for name, measured, modelled in rows:
        place = f'cx="{at(measured):.1f}" cy="{size - at(modelled):.1f}"'
        parts.append(f'<circle {place} r="5" fill="{colours[operator(name)]}" fill-opacity="0.75"><title>{name}</title></circle>')
    for number, name in enumerate(operators):
        y = edge + 10 + 18 * number
        parts.append(f'<circle cx="{size - edge + 20}" cy="{y}" r="5" fill="{colours[name]}"/>')
        parts.append(f'<text x="{size - edge + 30}" y="{y + 4}">{name}</text>')
    return "\n".join([*parts, "</svg>", ""])


def pairs(measured: dict[str, Evaluation], counted: dict[str, list[dict[str, Any]]]) -> list[tuple[str, float, float]]:
    """Kernel, measured and modelled speedup, by the measured one."""
    found = [(name, timing, hardware_of(measured[name])) for name in counted if name in measured and (timing := measured[name].timing)]
    return sorted(((name, timing.speedup, speedup(sizes(name, counted[name]), gpu)) for name, timing, gpu in found), key=lambda row: row[1])


def report(rows: Sequence[tuple[str, float, float]], device: str, target: Path | None) -> None:
    print(f"{'kernel':36} {'measured':>9} {'modelled':>9}")
    for name, seen, modelled in rows:
        print(f"{name:36} {seen:9.3f} {modelled:9.3f}")
    rho = spearman([r[1] for r in rows], [r[2] for r in rows])
    print(f"{len(rows)} kernels of {len({operator(r[0]) for r in rows})} operators on {device}: Spearman {rho:.3f}")
    if target:
        target.write_text(plot(rows, f"{device}: {len(rows)} kernels, Spearman {rho:.2f}"))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("measured", type=Path, nargs="?", help="result lines of tools.evaluate from a GPU")
    parser.add_argument("--jobs", type=Path, help="write the calibration kernels as job lines, and nothing else")
    parser.add_argument("--counted", type=Path, default=Path("counted.jsonl"), help="where counts are kept")
    parser.add_argument("--plot", type=Path, help="an SVG file to write")
    options = parser.parse_args()
    if options.jobs:
        write_jobs(options.jobs)
        return 0
    if options.measured is None:
        parser.error("give the file of measured results, or --jobs")
    measured = {name: found for name, found in read(options.measured).items() if found.timing and (KERNELS / f"{name}.py").exists()}
    rows = pairs(measured, asyncio.run(count(sorted(measured), options.counted)))
    report(rows, next(iter(measured.values())).device, options.plot)
    return 0


if __name__ == "__main__":
    sys.exit(main())
