"""What nodes of several scaffolds share."""

import pytest

from agents import feedback
from scaffolds import trajectory
from scaffolds.nodes import roofline_share
from scaffolds.oneshot import Config
from tests.scaffolds.scripted import context, fenced
from tools.evaluation import Evaluation, TimedSize, Timing


def measured(*floors: float | None) -> Evaluation:
    done = Evaluation("", "", verdict="pass", stage="timing")
    done.timing = Timing(
        "eager", [TimedSize(f"n{at}", 9.0, 10.0, 0.9, [0.8, 1.0], floor_us=floor) for at, floor in enumerate(floors)], 0.9, []
    )
    return done


def test_the_share_of_the_roofline_is_that_of_the_largest_size_with_a_floor() -> None:
    assert roofline_share(feedback.digest(measured(1.0, 5.0, 9.5))) == pytest.approx(0.95)
    assert roofline_share(feedback.digest(measured(1.0, None))) == pytest.approx(0.1)


def test_a_profile_goes_before_the_floor() -> None:
    rows = [{"roofline_share": 0.2}, {"roofline_share": 0.8}, {"roofline_share": None}]
    assert roofline_share({**feedback.digest(measured(5.0)), "roofline": rows}) == 0.8


def test_where_nothing_was_measured_there_is_no_share() -> None:
    assert roofline_share(feedback.digest(measured(None))) is None
    assert roofline_share(feedback.digest(Evaluation("", "", verdict="pass"))) is None


async def test_the_log_tells_which_node_a_trajectory_is_in_and_who_is_asked() -> None:
    ctx = context(lambda request: fenced("1.5"))
    await trajectory.run("oneshot", Config(samples=1), ctx)
    events = [(name, fields.get("node") or fields.get("role")) for name, fields in ctx.recorder.events]  # type: ignore[attr-defined]
    told = [event for event in events if event[0] in ("node", "ask", "judge")]
    assert told[:3] == [("node", "generate"), ("ask", "generator"), ("judge", None)]
