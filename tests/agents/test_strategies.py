"""Families: what a sentence says, as far as the source bears it out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.strategies import BOTTLENECKS, STRATEGIES, family, headed

DOT = "@triton.jit\ndef k(x):\n    acc = tl.dot(a, b, acc)\n"
ROWS = "@triton.jit\ndef k(x):\n    s = tl.sum(v, 0)\n"
LOOPED = "@triton.jit\ndef k(x):\n    for at in range(0, n, BLOCK):\n        s += tl.sum(v, 0)\n"
PLAIN = "@triton.jit\ndef k(x):\n    tl.store(y, tl.load(x))\n"


@pytest.mark.parametrize("name", STRATEGIES)
def test_a_sentence_that_begins_with_a_name_means_it(name: str) -> None:
    for sentence in (f"{name}: larger", f"**{name}**: larger", f"`{name}` - larger", f"{name.upper()} larger", name):
        assert family(sentence) == name


@pytest.mark.parametrize("name", STRATEGIES)
def test_what_each_strategy_says_is_of_its_own_family(name: str) -> None:
    assert family(STRATEGIES[name].says) == name


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("one fused elementwise kernel; block 512 -> 1024", "fuse"),
        ("from 001.00.00: warps 8 -> 4", "launch"),
        ("coalesced loads along the last dimension", "access"),
        ("split-K over four programs, then a sum of partial results", "split"),
        ("double-buffered loads", "pipeline"),
        ("online softmax in one pass", "algebra"),
        ("each program handles several rows", "tile"),
        ("the whole row stays in registers", "reuse"),
        ("swizzled program order for L2", "order"),
        ("a persistent kernel with as many programs as multiprocessors", "persistent"),
        ("products on tensor cores", "tensor_core"),
    ],
)
def test_words_of_the_field_tell_the_family(sentence: str, expected: str) -> None:
    assert family(sentence) == expected


def test_what_a_sentence_names_first_counts() -> None:
    assert family("tiles of 128, with the epilogue fused") == "tile"
    assert family("fuse the epilogue into tiles of 128") == "fuse"


def test_a_boast_that_the_source_does_not_bear_out_is_passed_over() -> None:
    assert family("tensor cores through tiles of 128", PLAIN) == "tile"
    assert family("tensor_core: products", DOT) == "tensor_core"
    assert family("persistent", "# tl.num_programs(0)\n" + PLAIN) == "launch"


@pytest.mark.parametrize(("source", "expected"), [(DOT, "tensor_core"), (ROWS, "reuse"), (LOOPED, "algebra"), (PLAIN, "launch")])
def test_without_a_telling_sentence_the_source_decides(source: str, expected: str) -> None:
    assert family("simple", source) == expected


def test_every_bottleneck_is_served_by_some_strategy_and_no_other_is_named() -> None:
    assert {name for kind in STRATEGIES.values() for name in kind.serves} == set(BOTTLENECKS)


@given(st.text(max_size=300), st.text(max_size=300))
def test_every_candidate_has_a_family(sentence: str, source: str) -> None:
    assert family(sentence, source) in STRATEGIES
    assert headed(sentence) in {*STRATEGIES, None}


def test_a_long_source_takes_no_time() -> None:
    assert family("order: grouped", "//\n" * 80_000) in STRATEGIES
