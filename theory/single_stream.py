r"""Confidence radii for the mean of one arm, for rules that look at one objective.

Every radius here has one form,

.. math:: w_i = s \sqrt{(C + l(n_i))\, v(n_i)},

the one-arm twin of theory/radii/claims.py: a constant C of the level, and l and v of the count.
A rule shares delta out over the bounds that can be wrong and says so (`paretoid.rules.best_arm`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from paretoid.theory.checks import FloatArray, check_delta, check_positive
from paretoid.theory.radii.base import Radius, as_counts


class ArmRadius(Radius):
    """Half-width of the confidence interval on one arm's mean, at all times together.

    For one sample and rho = 1 at level 0.01: C = 2 log 100, l = log 2, v = 2, and
    w = sqrt((C + l) v).

    >>> radius = ArmMixture(rho=1.0)
    >>> l, v = radius.arm_terms(1)
    >>> round(radius.constant(0.01), 4), round(float(l), 4), float(v)
    (9.2103, 0.6931, 2.0)
    >>> round(float(radius.half_width(1, 0.01)), 3)
    4.451
    """

    def constant(self, alpha: float) -> float:
        """C at level alpha."""
        raise NotImplementedError

    def arm_terms(self, counts: Any) -> tuple[FloatArray, FloatArray]:
        """(l, v) of arms sampled `counts` times, for scale 1."""
        raise NotImplementedError

    def half_width(self, n: Any, alpha: float) -> FloatArray:
        """w for an arm sampled n times, scale 1."""
        l, v = self.arm_terms(n)
        width: FloatArray = np.sqrt((self.constant(alpha) + l) * v)
        return width


@dataclass(frozen=True)
class ArmMixture(ArmRadius):
    r"""One-stream normal mixture, for sub-Gaussian outcomes of known scale s.

    .. math:: w(n) = \frac{s}{n} \sqrt{\Bigl(2\log\frac1\alpha + \log\frac{n+\rho}{\rho}\Bigr)
                                       (n+\rho)}

    With probability at least 1 - alpha, abs(mean_n - mu) < w(n) at all n >= 1 together.

    Proof. Let S_n be the sum of the arm's centred outcomes. Given the past,
    E exp(x (X - mu)) <= exp(x^2 s^2/2), so for fixed x the process
    exp(x S_n/s - x^2 n/2) is a supermartingale that starts at 1, whichever rule decides when the
    arm is sampled: the other rounds leave it alone. Mix over x ~ N(0, 1/rho). By Tonelli the
    mixture is again a non-negative supermartingale from 1, and completing the square gives

    .. math:: B_n = \sqrt{\frac{\rho}{n+\rho}} \exp\frac{S_n^2}{2 s^2 (n+\rho)} .

    Ville: except with probability alpha, B_n < 1/alpha for all n, that is
    S_n^2 < s^2 (n + rho)(2 log(1/alpha) + log((n+rho)/rho)). Divide by n^2. The prior is
    symmetric, so both signs are covered at once. QED. It is the q = 0 case of the two-stream
    radius: l and v are those of `Mixture`. s and rho must be fixed before the data.

    >>> round(float(ArmMixture(rho=30.0).half_width(1000, 0.01)), 4)
    0.1146
    >>> ArmMixture().guarantee
    'proved'
    """

    rho: float = 30.0

    def __post_init__(self) -> None:
        rho = check_positive(self.rho, name="rho", why="it is the prior precision, in samples.")
        object.__setattr__(self, "rho", rho)

    @property
    def guarantee(self) -> str:
        """Always "proved"."""
        return "proved"

    def constant(self, alpha: float) -> float:
        """C = 2 log(1/alpha)."""
        return 2 * math.log(1 / check_delta(alpha))

    def arm_terms(self, counts: Any) -> tuple[FloatArray, FloatArray]:
        """l(n) = log((n + rho)/rho), v(n) = (n + rho)/n^2."""
        n = as_counts(counts)
        return np.log((n + self.rho) / self.rho), (n + self.rho) / (n * n)


@dataclass(frozen=True)
class IteratedLogarithm(ArmRadius):
    r"""The iterated-logarithm form that the paper's best-arm figure quotes [katzsamuels2019].

    .. math:: w(n) = s \sqrt{\frac{2\log(1/\alpha) + 6\log\log(1/\alpha) + 3\log\log(e n)}{n}}

    A heuristic here: we only have it quoted, without the conditions and constants of a proof.

    >>> round(float(IteratedLogarithm().half_width(1000, 0.01)), 4)
    0.1568
    >>> IteratedLogarithm().guarantee
    'heuristic'
    """

    @property
    def guarantee(self) -> str:
        """Always "heuristic"."""
        return "heuristic"

    def constant(self, alpha: float) -> float:
        """C = 2 log(1/alpha) + 6 log log(1/alpha)."""
        x = math.log(1 / check_delta(alpha))
        C = 2 * x + 6 * math.log(x)
        if C <= 0:
            raise ValueError(
                f"alpha={alpha} makes {self} negative under its root: log log(1/alpha) means "
                f"nothing there. Use ArmMixture() or a delta below 0.4."
            )
        return C

    def arm_terms(self, counts: Any) -> tuple[FloatArray, FloatArray]:
        """l(n) = 3 log(1 + log n) = 3 log log(e n), v(n) = 1/n."""
        n = as_counts(counts)
        return 3 * np.log(1 + np.log(n)), 1 / n


__all__ = ["ArmMixture", "ArmRadius", "IteratedLogarithm"]
