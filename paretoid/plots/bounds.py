"""Bounds on the stopping time of a goal, each only where its theorem speaks about the runs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from paretoid.bounds import Problem, setting_bounds
from paretoid.plots.selection import Runs
from paretoid.registry import goal_of, radius_of
from paretoid.theory.checks import check_choice

#: name -> (label, marker): upper bounds point down at the axis, lower bounds up
BOUNDS = {
    "sharp_bound": ("sharp upper bound, if all intervals hold", "v"),
    "theorem_1": ("Theorem 1, for the radius KaufmannKoolen", "s"),
    "characteristic": ("lower bound on the mean, T* kl(delta, 1 - delta)", "^"),
    "lower_bound": ("lower bound on the mean, Theorem 2", "D"),
}


@dataclass(frozen=True)
class Drawn:
    """One bound of one goal."""

    name: str
    goal: int
    value: float


def applicable(runs: Runs, known: Problem, names: Any) -> list[Drawn]:
    """The bounds of `names` that say something about these runs, finite ones alone.

    See `paretoid.bounds.setting_bounds`; Theorem 2 only where it is proved, on its family of
    instances.
    """
    wanted = [
        check_choice(name, tuple(BOUNDS), name="bounds", why="those can be drawn.")
        for name in ([names] if isinstance(names, str) else names)
    ]
    drawn = []
    for g, text in enumerate(runs.goals):
        goal = goal_of(text)
        if goal is None or runs.delta is None:
            continue
        values = setting_bounds(
            known, goal, runs.delta, radius_of(runs.radius), rule=runs.rule,
            proved=runs.guarantee == "proved", names=wanted,
        )  # fmt: skip
        drawn += [
            Drawn(name, g, float(value))
            for name in wanted
            if (value := values.get(name))
            and math.isfinite(value)
            and (value.proved or name != "lower_bound")
        ]
    return drawn
