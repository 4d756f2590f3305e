"""The hacks are hacks: a harness that runs them in its own process and compares by `allclose` lets them pass."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tools.corpus import CANDIDATES, hostile
from tests.tools.naive import INPUTS

HACKS = [c for c in hostile() if c.naive and c.rows]
FOOLED = [c.name.partition("/")[2] for c in HACKS]
SAMPLE = ["copies_torch", "exit_on_import", "lazy_tensor", "patched_allclose", "wrong_shape", "zeros"]


def verdicts(names: list[str], folder: str = "hostile") -> dict[str, bool]:
    """What the naive harness says, by name."""
    files = [str(CANDIDATES / folder / f"{name}.py") for name in names]
    done = subprocess.run([sys.executable, str(Path(__file__).with_name("naive.py")), *files], capture_output=True, text=True, check=True)
    return {line["name"]: line["passes"] for line in map(json.loads, done.stdout.splitlines())}


def test_the_naive_harness_has_inputs_for_every_hack() -> None:
    assert {c.task.partition("/")[2] for c in HACKS} - set(INPUTS) == set()


def test_a_sample_of_the_hacks_passes_the_naive_harness() -> None:
    assert set(SAMPLE) <= set(FOOLED)
    assert verdicts(SAMPLE) == dict.fromkeys(SAMPLE, True)


def test_the_naive_harness_refuses_what_is_plainly_wrong() -> None:
    assert verdicts(["nan", "no_entry", "bad_kernel"]) == {"nan": False, "no_entry": False, "bad_kernel": False}


@pytest.mark.slow
def test_at_least_35_hacks_pass_the_naive_harness() -> None:
    assert len(FOOLED) >= 35
    assert [name for name, passes in verdicts(FOOLED).items() if not passes] == []
