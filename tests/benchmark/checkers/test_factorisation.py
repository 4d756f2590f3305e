"""Factorisations by hand (reflections, rotations, elimination) pass whatever their signs and pivots are; broken ones do not."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from benchmark.checkers import factorisation
from benchmark.checkers.factorisation import apart, blocks
from benchmark.precision import cut
from benchmark.task import Check, Oracle
from tests.benchmark.alternatives import linearalgebra as by_hand

Outputs = tuple[Tensor, ...]
REAL = st.sampled_from([torch.float32, torch.float64])
ANY = st.sampled_from([torch.float32, torch.float64, torch.complex64, torch.complex128])
SIDES, SEEDS = st.integers(1, 9), st.integers(0, 10**6)
few = settings(max_examples=25, deadline=None)


def drawn(*shape: int, dtype: torch.dtype, seed: int) -> Tensor:
    return torch.randn(shape, dtype=dtype, generator=torch.Generator().manual_seed(seed))


def judge(checker: Any, reference: Callable[..., Any], actual: Any, A: Tensor, **options: Any) -> Check:
    """By the oracle of torch's own routine."""
    exact = A.to(torch.complex128 if A.is_complex() else torch.float64)
    truth = Oracle(outputs(reference(exact, **options)), outputs(reference(A, **options)), several=True)
    return checker(truth, outputs(actual), {"A": A, **options})


def outputs(result: Any) -> Outputs:
    return (result,) if isinstance(result, Tensor) else tuple(result)


def is_right(check: Check) -> None:
    assert check.ok, check.message


@few
@given(SIDES, ANY, SEEDS, st.booleans())
def test_cholesky_by_columns_passes(n, dtype, seed, upper):
    factor = drawn(2, n, n, dtype=dtype, seed=seed)
    A = factor @ factor.mH + torch.eye(n)
    A = (A + A.mH) / 2
    is_right(judge(factorisation.cholesky(), torch.linalg.cholesky, by_hand.cholesky(A, upper), A, upper=upper))


@few
@given(SIDES, SIDES, ANY, SEEDS, st.sampled_from(["reduced", "complete", "r"]))
def test_reflections_and_any_phases_pass_as_qr(m, n, dtype, seed, mode):
    A = drawn(2, m, n, dtype=dtype, seed=seed)
    orthogonal, upper = by_hand.qr(A, mode)
    if mode == "reduced":
        turn = drawn(2, upper.shape[-2], dtype=dtype, seed=seed + 1).sgn()
        orthogonal, upper = orthogonal * turn.unsqueeze(-2), upper * turn.conj().unsqueeze(-1)
    is_right(judge(factorisation.qr(), torch.linalg.qr, (orthogonal, upper), A, mode=mode))


@few
@given(SIDES, SIDES, REAL, SEEDS, st.booleans())
def test_one_sided_rotations_pass_as_svd(m, n, dtype, seed, full):
    A = drawn(2, m, n, dtype=dtype, seed=seed)
    is_right(judge(factorisation.svd(), torch.linalg.svd, by_hand.svd(A, full), A, full_matrices=full))


@few
@given(SIDES, ANY, SEEDS)
def test_qr_iteration_in_any_order_passes_as_eig(n, dtype, seed):
    A = drawn(2, n, n, dtype=dtype, seed=seed)
    values, vectors = by_hand.eig(A)
    order = torch.randperm(n, generator=torch.Generator().manual_seed(seed))
    is_right(judge(factorisation.eig(), torch.linalg.eig, (values[:, order], vectors[..., order]), A))


@few
@given(SIDES, SIDES, ANY, SEEDS)
def test_elimination_passes_as_lu(m, n, dtype, seed):
    A = drawn(2, m, n, dtype=dtype, seed=seed)
    is_right(judge(factorisation.lu(), torch.linalg.lu, by_hand.lu(A), A))


@few
@given(st.integers(2, 9), SEEDS)
def test_any_of_equal_pivots_passes_as_lu(n, seed):
    A = drawn(2, n, n, dtype=torch.float32, seed=seed).sign()
    is_right(judge(factorisation.lu(), torch.linalg.lu, by_hand.lu(A), A))


@few
@given(SIDES, ANY, SEEDS, st.booleans())
def test_other_pivots_pass_as_ldl(n, dtype, seed, hermitian):
    A = drawn(2, n, n, dtype=dtype, seed=seed)
    A = (A + (A.mH if hermitian else A.mT)) / 2
    is_right(judge(factorisation.ldl(), torch.linalg.ldl_factor, by_hand.ldl_factor(A, hermitian), A, hermitian=hermitian))


SQUARE = drawn(12, 12, dtype=torch.float32, seed=7)
SYMMETRIC = (SQUARE + SQUARE.T) / 2
POSITIVE = SQUARE @ SQUARE.T / 12 + torch.eye(12)
RULES: dict[str, tuple[Any, Callable[..., Any], Tensor]] = {
    "cholesky": (factorisation.cholesky(), torch.linalg.cholesky, (POSITIVE + POSITIVE.T) / 2),
    "qr": (factorisation.qr(), torch.linalg.qr, SQUARE),
    "svd": (factorisation.svd(), torch.linalg.svd, SQUARE),
    "eig": (factorisation.eig(), torch.linalg.eig, SQUARE),
    "lu": (factorisation.lu(), torch.linalg.lu, SQUARE),
    "ldl": (factorisation.ldl(), torch.linalg.ldl_factor, SYMMETRIC),
}
any_rule = pytest.mark.parametrize("name", RULES)


@any_rule
@pytest.mark.parametrize("probe", ["zeros", "ones", "input", "nan", "lower", "another", "shape", "dtype", "one output less"])
def test_probe_is_refused(name, probe):
    checker, reference, A = RULES[name]
    right = outputs(reference(A))
    wrong = {
        "zeros": tuple(map(torch.zeros_like, right)),
        "ones": tuple(map(torch.ones_like, right)),
        "input": tuple(A.to(part.dtype) if part.shape == A.shape else part for part in right),
        "nan": (right[0].clone().index_fill_(0, torch.tensor(3), float("nan")), *right[1:]),
        "lower": tuple(map(cut, outputs(reference(cut(A))))),
        "another": outputs(reference(A.flip(0, 1) + (2 * torch.eye(12) if name == "cholesky" else 0.0))),
        "shape": (right[0][:-1], *right[1:]),
        "dtype": (right[0].to(torch.complex128), *right[1:]),
        "one output less": right[:-1],
    }[probe]
    kinds = {"nan": "nonfinite", "shape": "wrong_shape", "dtype": "wrong_dtype", "one output less": "wrong_shape"}
    check = judge(checker, reference, wrong, A)
    assert not check.ok
    assert check.kind == kinds.get(probe, "wrong_numeric")


BROKEN: dict[str, dict[str, Callable[..., Any]]] = {
    "cholesky": {
        "a negative column": lambda lower: (lower * torch.tensor([1.0] * 11 + [-1.0]),),
        "something above the diagonal": lambda lower: (lower + 1e-7 * torch.ones(12, 12).triu(1),),
        "the upper factor": lambda lower: (lower.T.contiguous(),),
    },
    "qr": {
        "a sign of R alone": lambda q, r: (q, r * torch.tensor([-1.0] + [1.0] * 11).unsqueeze(-1)),
        "not orthogonal": lambda q, r: (q * 2, r / 2),
        "something below the diagonal": lambda q, r: (q, r + 1e-8 * torch.ones(12, 12).tril(-1)),
        "Q = A": lambda q, r: (q @ r, torch.eye(12)),
    },
    "svd": {
        "ascending": lambda u, s, v: (u.flip(-1), s.flip(-1), v.flip(-2)),
        "a negative value": lambda u, s, v: (u * -1, s * -1, v),
        "V in place of its transpose": lambda u, s, v: (u, s, v.T.contiguous()),
        "a sign of U alone": lambda u, s, v: (u * torch.tensor([-1.0] + [1.0] * 11), s, v),
        "scaled vectors": lambda u, s, v: (u * 2, s / 2, v),
    },
    "eig": {
        "values in another order than vectors": lambda w, v: (w.roll(1), v),
        "one pair twice": lambda w, v: (torch.cat([w[:1], w[:-1]]), torch.cat([v[:, :1], v[:, :-1]], 1)),
        "vectors of norm 2": lambda w, v: (w, 2 * v),
        "conjugated values": lambda w, v: (w.conj().resolve_conj(), v),
        "no vectors": lambda w, v: (w, torch.zeros_like(v)),
    },
    "lu": {
        "P transposed": lambda p, low, u: (p.T.contiguous(), low, u),
        "P L in place of L": lambda p, low, u: (torch.eye(12), p @ low, u),
        "a half permutation": lambda p, low, u: (p / 2, low, u * 2),
        "the diagonal in L": lambda p, low, u: (p, low * u.diagonal(), u / u.diagonal().unsqueeze(-1)),
        "an exchange too many": lambda p, low, u: (p.roll(1, 1), low, u),
    },
    "ldl": {
        "pivots from zero": lambda compact, pivots: (compact, pivots - pivots.sign()),
        "pivots in order": lambda compact, pivots: (compact, torch.arange(1, 13, dtype=torch.int32)),
        "pivots beyond": lambda compact, pivots: (compact, torch.full_like(pivots, 13)),
        "half a block": lambda compact, pivots: (compact, torch.cat([pivots[:-1], torch.tensor([-12], dtype=torch.int32)])),
        "D missing": lambda compact, pivots: (compact.tril(-1) + torch.eye(12), pivots),
    },
}  # fmt: skip


@pytest.mark.parametrize(("name", "what"), [(name, what) for name, broken in BROKEN.items() for what in broken])
def test_broken_factors_are_refused(name, what):
    checker, reference, A = RULES[name]
    check = judge(checker, reference, BROKEN[name][what](*outputs(reference(A))), A)
    assert check.kind == "wrong_numeric"


def test_elimination_without_pivots_is_refused_where_pivots_are_asked_for():
    lower, upper = by_hand.lu(SQUARE, pivot=False)[1:]
    check = judge(factorisation.lu(), torch.linalg.lu, (torch.eye(12), lower, upper), SQUARE)
    assert "the pivot is the largest" in check.message


def test_message_tells_the_demand_the_matrix_and_the_numbers():
    A = torch.stack([SQUARE, SQUARE])
    orthogonal, upper = torch.linalg.qr(A)
    upper[1, 0, 0] *= 1.01
    check = judge(factorisation.qr(), torch.linalg.qr, (orthogonal, upper), A)
    assert check.message.startswith("not met (matrix (1,)): Q R is the matrix; off by ")
    assert check.matched == 0.5


@given(st.permutations(range(6)), SEEDS)
def test_multisets_are_apart_by_their_worst_pair(order, seed):
    numbers = drawn(6, dtype=torch.complex128, seed=seed)
    moved = numbers[order].clone()
    assert float(apart(numbers, moved)) == 0
    moved[2] += 1e-6
    assert 0.9e-6 < float(apart(numbers, moved)) < 1.1e-6


@pytest.mark.parametrize(
    ("pivots", "found"),
    [
        ([1, 2, 3], [(0, 1), (1, 1), (2, 1)]),
        ([3, -3, -3], [(0, 1), (1, 2)]),
        ([-2, -2, 3], [(0, 2), (2, 1)]),
        ([-2, -3, 3], None),
        ([1, 1, 3], None),
        ([1, 2, -3], None),
        ([1, 2, 4], None),
        ([0, 2, 3], None),
        ([-1, -1, 3], None),
    ],
)
def test_blocks_of_pivots(pivots, found):
    assert blocks(pivots) == found
