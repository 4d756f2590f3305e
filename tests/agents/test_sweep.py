"""The sweep: launch parameters found in a module's text, and variants of it."""

import ast
import re
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.sweep import Trial, origin, parameters, proposals, written
from tools import platforms

KERNEL = """
import triton
import triton.language as tl

@triton.jit
def add(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n), mask=at < n)

"""
PRODUCT = """
import triton
import triton.language as tl

@triton.jit
def product(a, b, out, K, am, bn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        k = start + tl.arange(0, BK)
        total = tl.dot(tl.load(a + k), tl.load(b + k), total)
    tl.store(out, total)

"""
SHEET = platforms.sheet("h200")
OURS = sorted((Path(__file__).parents[2] / "benchmark/kernels/kernelbench_x").glob("[!_]*.py"))


def found(source: str) -> dict[str, int]:
    return origin(parameters(source, SHEET))


def varied(source: str, **values: int) -> str:
    """The source with some values, by the last part of their names."""
    space = parameters(source)
    return written(source, space, origin(space) | {p.name: values[k] for p in space for k in values if p.name.endswith(k)})


LAUNCHES = {
    "B = 512\ndef f(x, n):\n    add[(triton.cdiv(n, B),)](x, x, n, BLOCK=B, num_warps=8)\n": {"B": 512, "add.num_warps": 8},
    "def f(x, n):\n    B, w = 512, 8\n    add[lambda m: (triton.cdiv(n, m['BLOCK']),)](x, x, n, B, num_warps=w)\n": {"B": 512, "w": 8},
    "def f(x, n):\n    B, w = (512, 8) if n > 99 else (64, 2)\n    add[(triton.cdiv(n, B),)](x, x, n, B, num_warps=w)\n": {
        "B": 512, "B#2": 64, "w": 8, "w#2": 2},
    "def f(x, n, B=256):\n    add[(triton.cdiv(n, B),)](*x, n, B, num_warps=4 if B < 512 else 8)\n": {
        "B": 256, "add.num_warps": 4, "add.num_warps#2": 8},
    "def f(x, n):\n    add[(triton.cdiv(n, 1024),)](x, x, n, 1024, num_warps=4)\n": {"add.BLOCK": 1024, "add.num_warps": 4},
    "def f(x, n):\n    add[(triton.cdiv(n, 96),)](x, x, n, 96, num_warps=4)\n": {"add.num_warps": 4},
    "def f(x, n):\n    B = triton.next_power_of_2(n)\n    add[(1,)](x, x, n, B, num_warps=4)\n": {"add.num_warps": 4},
    "def f(x, n):\n    B = min(1024, triton.next_power_of_2(n))\n    add[(1,)](x, x, n, B, num_warps=4)\n": {"add.num_warps": 4},
    "def f(x, n):\n    add[(1,)](x, x, n, 64)\n": {"add.BLOCK": 64, "add.num_warps": 4},
}  # fmt: skip
"""Ways to launch, and what is found in each."""


@pytest.mark.parametrize("launch", LAUNCHES)
def test_a_value_is_followed_from_the_launch_back_to_its_literal(launch: str) -> None:
    assert found(KERNEL + launch) == LAUNCHES[launch]


def test_a_grid_that_rounds_by_a_literal_changes_with_the_block() -> None:
    source = KERNEL + "def f(x, n):\n    add[((n + 1023) // 1024,)](x, x, n, 1024, num_warps=4)\n"
    assert "add[((n + 2047) // 2048,)](x, x, n, 2048, num_warps=4)" in varied(source, BLOCK=2048)


def test_two_blocks_of_one_size_by_name_stay_apart() -> None:
    body = "def f(a, b, c, M, N, K):\n    BM, BN = 64, 64\n"
    launch = "    product[(triton.cdiv(M, BM), triton.cdiv(N, BN))](a, b, c, K, 1, 1, BM, BN, 32, num_warps=4, num_stages=3)\n"
    assert found(PRODUCT + body + launch) == {"BM": 64, "BN": 64, "product.BK": 32, "product.num_warps": 4, "product.num_stages": 3}


def test_a_default_of_a_constexpr_counts_where_the_launch_gives_nothing() -> None:
    source = KERNEL.replace("BLOCK: tl.constexpr", "BLOCK: tl.constexpr = 256") + "def f(x, n):\n    add[(n // 256,)](x, x, n)\n"
    assert "BLOCK: tl.constexpr = 128" in (halved := varied(source, BLOCK=128))
    assert "add[(n // 128,)]" in halved


@pytest.mark.parametrize("end", ["1024)", "1024,\n    )", "1024  # elements\n    )", "1024,  # elements\n    )"])
def test_options_that_are_not_given_are_added(end: str) -> None:
    loop = KERNEL.replace("    at =", "    for _ in range(2):\n        pass\n    at =")
    source = loop + f"def f(x, n):\n    add[(1,)](\n        x, x, n, {end}\n"
    call = ast.parse(varied(source, num_warps=8, num_stages=2)).body[-1].body[0].value  # type: ignore[attr-defined]
    assert {k.arg: k.value.value for k in call.keywords} == {"num_warps": 8, "num_stages": 2}
    assert len(call.args) == 4


def test_an_autotuned_kernel_is_varied_in_its_configurations_alone() -> None:
    tuner = (
        "@triton.autotune([triton.Config({'BLOCK': 256}, num_warps=4), triton.Config({'BLOCK': 512}, num_warps=8)], key=['n'])\n@triton.jit"
    )
    source = KERNEL.replace("@triton.jit", tuner) + "def f(x, n):\n    add[lambda m: (triton.cdiv(n, m['BLOCK']),)](x, x, n)\n"
    assert found(source) == {"Config.BLOCK": 256, "Config.BLOCK#2": 512, "Config.num_warps": 4, "Config.num_warps#2": 8}


def test_what_a_persistent_kernel_is_launched_with_counts_as_programs() -> None:
    source = KERNEL.replace("    at =", "    step = tl.num_programs(0)\n    at =")
    assert found(source + "def f(x, n):\n    add[(min(256, n),)](x, x, n, 64, num_warps=4)\n")["add.programs"] == 256


def test_constants_that_a_launch_is_computed_from_are_found_and_others_are_not() -> None:
    head = "SIZE = 1024\nTILE = (64, 32)\nMOST_WARPS = 8\nOTHER = 128\n\ndef warps(n):\n    return min(n // 512, MOST_WARPS)\n\n"
    launch = "def f(kernel, x, n):\n    b, k = min(SIZE, n), TILE[0]\n    kernel[(n // b,)](x, n, B=b, K=k, num_warps=warps(b))\n"
    assert found(head + launch) == {"SIZE": 1024, "TILE": 64, "TILE#2": 32, "MOST_WARPS": 8}


def test_positions_hold_behind_characters_of_several_bytes() -> None:
    source = KERNEL + "def f(x, n):\n    '''\u00fc\u2192'''; add[(1,)](x, x, '\u00e9', 64, num_warps=4)\n"
    assert "'''\u00fc\u2192'''; add[(1,)](x, x, '\u00e9', 128, num_warps=4)" in varied(source, BLOCK=128)


@pytest.mark.parametrize("source", ["", "def (", "x[1](2)", "\x00", "(" * 500, "a\udcff"])
def test_a_text_without_launches_has_no_parameters(source: str) -> None:
    assert parameters(source) == ()
    assert list(proposals(source, [])) == []


@pytest.mark.parametrize("path", OURS, ids=lambda path: path.stem)
def test_every_kernel_of_ours_can_be_varied(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    variants = list(islice(proposals(source, [], SHEET), 8))
    assert variants
    for variant in variants:
        assert found(variant.source) == variant.values
        assert variant.source != source


power = st.integers(0, 4).map(lambda n: 16 << n)
sources = st.builds(
    lambda b, w, m, n, k, v, s: (
        KERNEL + PRODUCT + f"B = {b}\ndef f(x, n):\n    add[((n + {b - 1}) // {b},)](x, x, n, BLOCK={b}, num_warps={w})\n"
        f"    product[(1, 1)](x, x, x, n, 1, 1, BM={m}, BN={n}, BK={k}, num_warps={v}, num_stages={s})\n"
    ),
    power, st.sampled_from((1, 2, 4, 8)), power, power, power, st.sampled_from((4, 8)), st.integers(1, 5),
)  # fmt: skip
NUMBER = re.compile(r"\d+")


@given(
    sources, st.lists(st.tuples(st.integers(0, 12), st.none() | st.floats(0.1, 9), st.sampled_from(("pass", "wrong_numeric"))), max_size=4)
)
@settings(max_examples=20, deadline=None)
def test_variants_differ_in_their_values_alone_keep_to_the_bounds_and_come_once(source: str, outcomes: list) -> None:  # type: ignore[type-arg]
    space = {p.name: p for p in parameters(source, SHEET)}
    tried, seen = [Trial(found(source), 1.0, "pass")], {source}
    for place, speed, verdict in outcomes:
        variants = list(islice(proposals(source, tried, SHEET), place + 1))
        assert variants == list(islice(proposals(source, tried, SHEET), place + 1)), "the same each time"
        for variant in variants:
            assert NUMBER.sub("0", variant.source) == NUMBER.sub("0", source)
            assert found(variant.source) == variant.values
            assert all(value in space[name].choices for name, value in variant.values.items())
            assert variant.source not in seen
        assert len({v.source for v in variants}) == len(variants)
        seen.add(variants[-1].source)
        tried.append(Trial(variants[-1].values, speed, verdict))


@pytest.mark.parametrize("name", platforms.names())
def test_bounds_are_those_of_the_device(name: str) -> None:
    sheet = platforms.sheet(name)
    for p in parameters(
        PRODUCT + KERNEL + "def f(x, n):\n    add[(1,)](x, x, n, 64)\n    product[(1,)](x, x, x, n, 1, 1, 16, 16, 16)\n", sheet
    ):
        assert p.value in p.choices
        if p.kind == "warps":
            assert p.choices[-1] * sheet.warp_size == sheet.max_threads_per_block
        if p.kind == "block":
            assert p.choices[0] == 16
            assert p.choices[-1] <= sheet.registers_per_multiprocessor


def test_from_the_best_so_far_the_moves_that_gained_most_come_first() -> None:
    source = KERNEL + "def f(x, n):\n    add[(1,)](x, x, n, 64, num_warps=4)\n"
    start = found(source)
    wider, more = start | {"add.BLOCK": 128}, start | {"add.num_warps": 8}
    tried = [Trial(start, 1.0, "pass"), Trial(wider, 1.5, "pass"), Trial(more, 0.5, "pass")]
    first, second = (v.says for v in islice(proposals(source, tried), 2))
    assert first == "add.BLOCK 64 -> 128, add.num_warps 4 -> 2", "fewer warps, as more were slower"
    assert second == "add.BLOCK 64 -> 256"
