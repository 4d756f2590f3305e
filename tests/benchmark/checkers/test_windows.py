"""The starts that fractional max pooling may choose."""

import numpy as np
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st

from benchmark.checkers.windows import windows

CPU = torch.device("cpu")


def in_fp32(length: int, size: int, count: int, u: float) -> list[int]:
    """The documented rule, in the arithmetic that kernels use."""
    if count == 1:
        return [length - size]
    alpha, sample = np.float32(length - size) / np.float32(count - 1), np.float32(u)
    starts = [int((np.float32(i) + sample) * alpha) - int(sample * alpha) for i in range(count - 1)]
    return [*starts, length - size]


@given(slack=st.integers(0, 40), count=st.integers(1, 30), size=st.integers(1, 4), u=st.floats(0, 1, exclude_max=True, width=32))
@example(slack=10, count=6, size=2, u=float(np.nextafter(np.float32(0.5), np.float32(0))))
@settings(max_examples=300, deadline=None)
def test_whatever_is_drawn_is_legal(slack: int, count: int, size: int, u: float) -> None:
    legal = windows(slack + size, size, count).starts(CPU).tolist()
    assert in_fp32(slack + size, size, count, u) in legal


@given(slack=st.integers(0, 40), count=st.integers(1, 30))
@settings(max_examples=100, deadline=None)
def test_shares_are_those_of_a_uniform_u_and_scores_are_centred(slack: int, count: int) -> None:
    axis = windows(slack + 2, 2, count)
    shares, scores = axis.shares(CPU), axis.scores(CPU)
    assert abs(float(shares.sum()) - 1) < 1e-12
    assert abs(float((shares * scores).sum())) < 1e-12
    assert float(scores.abs().max()) <= 0.5 + 1e-12


def test_shares_are_the_frequencies() -> None:
    axis = windows(11, 2, 5)
    sequences, shares = axis.starts(CPU).tolist(), axis.shares(CPU).tolist()
    tries = [in_fp32(11, 2, 5, (i + 0.5) / 4096) for i in range(4096)]
    for sequence, share in zip(sequences, shares, strict=True):
        assert abs(tries.count(sequence) / 4096 - share) < 2e-3


def test_every_start_fits_and_none_goes_back() -> None:
    for count in range(1, 12):
        starts = windows(17, 3, count).starts(CPU)
        assert bool((starts >= 0).all() and (starts <= 14).all() and (starts.diff(dim=1) >= 0).all())
        assert bool((starts[:, -1] == 14).all())
