"""Plans that are anchored to the parent's own lines, and a coder that needs nothing but the plan."""

from dataclasses import replace

from agents import plans
from agents.models.base import Ancestor
from agents.models.templates.search import Parameters, changes, read, stated
from agents.plans import Edit, Plan
from agents.strategies import STRATEGIES
from tests.agents.templates.asking import ask, model, source
from tests.agents.templates.operators import DENSE, NORMALISED

PASSES = {"verdict": "pass", "speedup": 1.25}
OTHER = "def operator(x, beta=1.0):\n    return x\n"


async def parent(operator: object = NORMALISED) -> str:
    return source(await ask(model(operator=operator), "generator"))


async def planned(text: str, **brief: object) -> Plan:
    reply = await ask(model(operator=NORMALISED), "planner", parent=text, digest=PASSES, **brief)
    plan = plans.plan(reply.text)
    assert plan is not None, reply.text
    return plan


async def coded(text: str, plan: Plan, flaws: float = 0.0) -> str:
    return source(await ask(model(flaws, operator=NORMALISED), "coder", parent=text, digest=PASSES, plan=plan))


async def test_a_plan_names_the_line_that_holds_the_constant_and_what_should_move() -> None:
    text = await parent()
    plan = await planned(text)
    (edit,) = plan.edits
    assert edit.first == edit.last
    assert text.splitlines()[edit.first - 1] == edit.change.partition(" -> ")[0]
    assert edit.expected == "speedup above 1.250x."
    assert edit.risk
    assert plan.strategy.partition(":")[0] in STRATEGIES


async def test_a_plan_stays_within_the_allowed_strategies() -> None:
    text = await parent()
    for names in (("access",), ("fuse", "reuse"), ("launch", "tile")):
        plan = await planned(text, strategies=names)
        assert plan.strategy.partition(":")[0] in names
    nothing = await ask(model(operator=NORMALISED), "planner", parent=text, digest=PASSES, strategies=("fuse", "persistent"))
    assert nothing.finish_reason == "declined"


async def test_a_plan_repeats_no_module_that_is_shown_and_no_lesson() -> None:
    text, seen, ancestors, lessons = await parent(), set(), [], []
    for round in range(10):
        brief = {"ancestors": tuple(ancestors), "lessons": tuple(lessons)}
        plan = plans.plan((await ask(model(operator=NORMALISED), "planner", round, parent=text, digest=PASSES, **brief)).text)
        assert plan is not None
        assert plan.edits not in seen
        seen.add(plan.edits)
        if round % 2:
            ancestors.append(Ancestor(str(round), await coded(text, plan), PASSES))
        else:
            lessons.append((await ask(model(), "critic", plan=plan, digest={"verdict": "pass", "speedup": 1.0})).text)


async def test_the_coder_does_what_the_plan_says_and_nothing_else() -> None:
    text = await parent()
    plan = await planned(text)
    child = await coded(text, plan)
    assert plans.followed(plan, text, child)
    assert len(set(text.splitlines()) ^ set(child.splitlines())) == 2
    was, now = read(text), read(child)
    assert was is not None
    assert now is not None
    assert changes(was, now) in plan.strategy


async def test_the_change_in_a_plan_of_any_hand_suffices() -> None:
    plan = Plan("wider rows", (Edit(1, 2, "set WARPS to 4 and raise ONCE from 8192 to 16384", "", ""), Edit(9, 9, "SWEEP: 1024", "", "")))
    assert read(await coded(await parent(), plan)) == Parameters(warps=4, once=16384, sweep=1024)


async def test_a_plan_without_a_value_is_declined() -> None:
    plan = Plan("fuse", (Edit(1, 2, "fuse the two kernels", "", ""),))
    reply = await ask(model(), "coder", parent=await parent(), plan=plan)
    assert reply.finish_reason == "declined"


async def test_a_planned_child_may_be_flawed_and_keeps_the_planned_values() -> None:
    text = await parent()
    plan = await planned(text)
    sound, flawed = await coded(text, plan), await coded(text, plan, flaws=1.0)
    assert sound != flawed
    assert read(sound) == read(flawed)


async def test_a_module_of_another_hand_is_planned_and_written_anew() -> None:
    plan = await planned(OTHER)
    assert (plan.edits[0].first, plan.edits[0].last) == (1, 2)
    child = await coded(OTHER, plan)
    assert read(child) == replace(Parameters(), **stated(plan.edits[0].change))
    assert plans.followed(plan, OTHER, child)


async def test_the_same_request_is_planned_the_same_and_seeds_differ() -> None:
    text = await parent(DENSE)
    asked = [(await ask(model(seed=seed, operator=DENSE), "planner", parent=text, digest=PASSES)).text for seed in (0, 0, 1, 2, 3)]
    assert asked[0] == asked[1]
    assert len(set(asked)) > 1


def test_a_value_that_is_none_of_a_parameters_kind_is_not_taken() -> None:
    assert stated("TILE = 64, BLOCK = (1, 2, 3), ROW_TILE = 512, IEEE_TILE = (32, 32, 16) -> (64, 32, 32)") == {
        "row_tile": 512,
        "ieee_tile": (64, 32, 32),
    }
