"""Solutions by their residuals: badly conditioned systems are judged as fairly as others."""

from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from benchmark.checkers.solutions import inverse, pseudoinverse, solution
from benchmark.precision import cut
from benchmark.task import Check, Oracle
from tests.benchmark.alternatives import linear_loops as loops
from tests.benchmark.alternatives import linearalgebra as by_hand

REAL, SEEDS, SIDES = st.sampled_from([torch.float32, torch.float64]), st.integers(0, 10**6), st.integers(1, 9)
few = settings(max_examples=25, deadline=None)


def drawn(*shape: int, dtype: torch.dtype = torch.float32, seed: int = 0) -> Tensor:
    return torch.randn(shape, dtype=dtype, generator=torch.Generator().manual_seed(seed))


def bad(n: int, last: float, dtype: torch.dtype = torch.float32) -> Tensor:
    """Singular values from 1 to `last`."""
    (left, _), (right, _) = (torch.linalg.qr(drawn(n, n, dtype=torch.float64, seed=seed)) for seed in (1, 2))
    return (left * torch.logspace(0, torch.tensor(last).log10().item(), n, dtype=torch.float64) @ right).to(dtype)


def judge(A: Tensor, B: Tensor, X: Tensor, **options: Any) -> Check:
    return solution(**options)(Oracle((A.double(), B.double()), (X,)), (X,), {})


@few
@given(SIDES, REAL, SEEDS)
def test_elimination_passes(n, dtype, seed):
    A, B = drawn(2, n, n, dtype=dtype, seed=seed), drawn(2, n, 3, dtype=dtype, seed=seed + 1)
    check = judge(A, B, by_hand.solve(A, B))
    assert check.ok, check.message


@few
@given(SIDES, REAL, SEEDS)
def test_substitution_passes_equation_by_equation(n, dtype, seed):
    A, B = drawn(n, n, dtype=dtype, seed=seed), drawn(n, 3, dtype=dtype, seed=seed + 1)
    A = A.triu() + 3 * torch.eye(n, dtype=dtype)
    check = judge(A.triu(), B, loops.substitute(A, B, upper=True), componentwise=True)
    assert check.ok, check.message


@pytest.mark.parametrize("last", [1e-2, 1e-5, 1e-9])
def test_condition_does_not_matter_but_precision_does(last):
    A, B = bad(12, last), drawn(12, 2)
    assert judge(A, B, by_hand.solve(A, B)).ok
    assert not judge(A, B, cut(torch.linalg.solve(cut(A), cut(B)))).ok


@pytest.mark.parametrize(
    "wrong",
    [
        lambda A, B, X: torch.zeros_like(X), lambda A, B, X: torch.ones_like(X), lambda A, B, X: B, lambda A, B, X: X.flip(-1),
        lambda A, B, X: torch.linalg.solve(A.mT, B), lambda A, B, X: X * 1.001, lambda A, B, X: X.index_fill(0, torch.tensor(2), torch.nan),
        lambda A, B, X: X.index_fill(0, torch.tensor(2), 0.0),
    ],
)  # fmt: skip
def test_other_answers_are_refused(wrong):
    A, B = drawn(9, 9), drawn(9, 3, seed=1)
    assert not judge(A, B, wrong(A, B, torch.linalg.solve(A, B))).ok


def test_one_wrong_column_is_found():
    A, B = drawn(9, 9), drawn(9, 3, seed=1)
    found = torch.linalg.solve(A, B)
    found[:, 1] += 1e-3
    assert judge(A, B, found).message.startswith("not met (matrix (1,)): the solution satisfies the equations")


def test_shift_is_taken_off_first():
    A, B, shift = drawn(9, 9), drawn(9, 3, seed=1), 1e3 * drawn(9, 3, seed=2)
    truth = Oracle((A.double(), B.double(), shift.double()), (B,))
    assert solution(shifted=True)(truth, (torch.linalg.solve(A, B) + shift,), {}).ok
    assert not solution(shifted=True)(truth, (torch.linalg.solve(A, B),), {}).ok


def test_least_squares_are_judged_within_the_range():
    A, B = drawn(13, 5), drawn(13, 2, seed=1)
    orthogonal, upper = by_hand.qr(A)
    found = loops.substitute(upper, orthogonal.mT @ B, upper=True)
    assert judge(A, B, found).ok
    assert not judge(A, B, found * 1.001).ok


@few
@given(SIDES, REAL, SEEDS)
def test_inverse_by_elimination_passes(n, dtype, seed):
    A = drawn(2, n, n, dtype=dtype, seed=seed)
    found = by_hand.invert_matrix_lu(A)
    check = inverse()(Oracle((found,), (found,)), (found,), {"A": A})
    assert check.ok, check.message


@pytest.mark.parametrize("wrong", [torch.zeros_like, torch.ones_like, lambda x: x.mT.contiguous(), lambda x: x * 1.001, cut])
def test_other_inverses_are_refused(wrong):
    A = drawn(9, 9)
    found = wrong(torch.linalg.inv(A))
    assert not inverse()(Oracle((found,), (found,)), (found,), {"A": A}).ok


def test_nothing_is_the_inverse_of_a_matrix_whose_inverse_cannot_be_had():
    A = bad(8, 1e-12)
    for found in (torch.zeros_like(A), 1e9 * torch.ones_like(A)):
        assert not inverse()(Oracle((found,), (found,)), (found,), {"A": A}).ok


@few
@given(SIDES, SIDES, REAL, SEEDS)
def test_pseudoinverse_by_rotations_passes(m, n, dtype, seed):
    A = drawn(2, m, n, dtype=dtype, seed=seed)
    found = by_hand.pseudoinverse_svd(A)
    check = pseudoinverse()(Oracle((A.double(),), (found,)), (found,), {"A": A})
    assert check.ok, check.message


@pytest.mark.parametrize("wrong", [torch.zeros_like, torch.ones_like, lambda x: x * 1.001, cut, lambda x: x + 1e-3])
def test_other_pseudoinverses_are_refused(wrong):
    A = drawn(9, 5)
    found = wrong(torch.linalg.pinv(A))
    assert not pseudoinverse()(Oracle((A.double(),), (found,)), (found,), {"A": A}).ok
