"""The state stays small however long a trajectory gets, and however much its models say."""

import pytest

from scaffolds import loader
from tests.scaffolds.long import bare, walk

LIMIT = 64 * 1024


@pytest.mark.slow
@pytest.mark.parametrize("name", loader.names())
async def test_a_trajectory_of_a_thousand_attempts_keeps_its_state_below_64_kib(name: str) -> None:
    walked = await walk(name, 1000, bare())
    assert walked.attempts >= 1000
    assert max(walked.sizes) < LIMIT
