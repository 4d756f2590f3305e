"""MLflow in a local store: what its own client reads back of a run."""

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from benchmark.errors import UserError
from experiments.export.sinks import mlflow, tracked
from tests.experiments.export import stores

library = pytest.importorskip("mlflow", reason="the extra is not installed: pip install 'kernelwright[mlflow]'")


@pytest.fixture(autouse=True)
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    monkeypatch.setenv("OPENAI_API_KEY", stores.SECRET)


@pytest.fixture
def told(tmp_path: Path) -> tuple[Any, Any]:
    """The client, and the run as it reads it."""
    mlflow.write([stores.run(tmp_path / "r")], tmp_path / "out", experiment="e")
    client = library.MlflowClient((tmp_path / "out" / "mlruns").as_uri())
    (run,) = client.search_runs([client.get_experiment_by_name("e").experiment_id])
    return client, run


def test_parameters_and_figures_of_the_whole_are_read_back(told: tuple[Any, Any], tmp_path: Path) -> None:
    _, run = told
    assert run.info.run_name == "r"
    assert run.info.status == "FINISHED"
    assert run.data.params["config.model_args.flaws"] == "0.5"
    figures = {key.removeprefix("summary."): value for key, value in run.data.metrics.items() if key.startswith("summary.")}
    assert figures == pytest.approx(tracked.summary(stores.run(tmp_path / "again")))


def test_the_course_is_read_back_attempt_by_attempt(told: tuple[Any, Any]) -> None:
    client, run = told
    shares = [(metric.step, metric.value) for metric in client.get_metric_history(run.info.run_id, "solved_share")]
    assert shares == [(1, 0.0), (2, pytest.approx(1 / 3)), (3, pytest.approx(1 / 3))]


def test_attempts_and_champions_are_artifacts(told: tuple[Any, Any], tmp_path: Path) -> None:
    client, run = told
    table = json.loads(Path(client.download_artifacts(run.info.run_id, "attempts.json", str(tmp_path))).read_text())
    assert table["columns"] == list(tracked.COLUMNS)
    assert len(table["data"]) == 3
    assert Path(client.download_artifacts(run.info.run_id, f"champions/{stores.GELU}.py", str(tmp_path))).read_text() == stores.RIGHT


def test_no_file_holds_a_key(told: tuple[Any, Any], tmp_path: Path) -> None:
    assert not [path for path in (tmp_path / "out").rglob("*") if path.is_file() and stores.SECRET.encode() in path.read_bytes()]


def test_a_run_of_which_nothing_is_recorded_is_told_too(tmp_path: Path) -> None:
    assert mlflow.write([stores.unanswered(tmp_path / "r")], tmp_path / "out")[0].endswith("is r")


@pytest.mark.skipif(find_spec("sqlalchemy") is None, reason="a database needs SQLAlchemy and Alembic")
def test_a_database_keeps_its_files_beside_it(tmp_path: Path) -> None:
    mlflow.write([stores.run(tmp_path / "r")], tmp_path / "out", uri=f"sqlite:///{tmp_path}/runs.db")
    assert next((tmp_path / "out" / "artifacts").rglob("gelu.py")).read_text() == stores.RIGHT


@pytest.mark.skipif(find_spec("sqlalchemy") is not None, reason="SQLAlchemy is installed")
def test_a_database_without_its_library_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="pip install sqlalchemy alembic"):
        mlflow.write([stores.run(tmp_path / "r")], tmp_path / "out", uri=f"sqlite:///{tmp_path}/runs.db")


def test_a_store_that_mlflow_does_not_know_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="MLflow takes no run at nowhere"):
        mlflow.write([stores.run(tmp_path / "r")], tmp_path / "out", uri="nowhere://x")
