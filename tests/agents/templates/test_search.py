import random

from agents.models.base import Ancestor
from agents.models.templates.search import CHOICES, Parameters, best, changes, fresh, neighbours, read, used

SOURCE = Parameters(block=512, tile=(64, 64, 32)).text() + "\n\ndef plan_0(x):\n    _pointwise(k, x)\n"


def ancestor(attempt: str, speedup: float | None, verdict: str = "pass", modelled: float | None = None) -> Ancestor:
    return Ancestor(attempt, SOURCE, {"verdict": verdict, "speedup": speedup, "modelled": {"speedup": modelled} if modelled else None})


def test_parameters_are_read_back_from_a_module() -> None:
    assert read(SOURCE) == Parameters(block=512, tile=(64, 64, 32))
    assert read("def f(x): return x") is None


def test_only_parameters_that_the_module_reads_are_searched() -> None:
    assert used(SOURCE) == ["block", "warps"]


def test_the_defaults_come_first_and_then_other_choices() -> None:
    proposals = list(fresh(["block"], random.Random(0), first=True))
    assert proposals[0] == Parameters()
    assert {p.block for p in proposals} == set(CHOICES["block"])


def test_a_neighbour_differs_in_one_step_and_pairs_follow() -> None:
    proposals = list(neighbours(Parameters(), ["block", "warps"], random.Random(0)))
    assert {changes(Parameters(), p).count("->") for p in proposals[:4]} == {1}
    assert {changes(Parameters(), p).count("->") for p in proposals[4:]} == {2}


def test_lineages_begin_with_different_parameters_and_the_first_with_what_matters_most() -> None:
    names = used("\n    _matmul(k, x)\n")
    starts = [changes(Parameters(), next(neighbours(Parameters(), names, random.Random(0), first))).split()[0] for first in range(3)]
    assert starts == ["tile", "fill", "stages"]


def test_the_fastest_passing_ancestor_is_the_start() -> None:
    chosen = best([ancestor("a", 1.5), ancestor("b", 2.5), ancestor("c", 9.0, "wrong_numeric"), ancestor("d", None, modelled=50.0)])
    assert chosen is not None
    assert chosen.attempt == "b"


def test_without_measurement_the_modelled_speedup_decides() -> None:
    chosen = best([ancestor("a", None, modelled=1.0), ancestor("b", None, modelled=3.0)])
    assert chosen is not None
    assert chosen.attempt == "b"
