"""Intervals against their definitions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from paretoid.intervals import mean_interval, quantile_interval, share_interval


@pytest.mark.parametrize(("count", "total"), [(0, 1), (1, 1), (0, 50), (3, 50), (50, 50), (49, 50)])
def test_the_ends_of_a_share_leave_two_and_a_half_percent_each(count, total):
    low, high = share_interval(count, total)
    if count == 0:
        assert low == 0
    else:
        assert stats.binom.sf(count - 1, total, low) == pytest.approx(0.025)
    if count == total:
        assert high == 1
    else:
        assert stats.binom.cdf(count, total, high) == pytest.approx(0.025)


def test_shares_go_cell_by_cell_and_refuse_what_is_no_share():
    low, high = share_interval(np.array([0, 3]), 10)
    assert low[1] == share_interval(3, 10)[0]
    assert high[0] == share_interval(0, 10)[1]
    with pytest.raises(ValueError, match=r"must lie in 0\.\.10"):
        share_interval(11, 10)
    with pytest.raises(ValueError, match=r"must lie in 0\.\.10"):
        share_interval(-1, 10)
    with pytest.raises(ValueError, match="total=0"):
        share_interval(0, 0)


@pytest.mark.parametrize(("n", "q"), [(5, 0.5), (20, 0.5), (40, 0.9), (101, 0.8), (7, 0.99)])
def test_order_statistics_cover_the_quantile_and_no_narrower_pair_does(n, q):
    # Of values 1..n the ends are the ranks themselves; the true quantile has rank Binomial(n, q)
    # values at or below it, so it lies in [X_(r), X_(s)) when r <= Binomial < s.
    _, low, high = quantile_interval(np.arange(1, n + 1), q)
    heads = stats.binom(n, q).pmf(np.arange(n + 1))
    below = heads[: int(low)].sum()
    above = 0.0 if math.isinf(high) else heads[int(high) :].sum()
    assert below <= 0.025
    assert above <= 0.025
    assert heads[: int(low) + 1].sum() > 0.025
    assert heads[(n if math.isinf(high) else int(high) - 1) :].sum() > 0.025


def test_quantiles_are_the_smallest_value_with_the_share():
    assert quantile_interval([4, 1, 3, 2], 0.5)[0] == 2
    assert quantile_interval([4, 1, 3, 2], 0.51)[0] == 3
    assert quantile_interval([1, math.inf, math.inf], 0.5)[0] == math.inf
    assert quantile_interval(np.arange(1, 11), 0.1 + 0.2)[0] == 3  # 0.30000000000000004
    for q in (0, 1, 2.0):
        with pytest.raises(ValueError, match="strictly between"):
            quantile_interval([1.0], q)
    with pytest.raises(ValueError, match="number of values"):
        quantile_interval([], 0.5)


def test_means_have_students_interval():
    x = np.random.default_rng(2).normal(size=13)
    mean, low, high = mean_interval(x.sum(), ((x - x.mean()) ** 2).sum(), len(x))
    ends = stats.t.interval(0.95, 12, loc=x.mean(), scale=stats.sem(x))
    assert (low, high) == pytest.approx(ends)
    assert mean == pytest.approx(x.mean())
    mean, low, high = mean_interval(7.0, 0.0, 1)
    assert mean == 7
    assert math.isnan(low)
    assert math.isnan(high)
