"""A run directory as it is read."""

import asyncio
from pathlib import Path

from experiments.runs import Run
from experiments.store import RunStore
from tests.experiments import compared, records


def test_what_waits_or_was_interrupted_is_open_and_what_was_never_begun(tmp_path: Path) -> None:
    run = compared.run(tmp_path / "r", {"quick/add": 1.5, "quick/sum": 1.2}, asked=("quick/gelu",))
    assert run.open == 1
    store = RunStore(run.path)
    for reason, found in (("waiting", 2), ("interrupted", 2), ("error", 1)):
        asyncio.run(store.write_trajectory(records.trajectory("quick/add@0", end_reason=reason)))
        assert Run(run.path).open == found
    store.close()
