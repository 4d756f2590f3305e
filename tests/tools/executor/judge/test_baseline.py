"""The time limit of what the judge compiles."""

import contextlib
import time

import pytest

from tools.executor.judge.baseline import Alarm, Overdue


def test_alarm_ends_what_takes_too_long():
    with pytest.raises(Overdue), Alarm(0.02):
        time.sleep(5)


def test_alarm_that_somebody_catches_is_raised_at_the_end():
    def swallows() -> None:
        with contextlib.suppress(BaseException):
            time.sleep(5)

    with pytest.raises(Overdue), Alarm(0.02):
        swallows()


def test_no_alarm_for_what_is_done_in_time():
    with Alarm(5.0):
        done = True
    assert done
