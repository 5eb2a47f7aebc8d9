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
from typing import Any

import numpy as np

from paretoid.theory.bound import Bound
from paretoid.theory.calibration import K1, claim_counts
from paretoid.theory.checks import BoolArray, FloatArray, IntArray, check_count, check_delta
from paretoid.theory.gaps import combined_gaps
from paretoid.theory.radii import KaufmannKoolen, LUCB1Like, Mixture, PairwiseRadius, UnknownScale
from paretoid.theory.units import in_scale_units

#: Counts beyond this are reported as inf: no experiment has so many samples.
LARGEST = 1 << 62


def samples_to_separate(
    gap: Any, radius: PairwiseRadius, K: int, D: int, delta: float
) -> int | float | IntArray | FloatArray:
    r"""inf{n >= 2 : beta_keep^n + beta_drop^n < gap}, gap in units of the scale.

    beta^n is the radius of two arms sampled n times each. A scalar gap gives an int; an array
    gives an int64 array. A gap of 0 gives inf (and makes the array one of floats): the radius
    never reaches 0. Exact up to 10^12, where floats still tell n from n + 1; from there to 2^62
    right to the precision of floats; beyond, inf.

    Both radii rise at most once and then fall in n, so a count that fails at 2 fails up to one
    point and never again: doubling and bisection find it. Other radii are refused.

    >>> radius = Mixture(rho=1.0)                         # 2 beta: 6.39 at n = 2, 5.12 at n = 3
    >>> samples_to_separate(6.0, radius, 2, 1, 0.1)
    3
    >>> samples_to_separate([0.0, 6.0, 7.0], radius, 2, 1, 0.1)
    array([inf,  3.,  2.])
    """
    check_invertible(radius)
    K = check_count(K, name="K", least=2, why="a difference needs two arms.")
    D = check_count(D, name="D", why="there must be an objective.")
    delta = check_delta(delta)
    gaps = _as_gaps(gap)

    def width(n: FloatArray) -> FloatArray:
        keep = radius.half_width(n, n, K, D, delta)
        return keep + radius.half_width(n, n, K, D, delta, drop=True)

    counts, finite = _first_below(width, gaps)
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
    samples to the easy arms; for `KaufmannKoolen`, exact, not below e^100 samples.

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
    hardest = samples_to_separate(float(gaps.min()), radius, K, D, delta)
    if hardest == math.inf:
        per_arm = np.asarray(samples_to_separate(gaps, radius, K, D, delta), dtype=np.float64)
    else:
        partner = float(hardest)

        def width(n: FloatArray) -> FloatArray:
            total = np.zeros_like(n)
            for drop in (False, True):
                same = radius.half_width(n, n, K, D, delta, drop=drop)
                other = radius.half_width(n, np.maximum(n, partner), K, D, delta, drop=drop)
                total += np.maximum(same, other)
            return total

        per_arm = _first_below(width, gaps)[0].astype(np.float64)
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


def _event(radius: PairwiseRadius, K: int, D: int, delta: float) -> tuple[float, str]:
    """(proved probability, sentence) of the event that all lower and all upper intervals hold."""
    if radius.guarantee != "proved":
        return 0.0, f"if all intervals hold; {radius} is heuristic, so nothing says how often"
    assert isinstance(radius, (Mixture, KaufmannKoolen))
    keep, drop = claim_counts(K, D, radius.union)
    # The narrower of the two intervals implies the wider, so each pair and objective counts once.
    factor = K1(K, D) / min(keep, drop)
    if factor <= 1:
        return 1 - delta, f"with probability at least 1 - delta = {1 - delta:g}"
    probability = max(0.0, 1 - factor * delta)
    return probability, (
        f"if all intervals hold, whose probability under union='claims' is not 1 - delta: the "
        f"union bound leaves {probability:g}. For 1 - delta use union='pairs'"
    )


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
    try:
        gaps = np.asarray(gap, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"gap={gap!r} must be a number or an array of numbers.") from error
    if np.isnan(gaps).any() or (gaps < 0).any():
        raise ValueError(
            f"gap={gap!r} must not be negative: it is the distance to be seen, in units of the "
            f"scale. For the gaps of means pass theory.combined_gaps(means)."
        )
    return gaps


def has_sample_bound(radius: Any) -> bool:
    """True: the sharp bound is proved for this radius.

    >>> has_sample_bound(Mixture()), has_sample_bound(UnknownScale())
    (True, False)
    """
    return type(radius) in (Mixture, KaufmannKoolen)


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
