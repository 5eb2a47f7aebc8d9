"""Intervals for what simulations estimate: shares, quantiles and means. All at 95%."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from paretoid.theory.checks import FloatArray, check_count

LEVEL = 0.95


def share_interval(count: Any, total: int) -> tuple[FloatArray, FloatArray]:
    """Clopper and Pearson's interval of a share, `count` of `total`; arrays go cell by cell.

    No success in n gives 0 to 1 - 0.025^(1/n), for n = 100:

    >>> low, high = share_interval(0, 100)
    >>> float(low), round(float(high), 4), round(1 - 0.025**0.01, 4)
    (0.0, 0.0362, 0.0362)
    """
    from scipy.stats import beta

    total = check_count(total, name="total", why="a share needs something to be a share of.")
    found = np.asarray(count)
    if found.size and (found.min() < 0 or found.max() > total):
        raise ValueError(f"count={count!r} must lie in 0..{total}: it is how many of the total.")
    tail = (1 - LEVEL) / 2
    low = beta.ppf(tail, np.maximum(found, 1), total - found + 1)
    high = beta.ppf(1 - tail, found + 1, np.maximum(total - found, 1))
    return np.where(found == 0, 0.0, low), np.where(found == total, 1.0, high)


def quantile_interval(values: Any, q: float) -> tuple[float, float, float]:
    """(quantile, low, high): the smallest value with a share q at or below, and its interval.

    `values` may hold inf, for runs that did not end. The ends are order statistics, so nothing is
    assumed about the distribution; with few values an end may be 0 or inf. Values are positive.

    With 1..100 the median's ranks are 40 and 61: 39 heads or fewer in 100 tosses have probability
    1.8%, 40 or fewer already 2.8%, which is more than 2.5%.

    >>> quantile_interval(range(1, 101), 0.5)
    (50.0, 40.0, 61.0)
    """
    from scipy.stats import binom

    ordered = np.sort(np.asarray(values, dtype=np.float64))
    n = check_count(len(ordered), name="the number of values", why="nothing has no quantile.")
    if not 0 < q < 1:
        raise ValueError(f"q={q!r} must lie strictly between 0 and 1: it is a share of the values.")
    at = max(math.ceil(q * n - 1e-9), 1) - 1
    tail = (1 - LEVEL) / 2
    # P(X_(r) <= quantile) = P(Binomial(n, q) >= r) and P(X_(s) >= quantile) >= P(Binomial < s)
    first = int(binom.ppf(tail, n, q))  # largest rank with P(Binomial < rank) <= tail
    last = int(binom.ppf(1 - tail, n, q)) + 1  # smallest rank with P(Binomial >= rank) <= tail
    low = 0.0 if first < 1 else float(ordered[first - 1])
    return float(ordered[at]), low, math.inf if last > n else float(ordered[last - 1])


def mean_interval(total: float, squares: float, n: int) -> tuple[float, float, float]:
    """(mean, low, high) from the sum of n values and of their squared deviations; Student's t.

    One value has no interval: its ends are NaN.

    >>> mean, low, high = mean_interval(10.0, 2.0, 2)     # 4 and 6: t = 12.706, error 1
    >>> mean, round(low, 3), round(high, 3)
    (5.0, -7.706, 17.706)
    """
    from scipy.stats import t

    n = check_count(n, name="n", why="nothing has no mean.")
    mean = total / n
    if n == 1:
        return mean, math.nan, math.nan
    half = float(t.ppf((1 + LEVEL) / 2, n - 1)) * math.sqrt(max(squares, 0.0) / (n - 1) / n)
    return mean, mean - half, mean + half
