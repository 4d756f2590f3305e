"""One process for all starts of the command that need no start-up of their own."""

from collections.abc import Iterator

import pytest

from tests.experiments.warm import Warm


@pytest.fixture(scope="session")
def warm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warm]:
    with Warm(KERNELWRIGHT_CACHE=str(tmp_path_factory.mktemp("cache"))) as warm:
        yield warm
