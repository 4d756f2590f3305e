"""What the tables hold of records as runs leave them."""

import json
from pathlib import Path

import pytest

from experiments.analysis.frames import load
from experiments.runs import Run
from tests.experiments.analysis.rounds import Candidate, run

PASS, FAIL = Candidate("pass", 2.0), Candidate("wrong_numeric")


def append(of: Run, name: str, text: str) -> None:
    with (of.path / f"{name}.jsonl").open("a") as file:
        file.write(text)


def again(of: Run, name: str, **changes: object) -> str:
    """The last line once more, with other values."""
    last = json.loads((of.path / f"{name}.jsonl").read_text().splitlines()[-1])
    return json.dumps({**last, **changes}) + "\n"


def test_asked_and_never_begun_stays_in_the_denominator(tmp_path: Path) -> None:
    asked = load([run(tmp_path / "a", {"quick/a": [[PASS]]}, open_=2)]).asked
    assert asked.select("task", "solved", "attempts", "tokens", "end_reason").rows() == [
        ("quick/a", True, 1, 24, "solved"),
        ("quick/open0", False, 0, 0, "not ended"),
        ("quick/open1", False, 0, 0, "not ended"),
    ]


def test_a_planners_calls_count_into_what_was_spent_so_far(tmp_path: Path) -> None:
    attempts = load([run(tmp_path / "a", {"quick/a": [[FAIL, FAIL], [PASS]]})]).attempts
    assert attempts.select("round", "order", "tokens_so_far", "usd_so_far").rows() == [
        (0, 0, 24, pytest.approx(0.5)),
        (0, 1, 36, pytest.approx(0.75)),
        (1, 2, 60, pytest.approx(1.25)),
    ]


def test_gpu_seconds_so_far_include_the_attempts_own(tmp_path: Path) -> None:
    attempts = load([run(tmp_path / "a", {"quick/a": [[FAIL], [PASS]]})]).attempts
    assert attempts["gpu_s_so_far"].to_list() == [2.0, 4.0]


@pytest.mark.parametrize("torn", ['{"run": "a", "traj', '{"run": "a"\n'])
def test_a_torn_last_line_is_dropped(tmp_path: Path, torn: str) -> None:
    made = run(tmp_path / "a", {"quick/a": [[FAIL], [PASS]]})
    for name in ("attempts", "calls", "trajectories"):
        append(made, name, torn)
    frames = load([made])
    assert (frames.attempts.height, frames.calls.height, frames.asked["solved"].to_list()) == (2, 4, [True])


def test_the_last_line_on_a_trajectory_is_its_end(tmp_path: Path) -> None:
    made = run(tmp_path / "a", {"quick/a": [[PASS]]})
    append(made, "trajectories", again(made, "trajectories", champion=None, end_reason="interrupted"))
    assert load([made]).asked.select("solved", "end_reason", "speedup").rows() == [(False, "interrupted", None)]


def test_an_attempt_that_asked_nobody_has_spent_what_the_one_before_had(tmp_path: Path) -> None:
    made = run(tmp_path / "a", {"quick/a": [[FAIL], [PASS]]})
    append(made, "attempts", again(made, "attempts", attempt="001.00.01", role="tuner", calls=[], parents=["001.00.00"]))
    assert load([made]).attempts["tokens_so_far"].to_list() == [24, 48, 48]


def test_the_champion_gives_speedup_and_interval(tmp_path: Path) -> None:
    made = run(tmp_path / "a", {"quick/a": [[Candidate(speedup=3.0, width=0.5)], [Candidate(speedup=2.0)]]})
    assert load([made]).asked.select("champion", "speedup", "speedup_low", "speedup_high").rows() == [("000.00.00", 3.0, 1.5, 4.5)]


def test_unknown_usage_is_counted_and_bounded(tmp_path: Path) -> None:
    frames = load([run(tmp_path / "a", {"quick/a": [[Candidate(speedup=2.0, known=False)]]})])
    assert frames.asked.select("tokens", "tokens_unknown", "usd_unknown").rows() == [(12, 1, 1)]
    assert frames.calls.select("tokens", "tokens_at_most", "unsure").rows() == [(12, 12, False), (0, 20, True)]


def test_the_same_trajectory_of_two_runs_is_two(tmp_path: Path) -> None:
    runs = [run(tmp_path / name, {"quick/a": [[PASS]]}, scaffold=name) for name in ("geak", "oneshot")]
    frames = load(runs)
    assert frames.asked.select("method", "attempts", "tokens").rows() == [("geak", 1, 24), ("oneshot", 1, 24)]
    assert frames.attempts["tokens_so_far"].to_list() == [24, 24]


def test_a_run_without_a_line_has_empty_tables(tmp_path: Path) -> None:
    frames = load([run(tmp_path / "a", {}, open_=1)])
    assert (frames.attempts.height, frames.calls.height, frames.asked.height) == (0, 0, 1)
