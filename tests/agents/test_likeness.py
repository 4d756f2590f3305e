"""The same program under other names, comments and layout."""

import pytest

from agents.likeness import fingerprint
from benchmark import kernels

PROGRAM = """import triton.language as tl


def kernel(x, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    return tl.load(x + at, mask=at < 3)
"""


@pytest.mark.parametrize(
    "other",
    [
        PROGRAM.replace("at", "offset"),
        PROGRAM.replace("BLOCK", "SIZE").replace("kernel", "k"),
        '"""A module."""\n' + PROGRAM.replace("    at =", "    # Where.\n\n    at ="),
        PROGRAM.replace("    at =", '    """Loads."""\n    at  =  '),
    ],
)
def test_names_comments_docstrings_and_layout_do_not_count(other: str) -> None:
    assert other != PROGRAM
    assert fingerprint(other) == fingerprint(PROGRAM)


@pytest.mark.parametrize(
    "other",
    [
        PROGRAM.replace("< 3", "< 4"),
        PROGRAM.replace("tl.load", "tl.store"),
        PROGRAM.replace("mask=", "other="),
        PROGRAM.replace("x + at", "at + x"),
        PROGRAM.replace("import triton.language as tl", "import triton.language as t2").replace("tl.", "t2."),
    ],
)
def test_constants_calls_and_order_count(other: str) -> None:
    assert fingerprint(other) != fingerprint(PROGRAM)


def test_what_does_not_parse_is_told_by_its_text() -> None:
    assert fingerprint("def f(") == fingerprint("def f(")
    assert fingerprint("def f(") != fingerprint("def g(")
    assert fingerprint("\0") != fingerprint("\ud800")


def test_our_kernels_are_all_different_programs() -> None:
    assert len({fingerprint(source) for source in kernels.sources().values()}) == len(kernels.sources())
