"""eps1-PSI: the whole Pareto set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from paretoid.goals.base import Goal, as_answer, frozen
from paretoid.theory.checks import BoolArray, as_means
from paretoid.theory.dominance import pareto_set

if TYPE_CHECKING:
    from paretoid.view import View


@dataclass(frozen=True)
class ParetoSet(Goal):
    """eps1-PSI: all optimal arms, and perhaps some that are within eps1 of optimal.

    eps1 is a scalar or one number per objective, in the objectives' own units.

    >>> import numpy as np
    >>> ParetoSet().is_correct(np.array([True, False]), [[1.0, 0.0], [0.0, 1.0]])
    False
    """

    eps1: Any = 0.0

    guarantee = "proved"

    def __post_init__(self) -> None:
        object.__setattr__(self, "eps1", frozen(self.eps1, "eps1"))

    def is_correct(self, answer: Any, means: Any) -> bool:
        """S* <= answer <= S*_eps1 [kone2023, Section 2]."""
        mu = as_means(means)
        mask = as_answer(answer, len(mu))
        return bool(mask[pareto_set(mu)].all() and pareto_set(mu, self.eps1)[mask].all())

    def decide(self, view: View) -> BoolArray | None:
        """O(t), all but the arms certainly dominated, once Z1 > 0 and Z2 > 0."""
        return view.S | ~view.dominated if view.settled else None

    def words(self) -> str:
        """What is asked for."""
        return "all optimal arms"
