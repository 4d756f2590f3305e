"""Planted defects: each is mended from the source and the verdict that it leads to, and by nothing else."""

import random

import pytest
import torch

from agents.models.templates.author import Author
from agents.models.templates.flaws import FLAWS, Flaw, diagnose, plant
from agents.models.templates.search import Parameters
from tests.agents.templates.operators import ALL, DENSE, NORMALISED, SOFT, SWISH
from tests.agents.templates.run import call, error

BY_NAME = {f.name: f for f in FLAWS}
SHOWN = [("mask", SOFT), ("mask", DENSE), ("neutral", SOFT), ("eps", NORMALISED), ("tail", SWISH), ("dtype", SWISH), ("dtype", DENSE)]


Modules = dict[str, tuple[str, str]]


@pytest.fixture(scope="module")
def modules() -> Modules:
    """The whole module and its core, by operator."""
    authors = {name: Author(t, 0.0, 0) for name, t in ALL.items()}
    return {name: (a.write(Parameters()), a.write(Parameters(), core=True)) for name, a in authors.items()}


def planted(flaw: Flaw, source: str, name: str) -> str:
    lost = flaw.plant(source, ALL[name])
    assert lost is not None
    return lost


@pytest.mark.parametrize(("flaw", "operator"), SHOWN)
def test_a_planted_defect_fails_a_visible_case_as_its_verdict_says(flaw: str, operator: object, modules: Modules) -> None:
    name = next(n for n, t in ALL.items() if t is operator)
    task, source = ALL[name], planted(BY_NAME[flaw], modules[name][0], name)
    arguments = [c.arguments(task.id, 0) for c in task.cases]
    if flaw == "dtype":
        assert any(call(source, task.entry_name, a)[0].dtype != task.reference(**a).dtype for a in arguments)
    else:
        assert any(error(task, source, a) > 1 for a in arguments)


@pytest.mark.parametrize("name", ALL)
def test_every_defect_is_found_and_mended_to_the_letter(name: str, modules: Modules) -> None:
    source = modules[name][0]
    for flaw in FLAWS:
        lost = flaw.plant(source, ALL[name])
        if lost is None:
            continue
        for verdict in flaw.verdicts:
            found = diagnose(lost, {"verdict": verdict}, source)
            assert found is not None
            assert found[1] == source


@pytest.mark.parametrize("name", ALL)
def test_a_sound_module_is_not_mended(name: str, modules: Modules) -> None:
    source = modules[name][0]
    for verdict in ("wrong_numeric", "wrong_dtype", "crash", "nonfinite"):
        assert diagnose(source, {"verdict": verdict}, source) is None


def test_a_verdict_that_the_defect_does_not_predict_mends_nothing(modules: Modules) -> None:
    source = modules["swish"][0]
    lost = planted(BY_NAME["dtype"], source, "swish")
    assert diagnose(lost, {"verdict": "wrong_numeric"}, source) is None


def test_a_repair_keeps_the_parents_parameters() -> None:
    author = Author(SWISH, 0.0, 0)
    parent = author.write(Parameters(block=256))
    lost = planted(BY_NAME["tail"], parent, "swish")
    found = diagnose(lost, {"verdict": "wrong_numeric"}, author.write(Parameters()))
    assert found is not None
    assert found[1] == parent


def test_defects_that_no_visible_case_shows_are_not_planted(modules: Modules) -> None:
    whole, core = modules["swish"]
    assert BY_NAME["offset"].plant(whole, SWISH) is None
    assert BY_NAME["eps"].plant(modules["soft"][0], SOFT) is None
    for seed in range(20):
        assert plant(whole, core, SWISH, random.Random(seed)) != whole


def test_only_what_the_cases_need_decides_what_may_be_planted() -> None:
    whole, core = "total // ", ""
    assert plant(whole, core, SWISH, random.Random(0)) == whole
    assert torch.is_tensor(SWISH.cases[0].arguments("own/operator", 0)["x"])
