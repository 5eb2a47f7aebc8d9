"""Every arm in turn: what adaptivity is worth is measured against this."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from paretoid.bandits import Bandit
from paretoid.goals import Goal
from paretoid.rules.base import Rule
from paretoid.rules.uniform_elimination import refuse_growing
from paretoid.theory.checks import FloatArray
from paretoid.theory.radii import Radius

if TYPE_CHECKING:
    from paretoid.view import Standing, View


@dataclass(frozen=True)
class RoundRobin(Rule):
    """Sample all K arms once per round; APE's stopping rules and answers, all goals.

    The rules are tested after each full round, so counts are equal and a stopping time is a
    multiple of K; a round that the budget cuts short is not tested. `LUCB1Like` is refused.

    >>> RoundRobin()
    RoundRobin()
    """

    guarantee = "proved"
    whole_rounds = False

    def check(self, bandit: Bandit, goals: Sequence[Goal], radius: Radius) -> None:
        """A radius that depends on the two arms alone."""
        refuse_growing(self, radius)

    def choose(self, view: View, rng: np.random.Generator) -> list[int]:
        """All arms, in order: one round."""
        return list(range(view.K))

    def opening(self, counts: FloatArray, standing: Standing) -> list[int]:
        """All arms still in question, as in every other round."""
        return list(standing.active)
