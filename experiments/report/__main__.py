"""One page of one run or several: `python -m experiments.report run=runs/<id> [out=FILE]`.

  run=DIR | runs=[DIR,DIR]       one run, or several side by side
  out=FILE                       where the page goes: by default runs/<id>/report.html, for several report.html beside the first run

The page is one HTML file that needs no network: figures with their data, every task's trajectories with sources, prompts, replies and
evidence, and the conditions of each run. Nothing that is read is changed.
"""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmark.console import show
from benchmark.errors import UserError
from experiments import keys
from experiments.report import page
from experiments.runs import Run

KEYS = ("run", "runs", "out")


def target(chosen: Mapping[str, str], runs: Sequence[Run]) -> Path:
    if "out" not in chosen:
        return runs[0].path / "report.html" if len(runs) == 1 else runs[0].path.resolve().parent / "report.html"
    out = Path(chosen["out"])
    if not out.name or out.is_dir() or not out.absolute().parent.is_dir():
        raise UserError(f"out={chosen['out']} must name a file in a folder that exists.")
    return out


def act(words: Sequence[str]) -> int:
    chosen = keys.chosen(words, KEYS)
    runs = keys.runs(chosen, "experiments.report")
    out = target(chosen, runs)
    shelf = page.write(runs, out)
    show(f"{out}: {out.stat().st_size / 1e6:.1f} MB, with {shelf.characters / 1e6:.1f} MB of texts in {len(shelf.known):,} pieces")
    return 0


def main() -> int:
    return keys.command(str(__doc__), act)


if __name__ == "__main__":
    sys.exit(main())
