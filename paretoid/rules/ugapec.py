"""UGapEc: sample where the gap of the most promising arm is least certain, D = 1."""

from __future__ import annotations

from dataclasses import dataclass

from paretoid.engine.program import Program
from paretoid.rules.base import Advance
from paretoid.rules.best_arm import BestArmRule


@dataclass(frozen=True)
class UGapEc(BestArmRule):
    """B_i = max over j != i of upper(j), minus lower(i); J = argmin B; rival = largest upper(j).

    Samples the less sampled of J and its rival (J when equal), stops when B_J < eps1 and answers
    J. Source: [gabillon2012], fixed confidence, one best arm. Ties take the lowest index.

    >>> UGapEc().both
    False
    """

    def kernel(self, program: Program) -> Advance:
        """See `Rule.kernel`."""
        from paretoid.engine import baselines

        return baselines.ugapec
