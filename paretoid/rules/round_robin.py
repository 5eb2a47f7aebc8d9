"""Every arm in turn, with APE's stopping rules: what adaptive sampling has to beat."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from paretoid.bandits import Bandit
from paretoid.engine.program import Program
from paretoid.goals import Goal
from paretoid.rules.base import Advance, Rule
from paretoid.rules.uniform_elimination import refuse_single_arm
from paretoid.theory.radii import Radius


@dataclass(frozen=True)
class RoundRobin(Rule):
    """Sample all K arms once per round; APE's stopping rules and answers, all goals.

    The rules are tested after each full round, so counts are equal and a stopping time is a
    multiple of K; a round that the budget cuts short is not tested. `SingleArm` is refused.

    >>> RoundRobin()
    RoundRobin()
    """

    @property
    def in_rounds(self) -> bool:
        """Yes."""
        return True

    def check(self, bandit: Bandit, goals: Sequence[Goal], radius: Radius) -> None:
        """A radius that depends on the two arms alone."""
        refuse_single_arm(self, radius)

    def kernel(self, program: Program) -> Advance:
        """See `Rule.kernel`."""
        from paretoid.engine import baselines

        return baselines.round_robin
