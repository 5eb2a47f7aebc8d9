"""One or several, as they were given: goals that fit a bandit, as a list."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from paretoid.bandits import Bandit
from paretoid.goals.base import Goal


def listed(given: Any, kind: type) -> list[Any]:
    """One of `kind`, or what cannot be iterated, as a list of one; else its members."""
    return [given] if isinstance(given, kind) or not isinstance(given, Iterable) else list(given)


def as_goals(goals: Any, bandit: Bandit) -> list[Goal]:
    """One or more different goals that fit `bandit`."""
    goal_list = listed(goals, Goal)
    if not goal_list or not all(isinstance(goal, Goal) for goal in goal_list):
        raise ValueError(
            f"goals={goals!r} must be one or more of ParetoSet, Cover, AtMost, or your own "
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
    return goal_list
