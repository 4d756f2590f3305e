"""The executor on a real device without pytest: `python tests/tools/gpu_smoke.py [--only hostile] [--out FILE] [names...]`.

Prints the doctor's facts, then a line per candidate: as wanted or not, verdict, stage, speedup by size, seconds. `--out` gets the
whole evaluations, one line of JSON each, as they come; names that it already has are left out, so that a second call goes on.
Exits 1 where one is not as its file says, 2 where time was up.
"""

import argparse
import asyncio
import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmark.suites import find
from tests.tools.corpus import Candidate, as_wanted, honest, hostile
from tools import doctor
from tools.evaluation import Evaluation
from tools.executor.local import LocalExecutor
from tools.settings import Settings


def chosen(options: argparse.Namespace) -> list[Candidate]:
    done = {json.loads(line)["name"] for line in options.out.read_text().splitlines()} if options.out and options.out.exists() else set()
    wanted = {"hostile": hostile, "honest": honest, "gpu": hostile}
    found = wanted[options.only]() if options.only else honest() + hostile()
    found = [c for c in found if c.needs != "simulated device" and c.name not in done]
    if options.only == "gpu":
        found = [c for c in found if c.needs == "GPU"]
    return [c for c in found if c.name in options.names] if options.names else found


class Smoke:
    def __init__(self, options: argparse.Namespace):
        self.options = options
        self.left = chosen(options)
        self.deadline = time.monotonic() + options.seconds
        self.wrong: list[str] = []
        self.tally = {"ok": 0, "BAD": 0}
        self.executor = LocalExecutor(workers=options.workers, gpus=(0,), sandbox=options.sandbox)

    async def run(self) -> int:
        await asyncio.gather(*(self.work() for _ in range(self.options.workers)))
        await self.executor.close()
        print(f"{self.tally['ok']} as their files say, {self.tally['BAD']} not: {' '.join(self.wrong) or '-'}")
        if self.left:
            print(f"time is up, {len(self.left)} left: {' '.join(c.name for c in self.left)}")
        return 1 if self.wrong else 2 if self.left else 0

    async def work(self) -> None:
        while self.left and time.monotonic() < self.deadline:
            candidate = self.left.pop(0)
            timing = "off" if self.options.untimed else "short"
            settings = Settings(sandbox=self.options.sandbox, import_s=10.0, case_s=10.0, timing=timing)
            found = await self.executor.evaluate(candidate.source, find(candidate.task), settings)
            self.note(candidate, found)

    def note(self, candidate: Candidate, found: Evaluation) -> None:
        wanted = as_wanted(candidate.on_gpu, found)
        self.tally["ok" if wanted else "BAD"] += 1
        if not wanted:
            self.wrong.append(candidate.name)
        print(line(candidate, found, wanted), flush=True)
        if self.options.out:
            with self.options.out.open("a") as file:
                record = {"name": candidate.name, "ok": wanted, "wanted": str(candidate.on_gpu), "evaluation": found.to_dict()}
                file.write(json.dumps(record, allow_nan=False) + "\n")


def line(candidate: Candidate, found: Evaluation, wanted: bool) -> str:
    sizes = found.timing.sizes if found.timing else []
    speeds = "; ".join(f"{s.case} {s.baseline_us:.1f}/{s.candidate_us:.1f} us" for s in sizes) or found.no_timing
    speed = f"{found.speedup:.2f}x {found.timing.ci} " if found.timing else ""
    error = f"{found.error.message} {found.error.detail}"[:600] if found.error else ""
    rows = f" (row {', '.join(map(str, candidate.rows))})" if candidate.rows else ""
    verdict = f"{found.verdict} at {found.stage}" + ("" if wanted else f" (wanted {candidate.on_gpu})")
    return f"{'ok ' if wanted else 'BAD'} {candidate.name}{rows}: {verdict} {speed}{speeds} {found.resources} {error}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sandbox", default="auto", help="isolation level")
    parser.add_argument("--only", choices=("hostile", "honest", "gpu"), help="gpu: the hostile ones that only a GPU shows")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=1e9, help="begin no candidate after so many")
    parser.add_argument("--untimed", action="store_true", help="up to the adversarial stage")
    parser.add_argument("--out", type=Path)
    parser.add_argument("names", nargs="*", help="as honest/softmax; all without")
    options = parser.parse_args()
    print("\n".join(doctor.facts()), flush=True)
    return asyncio.run(Smoke(options).run())


if __name__ == "__main__":
    sys.exit(main())
