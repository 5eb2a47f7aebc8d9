"""What a sampling rule is to the engine: a kernel that advances runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from paretoid._program import Program
from paretoid.bandits import Bandit
from paretoid.goals import Goal
from theory.radii import Radius

#: advance(program, state, runs, noise): run runs[q] by noise[q], (samples, width)
Advance = Callable[[Any, Any, Any, Any], None]


class Rule:
    """Which arm next. A new rule is one file here and one kernel with the signature `Advance`."""

    @property
    def both(self) -> bool:
        """Are two arms sampled before the next test?"""
        return False

    def kernel(self, program: Program) -> Advance:
        """The compiled loop of this rule for this program."""
        raise NotImplementedError

    def check(self, bandit: Bandit, goals: Sequence[Goal], radius: Radius) -> None:
        """Refuse bandits, goals and radii that this rule cannot serve."""
