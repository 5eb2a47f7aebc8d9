"""The two-stream normal mixture for known scales [theory/PROOFS.md, Sections 2 and 8]."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from paretoid.theory.checks import FloatArray, check_positive
from paretoid.theory.radii.base import as_counts
from paretoid.theory.radii.claims import MixtureRadius
from paretoid.theory.shares import Shares


@dataclass(frozen=True, repr=False)
class Mixture(MixtureRadius):
    r"""Two-stream normal mixture, for sub-Gaussian outcomes of known scale. The default.

    .. math::
        C = 2\log\frac{1}{2\alpha} + 2\,\mathrm{pen}(\alpha), \quad l(n) = \log\frac{n+\rho}{\rho},
        \quad v(n) = s^2 \frac{n+\rho}{n^2}

    rho      prior precision, in samples: one, or one for each arm
    union    "claims" counts the claims that can be wrong, "pairs" all differences; "none" is
             heuristic
    sides    "one": bounds are one-sided, as claims are, and infinite while an arm has less than a
             quarter of its rho; "two": C = 2 log(1/alpha), as with pairs
    shares   how claims share delta out, `Shares`; default uniformly

    Conditions: s, rho and shares are fixed before the data; if several arms are sampled in one
    round their outcomes are conditionally independent.

    >>> Mixture().guarantee, Mixture(union="none").guarantee
    ('proved', 'heuristic')
    >>> round(float(Mixture(rho=100.0, union="pairs").half_width(1000, 1000, 20, 3, 0.1)), 4)
    0.2205
    >>> Mixture().first_count(20, 3, 0.1), Mixture(sides="two").first_count(20, 3, 0.1)
    (8, 1)
    """

    rho: Any = 30.0
    union: str = "claims"
    sides: str = "one"
    shares: Shares | None = None

    def __post_init__(self) -> None:
        self._check_fields()

    @property
    def guarantee(self) -> str:
        """ "proved", unless there is no union bound."""
        return "heuristic" if self.union == "none" else "proved"

    def arm_terms(self, counts: Any, K: int, D: int, delta: float) -> tuple[FloatArray, FloatArray]:
        """l(n) = log((n + rho)/rho), v(n) = (n + rho)/n^2."""
        n = as_counts(counts)
        rho = self._rho(n, K)
        return np.log((n + rho) / rho), self._usable(n, (n + rho) / (n * n), K, D, delta)

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

        With equal counts n the radius is smallest at rho = n/(u - 1), where u - log u = 1 + C/2,
        that is u = -W_{-1}(-exp(-1 - C/2)); for a gap, rho = 16/gap^2 is within 0.5% of it. C is
        the mean of the two constants. Choosing rho after seeing data voids the proof; too low
        costs less than too high.

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
        keep, drop = cls(union=union).constants(K, D, delta)
        u = -float(lambertw(-math.exp(-1 - (keep + drop) / 4), -1).real)
        return cls(rho=n / (u - 1), union=union)
