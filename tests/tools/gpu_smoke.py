"""The executor on a real device without pytest: `python tests/tools/gpu_smoke.py [--sandbox LEVEL] [names...]`.

Prints the doctor's facts, then one line per candidate: verdict, stage, speedup by size, seconds. Exits 1 where one is not as expected.
"""

import argparse
import asyncio
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmark.suites import find
from tools import doctor
from tools.evaluation import Evaluation
from tools.executor.local import LocalExecutor
from tools.settings import Settings

CANDIDATES = Path(__file__).parent / "candidates"
ONLY_SIMULATED = {"allocates", "no_mask"}
"""Address space is not limited where a real device maps it, and reads past a tensor are seen by the interpreter only."""


def line(name: str, wanted: str, found: Evaluation) -> str:
    speeds = (
        [f"{size.case} {size.baseline_us:.1f}/{size.candidate_us:.1f} us" for size in found.timing.sizes]
        if found.timing
        else [found.no_timing]
    )
    speed = f"{found.speedup:.2f}x {found.timing.ci}" if found.timing else ""
    error = f"{found.error.message} {found.error.detail}"[:600] if found.error else ""
    state = "ok " if found.verdict == wanted else "BAD"
    return f"{state} {name}: {found.verdict} (wanted {wanted}) at {found.stage} {speed} {'; '.join(speeds)} {found.resources} {error}"


async def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--sandbox", default="auto")
    parser.add_argument("names", nargs="*", help="as honest/softmax; all without")
    options = parser.parse_args()
    print("\n".join(doctor.facts()), flush=True)
    names = options.names or [str(p.relative_to(CANDIDATES).with_suffix("")) for p in sorted(CANDIDATES.glob("*/*.py"))]
    executor, wrong = LocalExecutor(workers=1, gpus=(0,)), 0
    for name in [n for n in names if Path(n).name not in ONLY_SIMULATED]:
        source = (CANDIDATES / f"{name}.py").read_text()
        stated = re.search(r"Expected: (\w+)", source)
        task = "quick/softmax" if stated else f"quick/{Path(name).name}"
        settings = Settings(sandbox=options.sandbox, import_s=10.0, case_s=10.0)
        found = await executor.evaluate(source, find(task), settings)
        wanted = stated[1] if stated else "pass"
        wrong += found.verdict != wanted
        print(line(name, wanted, found), flush=True)
        if name == names[0]:
            print(found.mode, found.device, found.isolation, found.versions, found.data_path, flush=True)
    await executor.close()
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
