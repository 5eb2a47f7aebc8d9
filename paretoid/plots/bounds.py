"""Bounds on the stopping time of a goal, each only where its theorem speaks about the runs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

import theory
from paretoid.goals import AtMost, Cover, Goal
from paretoid.plots.selection import Problem, Runs, goal_of, radius_of
from paretoid.rules import APE
from theory._checks import as_epsilon, check_choice
from theory.radii import KaufmannKoolen, Mixture

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

    sharp_bound     `theory.sample_bound`: rule APE(), radius Mixture or KaufmannKoolen
    theorem_1       `theory.theorem_1`: rule APE(); about the paper's radius, so for runs with
                    another one it is a yardstick, and labelled so
    characteristic  T* kl(delta, 1 - delta): independent Gaussian outcomes, the whole Pareto set,
                    eps1 = 0, and a proved radius: the theorem is about delta-correct algorithms
    lower_bound     `theory.lower_bound`, where Theorem 2 is proved: its family of instances
                    alone, and as for T*
    """
    wanted = [
        check_choice(name, tuple(BOUNDS), name="bounds", why="those can be drawn.")
        for name in ([names] if isinstance(names, str) else names)
    ]
    found = []
    for g, text in enumerate(runs.goals):
        goal = goal_of(text)
        if goal is None or runs.delta is None:
            continue
        values = _values(runs, goal, known, runs.delta)
        found += [
            Drawn(name, g, values[name])
            for name in wanted
            if name in values and math.isfinite(values[name]) and values[name] > 0
        ]
    return found


def _values(runs: Runs, goal: Goal, known: Problem, delta: float) -> dict[str, float]:
    means = known.means
    k = goal.k if isinstance(goal, AtMost) else None
    problem = (goal.eps1, k, known.scale)
    values: dict[str, float] = {}
    if runs.rule == repr(APE()):  # with pull="both" a round draws two
        radius = radius_of(runs.radius)
        if isinstance(radius, (Mixture, KaufmannKoolen)):
            values["sharp_bound"] = float(theory.sample_bound(means, delta, radius, *problem))
        values["theorem_1"] = float(theory.theorem_1(means, delta, *problem))
    exact = not np.any(as_epsilon(goal.eps1, means.shape[1]))
    if known.gaussian and exact and runs.guarantee == "proved":
        noise = known.noise
        if k is None and not isinstance(goal, Cover):
            values["characteristic"] = theory.characteristic_lower_bound(means, delta, noise)
        if not isinstance(goal, Cover):
            bound = theory.lower_bound(means, delta, k or len(means), scale=noise)
            if bound.proved:
                values["lower_bound"] = float(bound)
    return values
