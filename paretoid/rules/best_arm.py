"""What the rules for one objective share: bounds on single arms, and which goals they serve."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from paretoid.bandits import Bandit
from paretoid.goals import AtMost, Goal, ParetoSet
from paretoid.rules.base import Rule
from paretoid.theory.checks import check_count, check_delta
from paretoid.theory.radii import Radius
from paretoid.theory.single_stream import ArmMixture, ArmRadius


class BestArmRule(Rule):
    """A rule for D = 1 that keeps an interval on each arm's mean and returns one arm.

    It serves `AtMost(1, eps1)`, one arm within eps1 of the best, and `ParetoSet()`, which for one
    objective is the best arm. A lower bound is used at level `levels(K, delta)[0]`, an upper
    bound at level `levels(K, delta)[1]`.

    >>> from paretoid import LUCB, GaussianBandit, simulate
    >>> runs = simulate(GaussianBandit([[0.0], [3.0]]), rule=LUCB(), replications=5)
    >>> runs.answer.values.sum(axis=(0, 1))
    array([0, 5])
    >>> BestArmRule().levels(5, 0.1)
    (0.02, 0.02)
    """

    default_radius: ClassVar[ArmRadius] = ArmMixture()

    def levels(self, K: int, delta: float) -> tuple[float, float]:
        """(level of lower bounds, level of upper bounds): delta/K each.

        An answer J that is not within eps1 of the best arm a needs lower(J) > mu_J or
        upper(a) < mu_a: one bound of each arm, so K events.
        """
        K = check_count(K, name="K", least=2, why="the best of one arm is known.")
        return check_delta(delta) / K, check_delta(delta) / K

    def check(self, bandit: Bandit, goals: Sequence[Goal], radius: Radius) -> None:
        """One objective, a radius for single arms, and a goal that one arm can answer."""
        name = type(self).__name__
        if bandit.D != 1:
            raise ValueError(
                f"rule={self!r} looks for the best arm, and {bandit!r} has {bandit.D} objectives, "
                f"where there may be several. Use APE(), UniformElimination() or RoundRobin()."
            )
        if not isinstance(radius, ArmRadius):
            raise ValueError(
                f"radius={radius!r} is no radius on single arms, which {name} compares. Leave "
                f"radius out, or pass ArmMixture() or IteratedLogarithm()."
            )
        for goal in goals:
            exact = isinstance(goal, ParetoSet) and not goal.eps1
            if not exact and not (isinstance(goal, AtMost) and goal.k == 1):
                raise ValueError(
                    f"{name} returns one arm, and a correct answer to {goal} may need more or "
                    f"others. It serves ParetoSet() and AtMost(1, eps1); for other goals use "
                    f"APE()."
                )
