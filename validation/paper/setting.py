"""What the paper's experiments share: its radius, its random instances, and the two it only drew.

The radius has no union bound (K1 = 1) and C^g(x) = x + log x, so it is heuristic
[kone2023, Section 5 and appendix "Implementation"]; Bernoulli outcomes have scale 1/2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import paretoid as pt
from paretoid.theory.checks import FloatArray
from paretoid.theory.dominance import pareto_set

if TYPE_CHECKING:
    import xarray as xr

RADIUS = pt.KaufmannKoolen("approximate", union="none")
ELIMINATION = "PSI-Unif-Elim"
OURS = "instance chosen by us: the paper prints its own only as a picture"


def random_means(count: int, K: int, D: int, seed: int) -> FloatArray:
    """(count, K, D) means, uniform on [0, 1]; the first ones do not depend on `count`.

    >>> bool((random_means(3, 5, 2, 1) == random_means(9, 5, 2, 1)[:3]).all())
    True
    """
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(K, D)))
    return rng.random((count, K, D))


def random_bandits(count: int, K: int, D: int, seed: int) -> list[pt.Bandit]:
    """Bernoulli bandits with `random_means`, shared by the algorithms compared."""
    return [pt.BernoulliBandit(means) for means in random_means(count, K, D, seed)]


def pareto_sizes(means: FloatArray) -> FloatArray:
    """(count,) number of optimal arms of each instance."""
    return np.array([pareto_set(table).sum() for table in means], dtype=np.float64)


def flat(data: xr.Dataset, name: str, goal: int = 0) -> FloatArray:
    """One value per run, whether the runs are replications or instances; (runs, K) for arms."""
    values = data[name].isel(goal=goal)
    arms = values.sizes.get("arm")
    return np.asarray(values.values.reshape(-1 if arms is None else (-1, arms)))


def cover_bandit() -> pt.Bandit:
    """Five arms as the appendix describes them [kone2023, appendix, (eps1, eps2)-APE].

    Its text: S* = {0, 1, 2}, chosen by hand; arms 0 and 1 differ by 0.1 on both axes, arms 1 and 2
    by 0.05, so arm 0 has the largest omega; the last two arms uniformly random. Coordinates are
    only in a picture. Ours: the optimal arms around the middle, and the first two vectors of
    `default_rng(0)` that some optimal arm dominates.

    >>> pareto_set(cover_bandit().means)
    array([ True,  True,  True, False, False])
    """
    optimal = np.array([[0.45, 0.75], [0.55, 0.65], [0.60, 0.60]])
    rng = np.random.default_rng(0)
    rest: list[FloatArray] = []
    while len(rest) < 2:
        point = np.round(rng.random(2), 2)
        if (point < optimal).all(axis=1).any():
            rest.append(point)
    return pt.BernoulliBandit(np.vstack([optimal, *rest]))


def slow_bandit() -> pt.Bandit:
    """Five arms on which elimination keeps sampling an arm that is long known to be optimal.

    Its text: S* = {0, 2, 3}; arm 2 is easy to identify as optimal, but slightly dominates the
    sub-optimal arm 1, so elimination samples arm 2 until arm 1 is gone, which happens when arm 1
    is seen to be dominated by arm 3. Coordinates are only in a picture; these fit the text.

    >>> pareto_set(slow_bandit().means)
    array([ True, False,  True,  True, False])
    """
    return pt.BernoulliBandit(
        [[0.10, 0.90], [0.45, 0.28], [0.90, 0.30], [0.52, 0.55], [0.30, 0.45]]
    )


def slow_bandit_12() -> pt.Bandit:
    """K = 12, D = 10, 11 optimal arms, in the same spirit: only these numbers are printed.

    Arm 0 is dominated by 0.02 by ten easy optimal arms, each far ahead in one objective, and by
    0.07 by arm 11, which is far from the others.

    >>> int(pareto_set(slow_bandit_12().means).sum())
    11
    """
    means = np.full((12, 10), 0.22)
    means[:, 9] = 0.42
    means[0] -= 0.02  # dominated by all
    for i in range(1, 11):
        means[i, i - 1] = 0.9
    means[11] = 0.6
    means[11, 9] = 0.47
    return pt.BernoulliBandit(means)
