r"""A fixed budget of N samples: how they are spent, and how small the error can be.

Here nothing is promised in advance: the probability of a wrong answer depends on gaps that nobody
knows. At known means, in a simulation, it is bounded from above for Empirical Gap Elimination and
from below for every algorithm. The algorithm and H_2 are those of [kone2024]; the constants and the
proofs of both bounds are ours (theory/PROOFS.md, Section 13).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from paretoid.theory.bound import Bound
from paretoid.theory.checks import BoolArray, FloatArray, as_means, check_choice, check_count
from paretoid.theory.dominance import margins
from paretoid.theory.gaps import gaps
from paretoid.theory.units import as_scale, in_scale_units

SCHEMES = ("SR", "SH")


def schedule(scheme: str, K: int, budget: int) -> list[tuple[int, int, int]]:
    r"""Phases of Empirical Gap Elimination: (arms active, samples of each by its end, arms left).

    With lambda_r active arms in phase r and log-bar K = 1/2 + sum over i = 2..K of 1/i,

    .. math::
        \mathrm{SR}:\;& \lambda_{r+1} = \lambda_r - 1, &
            n_r &= \Bigl\lceil \frac{N - K}{\overline{\log} K\,\lambda_r} \Bigr\rceil \\
        \mathrm{SH}:\;& \lambda_{r+1} = \lceil \lambda_r / 2 \rceil, &
            n_r &= n_{r-1} + \Bigl\lfloor \frac{N}{\lambda_r \lceil\log_2 K\rceil} \Bigr\rfloor

    until one arm is left. Never more than N samples in all; rounding may leave some unspent.
    Source: [kone2024], after successive rejects and sequential halving.

    >>> schedule("SR", 3, budget=43)      # log-bar 3 = 4/3, so that 40 / (4/3) = 30
    [(3, 10, 2), (2, 15, 1)]
    >>> schedule("SH", 4, budget=32)
    [(4, 4, 2), (2, 12, 1)]
    """
    check_choice(scheme, SCHEMES, name="scheme", why="one arm leaves a phase, or half of them.")
    K = check_count(K, name="K", least=2, why="with one arm there is nothing to find out.")
    halvings = math.ceil(math.log2(K))
    least = K + 1 if scheme == "SR" else K * halvings
    budget = check_count(
        budget, name="budget", least=least,
        why=f"it is the samples of a run, and the first phase of EGE({scheme!r}) gives each of "
        f"{K} arms at least one.",
    )  # fmt: skip
    phases, active, spent = [], K, 0
    harmonic = 0.5 + sum(1 / i for i in range(2, K + 1))
    while active > 1:
        if scheme == "SR":
            left, spent = active - 1, math.ceil((budget - K) / (harmonic * active))
        else:
            left, spent = (active + 1) // 2, spent + budget // (active * halvings)
        phases.append((active, spent, left))
        active = left
    return phases


def H_2(means: Any, scale: Any = 1.0) -> float:
    r"""The complexity of a fixed budget: max over i of i / Delta_(i)^2, gaps in increasing order.

    inf if a gap is 0. `scale` as in every bound. Source: [kone2024].

    >>> H_2([[1.0, 0.0], [0.0, 1.0], [-0.5, -0.25]])    # gaps 1/2, 1/2, 1/2
    12.0
    """
    mu, _ = in_scale_units(means, scale=scale)
    ordered = np.sort(gaps(mu))
    with np.errstate(divide="ignore", over="ignore"):
        return float((np.arange(1, len(mu) + 1) / ordered / ordered).max())


def budget_error_bound(means: Any, budget: int, scheme: str = "SR", scale: Any = 1.0) -> Bound:
    r"""A probability that the error of Empirical Gap Elimination does not exceed, at these means.

    .. math::
        K (K-1) D \sum_r \exp\Bigl(-\frac{n_r\,\Delta_{(\lambda_{r+1} + 1)}^2}{64}\Bigr)
        \;\overset{\mathrm{SR}}{\le}\;
        K (K-1)^2 D \exp\Bigl(-\frac{N - K}{64\,\overline{\log} K\, H_2}\Bigr),

    at most 1, with n_r and lambda_r of `schedule` and gaps in units of the scale, in increasing
    order. It bounds the error for the whole Pareto set and for any k arms of it.
    Source: PROOFS.md, Section 13. We differ from [kone2024]: H_2 enters with a constant derived
    here, and the sum replaces its largest term.

    >>> b = budget_error_bound([[8.0, 0.0], [0.0, 8.0]], budget=22)    # gaps 8, n_1 = 10
    >>> bool(np.isclose(b, 2 * 2 * math.exp(-10)))
    True
    """
    mu, _ = in_scale_units(means, scale=scale)
    K, D = mu.shape
    distances = np.sort(gaps(mu))
    exponents = [n * distances[left] ** 2 / 64 for _, n, left in schedule(scheme, K, budget)]
    total = K * (K - 1) * D * sum(math.exp(-x) for x in exponents)
    return Bound(
        min(1.0, total),
        holds=f"the error of EGE({scheme!r}, budget={budget}) at these means, which are unknown "
        f"outside a simulation",
        source="theory/PROOFS.md, Section 13",
        gaps=distances,
    )


def moving_costs(means: Any, scale: Any = 1.0) -> FloatArray:
    r"""(K,) half the squared distance that arm i alone is moved, at most, to change the Pareto set.

    A dominated arm is raised in one objective above all that dominate it. An optimal arm is lowered
    below another optimal arm, or raised above it, in the objectives where that takes a move; or it
    lets go of an arm that it alone dominates, in one objective. The cheapest of these counts: a
    bound on the cheapest move of all. inf where an arm has none of them.

    >>> moving_costs([[1.0, 0.0], [0.0, 1.0], [-0.5, -0.25]])    # 1 down or up; 5/4 up
    array([0.5    , 0.5    , 0.78125])
    """
    mu = as_means(means)
    mu = mu / as_scale(scale, *mu.shape).min(axis=0)
    below: BoolArray = np.less(margins(mu), 0)  # i is dominated by j
    optimal: BoolArray = np.asarray(~below.any(axis=1))
    costs = np.full(len(mu), np.inf)
    for i, own in enumerate(mu):
        if not optimal[i]:
            costs[i] = ((mu[below[i]] - own).max(axis=0) ** 2).min() / 2
            continue
        for j in np.flatnonzero(optimal):
            if j != i:
                down, up = np.maximum(own - mu[j], 0.0), np.maximum(mu[j] - own, 0.0)
                costs[i] = min(costs[i], (down**2).sum() / 2, (up**2).sum() / 2)
        for j in np.flatnonzero(below[:, i] & (below.sum(axis=1) == 1)):  # i alone is above j
            costs[i] = min(costs[i], ((own - mu[j]) ** 2).min() / 2)
    return costs


def budget_lower_bound(means: Any, budget: int, scale: Any = 1.0) -> Bound:
    r"""An error that no algorithm with N samples stays below on all of K + 1 Gaussian instances.

    .. math:: \frac14 \exp(-N / H), \qquad H = \sum_i 1 / c_i,

    with c_i of `moving_costs`. The instances are these means, and for each arm the same means with
    that arm alone moved by a little more than its cheapest move. On these means alone nothing can
    be said: an algorithm that always gives the right answer exists. inf costs add nothing.
    Source: PROOFS.md, Section 13, by Bretagnolle and Huber's inequality. We differ from [kone2024],
    which states such a bound for a class of instances with its own constant.

    >>> b = budget_lower_bound([[1.0, 0.0], [0.0, 1.0]], budget=8)    # c = 1/2, 1/2, so H = 4
    >>> b == 0.25 * math.exp(-2.0)
    True
    """
    budget = check_count(budget, name="budget", why="it is the samples of a run.")
    costs = moving_costs(means, scale)
    with np.errstate(divide="ignore"):
        hardness = float((1 / costs).sum())
    return Bound(
        0.25 * math.exp(-budget / hardness) if hardness > 0 else 0.0,
        holds="for the largest error on these means and on those with one arm moved",
        source="theory/PROOFS.md, Section 13",
        per_arm=costs,
    )
