"""The sweep: launch parameters found in a module's text, and variants of it."""

from agents.sweep import origin, parameters, proposals

KERNEL = """
import triton
import triton.language as tl

@triton.jit
def add(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n), mask=at < n)

"""


def found(launch: str, kernel: str = KERNEL) -> dict[str, int]:
    return origin(parameters(kernel + launch))


def test_a_literal_of_the_launch_and_the_grid_that_rounds_by_it_are_one() -> None:
    source = KERNEL + "def f(x, n):\n    add[((n + 1023) // 1024,)](x, x, n, 1024, num_warps=4)\n"
    assert origin(parameters(source)) == {"add.BLOCK": 1024, "add.num_warps": 4}
    doubled = next(v for v in proposals(source, []) if v.values["add.BLOCK"] == 2048)
    assert "add[((n + 2047) // 2048,)](x, x, n, 2048, num_warps=4)" in doubled.source
