"""A radius that is a sum over the two arms and widens with the total number of samples."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from paretoid.theory.checks import FloatArray, check_count, check_delta
from paretoid.theory.radii.base import Radius, as_counts


@dataclass(frozen=True)
class LUCB1Like(Radius):
    r"""The LUCB1-like radius of [kone2023, Appendix "LUCB1-like instantiation"].

    .. math::
        \beta_{ij}(t) = \beta_i(t) + \beta_j(t), \qquad
        \beta_i(t) = s \sqrt{\frac{2}{T_i} \log\frac{5 K D t^4}{2\delta}}

    t is the number of samples so far. The only radius with a bound on the *expected* stopping
    time; wide in practice.

    K = 2, D = 1, delta = 0.05: log(5 K D/(2 delta)) = log 100, and at t = 10 with 2 and 8 samples
    beta = sqrt(log 10^6) (1 + 1/2).

    >>> radius = LUCB1Like()
    >>> radius.guarantee
    'proved'
    >>> round(radius.constant(2, 1, 0.05) / math.log(10), 12)
    2.0
    >>> round(float(radius.growth(10, 2, 1, 0.05)) / math.log(10), 12)
    6.0
    >>> round(float(radius.half_width(2, 8, 10, 2, 1, 0.05)), 4)
    5.5754
    """

    @property
    def guarantee(self) -> str:
        """Always "proved"."""
        return "proved"

    def counts_pairs(self, K: int, D: int, delta: float) -> bool:
        """Always True: the intervals of all arms and objectives hold together."""
        return True

    def growth(self, t: Any, K: int, D: int, delta: float) -> FloatArray:
        """log(5 K D t^4/(2 delta)), summed as log(5 K D/(2 delta)) + 4 log t."""
        return self.constant(K, D, delta) + 4 * np.log(as_counts(t))

    def constant(self, K: int, D: int, delta: float) -> float:
        """log(5 K D/(2 delta))."""
        check_count(K, name="K", least=2, why="a difference needs two arms.")
        return math.log(5 * K * D / (2 * check_delta(delta)))

    def half_width(self, p: Any, q: Any, t: Any, K: int, D: int, delta: float) -> FloatArray:
        """beta for arms sampled p and q times at time t, scale 1."""
        arms = np.sqrt(2 / as_counts(p)) + np.sqrt(2 / as_counts(q))
        width: FloatArray = np.sqrt(self.growth(t, K, D, delta)) * arms
        return width
