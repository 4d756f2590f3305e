"""Reading Python source."""

import gc
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from agents import syntax

NESTED = f"x = {'(' * 60}1{'+ y)' * 60}\n" * 40


class Cycle:
    """Whose end runs code in the middle of whatever the collector interrupts."""

    def __init__(self) -> None:
        self.me = self

    def __del__(self) -> None:
        sum(range(50))


@pytest.fixture
def restless() -> Iterator[None]:
    """Threads are switched, and garbage is collected, all the time."""
    interval, threshold = sys.getswitchinterval(), gc.get_threshold()
    sys.setswitchinterval(1e-5)
    gc.set_threshold(50)
    yield
    gc.set_threshold(*threshold)
    sys.setswitchinterval(interval)


@pytest.mark.usefixtures("restless")
def test_threads_that_parse_at_once_do_not_disturb_one_another() -> None:
    def work(_: int) -> int:
        cycles = [Cycle() for _ in range(20)]
        return len(cycles) and len(syntax.parse(NESTED).body)

    with ThreadPoolExecutor(3) as threads:
        assert set(threads.map(work, range(90))) == {40}
