"""The bounds that theorems put on the runs of a campaign, each only where it speaks about them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import theory
from paretoid.goals import AtMost, Cover, Goal
from theory._checks import FloatArray
from theory.radii import KaufmannKoolen, Mixture, Radius, SingleArm

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


class Bounds:
    """Bounds of a campaign's settings; what does not depend on all of a setting is kept.

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
        self.cases, self.sign, self.rule = cases, sign, rule
        self.radii, self.deltas, self.goals = radii, deltas, goals
        self._times: dict[int, float] = {}

    def of(self, at: tuple[int, int, int, int]) -> Limits:
        """The bounds at these positions of instance, radius, delta and goal."""
        i, q, d, g = at
        case, delta, goal = self.cases[i], self.deltas[d], self.goals[g]
        means, scale = case["means"] * self.sign, case["scale"]
        k = goal.k if isinstance(goal, AtMost) else None
        problem = (goal.eps1, k, scale)
        radius, found = self.radii[q], {}
        if self.rule == "APE(pull='less sampled')":
            found["theorem_1"] = float(theory.theorem_1(means, delta, *problem))
            if isinstance(radius, (Mixture, KaufmannKoolen)):
                found["sharp"] = float(theory.sample_bound(means, delta, radius, *problem))
            if isinstance(radius, SingleArm) and radius.guarantee == "proved":
                found["mean"] = float(theory.expected_samples_lucb1(means, delta, *problem))
        exact = k is None and not isinstance(goal, Cover) and not any_positive(goal.eps1)
        proved = radius is not None and radius.guarantee == "proved"
        if exact and proved and delta < 0.5:
            found["least"] = self._time(i) * theory.kl_bernoulli(delta, 1 - delta)
        return Limits(**found)

    def _time(self, i: int) -> float:
        """T* of an instance, its lower end; NaN where it is not computed."""
        case = self.cases[i]
        gaussian = case["kind"] == "GaussianBandit" and "covariance" not in case
        if not gaussian or len(self.cases) > _INSTANCES or len(case["means"]) > _ARMS:
            return math.nan
        if i not in self._times:
            found = theory.characteristic_time(case["means"] * self.sign, case["scale"])
            self._times[i] = found.lower
        return self._times[i]


def any_positive(eps: Any) -> bool:
    """Is there a margin in any objective?"""
    return any(e > 0 for e in eps) if isinstance(eps, tuple) else eps > 0
