"""The setting of a run, all that it depends on besides its seed, and the checks of its parts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from paretoid.bandits import Bandit
from paretoid.engine.build import build_program, check_radius, runs_compiled
from paretoid.engine.columns import Columns
from paretoid.engine.program import Program
from paretoid.goals import Cover, Goal, ParetoSet
from paretoid.goals.base import with_union
from paretoid.rules import APE, Rule
from paretoid.runs.feasibility import refuse_endless
from paretoid.theory.checks import as_epsilon, check_count, check_delta
from paretoid.theory.limits import limit_levels
from paretoid.theory.member import weakest
from paretoid.theory.radii import Mixture, Radius


@dataclass(frozen=True)
class Setting:
    """All that a stream depends on besides its seed; `goals` share one eps1."""

    bandit: Bandit
    goals: tuple[Goal, ...]
    rule: Rule
    radius: Radius
    delta: float
    max_samples: int | None

    @property
    def compiled(self) -> bool:
        """True: a compiled loop runs it; False: the readable one does."""
        return runs_compiled(self.bandit, self.goals, self.rule, self.radius)

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


def guarantee_of(
    rule: Rule, radius: Radius, goals: Sequence[Goal], K: int, D: int, delta: float
) -> str:
    """ "proved" if all of them are, and the radius counts the intervals that the goals rely on.

    >>> from paretoid.goals import PracticalSet
    >>> [guarantee_of(APE(), Mixture(union=union), [PracticalSet(0.5)], 5, 2, 0.1)
    ...  for union in ("claims", "pairs")]
    ['heuristic', 'proved']
    """
    said = weakest([rule, radius, *goals])
    fits = said == "proved" and all(goal.proved_by(radius, K, D, delta) for goal in goals)
    return "proved" if fits else "heuristic"


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
        raise ValueError(
            f"rule={rule!r} must be a sampling rule: APE(), another of ours, or an instance of "
            f"your own subclass of Rule."
        )
    if radius is None:
        radius = with_union(rule.default_radius or Mixture(), goal_list)
    delta = check_delta(delta)
    seed = check_count(seed, name="seed", least=0, why="a SeedSequence takes no negative number.")
    if max_samples is not None:
        max_samples = check_count(max_samples, name="max_samples", why="it is a budget per run.")
    weakest([rule, radius, *goal_list])  # refuses a guarantee that is none
    for instance in bandits:
        rule.check(instance, goal_list, radius)
        check_radius(radius, instance, rule)
        check_limits(goal_list, radius, instance, delta)
        if max_samples is None and rule.budget is None:
            refuse_endless(instance, goal_list, radius, delta)
    return goal_list, rule, radius, delta, seed, max_samples


def check_limits(goals: Sequence[Goal], radius: Radius, bandit: Bandit, delta: float) -> None:
    """Refuse a radius without bounds on single arms, which limits need."""
    for goal in goals:
        if goal.limits is not None:
            limit_levels(radius, bandit.K, bandit.D, delta, len(goal.limits))


def _listed(given: Any, kind: type) -> list[Any]:
    """One of `kind`, or what cannot be iterated, as a list of one; else its members."""
    return [given] if isinstance(given, kind) or not isinstance(given, Iterable) else list(given)


def as_bandits(bandit: Any) -> list[Bandit]:
    """One or more bandits of the same shape, names, direction and kind of outcome."""
    bandits = _listed(bandit, Bandit)
    if not bandits or not all(isinstance(member, Bandit) for member in bandits):
        raise ValueError(
            f"bandit={bandit!r} must be a Bandit or a non-empty sequence of them, for instance "
            f"GaussianBandit(means, scale) or load_instance('covboost')."
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


def as_goals(goals: Any, bandit: Bandit) -> list[Goal]:
    """One or more different goals that fit `bandit`."""
    goal_list = _listed(goals, Goal)
    if not goal_list or not all(isinstance(goal, Goal) for goal in goal_list):
        raise ValueError(
            f"goals={goals!r} must be one or more of ParetoSet, Cover, AtMost, PracticalSet, or "
            f"your own subclasses of Goal: without a goal nothing could stop a run. Try "
            f"goals=[ParetoSet()]."
        )
    if len(set(map(str, goal_list))) < len(goal_list):
        raise ValueError(
            f"goals repeats one of {', '.join(map(str, goal_list))}: results are looked up by "
            f"goal, so each must be different."
        )
    for goal in goal_list:
        goal.check(bandit.K, bandit.D)
    return [goal.bind(bandit.objectives, bandit.sign) for goal in goal_list]
