"""What authors are told of Triton, by version: every sentence with the code that shows it, tried by a test on the installed one.

Names that models invent: those that do not exist in 93 kernels written by language models (`tl.prod` in 5, `tl.math.pow` in 4, `tl.any` and
`tl.complex64` in 3, `tl.math.sign` in 2, `tl.math.tanh` and `tl.full_like` in 1), and the like. Tried on 3.6.0, 3.7.1, 3.8.0 and 3.9.0.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

Version = tuple[int, int]


@dataclass(frozen=True)
class Snippet:
    """The body of a kernel whose pointers `x`, `y` have the given types, where `i = tl.arange(0, 16)` and `v = tl.load(x + i)`.

    Numbers among the types are scalar arguments.
    """

    body: str
    types: tuple[str, ...] = ("*fp32",)
    head: str = ""
    """What the module has above the kernel."""
    emits: str = ""
    """What is found (as a regular expression) in Triton's IR of it."""
    warps: int = 4


@dataclass(frozen=True)
class Since:
    since: Version = (3, 6)
    before: Version | None = None
    """The first version that it does not hold for any more."""

    def holds(self, version: Version) -> bool:
        return self.since <= version and (self.before is None or version < self.before)


@dataclass(frozen=True, kw_only=True)
class Fact(Since):
    says: str
    works: tuple[Snippet, ...] = ()
    """What compiles."""
    fails: tuple[Snippet, ...] = ()
    """What does not."""
    raises: str = ""
    """A module whose last line ends in a `TypeError` or `ValueError` on the host."""


@dataclass(frozen=True, kw_only=True)
class Names(Since):
    """Attributes of `triton.language`."""

    names: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Invented(Since):
    """Attributes that do not exist, and what to write for them: an expression of the fp32 blocks `x` and `y`."""

    names: tuple[str, ...]
    instead: str


Entry = TypeVar("Entry", bound=Since)

INT, HALF = ("*i32",), ("*fp16",)
LOOP = ("*fp32", "i32")
TILE = "a = tl.load(x + i[:, None] * 16 + i[None, :])\n"
BYTES = "j = tl.arange(0, {0})\nb = tl.load(x + j[:, None] * {0} + j[None, :])\nd = tl.dot(b, b)\n"
TUNED = """
@triton.autotune([triton.Config({"B": 16}), triton.Config({"B": 32})], key=[])
@triton.jit
def kernel(x, B: tl.constexpr):
    tl.store(x + tl.arange(0, B), 1.0)

kernel[(1,)](None, B=16)
"""


def typed(expression: str, dtype: str) -> str:
    return f"tl.static_assert(({expression}).dtype == tl.{dtype})"


FACTS = (
    Fact(
        says="A kernel is a function under `@triton.jit`, launched as `kernel[grid](...)` with a tuple of 1 to 3 counts. It may call"
        " `tl`, `libdevice` and other `@triton.jit` functions; nothing of torch, numpy or math, and no plain Python function of"
        " yours.",
        works=(Snippet("tl.store(x + i, twice(v))", head="@triton.jit\ndef twice(v):\n    return v * 2"),),
        fails=(
            Snippet("tl.store(x + i, twice(v))", head="def twice(v):\n    return v * 2"),
            Snippet("tl.store(x + i, math.sqrt(v))", head="import math"),
        ),
    ),
    Fact(
        says="The sides of a block are constants and powers of two, with at most 2**20 elements in all: `tl.constexpr` parameters,"
        " set on the host by `triton.next_power_of_2(n)` or fixed and looped over. `tl.arange(0, N)` asks the same of N."
        " `tl.zeros` and `tl.full` need a dtype.",
        works=(Snippet("tl.store(x, tl.sum(tl.zeros([1048576], tl.float32)))"),),
        fails=(
            Snippet("tl.store(x + tl.arange(0, 12), 1.0)"),
            Snippet("tl.store(x + tl.arange(0, y), 1.0)", LOOP),
            Snippet("tl.store(x, tl.sum(tl.zeros([12], tl.float32)))"),
            Snippet("tl.store(x, tl.sum(tl.zeros([2097152], tl.float32)))"),
            Snippet("tl.store(x + i, tl.zeros([16]))"),
        ),
    ),
    Fact(
        says="Mask every load and store that can run past the end. Masked lanes hold anything unless `other=` is given: choose the"
        ' neutral element (0 for sums, `-float("inf")` for maxima).',
        works=(
            Snippet("tl.store(x + i, tl.load(x + i, mask=i < 5))", emits=r"tt\.load %\w+, %\w+ :"),
            Snippet('tl.store(x + i, tl.load(x + i, mask=i < 5, other=-float("inf")))', emits=r"tt\.load %\w+, %\w+, %\w+ :"),
        ),
    ),
    Fact(
        says="Combine conditions on blocks with `&`, `|`, `~`, each comparison in parentheses. A Python `if` takes scalars only; for"
        " blocks there is `tl.where`.",
        works=(Snippet("tl.store(x + i, tl.where(v > 0, v, 0.0), mask=(i > 1) & ~(i == 5))"),),
        fails=(Snippet("if v > 0:\n    tl.store(x + i, v)"), Snippet("tl.store(x + i, v if v > 0 else -v)")),
    ),
    Fact(
        says="Chained comparisons such as `0 <= i < n` do not compile.",
        before=(3, 9),
        fails=(Snippet("tl.store(x + i, v, mask=1 < i < 5)"),),
    ),
    Fact(
        says="Blocks have no elements to address: no `v[0]`, no slices, no assignment to `v[i]`; `v[:, None]` adds a dimension."
        " Choose by the pointers you load, or by a mask and a reduction.",
        works=(Snippet("tl.store(x + i[:, None], v[:, None])"),),
        fails=(Snippet("tl.store(x, v[0])"), Snippet("tl.store(x, tl.sum(v[0:8]))"), Snippet("v[0] = 1.0\ntl.store(x + i, v)")),
    ),
    Fact(
        says="Convert fp16 and bf16 with `.to(tl.float32)` after the load: their sums and products stay in their own dtype, and"
        " `tl.exp`, `tl.exp2`, `tl.log`, `tl.log2`, `tl.sqrt`, `tl.rsqrt`, `tl.sin`, `tl.cos`, `tl.erf`, `tl.sigmoid`,"
        " `tl.floor`, `tl.ceil` take fp32 and fp64 only. `tl.store` converts to the dtype of the pointer, which is"
        " `pointer.dtype.element_ty`.",
        works=(
            Snippet("tl.store(x + i, tl.exp(v.to(tl.float32)))", HALF),
            Snippet("tl.store(x + i, v.to(tl.float32).to(x.dtype.element_ty))", HALF),
            Snippet(typed("v * v", "float16") + "\n" + typed("tl.sum(v)", "float16"), HALF),
            Snippet(typed("v * v", "bfloat16") + "\n" + typed("tl.sum(v)", "bfloat16"), ("*bf16",)),
        ),
        fails=(
            *(Snippet("tl.store(x + i, tl.exp(v))", (kind,)) for kind in ("*bf16", "*i32")),
            *(
                Snippet(f"tl.store(x + i, tl.{name}(v))", HALF)
                for name in ("exp", "exp2", "log", "log2", "sqrt", "rsqrt", "sin", "cos", "erf", "sigmoid", "floor", "ceil")
            ),
        ),
    ),
    Fact(
        says="Offsets are int32: where an index times a stride can pass 2**31, convert with `.to(tl.int64)` first. int8 times int8"
        " stays int8. Integer `//` and `%` round toward zero, `/` gives fp32.",
        works=(
            Snippet(typed("tl.program_id(0) * 1024 + i", "int32")),
            Snippet("tl.store(x + i.to(tl.int64), 1.0)"),
            Snippet(typed("v * v", "int8"), ("*i8",)),
            Snippet("tl.store(x + i, v // 3)", INT, emits="arith.divsi"),
            Snippet("tl.store(x + i, v % 3)", INT, emits="arith.remsi"),
            Snippet(typed("v / 2", "float32"), INT),
        ),
    ),
    Fact(
        says="`tl.dot` takes two blocks of one dtype, the summed side at least 16 (32 for 8-bit inputs), and uses TF32 for fp32:"
        ' pass `input_precision="ieee"` where the contract asks for fp32. fp16 and bf16 accumulate in fp32, int8 in int32; other'
        " integers are not taken.",
        works=(
            Snippet(TILE + "tl.store(x, tl.sum(tl.dot(a, a)))", emits="inputPrecision = tf32"),
            Snippet(TILE + 'tl.store(x, tl.sum(tl.dot(a, a, acc=a, input_precision="ieee")))', emits=r"tt\.dot (?!.*tf32)"),
            Snippet(TILE + typed("tl.dot(a, a)", "float32"), HALF),
            Snippet(BYTES.format(32) + typed("d", "int32"), ("*i8",)),
        ),
        fails=(
            Snippet(BYTES.format(8) + "tl.store(x, tl.sum(d))", HALF),
            Snippet(BYTES.format(16) + "tl.store(y, tl.sum(d))", ("*i8", "*i32")),
            Snippet(BYTES.format(32) + "tl.store(x, tl.sum(d))", INT),
            Snippet(TILE + "tl.store(x, tl.sum(tl.dot(a, a.to(tl.float32))))", HALF),
        ),
    ),
    Fact(
        says="fp32 `/` and `tl.sqrt` are approximate; `tl.div_rn` and `tl.sqrt_rn` round correctly, as torch does.",
        works=(
            Snippet("tl.store(x + i, v / 3.0)", emits="arith.divf"),
            Snippet("tl.store(x + i, tl.div_rn(v, v))", emits="tt.precise_divf"),
            Snippet("tl.store(x + i, tl.sqrt(v))", emits="math.sqrt"),
            Snippet("tl.store(x + i, tl.sqrt_rn(v))", emits="tt.precise_sqrt"),
        ),
    ),
    Fact(
        says="`tl.sum`, `tl.max`, `tl.min` reduce the whole block unless `axis=` is given; `tl.argmax` needs it; `tl.cumsum` goes"
        " along axis 0; `tl.sort` sorts the last axis only.",
        works=(
            Snippet(TILE + "tl.store(x, tl.sum(a))\ntl.store(x + i, tl.max(a, axis=1))"),
            Snippet(TILE + "tl.store(x + i[:, None] * 16 + i[None, :], tl.cumsum(a))", emits="axis = 0 : i32, reverse"),
            Snippet(TILE + "tl.store(x + i[:, None] * 16 + i[None, :], tl.sort(a, 1))"),
        ),
        fails=(
            Snippet("tl.store(x, tl.argmax(v))"),
            Snippet(TILE + "tl.store(x + i[:, None] * 16 + i[None, :], tl.sort(a, 0))"),
        ),
    ),
    Fact(
        says="`tl.max`, `tl.argmax`, `tl.maximum` and `tl.clamp` (and their like for minima) drop NaN where torch keeps it;"
        " `tl.maximum(x, y, propagate_nan=tl.PropagateNan.ALL)` keeps it.",
        works=(
            Snippet("tl.store(x, tl.max(v))", emits="arith.maxnumf"),
            Snippet("tl.store(x, tl.argmax(v, 0).to(tl.float32))", emits="arith.cmpf ogt"),
            Snippet("tl.store(x + i, tl.maximum(v, 0.0))", emits="arith.maxnumf"),
            Snippet("tl.store(x + i, tl.clamp(v, 0.0, 1.0))", emits="propagateNan = none"),
            Snippet("tl.store(x + i, tl.maximum(v, 0.0, propagate_nan=tl.PropagateNan.ALL))", emits="arith.maximumf"),
        ),
    ),
    Fact(
        says="What a loop carries keeps its shape and dtype: start with `tl.zeros([BLOCK], tl.float32)`, not with `0` or `0.0`. What"
        " is used after a loop or an `if` is assigned before it.",
        works=(Snippet("s = tl.zeros([16], tl.float32)\nfor k in range(y):\n    s += tl.load(x + i + k)\ntl.store(x + i, s)", LOOP),),
        fails=(
            Snippet("s = 0.0\nfor k in range(y):\n    s += tl.load(x + i)\ntl.store(x + i, s)", LOOP),
            Snippet("s = 0\nfor k in range(y):\n    s += tl.load(x)\ntl.store(x, s)", LOOP),
            Snippet("for k in range(y):\n    last = tl.load(x + k)\ntl.store(x, last)", LOOP),
            Snippet("if y > 2:\n    a = 1.0\ntl.store(x, a)", LOOP),
        ),
    ),
    Fact(
        says="Not in a kernel: `break`, `continue`, `return` within a loop, `**`, `@`, lambdas, nested functions, lists that grow,"
        " dictionaries, `try`.",
        works=(Snippet("if y > 3:\n    return\ntl.store(x, 1.0)", LOOP),),
        fails=(
            *(
                Snippet(f"for k in range(y):\n    if k > 3:\n        {word}\n    tl.store(x + k, 1.0)", LOOP)
                for word in ("break", "continue", "return")
            ),
            Snippet("tl.store(x + i, v ** 2)"),
            Snippet(TILE + "tl.store(x, tl.sum(a @ a))"),
            Snippet("f = lambda a: a\ntl.store(x, 1.0)"),
            Snippet("def f(a):\n    return a\ntl.store(x, 1.0)"),
            Snippet("r = []\nr.append(1)\ntl.store(x, 1.0)"),
            Snippet("r = {1: 2}\ntl.store(x, 1.0)"),
            Snippet("try:\n    tl.store(x, 1.0)\nexcept:\n    pass"),
        ),
    ),
    Fact(
        says="Module-level values that a kernel reads must be `tl.constexpr`: `SCALE = tl.constexpr(0.5)`.",
        works=(Snippet("tl.store(x + i, v * SCALE)", head="SCALE = tl.constexpr(0.5)"),),
        fails=(Snippet("tl.store(x + i, v * SCALE)", head="SCALE = 0.5"),),
    ),
    Fact(
        says="A Python float argument arrives as fp32, an int as int32 or int64; an int that equals 1 becomes a constant, which has"
        " no `.to`: `tl.cast(n, tl.float32)` takes both.",
        works=(
            Snippet("tl.store(x, tl.cast(y, tl.float32))", LOOP),
            Snippet("n: tl.constexpr = 1\ntl.store(x, tl.cast(n, tl.float32))"),
        ),
        fails=(Snippet("n: tl.constexpr = 1\ntl.store(x, n.to(tl.float32))"),),
    ),
    Fact(
        says="`tl.cdiv` is for kernels, `triton.cdiv` for the host. `num_warps` is a power of two.",
        works=(Snippet("for k in range(tl.cdiv(y, 16)):\n    tl.store(x + k, 1.0)", LOOP),),
        fails=(Snippet("for k in range(triton.cdiv(y, 16)):\n    tl.store(x + k, 1.0)", LOOP), Snippet("tl.store(x + i, v)", warps=3)),
    ),
    Fact(
        says="A symbol that `@triton.autotune` sets must not be passed at the launch too. Each of its configurations must be"
        " correct: any may be chosen, and a try-out runs the kernel several times.",
        raises=TUNED,
    ),
    Fact(
        says="Use pointers with strides and masks; block pointers (`tl.make_block_ptr`, `tl.advance`) go with the next versions.",
        before=(3, 9),
        works=(Snippet("p = tl.make_block_ptr(x, (16,), (1,), (0,), (16,), (0,))\ntl.store(x + i, tl.load(p))"),),
    ),
    Fact(
        says="Use pointers with strides and masks: block pointers (`tl.make_block_ptr`, `tl.advance`, `boundary_check=`) are gone.",
        since=(3, 9),
        fails=(
            Snippet("p = tl.make_block_ptr(x, (16,), (1,), (0,), (16,), (0,))\ntl.store(x + i, tl.load(p))"),
            Snippet("tl.store(x + i, tl.load(x + i, boundary_check=(0,)))"),
        ),
    ),
)

NAMES = (
    Names(
        names=(
            "sigmoid", "softmax", "erf", "exp", "exp2", "log", "log2", "sqrt", "rsqrt", "sin", "cos", "abs", "floor", "ceil", "fma",
            "maximum", "minimum", "clamp", "where", "sum", "max", "argmax", "cumsum", "cumprod", "sort", "topk", "flip", "gather",
            "histogram", "reduce", "associative_scan", "xor_sum", "trans", "permute", "reshape", "join", "split", "cdiv", "umulhi",
            "rand", "randn", "atomic_add", "atomic_max", "atomic_cas", "static_range",
        )
    ),
    Names(names=("squeeze", "unsqueeze"), since=(3, 7)),
    Names(names=("atomic_load", "atomic_store"), since=(3, 9)),
)  # fmt: skip

INVENTED = (
    Invented(names=("tl.tanh", "tl.math.tanh"), instead="libdevice.tanh(x)"),
    Invented(names=("tl.pow", "tl.math.pow"), instead="libdevice.pow(x, y)"),
    Invented(names=("tl.log1p",), instead="libdevice.log1p(x)"),
    Invented(names=("tl.expm1",), instead="libdevice.expm1(x)"),
    Invented(names=("tl.round",), instead="libdevice.rint(x)"),
    Invented(names=("tl.isnan",), instead="x != x"),
    Invented(names=("tl.isinf",), instead='tl.abs(x) == float("inf")'),
    Invented(names=("tl.sign", "tl.math.sign"), instead="(x > 0).to(tl.float32) - (x < 0).to(tl.float32)"),
    Invented(names=("tl.relu",), instead="tl.maximum(x, 0.0)"),
    Invented(names=("tl.silu",), instead="x * tl.sigmoid(x)"),
    Invented(names=("tl.mean",), instead="tl.sum(x, axis=0) / n"),
    Invented(names=("tl.any",), instead="tl.max((x > 0).to(tl.int32), axis=0)"),
    Invented(names=("tl.all",), instead="tl.min((x > 0).to(tl.int32), axis=0)"),
    Invented(names=("tl.prod",), instead="tl.reduce(x, 0, times)"),
    Invented(names=("tl.ones",), instead="tl.full([N], 1.0, tl.float32)"),
    Invented(names=("tl.full_like",), instead="tl.full(x.shape, 1.0, x.dtype)"),
    Invented(names=("tl.unsqueeze",), instead="tl.expand_dims(x, 0)", before=(3, 7)),
)
"""`times` is a `@triton.jit` function of two arguments that multiplies them; `n` counts the elements of `x`, whose block has N."""

NOWHERE = (
    "matmul",
    "einsum",
    "var",
    "std",
    "norm",
    "pad",
    "roll",
    "concatenate",
    "stack",
    "bool",
    "float",
    "complex64",
    "complex128",
    "empty",
)
"""Attributes of `triton.language` that do not exist, with nothing to put in their place by name."""


def number(version: str) -> Version:
    """`3.9.0+git` as `(3, 9)`."""
    major, minor = version.split(".")[:2]
    return int(major), int(minor)


def of(entries: Sequence[Entry], version: str) -> list[Entry]:
    return [entry for entry in entries if entry.holds(number(version))]


def told(version: str) -> dict[str, Any]:
    """What `shared/triton.j2` renders."""
    return {
        "version": version,
        "facts": [fact.says for fact in of(FACTS, version)],
        "names": [name for names in of(NAMES, version) for name in names.names],
        "invented": of(INVENTED, version),
        "nowhere": NOWHERE,
    }
