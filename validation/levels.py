"""What a mixture spends of delta, counted from its constants, and whether one side costs enough.

Two checks that need no simulation, so that they see a constant that is wrong by a few percent:
`spent` turns every constant back into a level and adds the levels up over the claims that can be
wrong together (theory/PROOFS.md, Sections 4 and 9); `half_plane_slack` evaluates the half-plane
mixture itself where an error is exactly as large as the radius (Section 8).
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import log_ndtr, ndtr

from paretoid.theory.radii import MixedScale, Mixture, MixtureRadius, UnknownScale
from paretoid.theory.shares import Shares

#: The constants as the radii use them.
_CLAIMS: Any = importlib.import_module("paretoid.theory.radii.claims")

#: r = (n + rho)/n is 5 for one arm and 1.1 for the other: the largest angle that is allowed.
_WORST = ((1000, 4000.0), (1000, 100.0))
#: One arm is far from a quarter of its rho.
_EARLY = ((10, 4000.0), (10, 1.0))


def spent(radius: MixtureRadius, K: int, D: int, delta: float) -> float:
    """The most that wrong claims can cost together, from the constants alone; at most delta.

    >>> round(spent(Mixture(sides="two"), 5, 3, 0.1), 6)
    0.1
    >>> spent(Mixture(), 5, 3, 0.1) <= 0.1
    True
    """
    keep, drop = radius.constants(K, D, delta)
    roles = radius.role_terms(K, D, delta)
    keeps, drops = np.full((K, D), keep), np.full((K, K), drop)
    if roles is not None:
        keeps = roles.keep_arm[:, None] + roles.keep_objective + keep
        drops = roles.drop_arm[:, None] + roles.drop_rival + drop
    variances = 0.0
    if isinstance(radius, (UnknownScale, MixedScale)):
        variances = K * int((~radius.known(D)).sum()) * math.exp(-radius.threshold(K, D, delta))
    if radius.counts_pairs(K, D, delta):
        return variances + K * (K - 1) / 2 * D * math.exp(-keep / 2)
    one = radius.sides == "one"
    level = np.vectorize(_one_sided_level if one else lambda C: math.exp(-C / 2))
    others = drops[~np.eye(K, dtype=bool)].reshape(K, K - 1)
    worst = np.maximum(level(keeps).sum(axis=1), level(others).sum(axis=1))
    return variances + float(worst.sum())


def _one_sided_level(C: float) -> float:
    """The level that a one-sided constant is proved for: the penalty written out once more."""

    def cost(log_level: float) -> float:
        log_odds = -2 * (log_level + math.log(2))
        a = 2 * math.sqrt(5) / 6 * math.sqrt(max(log_odds, 0.0))
        ratio = math.exp(-a * a / 2) / math.sqrt(2 * math.pi) / ndtr(a)
        return float(log_odds + 2 * (1.38 * ratio**2 - log_ndtr(a)) - C)

    if cost(math.log(0.3)) > 0:  # so small a constant is proved for no level of use
        return 1.0
    return math.exp(brentq(cost, -600.0, math.log(0.3), xtol=1e-13))


def half_plane_slack(alpha: float) -> float:
    """The least log of the mixture over log(1/alpha) on the boundary of usable counts; not < 0.

    Only counts at which the radius is finite are looked at, the worst angle among them.

    >>> half_plane_slack(0.05) >= 0
    True
    """
    C = float(_CLAIMS.one_sided_constant(alpha))
    usable = [
        pair
        for pair in (_WORST, _EARLY)
        if all(n >= _CLAIMS.first_usable_count(rho) for n, rho in pair)
    ]
    return min(_least_on_the_boundary(pair, alpha, C) for pair in usable)


def _least_on_the_boundary(
    pair: tuple[tuple[int, float], tuple[int, float]], alpha: float, C: float
) -> float:
    n, rho = (np.array(values, dtype=float) for values in zip(*pair, strict=True))
    A, side = n + rho, np.array([1.0, -1.0])
    error = np.sqrt(A) * side / n
    along = error / math.sqrt((error**2).sum())
    y = math.sqrt(C + np.log(A / rho).sum())
    across = np.linspace(-12, 12, 4801)[:, None] * np.array([-along[1], along[0]])
    x = np.sqrt(A) * (y * along + across)
    inside = (side * x / A).sum(axis=1) / math.sqrt((1 / A).sum())
    log_mixture = (
        math.log(2) + np.log(rho / A).sum() / 2 + (x * x / A).sum(axis=1) / 2 + log_ndtr(inside)
    )
    return float(log_mixture.min() + math.log(alpha))


def faults() -> dict[str, str]:
    """What is wrong with the mixtures as they are, by check: "levels" and "half-plane".

    >>> faults()
    {}
    """
    found: dict[str, str] = {}
    for radius, K, D, delta in _cases():
        cost = spent(radius, K, D, delta)
        if cost > delta * (1 + 1e-9):
            found["levels"] = f"{radius!r} spends {cost:.6g} of {delta:g} at K = {K}, D = {D}"
    for alpha in (0.3, 0.05, 0.01, 1e-4):
        slack = half_plane_slack(alpha)
        if slack < -1e-9:
            found["half-plane"] = f"at level {alpha:g} the mixture is {slack:.4g} short"
    return found


def _cases() -> Iterator[tuple[MixtureRadius, int, int, float]]:
    for K, D, delta in ((2, 1, 0.1), (2, 2, 0.1), (3, 2, 0.1), (5, 3, 0.05), (8, 1, 0.3)):
        uneven = np.arange(1.0, K + 1)
        objectives = np.arange(1.0, D + 1)
        shares = Shares(
            tuple(uneven / uneven.sum()), tuple(uneven[::-1] / uneven.sum()),
            tuple(objectives / objectives.sum()),
        )  # fmt: skip
        for kind in (Mixture, UnknownScale):
            for sides in ("one", "two"):
                yield kind(sides=sides), K, D, delta
                yield kind(sides=sides, shares=shares), K, D, delta
            yield kind(union="pairs"), K, D, delta


__all__ = ["faults", "half_plane_slack", "spent"]
