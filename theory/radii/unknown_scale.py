"""The mixture for unknown variances, bounded stream by stream [theory/PROOFS.md, Section 3]."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from paretoid.theory.checks import FloatArray, IntArray, check_between, check_delta, check_positive
from paretoid.theory.radii.base import as_counts
from paretoid.theory.radii.claims import MixtureRadius
from paretoid.theory.shares import Shares


@dataclass(frozen=True, repr=False)
class UnknownScale(MixtureRadius):
    r"""Mixture for Gaussian outcomes whose variances nobody knows; needs no scale.

    With ss the sum of squared deviations of an arm and objective from its own mean,

    .. math::
        C = 2\log\frac{1}{2(1-w)\alpha} + 2\,\mathrm{pen}((1-w)\alpha), \quad
        l(n) = \log\frac{n+\rho}{\rho}, \quad v = \frac{ss}{\chi_n}\,\frac{n+\rho}{n^2}

    where ss/chi_n bounds the variance from above at all n together, at a cost of w delta (`chi`).
    Infinite until `first_count` samples. rho, union, sides and shares are as for `Mixture`; w is
    the share of delta spent on the variances, a the shape of the prior on precisions.

    >>> UnknownScale().first_count(20, 3, 0.1)
    22
    """

    rho: Any = 30.0
    w: float = 0.1
    a: float = 3.0
    union: str = "claims"
    sides: str = "one"
    shares: Shares | None = None

    needs_scale: ClassVar[bool] = False

    def __post_init__(self) -> None:
        self._check_fields()
        check_variances(self)

    @property
    def guarantee(self) -> str:
        """ "proved", unless there is no union bound."""
        return "heuristic" if self.union == "none" else "proved"

    def _spent(self) -> float:
        return 1 - self.w

    def threshold(self, K: int, D: int, delta: float) -> float:
        """log(K D/(w delta)): the level at which each variance is bounded.

        >>> round(UnknownScale(w=0.1).threshold(20, 3, 0.1), 4)    # log 6000
        8.6995
        """
        streams = 1 if self.union == "none" else K * D
        return math.log(streams / (self.w * check_delta(delta)))

    def arm_terms(self, counts: Any, K: int, D: int, delta: float) -> tuple[FloatArray, FloatArray]:
        """l(n) = log((n + rho)/rho), v(n) = (n + rho)/(n^2 chi_n), to be multiplied by ss."""
        n = as_counts(counts)
        rho = self._rho(n, K)
        with np.errstate(divide="ignore"):
            v = (n + rho) / (n * n * chi(n, self.threshold(K, D, delta), self.a))
        return np.log((n + rho) / rho), self._usable(n, v, K, D, delta)

    def first_count(self, K: int, D: int, delta: float) -> int | IntArray:
        """The first n with chi_n > 0."""
        try:
            return super().first_count(K, D, delta)
        except ValueError:
            raise too_narrow(self.a) from None


def check_variances(radius: Any) -> None:
    """Refuse a radius whose a or w cannot bound variances; both become floats."""
    a = check_positive(radius.a, name="a", why="it is the shape of the prior on precisions.")
    object.__setattr__(radius, "a", a)
    w = check_between(
        radius.w, 0, 1, name="w", why="it is the share of delta spent on the variances. The "
        "default is w=0.1.",
    )  # fmt: skip
    object.__setattr__(radius, "w", w)


def too_narrow(a: float) -> ValueError:
    """Why no count makes the radius finite."""
    return ValueError(
        f"a={a} leaves the radius infinite for ever: the prior on precisions is too narrow to "
        f"learn from data. Use a near its default, 3."
    )


#: Beyond this count n/chi_n, which only decreases, is held at its value here: conservative by
#: about 2% of the variance at th = 9, and one table of this length serves every run.
CHI_EXACT = 1 << 17

#: Floating-point Newton ends within 1e-13 of the root, on either side; chi is lowered by this
#: fraction, so that f_n(chi_n/2) >= threshold holds for the number returned.
CHI_ROUNDING = 1e-12


def chi(counts: Any, threshold: float, a: float = 3.0) -> FloatArray:
    r"""chi_n: with probability 1 - exp(-threshold), s^2 < ss_n/chi_n for all n together.

    chi_n = 2 z with z the root of f_n(z) = threshold below A - a, where A = a + (n - 1)/2 and

    .. math:: f_n(z) = z - A\log(a+z) + a\log a + \log\Gamma(A) - \log\Gamma(a),

    and 0 where f_n(0) <= threshold. f_n is convex and decreasing there, so Newton's method from
    0 climbs to the root from below, and stopping early would only be conservative. n/chi_n never
    increases with n (theory/PROOFS.md, Section 3).

    >>> n = np.array([50.0, 100.0, 300.0, 1000.0, 10000.0])
    >>> np.round(n / chi(n, math.log(6000)), 1)
    array([3.4, 2.2, 1.5, 1.2, 1.1])
    """
    n = as_counts(counts)
    threshold = check_positive(threshold, name="threshold", why="it is log(1/alpha).")
    a = check_positive(a, name="a", why="it is the shape of the prior on precisions.")
    beyond = n > CHI_EXACT
    exact = _chi_exact(np.minimum(n, CHI_EXACT), threshold, a)
    return np.where(beyond, n * (exact / CHI_EXACT), exact)


def _chi_exact(n: FloatArray, threshold: float, a: float) -> FloatArray:
    from scipy.special import gammaln

    A = a + (n - 1) / 2
    constant = a * math.log(a) + gammaln(A) - gammaln(a) - threshold
    z = np.zeros_like(n)
    active = constant - A * math.log(a) > 0  # f_n(0) > threshold
    for _ in range(200):
        f = z + constant - A * np.log(a + z)
        slope = 1 - A / (a + z)
        step = np.where(active & (slope < 0), -f / np.where(slope < 0, slope, -1.0), 0.0)
        moving = z + step > z * (1 + 1e-15)  # one that rests stays, whatever the others do
        if not moving.any():
            break
        z = np.where(moving, z + step, z)
    return np.where(active, 2 * z * (1 - CHI_ROUNDING), 0.0)
