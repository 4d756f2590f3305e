"""W&B without a network: what its own files hold of a run."""

import json
import struct
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from experiments.export.sinks import tracked, wandb
from tests.experiments.export import stores

pytest.importorskip("wandb", reason="the extra is not installed: pip install 'kernelwright[wandb]'")
BLOCK = 32768
"""Bytes of a block of LevelDB's log format, which W&B writes offline runs in after a head of seven bytes."""


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("wandb")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("WANDB_DATA_DIR", "WANDB_CACHE_DIR", "WANDB_SILENT", "WANDB_ERROR_REPORTING"):
            patch.setenv(name, "")
        patch.setenv("OPENAI_API_KEY", stores.SECRET)
        said = wandb.write([stores.run(folder / "r")], folder / "out")
        assert said[0].endswith(f"send it with: wandb sync {next((folder / 'out' / 'wandb').glob('offline-run-*-r'))}")
        yield folder / "out"


def records(out: Path) -> Iterator[Any]:
    record = import_module("wandb.proto.wandb_internal_pb2").Record
    data, at, whole = next(out.rglob("*.wandb")).read_bytes(), 7, b""
    while at + 7 <= len(data):
        if BLOCK - at % BLOCK < 7:
            at += BLOCK - at % BLOCK
            continue
        size, kind = struct.unpack("<HB", data[at + 4 : at + 7])
        whole += data[at + 7 : at + 7 + size]
        at += 7 + size
        if kind in (1, 4):
            yield record.FromString(whole)
            whole = b""


def items(entries: Any) -> dict[str, Any]:
    return {"/".join(entry.nested_key) or entry.key: json.loads(entry.value_json) for entry in entries}


def test_the_history_is_that_of_the_run(out: Path) -> None:
    steps = [items(record.history.item) for record in records(out) if record.WhichOneof("record_type") == "history"]
    courses = list(tracked.history(stores.run(out / "again")))
    kept = [{key: step[key] for key in course if key in step} for step, course in zip(steps, courses, strict=False)]
    assert kept == [pytest.approx(course) for course in courses]


def test_the_configuration_and_the_summary_are_kept(out: Path) -> None:
    found = list(records(out))
    config = {
        key: value
        for record in found
        if record.WhichOneof("record_type") == "run"
        for key, value in items(record.run.config.update).items()
    }
    assert config["config"]["model_args"] == {"flaws": 0.5}
    summary: dict[str, Any] = {}
    for record in found:
        summary |= items(record.summary.update)
    assert (summary["solved"], summary["asked"], summary["tokens_at_least"]) == (1, 3, 600)


def test_the_table_has_every_attempt(out: Path) -> None:
    table = json.loads(next(out.rglob("*.table.json")).read_text())
    assert table["columns"] == list(tracked.COLUMNS)
    assert [row[1] for row in table["data"]] == ["000.00.00", "001.00.00", "000.00.00"]


def test_champions_lie_beside_the_run_until_they_are_sent(out: Path) -> None:
    assert any(path.read_text() == stores.RIGHT for path in (out / "artifacts").rglob("*") if path.is_file())
    (artifact,) = [record.request.log_artifact.artifact if record.WhichOneof("record_type") == "request" else record.artifact
                   for record in records(out) if "artifact" in str(record.WhichOneof("record_type"))
                   and "champions" in str(record)]  # fmt: skip
    assert artifact.type == "kernels"


def test_no_file_holds_a_key(out: Path) -> None:
    assert not [path for path in out.rglob("*") if path.is_file() and stores.SECRET.encode() in path.read_bytes()
                and "again" not in path.parts]  # fmt: skip
