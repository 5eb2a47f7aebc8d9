"""UGapEc: sample where the gap of the most promising arm is least certain, D = 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from paretoid.rules.best_arm import BestArmRule

if TYPE_CHECKING:
    from paretoid.view import ArmBounds


@dataclass(frozen=True)
class UGapEc(BestArmRule):
    """B_i = max over j != i of upper(j), minus lower(i); J = argmin B; rival = largest upper(j).

    Samples the less sampled of J and its rival (J when equal), stops when B_J < eps1 and answers
    J. Source: [gabillon2012], fixed confidence, one best arm. Ties take the lowest index.

    >>> UGapEc().in_rounds
    False
    """

    guarantee = "proved"

    @property
    def in_rounds(self) -> bool:
        """False: one arm is sampled before the next test."""
        return False

    def pair(self, bounds: ArmBounds) -> tuple[int, int, float]:
        """J, its rival, and B_J."""
        mean, lower, upper = bounds
        others = np.where(np.eye(len(mean), dtype=bool), -np.inf, upper)  # row i: upper(j), j != i
        B = others.max(axis=1) - lower
        J = int(np.argmin(B))
        return J, int(np.argmax(others[J])), float(B[J])
