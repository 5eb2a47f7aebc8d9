"""What the rules for one objective share: bounds on single arms, and which goals they serve."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from paretoid.bandits import Bandit
from paretoid.goals import AtMost, Goal, ParetoSet
from paretoid.rules.base import Rule, less_sampled
from paretoid.theory.checks import BoolArray, FloatArray, WrongTypeError, check_count, check_delta
from paretoid.theory.radii import Radius
from paretoid.theory.single_stream import ArmMixture, ArmRadius

if TYPE_CHECKING:
    from paretoid.view import ArmBounds, View


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
    >>> LUCB().pair((np.array([0.0, 1.0]), np.array([-2.0, -1.0]), np.array([2.0, 3.0])))
    (1, 0, 3.0)
    """

    default_radius: ClassVar[ArmRadius] = ArmMixture()

    def pair(self, bounds: ArmBounds) -> tuple[int, int, float]:
        """(candidate, rival, upper bound of the rival less lower bound of the candidate)."""
        raise NotImplementedError(f"{type(self).__name__} must define pair(bounds).")

    def choose(self, view: View, rng: np.random.Generator) -> list[int]:
        """The pair, or the less sampled of it."""
        candidate, rival, _ = self._pair(view)
        if self.in_rounds:
            return [candidate, rival]
        return [less_sampled(candidate, rival, view.counts)]

    def judge(self, view: View, goal: Goal) -> BoolArray | None:
        """Every goal asks for the best arm; it is known once the pair is apart."""
        candidate, _, gap = self._pair(view)
        return np.arange(view.K) == candidate if gap < view.eps1[0] else None

    def _pair(self, view: View) -> tuple[int, int, float]:
        assert view.single is not None, "a rule for single arms needs a radius on these"
        return self.pair(view.single)

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
            raise WrongTypeError(
                f"radius={radius!r} is no radius on single arms, which {name} compares. Leave "
                f"radius out, or pass ArmMixture() or IteratedLogarithm()."
            )
        for goal in goals:
            exact = type(goal) is ParetoSet and not goal.eps1
            free = goal.limits is None
            if not free or not (exact or (type(goal) is AtMost and goal.k == 1)):
                raise ValueError(
                    f"{name} returns one arm, and a correct answer to {goal} may need more or "
                    f"others. It serves ParetoSet() and AtMost(1, eps1); for other goals use "
                    f"APE()."
                )


def others_of(bounds: FloatArray, arm: int) -> FloatArray:
    """The bounds of all arms but one, which gets minus infinity."""
    return np.where(np.arange(len(bounds)) == arm, -np.inf, bounds)
