"""(eps1, eps2)-covers: arms that stand for those left out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from paretoid.goals.base import as_answer, frozen
from paretoid.goals.limited import LimitedGoal, limits_in_words
from paretoid.theory.checks import BoolArray, as_epsilon, as_means
from paretoid.theory.dominance import pareto_set
from paretoid.units import PLAIN, Units

if TYPE_CHECKING:
    from paretoid.view import View


@dataclass(frozen=True, repr=False)
class Cover(LimitedGoal):
    """(eps1, eps2)-cover: near-optimal arms such that every optimal arm left out is within eps2.

    Near-optimal: no other arm is better by more than eps1 in every objective at once, so being
    close in one objective is enough. Left out: better than an arm returned by less than eps2, in
    every objective.

    `limits` says what arms must meet besides, `{"toxicity": at_most(0.30)}`: the answer is then
    about the arms that do. An objective with a limit counts in domination only if its limit says
    `compared=True`.

    >>> Cover(eps2=1.5).is_correct(np.array([True, False]), [[1.0, 0.0], [0.0, 1.0]])
    True
    """

    eps1: Any = 0.0
    eps2: Any = 0.0

    limits: Any = field(default=None, kw_only=True)

    guarantee = "proved"

    def __post_init__(self) -> None:
        object.__setattr__(self, "eps1", frozen(self.eps1, "eps1"))
        self._freeze_limits()
        object.__setattr__(self, "eps2", frozen(self.eps2, "eps2"))

    def check(self, K: int, D: int) -> None:
        """Both eps must fit D objectives."""
        super().check(K, D)
        as_epsilon(self.eps2, D, name="eps2")

    def is_correct(self, answer: Any, means: Any) -> bool:
        """answer <= S*_eps1, and i left out is sub-optimal or mu_i < mu_j + eps2 for a j in it."""
        mu = as_means(means)
        mask = as_answer(answer, len(mu))
        lifted = mu[mask] + as_epsilon(self.eps2, mu.shape[1], name="eps2")
        needed, allowed = pareto_set(mu), pareto_set(mu, self.eps1)
        compared = np.ones(mu.shape[1], dtype=bool)
        if self.limits is not None:
            needed, allowed = self.bounds.sets(mu, self.eps1)
            compared = self.bounds.compared
        covered = np.array([(row < lifted)[:, compared].all(axis=1).any() for row in mu])
        return bool((mask | ~needed | covered).all() and allowed[mask].all())

    def decide(self, view: View) -> BoolArray | None:
        """OPT(t), once max(g_i^eps2, h_i) > 0 for every arm i."""
        if self.limits is not None:
            return self._decide_within(view)
        OPT = view.optimal
        credit = np.where(OPT[:, None], view.in_units(self.eps2), 0.0)  # (K, D): eps2 for j in OPT
        within = (view.difference - credit + view.drop).max(axis=2)
        np.fill_diagonal(within, np.inf)
        return OPT if bool((np.maximum(-within.min(axis=1), view.h) > 0).all()) else None

    def _decide_within(self, view: View) -> BoolArray | None:
        """The arms kept, once every other is dropped or certainly within eps2 of one of them."""
        said, d = self.verdicts(view), self.bounds.compared
        credit = view.in_units(self.eps2)[d]
        within = (view.difference[:, :, d] - credit + view.drop[:, :, d]).max(axis=2)
        covered = ((within < 0) & said.kept[None, :] & ~np.eye(view.K, dtype=bool)).any(axis=1)
        return said.kept if bool((said.kept | said.dropped | covered).all()) else None

    def words(self, units: Units = PLAIN) -> str:
        """What is asked for.

        >>> Cover(eps2=0.5).words()
        'Pareto-optimal arms such that every optimal arm left out is within 0.5 of one of them'
        """
        near = self._near(units)
        arms = "Pareto-optimal arms" if near == "optimal" else f"arms {near}"
        reach = f"within {self._reach(units)} of one of them"
        asked = f"{arms} such that every optimal arm left out is {reach}"
        return asked + limits_in_words(self.limits, units)

    def label(self, units: Units | None = None) -> str:
        """A cover, and how far it reaches."""
        reach = "" if units is None else f" within {self._reach(units)}"
        return f"a cover{reach}{self._extras(units)}"

    def _reach(self, units: Units) -> str:
        return units.margin(self.eps2, self.compared(units.endpoints))
