"""(eps1, eps2)-covers: arms that stand for those left out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from paretoid.goals.base import Goal, as_answer, frozen
from paretoid.theory.checks import BoolArray, as_epsilon, as_means
from paretoid.theory.dominance import pareto_set

if TYPE_CHECKING:
    from paretoid.view import View


@dataclass(frozen=True)
class Cover(Goal):
    """(eps1, eps2)-cover: near-optimal arms such that every optimal arm left out is within eps2.

    >>> Cover(eps2=1.5).is_correct(np.array([True, False]), [[1.0, 0.0], [0.0, 1.0]])
    True
    """

    eps1: Any = 0.0
    eps2: Any = 0.0

    guarantee = "proved"

    def __post_init__(self) -> None:
        object.__setattr__(self, "eps1", frozen(self.eps1, "eps1"))
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
        covered = np.array([(row < lifted).all(axis=1).any() for row in mu])
        fine = mask | ~pareto_set(mu) | covered
        return bool(fine.all() and pareto_set(mu, self.eps1)[mask].all())

    def decide(self, view: View) -> BoolArray | None:
        """OPT(t), once max(g_i^eps2, h_i) > 0 for every arm i."""
        OPT = view.optimal
        credit = np.where(OPT[:, None], view.in_units(self.eps2), 0.0)  # (K, D): eps2 for j in OPT
        within = (view.difference - credit + view.drop).max(axis=2)
        np.fill_diagonal(within, np.inf)
        return OPT if bool((np.maximum(-within.min(axis=1), view.h) > 0).all()) else None

    def words(self) -> str:
        """What is asked for."""
        return "arms such that every optimal arm left out is close to one of them"
