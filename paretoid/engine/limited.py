"""The loop of APE where arms must meet limits. Private.

`paretoid.goals.limited` says in NumPy what it decides.

An objective that is not compared has eps1 = -inf and a credit of inf, so that no maximum over
objectives is ever its. Such trials have few arms: after a sample a row and a column of both tables
are computed again, and all arms are weighed, O(K (K + D)).

The rows of `weights`, (4, K): lower and upper bound of what an arm has over its own limits; the
lower index h, with its limits among its rivals; 1 if it is certainly out, else 0.
"""

from __future__ import annotations

import math
from typing import Any

from paretoid.engine.answers import _close, _first_k
from paretoid.engine.arms import (
    _lower_rare,
    _observe,
    _position,
    _refresh_arm,
    _rescale,
    _upper_rare,
)
from paretoid.engine.cache import entry, kernel, pasted, sqrt
from paretoid.engine.program import (
    AT_MOST,
    CONSTANT_OUTCOMES,
    COVER,
    FINISHED,
    NEXT,
    OUT_OF_BUDGET,
    OUTGROWN,
    STATUS,
    TIME,
)


@kernel
def _widen(
    limits: Any, q: Any, i: Any, mean: Any, inverse: Any, l: Any, v: Any, weights: Any
) -> None:
    """Take limit q into arm i's bounds; `mean` is in the objective's own units."""
    lead = (mean * limits.direction[q] - limits.floor[q]) * inverse
    slack = limits.slack[q] * inverse
    low = lead - sqrt((limits.keep[i] + l) * v) + slack
    high = lead + sqrt((limits.drop[i] + l) * v) - slack
    if q == 0 or low < weights[0, i]:
        weights[0, i] = low
    if q == 0 or high < weights[1, i]:
        weights[1, i] = high


@kernel
def _weigh(weights: Any, upper: Any, lower: Any) -> Any:
    """Which arms are kept (h > 0) and which are out; True if every arm is one or the other."""
    K, settled = len(upper), True
    for i in range(K):
        h, out = weights[0, i], weights[1, i] < 0.0
        for j in range(K):
            if not weights[1, j] < 0.0 and lower[i, j] < h:
                h = lower[i, j]
            out = out or (upper[i, j] < 0.0 and weights[0, j] > 0.0)
        weights[2, i], weights[3, i] = h, 1.0 if out else 0.0
        settled = settled and (h > 0.0 or out)
    return settled


@kernel
def _contest(weights: Any, upper: Any, lower: Any) -> Any:
    """b_t and c_t; an arm whose own limit is the question is named twice."""
    K, b, best = len(upper), -1, -math.inf
    for i in range(K):
        if weights[2, i] > 0.0 or weights[3, i] > 0.0:
            continue
        top = weights[1, i]
        for j in range(K):
            if not weights[1, j] < 0.0 and upper[i, j] < top:
                top = upper[i, j]
        if b < 0 or top > best:
            b, best = i, top
    if b < 0:
        for i in range(K):
            if weights[2, i] > 0.0 and (b < 0 or weights[2, i] < weights[2, b]):
                b = i
        b = max(b, 0)
        return b, b
    c, low = 0, math.inf
    for j in range(K):
        if not weights[1, j] < 0.0 and lower[b, j] < low:
            c, low = j, lower[b, j]
    if weights[0, b] <= low:
        return b, b
    return (c, c) if upper[b, c] < 0.0 else (b, c)


@kernel
def _certify_weighed(weights: Any, settled: Any) -> None:
    """What is certain of each arm, for good."""
    for i in range(len(settled)):
        if weights[2, i] > 0.0:
            settled[i] = 1
        elif weights[3, i] > 0.0 and settled[i] == 0:
            settled[i] = -1


@kernel
def _best_kept(weights: Any, k: Any, answer: Any) -> Any:
    """The k arms kept with the largest h; False if there are fewer."""
    kept = 0
    for i in range(len(answer)):
        kept += 1 if weights[2, i] > 0.0 else 0
    if kept < k:
        return False
    _first_k(weights[2], k, answer)
    return True


@kernel
def _own(program: Any, state: Any, r: Any, i: Any, weights: Any) -> None:
    """What arm i has over its limits."""
    limits, v = program.limits, state.v[r]
    for q in range(len(limits.column)):
        d = limits.column[q]
        mean = state.sums[r, d, i] / float(state.counts[r, i]) + program.reference[d]
        spread = v[d, i] if len(v) > 1 else v[0, i]
        _widen(limits, q, i, mean, state.inverse[r, d], state.l[r, i], spread, weights)


@kernel
def _pair(program: Any, state: Any, r: Any, i: Any, j: Any, upper: Any, lower: Any) -> None:
    """Both bounds of i against j."""
    x, l, lr, v = state.means[r], state.l[r], state.rivals[r], state.v[r]
    upper[i, j] = _upper_rare(x, l, lr, v, program.drop, i, j, program.zero)
    lower[i, j] = _lower_rare(x, l, v, program.keep, program.objective, i, j, state.eps1[r])


@kernel
def _all_covered(program: Any, state: Any, r: Any, weights: Any) -> Any:
    """Is every arm kept, out, or certainly within eps2 of one that is kept?"""
    x, l, lr, v = state.means[r], state.l[r], state.rivals[r], state.v[r]
    K = x.shape[1]
    for i in range(K):
        fine = weights[2, i] > 0.0 or weights[3, i] > 0.0
        for j in range(K):
            if not fine and j != i and weights[2, j] > 0.0:
                fine = _upper_rare(x, l, lr, v, program.drop, i, j, state.eps2[r, 0]) < 0.0
        if not fine:
            return False
    return True


@kernel
def _answered(program: Any, state: Any, r: Any, settled: Any, weights: Any) -> Any:
    """Write the answer if it may be given."""
    answer, goal = state.answer[r, 0], program.goal[0]
    if goal == AT_MOST and _best_kept(weights, program.k[0], answer):
        return True
    if not (settled or (goal == COVER and _all_covered(program, state, r, weights))):
        return False
    for i in range(len(answer)):
        answer[i] = weights[2, i] > 0.0 if goal == COVER else not weights[3, i] > 0.0
    return True


@pasted
def _advance(program: Any, state: Any, r: Any, noise: Any, trace: Any) -> None:
    """Run r, which has one goal, until `noise` is used up or the run ends."""
    K = len(program.location)
    x, l, lr, v = state.means[r], state.l[r], state.rivals[r], state.v[r]
    counts, clock = state.counts[r], state.clock[r]
    sums, ss, inverse = state.sums[r], state.ss[r], state.inverse[r]
    scratch = state.scratch
    weights, upper, lower = scratch[2:6], scratch[6 : 6 + K], scratch[6 + K : 6 + 2 * K]
    start, t = len(program.opening), clock[TIME]
    for i in range(K):  # another run may have used the tables
        if t >= start:
            _own(program, state, r, i, weights)
        for j in range(K):
            upper[i, j] = lower[i, j] = math.inf
            if t >= start and i != j:
                _pair(program, state, r, i, j, upper, lower)
    for row in range(len(noise)):
        arm = program.opening[t] if t < start else clock[NEXT]
        if _position(counts[arm] + 1) >= program.size[arm]:
            clock[STATUS] = OUTGROWN
            break
        if len(trace) > 0:
            trace[row] = arm
        _observe(
            program.outcomes, program.location, program.spread, program.data, program.starts,
            program.reference, arm, noise, row, counts, sums, ss,
        )  # fmt: skip
        t += 1
        clock[TIME] = t
        if t < start:
            if t >= program.max_samples:
                clock[STATUS] = OUT_OF_BUDGET
                break
            continue
        if t == start and not _rescale(program, state, r):
            clock[STATUS] = CONSTANT_OUTCOMES
            break
        for i in range(K):
            if t == start or i == arm:
                _refresh_arm(
                    i, counts, sums, ss, inverse, program.factor, program.rival, program.column_l,
                    program.column_v, program.offset, x, l, lr, v,
                )  # fmt: skip
                _own(program, state, r, i, weights)
        for i in range(K):
            for j in range(K):
                if i != j and (t == start or i == arm or j == arm):
                    _pair(program, state, r, i, j, upper, lower)
        settled = _weigh(weights, upper, lower)
        _certify_weighed(weights, state.settled[r])
        if _answered(program, state, r, settled, weights):
            _close(state, r, 0)
            clock[STATUS] = FINISHED
            break
        if t + 1 > program.max_samples:
            clock[STATUS] = OUT_OF_BUDGET
            break
        b, c = _contest(weights, upper, lower)
        clock[NEXT] = b if counts[b] <= counts[c] else c


@entry
def advance(program: Any, state: Any, runs: Any, noise: Any, trace: Any) -> None:
    """Advance several runs; see `paretoid.engine.ape.advance`."""
    for q in range(len(runs)):
        _advance(program, state, runs[q], noise[q], trace[q])
