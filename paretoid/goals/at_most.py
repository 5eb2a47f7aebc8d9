"""eps1-PSI-k: k arms of the Pareto set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from paretoid.goals.base import Goal, as_answer, frozen, scaled
from paretoid.goals.pareto_set import ParetoSet
from paretoid.theory.checks import BoolArray, FloatArray, as_means, check_count, check_k
from paretoid.theory.dominance import pareto_set
from paretoid.theory.gaps import combined_gaps

if TYPE_CHECKING:
    from paretoid.view import View


@dataclass(frozen=True)
class AtMost(Goal):
    """eps1-PSI-k: any k near-optimal arms, or all of the optimal ones if they are fewer.

    >>> AtMost(k=1).is_correct(np.array([True, False]), [[1.0, 0.0], [0.0, 1.0]])
    True
    """

    k: int
    eps1: Any = 0.0

    guarantee = "proved"

    def __post_init__(self) -> None:
        check_count(self.k, name="k", why="it is how many arms are asked for.")
        object.__setattr__(self, "k", int(self.k))
        object.__setattr__(self, "eps1", frozen(self.eps1, "eps1"))

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
            return bool(pareto_set(mu, self.eps1)[mask].all())
        return ParetoSet(self.eps1).is_correct(mask, mu)

    def decide(self, view: View) -> BoolArray | None:
        """The k arms of OPT(t) with the largest lower index; else as for the Pareto set.

        The definition asks for exactly k arms, although the paper's pseudo-code returns all of OPT.
        """
        OPT = view.optimal
        if OPT.sum() < self.k:
            return view.S | ~view.dominated if view.settled else None
        ranked = sorted(np.flatnonzero(OPT), key=lambda i: (-view.h[i], i))
        return np.isin(np.arange(len(OPT)), ranked[: self.k])

    def gaps(self, means: FloatArray, divisor: FloatArray) -> FloatArray:
        """As for the Pareto set, but never below omega^k."""
        return combined_gaps(means / divisor, scaled(self.eps1, divisor), self.k)

    def words(self) -> str:
        """What is asked for."""
        return f"any {self.k} near-optimal arm" + ("s" if self.k > 1 else "")
