"""APE by the book: every table from scratch in every round, O(K^2 D), nothing remembered.

The yardstick of validation/benchmarks, to which the tests hold the engine equal bit for bit. It
computes everything, logarithms included, from the formulas of our radii, and shares nothing with
the engine but how an outcome is drawn. Frozen: a faster textbook would be a weaker yardstick.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from paretoid.engine.arms import _observe, _rescale
from paretoid.engine.cache import entry as kernel
from paretoid.engine.cache import sqrt
from paretoid.engine.program import (
    AT_MOST,
    CONSTANT_OUTCOMES,
    COVER,
    FINISHED,
    NEXT,
    OPTIMAL,
    OUT_OF_BUDGET,
    PENDING,
    STATUS,
    TIME,
)
from paretoid.theory.checks import FloatArray
from paretoid.theory.radii import (
    CHI_EXACT,
    KaufmannKoolen,
    LUCB1Like,
    Mixture,
    PairwiseRadius,
    Radius,
    UnknownScale,
    chi,
)

MIXTURE, KAUFMANN_KOOLEN, UNKNOWN_SCALE, LUCB1_LIKE = 0, 1, 2, 3
_KINDS: dict[type, int] = {
    Mixture: MIXTURE,
    KaufmannKoolen: KAUFMANN_KOOLEN,
    UnknownScale: UNKNOWN_SCALE,
    LUCB1Like: LUCB1_LIKE,
}


class Formula(NamedTuple):
    """One of our radii as the numbers of its formula."""

    radius: int
    keep: float
    drop: float
    rho: float
    chi: FloatArray
    chi_ratio: float


def formula_of(radius: Radius, K: int, D: int, delta: float) -> Formula:
    """The numbers of a radius that is the same for all arms, rivals and objectives."""
    chis = np.ones(1)
    if isinstance(radius, UnknownScale):
        table = chi(np.arange(1, CHI_EXACT + 1), radius.threshold(K, D, delta), radius.a)
        chis = np.concatenate([[0.0], table])
    if isinstance(radius, PairwiseRadius):
        assert radius.role_terms(K, D, delta) is None, "the yardstick knows no roles"
        keep, drop = radius.constants(K, D, delta)
    else:
        assert isinstance(radius, LUCB1Like)
        keep = drop = radius.constant(K, D, delta)
    ratio = float(chis[-1] / max(len(chis) - 1, 1))
    rho = float(getattr(radius, "rho", 1.0))
    return Formula(_KINDS[type(radius)], keep, drop, rho, chis, ratio)


@kernel
def _arm_l(radius: Any, rho: Any, n: Any) -> Any:
    """l(n) of one arm."""
    if radius == KAUFMANN_KOOLEN:
        return math.log(4.0 + math.log(n))
    return math.log((n + rho) / rho)


@kernel
def _arm_v(radius: Any, rho: Any, chi: Any, chi_ratio: Any, n: Any) -> Any:
    """v(n) of one arm with scale 1 (ss = 1 for UNKNOWN_SCALE)."""
    if radius == KAUFMANN_KOOLEN:
        return 4.0 / n
    if radius == UNKNOWN_SCALE:
        x = chi[int(n)] if n < len(chi) else n * chi_ratio
        return (n + rho) / (n * n * x)
    return (n + rho) / (n * n)


def workspace(K: int, D: int) -> tuple[Any, ...]:
    """Scratch arrays of `advance`: a kernel that allocates nothing counts no references."""
    tables = np.zeros((K, K)), np.zeros((K, K))
    return *tables, np.zeros((D, K)), np.zeros(D), np.zeros(K), np.zeros(K), np.zeros(K, np.bool_)


@kernel
def _half_width(
    radius: Any, rho: Any, chi: Any, ratio: Any, C: Any, t: Any, p: Any, q: Any, f_i: Any, f_j: Any,
    square: Any,
) -> Any:  # fmt: skip
    """beta_ij^d by its formula, logarithms and all; f is each arm's squared scale, or its ss."""
    if radius == LUCB1_LIKE:
        growth = C + 4.0 * math.log(t)
        return sqrt(growth) * (sqrt(2.0 * f_i / p) + sqrt(2.0 * f_j / q))
    l_i, l_j = _arm_l(radius, rho, p), _arm_l(radius, rho, q)
    v_i, v_j = _arm_v(radius, rho, chi, ratio, p), _arm_v(radius, rho, chi, ratio, q)
    return sqrt((C + (l_i + l_j)) * (f_i * v_i * square + f_j * v_j * square))


@kernel
def _tables(
    x: Any, eps1: Any, counts: Any, t: Any, f: Any, square: Any, common: Any, radius: Any, rho: Any,
    chi: Any, ratio: Any, C_keep: Any, C_drop: Any, upper: Any, lower: Any,
) -> None:  # fmt: skip
    """M+(i, j) and max_d (L_ij^d + eps1^d) for every ordered pair."""
    D, K = x.shape
    for i in range(K):
        for j in range(K):
            if i == j:
                continue
            p, q = float(counts[i]), float(counts[j])
            keep, drop = 0.0, 0.0
            upper[i, j] = lower[i, j] = -math.inf
            for d in range(D):
                if d == 0 or not common:  # with common scales one radius serves all objectives
                    drop = _half_width(
                        radius, rho, chi, ratio, C_drop, t, p, q, f[d, i], f[d, j], square[d]
                    )
                    keep = drop
                    if C_keep != C_drop:
                        keep = _half_width(
                            radius, rho, chi, ratio, C_keep, t, p, q, f[d, i], f[d, j], square[d]
                        )
                diff = x[d, i] - x[d, j]
                upper[i, j] = max(upper[i, j], diff + drop)
                lower[i, j] = max(lower[i, j], diff + eps1[d] - keep)


@kernel
def _covered(
    x: Any, eps2: Any, optimal: Any, i: Any, counts: Any, t: Any, f: Any, square: Any, radius: Any,
    rho: Any, chi: Any, ratio: Any, C: Any,
) -> Any:  # fmt: skip
    """g_i^{eps2}(t) > 0: exists j with max_d (U_ij^d - eps2^d 1{j in OPT}) < 0."""
    D, K = x.shape
    for j in range(K):
        if j == i:
            continue
        p, q = float(counts[i]), float(counts[j])
        value = -math.inf
        for d in range(D):
            width = _half_width(radius, rho, chi, ratio, C, t, p, q, f[d, i], f[d, j], square[d])
            value = max(value, x[d, i] - x[d, j] - (eps2[d] if optimal[j] else 0.0) + width)
        if value < 0.0:
            return True
    return False


@kernel
def advance(
    program: Any, formula: Any, state: Any, r: Any, noise: Any, trace: Any, stats: Any, work: Any
) -> Any:
    """Run r until `noise` is used up or the run ends; returns the samples drawn.

    trace  (n, 5) int64    written: arm, b_t, c_t, |S(t)|, |OPT(t)|; (0, 5) for none
    stats  (n, 3) float64  written: Z1, Z2, min_j M+(b_t, j); b_t, c_t and these describe the
                           round's picture *after* its sample, -1 and NaN before the first
    work   from `workspace`
    """
    K, D = program.location.shape
    G = len(program.goal)
    x, eps1 = state.means[r], state.eps1[r]
    counts, clock, optimal = state.counts[r], state.clock[r], state.optimal[r]
    upper, lower, f, square, h, top, nondominated = work
    kind, location, spread = program.outcomes, program.location, program.spread
    data, starts, reference = program.data, program.starts, program.reference
    sums, ss, inverse = state.sums[r], state.ss[r], state.inverse[r]
    radius, rho, chi, ratio = formula.radius, formula.rho, formula.chi, formula.chi_ratio
    C_keep, C_drop, common = formula.keep, formula.drop, program.common
    start = len(program.opening)
    for row in range(len(noise)):
        t = clock[TIME]
        if t < start:
            arm = t % K
        elif clock[NEXT] >= 0:
            arm = clock[NEXT]
            clock[NEXT] = -1
        else:
            arm = clock[PENDING]
            clock[PENDING] = -1
        _observe(
            kind, location, spread, data, starts, reference, arm, noise, row, counts, sums, ss,
        )  # fmt: skip
        t += 1
        clock[TIME] = t
        if len(trace) > 0:
            trace[row, 0] = arm
            trace[row, 1:] = -1
            stats[row] = math.nan
        if t < start:
            if t >= program.max_samples:
                clock[STATUS] = OUT_OF_BUDGET
                return row + 1
            continue
        if t == start and not _rescale(program, state, r):
            clock[STATUS] = CONSTANT_OUTCOMES
            return row + 1
        if clock[PENDING] >= 0:
            continue

        for i in range(K):
            for d in range(D):
                x[d, i] = sums[d, i] / float(counts[i]) * inverse[d]
                f[d, i] = ss[d, i] if radius == UNKNOWN_SCALE else program.factor[i, d]
                square[d] = inverse[d] * inverse[d] if radius == UNKNOWN_SCALE else 1.0
        now = float(t)
        _tables(
            x, eps1, counts, now, f, square, common, radius, rho, chi, ratio, C_keep, C_drop,
            upper, lower,
        )  # fmt: skip

        # S(t): no strict domination. OPT(t): every lower bound above -eps1.
        size, n_optimal = 0, 0
        for i in range(K):
            nondominated[i] = True
            h[i] = top[i] = math.inf
            for j in range(K):
                if j == i:
                    continue
                dominated = True
                for d in range(D):
                    if x[d, i] >= x[d, j]:
                        dominated = False
                if dominated:
                    nondominated[i] = False
                h[i] = min(h[i], lower[i, j])
                top[i] = min(top[i], upper[i, j])
            optimal[i] = h[i] > 0.0
            size += 1 if nondominated[i] else 0
            n_optimal += 1 if optimal[i] else 0
        clock[OPTIMAL] = n_optimal

        # Z1 over S(t), Z2 over its complement
        z1, z2 = math.inf, math.inf
        for i in range(K):
            if nondominated[i]:
                z1 = min(z1, h[i])
            else:
                z2 = min(z2, max(-top[i], h[i]))
        certain = z1 > 0.0 and z2 > 0.0

        b, c = -1, -1
        for i in range(K):
            if not optimal[i] and (b < 0 or top[i] > top[b]):
                b = i
        if b >= 0:
            for j in range(K):
                if j != b and (c < 0 or lower[b, j] < lower[b, c]):
                    c = j
        if len(trace) > 0:
            trace[row, 1], trace[row, 2], trace[row, 3], trace[row, 4] = b, c, size, n_optimal
            stats[row, 0], stats[row, 1] = z1, z2
            if b >= 0:
                stats[row, 2] = top[b]

        running = 0
        for g in range(G):
            if state.stopped[r, g]:
                continue
            goal = program.goal[g]
            by_k = goal == AT_MOST and n_optimal >= program.k[g]
            stop = by_k or (certain and goal != COVER)
            if goal == COVER:
                stop = True
                for i in range(K):
                    if h[i] <= 0.0 and not _covered(
                        x, state.eps2[r, g], optimal, i, counts, now, f, square, radius, rho, chi,
                        ratio, C_drop,
                    ):  # fmt: skip
                        stop = False
                        break
            if not stop:
                running += 1
                continue
            state.stopped[r, g] = True
            state.time[r, g] = t
            for i in range(K):
                state.pulls[r, g, i] = counts[i]
                state.answer[r, g, i] = optimal[i]
                if goal != COVER and not by_k:
                    state.answer[r, g, i] = nondominated[i] or top[i] >= 0.0  # O(t)
            if by_k:
                kept = 0
                for i in range(K):
                    state.answer[r, g, i] = False
                while kept < program.k[g]:
                    best = -1
                    for i in range(K):
                        if (
                            optimal[i]
                            and not state.answer[r, g, i]
                            and (best < 0 or h[i] > h[best])
                        ):
                            best = i
                    state.answer[r, g, best] = True
                    kept += 1
        if running == 0:
            clock[STATUS] = FINISHED
            return row + 1
        if t + (2 if program.both else 1) > program.max_samples:
            clock[STATUS] = OUT_OF_BUDGET
            return row + 1
        clock[NEXT] = b if program.both or counts[b] <= counts[c] else c
        clock[PENDING] = c if program.both else -1
    return len(noise)
