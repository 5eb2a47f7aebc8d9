"""LUCB and LUCB++: sample the empirical best arm and its strongest rival, D = 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from paretoid.goals import AtMost, Goal
from paretoid.rules.best_arm import BestArmRule, others_of
from paretoid.theory.checks import check_count, check_delta

if TYPE_CHECKING:
    from paretoid.view import ArmBounds


@dataclass(frozen=True)
class LUCB(BestArmRule):
    """h = empirical best arm, l = largest upper bound among the others; sample both.

    Stops when lower(h) + eps1 > upper(l) and answers h. Source: [kalyanakrishnan2012]. Ties take
    the lowest index. Both arms are sampled, h first, before the next test; a pair that does not
    fit into the budget is not begun.

    >>> LUCB().levels(5, 0.1)
    (0.02, 0.02)
    """

    guarantee = "proved"

    def pair(self, bounds: ArmBounds) -> tuple[int, int, float]:
        """h, l, and upper(l) - lower(h)."""
        mean, lower, upper = bounds
        h = int(np.argmax(mean))
        l = int(np.argmax(others_of(upper, h)))
        return h, l, float(upper[l] - lower[h])


@dataclass(frozen=True)
class LUCBpp(LUCB):
    """LUCB++: LUCB with delta shared out more cleverly [simchowitz2017].

    The lower bound of h is at level delta/(2 (K - 1)), the upper bounds of the others at delta/2.
    Proved for `AtMost(1, eps1)`: a wrong h is one of the at most K - 1 arms that are not within
    eps1 of the best and needs lower(h) > mu_h, together at most delta/2, or the upper bound of one
    best arm below its mean, delta/2. Heuristic for `ParetoSet()`: if arms tie for the best, it asks
    for all of them, and this split does not bound how often one is returned alone; that of `LUCB`
    does.

    >>> LUCBpp().levels(5, 0.08)
    (0.01, 0.04)
    >>> from paretoid import AtMost, ParetoSet
    >>> LUCBpp().proved_for(AtMost(1, 0.1)), LUCBpp().proved_for(ParetoSet())
    (True, False)
    """

    guarantee = "proved"

    def proved_for(self, goal: Goal) -> bool:
        """True: one arm is asked for, and any best one will do."""
        return isinstance(goal, AtMost)

    def levels(self, K: int, delta: float) -> tuple[float, float]:
        """(delta/(2 (K - 1)), delta/2)."""
        K = check_count(K, name="K", least=2, why="the best of one arm is known.")
        return check_delta(delta) / (2 * (K - 1)), check_delta(delta) / 2
