"""The loops of rules that sample in rounds. Private; `paretoid.loop` says in NumPy what they do.

A whole round is drawn before the test, and then all arms have equal counts: where the radius is
the same for all of them, one square root per round serves every pair. Columns of
`EngineState.clock` mean: NEXT the position in the round, PENDING how many arms are active, OPTIMAL
how many are accepted; `witness` lists the active arms, `optimal` the accepted ones.
"""

from __future__ import annotations

import math
from typing import Any

from paretoid.engine.ape import _covered, _recommend
from paretoid.engine.arms import (
    _lower_rare,
    _observe,
    _position,
    _refresh_arm,
    _rescale,
    _upper_rare,
)
from paretoid.engine.cache import entry, inlined, kernel, pasted, sqrt
from paretoid.engine.program import (
    AT_MOST,
    CONSTANT_OUTCOMES,
    COVER,
    FINISHED,
    NEXT,
    OPTIMAL,
    OUT_OF_BUDGET,
    OUTGROWN,
    PENDING,
    STATUS,
    TIME,
)
from paretoid.engine.settled import _certify_all, _certify_dominated, _certify_optimal

IN, FIRST, OUT = 0, 1, 2  # of an active arm in one test: undecided, in P1, dropped


@inlined
def _beta(l: Any, v: Any, C: Any, i: Any) -> Any:
    """The radius of every pair when all arms have the count and the scale of arm i."""
    return sqrt((C[i] + (l[i] + l[i])) * (v[0, i] + v[0, i]))


@inlined
def _margin(x: Any, i: Any, j: Any, lift: Any) -> Any:
    """max_d (x_i - x_j + lift)."""
    best = x[0, i] - x[0, j] + lift[0]
    for d in range(1, len(x)):
        value = x[d, i] - x[d, j] + lift[d]
        if value > best:
            best = value
    return best


@kernel
def _classify(
    x: Any, l: Any, lr: Any, v: Any, keep: Any, add: Any, drop: Any, eps: Any, zero: Any,
    common: Any, order: Any, active: Any, mark: Any,
) -> Any:  # fmt: skip
    """Write IN, FIRST or OUT in `mark` for the active arms; True if one is not IN."""
    D = len(x)
    a = order[0]
    wide, narrow = 0.0, 0.0
    if common:
        wide, narrow = _beta(l, v, drop, a), _beta(l, v, keep, a)
    changed = False
    for p in range(active):
        mark[order[p]] = IN
    if common:  # both directions of a pair at once
        for p in range(active):
            i = order[p]
            for q in range(p + 1, active):
                j = order[q]
                diff = x[0, i] - x[0, j]
                high, low = diff, diff
                for d in range(1, D):
                    diff = x[d, i] - x[d, j]
                    high = diff if diff > high else high
                    low = diff if diff < low else low
                if high + wide < 0.0:
                    mark[i] = OUT
                    changed = True
                if wide - low < 0.0:
                    mark[j] = OUT
                    changed = True
    else:
        for p in range(active):
            i = order[p]
            for q in range(active):
                if p != q and _upper_rare(x, l, lr, v, drop, i, order[q], zero) < 0.0:
                    mark[i] = OUT
                    changed = True
                    break
    for p in range(active):
        i = order[p]
        if mark[i] == OUT:
            continue
        near = True
        for q in range(active):
            j = order[q]
            if p == q or mark[j] == OUT:
                continue
            if common:
                near = _margin(x, i, j, eps) - narrow >= 0.0
            else:
                near = _lower_rare(x, l, v, keep, add, i, j, eps) >= 0.0
            if not near:
                break
        if near:
            mark[i] = FIRST
            changed = True
    return changed


@kernel
def _retire(
    x: Any, l: Any, v: Any, keep: Any, add: Any, eps: Any, order: Any, active: Any, mark: Any,
    accepted: Any,
) -> Any:  # fmt: skip
    """Move P2 to `accepted`, close up `order`; returns how many arms stay active."""
    kept = 0
    for p in range(active):
        j = order[p]
        if mark[j] == FIRST:
            needed = False  # may j still have to prove that some i is dominated?
            for q in range(active):
                i = order[q]
                if mark[i] == IN and _lower_rare(x, l, v, keep, add, i, j, eps) <= 0.0:
                    needed = True
                    break
            accepted[j] = not needed
    for p in range(active):
        i = order[p]
        if mark[i] != OUT and not accepted[i]:
            order[kept] = i
            kept += 1
    return kept


@kernel
def _answer_k(
    x: Any, l: Any, v: Any, keep: Any, add: Any, eps: Any, order: Any, active: Any, mark: Any,
    accepted: Any, k: Any, index: Any, answer: Any,
) -> None:  # fmt: skip
    """P(t-1) and the arms of P1(t) with the largest lower index over A(t), k in all."""
    K = len(accepted)
    taken = 0
    for i in range(K):
        answer[i] = accepted[i]
        index[i] = math.inf
        taken += 1 if accepted[i] else 0
    for p in range(active):
        i = order[p]
        for q in range(active):
            j = order[q]
            if mark[i] == FIRST and p != q and mark[j] != OUT:
                index[i] = min(index[i], _lower_rare(x, l, v, keep, add, i, j, eps))
    while taken < k:
        best = -1
        for p in range(active):
            i = order[p]
            if mark[i] == FIRST and not answer[i] and (best < 0 or index[i] > index[best]):
                best = i
        answer[best] = True
        taken += 1


@pasted
def _uniform_elimination(program: Any, state: Any, r: Any, noise: Any, trace: Any) -> None:
    """Run r until `noise`, one row per sample, is used up or the run ends."""
    K, G = len(program.location), len(program.goal)
    x, l, lr, v = state.means[r], state.l[r], state.rivals[r], state.v[r]
    counts, clock, eps = state.counts[r], state.clock[r], state.eps1[r]
    order, mark, accepted = state.witness[r], state.blocker[r], state.optimal[r]
    guard, certain = state.ceiling[r], state.settled[r]
    keep, add, drop, rival = program.keep, program.objective, program.drop, program.rival
    zero, common = program.zero, program.common
    kind, location, spread = program.outcomes, program.location, program.spread
    data, starts, factor = program.data, program.starts, program.factor
    reference = program.reference
    column_l, column_v = program.column_l, program.column_v
    offset, held, opening = program.offset, program.size, program.opening
    sums, ss, inverse = state.sums[r], state.ss[r], state.inverse[r]
    start, most = len(opening), program.max_samples
    t, turn, active = clock[TIME], clock[NEXT], clock[PENDING]
    if active < 0:
        active = K
        for i in range(K):
            order[i] = i
    for row in range(len(noise)):
        arm = opening[t] if t < start else order[turn]
        if _position(counts[arm] + 1) >= held[arm]:
            clock[STATUS] = OUTGROWN
            break
        if len(trace) > 0:
            trace[row] = arm
        _observe(
            kind, location, spread, data, starts, reference, arm, noise, row, counts, sums, ss,
        )  # fmt: skip
        t += 1
        if t > start:
            turn += 1
        if t < start or (t > start and turn < active):
            if t >= most:
                clock[STATUS] = OUT_OF_BUDGET
                break
            continue
        turn = 0
        if t == start and not _rescale(program, state, r):
            clock[STATUS] = CONSTANT_OUTCOMES
            break
        for p in range(active):
            _refresh_arm(
                order[p], counts, sums, ss, inverse, factor, rival, column_l, column_v, offset,
                x, l, lr, v,
            )  # fmt: skip
        _certify_all(x, l, lr, v, keep, add, drop, eps, zero, guard, certain)
        if _classify(x, l, lr, v, keep, add, drop, eps, zero, common, order, active, mark):
            near = clock[OPTIMAL]
            for p in range(active):
                near += 1 if mark[order[p]] == FIRST else 0
            for g in range(G):
                k = program.k[g]
                if program.goal[g] == AT_MOST and not state.stopped[r, g] and near >= k:
                    state.stopped[r, g] = True
                    state.time[r, g] = t
                    for i in range(K):
                        state.pulls[r, g, i] = counts[i]
                    _answer_k(
                        x, l, v, keep, add, eps, order, active, mark, accepted, k,
                        state.scratch[0],
                        state.answer[r, g],
                    )  # fmt: skip
            active = _retire(x, l, v, keep, add, eps, order, active, mark, accepted)
            settled = 0
            for i in range(K):
                if accepted[i]:
                    settled += 1
                    certain[i] = 1
            clock[OPTIMAL] = settled
            running = 0
            for g in range(G):
                if active == 0 and not state.stopped[r, g]:
                    state.stopped[r, g] = True
                    state.time[r, g] = t
                    for i in range(K):
                        state.pulls[r, g, i] = counts[i]
                        state.answer[r, g, i] = accepted[i]
                if state.stopped[r, g] and state.time[r, g] == t:
                    for i in range(K):
                        state.verdict[r, g, i] = certain[i]
                running += 0 if state.stopped[r, g] else 1
            if running == 0:
                clock[STATUS] = FINISHED
                break
        if t >= most:
            clock[STATUS] = OUT_OF_BUDGET
            break
    clock[TIME], clock[NEXT], clock[PENDING] = t, turn, active


@entry
def uniform_elimination(program: Any, state: Any, runs: Any, noise: Any, trace: Any) -> None:
    """Advance several runs; see `paretoid.engine.ape.advance`."""
    for q in range(len(runs)):
        _uniform_elimination(program, state, runs[q], noise[q], trace[q])


@kernel
def _settle(
    x: Any, l: Any, lr: Any, v: Any, keep: Any, add: Any, drop: Any, eps: Any, zero: Any,
    common: Any, optimal: Any, blocker: Any,
) -> Any:  # fmt: skip
    """OPT(t) from scratch; returns (its size, is every other arm certainly dominated?)."""
    K = x.shape[1]
    wide, narrow = 0.0, 0.0
    if common:
        wide, narrow = _beta(l, v, drop, 0), _beta(l, v, keep, 0)
    size = 0
    for i in range(K):
        out = False
        for q in range(-1, K):
            j = blocker[i] if q < 0 else q  # what kept i out last time probably still does
            if j == i:
                continue
            if common:
                out = _margin(x, i, j, eps) - narrow <= 0.0
            else:
                out = _lower_rare(x, l, v, keep, add, i, j, eps) <= 0.0
            if out:
                blocker[i] = j
                break
        optimal[i] = not out
        size += 0 if out else 1
    for i in range(K):
        if optimal[i]:
            continue
        dominated = False
        for j in range(K):
            if j == i:
                continue
            if common:
                dominated = _margin(x, i, j, zero) + wide < 0.0
            else:
                dominated = _upper_rare(x, l, lr, v, drop, i, j, zero) < 0.0
            if dominated:
                break
        if not dominated:
            return size, False
    return size, True


@pasted
def _round_robin(program: Any, state: Any, r: Any, noise: Any, trace: Any) -> None:
    """Run r until `noise`, one row per sample, is used up or the run ends."""
    K, G = len(program.location), len(program.goal)
    x, l, lr, v = state.means[r], state.l[r], state.rivals[r], state.v[r]
    counts, clock, eps = state.counts[r], state.clock[r], state.eps1[r]
    optimal, blocker = state.optimal[r], state.blocker[r]
    keep, add, drop, rival = program.keep, program.objective, program.drop, program.rival
    zero, common = program.zero, program.common
    kind, location, spread = program.outcomes, program.location, program.spread
    data, starts, factor = program.data, program.starts, program.factor
    reference = program.reference
    column_l, column_v = program.column_l, program.column_v
    offset, held, opening = program.offset, program.size, program.opening
    sums, ss, inverse = state.sums[r], state.ss[r], state.inverse[r]
    start, most = len(opening), program.max_samples
    t, turn = clock[TIME], clock[NEXT]
    for row in range(len(noise)):
        arm = opening[t] if t < start else turn
        if _position(counts[arm] + 1) >= held[arm]:
            clock[STATUS] = OUTGROWN
            break
        if len(trace) > 0:
            trace[row] = arm
        _observe(
            kind, location, spread, data, starts, reference, arm, noise, row, counts, sums, ss,
        )  # fmt: skip
        t += 1
        if t > start:
            turn = turn + 1 if turn + 1 < K else 0
        if t >= start and turn == 0:
            clock[TIME] = t
            if t == start and not _rescale(program, state, r):
                clock[STATUS] = CONSTANT_OUTCOMES
                break
            for i in range(K):
                _refresh_arm(
                    i, counts, sums, ss, inverse, factor, rival, column_l, column_v, offset,
                    x, l, lr, v,
                )  # fmt: skip
            size, certain = _settle(
                x, l, lr, v, keep, add, drop, eps, zero, common, optimal, blocker
            )
            _certify_optimal(optimal, state.settled[r])
            _certify_dominated(x, l, lr, v, drop, zero, state.settled[r])
            running = 0
            for g in range(G):
                if state.stopped[r, g]:
                    continue
                goal = program.goal[g]
                by_k = goal == AT_MOST and size >= program.k[g]
                stop = by_k or certain
                if goal == COVER and not stop:
                    stop = True
                    for q in range(-1, K):
                        i = state.uncovered[r, g] if q < 0 else q  # the last to fail goes first
                        if not optimal[i] and not _covered(
                            x, l, lr, v, drop, zero, state.eps2[r, g], optimal, i
                        ):
                            state.uncovered[r, g] = i
                            stop = False
                            break
                if stop:
                    _recommend(program, state, r, g, by_k, state.scratch[0])
                else:
                    running += 1
            if running == 0:
                clock[STATUS] = FINISHED
                break
        if t >= most:
            clock[STATUS] = OUT_OF_BUDGET
            break
    clock[TIME], clock[NEXT] = t, turn


@entry
def round_robin(program: Any, state: Any, runs: Any, noise: Any, trace: Any) -> None:
    """Advance several runs; see `paretoid.engine.ape.advance`."""
    for q in range(len(runs)):
        _round_robin(program, state, runs[q], noise[q], trace[q])
