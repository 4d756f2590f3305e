"""What the page holds of a trajectory."""

from pathlib import Path

import pytest

from experiments.report.texts import Shelf
from experiments.report.trajectories import Reader, counted, standing
from tests.experiments.report import stores


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Reader:
    return Reader(stores.hostile(tmp_path_factory.mktemp("runs") / "r"), Shelf())


def test_attempts_come_with_their_evaluations_in_order(reader: Reader) -> None:
    attempts = reader.trajectory("quick/add@0")["attempts"]
    assert [(a["attempt"], a["standing"], a["evaluation"]["verdict"]) for a in attempts] == [
        ("000.00.00", "wrong", "wrong_numeric"),
        ("001.00.00", "pass", "pass"),
    ]
    assert attempts[1]["evaluation"]["timing"]["sizes"][0]["ci"] == [1.9, 2.1]


def test_calls_of_helpers_stand_beside_those_of_attempts(reader: Reader) -> None:
    record = reader.trajectory("quick/add@0")
    assert [call["role"] for call in record["calls"]] == ["generator", "generator", "reflector"]
    assert [name for name, _ in record["calls"][0]["reply"]] == ["thinking", "text", "tool calls"]


def test_the_reason_of_an_ending_is_told(reader: Reader) -> None:
    assert reader.trajectory("quick/gelu@0")["error"] == stores.HOSTILE


def test_a_text_that_is_gone_is_none(tmp_path: Path) -> None:
    run = stores.hostile(tmp_path / "r")
    for text in (run.path / "kernels").iterdir():
        text.unlink()
    assert [a["kernel"] for a in Reader(run, Shelf()).trajectory("quick/add@0")["attempts"]] == [None, None]


def test_equal_builds_of_a_kernel_are_one_with_their_number() -> None:
    kernel = {"name": "k", "registers": 32}
    assert counted([kernel, {"name": "k", "registers": 40}, kernel]) == [
        {**kernel, "builds": 2},
        {"name": "k", "registers": 40, "builds": 1},
    ]


@pytest.mark.parametrize(
    ("verdict", "compiled", "expected"),
    [("pass", True, "pass"), ("wrong_numeric", True, "wrong"), ("compile_error", False, "broken"), ("infra_error", False, "none")],
)
def test_standing_tells_how_far_an_attempt_came(verdict: str, compiled: bool, expected: str) -> None:
    assert standing({"verdict": verdict, "compiled": compiled}) == expected
