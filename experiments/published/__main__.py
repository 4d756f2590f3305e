"""Others' published data, recomputed: `python -m experiments.published path=CHECKOUT [key=value ...]`.

  path=DIR                 a checkout of KernelBench-X (git clone https://github.com/BonnieW05/KernelBenchX)
  format=table|json|md
  seed=0                   of the bootstrap

Reads their corpus of trajectories and their golden timings: transitions, rescued against persistent speedups, same-task deltas and their
noise, whose golden totals the speedups divide, copied golden timings, and the paper's numbers beside these. Nothing that is read is
changed.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from benchmark.console import show
from benchmark.errors import UserError
from experiments import keys, tables
from experiments.published import claims, corpus, golden
from experiments.published.kernelbench_x import Checkout


def act(words: Sequence[str]) -> int:
    chosen = keys.chosen(words, ("path", "format", "seed"))
    if "path" not in chosen:
        raise UserError("Name the checkout: python -m experiments.published path=DIR.")
    write = tables.FORMATS[keys.one_of("format", chosen.get("format", "table"), tables.FORMATS)]
    checkout = Checkout(Path(chosen["path"]))
    figures = [*claims.figures(checkout), *corpus.figures(checkout, keys.whole(chosen, "seed", 0)), *golden.figures(checkout)]
    show(write(figures, []).rstrip("\n"))
    return 0


def main() -> int:
    return keys.command(str(__doc__), act)


if __name__ == "__main__":
    sys.exit(main())
