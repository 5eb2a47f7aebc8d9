r"""Confidence radii for differences of means, and what each one proves.

Every pairwise radius here has one form,

.. math:: \beta_{ij}^d = \sqrt{(C + l_i + l_j)(v_i^d + v_j^d)},

with per-arm terms l and v that change only when that arm is sampled, and a constant C that may
differ for lower bounds (which *keep* arms) and upper bounds (which *drop* them). `SingleArm`
alone has another: beta_i + beta_j, growing with the total number of samples.

A radius says what it is worth: `guarantee` is "proved" or "heuristic". Proofs are in
theory/PROOFS.md, their steps in tests/theory/test_radii_derivations.py.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from paretoid.theory.calibration import UNIONS, C_g, C_g_approximate, claim_counts, levels
from paretoid.theory.checks import (
    FloatArray,
    check_choice,
    check_count,
    check_delta,
    check_positive,
)


class Radius:
    """What every radius declares; see the members for their mathematics.

    >>> [radius.guarantee for radius in (Mixture(), UnknownScale(), Mixture(union="none"))]
    ['proved', 'proved', 'heuristic']
    >>> Mixture().needs_scale, UnknownScale().needs_scale
    (True, False)
    """

    needs_scale: ClassVar[bool] = True
    union: str

    @property
    def guarantee(self) -> str:
        """ "proved" or "heuristic"."""
        return "heuristic" if self.union == "none" else "proved"


class PairwiseRadius(Radius):
    """A radius of the common form: two constants and two per-arm terms.

    By hand for two arms, one objective, delta = 0.1 and counts of 1: without a union
    C = 2 log 10, l = log(31/30) and v = 31, so beta = sqrt((4.6052 + 0.0656) 62).

    >>> radius = Mixture(rho=30.0, union="none")
    >>> radius.first_count(2, 1, 0.1)
    1
    >>> C_keep, C_drop = radius.constants(2, 1, 0.1)
    >>> l, v = radius.arm_terms(1, 2, 1, 0.1)
    >>> round(C_keep, 4), round(float(l), 4), float(v)
    (4.6052, 0.0328, 31.0)
    >>> round(float(radius.half_width(1, 1, 2, 1, 0.1)), 3)
    17.017
    """

    def constants(self, K: int, D: int, delta: float) -> tuple[float, float]:
        """(C_keep, C_drop) for K arms, D objectives and error probability delta."""
        raise NotImplementedError

    def arm_terms(self, counts: Any, K: int, D: int, delta: float) -> tuple[FloatArray, FloatArray]:
        """(l, v) of arms sampled `counts` times, v for scale 1 (for ss = 1 if unknown)."""
        raise NotImplementedError

    def first_count(self, K: int, D: int, delta: float) -> int:
        """Samples an arm needs before its radius is finite."""
        return 1

    def half_width(
        self, p: Any, q: Any, K: int, D: int, delta: float, *, drop: bool = False
    ) -> FloatArray:
        """beta for arms sampled p and q times, scale 1; `drop` picks C_drop over C_keep."""
        C = self.constants(K, D, delta)[1 if drop else 0]
        l_p, v_p = self.arm_terms(p, K, D, delta)
        l_q, v_q = self.arm_terms(q, K, D, delta)
        return np.sqrt((C + (l_p + l_q)) * (v_p + v_q))


def _counts(counts: Any) -> FloatArray:
    n = np.asarray(counts, dtype=np.float64)
    if n.size and not ((n >= 1) & np.isfinite(n)).all():
        raise ValueError(
            f"counts={counts!r} must be finite and at least 1: a radius needs a sample."
        )
    return n


def _check_union(union: str) -> None:
    check_choice(
        union, UNIONS, name="union", why="'claims' and 'pairs' are proved, 'none' is heuristic."
    )


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
        check_positive(self.rho, name="rho", why="it is the prior precision, in samples.")
        _check_union(self.union)

    def constants(self, K: int, D: int, delta: float) -> tuple[float, float]:
        """C = 2 log(1/alpha) at the levels for keeping and dropping."""
        keep, drop = levels(K, D, delta, self.union)
        return 2 * math.log(1 / keep), 2 * math.log(1 / drop)

    def arm_terms(self, counts: Any, K: int, D: int, delta: float) -> tuple[FloatArray, FloatArray]:
        """l(n) = log((n + rho)/rho), v(n) = (n + rho)/n^2."""
        n = _counts(counts)
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
        _check_union(self.union)

    @property
    def guarantee(self) -> str:
        """ "proved" for the exact C^g with a union bound."""
        return "heuristic" if self.calibration == "approximate" else super().guarantee

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
        n = _counts(counts)
        return np.log(4 + np.log(n)), 4 / n


@dataclass(frozen=True)
class UnknownScale(PairwiseRadius):
    r"""Mixture for Gaussian outcomes whose variances nobody knows; needs no scale.

    With ss the sum of squared deviations of an arm and objective from its own mean,

    .. math::
        C = 2\log\frac{1}{(1-w)\alpha}, \quad l(n) = \log\frac{n+\rho}{\rho}, \quad
        v = \frac{ss}{\chi_n}\,\frac{n+\rho}{n^2}

    where ss/chi_n bounds the variance from above at all n together, at a cost of w delta
    (`chi`). Infinite until `first_count` samples.

    >>> UnknownScale().first_count(20, 3, 0.1)
    22
    """

    rho: float = 30.0
    w: float = 0.1
    a: float = 3.0
    union: str = "claims"

    needs_scale: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_positive(self.rho, name="rho", why="it is the prior precision, in samples.")
        check_positive(self.a, name="a", why="it is the shape of the prior on precisions.")
        if not isinstance(self.w, (int, float)) or not 0 < self.w < 1:
            raise ValueError(
                f"w={self.w!r} must lie strictly between 0 and 1: it is the share of delta spent "
                f"on the variances. The default is w=0.1."
            )
        _check_union(self.union)

    def constants(self, K: int, D: int, delta: float) -> tuple[float, float]:
        """C = 2 log(1/((1 - w) alpha)) at the levels for keeping and dropping."""
        keep, drop = levels(K, D, delta, self.union)
        return 2 * math.log(1 / ((1 - self.w) * keep)), 2 * math.log(1 / ((1 - self.w) * drop))

    def threshold(self, K: int, D: int, delta: float) -> float:
        """log(K D/(w delta)): the level at which each variance is bounded.

        >>> round(UnknownScale(w=0.1).threshold(20, 3, 0.1), 4)    # log 6000
        8.6995
        """
        streams = 1 if self.union == "none" else K * D
        return math.log(streams / (self.w * check_delta(delta)))

    def arm_terms(self, counts: Any, K: int, D: int, delta: float) -> tuple[FloatArray, FloatArray]:
        """l(n) = log((n + rho)/rho), v(n) = (n + rho)/(n^2 chi_n), to be multiplied by ss."""
        n = _counts(counts)
        with np.errstate(divide="ignore"):
            v = (n + self.rho) / (n * n * chi(n, self.threshold(K, D, delta), self.a))
        return np.log((n + self.rho) / self.rho), v

    def first_count(self, K: int, D: int, delta: float) -> int:
        """The first n with chi_n > 0."""
        th = self.threshold(K, D, delta)
        for most in (256, CHI_EXACT):
            n = np.arange(2.0, most + 1)
            finite = np.flatnonzero(chi(n, th, self.a) > 0)
            if finite.size:
                return int(n[finite[0]])
        raise ValueError(
            f"a={self.a} leaves the radius infinite up to n={CHI_EXACT}: the prior on precisions "
            f"is too narrow to learn from data. Use a near its default, 3."
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
    n = _counts(counts)
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
        grown = np.where(step > 0, z + step, z)
        if (grown <= z * (1 + 1e-15)).all():
            break
        z = grown
    return np.where(active, 2 * z * (1 - CHI_ROUNDING), 0.0)


@dataclass(frozen=True)
class SingleArm(Radius):
    r"""The LUCB1-like radius of [kone2023, Appendix "LUCB1-like instantiation"].

    .. math::
        \beta_{ij}(t) = \beta_i(t) + \beta_j(t), \qquad
        \beta_i(t) = s \sqrt{\frac{2}{T_i} \log\frac{5 K D t^4}{2\delta}}

    t is the number of samples so far. The only radius with a bound on the *expected* stopping
    time; wide in practice.

    K = 2, D = 1, delta = 0.05: log(5 K D/(2 delta)) = log 100, and at t = 10 with 2 and 8 samples
    beta = sqrt(log 10^6) (1 + 1/2).

    >>> radius = SingleArm()
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

    def growth(self, t: Any, K: int, D: int, delta: float) -> FloatArray:
        """log(5 K D t^4/(2 delta)), summed as log(5 K D/(2 delta)) + 4 log t."""
        return self.constant(K, D, delta) + 4 * np.log(_counts(t))

    def constant(self, K: int, D: int, delta: float) -> float:
        """log(5 K D/(2 delta))."""
        check_count(K, name="K", least=2, why="a difference needs two arms.")
        return math.log(5 * K * D / (2 * check_delta(delta)))

    def half_width(self, p: Any, q: Any, t: Any, K: int, D: int, delta: float) -> FloatArray:
        """beta for arms sampled p and q times at time t, scale 1."""
        arms = np.sqrt(2 / _counts(p)) + np.sqrt(2 / _counts(q))
        width: FloatArray = np.sqrt(self.growth(t, K, D, delta)) * arms
        return width


__all__ = [
    "CHI_EXACT", "KaufmannKoolen", "Mixture", "PairwiseRadius", "Radius", "SingleArm",
    "UnknownScale", "chi", "claim_counts",
]  # fmt: skip
