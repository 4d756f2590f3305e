"""What is shown while a run goes, from events alone."""

import io
from dataclasses import asdict

from rich.console import Console

from experiments.live import LiveView, PlainView, Progress, view
from experiments.store import call_event
from tests.experiments import records

KEY = "quick/add@0"


def play(shown: LiveView | PlainView) -> None:
    shown.take("trajectory_start", {"key": KEY, "trajectory": KEY, "task": "quick/add"})
    call = {**asdict(records.call()), "try": 1}
    shown.take("call", {"key": KEY, **call_event(call)})
    shown.take("attempt", {"key": KEY, **asdict(records.attempt(speedup=2.0))})
    shown.take("trajectory", {"key": KEY, **asdict(records.trajectory())})


def test_counts_follow_the_events() -> None:
    progress = Progress(asked=2)
    play(PlainView(progress, Console(file=io.StringIO())))
    assert (len(progress.ended), progress.correct, progress.compiled, progress.tokens, progress.usd) == (1, 1, {KEY}, 12, 0.25)
    assert progress.summary().startswith("1/2 done  1 correct  1 compiled  speedup 2.00x  12 tokens  $0.25  ETA ")
    assert progress.rows == {}


def test_elsewhere_than_on_a_terminal_there_are_plain_lines() -> None:
    out = io.StringIO()
    shown = view(Progress(asked=1), Console(file=out, width=80))
    assert isinstance(shown, PlainView)
    with shown:
        play(shown)
    assert out.getvalue().splitlines()[0] == "quick/add@0 000.00.00 generator pass 2.00x"
    assert "\x1b" not in out.getvalue()


def test_a_terminal_gets_a_row_for_each_running_task() -> None:
    out = io.StringIO()
    shown = view(Progress(asked=2), Console(file=out, force_terminal=True, width=120))
    assert isinstance(shown, LiveView)
    with shown:
        shown.take("trajectory_start", {"key": KEY, "trajectory": KEY, "task": "quick/add"})
        shown.live.refresh()
    assert KEY in out.getvalue()
    assert "0/2 done" in out.getvalue()


def test_a_failed_try_is_told_at_once() -> None:
    out = io.StringIO()
    shown = PlainView(Progress(asked=1), Console(file=out))
    shown.take("trajectory_start", {"key": KEY, "trajectory": KEY, "task": "quick/add"})
    failed = {**asdict(records.call(outcome="429", error="slow down", usage=None, cost_usd=None)), "try": 2}
    shown.take("call", {"key": KEY, **call_event(failed)})
    assert out.getvalue() == "quick/add@0 generator try 2: 429: slow down\n"
    assert "unknown tokens" in shown.progress.summary()


def test_a_row_tells_who_is_asked_and_that_a_candidate_is_being_judged() -> None:
    progress = Progress(asked=1)
    progress.take("trajectory_start", {"key": KEY, "trajectory": KEY, "task": "quick/add"})
    progress.take("ask", {"key": KEY, "role": "planner", "round": 2})
    assert (progress.rows[KEY].doing, progress.rows[KEY].round) == ("planner: asked", 2)
    progress.take("judge", {"key": KEY})
    assert progress.rows[KEY].doing == "being judged"
