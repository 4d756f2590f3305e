"""Steps, mixtures and leaps of an evolution, and a debugger: each from the brief alone."""

import pytest

from agents import parsing
from agents.models.base import Ancestor
from agents.models.templates.search import CHOICES, Parameters, distance, read, used
from agents.models.templates.writers import mixture
from agents.strategies import STRATEGIES
from tests.agents.templates.asking import ask, model, source
from tests.agents.templates.operators import DENSE, NORMALISED, SWISH

PASSES = {"verdict": "pass", "speedup": 1.25}
OTHER = "def operator(x, beta=1.0):\n    return x\n"


async def parent(operator: object = NORMALISED) -> str:
    return source(await ask(model(operator=operator), "generator"))


def parameters(text: str) -> Parameters:
    found = read(text)
    assert found is not None
    return found


def moved(a: str, b: str) -> set[str]:
    return {name for name in CHOICES if getattr(parameters(a), name) != getattr(parameters(b), name)}


@pytest.mark.parametrize(("names", "may"), [(("reuse",), {"once"}), (("pipeline", "fuse"), {"sweep"}), ((), set(used("    _rows(k)")))])
async def test_a_mutation_is_a_step_within_the_allowed_families(names: tuple[str, ...], may: set[str]) -> None:
    text = await parent()
    for round in range(4):
        reply = await ask(model(operator=NORMALISED), "mutator", round, parent=text, digest=PASSES, strategies=names)
        changed = moved(text, source(reply))
        assert len(changed) == 1
        assert changed <= may
        assert parsing.strategy(reply.text).partition(":")[0] in (names or STRATEGIES)


async def test_a_family_that_no_parameter_belongs_to_is_declined() -> None:
    reply = await ask(model(), "mutator", parent=await parent(SWISH), digest=PASSES, strategies=("fuse", "split"))
    assert reply.finish_reason == "declined"
    assert "none of its launch parameters belongs to fuse, split" in reply.text


async def test_a_recombination_takes_every_parameter_from_one_of_both() -> None:
    text = await parent()
    a, b = Parameters(once=4096, warps=4), Parameters(sweep=1024, row_tile=256)
    ancestors = tuple(Ancestor(n, text.replace(Parameters().text(), p.text()), PASSES) for n, p in (("a", a), ("b", b)))
    children = set()
    for sample in range(6):
        reply = await ask(model(operator=NORMALISED), "recombiner", sample=sample, ancestors=ancestors)
        child = parameters(source(reply))
        assert child not in (a, b)
        assert all(getattr(child, n) in (getattr(a, n), getattr(b, n)) for n in CHOICES)
        children.add(child)
    assert len(children) > 2


async def test_two_parents_that_mix_to_nothing_new_give_a_step() -> None:
    text = await parent(SWISH)
    ancestors = (Ancestor("a", text, PASSES), Ancestor("b", text.replace("WARPS = 8", "WARPS = 4"), PASSES))
    child = source(await ask(model(), "recombiner", ancestors=ancestors))
    assert child not in [a.source for a in ancestors]


async def test_one_parent_of_another_hand_leaves_a_step_from_the_other() -> None:
    text = await parent(SWISH)
    ancestors = (Ancestor("a", OTHER, PASSES), Ancestor("b", text, PASSES))
    reply = await ask(model(), "recombiner", ancestors=ancestors)
    assert "from b:" in parsing.strategy(reply.text)
    assert len(moved(text, source(reply))) == 1


def test_a_mixture_says_what_comes_from_whom() -> None:
    a, b = Parameters(block=256), Parameters(warps=4)
    said = mixture(Parameters(block=256, warps=2), (Ancestor("x", "", {}), a), (Ancestor("y", "", {}), b), ["block", "warps"])
    assert said == "launch parameters of x and y: block 256 from x, warps 2 of its own"


@pytest.mark.parametrize("operator", [NORMALISED, SWISH, DENSE], ids=["rows", "point", "product"])
async def test_a_restructured_module_lies_far_from_its_parent(operator: object) -> None:
    text = await parent(operator)
    step = distance(parameters(text), parameters(source(await ask(model(operator=operator), "mutator", parent=text, digest=PASSES))))
    for round in range(3):
        child = source(await ask(model(operator=operator), "restructurer", round, parent=text, digest=PASSES))
        assert distance(parameters(text), parameters(child)) > 1.5 * step


async def test_a_restructurer_keeps_to_the_families_where_it_can() -> None:
    text = await parent()
    reply = await ask(model(operator=NORMALISED), "restructurer", parent=text, digest=PASSES, strategies=("reuse", "access"))
    assert moved(text, source(reply)) <= {"once", "across", "warps"}
    elsewhere = await ask(model(operator=NORMALISED), "restructurer", parent=text, digest=PASSES, strategies=("fuse",))
    assert moved(text, source(elsewhere))


@pytest.mark.parametrize("role", ["mutator", "restructurer", "optimiser", "debugger", "repairer"])
async def test_a_parent_of_another_hand_is_answered_with_a_module_of_its_own(role: str) -> None:
    digest = {"verdict": "wrong_numeric"} if role in ("debugger", "repairer") else PASSES
    assert read(source(await ask(model(), role, parent=OTHER, digest=digest))) is not None


@pytest.mark.parametrize("role", ["repairer", "debugger"])
async def test_what_mends_needs_parent_and_digest_alone(role: str) -> None:
    flawed = source(await ask(model(1.0), "generator"))
    digest = {"verdict": "wrong_dtype" if "float32, device" in flawed else "wrong_numeric"}
    child = await ask(model(0.0, seed=9), role, 2, parent=flawed, digest=digest)
    assert source(child) == await parent(SWISH)
    assert parsing.strategy(child.text).startswith("repair:")


async def test_a_debugger_goes_on_from_the_module_that_worked_where_the_broken_one_is_not_its_own() -> None:
    works = await parent(SWISH)
    digest = {"verdict": "wrong_numeric"}
    reply = await ask(model(), "debugger", parent=OTHER, digest=digest, ancestors=(Ancestor("3", works, PASSES),))
    assert "from 3:" in parsing.strategy(reply.text)
    assert len(moved(works, source(reply))) == 1


@pytest.mark.parametrize("role", ["mutator", "restructurer"])
async def test_the_same_request_is_answered_the_same(role: str) -> None:
    text = await parent()
    texts = [(await ask(model(0.5, seed, NORMALISED), role, parent=text, digest=PASSES)).text for seed in (0, 0, 1, 2, 3)]
    assert texts[0] == texts[1]
    assert len(set(texts)) > 1
