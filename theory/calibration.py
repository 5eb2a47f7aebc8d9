r"""The calibration function C^g of [kaufmann2021] and the counts of a union bound."""

from __future__ import annotations

import math
from functools import lru_cache

from paretoid.theory.checks import check_choice, check_count, check_delta, check_positive

UNIONS = ("claims", "pairs", "none")


def K1(K: int, D: int) -> int:
    """Number of differences mu_i^d - mu_j^d with i < j: K (K - 1) D / 2.

    >>> K1(20, 3)
    570
    """
    K = check_count(K, name="K", least=2, why="a difference needs two arms.")
    D = check_count(D, name="D", why="there must be an objective.")
    return K * (K - 1) * D // 2


def C_g(x: float) -> float:
    r"""C^g(x), exactly: the smallest (g(l) + x) / l over l in (1/2, 1].

    .. math:: g(l) = 2l - 2l \log(4l) + \log\zeta(2l) - \tfrac12 \log(1-l)

    Source: [kaufmann2021, Proposition 24 and the definition of C^g]. g is infinite at both ends
    and (g + x)/l has one minimum between them; it is bracketed to machine precision.

    >>> round(C_g(math.log(10) / 2), 3)
    2.671
    """
    return _exact(_check_x(x))


@lru_cache(maxsize=1024)
def _exact(x: float) -> float:
    from scipy.optimize import minimize_scalar

    # Near l = 1 the minimiser of large x is at 1 - 1/(2x): search in log(1 - l).
    best = minimize_scalar(
        lambda s: _slope(1 - math.exp(s), math.exp(s), x),
        bounds=(math.log(1e-18), math.log(0.5 - 1e-12)),
        method="bounded",
        options={"xatol": 1e-10},
    )
    return float(best.fun)


def _slope(lam: float, rest: float, x: float) -> float:
    """(g(l) + x) / l with rest = 1 - l given apart, exact when l rounds to 1."""
    from scipy.special import zeta

    g = 2 * lam - 2 * lam * math.log(4 * lam) + math.log(zeta(2 * lam)) - math.log(rest) / 2
    return float((g + x) / lam)


def C_g_approximate(x: float) -> float:
    """x + log x, the paper's stand-in for C^g: too small for small x, so no proof rests on it.

    >>> round(C_g_approximate(math.log(10) / 2), 3)
    1.292
    """
    x = _check_x(x)
    return x + math.log(x)


def _check_x(x: float) -> float:
    return check_positive(x, name="x", why="it is log(1/alpha)/2.")


def claim_counts(K: int, D: int, union: str) -> tuple[int, int]:
    """How many events can go wrong for keeping and for dropping arms: (keep, drop).

    A lower bound keeps arms at level delta / keep, an upper bound drops them at delta / drop.

    "claims"  K D and K (K - 1): only claims that can be wrong are counted. Correctness of every
              goal is proved for any sampling rule; the event that all intervals hold has no
              1 - delta guarantee. For K <= 3 with D <= 2 neither count is below the pairs',
              so the pairs are used.
    "pairs"   K1 = K (K - 1) D / 2 for both: the paper's union, all intervals hold together.
    "none"    1: no union bound, a heuristic.

    Source: the claims argument is our own, proved in theory/PROOFS.md, Section 4.

    >>> claim_counts(20, 3, "claims"), claim_counts(20, 3, "pairs"), claim_counts(2, 1, "claims")
    ((60, 380), (570, 570), (1, 1))
    """
    check_choice(union, UNIONS, name="union", why="it says which events are counted.")
    pairs = K1(K, D)
    if union == "none":
        return 1, 1
    if union == "pairs" or (K <= 3 and D <= 2):
        return pairs, pairs
    return K * D, K * (K - 1)


def levels(K: int, D: int, delta: float, union: str) -> tuple[float, float]:
    """(alpha_keep, alpha_drop): `delta` shared out by `claim_counts`.

    Three arms have three pairs, with two objectives six differences: delta/6 over pairs.

    >>> keep, drop = levels(3, 2, 0.12, "pairs")
    >>> round(keep, 6), round(drop, 6)
    (0.02, 0.02)
    >>> levels(3, 2, 0.12, "none")
    (0.12, 0.12)
    """
    delta = check_delta(delta)
    keep, drop = claim_counts(K, D, union)
    return delta / keep, delta / drop
