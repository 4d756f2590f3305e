"""SIGKILL at random writes of every scaffold's trajectory: resumed, it ends as the undisturbed one."""

import random
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from experiments.store import RunStore
from tests.scaffolds.family import OPTIONS
from tests.scaffolds.killing import NEVER, Killing

RUNS, KILLS = 5, 4
"""Twenty points of each scaffold: each run is killed so many times, at other places; a very short one less often."""
KILLED = -9
SEED = 5


@pytest.fixture(scope="module")
def killing() -> Iterator[Killing]:
    with Killing() as made:
        yield made


def fresh(path: Path) -> Path:
    RunStore.create(path, "{}", {}, {}).close()
    return path


def attempts(path: Path) -> list[dict[str, Any]]:
    store = RunStore(path)
    store.close()
    answered = Counter(c["call_id"] for c in store.calls if c["reply_sha"])
    assert set(answered.values()) <= {1}, "a request was answered twice"
    made = ({k: v for k, v in a.items() if k != "run"} for a in store.attempts.values())
    return sorted(made, key=lambda a: a["attempt"])


def ended(path: Path) -> tuple[Any, ...]:
    store = RunStore(path)
    store.close()
    last = list(store.trajectories.values())[-1]
    return last["champion"], last["kernel_sha"], last["end_reason"]


def points(writes: int, number: int) -> list[int]:
    """Where the `number`-th run is killed, as writes since its last start. What a start finds is not written again: it ends sooner."""
    kills = min(KILLS, writes // 5)
    at = random.Random(number).sample(range(1, writes - 3 * kills), kills)
    return [after - before for before, after in pairwise([0, *sorted(at)])]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("number", range(RUNS))
@pytest.mark.parametrize("name", OPTIONS)
def test_killed_at_random_writes_it_ends_as_the_undisturbed_trajectory(killing: Killing, tmp_path: Path, name: str, number: int) -> None:
    whole, path = fresh(tmp_path / "whole"), fresh(tmp_path / "killed")
    writes = killing.start(whole, name, SEED + number)["writes"]
    for kill_at in points(writes, number):
        before = attempts(path)
        assert killing.start(path, name, SEED + number, kill_at)["returncode"] == KILLED
        assert [a for a in attempts(path) if a in before] == before
    assert killing.start(path, name, SEED + number, NEVER)["returncode"] == 0
    assert attempts(path) == attempts(whole)
    assert ended(path) == ended(whole)


@pytest.mark.parametrize("name", OPTIONS)
def test_what_a_noisy_executor_said_once_is_what_counts(killing: Killing, tmp_path: Path, name: str) -> None:
    path = fresh(tmp_path / "r")
    writes = killing.start(fresh(tmp_path / "whole"), name, SEED, noise=0)["writes"]
    killing.start(path, name, SEED, writes // 2, noise=1)
    before = attempts(path)
    assert killing.start(path, name, SEED, noise=2)["returncode"] == 0
    after, end = attempts(path), ended(path)
    assert [a for a in after if a in before] == before
    again = killing.start(path, name, SEED, noise=3)
    assert (again["returncode"], again["asked"], again["judged"]) == (0, 0, 0)
    assert (attempts(path), ended(path)) == (after, end)
