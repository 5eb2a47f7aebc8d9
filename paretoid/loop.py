"""The algorithm in readable NumPy, straight from the definitions. Slow; the tests' authority.

Everything is recomputed every round: intervals, S(t), OPT(t), Z1, Z2, b_t, c_t
[kone2023, Sections 3.1 and 3.2]. The kernels must take the same arms, stop at the same times and
give the same answers on the same noise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from paretoid.engine.program import (
    AT_MOST,
    BERNOULLI,
    COVER,
    GAUSSIAN,
    KAUFMANN_KOOLEN,
    SINGLE_ARM,
    UNKNOWN_SCALE,
    Program,
)
from paretoid.theory.checks import BoolArray, FloatArray


@dataclass
class ReferenceRun:
    """What happened: `arms` in order, and per goal None or (time, answer, pulls)."""

    arms: list[int] = field(default_factory=list)
    stops: list[tuple[int, BoolArray, FloatArray] | None] = field(default_factory=list)


def reference_run(program: Program, noise: FloatArray) -> ReferenceRun:
    """Run on `noise`, one row per sample, until every goal has stopped or something runs out."""
    K, D = program.location.shape
    counts, sums, ss = np.zeros(K), np.zeros((K, D)), np.zeros((K, D))
    divisor = np.array(program.divisor)
    run = ReferenceRun(stops=[None] * len(program.goal))
    queue = list(range(K)) * program.first  # initialisation
    for row in noise:
        if len(run.arms) >= program.max_samples:
            break
        arm = queue.pop(0)
        run.arms.append(arm)
        x = outcome(program, arm, row)
        before = sums[arm] / max(counts[arm], 1)
        counts[arm] += 1
        sums[arm] += x
        if counts[arm] > 1:
            ss[arm] += (x - before) * (x - sums[arm] / counts[arm])
        if queue:
            continue
        inverse = 1 / divisor
        if program.radius == UNKNOWN_SCALE:
            if len(run.arms) == K * program.first:
                total = np.zeros(D)
                for i in range(K):  # in order: np.sum is pairwise
                    total = total + ss[i]
                divisor = np.sqrt(total / float((counts - 1).sum()))
            inverse = 1 / divisor
            eps1, eps2 = program.eps1 * inverse, program.eps2 * inverse
        else:
            eps1, eps2 = program.eps1 / divisor, program.eps2 / divisor
        difference = intervals(program, counts, sums, ss, inverse, len(run.arms))
        b, c = decide(program, run, counts, difference, eps1, eps2)
        if all(stop is not None for stop in run.stops):
            break
        if len(run.arms) + (2 if program.both else 1) > program.max_samples:
            break
        queue = [b, c] if program.both else [b if counts[b] <= counts[c] else c]
    return run


def outcome(program: Program, arm: int, row: FloatArray) -> FloatArray:
    """One outcome of `arm` from one row of noise, oriented."""
    if program.outcomes == GAUSSIAN:
        return np.asarray(program.location[arm] + program.spread[arm] * row)
    if program.outcomes == BERNOULLI:
        return np.where(row < program.location[arm], program.spread[arm], 0.0)
    first, last = program.starts[arm], program.starts[arm + 1]
    return np.asarray(program.data[first + min(int(row[0] * (last - first)), last - first - 1)])


@dataclass
class Intervals:
    """(K, K, D) tables: the difference of means, and half-widths of lower and upper bounds."""

    mean: FloatArray
    keep: FloatArray
    drop: FloatArray


def intervals(
    program: Program,
    counts: FloatArray,
    sums: FloatArray,
    ss: FloatArray,
    inverse: FloatArray,
    t: int,
) -> Intervals:
    """Confidence intervals on mu_i^d - mu_j^d, in units of the divisor."""
    x = sums / counts[:, None] * inverse
    mean = x[:, None, :] - x[None, :, :]
    if program.radius == SINGLE_ARM:
        growth = math.sqrt(program.keep + 4 * math.log(t))
        beta = np.sqrt(2.0 * program.factor / counts[:, None])
        width = growth * (beta[:, None, :] + beta[None, :, :])
        return Intervals(mean, width, width)
    rho, n = program.rho, counts
    if program.radius == KAUFMANN_KOOLEN:
        l = np.array([math.log(4 + math.log(c)) for c in n])
        v = 4 / n
    else:
        l = np.array([math.log((c + rho) / rho) for c in n])
        v = (n + rho) / (n * n)
    v = np.repeat(v[:, None], len(inverse), axis=1)
    if program.radius == UNKNOWN_SCALE:
        size = len(program.chi)
        chi = [program.chi[int(c)] if c < size else c * program.chi_ratio for c in n]
        unit = (n + rho) / (n * n * np.array(chi))
        v = ss * unit[:, None] * (inverse * inverse)
    elif not program.common:
        v = program.factor * v
    spread = v[:, None, :] + v[None, :, :]
    logs = (l[:, None] + l[None, :])[:, :, None]
    return Intervals(
        mean, np.sqrt((program.keep + logs) * spread), np.sqrt((program.drop + logs) * spread)
    )


def decide(
    program: Program,
    run: ReferenceRun,
    counts: FloatArray,
    difference: Intervals,
    eps1: FloatArray,
    eps2: FloatArray,
) -> tuple[int, int]:
    """Record the goals that stop now; return (b_t, c_t), (-1, -1) when every arm is in OPT."""
    K = len(counts)
    others = ~np.eye(K, dtype=bool)
    M_upper = (difference.mean + difference.drop).max(axis=2)  # M+(i, j)
    M_lower = (difference.mean + eps1 - difference.keep).max(axis=2)  # max_d (L + eps1)
    h = np.where(others, M_lower, np.inf).min(axis=1)  # h_i^{eps1}
    g = np.where(others, -M_upper, -np.inf).max(axis=1)  # g_i = max_j m-(i, j)
    S = ~((difference.mean < 0).all(axis=2) & others).any(axis=1)  # no strict domination
    OPT = h > 0
    Z1 = min(h[S], default=math.inf)
    Z2 = min(np.maximum(g, h)[~S], default=math.inf)
    for q, kind in enumerate(program.goal):
        if run.stops[q] is not None:
            continue
        answer: Any = None
        if kind == AT_MOST and OPT.sum() >= program.k[q]:
            answer = np.zeros(K, dtype=bool)
            ranked = sorted(np.flatnonzero(OPT), key=lambda i: (-h[i], i))
            answer[ranked[: program.k[q]]] = True
        elif kind == COVER:
            credit = np.where(OPT[:, None], eps2[q], 0.0)  # (K, D): eps2 for j in OPT
            within = (difference.mean - credit + difference.drop).max(axis=2)
            g2 = np.where(others, -within, -np.inf).max(axis=1)  # g_i^{eps2}
            if (np.maximum(g2, h) > 0).all():
                answer = OPT.copy()
        elif Z1 > 0 and Z2 > 0:
            answer = S | ~(g > 0)  # O(t)
        if answer is not None:
            run.stops[q] = (len(run.arms), answer, counts.copy())
    if OPT.all():
        return -1, -1
    index = np.where(OPT, -np.inf, -g)  # min_j M+(i, j), for arms outside OPT
    b = int(np.argmax(index))
    c = int(np.argmin(np.where(others[b], M_lower[b], np.inf)))
    return b, c
