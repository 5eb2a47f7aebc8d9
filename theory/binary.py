r"""Evidence about two success rates, valid at all times, for outcomes 0 or 1.

Sub-Gaussian intervals treat an outcome 0 or 1 as one of scale 1/2, whatever its rate; for rare
events the variance m (1 - m) is far smaller. Here two rates are compared by a product of two
beta-binomial mixtures. For stream a with s successes in n draws and a
hypothesised rate m, the prior Beta(rho m, rho (1 - m)) is centred at the hypothesis, and

.. math::
    \ell(m) = \log\frac{B(\rho m + s,\ \rho(1-m) + n - s)}{B(\rho m,\ \rho(1-m))}
              - s \log m - (n - s)\log(1-m)

is the logarithm of a martingale from 1 if m is the true rate. What speaks against
m_i >= m_j + eps is the least of l_i(x) + l_j(y) over all x >= y + eps: proof in theory/PROOFS.md,
Section 14. rho is a number of draws, as in `Mixture`, and is fixed before the data. A rate that was
planned adds draws of its own, `ones` and `zeros`: Beta(rho m + ones, rho (1 - m) + zeros).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from paretoid.theory.checks import FloatArray, check_positive

#: Halvings of the bracket around the common rate; then it is below 2^-60 wide.
HALVINGS = 60

#: Sums of log-gamma functions are right to about 1e-15 of their largest term; the evidence is
#: lowered by this fraction of it, so that what is returned is never above what is proved.
ROUNDING = 1e-13


#: ones and zeros that a plan adds to the prior of a stream: none
UNPLANNED = (0.0, 0.0)


def log_mixture(
    m: Any, successes: Any, draws: Any, rho: Any, planned: tuple[Any, Any] = UNPLANNED
) -> FloatArray:
    """l(m), the log of the mixture over the likelihood at rate m in (0, 1); convex in m.

    rho = 2, m = 1/2: Beta(1, 1) gives each outcome of one draw 1/2, so l = 0; to two successes of
    two it gives 1/3, where the hypothesis gives 1/4.

    >>> log_mixture(0.5, 1, 1, 2.0).item(), round(float(np.exp(log_mixture(0.5, 2, 2, 2.0))), 4)
    (0.0, 1.3333)

    With one more planned success the prior is Beta(2, 1), which gives a success 2/3:

    >>> round(float(np.exp(log_mixture(0.5, 1, 1, 2.0, (1.0, 0.0)))), 4)
    1.3333
    """
    m, s, n = (np.asarray(value, dtype=np.float64) for value in (m, successes, draws))
    value, _ = _value(m, s, n, _Prior(np.asarray(rho, dtype=np.float64), *planned))
    return value


def log_evidence(
    successes_i: Any,
    draws_i: Any,
    successes_j: Any,
    draws_j: Any,
    rho: Any = 30.0,
    eps: Any = 0.0,
    planned: tuple[tuple[float, float], tuple[float, float]] = (UNPLANNED, UNPLANNED),
) -> FloatArray:
    r"""Evidence against m_i >= m_j + eps, as the log of an e-value; 0 where there is none.

    If m_i >= m_j + eps, it ever reaches log(1/alpha) with probability at most alpha, however draws
    were chosen. For a pair and an objective one such event bounds m_i - m_j from both sides and
    for every eps at once. Arguments may be arrays, `rho` a pair (rho_i, rho_j); `planned` has the
    ones and zeros that a plan adds to the priors of i and of j.

    6 of 100 against 30 of 100:

    >>> round(float(log_evidence(6, 100, 30, 100)), 1)
    6.5
    >>> float(log_evidence(30, 100, 6, 100))
    0.0
    """
    s_i, n_i, s_j, n_j = _counts(successes_i, draws_i, successes_j, draws_j)
    prior_i, prior_j = _priors(rho, planned)
    margin = np.asarray(eps, dtype=np.float64)
    if not (np.abs(margin) < 1).all():
        raise ValueError(
            f"eps={eps!r} must lie strictly between -1 and 1: it is a difference of two rates."
        )
    shape = np.broadcast(s_i, n_i, s_j, n_j, margin).shape
    first = np.broadcast_to(np.maximum(0.0, -margin), shape)
    last = np.broadcast_to(np.minimum(1.0, 1.0 - margin), shape)
    low, high = first, last
    for _ in range(HALVINGS):
        y = (low + high) / 2
        rising = _slope(y, s_j, n_j, prior_j) + _slope(y + margin, s_i, n_i, prior_i) > 0
        low, high = np.where(rising, low, y), np.where(rising, y, high)
    y = (low + high) / 2
    slope_i, slope_j = _slope(y + margin, s_i, n_i, prior_i), _slope(y, s_j, n_j, prior_j)
    value_i, size_i = _value(y + margin, s_i, n_i, prior_i)
    value_j, size_j = _value(y, s_j, n_j, prior_j)
    # A convex function is nowhere in the bracket below its tangent at y.
    below = np.abs(slope_i + slope_j) * (high - low)
    least = value_i + value_j - below - ROUNDING * (size_i + size_j)
    # The least value is on the border x = y + eps unless the sum falls into the region from there;
    # then it is not positive. At an end of the border the rate that is 0 or 1 cannot move: ask the
    # other one.
    fixed_x = np.where(margin < 0, low == first, high == last)
    pressed = np.where(fixed_x, -slope_j, slope_i) > 0
    return np.where(pressed, np.maximum(least, 0.0), 0.0)


def difference_bound(
    successes_i: Any,
    draws_i: Any,
    successes_j: Any,
    draws_j: Any,
    alpha: float,
    rho: Any = 30.0,
    planned: tuple[tuple[float, float], tuple[float, float]] = (UNPLANNED, UNPLANNED),
) -> FloatArray:
    """U with m_i - m_j <= U at all times, with probability at least 1 - alpha; 1: nothing is known.

    The smallest eps, rounded up to 1e-9, against which `log_evidence` reaches log(1/alpha). The
    bound from below is `-difference_bound` of the streams exchanged, on the same event.

    >>> float(difference_bound(6, 100, 30, 100, alpha=0.1)) < 0    # rates differ
    True
    >>> float(difference_bound(0, 0, 0, 0, alpha=0.1))
    1.0
    """
    if not 0 < alpha < 1:
        raise ValueError(f"alpha={alpha!r} must lie strictly between 0 and 1: it is the level.")
    s_i, n_i, s_j, n_j = _counts(successes_i, draws_i, successes_j, draws_j)
    shape = np.broadcast(s_i, n_i, s_j, n_j).shape
    low, high = np.full(shape, -1.0), np.ones(shape)
    while float((high - low).max(initial=0.0)) > 1e-9:
        eps = (low + high) / 2
        shown = log_evidence(s_i, n_i, s_j, n_j, rho, eps, planned) >= math.log(1 / alpha)
        low, high = np.where(shown, low, eps), np.where(shown, eps, high)
    return np.where(high >= 1 - 1e-8, 1.0, high)


class _Prior(NamedTuple):
    """Beta(rho m + ones, rho (1 - m) + zeros)."""

    rho: Any
    ones: float
    zeros: float


def _value(
    m: FloatArray, s: FloatArray, n: FloatArray, prior: _Prior
) -> tuple[FloatArray, FloatArray]:
    """l(m) and the size of its largest terms."""
    from scipy.special import gammaln

    f, weight = n - s, prior.rho + (prior.ones + prior.zeros)
    total = gammaln(n + weight) - gammaln(weight)
    up, down = _sum(m, s, prior.rho, prior.ones), _sum(1 - m, f, prior.rho, prior.zeros)
    size = np.abs(total) + np.abs(up) + np.abs(down) + 2 * gammaln(n + weight + 2)
    return up + down - total, size


def _sum(m: FloatArray, s: FloatArray, rho: Any, extra: float) -> FloatArray:
    """The sum of log(rho + (extra + k)/m) over k = 0, ..., s - 1.

    Without `extra` the first term is log(rho), and nothing cancels as m goes to 0.
    """
    from scipy.special import gammaln, xlogy

    m = np.maximum(m, np.finfo(float).tiny)
    first, start = (np.log(rho), 1.0) if extra == 0 else (0.0, extra)
    left = s - 1 if extra == 0 else s
    x = rho * m + start
    terms = first + gammaln(x + np.maximum(left, 0)) - gammaln(x) - xlogy(left, m)
    return np.where(s > 0, terms, 0.0)


def _slope(m: FloatArray, s: FloatArray, n: FloatArray, prior: _Prior) -> FloatArray:
    """The derivative of l at m."""
    up = _sum_slope(m, s, prior.rho, prior.ones)
    return up - _sum_slope(1 - m, n - s, prior.rho, prior.zeros)


def _sum_slope(m: FloatArray, s: FloatArray, rho: Any, extra: float) -> FloatArray:
    from scipy.special import psi

    m = np.maximum(m, np.finfo(float).tiny)
    start, left = (1.0, s - 1) if extra == 0 else (extra, s)
    x = rho * m + start
    slope = rho * (psi(x + np.maximum(left, 0)) - psi(x)) - left / m
    return np.where(left > 0, slope, 0.0)


def _counts(*given: Any) -> tuple[FloatArray, ...]:
    """Successes and draws of both streams, checked."""
    s_i, n_i, s_j, n_j = (np.asarray(value, dtype=np.float64) for value in given)
    for s, n in ((s_i, n_i), (s_j, n_j)):
        if not ((s == np.floor(s)) & (n == np.floor(n)) & (0 <= s) & (s <= n) & (n < 1e15)).all():
            raise ValueError(
                "successes and draws must be whole numbers with 0 <= successes <= draws: outcomes "
                "are 0 or 1."
            )
    return s_i, n_i, s_j, n_j


def _priors(rho: Any, planned: Any) -> tuple[_Prior, _Prior]:
    both = rho if isinstance(rho, (tuple, list)) else (rho, rho)
    why = "it is the weight of the prior in draws."
    first, second = (check_positive(value, name="rho", why=why) for value in both)
    draws = np.array(planned, dtype=np.float64)
    if draws.shape != (2, 2) or not (np.isfinite(draws) & (draws >= 0)).all():
        raise ValueError(
            f"planned={planned!r} must be ((ones, zeros), (ones, zeros)), none of them negative: "
            f"the draws that a plan adds to the two priors."
        )
    return _Prior(first, *draws[0].tolist()), _Prior(second, *draws[1].tolist())
