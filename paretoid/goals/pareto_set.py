"""eps1-PSI: the whole Pareto set."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from paretoid.goals.base import as_answer, frozen
from paretoid.goals.limited import LimitedGoal, limits_in_words
from paretoid.theory.checks import BoolArray, as_means
from paretoid.theory.dominance import pareto_set
from paretoid.units import PLAIN, Units

if TYPE_CHECKING:
    from paretoid.view import View


@dataclass(frozen=True, repr=False)
class ParetoSet(LimitedGoal):
    """eps1-PSI: all optimal arms, and perhaps some that are within eps1 of optimal.

    eps1 is a scalar or one number per objective, in the objectives' own units. An arm is within
    it unless another arm is better by more than eps1 in every objective at once: being close in
    one objective is enough, however far behind the arm is in the others. For a margin that counts
    in every objective use `PracticalSet`.

    `limits` says what arms must meet besides, `{"toxicity": at_most(0.30)}`: the answer is then
    about the arms that do. An objective with a limit counts in domination only if its limit says
    `compared=True`.

    >>> import numpy as np
    >>> ParetoSet().is_correct(np.array([True, False]), [[1.0, 0.0], [0.0, 1.0]])
    False
    """

    eps1: Any = 0.0

    limits: Any = field(default=None, kw_only=True)

    guarantee = "proved"

    def __post_init__(self) -> None:
        object.__setattr__(self, "eps1", frozen(self.eps1, "eps1"))
        self._freeze_limits()

    def is_correct(self, answer: Any, means: Any) -> bool:
        """S* <= answer <= S*_eps1 [kone2023, Section 2]."""
        mu = as_means(means)
        mask = as_answer(answer, len(mu))
        if self.limits is not None:
            needed, allowed = self.bounds.sets(mu, self.eps1)
            return bool(mask[needed].all() and allowed[mask].all())
        return bool(mask[pareto_set(mu)].all() and pareto_set(mu, self.eps1)[mask].all())

    def decide(self, view: View) -> BoolArray | None:
        """O(t), all but the arms certainly dominated, once Z1 > 0 and Z2 > 0."""
        if self.limits is not None:
            said = self.verdicts(view)
            return ~said.dropped if bool((said.kept | said.dropped).all()) else None
        return view.S | ~view.dominated if view.settled else None

    def words(self, units: Units = PLAIN) -> str:
        """What is asked for.

        >>> ParetoSet().words()
        'all Pareto-optimal arms'
        >>> ParetoSet(0.5).words()
        'all Pareto-optimal arms, and none that is not within 0.5 of optimal'
        """
        near = self._near(units)
        asked = "all Pareto-optimal arms"
        asked += "" if near == "optimal" else f", and none that is not {near}"
        return asked + limits_in_words(self.limits, units)

    def label(self, units: Units | None = None) -> str:
        """All optimal arms."""
        return "all optimal arms" + self._extras(units)
