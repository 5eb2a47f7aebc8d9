"""The two-stream normal mixture for known scales [theory/PROOFS.md, Section 2]."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from paretoid.theory.calibration import levels
from paretoid.theory.checks import FloatArray, check_positive
from paretoid.theory.radii.base import PairwiseRadius, as_counts, check_union


@dataclass(frozen=True)
class Mixture(PairwiseRadius):
    r"""Two-stream normal mixture, for sub-Gaussian outcomes of known scale. The default.

    .. math::
        C = 2\log(1/\alpha), \quad l(n) = \log\frac{n+\rho}{\rho}, \quad
        v(n) = s^2 \frac{n+\rho}{n^2}

    Conditions: s and rho are fixed before the data; if several arms are sampled in one round
    their outcomes are conditionally independent.

    >>> Mixture().guarantee, Mixture(union="none").guarantee
    ('proved', 'heuristic')
    >>> round(float(Mixture(rho=100.0, union="pairs").half_width(1000, 1000, 20, 3, 0.1)), 4)
    0.2205
    """

    rho: float = 30.0
    union: str = "claims"

    def __post_init__(self) -> None:
        rho = check_positive(self.rho, name="rho", why="it is the prior precision, in samples.")
        object.__setattr__(self, "rho", rho)
        check_union(self.union)

    @property
    def guarantee(self) -> str:
        """ "proved", unless there is no union bound."""
        return "heuristic" if self.union == "none" else "proved"

    def constants(self, K: int, D: int, delta: float) -> tuple[float, float]:
        """C = 2 log(1/alpha) at the levels for keeping and dropping."""
        keep, drop = levels(K, D, delta, self.union)
        return 2 * math.log(1 / keep), 2 * math.log(1 / drop)

    def arm_terms(self, counts: Any, K: int, D: int, delta: float) -> tuple[FloatArray, FloatArray]:
        """l(n) = log((n + rho)/rho), v(n) = (n + rho)/n^2."""
        n = as_counts(counts)
        return np.log((n + self.rho) / self.rho), (n + self.rho) / (n * n)

    @classmethod
    def tuned(
        cls,
        K: int,
        D: int,
        delta: float,
        *,
        samples: float | None = None,
        gap: float | None = None,
        union: str = "claims",
    ) -> Mixture:
        r"""rho chosen beforehand, for `samples` expected per arm or a target `gap` in sd units.

        With equal counts n the radius is smallest at rho = n/(u - 1), where
        u - log u = 1 + log(1/alpha), that is u = -W_{-1}(-alpha/e); for a gap, rho = 16/gap^2 is
        within 0.5% of it. alpha is the geometric mean of the two levels. Choosing rho after
        seeing data voids the proof; too low costs less than too high.

        >>> Mixture.tuned(20, 3, 0.1, gap=0.4).rho
        100.0
        """
        if (samples is None) == (gap is None):
            raise ValueError(
                "tuned() needs exactly one of samples= (expected per arm) and gap= (in sd units)."
            )
        if gap is not None:
            gap = check_positive(gap, name="gap", why="it is the smallest difference of interest.")
            return cls(rho=round(16 / gap**2, 12), union=union)
        from scipy.special import lambertw

        n = check_positive(samples, name="samples", why="it is the expected count per arm.")
        keep, drop = levels(K, D, delta, union)
        alpha = math.sqrt(keep * drop)
        u = -float(lambertw(-alpha / math.e, -1).real)
        return cls(rho=n / (u - 1), union=union)
