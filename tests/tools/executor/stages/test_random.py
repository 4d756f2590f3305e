"""Random operators: judged by distribution, and every call must draw anew. The kernels are our own `rand`, honest and spoiled."""

from pathlib import Path

import pytest

from benchmark import suites

KERNELS = Path(__file__).parents[4] / "benchmark" / "kernels" / "kernelbench_x"
HONEST = (KERNELS / "rand.py").read_text()
DROPOUT = (KERNELS / "fused_hardshrink_dropout.py").read_text()
SEED = "int(torch.randint(1 << 31, (1,)).item())"
RAND = "kernelbench_x/rand"


def spoiled(old: str, new: str) -> str:
    assert old in HONEST
    return HONEST.replace(old, new)


def test_a_generator_that_is_seeded_anew_in_each_call_passes(evaluate):
    found = evaluate(HONEST, RAND)
    assert found.success, found.error


def test_a_seed_from_a_counter_passes(evaluate):
    found = evaluate(spoiled(SEED, "next(COUNT)") + "\nimport itertools\n\nCOUNT = itertools.count(1)\n", RAND)
    assert found.success, found.error


def test_a_fixed_seed_is_wrong(evaluate):
    found = evaluate(spoiled(SEED, "42"), RAND)
    assert (found.verdict, found.stage) == ("wrong_numeric", "correctness")
    assert "each call must draw anew" in found.error.message


def test_a_seed_made_of_the_arguments_is_wrong(evaluate):
    found = evaluate(spoiled(SEED, "count"), RAND)
    assert (found.verdict, found.stage) == ("wrong_numeric", "correctness")


def test_the_same_numbers_in_every_program_are_wrong(evaluate):
    found = evaluate(spoiled("tl.randint4x(seed, offsets)", "tl.randint4x(seed, tl.arange(0, block))"), RAND)
    assert (found.verdict, found.stage) == ("wrong_numeric", "correctness")


def test_dropout_passes_with_cases_in_which_nothing_is_random(evaluate):
    found = evaluate(DROPOUT, "kernelbench_x/fused_hardshrink_dropout")
    assert found.success, found.error


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("seed = torch.randint(2**31 - 1, (1,)).item()", "seed = 7", "each call must draw anew"),
        ("seed = torch.randint(2**31 - 1, (1,)).item()", "seed = n", "each call must draw anew"),
        ("tl.rand(seed, offsets)", "tl.rand(seed, offsets % 64)", ""),
    ],
    ids=["fixed", "of the size", "of a period"],
)
def test_dropout_with_a_known_mask_is_wrong(evaluate, old, new, message):
    assert old in DROPOUT
    found = evaluate(DROPOUT.replace(old, new), "kernelbench_x/fused_hardshrink_dropout")
    assert (found.verdict, found.stage) == ("wrong_numeric", "correctness")
    assert message in found.error.message


def test_samples_of_torch_are_no_kernel_of_the_candidate(evaluate):
    source = HONEST + "\n\ndef rand(*size, dtype=None, device=None, **rest):\n    return torch.rand(size, dtype=dtype, device=device)\n"
    found = evaluate(source.replace(", **rest", ", generator=None, out=None, layout=None, requires_grad=False, pin_memory=False"), RAND)
    assert found.verdict == "not_triton"


@pytest.mark.parametrize("name", ["rand", "logspace"])
def test_devices_in_arguments_are_where_the_references_result_lies(name):
    task = suites.find(f"kernelbench_x/{name}")
    for case in task.cases:
        assert case.arguments(task.id, 0, "meta")["device"].type == "meta"
