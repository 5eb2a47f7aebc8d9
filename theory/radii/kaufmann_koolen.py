"""The radius of the paper, by the calibration function C^g."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from paretoid.theory.calibration import K1, C_g, C_g_approximate, claim_counts, levels
from paretoid.theory.checks import FloatArray, check_choice
from paretoid.theory.radii.base import PairwiseRadius, as_counts, check_union


@dataclass(frozen=True)
class KaufmannKoolen(PairwiseRadius):
    r"""The paper's radius [kone2023, Eq. (beta), Section 3.2], from [kaufmann2021, Prop. 24].

    .. math::
        C = C^g(\log(1/\alpha)/2), \quad l(n) = \log(4 + \log n), \quad v(n) = 4 s^2/n

    `KaufmannKoolen("approximate", union="none")` is the setting of the paper's experiments,
    C^g(x) = x + log x and K1 = 1: a heuristic.

    >>> KaufmannKoolen().guarantee, KaufmannKoolen("approximate").guarantee
    ('proved', 'heuristic')
    """

    calibration: str = "exact"
    union: str = "pairs"

    def __post_init__(self) -> None:
        check_choice(
            self.calibration,
            ("exact", "approximate"),
            name="calibration",
            why="'exact' is proved, 'approximate' is the paper's x + log x.",
        )
        check_union(self.union)

    @property
    def guarantee(self) -> str:
        """ "proved" for the exact C^g with a union bound."""
        heuristic = self.calibration == "approximate" or self.union == "none"
        return "heuristic" if heuristic else "proved"

    def counts_pairs(self, K: int, D: int, delta: float) -> bool:
        """True: all intervals hold together, which is so for few arms whatever the union.

        >>> [KaufmannKoolen(union=union).counts_pairs(5, 2, 0.1) for union in ("pairs", "claims")]
        [True, False]
        """
        return self.union != "none" and claim_counts(K, D, self.union) == (K1(K, D),) * 2

    def constants(self, K: int, D: int, delta: float) -> tuple[float, float]:
        """C = C^g(log(1/alpha)/2) at the levels for keeping and dropping."""
        C = C_g if self.calibration == "exact" else C_g_approximate
        keep, drop = (C(math.log(1 / a) / 2) for a in levels(K, D, delta, self.union))
        if min(keep, drop) + 2 * math.log(4) <= 0:
            raise ValueError(
                f"delta={delta} makes {self} negative under its root: x + log x is no "
                f"approximation of C^g there. Use calibration='exact' or a smaller delta."
            )
        return keep, drop

    def arm_terms(self, counts: Any, K: int, D: int, delta: float) -> tuple[FloatArray, FloatArray]:
        """l(n) = log(4 + log n), v(n) = 4/n."""
        n = as_counts(counts)
        return np.log(4 + np.log(n)), 4 / n
