r"""The sharp form of Theorem 1: the radius inverted exactly, in integers, instead of bounded.

On the event that all intervals hold, APE samples arm a with n samples only while
beta_keep + beta_drop at (n, n) is at least the arm's gap, so it stops within

.. math:: \sum_a \inf\{n \ge 2 : \beta_{keep}^n + \beta_{drop}^n < \widetilde\Delta_a\}

samples, the first K included [kone2023, Eq. (bounding-inverting-tau)]; Theorem 1 bounds each
infimum from above.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from paretoid.theory.bound import Bound
from paretoid.theory.calibration import K1, claim_counts
from paretoid.theory.checks import (
    BoolArray,
    FloatArray,
    IntArray,
    as_numbers,
    check_count,
    check_delta,
    shown,
)
from paretoid.theory.gaps import combined_gaps
from paretoid.theory.one_sided import penalty
from paretoid.theory.radii import (
    KaufmannKoolen,
    LUCB1Like,
    Mixture,
    PairwiseRadius,
    RoleTerms,
    UnknownScale,
)
from paretoid.theory.shares import Shares
from paretoid.theory.units import in_scale_units

#: Counts beyond this are reported as inf: no experiment has so many samples.
LARGEST = 1 << 62

#: radii that depend on the counts of two arms alone, for which the sharp bound is proved
INVERTIBLE = (Mixture, KaufmannKoolen)


def samples_to_separate(
    gap: Any, radius: PairwiseRadius, K: int, D: int, delta: float, *, arm: int | None = None
) -> int | float | IntArray | FloatArray:
    r"""inf{n >= 2 : beta_keep^n + beta_drop^n < gap}, gap in units of the scale.

    beta^n is the radius of two arms sampled n times each. With shares, or a rho for each arm, it is
    that of the worst ordered pair of arms and objective; `arm` leaves the pairs that it is in. A
    scalar gap gives an int; an array gives an int64 array. A gap of 0 gives inf (and makes the
    array one of floats): the radius never reaches 0. Exact up to 10^12, where floats still tell n
    from n + 1; from there to 2^62 right to the precision of floats; beyond, inf.

    At equal counts the radii fall once they are finite (theory/PROOFS.md, Section 9), except that
    `KaufmannKoolen` may rise once before it falls, so a count that fails at 2 fails up to one point
    and never again: doubling and bisection find it. Other radii are refused.

    >>> radius = Mixture(rho=1.0)                         # 2 beta: 6.39 at n = 2, 5.12 at n = 3
    >>> samples_to_separate(6.0, radius, 2, 1, 0.1)
    3
    >>> samples_to_separate([0.0, 6.0, 7.0], radius, 2, 1, 0.1)
    array([inf,  3.,  2.])
    """
    check_invertible(radius)
    K = check_count(K, name="K", least=2, why="a difference needs two arms.")
    D = check_count(D, name="D", why="there must be an objective.")
    if arm is not None:
        arm = check_count(arm, name="arm", least=0, most=K - 1, why="it is a position.")
    gaps = _as_gaps(gap)
    widths = _Widths(radius, K, D, check_delta(delta))
    counts, finite = _first_below(lambda n: widths.at(n, n, arm), gaps)
    if gaps.ndim == 0:
        return int(counts) if finite.all() else math.inf
    return counts if finite.all() else np.where(finite, counts, np.inf)


def sample_bound(
    means: Any,
    delta: float,
    radius: PairwiseRadius,
    eps1: Any = 0.0,
    k: int | None = None,
    scale: Any = 1.0,
) -> Bound:
    r"""APE's samples until it stops, at most, for goals with eps1 and (if given) k.

    The sum over arms of `samples_to_separate` at max(Delta_a, eps1, omega^k); `scale` is a
    scalar, (D,) or (K, D), of which the largest of each objective counts. inf if a gap is 0.
    `holds` says on which event: with `union="claims"` its probability is not 1 - delta, and
    `probability` is what the union bound leaves of it.

    Source: [kone2023, Theorem 1], its proof stopped before the last inversion. We differ: that
    proof takes the radius to be decreasing in both counts, so that the partner's count may be
    replaced by n. It is not: at a fixed n it rises again, slowly, in the other count q. It falls
    first and then rises, so over n <= q <= N, N the count of the smallest gap, it is largest at
    an end, and an arm whose radius at (n, N) exceeds that at (n, n) gets the count that (n, N)
    asks for. That happens for `Mixture` when counts differ by orders of magnitude and adds a few
    samples to the easy arms; for `KaufmannKoolen`, exact, not below e^100 samples. With shares, or
    a rho for each arm, the largest radius over rivals, roles and these ends counts
    (theory/PROOFS.md, Proposition 8).

    >>> means = [[1.0, 0.0], [0.0, 1.0], [-0.5, -0.25]]
    >>> bound = sample_bound(means, 0.1, KaufmannKoolen())
    >>> bound == 3 * samples_to_separate(0.5, KaufmannKoolen(), 3, 2, 0.1)
    True
    >>> bound.probability
    0.9
    """
    check_invertible(radius)
    delta = check_delta(delta)
    mu, eps = in_scale_units(means, eps1, scale)
    K, D = mu.shape
    gaps = combined_gaps(mu, eps, k)
    widths = _Widths(radius, K, D, delta)
    hardest = samples_to_separate(float(gaps.min()), radius, K, D, delta)
    per_arm = np.empty(K)
    for arms in [np.arange(K)] if widths.alike else np.arange(K)[:, None]:
        arm = None if widths.alike else int(arms[0])
        if hardest == math.inf:
            per_arm[arms] = samples_to_separate(gaps[arms], radius, K, D, delta, arm=arm)
        else:
            width = partial(widths.towards, partner=float(hardest), arm=arm)
            per_arm[arms] = _first_below(width, gaps[arms])[0]
    probability, holds = _event(radius, K, D, delta)
    return Bound(
        float(per_arm.sum()),
        holds=holds,
        source="[kone2023, Theorem 1], sharp form",
        proved=radius.guarantee == "proved",
        probability=probability,
        gaps=gaps,
        per_arm=per_arm,
    )


class _Widths:
    """beta_keep + beta_drop, the largest over ordered pairs of arms and objectives."""

    def __init__(self, radius: PairwiseRadius, K: int, D: int, delta: float) -> None:
        self.radius, self.K, self.D, self.delta = radius, K, D, delta
        self.C_keep, self.C_drop = radius.constants(K, D, delta)
        self.roles = radius.role_terms(K, D, delta)
        self.alike = self.roles is None and not radius.by_arm

    def at(self, n: FloatArray, q: FloatArray, arm: int | None) -> FloatArray:
        """At n samples of `arm`, or of any, and q of its partner."""
        if self.alike:
            return self._half(n, q, self.C_keep) + self._half(n, q, self.C_drop)
        keep, drop = self._pairs(n, q, arm)
        return np.asarray((keep + drop).max(axis=0))

    def towards(self, n: FloatArray, partner: float, arm: int | None) -> FloatArray:
        """The largest each can be while the partner has between n and `partner` samples."""
        far = np.maximum(n, partner)
        if self.alike:
            both = (self.C_keep, self.C_drop)
            return np.asarray(
                sum(np.maximum(self._half(n, n, C), self._half(n, far, C)) for C in both)
            )
        (keep, drop), (keep_far, drop_far) = self._pairs(n, n, arm), self._pairs(n, far, arm)
        return np.asarray((np.maximum(keep, keep_far) + np.maximum(drop, drop_far)).max(axis=0))

    def _half(self, n: FloatArray, q: FloatArray, C: float) -> FloatArray:
        l_n, v_n = self.radius.arm_terms(n, self.K, self.D, self.delta)
        l_q, v_q = self.radius.arm_terms(q, self.K, self.D, self.delta)
        return np.sqrt((C + (l_n + l_q)) * (v_n + v_q))

    def _pairs(self, n: FloatArray, q: FloatArray, arm: int | None) -> tuple[FloatArray, ...]:
        """(keep, drop), (pairs, ...) half-widths of ordered pairs: all, or those `arm` is in."""
        K = self.K
        first, second = np.nonzero(~np.eye(K, dtype=bool))
        if arm is not None:
            inside = (first == arm) | (second == arm)
            first, second = first[inside], second[inside]
        own, other = (self._terms(counts) for counts in (n, q))
        here = (first == arm) if arm is not None else np.ones(len(first), dtype=bool)
        here = here.reshape(-1, *[1] * np.ndim(n))
        l_b = np.where(here, own[0][first], other[0][first])
        v_b = np.where(here, own[1][first], other[1][first])
        l_c = np.where(here, other[0][second], own[0][second])
        v_c = np.where(here, other[1][second], own[1][second])
        roles = self.roles or RoleTerms.zero(K, self.D)
        keep = self.C_keep + roles.keep_arm[first] + roles.keep_objective.max()
        drop = self.C_drop + roles.drop_arm[first] + roles.drop_rival[second]
        shape = (-1, *[1] * np.ndim(n))
        return tuple(np.sqrt((C.reshape(shape) + (l_b + l_c)) * (v_b + v_c)) for C in (keep, drop))

    def _terms(self, n: FloatArray) -> tuple[FloatArray, FloatArray]:
        tiled = np.broadcast_to(n, (self.K, *np.shape(n)))
        return self.radius.arm_terms(tiled, self.K, self.D, self.delta)


def _event(radius: PairwiseRadius, K: int, D: int, delta: float) -> tuple[float, str]:
    """(proved probability, sentence) of the event that all lower and all upper intervals hold."""
    if radius.guarantee != "proved":
        return 0.0, f"if all intervals hold; {radius} is heuristic, so nothing says how often"
    spent = _spent(radius, K, D, delta)
    if spent <= delta * (1 + 1e-9):
        return 1 - delta, f"with probability at least 1 - delta = {1 - delta:g}"
    probability = max(0.0, 1 - spent)
    proved = f"proved is {probability:g}" if probability else "none is proved here"
    return probability, (
        f"if all intervals hold, whose probability under union='claims' is not 1 - delta: "
        f"{proved}. For 1 - delta use union='pairs'"
    )


def _spent(radius: PairwiseRadius, K: int, D: int, delta: float) -> float:
    """What the event that some interval fails costs at most."""
    assert isinstance(radius, (Mixture, KaufmannKoolen))
    if isinstance(radius, Mixture):
        one_sided = radius.sides == "one" and not radius.counts_pairs(K, D, delta)
        if one_sided or radius.role_terms(K, D, delta) is not None:
            return _spent_by_levels(radius, K, D, delta)
    keep_count, drop_count = claim_counts(K, D, radius.union)
    return delta * K1(K, D) / min(keep_count, drop_count)


def _spent_by_levels(radius: Mixture, K: int, D: int, delta: float) -> float:
    """The same, counted level by level.

    For each pair and objective one two-sided supermartingale serves both sides, and costs the
    largest level that rests on it. One-sided, L_ij^d and U_ji^d fail on the same side, whose
    half-plane costs the larger level. A one-sided bound rests on the two-sided supermartingale all
    the same where its arm's largest level is 0.389 or more (`one_sided.penalty`); then what rests
    on different supermartingales is added.
    """
    shares = radius.shares or Shares()
    keep, drop = shares.keep_levels(K, D, delta), shares.drop_levels(K, delta)
    half_keep, half_drop = (
        (radius.sides == "one") & (penalty(levels.max(axis=1)) < math.log(2))
        for levels in (keep, drop)
    )
    # (i, j, d) for L_ij^d and U_ji^d, the largest level that rests on a half-plane or on both sides
    lower, upper = keep[:, None, :], drop.T[:, :, None]
    by_lower, by_upper = half_keep[:, None, None], half_drop[None, :, None]
    half = np.maximum(np.where(by_lower, lower, 0.0), np.where(by_upper, upper, 0.0))
    both = np.maximum(np.where(by_lower, 0.0, lower), np.where(by_upper, 0.0, upper))
    first, second = np.triu_indices(K, 1)
    two_sided = np.maximum(both[first, second], both[second, first])
    return float((two_sided + half[first, second] + half[second, first]).sum())


def _first_below(
    width: Callable[[FloatArray], FloatArray], gaps: FloatArray
) -> tuple[IntArray, BoolArray]:
    """(first n >= 2 with width(n) < gap, whether there is one up to LARGEST), all gaps at once."""
    high = np.full(gaps.shape, 2, dtype=np.int64)
    wide = ~(width(high.astype(np.float64)) < gaps)
    low = np.where(wide, high, 1)  # fails, or is below the range
    while (grow := wide & (high < LARGEST)).any():
        low = np.where(grow, high, low)
        high = np.where(grow, high * 2, high)
        wide = ~(width(high.astype(np.float64)) < gaps)
    while (open_ := ~wide & (high - low > 1)).any():
        middle = low + (high - low) // 2
        below = width(middle.astype(np.float64)) < gaps
        high = np.where(open_ & below, middle, high)
        low = np.where(open_ & ~below, middle, low)
    return high, ~wide


def _as_gaps(gap: Any) -> FloatArray:
    gaps = as_numbers(gap, name="gap", rule="a number or an array of numbers.")
    if np.isnan(gaps).any() or (gaps < 0).any():
        raise ValueError(
            f"gap={shown(gap)} must not be negative: it is the distance to be seen, in units of "
            f"the scale. For the gaps of means pass theory.combined_gaps(means)."
        )
    return gaps


def has_sample_bound(radius: Any) -> bool:
    """True: the sharp bound is proved for this radius.

    >>> has_sample_bound(Mixture()), has_sample_bound(UnknownScale())
    (True, False)
    """
    return type(radius) in INVERTIBLE


def check_invertible(radius: Any) -> None:
    """Refuse a radius that depends on more than the counts of two arms."""
    if has_sample_bound(radius):
        return
    if isinstance(radius, LUCB1Like):
        why = (
            "its width grows with the total number of samples, so no count per arm inverts it. "
            "Use theory.expected_samples_lucb1"
        )
    elif isinstance(radius, UnknownScale):
        why = "its width depends on the variances seen. For a rough figure use Mixture, known scale"
    else:
        why = "only Mixture and KaufmannKoolen are known to depend on the counts alone. Use these"
    raise ValueError(f"radius={radius!r} has no exact inversion: {why}.")
