"""`format=mlflow`: an MLflow run for each of ours, in a store of files in `out`, or in the one that `uri` names."""

import os
import time
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any

from benchmark.errors import UserError
from benchmark.secrets import redact
from experiments.export.sinks import tracked
from experiments.runs import Run

BATCH = 100
"""What MLflow takes of parameters at once; of metrics ten times as many."""
DATABASES = ("sqlite:", "postgresql", "mysql", "mssql")
LONGEST = 6000
"""Characters of a parameter."""


def write(runs: Sequence[Run], out: Path, experiment: str = "kernelwright", uri: str = "") -> list[str]:
    """Parameters, metrics by attempt, the table of attempts and the champions as artifacts. Nothing else is sent to anyone."""
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
    # A store of files needs no database, and MLflow 3 wants to be told that it is meant.
    os.environ.setdefault("MLFLOW_ALLOW_FILE_STORE", "true")
    library = tracked.library("mlflow", "MLflow")
    store = uri or (out / "mlruns").resolve().as_uri()
    database = store.startswith(DATABASES)
    if database and not find_spec("sqlalchemy"):
        raise UserError(f"uri={uri} needs SQLAlchemy and Alembic, which are not installed: pip install sqlalchemy alembic.")
    # A database keeps no files, and MLflow would put them into the current folder.
    place = (out / "artifacts").resolve().as_uri() if database else None
    try:
        client = library.MlflowClient(store)
        found = client.get_experiment_by_name(experiment)
        number = found.experiment_id if found else client.create_experiment(experiment, artifact_location=place)
    except library.MlflowException as error:
        raise UserError(f"MLflow takes no run at {store}: {str(error).strip().splitlines()[0]}") from error
    return [f"{store}: run {tell(library, client, number, run)} is {run.run_id}" for run in runs]


def tell(library: Any, client: Any, experiment: str, run: Run) -> str:
    theirs = client.create_run(experiment, run_name=run.run_id).info.run_id
    for part in batched(parameters(library, run), BATCH):
        client.log_batch(theirs, params=part)
    for part in batched(metrics(library, run), 10 * BATCH):
        client.log_batch(theirs, metrics=part)
    columns = zip(*(tracked.row(attempt) for attempt in run.attempts), strict=True)
    client.log_table(theirs, dict(zip(tracked.COLUMNS, map(list, columns), strict=False)), "attempts.json")
    for name, path in tracked.champions(run).items():
        client.log_text(theirs, redact(path.read_text("utf-8", "replace")), f"champions/{name}")
    client.set_terminated(theirs)
    return str(theirs)


def parameters(library: Any, run: Run) -> Iterator[Any]:
    for key, value in tracked.flat(tracked.config(run)):
        yield library.entities.Param(key, value[:LONGEST])


def metrics(library: Any, run: Run) -> Iterator[Any]:
    """The course of the run by attempt, and the figures of the whole as `summary.<name>`."""
    now = round(time.time() * 1000)
    for step, figures in enumerate(tracked.history(run), 1):
        yield from (library.entities.Metric(key, value, now, step) for key, value in figures.items())
    yield from (library.entities.Metric(f"summary.{key}", value, now, 0) for key, value in tracked.summary(run).items())


def batched(values: Iterator[Any], size: int) -> Iterator[list[Any]]:
    while part := list(islice(values, size)):
        yield part
