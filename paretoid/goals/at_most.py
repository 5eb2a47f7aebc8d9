"""eps1-PSI-k: k arms of the Pareto set."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from paretoid.goals.base import as_answer, frozen
from paretoid.goals.limited import LimitedGoal, limits_in_words
from paretoid.goals.pareto_set import ParetoSet
from paretoid.theory.checks import BoolArray, FloatArray, as_means, check_count, check_k
from paretoid.theory.dominance import pareto_set
from paretoid.theory.gaps import combined_gaps
from paretoid.units import PLAIN, Units

if TYPE_CHECKING:
    from paretoid.view import View


@dataclass(frozen=True, repr=False)
class AtMost(LimitedGoal):
    """eps1-PSI-k: any k near-optimal arms, or all of the optimal ones if they are fewer.

    Near-optimal: no other arm is better by more than eps1 in every objective at once, so being
    close in one objective is enough.

    `limits` says what arms must meet besides, `{"toxicity": at_most(0.30)}`: the answer is then
    about the arms that do. An objective with a limit counts in domination only if its limit says
    `compared=True`.

    >>> AtMost(k=1).is_correct(np.array([True, False]), [[1.0, 0.0], [0.0, 1.0]])
    True
    """

    k: int
    eps1: Any = 0.0

    limits: Any = field(default=None, kw_only=True)

    guarantee = "proved"

    def __post_init__(self) -> None:
        check_count(self.k, name="k", why="it is how many arms are asked for.")
        object.__setattr__(self, "k", int(self.k))
        object.__setattr__(self, "eps1", frozen(self.eps1, "eps1"))
        self._freeze_limits()

    def check(self, K: int, D: int) -> None:
        """k must not exceed K."""
        super().check(K, D)
        check_k(self.k, K)

    def is_correct(self, answer: Any, means: Any) -> bool:
        """Exactly k arms of S*_eps1, or fewer and then right for eps1-PSI."""
        mu = as_means(means)
        mask = as_answer(answer, len(mu))
        size = int(mask.sum())
        if size > self.k:
            return False
        if size == self.k:
            near = pareto_set(mu, self.eps1)
            if self.limits is not None:
                near = self.bounds.sets(mu, self.eps1)[1]
            return bool(near[mask].all())
        return self._whole().is_correct(mask, mu)

    def _whole(self) -> ParetoSet:
        """The whole set, with the same margin and limits."""
        whole = ParetoSet(self.eps1, limits=self.limits)
        if self.limits is not None:
            object.__setattr__(whole, "_bounds", self.bounds)
        return whole

    def decide(self, view: View) -> BoolArray | None:
        """The k arms of OPT(t) with the largest lower index; else as for the Pareto set.

        The definition asks for exactly k arms, although the paper's pseudo-code returns all of OPT.
        """
        if self.limits is None:
            OPT, h = view.optimal, view.h
        else:
            said = self.verdicts(view)
            OPT, h = said.kept, said.h
        if OPT.sum() < self.k:
            return self._whole().decide(view)
        ranked = sorted(np.flatnonzero(OPT), key=lambda i: (-h[i], i))
        return np.isin(np.arange(len(OPT)), ranked[: self.k])

    def _gaps(self, means: FloatArray, eps1: FloatArray) -> FloatArray:
        """As for the Pareto set, but never below omega^k."""
        return combined_gaps(means, eps1, self.k if self.limits is None else None)

    def words(self, units: Units = PLAIN) -> str:
        """What is asked for.

        >>> AtMost(1).words()
        'one Pareto-optimal arm'
        >>> AtMost(2, 0.1).words()
        'any 2 arms within 0.1 of optimal, or all optimal ones if they are fewer'
        """
        near, arms = self._near(units), "arm" if self.k == 1 else "arms"
        near = f"Pareto-optimal {arms}" if near == "optimal" else f"{arms} {near}"
        asked = f"any {self.k} {near}, or all optimal ones if they are fewer"
        asked = f"one {near}" if self.k == 1 else asked
        return asked + limits_in_words(self.limits, units)

    def label(self, units: Units | None = None) -> str:
        """Any k arms."""
        arms = "one arm" if self.k == 1 else f"any {self.k} arms"
        return arms + self._extras(units)
