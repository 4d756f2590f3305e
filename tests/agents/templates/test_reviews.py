"""A judge that names one bottleneck by the digest's numbers, and a critic that compares what was expected with what came."""

from typing import Any

import pytest

from agents import parsing, plans
from agents.plans import Edit, Plan
from agents.strategies import BOTTLENECKS
from tests.agents.templates.asking import ask, model

TRAFFIC = {"sectors_loaded": 300, "sectors_stored": 100, "minimal_bytes": 200, "flops": 0, "launches": 1}
SIZES = [
    {"case": "small", "baseline_us": 5.0, "candidate_us": 10.0, "speedup": 0.5},
    {"case": "large", "baseline_us": 90.0, "candidate_us": 60.0, "speedup": 1.5},
]
MODELLED = {"hardware": "some", "speedup": 1.5, "bound": "latency", "sizes": []}


@pytest.mark.parametrize(
    ("digest", "bottleneck", "number"),
    [
        ({"sizes": SIZES, "traffic": TRAFFIC, "speedup": 0.9}, "launch_overhead", "0.50x at small"),
        ({"traffic": TRAFFIC, "modelled": MODELLED}, "memory_traffic", "2.00 times the least"),
        ({"modelled": MODELLED}, "latency", "bound by latency"),
        ({"speedup": 0.9}, "memory_traffic", "0.900x"),
        ({}, "memory_traffic", "no speed is known"),
    ],
)
async def test_a_judge_names_one_bottleneck_with_its_evidence(digest: dict[str, Any], bottleneck: str, number: str) -> None:
    reply = await ask(model(), "judge", parent="# any", digest={"verdict": "pass", **digest})
    said = plans.diagnosis(reply.text, BOTTLENECKS)
    assert said is not None
    assert said.bottleneck == bottleneck
    assert number in said.evidence


async def test_what_fails_has_no_bottleneck() -> None:
    assert (await ask(model(), "judge", parent="# any", digest={"verdict": "crash"})).finish_reason == "declined"


@pytest.mark.parametrize(
    ("digest", "said"),
    [
        ({"verdict": "pass", "speedup": 1.5}, "tile: block 1024 -> 2048: gained as expected, verdict pass at 1.500x."),
        ({"verdict": "pass", "speedup": 1.2}, "gained nothing, verdict pass at 1.200x."),
        ({"verdict": "pass", "speedup": None, "modelled": MODELLED}, "gained as expected"),
        ({"verdict": "pass", "speedup": None}, "gain unknown"),
        ({"verdict": "launch_error"}, "broke the module, verdict launch_error."),
    ],
)
async def test_a_critic_compares_and_leaves_a_lesson(digest: dict[str, Any], said: str) -> None:
    plan = Plan("tile: block 1024 -> 2048.", (Edit(9, 9, "BLOCK = 1024 -> 2048", "speedup above 1.250x.", "registers"),))
    reflection = parsing.reflection((await ask(model(), "critic", parent="# any", digest=digest, plan=plan)).text)
    assert reflection.lesson.endswith(said) or said in reflection.lesson
    assert reflection.note.startswith("Expected: speedup above 1.250x.\nActual: verdict ")


async def test_a_critic_without_a_plan_tells_what_came_of_it() -> None:
    reflection = parsing.reflection((await ask(model(), "critic", digest={"verdict": "pass", "speedup": 1.2})).text)
    assert reflection.lesson == "the change: works, gain unknown, verdict pass at 1.200x."
