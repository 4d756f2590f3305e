"""Which device a worker takes, without any device: the facts are those that a judge reports."""

import pytest

from benchmark.errors import UserError
from tools.executor.compiled import CompileCache
from tools.executor.worker import Worker

PAIR = {"simulated": False, "kind": "gpu", "count": 2}


def placed(device: str, number: int = 0, gpus: tuple[int, ...] | None = None) -> tuple[str, int]:
    worker = Worker(number, gpus, CompileCache(None))
    worker.device = PAIR
    return worker._mode(device), worker.gpu


def test_workers_take_turns_on_all_devices() -> None:
    assert [placed("auto", number)[1] for number in range(4)] == [0, 1, 0, 1]


def test_workers_keep_to_the_devices_that_are_asked_for() -> None:
    assert [placed("auto", number, (1,))[1] for number in range(3)] == [1, 1, 1]


def test_a_device_by_name_wins() -> None:
    assert placed("gpu:1", 0) == ("device", 1)


@pytest.mark.parametrize(("device", "gpus"), [("gpu:2", None), ("auto", (5,)), ("other", None)])
def test_a_device_that_is_not_there_is_a_sentence(device: str, gpus: tuple[int, ...] | None) -> None:
    with pytest.raises(UserError, match="gpu:0, gpu:1"):
        placed(device, 0, gpus)


def test_no_device_is_simulated_unless_one_is_asked_for() -> None:
    worker = Worker(0, None, CompileCache(None))
    worker.device = {"simulated": True, "kind": "gpu", "count": 0}
    assert worker._mode("auto") == "simulated"
    with pytest.raises(UserError):
        worker._mode("gpu")
