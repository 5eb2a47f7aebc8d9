"""Intervals against their definitions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from paretoid.intervals import (
    binomial_quantile,
    credible_interval,
    mean_interval,
    quantile,
    quantile_interval,
    share,
    share_interval,
    share_upper_bound,
    standard_error,
    t_quantile,
)


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


@pytest.mark.parametrize("n", [1, 2, 3, 10, 57, 400, 100_000])
@pytest.mark.parametrize("level", [0.025, 0.975])
def test_quantiles_of_the_binomial_are_those_of_scipy(n, level):
    for q in (0.025, 0.1, 0.5, 0.8, 0.975):
        assert binomial_quantile(level, n, q) == stats.binom.ppf(level, n, q)


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


@pytest.mark.parametrize(("count", "total"), [(0, 10), (10, 10), (3, 40), (1, 2000)])
def test_clopper_pearson_equals_scipy(count, total):
    expected = stats.binomtest(count, total).proportion_ci(0.95, method="exact")
    assert share(count, total)[1:] == pytest.approx((expected.low, expected.high), abs=1e-12)


@pytest.mark.parametrize(("count", "total"), [(0, 1), (1, 10**9), (2, 7), (10**6 - 1, 10**6)])
def test_a_share_and_its_ends_are_those_of_the_beta_distribution(count, total):
    low = 0.0 if count == 0 else stats.beta.ppf(0.025, count, total - count + 1)
    expected = (count / total, low, stats.beta.ppf(0.975, count + 1, total - count))
    assert share(count, total) == pytest.approx(expected, rel=1e-9)


def test_an_upper_bound_of_a_share_solves_its_equation():
    """At the bound so few successes, or fewer, have exactly the probability left over."""
    upper = share_upper_bound(3, 50, 0.95)
    assert stats.binom.cdf(3, 50, upper) == pytest.approx(0.05)
    assert share_upper_bound(3, 50, 0.975) == share_interval(3, 50)[1]
    assert share_upper_bound(10, 10) == share_upper_bound(0, 0) == 1.0
    assert share_upper_bound(0, 100) == pytest.approx(1 - 0.05**0.01)
    with pytest.raises(ValueError, match="confidence=1 must lie"):
        share_upper_bound(1, 2, 1)
    with pytest.raises(ValueError, match=r"count=3 must be an integer in 0\.\.2"):
        share_upper_bound(3, 2)


def test_credible_intervals_hold_the_middle_draws_also_infinite_ones():
    draws = np.random.default_rng(3).permutation(np.arange(1.0, 1001.0))
    middle, low, high = credible_interval(np.stack([draws, -draws], axis=1))
    assert middle.tolist() == [500.5, -500.5]
    assert low == pytest.approx([25.975, -975.025])  # 999 steps, of which 2.5% are 24.975
    assert high == pytest.approx([975.025, -25.975])
    middle, low, high = credible_interval(np.where(draws > 900, np.inf, draws))
    assert (middle, low, high) == (500.5, 25.0, np.inf)


def test_student_s_quantile_is_scipy_s_and_one_value_has_none():
    assert t_quantile([2, 30], 0.9) == pytest.approx(stats.t.ppf(0.95, [1, 29]))
    assert np.isnan(t_quantile(1))


def test_quantiles_are_the_smallest_value_with_the_share():
    assert quantile(range(1, 11), 0.95) == 10
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
    mean, low, high = mean_interval(x)
    ends = stats.t.interval(0.95, 12, loc=x.mean(), scale=stats.sem(x))
    assert (low, high) == pytest.approx(ends)
    assert mean == pytest.approx(x.mean())
    assert standard_error(x) == pytest.approx(stats.sem(x))
    mean, low, high = mean_interval([7.0])
    assert mean == 7
    assert math.isnan(low)
    assert math.isnan(high)
