"""What a sampling rule is to the engine: a kernel that advances runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from paretoid.bandits import Bandit
from paretoid.engine.program import Program
from paretoid.goals import Goal
from paretoid.theory.radii import Radius

#: advance(program, state, runs, noise): run runs[q] by noise[q], (samples, width)
Advance = Callable[[Any, Any, Any, Any], None]


class Rule:
    """Which arm next. A new rule is one file here and one kernel with the signature `Advance`.

    >>> from paretoid import APE, LUCB, GaussianBandit, ParetoSet, RoundRobin, run_once, simulate
    >>> bandit = GaussianBandit([[2.0, 0.0], [0.0, 2.0]])
    >>> bool(simulate(bandit, ParetoSet(), rule=RoundRobin(), replications=3).correct.all())
    True
    >>> LUCB().both, APE().both    # are two arms sampled before the next test?
    (True, False)
    >>> RoundRobin().in_rounds, APE().in_rounds    # more than one?
    (True, False)
    >>> LUCB().check(bandit, [ParetoSet()], LUCB.default_radius)    # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    ValueError: rule=LUCB() looks for the best arm, ...

    The loop itself is a kernel that the engine asks for:

    >>> program = run_once(bandit).setting.program()
    >>> callable(APE().kernel(program)), callable(RoundRobin().kernel(program))
    (True, True)
    """

    @property
    def both(self) -> bool:
        """Are two arms sampled before the next test?"""
        return False

    @property
    def in_rounds(self) -> bool:
        """Is more than one arm sampled before the next test?"""
        return self.both

    def kernel(self, program: Program) -> Advance:
        """The compiled loop of this rule for this program."""
        raise NotImplementedError

    def check(self, bandit: Bandit, goals: Sequence[Goal], radius: Radius) -> None:
        """Refuse bandits, goals and radii that this rule cannot serve."""
