"""Goals, rules and radii together: what they are worth, and whether they fit a bandit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from paretoid.bandits import Bandit
from paretoid.goals import Goal
from paretoid.registry import GOALS, is_ours
from paretoid.rules import Rule
from paretoid.rules.base import answers_by_itself
from paretoid.theory.checks import is_listed, refusal, shown
from paretoid.theory.limits import limit_levels
from paretoid.theory.member import weakest
from paretoid.theory.radii import MixedScale, Mixture, MixtureRadius, Radius, UnknownScale


def guarantee_of(
    rule: Rule, radius: Radius, goals: Sequence[Goal], K: int, D: int, delta: float
) -> str:
    """ "proved" if all of them are, and what they rely on is.

    The radius must count the intervals that the goals rely on. A rule that judges or settles by
    itself, and not by the goals, must be one of ours with a proof for these goals: nothing else
    says that a wrong answer needs a wrong interval.

    >>> from paretoid import APE, LUCBpp, Mixture, ParetoSet, PracticalSet, UniformElimination
    >>> [guarantee_of(APE(), Mixture(union=union), [PracticalSet(0.5)], 5, 2, 0.1)
    ...  for union in ("claims", "pairs")]
    ['heuristic', 'proved']
    >>> class Hasty(UniformElimination):
    ...     guarantee = "proved"
    ...     def settle(self, view):
    ...         return list(range(view.K)), {}
    >>> [guarantee_of(rule, Mixture(), [ParetoSet()], 5, 1, 0.1)
    ...  for rule in (UniformElimination(), Hasty(), LUCBpp())]
    ['proved', 'heuristic', 'heuristic']
    """
    proved = weakest([rule, radius, *goals]) == "proved"
    judged = all(map(rule.proved_for, goals)) if is_ours(rule) else not answers_by_itself(rule)
    counted = proved and all(goal.proved_by(radius, K, D, delta) for goal in goals)
    return "proved" if counted and judged else "heuristic"


def default_mixture(gaussian: Any, rho: Any = 30.0) -> MixtureRadius:
    """The proved radius that learns the scale of Gaussian objectives and is told the others'.

    >>> default_mixture([True, False]).scales, default_mixture([True, True])
    (('unknown', 'known'), UnknownScale(rho=30.0, w=0.1, a=3.0, union='claims', sides='one'))
    """
    if all(gaussian):
        return UnknownScale(rho=rho)
    if not any(gaussian):
        return Mixture(rho=rho)
    return MixedScale(["unknown" if learnt else "known" for learnt in gaussian], rho=rho)


def check_limits(goals: Sequence[Goal], radius: Radius, bandit: Bandit, delta: float) -> None:
    """Refuse a radius without bounds on single arms, which limits need."""
    for goal in goals:
        if goal.limits is not None:
            limit_levels(radius, bandit.K, bandit.D, delta, len(goal.limits))


def listed(given: Any, kind: type) -> list[Any]:
    """One of `kind`, or what cannot be iterated, as a list of one; else its members."""
    numbers = isinstance(given, np.ndarray) and given.dtype != object
    alone = isinstance(given, kind) or numbers or not is_listed(given)
    return [given] if alone else list(given)


def as_goals(goals: Any, bandit: Bandit) -> list[Goal]:
    """One or more different goals that fit `bandit`."""
    goal_list = listed(goals, Goal)
    if not goal_list or not all(isinstance(goal, Goal) for goal in goal_list):
        raise refusal(all(isinstance(goal, Goal) for goal in goal_list))(
            f"goals={shown(goals)} must be one or more of {', '.join(GOALS)}, or your own "
            f"subclasses of Goal: without a goal nothing could stop a run. Try "
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
