"""What a sampling rule is: which arms next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from paretoid.bandits import Bandit
from paretoid.goals import Goal
from paretoid.theory.checks import BoolArray, FloatArray
from paretoid.theory.member import Member
from paretoid.theory.radii import Radius

if TYPE_CHECKING:
    from paretoid.view import Standing, View

#: arms accepted, and arms dropped with an arm that showed it
Verdicts = tuple[Sequence[int], dict[int, int]]


class Rule(Member):
    """Which arms next. Use one of the members, or write your own.

    A rule names the arms to sample before the next test. The loop does the rest: it samples each
    arm until its intervals are finite, tests the goals, counts the budget and says what is proved.
    Where it names arms and nothing else, correctness never depends on the rule, only the number of
    samples does; still a rule whose author does not say so is "heuristic". One that answers or
    settles arms by itself (`judge`, `settle`) needs a proof of its own: it is "heuristic", whatever
    it says, unless it is one of ours.

    >>> class Coin(Rule):
    ...     '''Sample b_t or c_t, whichever a coin says.'''
    ...     guarantee = "proved"
    ...     def choose(self, view, rng):
    ...         view.memory["tosses"] = view.memory.get("tosses", 0) + 1    # kept for this run
    ...         return [view.b if rng.random() < 0.5 else view.c]
    >>> from paretoid import APE, LUCB, GaussianBandit, ParetoSet, RoundRobin, simulate
    >>> bandit = GaussianBandit([[2.0, 0.0], [0.0, 2.0]])
    >>> runs = simulate(bandit, rule=Coin(), replications=3, seed=1)
    >>> bool(runs.correct.all()), runs.attrs["rule"], runs.attrs["guarantee"]
    (True, 'Coin()', 'proved')

    `rng` is a stream of the run's own, apart from that of the outcomes; `view.memory` a dictionary
    that lasts as long as the run (in a live trial it is kept in the ledger, so plain data only).

    Of ours:

    >>> RoundRobin().whole_rounds, APE().whole_rounds, APE().in_rounds
    (False, True, False)
    >>> LUCB().proved_for(ParetoSet())    # `LUCBpp` is not: arms may tie for the best
    True
    >>> LUCB().check(bandit, [ParetoSet()], LUCB.default_radius)    # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    ValueError: rule=LUCB() looks for the best arm, ...

    What `UniformElimination` adds, `judge`, `settle` and `opening`, few rules need:

    >>> from paretoid.view import Lens, Samples
    >>> lens = Lens(bandit, APE().default_radius, 0.1, eps1=0.0)
    >>> view = lens.view(Samples(np.full((2, 2), 99.0), bandit.oriented, np.zeros((2, 2))), 198)
    >>> APE().choose(view, None), APE().judge(view, ParetoSet()), APE().settle(view)
    ([0], array([ True,  True]), ((), {}))
    >>> APE().opening(np.array([[1.0, 2.0], [0.0, 1.0]]), view.standing)
    [1]
    """

    #: where no radius is given; None: `Mixture()`
    default_radius: ClassVar[Radius | None] = None
    #: samples after which it answers, whatever is known by then; None: it waits for the goal
    budget: int | None = None
    #: False: a round that the budget cuts short is sampled as far as it goes, and not tested
    whole_rounds: ClassVar[bool] = True

    @property
    def in_rounds(self) -> bool:
        """True: several arms may be sampled before the next test."""
        return True

    def choose(self, view: View, rng: np.random.Generator) -> Sequence[int]:
        """The arms to sample before the next test, at least one and none twice."""
        raise NotImplementedError(
            f"{type(self).__name__} must define choose(view, rng), the arms to sample next."
        )

    def check(self, bandit: Bandit, goals: Sequence[Goal], radius: Radius) -> None:
        """Refuse bandits, goals and radii that this rule cannot serve."""

    def judge(self, view: View, goal: Goal) -> BoolArray | None:
        """The answer to `goal` if it may be given now; the goal itself knows best."""
        return goal.decide(view)

    def settle(self, view: View) -> Verdicts:
        """Arms that this test accepts or drops for good; most rules settle nothing."""
        return (), {}

    def proved_for(self, goal: Goal) -> bool:
        """True: its own answers to `goal` have a proof, if it answers by itself.

        Asked of our own rules only; others that answer by themselves are heuristic.
        """
        return True

    def opening(self, counts: FloatArray, standing: Standing) -> list[int]:
        """In a live trial, the arms of a round while some interval is infinite.

        counts  (K, D) outcomes, those awaited included

        By default the arm with fewest outcomes, in its scarcest objective.
        """
        return [int(np.argmin(counts.min(axis=1)))]


def answers_by_itself(rule: Rule) -> bool:
    """True: the rule judges goals or settles arms by code of its own, not by the goal's.

    >>> from paretoid import APE, LUCB, UniformElimination
    >>> [answers_by_itself(rule) for rule in (APE(), LUCB(), UniformElimination())]
    [False, True, True]
    """
    methods = (("judge", Rule.judge), ("settle", Rule.settle))
    return any(getattr(getattr(rule, name), "__func__", None) is not own for name, own in methods)


def less_sampled(first: int, second: int, counts: Any) -> int:
    """The arm with fewer samples, `first` if equal.

    >>> less_sampled(0, 2, [5, 1, 5]), less_sampled(0, 1, [5, 1, 5])
    (0, 1)
    """
    return first if counts[first] <= counts[second] else second
