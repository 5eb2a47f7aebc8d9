"""The setting of a run, all that it depends on besides its seed, and the checks of its parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from paretoid.bandits import Bandit
from paretoid.conduct import Conduct
from paretoid.engine.build import build_program, check_radius, runs_compiled, runs_conducted
from paretoid.engine.columns import Columns
from paretoid.engine.program import Program
from paretoid.goals import Cover, Goal, ParetoSet
from paretoid.goals.base import with_union
from paretoid.parts import as_goals, check_limits, guarantee_of, listed
from paretoid.rules import APE, BestArmRule, Rule
from paretoid.runs.feasibility import refuse_endless
from paretoid.theory.checks import (
    WrongTypeError,
    as_epsilon,
    check_count,
    check_delta,
    refusal,
    shown,
)
from paretoid.theory.member import weakest
from paretoid.theory.radii import Mixture, Radius
from paretoid.theory.single_stream import ArmRadius


@dataclass(frozen=True)
class Setting:
    """All that a stream depends on besides its seed; `goals` share one eps1.

    `readable` asks for the readable loop where a compiled one would do the same.
    """

    bandit: Bandit
    goals: tuple[Goal, ...]
    rule: Rule
    radius: Radius
    delta: float
    max_samples: int | None
    conduct: Conduct | None = None
    readable: bool = False

    @property
    def conducted(self) -> bool:
        """True: outcomes are late or lost, or looks are rare: a trial on a calendar."""
        return self.conduct is not None and not self.conduct.is_ideal

    @property
    def compiled(self) -> bool:
        """True: a compiled loop runs it; False: the readable one does."""
        if self.readable:
            return False
        if self.conducted:
            assert self.conduct is not None
            if self.conduct.randomise is not None:
                return False
            covers = sum(isinstance(goal, Cover) for goal in self.goals)
            # a live trial shares delta out among covers, which its loop does not know
            if covers > 1 or not runs_conducted(self.rule, self.radius):
                return False
        return runs_compiled(self.bandit, self.goals, self.rule, self.radius)

    @property
    def certifies(self) -> bool:
        """True: there are intervals on pairs of arms, so tests can settle single arms."""
        return certifies(self.rule, self.radius)

    @property
    def guarantee(self) -> str:
        """ "proved" if rule, radius and goals all are, and fit together."""
        K, D = self.bandit.K, self.bandit.D
        return guarantee_of(self.rule, self.radius, self.goals, K, D, self.delta)

    def program(self) -> tuple[Program, Columns | None]:
        """The numbers the kernels read, and the columns among them that may grow."""
        return build_program(
            self.bandit, self.goals, self.rule, self.radius, self.delta, self.max_samples
        )


def certifies(rule: Rule, radius: Radius) -> bool:
    """Has a run of `rule` with `radius` intervals on pairs of arms, which settle single arms?"""
    return not isinstance(rule, BestArmRule) and not isinstance(radius, ArmRadius)


def streams_of(goals: Sequence[Goal], D: int) -> list[list[int]]:
    """Positions of goals that share a stream: those with one eps1, covers by decreasing eps2.

    A goal that names the arms to compare has a stream of its own.
    """
    groups: dict[Any, list[int]] = {}
    for position, goal in enumerate(goals):
        key = position if goal.steers else tuple(as_epsilon(goal.eps1, D))
        groups.setdefault(key, []).append(position)

    def slack(position: int) -> float:
        goal = goals[position]
        return -float(as_epsilon(goal.eps2, D).sum()) if isinstance(goal, Cover) else 0.0

    return [sorted(group, key=slack) for group in groups.values()]


def check_setting(
    bandits: Sequence[Bandit],
    goals: Any,
    rule: Rule | None,
    radius: Radius | None,
    delta: float,
    seed: int,
    max_samples: int | None,
) -> tuple[list[Goal], Rule, Radius, float, int, int | None]:
    """The arguments of a run, checked and with defaults filled in."""
    goal_list = as_goals(ParetoSet() if goals is None else goals, bandits[0])
    rule = APE() if rule is None else rule
    if not isinstance(rule, Rule):
        raise WrongTypeError(
            f"rule={shown(rule)} must be a sampling rule: APE(), another of ours, or an instance "
            f"of your own subclass of Rule."
        )
    if radius is None:
        radius = with_union(rule.default_radius or Mixture(), goal_list)
    delta = check_delta(delta)
    seed = check_count(seed, name="seed", least=0, why="a SeedSequence takes no negative number.")
    if max_samples is not None:
        max_samples = check_count(max_samples, name="max_samples", why="it is a budget per run.")
    for instance in bandits:
        rule.check(instance, goal_list, radius)
        check_radius(radius, instance, rule)
        check_limits(goal_list, radius, instance, delta)
        if max_samples is None and rule.budget is None:
            refuse_endless(instance, goal_list, radius, delta)
    weakest([rule, radius, *goal_list])  # refuses a guarantee that is none
    return goal_list, rule, radius, delta, seed, max_samples


def as_conduct(conduct: Any, bandit: Bandit, max_samples: int | None) -> Conduct | None:
    """`conduct`, if it fits the bandit and the size of a trial."""
    if conduct is None:
        return None
    if not isinstance(conduct, Conduct):
        raise WrongTypeError(
            f"conduct={shown(conduct)} must be a Conduct, such as Conduct(rate=5.0, delay=28.0, "
            f"look=100, dropout=0.1)."
        )
    conduct.check(bandit.arms, bandit.objectives, max_samples)
    return conduct


def one_bandit(bandit: Any) -> Bandit:
    """`bandit`, or the only member of a sequence."""
    bandits = as_bandits(bandit)
    if len(bandits) > 1:
        raise ValueError(
            f"bandit is a sequence of {len(bandits)}, and this takes one instance at a time. Call "
            f"it for each, or use simulate."
        )
    return bandits[0]


def as_bandits(bandit: Any) -> list[Bandit]:
    """One or more bandits of the same shape, names, direction and kind of outcome."""
    bandits = listed(bandit, Bandit)
    if not bandits or not all(isinstance(member, Bandit) for member in bandits):
        raise refusal(all(isinstance(member, Bandit) for member in bandits))(
            f"bandit={shown(bandit)} must be a Bandit or a non-empty sequence of them, for "
            f"instance GaussianBandit(means, scale) or load_instance('covboost')."
        )
    first = bandits[0]
    for i, other in enumerate(bandits):
        same = (other.arms, other.objectives, other.minimize, other.model)
        if same != (first.arms, first.objectives, first.minimize, first.model):
            raise ValueError(
                f"bandit {i} differs from bandit 0 in arms, objectives, direction or kind of "
                f"outcome; one Dataset holds one shape. Simulate them apart."
            )
    return bandits
