"""Runs in a form that others read: `python -m experiments.export run=runs/<id> format=... out=PATH [key=value ...]`.

  run=DIR | runs=[DIR,DIR]   one run, or several together
  out=PATH                   the folder or file to write; it must not be there yet

  format=kernels             an installable Python package of the champions, one for each task; name=PACKAGE (kernels)
  format=kernelbench_x       KernelBench-X's predictions, a file of JSON lines for each run and seed; which=best|rounds (best)
  format=atif                Harbor's Agent Trajectory Interchange Format, a JSON document for each trajectory
  format=parquet             tables of trajectories, attempts, calls, evaluations, cases and sizes; texts=no|yes (no)
  format=wandb               a W&B run for each run; project=NAME (kernelwright), mode=offline|online (offline: send with wandb sync)
  format=mlflow              an MLflow run for each run; experiment=NAME (kernelwright), uri=STORE (files in out)

Reads the runs' files only, and changes none of them.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from benchmark.console import show
from benchmark.errors import UserError
from experiments import keys

KEYS = ("run", "runs", "format", "out")


@dataclass(frozen=True)
class Format:
    """A module of this package, imported when its format is asked for, with `write(runs, out, **options) -> list[str]`: what is shown.

    `options` are the words that it takes beside the common ones, all optional; their values come as text, unread.
    """

    module: str
    options: tuple[str, ...] = ()


FORMATS = {
    "kernels": Format("kernels", ("name",)),
    "kernelbench_x": Format("predictions", ("which",)),
    "atif": Format("atif"),
    "parquet": Format("parquet", ("texts",)),
    "wandb": Format("sinks.wandb", ("project", "mode")),
    "mlflow": Format("sinks.mlflow", ("experiment", "uri")),
}


def act(words: Sequence[str]) -> int:
    taken = [option for form in FORMATS.values() for option in form.options]
    options = keys.chosen(words, (*KEYS, *dict.fromkeys(taken)))
    if "format" not in options or not options.get("out"):
        raise UserError(f"Say what to write, and where: format={'|'.join(FORMATS)} out=PATH.")
    name = keys.one_of("format", options["format"], FORMATS)
    form = FORMATS[name]
    own = {key: value for key, value in options.items() if key not in KEYS}
    for key in own:
        if key not in form.options:
            raise UserError(f"{key}= is no option of format={name}, which takes {', '.join(form.options) or 'none of its own'}.")
    runs, out = keys.runs(options, "experiments.export"), Path(options["out"])
    if len({run.run_id for run in runs}) < len(runs):
        raise UserError("Two of the runs have the same name, by which what is written tells them apart: rename one of their directories.")
    if out.exists():
        raise UserError(f"out={out} is there already: name a path that is not, or remove it.")
    lines = import_module(f"experiments.export.{form.module}").write(runs, out, **own)
    show("\n".join([*lines, *(f"{run.run_id}: {note}" for run in runs for note in run.notes())]))
    return 0


def main() -> int:
    return keys.command(str(__doc__), act)


if __name__ == "__main__":
    sys.exit(main())
