"""Intervals for what simulations estimate: shares, quantiles and means; at 95% where nobody says.

An `Interval` is (estimate, low, high). What may be looked at again and again is sequential, and has
its bounds in `paretoid.validation.evidence`.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from typing import Any

import numpy as np

from paretoid.theory.checks import FloatArray, check_between, check_count

LEVEL = 0.95
_TAIL = 0.025  # on either side; (1 - 0.95) / 2 is a little more, and quantiles have steps

Interval = tuple[float, float, float]


def share_interval(count: Any, total: int) -> tuple[FloatArray, FloatArray]:
    """Clopper and Pearson's interval of a share, `count` of `total`; arrays go cell by cell.

    No success in n gives 0 to 1 - 0.025^(1/n), for n = 100:

    >>> low, high = share_interval(0, 100)
    >>> float(low), round(float(high), 4), round(1 - 0.025**0.01, 4)
    (0.0, 0.0362, 0.0362)
    """
    from scipy.special import betaincinv

    total = check_count(total, name="total", why="a share needs something to be a share of.")
    often = np.asarray(count)
    if often.size and (often.min() < 0 or often.max() > total):
        raise ValueError(f"count={count!r} must lie in 0..{total}: it is how many of the total.")
    low = betaincinv(np.maximum(often, 1), total - often + 1, _TAIL)
    return np.where(often == 0, 0.0, low), _upper(often, total, 1 - _TAIL)


def _upper(often: Any, total: int, confidence: float) -> FloatArray:
    """The share at which `often` of `total` or fewer have probability 1 - `confidence`."""
    from scipy.special import betaincinv

    bound = betaincinv(often + 1.0, np.maximum(total - often, 1.0), confidence)
    return np.where(often == total, 1.0, bound)


def share(count: int, total: int) -> Interval:
    """A share with Clopper and Pearson's interval.

    >>> [round(number, 4) for number in share(0, 100)]
    [0.0, 0.0, 0.0362]
    """
    low, high = share_interval(count, total)
    return count / total, float(low), float(high)


def share_upper_bound(count: int, total: int, confidence: float = LEVEL) -> float:
    """A share is below this with `confidence`, if `total` was fixed beforehand; Clopper-Pearson.

    Without a success it is 1 - (1 - confidence)^(1/total).

    >>> round(share_upper_bound(0, 100), 4), round(1 - 0.05**0.01, 4)
    (0.0295, 0.0295)
    """
    total = check_count(total, name="total", least=0, why="it is how many were made.")
    count = check_count(count, name="count", least=0, most=total, why="it is some of the total.")
    return float(_upper(count, total, check_confidence(confidence)))


def check_confidence(confidence: Any) -> float:
    """`confidence` as a float strictly between 0 and 1.

    >>> check_confidence(0.95)
    0.95
    """
    return check_between(
        confidence, 0, 1, name="confidence", why="it is the probability that an upper bound holds. "
        "The default is 0.95.",
    )  # fmt: skip


def quantile(values: Any, q: float) -> float:
    """The smallest of `values` with a share q of them at or below; they may hold inf.

    >>> quantile([4, 1, 3, 2], 0.5), quantile([1, np.inf, np.inf], 0.5)
    (2.0, inf)
    """
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    n = check_count(len(ordered), name="the number of values", why="nothing has no quantile.")
    if not 0 < q < 1:
        raise ValueError(f"q={q!r} must lie strictly between 0 and 1: it is a share of the values.")
    return float(ordered[max(math.ceil(q * n - 1e-9), 1) - 1])


def quantile_interval(values: Any, q: float) -> Interval:
    """A `quantile` and its interval between order statistics.

    `values` may hold inf, for runs that did not end. Nothing is assumed about the distribution;
    with few values an end may be 0 or inf. Values are positive.

    With 1..100 the median's ranks are 40 and 61: 39 heads or fewer in 100 tosses have probability
    1.8%, 40 or fewer already 2.8%, which is more than 2.5%.

    >>> quantile_interval(range(1, 101), 0.5)
    (50.0, 40.0, 61.0)
    """
    middle = quantile(values, q)
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    n = len(ordered)
    # P(X_(r) <= quantile) = P(Binomial(n, q) >= r) and P(X_(s) >= quantile) >= P(Binomial < s)
    first = binomial_quantile(_TAIL, n, q)  # largest rank with P(Binomial < rank) <= tail
    last = binomial_quantile(1 - _TAIL, n, q) + 1  # smallest rank with P(Binomial >= rank) <= tail
    low = 0.0 if first < 1 else float(ordered[first - 1])
    return middle, low, math.inf if last > n else float(ordered[last - 1])


def binomial_quantile(level: float, n: int, q: float) -> int:
    """The smallest k with P(Binomial(n, q) <= k) >= `level`; scipy.stats takes a second to import.

    Two coins: no head has probability 1/4, at most one 3/4.

    >>> [binomial_quantile(level, 2, 0.5) for level in (0.25, 0.26, 0.75, 0.76)]
    [0, 1, 1, 2]
    """
    from scipy.special import bdtr

    return bisect_left(range(n + 1), level, key=lambda k: float(bdtr(float(k), n, q)))


def t_quantile(n: Any, level: float = LEVEL) -> FloatArray:
    """Student's quantile: a mean of n values is so many standard errors from the true one at most.

    NaN for one value, which shows no spread.

    >>> round(float(t_quantile(2)), 3)
    12.706
    """
    from scipy.special import stdtrit

    n = np.asarray(n, dtype=np.float64)
    return np.asarray(stdtrit(np.where(n > 1, n - 1, np.nan), (1 + level) / 2))


def standard_error(values: Any) -> FloatArray:
    """Of the mean over the first axis; NaN of one value.

    >>> float(standard_error([4.0, 6.0]))
    1.0
    """
    table = np.asarray(values, dtype=np.float64)
    if len(table) < 2:
        return np.full(table.shape[1:], np.nan)
    return np.asarray(table.std(axis=0, ddof=1) / math.sqrt(len(table)))


def mean_interval(values: Any) -> Interval:
    """The mean of values and Student's interval; one value has none, its ends are NaN.

    >>> mean, low, high = mean_interval([4.0, 6.0])     # t = 12.706, error 1
    >>> mean, round(low, 3), round(high, 3)
    (5.0, -7.706, 17.706)
    """
    table = np.asarray(values, dtype=np.float64)
    n = check_count(len(table), name="the number of values", why="nothing has no mean.")
    mean, half = float(table.mean()), float(t_quantile(n) * standard_error(table))
    return mean, mean - half, mean + half


def credible_interval(draws: Any) -> tuple[FloatArray, FloatArray, FloatArray]:
    """(median, low, high) of posterior draws, over the first axis: their central 95%.

    Draws may be infinite; the ends are then among them, not between two.

    >>> [round(float(end), 9) for end in credible_interval(np.arange(1.0, 202.0))]
    [101.0, 6.0, 196.0]
    """
    table = np.asarray(draws, dtype=np.float64)
    method: Any = "linear" if np.isfinite(table).all() else "inverted_cdf"
    low, high = np.quantile(table, [_TAIL, 1 - _TAIL], axis=0, method=method)
    return np.median(table, axis=0), low, high
