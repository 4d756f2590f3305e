"""Values that pass between host and device in a call are on its record, by whichever door."""

from collections.abc import Callable, Iterator

import pytest
import torch

from tools.executor.aten import ARRIVAL, TRANSFER
from tools.executor.sandbox.watch import Record, Watch
from tools.executor.unwritten import Poison
from tools.platforms import default_targets
from tools.platforms.simulated import SHEET
from tools.simulated import Session


@pytest.fixture
def session() -> Iterator[Session]:
    with Session(default_targets()[:1], SHEET) as made:
        yield made


def crossed(session: Session, action: Callable[[torch.Tensor, torch.Tensor], object]) -> dict[str, int]:
    """Elements of the largest crossing, by its name; `action` gets a tensor on either side."""
    here, there = torch.ones(8, 16), session.to_device(torch.ones(8, 16))
    record = Record([there])
    with Watch(session, Poison(), record):
        action(here, there)
    return {row[0]: row[4] for row in record.report() if row[0] in (ARRIVAL, TRANSFER)}


@pytest.mark.parametrize(
    "action",
    [
        lambda here, there: here.to(there.device),
        lambda here, there: here.cuda(),
        lambda here, there: there.copy_(here),
        lambda here, there: there.__setitem__(slice(None), here),
        lambda here, there: torch.tensor(here.tolist(), device=there.device),
        lambda here, there: torch.as_tensor(here.numpy(), device=there.device),
    ],
)
def test_what_comes_from_the_host_is_seen(session, action):
    assert crossed(session, action) == {ARRIVAL: 128}


@pytest.mark.parametrize(
    "action", [lambda here, there: there.cpu(), lambda here, there: there.tolist(), lambda here, there: here.copy_(there)]
)
def test_what_goes_to_the_host_is_seen(session, action):
    assert crossed(session, action) == {TRANSFER: 128}


@pytest.mark.parametrize(
    "action",
    [
        lambda here, there: there.to(torch.float16),
        lambda here, there: there.copy_(there.clone()),
        lambda here, there: there.__setitem__(0, 1.5),
        lambda here, there: here.to(torch.float64),
        lambda here, there: torch.tensor(1.0, device=there.device),
        lambda here, there: there.sum().item(),
    ],
)
def test_what_stays_on_its_side_is_no_crossing(session, action):
    assert crossed(session, action) == {}
