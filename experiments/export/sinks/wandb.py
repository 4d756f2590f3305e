"""`format=wandb`: a W&B run for each of ours. Without a network by default: `wandb sync` sends what lies in `out` when you want it sent."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmark.errors import UserError
from benchmark.secrets import redact
from experiments.export.sinks import tracked
from experiments.keys import one_of
from experiments.runs import Run

MODES = ("offline", "online")


def write(runs: Sequence[Run], out: Path, project: str = "kernelwright", mode: str = "offline") -> list[str]:
    """Config, history by attempt, summary, a table of attempts, and the champions as an artifact, under the run's own id.

    Neither the repository, its remote, the machine nor its environment is looked at by W&B.
    """
    one_of("mode", mode, MODES)
    here = str(out.resolve())
    # Without these, the files of an artifact lie in the user's home until they are sent.
    os.environ |= {"WANDB_DATA_DIR": here, "WANDB_CACHE_DIR": here, "WANDB_SILENT": "true", "WANDB_ERROR_REPORTING": "false"}
    library = tracked.library("wandb", "W&B")
    out.mkdir(parents=True)
    return [told(tell(library, run, out, project, mode), mode) for run in runs]


def tell(library: Any, run: Run, out: Path, project: str, mode: str) -> Path:
    quiet = library.Settings(
        console="off", silent=True, disable_git=True, disable_code=True, save_code=False, x_disable_meta=True, x_disable_stats=True,
        x_save_requirements=False,
    )  # fmt: skip
    place = {"project": project, "id": run.run_id, "name": run.run_id, "dir": str(out), "mode": mode}
    try:
        theirs = library.init(**place, config=tracked.config(run), settings=quiet)
    except library.Error as error:
        raise UserError(f"W&B takes no run: {str(error).splitlines()[0]} With mode=offline nobody is asked.") from error
    for number, figures in enumerate(tracked.history(run), 1):
        theirs.log(figures, step=number)
    theirs.log({"attempts": table(library, run)})
    theirs.summary.update(tracked.summary(run))
    theirs.log_artifact(champions(library, run))
    theirs.finish()
    return Path(theirs.dir).parent


def table(library: Any, run: Run) -> Any:
    """All attempts: W&B would cut a table off after ten thousand rows."""
    library.Table.MAX_ROWS = max(library.Table.MAX_ROWS, len(run.attempts))
    return library.Table(columns=list(tracked.COLUMNS), data=[tracked.row(attempt) for attempt in run.attempts])


def champions(library: Any, run: Run) -> Any:
    artifact = library.Artifact(f"champions-{run.run_id}", type="kernels")
    for name, path in tracked.champions(run).items():
        with artifact.new_file(name, encoding="utf-8") as file:
            file.write(redact(path.read_text("utf-8", "replace")))
    return artifact


def told(folder: Path, mode: str) -> str:
    return f"{folder}: written without a network; send it with: wandb sync {folder}" if mode == "offline" else f"{folder}: sent to W&B"
