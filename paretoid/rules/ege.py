"""Empirical Gap Elimination: the best of a fixed budget [kone2024]."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from paretoid.bandits import Bandit
from paretoid.goals import AtMost, Goal, ParetoSet
from paretoid.rules.base import Rule, Verdicts
from paretoid.theory.checks import BoolArray, FloatArray, check_choice, check_count
from paretoid.theory.dominance import margins
from paretoid.theory.fixed_budget import SCHEMES, schedule
from paretoid.theory.gaps import gaps
from paretoid.theory.radii import Mixture, Radius

if TYPE_CHECKING:
    from paretoid.view import Standing, View


@dataclass(frozen=True)
class EGE(Rule):
    """Spend `budget` samples and answer, whatever is known by then: no delta.

    Phases over active arms. After each the empirical gaps of the active arms are computed, the arms
    with the largest leave, accepted if they are in the empirical Pareto set of the active arms and
    rejected otherwise: one arm with "SR" (successive rejects), half of them with "SH" (sequential
    halving). The last arm is accepted. Of equal gaps, arms that look dominated leave first.
    `ParetoSet` is answered when one arm is left, `AtMost(k)` as soon as k arms are accepted.

    Neither a radius nor delta is used, and the guarantee is "heuristic": how often the answer is
    wrong depends on the unknown gaps. At known means `theory.budget_error_bound` bounds it. Gaps
    compare across objectives, which are divided by their scales as for every rule.

    >>> EGE("SR", budget=1000)
    EGE(scheme='SR', budget=1000)
    >>> import paretoid as pt
    >>> bandit = pt.GaussianBandit([[2.0, 0.0], [0.0, 2.0], [-1.0, -1.0]])
    >>> runs = pt.simulate(bandit, rule=EGE("SR", budget=43), replications=2)
    >>> runs.pulls.values[0, 0].sum(), bool(runs.correct.all()), runs.attrs["guarantee"]
    (np.int64(40), True, 'heuristic')
    """

    scheme: str = "SR"
    budget: int = 0

    guarantee = "heuristic"
    whole_rounds = False
    default_radius: ClassVar[Radius] = Mixture(sides="two")  # usable after one sample

    def __post_init__(self) -> None:
        check_choice(self.scheme, SCHEMES, name="scheme", why="see the docstring of EGE.")
        budget = check_count(
            self.budget, name="budget", least=3,
            why="it is the samples of a run, and two arms need three. Pass "
            "EGE(scheme='SR', budget=1000).",
        )  # fmt: skip
        object.__setattr__(self, "budget", budget)

    def check(self, bandit: Bandit, goals: Sequence[Goal], radius: Radius) -> None:
        """The whole set or k arms, and a budget that gives every arm a sample."""
        schedule(self.scheme, bandit.K, self.budget)
        if radius != self.default_radius:
            raise ValueError(
                f"radius={radius!r} cannot serve {self}: it compares estimates and uses no radius, "
                f"only known scales. Leave radius= out."
            )
        for goal in goals:
            if type(goal) not in (ParetoSet, AtMost):
                raise ValueError(
                    f"EGE cannot answer {goal}: it sorts arms into optimal and dominated ones. It "
                    f"serves ParetoSet and AtMost; for other goals use APE()."
                )
            if goal.limits is not None:
                raise ValueError(
                    f"EGE cannot answer {goal}: its phases compare arms with each other and not "
                    f"with limits. Use APE() or RoundRobin()."
                )

    def choose(self, view: View, rng: np.random.Generator) -> list[int]:
        """The active arms that are short of the samples of this phase."""
        active = view.standing.active
        samples, _ = phases_of(self, view.K)[len(active)]
        return [arm for arm in active if view.counts[arm] < samples]

    def opening(self, counts: FloatArray, standing: Standing) -> list[int]:
        """All arms still in question, as always."""
        return list(standing.active)

    def judge(self, view: View, goal: Goal) -> BoolArray | None:
        """What was accepted, once the last phase is over or k arms are accepted."""
        accepted, dropped = self.settle(view)
        arms = [*view.standing.accepted, *accepted]
        if isinstance(goal, AtMost) and len(arms) >= goal.k:
            return np.isin(np.arange(view.K), arms[: goal.k])
        left = len(view.standing.active) - len(accepted) - len(dropped)
        return None if left else np.isin(np.arange(view.K), arms)

    def settle(self, view: View) -> Verdicts:
        """Arms that leave at the end of a phase, the largest gap first, and the last arm."""
        active = list(view.standing.active)
        accepted: list[int] = []
        dropped: dict[int, int] = {}
        phases = phases_of(self, view.K)
        while len(active) > 1:
            samples, left = phases[len(active)]
            if view.counts[active].min() < samples:
                return accepted, dropped
            order, above = leaving(view.means[active] / view.unit, left)
            for at in order:
                if above[at] >= 0:
                    dropped[active[at]] = active[above[at]]
                else:
                    accepted.append(active[at])
            gone = {active[at] for at in order}
            active = [arm for arm in active if arm not in gone]
        return [*accepted, *active], dropped


def leaving(means: FloatArray, left: int) -> tuple[list[int], list[int]]:
    """The arms that leave until `left` are left, largest gap first; by arm, what is above it.

    means  (n, D) of the active arms, in units

    The second list has -1 for arms of the empirical Pareto set, else the arm that dominates most.

    >>> leaving(np.array([[2.0, 0.0], [0.0, 1.0], [-1.0, -3.0]]), 2)
    ([2], [-1, -1, 0])
    """
    M = margins(means)
    above = np.where((M < 0).any(axis=1), M.argmin(axis=1), -1)
    order = np.lexsort((np.arange(len(means)), above < 0, -gaps(means)))
    return order[: len(means) - left].tolist(), above.tolist()


@lru_cache(maxsize=64)
def phases_of(rule: EGE, K: int) -> dict[int, tuple[int, int]]:
    """By the number of active arms: samples of each at the end of the phase, and arms left.

    >>> phases_of(EGE("SR", budget=43), 3)
    {3: (10, 2), 2: (15, 1)}
    """
    return {
        active: (samples, left) for active, samples, left in schedule(rule.scheme, K, rule.budget)
    }
