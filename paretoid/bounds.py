"""Every bound of the theory that speaks about one bandit and one goal."""

from __future__ import annotations

from typing import Any

import numpy as np

import theory
from paretoid.bandits import Bandit, GaussianBandit
from paretoid.goals import AtMost, Goal, ParetoSet
from theory._checks import check_delta
from theory.bound import Bound
from theory.radii import Mixture


def sample_bounds(
    bandit: Bandit, goal: Goal | None = None, delta: float = 0.1, radius: Any = None
) -> dict[str, Bound]:
    """Bounds on the number of samples, by name; those that say nothing here are left out.

    sharp_bound     of APE with `radius`, by default `Mixture()`; `KaufmannKoolen` has one too
    theorem_1       of APE with the radius of the paper
    expected_lucb1  of APE with `SingleArm`, on the expectation
    characteristic  T* kl(delta, 1 - delta), a lower bound for every algorithm
    lower_bound     the formula of Theorem 2

    The lower bounds are about Gaussian outcomes, independent between objectives, and eps1 = 0;
    `characteristic` is about the whole Pareto set, not about k arms or a cover.

    >>> from paretoid import GaussianBandit
    >>> found = sample_bounds(GaussianBandit([[0.0], [2.0]]))
    >>> found["characteristic"] < found["sharp_bound"] < found["theorem_1"]
    True
    >>> found["theorem_1"].holds
    'with probability at least 1 - delta = 0.9'
    """
    if not isinstance(bandit, Bandit):
        raise ValueError(f"bandit={bandit!r} must be a Bandit, such as load_instance('covboost').")
    goal = ParetoSet() if goal is None else goal
    if not isinstance(goal, Goal):
        raise ValueError(f"goal={goal!r} must be one of ParetoSet, Cover, AtMost.")
    goal.check(bandit.K, bandit.D)
    delta = check_delta(delta)
    k = goal.k if isinstance(goal, AtMost) else None
    means, scale = bandit.oriented, bandit.scale
    problem = (goal.eps1, k, scale)
    found = {
        "sharp_bound": theory.sample_bound(
            means, delta, Mixture() if radius is None else radius, *problem
        ),
        "theorem_1": theory.theorem_1(means, delta, *problem),
        "expected_lucb1": theory.expected_samples_lucb1(means, delta, *problem),
    }
    if not exact_gaussian(bandit) or np.any(goal.eps1):
        return found
    if isinstance(goal, ParetoSet):
        found["characteristic"] = Bound(
            theory.characteristic_lower_bound(means, delta, scale),
            holds="in expectation, for every delta-correct algorithm on Gaussian arms",
            source="[garivier2016]; theory.characteristic_time",
        )
    if isinstance(goal, (ParetoSet, AtMost)):
        found["lower_bound"] = theory.lower_bound(means, delta, k or bandit.K, scale=scale)
    return found


def exact_gaussian(bandit: Bandit) -> bool:
    """Gaussian outcomes that are independent between objectives, as the lower bounds suppose."""
    return isinstance(bandit, GaussianBandit) and not hasattr(bandit, "covariance")
