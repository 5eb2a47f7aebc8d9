"""APE with a radius g(t) (w_i + w_j) whose factor g grows with all samples. Private.

`paretoid.loop` says in NumPy what it computes. A round costs O(K D), by the facts of
`paretoid.engine.ape` and one more: as g grows, lower bounds only fall. So an arm outside OPT stays
there while nothing samples it or its blocker; an arm inside has a *reserve*, the g at which its
weakest lower bound would reach zero, and is looked at again only when g comes near.
"""

from __future__ import annotations

import math
from typing import Any

from paretoid.engine.answers import _close, _due, _first_k, _taken
from paretoid.engine.arms import _observe
from paretoid.engine.cache import entry, kernel, pasted, sqrt
from paretoid.engine.program import (
    AT_MOST,
    COVER,
    FINISHED,
    FORMER,
    NEXT,
    OPTIMAL,
    OUT_OF_BUDGET,
    PENDING,
    STATUS,
    TIME,
)

NEAR = 1.0 - 1e-9  # a reserve is a quotient: far above its rounding, arms are looked at exactly


@kernel
def _high(x: Any, w: Any, g: Any, i: Any, j: Any, credit: Any) -> Any:
    """M+(i, j) - credit."""
    best = -math.inf
    for d in range(len(x)):
        value = x[d, i] - x[d, j] - credit[d] + g * (w[d, i] + w[d, j])
        if value > best:
            best = value
    return best


@kernel
def _low(x: Any, w: Any, g: Any, i: Any, j: Any, eps: Any) -> Any:
    """max_d (L_ij^d + eps1^d)."""
    best = -math.inf
    for d in range(len(x)):
        value = x[d, i] - x[d, j] + eps[d] - g * (w[d, i] + w[d, j])
        if value > best:
            best = value
    return best


@kernel
def _reserve(x: Any, w: Any, i: Any, j: Any, eps: Any) -> Any:
    """The g at which the lower bound of i against j reaches zero."""
    best = -math.inf
    for d in range(len(x)):
        value = (x[d, i] - x[d, j] + eps[d]) / (w[d, i] + w[d, j])
        if value > best:
            best = value
    return best


@kernel
def _look(
    x: Any, w: Any, g: Any, eps: Any, i: Any, optimal: Any, blocker: Any, reserve: Any
) -> Any:
    """Is i in OPT? Written with its blocker or its reserve; returns the change of |OPT|."""
    K = x.shape[1]
    low, low_at, least = math.inf, -1, math.inf
    for j in range(K):
        if j != i:
            value = _low(x, w, g, i, j, eps)
            if value < low:
                low, low_at = value, j
            least = min(least, _reserve(x, w, i, j, eps))
    before = optimal[i]
    optimal[i] = low > 0.0
    blocker[i] = low_at
    reserve[i] = least
    return (1 if optimal[i] else 0) - (1 if before else 0)


@kernel
def _covered(x: Any, w: Any, g: Any, zero: Any, eps2: Any, optimal: Any, i: Any) -> Any:
    """Some j dominates i for certain, or does within eps2 and is in OPT."""
    for j in range(x.shape[1]):
        if j != i and _high(x, w, g, i, j, eps2 if optimal[j] else zero) < 0.0:
            return True
    return False


@kernel
def _recommend(program: Any, state: Any, r: Any, q: Any, g: Any, by_k: Any) -> None:
    """Write the answer of goal q: O(t), OPT(t), or the k arms with the largest lower index."""
    K = len(program.location)
    x, w = state.means[r], state.v[r]
    optimal, answer, h = state.optimal[r], state.answer[r, q], state.scratch[0]
    _close(state, r, q)
    for i in range(K):
        answer[i] = optimal[i]
    if by_k:
        for i in range(K):
            h[i] = math.inf if optimal[i] else -math.inf
            for j in range(K):
                if j != i and optimal[i]:
                    h[i] = min(h[i], _low(x, w, g, i, j, state.eps1[r]))
        _first_k(h, program.k[q], answer)
    elif program.goal[q] != COVER:
        for i in range(K):
            answer[i] = True
            for j in range(K):
                if j != i and _high(x, w, g, i, j, program.zero) < 0.0:
                    answer[i] = False
                    break


@kernel
def _certify(x: Any, w: Any, g: Any, zero: Any, optimal: Any, arm: Any, settled: Any) -> None:
    """What OPT, and the row and column of `arm`, certify now; see `paretoid.engine.settled`."""
    if optimal[arm]:
        settled[arm] = 1
    for j in range(x.shape[1]):
        if j == arm:
            continue
        if settled[j] == 0 and not optimal[j] and _high(x, w, g, j, arm, zero) < 0.0:
            settled[j] = -1
        if settled[arm] == 0 and _high(x, w, g, arm, j, zero) < 0.0:
            settled[arm] = -1


@kernel
def _refresh(state: Any, program: Any, r: Any, arm: Any) -> None:
    n = float(state.counts[r, arm])
    for d in range(len(program.zero)):
        state.means[r, d, arm] = state.sums[r, d, arm] / n * state.inverse[r, d]
        state.v[r, d, arm] = sqrt(2.0 * program.factor[arm, d] / n)


@pasted
def _advance(program: Any, state: Any, r: Any, noise: Any, trace: Any) -> None:
    """Run r until `noise`, one row per sample, is used up or the run ends."""
    K, G = len(program.location), len(program.goal)
    x, w, eps, zero = state.means[r], state.v[r], state.eps1[r], program.zero
    counts, clock, optimal = state.counts[r], state.clock[r], state.optimal[r]
    blocker, witness, settled = state.blocker[r], state.witness[r], state.settled[r]
    index, reserve = state.ceiling[r], state.rivals[r]
    sums, ss = state.sums[r], state.ss[r]
    kind, location, spread = program.outcomes, program.location, program.spread
    data, starts, reference = program.data, program.starts, program.reference
    t, n_optimal = clock[TIME], clock[OPTIMAL]
    for row in range(len(noise)):
        arm = t
        if t >= K:
            arm = _due(clock)
            _taken(clock)
        if len(trace) > 0:
            trace[row] = arm
        _observe(
            kind, location, spread, data, starts, reference, arm, noise, row, counts, sums, ss,
        )  # fmt: skip
        t += 1
        clock[TIME] = t
        _refresh(state, program, r, arm)
        if t < K:
            if t >= program.max_samples:
                clock[STATUS] = OUT_OF_BUDGET
                break
            continue
        g = sqrt(program.keep[0] + 4.0 * math.log(float(t)))
        if t == K:
            for i in range(K):
                n_optimal += _look(x, w, g, eps, i, optimal, blocker, reserve)
                witness[i] = 1 if i == 0 else 0
        else:
            n_optimal += _look(x, w, g, eps, arm, optimal, blocker, reserve)
            for i in range(K):
                if i == arm:
                    continue
                if optimal[i]:
                    reserve[i] = min(reserve[i], _reserve(x, w, i, arm, eps))
                    if g >= reserve[i] * NEAR:
                        n_optimal += _look(x, w, g, eps, i, optimal, blocker, reserve)
                elif blocker[i] == arm and _low(x, w, g, i, arm, eps) > 0.0:
                    n_optimal += _look(x, w, g, eps, i, optimal, blocker, reserve)
        clock[OPTIMAL] = n_optimal
        if clock[PENDING] >= 0:
            clock[FORMER] = arm
            continue
        for i in range(K):
            if t == K:
                _certify(x, w, g, zero, optimal, i, settled)
            elif optimal[i]:
                settled[i] = 1
        if t > K:  # of pairs that were not sampled the upper bounds only rise
            _certify(x, w, g, zero, optimal, arm, settled)
            if program.both:
                _certify(x, w, g, zero, optimal, clock[FORMER], settled)
        # decide: b is the argmax of the indices outside OPT, verified; c its contender
        b, c, verified = -1, -1, -1
        for i in range(K):
            index[i] = -math.inf if optimal[i] else _high(x, w, g, i, witness[i], zero)
        while n_optimal < K:
            b = 0
            for i in range(1, K):
                if index[i] > index[b]:
                    b = i
            if b == verified:
                break
            low, top = math.inf, math.inf
            for j in range(K):
                if j != b:
                    value = _high(x, w, g, b, j, zero)
                    if value < top:
                        top, witness[b] = value, j
                    value = _low(x, w, g, b, j, eps)
                    if value < low:
                        low, c = value, j
            verified = b
            if top == index[b]:
                break
            index[b] = top
        certain = b < 0 or index[b] < 0.0
        # stop
        running = 0
        for q in range(G):
            if state.stopped[r, q]:
                continue
            goal = program.goal[q]
            by_k = goal == AT_MOST and n_optimal >= program.k[q]
            stop = by_k or certain
            if goal == COVER and not stop:
                stop = True
                for i in range(K):
                    if not optimal[i] and not _covered(x, w, g, zero, state.eps2[r, q], optimal, i):
                        stop = False
                        break
            if stop:
                _recommend(program, state, r, q, g, by_k)
            else:
                running += 1
        if running == 0:
            clock[STATUS] = FINISHED
            break
        if t + (2 if program.both else 1) > program.max_samples:
            clock[STATUS] = OUT_OF_BUDGET
            break
        clock[NEXT] = b if program.both or counts[b] <= counts[c] else c
        clock[PENDING] = c if program.both else -1


@entry
def advance(program: Any, state: Any, runs: Any, noise: Any, trace: Any) -> None:
    """Advance several runs; see `paretoid.engine.ape.advance`."""
    for q in range(len(runs)):
        _advance(program, state, runs[q], noise[q], trace[q])
