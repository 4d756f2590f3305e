"""Examples in prompts: shown by turns, on record before they are shown, and the same again when a run goes on."""

from pathlib import Path
from typing import Any

import pytest

from agents.models.base import Identity, Request
from agents.recorder import TrajectoryRecord
from benchmark import kernels, suites
from benchmark.errors import UserError
from scaffolds import loader, trajectory
from scaffolds.context import Context
from tests.scaffolds.scripted import Recorder, context, fenced

SILU = suites.find("quick/silu")
FIRST, SECOND = "kernelbench_x/sigmoid", "kernelbench_x/fused_hardshrink_dropout"


def script(request: Request) -> str:
    return "Lesson: none" if request.identity.role == "reflector" else fenced(f"timeout {request.identity.round}")


async def run(recorder: Recorder | None = None, **options: Any) -> tuple[TrajectoryRecord, Context]:
    ctx = context(script, recorder)
    ctx.task = SILU
    return await trajectory.run("geak", loader.build_config("geak", {"rounds": 2, **options}), ctx), ctx


def prompts(ctx: Context, role: str) -> list[str]:
    asked = [r for r in ctx.caller.model.requests if r.identity.role == role]  # type: ignore[attr-defined]
    return [r.messages[1]["content"] for r in sorted(asked, key=lambda r: r.identity.key)]


def shown(prompt: str) -> str:
    """The operator whose kernel a prompt shows, and nothing where there is none."""
    return prompt.partition("verified: `")[2].partition("`")[0]


def champion(recorder: Recorder, task: str, source: str) -> None:
    recorder.trajectories.append(TrajectoryRecord(task, task, "s", "m", 0, 0.0, 1.0, "000.00.00", recorder.put_kernel(source), "solved"))


async def test_authors_side_by_side_are_shown_different_kernels_and_repairers_what_their_authors_saw() -> None:
    _, ctx = await run()
    assert [shown(prompt) for prompt in prompts(ctx, "generator")] == [FIRST, SECOND]
    assert [shown(prompt) for prompt in prompts(ctx, "repairer")] == [FIRST, SECOND]
    assert kernels.sources()[FIRST].rstrip() in prompts(ctx, "generator")[0]


async def test_published_versions_show_all_authors_the_same_kernel() -> None:
    _, ctx = await run(variant="v2")
    assert [shown(prompt) for prompt in prompts(ctx, "generator")] == [FIRST, FIRST]


async def test_without_examples_prompts_have_none_and_nothing_is_recorded() -> None:
    _, ctx = await run(examples="none")
    assert not [prompt for prompt in prompts(ctx, "generator") if "verified" in prompt]
    assert ctx.recorder.choices == {}  # type: ignore[attr-defined]


async def test_no_brief_holds_an_example() -> None:
    _, ctx = await run()
    assert not [r for r in ctx.caller.model.requests if "sigmoid_kernel" in repr(r.brief)]  # type: ignore[attr-defined]


async def test_champions_of_the_run_are_shown_and_stay_what_they_were_when_it_goes_on() -> None:
    recorder = Recorder()
    champion(recorder, "kernelbench_x/tanh", "# tanh of this run\n")
    _, ctx = await run(recorder, rounds=1, examples="champions")
    assert "# tanh of this run" in prompts(ctx, "generator")[0]
    champion(recorder, FIRST, "# sigmoid, later\n")
    _, again = await run(recorder, rounds=1, examples="champions")
    assert prompts(again, "generator") == []
    assert [e["task"] for e in recorder.choices[Identity(ctx.trajectory, "examples", 0).key]] == ["kernelbench_x/tanh"]


async def test_a_champion_goes_before_our_kernel_of_the_same_operator() -> None:
    recorder = Recorder()
    champion(recorder, FIRST, "# sigmoid of this run\n")
    _, ctx = await run(recorder, rounds=1, examples="both")
    assert "# sigmoid of this run" in prompts(ctx, "generator")[0]
    assert shown(prompts(ctx, "generator")[1]) == SECOND


async def test_champions_of_the_task_itself_are_not_shown() -> None:
    recorder = Recorder()
    champion(recorder, SILU.id, "# the answer\n")
    _, ctx = await run(recorder, rounds=1, examples="champions")
    assert [shown(prompt) for prompt in prompts(ctx, "generator")] == ["", ""]


async def test_champions_may_come_from_another_run(tmp_path: Path) -> None:
    (tmp_path / "best" / "kernelbench_x").mkdir(parents=True)
    (tmp_path / "config.yaml").write_text("")
    (tmp_path / "best" / "kernelbench_x" / "tanh.py").write_text("# of another run\n")
    _, ctx = await run(rounds=1, examples="champions", examples_from=str(tmp_path))
    assert "# of another run" in prompts(ctx, "generator")[0]


def test_another_run_is_named_wrongly_in_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"examples_from=.* is no run directory"):
        loader.build_config("geak", {"examples": "champions", "examples_from": str(tmp_path)})
    with pytest.raises(UserError, match=r"examples_from needs scaffold\.examples=champions or both, not kernels"):
        loader.build_config("geak", {"examples_from": str(tmp_path)})
