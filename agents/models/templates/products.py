"""The kernel of a matmul stage: tiles of the result, a masked loop over K, and the epilogue on the accumulator."""

from collections.abc import Callable

from agents.models.templates.graph import Declined, Node
from agents.models.templates.kernels import Group, Kernel, Tile
from agents.models.templates.schedule import Axis, Stage

META = ("DOT", "SUM", "WIDE", "PRECISION", "BM", "BN", "BK", "GROUP")
"""Constants of a launch, after ACC."""
HEAD = """\
pid = tl.program_id(0)
tiles_m = tl.cdiv(M, BM)
tiles_n = tl.cdiv(N, BN)
first = pid // (GROUP * tiles_n) * GROUP
band = min(tiles_m - first, GROUP)
batch = tl.program_id(1).to(tl.int64)
rows = ((first + pid % (GROUP * tiles_n) % band) * BM + tl.arange(0, BM)).to(tl.int64)[:, None]
cols = (pid % (GROUP * tiles_n) // band * BN + tl.arange(0, BN)).to(tl.int64)[None, :]
acc = tl.zeros((BM, BN), dtype=SUM)
for start in range(0, K, BK):
    k = (start + tl.arange(0, BK)).to(tl.int64)
    at = tl.load(left + batch * left_b + rows * left_m + k[None, :] * left_k, mask=(rows < M) & (k[None, :] < K), other=0).to(DOT)
    bt = tl.load(right + batch * right_b + k[:, None] * right_k + cols * right_n, mask=(k[:, None] < K) & (cols < N), other=0).to(DOT)
    if WIDE:
        acc += tl.sum(at[:, :, None].to(SUM) * bt[None, :, :].to(SUM), 1)
    else:
        acc = tl.dot(at, bt, acc, input_precision=PRECISION, out_dtype=SUM)""".splitlines()


def matmul(stage: Stage, tensor: Callable[[Node], str], out: str) -> tuple[Kernel, Node]:
    """The kernel and its matmul node. Operands are the parameters `left` and `right`, bounds M, N and K."""
    (product,) = stage.native
    axes = list(stage.index)
    rank = len(product.shape)
    if len(axes) < 2 or rank < 2 or (len(axes) > 3):
        raise Declined("a matmul of this rank is not written")
    named = {"n": axes[-1], "m": axes[-2], "b": axes[-3] if len(axes) == 3 else None}
    at = {"n": ("cols", "N"), "m": ("rows", "M"), "b": ("batch", "")}
    groups = [Group(g, [axis] if isinstance(axis := named[g], Axis) else [], *at[g]) for g in "bmn"]
    tile = MatmulTile(stage, groups, tensor)
    tile.outside += HEAD
    tile.known[product, stage.index[len(axes) - rank :]] = ("acc.to(ACC)" if product.kind == "f" else "acc.to(tl.int64)", frozenset("mn"))
    value, _ = tile.value(stage.root, stage.index)
    tile.store(out, stage.index, value, "mn")
    return Kernel(tile.outside, list(tile.loads.values()), tile.scalars, tile.sizes), product


class MatmulTile(Tile):
    unit = "(1, 1)"
