"""The bounds that theorems put on the runs of a campaign, each only where it speaks about them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from paretoid.bounds import Problem, setting_bounds
from paretoid.goals import Goal
from paretoid.theory.checks import FloatArray
from paretoid.theory.radii import Radius

#: T* is a series of linear programs: beyond this many instances or arms it is left out
_INSTANCES, _ARMS = 20, 40

#: what a table calls each bound, and what it is
WORDS = {
    "sharp": ("sharp bound", (
        "Sharp bound: APE has stopped by then whenever all its confidence intervals hold."
    )),
    "theorem_1": ("Theorem 1", (
        "Theorem 1 of Kone et al. (2023): the same, with probability at least 1 - delta, for the "
        "radius KaufmannKoolen with its union over pairs; beside another radius a yardstick."
    )),
    "mean": ("bound on the mean", (
        "Bound on the mean: APE with the radius SingleArm needs at most so many on average."
    )),
    "least": ("least possible mean", (
        "Least possible mean: T* kl(delta, 1 - delta), below which no delta-correct method for "
        "the whole Pareto set can be on average; Gaussian outcomes, no margin."
    )),
}  # fmt: skip


@dataclass(frozen=True)
class Limits:
    """NaN where no theorem speaks about the setting."""

    sharp: float = math.nan
    theorem_1: float = math.nan
    mean: float = math.nan
    least: float = math.nan


#: name of a bound in `paretoid.bounds`, and in a table
_NAMES = {
    "sharp_bound": "sharp", "theorem_1": "theorem_1", "expected_lucb1": "mean",
    "characteristic": "least",
}  # fmt: skip


class Bounds:
    """Bounds of a campaign's settings; T* of an instance is kept.

    cases   the instances of the manifest: kind, means, scale (and covariance)
    sign    (D,) -1 for objectives where less is better
    """

    def __init__(
        self,
        cases: Sequence[dict[str, Any]],
        sign: FloatArray,
        rule: str,
        radii: Sequence[Radius | None],
        deltas: Sequence[float],
        goals: Sequence[Goal],
    ) -> None:
        self.rule, self.radii, self.deltas, self.goals = rule, radii, deltas, goals
        self.problems = []
        for case in cases:
            gaussian = case["kind"] == "GaussianBandit" and "covariance" not in case
            means, scale = case["means"] * sign, case["scale"]
            self.problems.append(Problem(means, scale, scale, gaussian))

    def of(self, at: tuple[int, int, int, int]) -> Limits:
        """The bounds at these positions of instance, radius, delta and goal."""
        i, q, d, g = at
        known, radius, delta = self.problems[i], self.radii[q], self.deltas[d]
        few = len(self.problems) <= _INSTANCES and len(known.means) <= _ARMS
        names = [*_NAMES] if few and delta < 0.5 else [*_NAMES][:-1]  # from 1/2 on T* says nothing
        bounds = setting_bounds(
            known, self.goals[g], delta, radius, rule=self.rule,
            proved=radius is not None and radius.guarantee == "proved", names=names,
        )  # fmt: skip
        return Limits(**{_NAMES[name]: float(bound) for name, bound in bounds.items()})
