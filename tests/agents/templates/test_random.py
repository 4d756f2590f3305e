"""The author knows mathematics, not a suite: operators composed at random are written correctly, or declined."""

from collections import Counter

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from agents.models.templates.author import Author
from agents.models.templates.graph import Declined
from agents.models.templates.search import Parameters
from benchmark.task import Task
from tests.agents.templates.functions import pointwise, products, rows
from tests.agents.templates.run import errors

COUNT = 30


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("seeded", [1])
def test_thirty_composed_operators_are_correct_or_declined_and_most_are_correct(seeded: int) -> None:
    seen: Counter[str] = Counter()

    @seed(seeded)
    @settings(max_examples=COUNT, deadline=None, database=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
    @given(st.one_of(pointwise(), rows(), products()))
    def one(task: Task) -> None:
        if sum(seen.values()) == COUNT:
            return
        try:
            source = Author(task, 0.0, 0).write(Parameters())
        except Declined as reason:
            seen["declined"] += 1
            print("declined:", reason)
            return
        worst = max(errors(task, source).values())
        assert worst <= 1, f"{worst} times the tolerance\n{source}"
        seen["correct"] += 1

    one()
    print(dict(seen))
    assert seen["correct"] >= 24
