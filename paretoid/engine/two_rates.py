r"""Bounds on the difference of two rates from outcomes 0 or 1, compiled. Private.

The kernel of `BetaBinomial`; the slow reference is `theory.binary.difference_bound`, and a test
holds the two together. For mu > 0 and every pair of rates with l_i(x) + l_j(y) <= c,

.. math:: x - y \le \frac1\mu\Bigl(c - \min_x\,(l_i(x) - \mu x) - \min_y\,(l_j(y) + \mu y)\Bigr)

(theory/PROOFS.md, Section 14): **any** mu gives a valid bound, the best one the exact bound, so
that the search for mu needs no proof. Both minima are of convex functions of one variable, which
lie above their tangent at any point: the point needs no proof either. What is left is rounding, by
which minima are lowered.
"""

from __future__ import annotations

import math
from typing import Any

from paretoid.engine.cache import entry

#: Sums of log-gamma and digamma functions are right to about 1e-15 of their largest term; minima
#: are lowered by this fraction of it.
_ROUNDING = 1e-13
#: Bounds are raised by this, so that subtracting and adding an estimate cannot lower them.
_RAISED = 1e-12
#: Steps of the two searches; they take four to six, and a bound from fewer is valid too.
_STEPS = 60
#: The search for mu ends where l_i + l_j is this close to c: the bound errs by its square.
_CLOSE = 1e-4


@entry
def _digammas(x: Any) -> Any:
    """The first derivative of log-gamma at x > 0, and the second, which only the searches use.

    Recurrence to 10, then seven and four terms of their series.
    """
    shift, bend = 0.0, 0.0
    while x < 10.0:
        part = 1.0 / x
        shift -= part
        bend += part * part
        x += 1.0
    inverse = 1.0 / x
    q = inverse * inverse
    series = 1 / 240 - q * (1 / 132 - q * (691 / 32760 - q / 12))
    series = q * (1 / 12 - q * (1 / 120 - q * (1 / 252 - q * series)))
    tri = inverse + q / 2 + q * inverse * (1 / 6 - q * (1 / 30 - q * (1 / 42 - q / 30)))
    return shift + math.log(x) - 0.5 * inverse - series, bend + tri


@entry
def _slope(m: Any, s: Any, rho: Any, extra: Any) -> Any:
    """(slope, curvature, size of its terms) of the sum of log(rho + (extra + k)/m) over k < s."""
    if extra == 0.0:  # the first term is constant
        s, extra = s - 1.0, 1.0
    if s <= 0.0:
        return 0.0, 0.0, 0.0
    a, b = rho * m + (extra + s), rho * m + extra
    at_a, at_b = _digammas(a), _digammas(b)
    up, down, last = rho * at_a[0], rho * at_b[0], s / m
    curvature = rho * rho * (at_a[1] - at_b[1]) + last / m
    return up - down - last, curvature, abs(up) + abs(down) + last


@entry
def _sum(m: Any, s: Any, rho: Any, extra: Any) -> Any:
    """(value, size of its terms) of the sum of log(rho + (extra + k)/m) over k < s.

    Rules that imagine outcomes on their way ask for s between whole numbers: continuous in s.
    """
    first = 0.0
    if extra == 0.0:
        first = math.log(rho)
        if s <= 1.0:
            return s * first, abs(first)
        s, extra = s - 1.0, 1.0
    if s <= 0.0:
        return 0.0, 0.0
    up, down = math.lgamma(rho * m + (extra + s)), math.lgamma(rho * m + extra)
    last = s * math.log(m)
    return first + up - down - last, abs(first) + abs(up) + abs(down) + abs(last)


@entry
def _least(s: Any, f: Any, rho: Any, ones: Any, zeros: Any, mu: Any, guess: Any) -> Any:
    """The least of l(x) - mu x over [0, 1], from below, where it is, l there and l'' there.

    s, f         successes and failures of the stream
    ones, zeros  what a plan adds to its prior
    mu           any number but 0; where the least is at 0 or 1 the curvature returned is infinite
    guess        where the search begins; not in (0, 1): where the likelihood alone would be least
    """
    n, x = s + f, guess
    if not 0.0 < x < 1.0:
        shape = n - mu  # n (x - s/n) = mu x (1 - x)
        x = 2.0 * s / (shape + math.sqrt(max(shape * shape + 4.0 * mu * s, 0.0)) + 1e-300)
    low, high = 0.0, 1.0
    edge = -1.0
    # without a plan the first success, or failure, weighs the same at every rate
    if s <= (1.0 if ones == 0.0 else 0.0) and -_slope(1.0, f, rho, zeros)[0] >= mu:
        edge = 0.0
    elif f <= (1.0 if zeros == 0.0 else 0.0) and _slope(1.0, s, rho, ones)[0] <= mu:
        edge = 1.0
    slope, curvature, size = 0.0, math.inf, 0.0
    if edge >= 0.0:
        x = edge
        if x == 0.0:
            fall = _slope(1.0, f, rho, zeros)
            slope, size = -fall[0] - mu, fall[2]
        else:
            rise = _slope(1.0, s, rho, ones)
            slope, size = rise[0] - mu, rise[2]
    else:
        for _ in range(_STEPS):
            if not low < x < high:
                x = (low + high) / 2
            rise, fall = _slope(x, s, rho, ones), _slope(1.0 - x, f, rho, zeros)
            slope, curvature = rise[0] - fall[0] - mu, rise[1] + fall[1]
            size = rise[2] + fall[2]
            if abs(slope) <= 1e-10 * abs(mu):
                break
            if slope > 0:
                high = x
            else:
                low = x
            following = x - slope / curvature
            if not low < following < high:
                following = (low + high) / 2
            if following == x:
                break
            x = following
    ups, downs = _sum(x, s, rho, ones), _sum(1.0 - x, f, rho, zeros)
    weight = rho + (ones + zeros)
    top, base = math.lgamma(n + weight), math.lgamma(weight)
    value = ups[0] + downs[0] - (top - base)
    # the tangent at x, at whichever end of [0, 1] it is lowest
    tangent = max(slope * x, -slope * (1.0 - x))
    size += ups[1] + downs[1] + abs(top) + abs(base) + abs(mu) + n
    return value - mu * x - tangent - _ROUNDING * size, x, value, curvature


@entry
def _upper(
    s_i: Any, n_i: Any, rho_i: Any, ones_i: Any, zeros_i: Any,
    s_j: Any, n_j: Any, rho_j: Any, ones_j: Any, zeros_j: Any, c: Any,
) -> Any:  # fmt: skip
    """An upper bound on x - y over all rates with l_i(x) + l_j(y) <= c; 1 if there is no other."""
    p, q = (s_i + 1.0) / (n_i + 2.0), (s_j + 1.0) / (n_j + 2.0)
    spread = p * (1.0 - p) / (n_i + 1.0) + q * (1.0 - q) / (n_j + 1.0)
    paid = c + 0.5 * (math.log1p(n_i / rho_i) + math.log1p(n_j / rho_j))
    mu = math.sqrt(2.0 * paid / spread)
    low, high = 0.0, math.inf
    best, x, y = 1.0, -1.0, -1.0
    for _ in range(_STEPS):
        least_i, x, value_i, bend_i = _least(s_i, n_i - s_i, rho_i, ones_i, zeros_i, mu, x)
        least_j, y, value_j, bend_j = _least(s_j, n_j - s_j, rho_j, ones_j, zeros_j, -mu, y)
        best = min(best, (c - least_i - least_j) / mu)
        missing = c - value_i - value_j
        if abs(missing) <= _CLOSE:
            break
        if missing > 0:
            low = mu
        else:
            high = mu
        before = mu
        grows = mu * (1.0 / bend_i + 1.0 / bend_j)
        if grows > 0:
            mu = min(max(mu + missing / grows, mu / 4.0), mu * 4.0)
        else:
            mu = mu * 4.0 if missing > 0 else mu / 4.0
        if not low < mu < high:
            mu = (low + high) / 2 if high < math.inf else low * 4.0
        if mu > 1e18:
            break
        x, y = x + (mu - before) / bend_i, y - (mu - before) / bend_j  # where they are next
    return min(max(best + _RAISED, -1.0), 1.0)


@entry
def _pair(
    i: Any, j: Any, d: Any, successes: Any, counts: Any, rho: Any, ones: Any, zeros: Any, c: Any
) -> Any:  # fmt: skip
    """The upper bound on m_i - m_j in objective d, at log(1/level) = c."""
    return _upper(
        successes[i, d], counts[i, d], rho[i], ones[i, d], zeros[i, d],
        successes[j, d], counts[j, d], rho[j], ones[j, d], zeros[j, d], c,
    )  # fmt: skip


@entry
def fill_bounds(
    successes: Any, counts: Any, rho: Any, ones: Any, zeros: Any, keep: Any, drop: Any,
    changed: Any, lower: Any, upper: Any,
) -> None:  # fmt: skip
    """Write the bounds on m_i - m_j for the pairs of which an arm has changed.

    successes, counts  (K, D) float64  read
    rho                (K,) float64    read
    ones, zeros        (K, D) float64  read; what a plan adds to the priors
    keep               (K, D) float64  read; log(1/level) of lower bounds on m_i - m_j, any j
    drop               (K, K) float64  read; that of upper bounds, any objective
    changed            (K, D) bool     read
    lower, upper       (K, K, D) float64  written; their diagonals are left alone
    """
    K, D = counts.shape
    for d in range(D):
        for i in range(K):
            for j in range(K):
                if i != j and (changed[i, d] or changed[j, d]):
                    upper[i, j, d] = _pair(i, j, d, successes, counts, rho, ones, zeros, drop[i, j])
                    lower[i, j, d] = -_pair(
                        j, i, d, successes, counts, rho, ones, zeros, keep[i, d]
                    )
