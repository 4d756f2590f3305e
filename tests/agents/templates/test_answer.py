import asyncio
import inspect
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from agents import parsing
from agents.models.base import Ancestor
from agents.models.templates import Templates
from agents.models.templates.author import Author
from agents.models.templates.search import CHOICES, Parameters, read
from benchmark import suites
from benchmark.errors import UserError
from benchmark.task import Task
from tests.agents.templates.asking import ask, model, source
from tests.agents.templates.operators import DENSE, NORMALISED, SWISH, task

ROOT = Path(__file__).parents[3]


async def test_a_generator_answers_with_a_strategy_and_one_block() -> None:
    reply = await ask(model(), "generator")
    assert parsing.strategy(reply.text).startswith("one fused elementwise kernel")
    assert "def operator(x, beta=1.0):" in source(reply)
    assert reply.finish_reason == "stop"


async def test_tokens_are_counted_from_the_bytes() -> None:
    reply = await ask(model(), "generator")
    assert reply.usage is not None
    assert (reply.usage.input, reply.usage_source) == (3, "counted")
    assert reply.usage.output == -(-len(reply.text.encode()) // 4)


async def test_the_same_request_is_answered_the_same_and_others_differ() -> None:
    first, second = await ask(model(0.5), "generator", sample=3), await ask(model(0.5), "generator", sample=3)
    other = await ask(model(0.5), "generator", sample=4)
    assert first.text == second.text
    assert source(first) != source(other)


async def test_several_models_of_one_process_trace_at_once() -> None:
    def fresh(power: float) -> Task:
        return task(lambda x: torch.tanh(x) ** power + torch.softmax(x, -1), lambda d: {"x": d.normal(5, 7)})

    replies = await asyncio.gather(*(ask(model(operator=fresh(1.5 + i)), "generator") for i in range(6)))
    assert [r.finish_reason for r in replies] == ["stop"] * 6


@pytest.mark.slow
def test_another_process_writes_the_same() -> None:
    script = (
        "import asyncio\nfrom tests.agents.templates.asking import ask, model\n"
        "from tests.agents.templates.operators import NORMALISED\n"
        "print(asyncio.run(ask(model(0.5, 0, NORMALISED), 'generator', sample=1)).text)"
    )
    runs = [
        subprocess.run([sys.executable, "-c", script], cwd=ROOT, env={"PYTHONHASHSEED": seed}, capture_output=True, check=True).stdout
        for seed in ("1", "2")
    ]
    assert runs[0] == runs[1]
    assert b"def operator" in runs[0]


async def test_an_optimiser_moves_from_the_best_and_repeats_nobody() -> None:
    author = model()
    first = source(await ask(author, "generator"))
    best = first.replace("BLOCK = 1024", "BLOCK = 2048")
    ancestors = [Ancestor("1", first, {"verdict": "pass", "speedup": 1.0}), Ancestor("2", best, {"verdict": "pass", "speedup": 1.4})]
    for round in range(2, 9):
        reply = await ask(author, "optimiser", round, ancestors=tuple(ancestors), parent=best)
        new = source(reply)
        assert new not in [a.source for a in ancestors]
        assert "from 2:" in parsing.strategy(reply.text)
        ancestors.append(Ancestor(str(round + 1), new, {"verdict": "pass", "speedup": 0.9}))


async def test_an_optimiser_takes_no_step_again_that_led_to_nothing() -> None:
    author, tried = model(), list[str]()
    standing = (Ancestor("2", source(await ask(author, "generator")), {"verdict": "pass", "speedup": 1.4}),)
    for round in range(2, 8):
        reply = await ask(author, "optimiser", round, ancestors=standing, tried=tuple(tried))
        tried.append(parsing.strategy(reply.text).rstrip(".") + ": 0.98 times the speed of 2")
    assert len(set(tried)) == len(tried)


async def test_a_flawed_candidate_is_repaired_from_its_source_and_digest_alone() -> None:
    flawed = source(await ask(model(1.0), "generator"))
    digest = {"verdict": "wrong_dtype" if "float32, device" in flawed else "wrong_numeric"}
    child = source(await ask(model(0.0, seed=9), "repairer", 2, parent=flawed, digest=digest))
    assert child == source(await ask(model(), "generator"))


async def test_without_a_digest_a_repair_is_a_fresh_sample() -> None:
    flawed = source(await ask(model(1.0), "generator"))
    child = source(await ask(model(1.0), "repairer", 2, parent=flawed, digest=None))
    again = source(await ask(model(1.0), "generator", 2))
    assert read(child) != read(flawed)
    assert "cdiv" not in again or child != flawed


async def test_a_launch_that_asks_for_too_much_gets_smaller() -> None:
    parent = source(await ask(model(operator=NORMALISED), "generator"))
    child = source(await ask(model(operator=NORMALISED), "repairer", 2, parent=parent, digest={"verdict": "launch_error"}))
    was, now = read(parent), read(child)
    assert was is not None
    assert now is not None
    assert was != now


async def test_a_product_gets_smaller_down_to_the_smallest_tile() -> None:
    author, tiles = model(operator=DENSE), []
    parent = source(await ask(author, "generator"))
    for round in range(2, 6):
        tiles.append(read(parent).tile)  # type: ignore[union-attr]
        parent = source(await ask(author, "repairer", round, parent=parent, digest={"verdict": "oom"}))
    assert tiles == list(reversed(CHOICES["tile"][:4]))


async def test_its_own_sound_module_that_fails_is_declined() -> None:
    parent = source(await ask(model(), "generator"))
    reply = await ask(model(), "repairer", 2, parent=parent, digest={"verdict": "wrong_numeric"})
    assert reply.finish_reason == "declined"
    assert "knows no other way" in reply.text


async def test_a_reflector_names_cause_fix_and_lesson_with_the_numbers() -> None:
    flawed = source(await ask(model(1.0, 3), "generator"))
    digest = {"verdict": "wrong_numeric", "failing": [{"case": "fp32", "max_abs": 0.5, "rel_rms": 0.25, "wrong": 1.0}]}
    reply = await ask(model(), "reflector", parent=flawed.replace("float32, device", "x.dtype, device"), digest=digest)
    reflection = parsing.reflection(reply.text)
    assert reply.text.startswith("Cause: ")
    assert "max abs 0.5" in reply.text
    assert reflection.lesson
    assert parsing.code(reply.text, "operator").source is None


async def test_a_reflector_speaks_of_speed_where_the_module_passes() -> None:
    parent = source(await ask(model(), "generator"))
    digest = {"verdict": "pass", "speedup": 1.25, "sizes": [{"case": "n=64", "speedup": 0.5}, {"case": "n=4096", "speedup": 2.0}]}
    reply = await ask(model(), "reflector", parent=parent, digest=digest)
    assert "1.250x against the baseline, slowest at n=64 with 0.50x" in reply.text


async def test_operators_and_roles_that_it_cannot_do_are_declined() -> None:
    sort = task(lambda x: torch.sort(x).values, lambda d: {"x": d.normal(5)})
    reply = await ask(model(operator=sort), "generator")
    assert reply.finish_reason == "declined"
    assert "sort" in reply.text
    assert (await ask(model(), "conductor")).finish_reason == "declined"


@pytest.mark.parametrize(
    ("args", "word"),
    [
        ({"flaws": 1.5}, "probability"),
        ({"flaws": "often"}, "number"),
        ({"flaw": 0.5}, "flaws"),
        ({"seed": 0.5}, "whole number"),
        ({"flaws": True}, "number"),
    ],
)
def test_bad_options_are_a_sentence(args: dict[str, object], word: str) -> None:
    with pytest.raises(UserError, match=word):
        Templates(args, lambda _: SWISH)


TORCH = (torch, torch.ops.aten, torch.linalg, torch.special, torch.nn.functional)


def test_no_file_of_the_agents_names_a_task() -> None:
    texts = {path: path.read_text() for path in (ROOT / "agents").rglob("*") if path.suffix in (".py", ".json", ".j2")}
    for suite in suites.names():
        # Names that are PyTorch's own are mathematics; a task's id, or a name of the suite's making, is not.
        made = [t.name for t in suites.load(suite).tasks if not any(hasattr(place, t.name) for place in TORCH)]
        assert made
        for path, text in texts.items():
            assert f"{suite}/" not in text, path
            assert not [name for name in made if re.search(rf"\b{name}\b", text)], path


QUICK = ("gelu", "silu", "matmul")
"""Tasks that are traced in a moment."""


@pytest.mark.parametrize(
    "known", [pytest.param(t, id=t.name, marks=() if t.name in QUICK else pytest.mark.slow) for t in suites.load("quick").tasks]
)
def test_a_task_under_other_names_gets_the_same_module(known: Task) -> None:
    def operator(*args: object, **kwargs: object) -> object:
        return known.reference(*args, **kwargs)

    operator.__signature__ = inspect.signature(known.reference)  # type: ignore[attr-defined]
    renamed = replace(known, id="own/operator", category="", source="", reference=operator, entry="operator")
    theirs, ours = (Author(t, 0.0, 0).write(Parameters()) for t in (known, renamed))
    assert ours == re.sub(rf"^(def |\"\"\"){known.entry_name}\b", r"\1operator", theirs, flags=re.MULTILINE)


def test_default_parameters_are_the_first_proposal() -> None:
    assert read(Parameters().text()) == Parameters()
