"""Operations of the repaired interpreter against torch."""

from collections.abc import Callable
from types import ModuleType

import pytest
import torch
import triton
import triton.language as tl

from tools.simulated import Session, Unsupported

KINDS = [torch.float32, torch.float16, torch.bfloat16]
TEMPLATE = """
import torch, triton, triton.language as tl
from triton.language.extra import libdevice

@triton.jit
def kernel(a, b, c, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    m = i < n
    x = tl.load(a + i, mask=m)
    y = tl.load(b + i, mask=m)
    z = tl.load(c + i, mask=m)
    tl.store(out + i, EXPRESSION, mask=m)

def f(a, b, c, kind):
    out = torch.empty(a.shape, dtype=kind, device=a.device)
    kernel[(1,)](a, b, c, out, a.numel(), BLOCK=256)
    return out
"""


@pytest.fixture
def compute(session: Session, load: Callable[[str], ModuleType]) -> Callable[..., torch.Tensor]:
    """The value of an expression of x, y and z in a kernel."""

    def compute(expression: str, *operands: torch.Tensor, kind: torch.dtype | None = None) -> torch.Tensor:
        given = [session.to_device(t) for t in (*operands, *operands[-1:] * (3 - len(operands)))]
        module = load(TEMPLATE.replace("EXPRESSION", expression))
        return session.to_host(module.f(*given, kind or operands[0].dtype))

    return compute


def values(kind: torch.dtype, seed: int, low: float = -8.0, high: float = 8.0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return (torch.rand(250, generator=generator) * (high - low) + low).to(kind)


ARITHMETIC = {
    "x + y": lambda x, y, z: x + y,
    "x - y": lambda x, y, z: x - y,
    "x * y": lambda x, y, z: x * y,
    "x / y": lambda x, y, z: x / y,
    "-x": lambda x, y, z: -x,
    "x * y + z": lambda x, y, z: x * y + z,
    "x + 1.0": lambda x, y, z: x + 1.0,
    "tl.maximum(x, y)": lambda x, y, z: torch.maximum(x, y),
    "tl.minimum(x, y)": lambda x, y, z: torch.minimum(x, y),
    "tl.where(x > y, x, z)": lambda x, y, z: torch.where(x > y, x, z),
    "tl.where(x == y, 1.0, 0.0)": lambda x, y, z: (x == y).to(x.dtype),
    "tl.abs(x)": lambda x, y, z: x.abs(),
    "tl.clamp(x, -1.0, 1.0)": lambda x, y, z: x.clamp(-1, 1),
    "(x.to(tl.float32) * y.to(tl.float32)).to(x.dtype)": lambda x, y, z: (x.float() * y.float()).to(x.dtype),
}


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("expression", ARITHMETIC)
def test_arithmetic_rounds_once_as_torch_does(expression: str, kind: torch.dtype, compute) -> None:
    x, y, z = (values(kind, seed) for seed in (1, 2, 3))
    assert torch.equal(compute(expression, x, y, z), ARITHMETIC[expression](x, y, z))


@pytest.mark.parametrize("source", [*KINDS, torch.float64, torch.int32, torch.int8], ids=str)
@pytest.mark.parametrize("to", [*KINDS, torch.float64, torch.int32, torch.int64], ids=str)
def test_casts_are_torchs_casts(source: torch.dtype, to: torch.dtype, compute) -> None:
    x = values(torch.float64, 4, -100, 100).to(source)
    name = f"tl.{str(to).removeprefix('torch.')}"
    assert torch.equal(compute(f"x.to({name})", x, kind=to), x.to(to))


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16], ids=str)
def test_rounding_to_a_half_type_is_to_nearest_even_at_every_edge(kind: torch.dtype, compute) -> None:
    edges = torch.tensor([0.0, -0.0, 1.00390625, 1.01171875, 3.38e38, 65519.0, 65520.0, 6e-8, 1e-40, float("inf"), float("-inf")])
    got = compute(f"x.to(tl.{str(kind).removeprefix('torch.')})", edges, kind=kind)
    assert torch.equal(got, edges.to(kind))
    assert torch.equal(got.signbit(), edges.to(kind).signbit())
    assert compute("x.to(tl.bfloat16)", torch.tensor([float("nan")]), kind=torch.bfloat16).isnan().all()


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_storing_converts_to_the_pointers_type(kind: torch.dtype, compute) -> None:
    x = values(torch.float32, 5)
    assert torch.equal(compute("x", x, kind=kind), x.to(kind))


FUNCTIONS = {
    "tl.exp(x)": torch.exp,
    "tl.log(x)": torch.log,
    "tl.sqrt(x)": torch.sqrt,
    "tl.rsqrt(x)": torch.rsqrt,
    "tl.sigmoid(x)": torch.sigmoid,
    "tl.erf(x)": torch.erf,
    "tl.math.erf(x)": torch.erf,
    "tl.math.exp2(x)": torch.exp2,
    "tl.sin(x)": torch.sin,
    "tl.floor(x)": torch.floor,
    "tl.math.ceil(x)": torch.ceil,
    "tl.fma(x, x, x)": lambda x: x * x + x,
    "tl.extra.libdevice.tanh(x)": torch.tanh,
    "tl.extra.cuda.libdevice.tanh(x)": torch.tanh,
    "libdevice.tanh(x)": torch.tanh,
    "libdevice.pow(x, x)": lambda x: torch.pow(x, x),
    "libdevice.log1p(x)": torch.log1p,
    "libdevice.expm1(x)": torch.expm1,
    "libdevice.erf(x)": torch.erf,
    "libdevice.erfinv(x / 8)": lambda x: torch.erfinv(x / 8),
    "libdevice.atan2(x, x)": lambda x: torch.atan2(x, x),
    "libdevice.rint(x)": torch.round,
    "libdevice.round(x)": lambda x: (x + 0.5).floor(),
    "libdevice.fast_expf(x)": torch.exp,
    "libdevice.div_rn(x, x + 1)": lambda x: x / (x + 1),
    "libdevice.float2int_rn(x)": torch.round,
    "libdevice.isnan(x).to(tl.float32)": lambda x: x.isnan().float(),
}


@pytest.mark.parametrize("expression", FUNCTIONS)
def test_functions_are_torchs_functions(expression: str, compute) -> None:
    x = values(torch.float32, 6, 0.1, 7.9)
    torch.testing.assert_close(compute(expression, x), FUNCTIONS[expression](x), rtol=1e-6, atol=1e-6)


def test_a_libdevice_function_without_a_counterpart_is_unsupported(compute) -> None:
    with pytest.raises(Unsupported, match="__nv_rnorm3df"):
        compute("libdevice.rnorm3d(x, y, z)", values(torch.float32, 7))


def test_functions_imported_by_name_work(session: Session, load) -> None:
    source = TEMPLATE.replace(
        "from triton.language.extra import libdevice",
        "from triton.language import load, exp, sum\n"
        "from triton.language.extra.libdevice import tanh\nfrom triton.language.math import log",
    )
    module = load(source.replace("EXPRESSION", "tanh(x) + exp(x) + log(x) + sum(x)").replace("tl.load", "load"))
    x = values(torch.float32, 8, 0.5, 2)
    padded = torch.nan_to_num(x).sum()
    given = session.to_device(x)
    out = session.to_host(module.f(given, given, given, torch.float32))
    torch.testing.assert_close(out, x.tanh() + x.exp() + x.log() + padded, rtol=1e-5, atol=1e-4)


@triton.jit
def rows(x, values, places, total, scan, M: tl.constexpr, N: tl.constexpr):
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    block = tl.load(x + at)
    peak, place = tl.max(block, axis=1, return_indices=True)
    tl.store(values + tl.arange(0, M), peak)
    tl.store(places + tl.arange(0, M), place)
    tl.store(total + tl.arange(0, M), tl.sum(block, axis=1))
    tl.store(scan + at, tl.cumsum(block, axis=1))


@pytest.mark.parametrize("kind", [*KINDS, torch.int32], ids=str)
def test_reductions_and_scans_of_rows(kind: torch.dtype, session: Session) -> None:
    x = torch.randint(-9, 9, (8, 64)).to(kind) if kind == torch.int32 else values(kind, 9).repeat(3)[:512].view(8, 64)
    peak, place = torch.empty(8, dtype=kind, device="cuda"), torch.empty(8, dtype=torch.int32, device="cuda")
    total, scan = torch.empty(8, dtype=kind, device="cuda"), torch.empty(8, 64, dtype=kind, device="cuda")
    rows[(1,)](session.to_device(x), peak, place, total, scan, M=8, N=64)
    assert torch.equal(session.to_host(peak), x.max(dim=1).values)
    assert torch.equal(session.to_host(place), x.argmax(dim=1).int())
    torch.testing.assert_close(session.to_host(scan), x.cumsum(1).to(kind))
    expected = x.double().sum(1).to(kind) if kind != torch.float32 else x.sum(1)
    torch.testing.assert_close(session.to_host(total), expected)


@triton.jit
def first_extremes(x, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n, other=0)
    tl.store(out, tl.argmax(v, axis=0))
    tl.store(out + 1, tl.argmin(v, axis=0))
    tl.store(out + 2, tl.argmax(v, axis=0, tie_break_left=False))


def test_ties_go_to_the_first_index(session: Session) -> None:
    x = session.to_device(torch.tensor([1.0, 5.0, -2.0, 5.0, -2.0]))
    out = torch.empty(3, dtype=torch.int32, device="cuda")
    first_extremes[(1,)](x, out, 5, BLOCK=8)
    assert session.to_host(out).tolist() == [1, 2, 1]


@triton.jit
def merge(mean_a, m2_a, n_a, mean_b, m2_b, n_b):
    delta = mean_b - mean_a
    n = n_a + n_b
    return mean_a + delta * n_b / n, m2_a + m2_b + delta * delta * n_a * n_b / n, n


@triton.jit
def product(a, b):
    return a * b


@triton.jit
def custom(x, out, scan, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i)
    mean, m2, count = tl.reduce((v, tl.zeros_like(v), tl.full((BLOCK,), 1.0, tl.float32)), 0, merge)
    tl.store(out, mean)
    tl.store(out + 1, m2 / count)
    tl.store(out + 2, tl.reduce(v, 0, product))
    tl.store(scan + i, tl.associative_scan(v, 0, product))
    tl.store(scan + BLOCK + i, tl.associative_scan(v, 0, product, reverse=True))


def test_any_combine_function_reduces_and_scans(session: Session) -> None:
    x = values(torch.float32, 10, 0.5, 1.5)[:64]
    out, scan = torch.empty(3, device="cuda"), torch.empty(128, device="cuda")
    custom[(1,)](session.to_device(x), out, scan, BLOCK=64)
    torch.testing.assert_close(session.to_host(out), torch.stack([x.mean(), x.var(correction=0), x.prod()]))
    torch.testing.assert_close(session.to_host(scan)[:64], x.cumprod(0))
    torch.testing.assert_close(session.to_host(scan)[64:], x.flip(0).cumprod(0).flip(0))


@triton.jit
def sorted_block(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, tl.sort(tl.load(x + i)))


def test_sorting_a_block(session: Session) -> None:
    x = values(torch.float32, 11)[:64]
    out = torch.empty(64, device="cuda")
    sorted_block[(1,)](session.to_device(x), out, N=64)
    assert torch.equal(session.to_host(out), x.sort().values)


@triton.jit
def product_of(a, b, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, PRECISION: tl.constexpr, OUT: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    left = tl.load(a + m[:, None] * K + k[None, :])
    right = tl.load(b + k[:, None] * N + n[None, :])
    tl.store(c + m[:, None] * N + n[None, :], tl.dot(left, right, input_precision=PRECISION, out_dtype=OUT))


def multiplied(session: Session, a: torch.Tensor, b: torch.Tensor, precision: str | None = None) -> torch.Tensor:
    kind, out = (torch.int32, tl.int32) if a.dtype == torch.int8 else (torch.float32, tl.float32)
    c = torch.empty(a.shape[0], b.shape[1], dtype=kind, device="cuda")
    product_of[(1,)](session.to_device(a), session.to_device(b), c, *a.shape[:1], *b.shape[1:], a.shape[1], precision, out)
    return session.to_host(c)


def test_int8_products_are_exact(session: Session) -> None:
    a, b = (torch.randint(-128, 128, (32, 32), dtype=torch.int8) for _ in range(2))
    assert torch.equal(multiplied(session, a, b), (a.long() @ b.long()).int())


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16], ids=str)
def test_half_products_are_summed_in_fp32(kind: torch.dtype, session: Session) -> None:
    a, b = values(kind, 12).repeat(5)[:1024].view(32, 32), values(kind, 13).repeat(5)[:1024].view(32, 32)
    torch.testing.assert_close(multiplied(session, a, b), a.float() @ b.float(), rtol=1e-5, atol=1e-4)


def test_fp32_products_lose_bits_in_tf32_and_only_there(session: Session) -> None:
    a, b = torch.randn(16, 16), torch.randn(16, 16)
    exact = a.double() @ b.double()
    error = {p: ((multiplied(session, a, b, p).double() - exact).norm() / exact.norm()).item() for p in (None, "tf32", "ieee")}
    assert error["ieee"] < 1e-6
    assert 1e-5 < error["tf32"] < 2e-3
    assert error[None] == error["tf32"]


@triton.jit
def histogram_by_atomics(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n, other=0)
    tl.atomic_add(out + v, 1.0, mask=i < n)


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_atomic_addition_counts_every_lane(kind: torch.dtype, session: Session) -> None:
    x = torch.randint(0, 10, (300,))
    out = torch.zeros(10, dtype=kind, device="cuda")
    histogram_by_atomics[(3,)](session.to_device(x.int()), out, 300, BLOCK=128)
    assert torch.equal(session.to_host(out).long(), torch.bincount(x, minlength=10))


@triton.jit
def extremes_by_atomics(x, out, BLOCK: tl.constexpr):
    v = tl.load(x + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK))
    tl.atomic_max(out, tl.max(v, axis=0))
    tl.atomic_min(out + 1, tl.min(v, axis=0))
    tl.atomic_cas(out + 2, 0.0, tl.sum(v, axis=0))


def test_atomic_extremes_and_exchange(session: Session) -> None:
    x = values(torch.float32, 14)[:128]
    out = torch.zeros(3, device="cuda")
    extremes_by_atomics[(2,)](session.to_device(x), out, BLOCK=64)
    got = session.to_host(out)
    assert got[0] == x.max()
    assert got[1] == x.min()
    assert torch.isclose(got[2], x[:64].sum())


@triton.jit
def masked_by_integers(x, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    keep = (i < n).to(tl.int32) * (i % 2 == 0).to(tl.int32)
    tl.store(out + i, tl.load(x + i, mask=keep != 0, other=-1.0), mask=(i < n).to(tl.int1))


def test_masks_made_of_integers(session: Session) -> None:
    out = torch.zeros(8, device="cuda")
    masked_by_integers[(1,)](session.to_device(torch.arange(5.0)), out, 5, BLOCK=8)
    assert session.to_host(out).tolist() == [0, -1, 2, -1, 4, 0, 0, 0]


@triton.jit
def scalars(out, eps, n, flag, nothing, BLOCK: tl.constexpr):
    wide = n.to(tl.int64) * 4
    if nothing is None:
        tl.store(out, eps + 0.0)
    if flag:
        tl.store(out + 1, wide.to(tl.float32))
    if min(n, 3) == 3 and not (n > 100):
        tl.store(out + 2, max(n, 9).to(tl.float32))
    tl.store(out + 3, tl.cdiv(n, BLOCK).to(tl.float32))


def test_scalar_arguments_have_the_compilers_types(session: Session) -> None:
    out = torch.zeros(4, device="cuda")
    scalars[(1,)](out, 1e-5, 7, True, None, BLOCK=4)
    assert session.to_host(out).tolist() == [torch.tensor(1e-5).item(), 28, 9, 2]


@triton.jit
def uniform(out, seed, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.rand(seed, i))


def test_random_numbers_are_uniform_and_depend_on_the_seed(session: Session) -> None:
    one, two = torch.empty(1024, device="cuda"), torch.empty(1024, device="cuda")
    uniform[(1,)](one, 1, BLOCK=1024)
    uniform[(1,)](two, 2, BLOCK=1024)
    assert abs(one.mean().item() - 0.5) < 0.05
    assert not torch.equal(one, two)
    assert one.max() < 1
