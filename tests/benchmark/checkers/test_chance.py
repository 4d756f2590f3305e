"""The bounds hold: far fewer alarms than their level in many thousands of honest draws, even at a level that can be measured."""

import numpy as np
import pytest
import torch

from benchmark.checkers import chance


@pytest.fixture
def loose(monkeypatch):
    """A level at which alarms would be seen."""
    monkeypatch.setattr(chance, "ALPHA", 0.02)


@pytest.mark.parametrize("keep", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("size", [(40,), (16, 16)])
def test_honest_masks_seldom_alarm(loose, keep, size):
    """Five groups at 2 % each may alarm in 10 % of the draws; Bernstein's bounds are far from being reached."""
    rng = np.random.default_rng(1)
    known, values = torch.ones(size, dtype=torch.bool), torch.randn(size)
    masks = (torch.from_numpy(rng.random(size) < keep) for _ in range(400))
    assert sum(bool(chance.mask_fault(mask, known, keep, values)) for mask in masks) <= 40


def test_honest_samples_seldom_alarm(loose):
    rng = np.random.default_rng(1)
    assert sum(bool(chance.uniform_fault(torch.from_numpy(rng.random(100)), 0.0)) for _ in range(400)) <= 24


def test_independent_calls_seldom_alarm(loose):
    rng = np.random.default_rng(1)
    pairs = (torch.from_numpy(rng.random((2, 60)) - 0.5) for _ in range(400))
    assert sum(chance.tied(pair[0], pair[1], 1 / 12, 0.5) for pair in pairs) <= 8


@pytest.mark.parametrize(("kept", "alarm"), [(500, False), (600, True), (540, False), (640, True), (360, True)])
def test_surprise_is_the_exact_tail_of_the_binomial_up_to_a_small_factor(kept, alarm):
    """P(|X - 500| >= 140) is about 1e-18 for 1000 throws of a coin, P(|X - 500| >= 100) about 2e-10."""
    found = chance.surprising(torch.tensor(float(kept)), torch.tensor(1000.0), 0.5)
    assert bool(found) is alarm


def test_lag_of_a_period_is_named():
    x = (torch.rand(97, generator=torch.Generator().manual_seed(1)) - 0.5).repeat(20)
    lag = chance.correlated(x, torch.ones_like(x), 1 / 12, 0.5)
    assert lag is not None
    assert lag % 97 == 0
