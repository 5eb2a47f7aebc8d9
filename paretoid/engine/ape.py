"""The loop of APE. Private; `paretoid.loop` says in NumPy what it computes.

A round costs O(K D). Two facts make it so:

* Any entry M+(i, j) is an upper bound of row i's minimum. One *witness* j per row is kept; the
  argmax over the witnessed values is checked by scanning that row alone, and taken again while
  the check lowers it (about once a round in practice). Only rows whose witness was sampled, and
  the sampled row, need a new value.
* An arm outside OPT stays there while one *blocker* j keeps its lower bound at or below zero; an
  arm inside can only leave by an entry of the arm just sampled.

Rows are scanned by `paretoid.engine.rows`. Arrays are objective-major, (D, K): scans vectorise.
"""

from __future__ import annotations

import math
from typing import Any

from paretoid.engine.answers import _close, _due, _first_k, _taken
from paretoid.engine.arms import (
    BLOCK,
    SLACK,
    WIDE,
    _lower,
    _lower_rare,
    _observe,
    _position,
    _refresh_arm,
    _rescale,
    _upper,
    _upper_rare,
)
from paretoid.engine.cache import entry, inlined, kernel, pasted
from paretoid.engine.program import (
    AT_MOST,
    CONSTANT_OUTCOMES,
    COVER,
    FINISHED,
    FORMER,
    NEXT,
    OPTIMAL,
    OUT_OF_BUDGET,
    OUTGROWN,
    PENDING,
    STATUS,
    TIME,
)
from paretoid.engine.rows import _find_blocker, _scan_row
from paretoid.engine.settled import _certify_arm, _certify_dominated, _certify_optimal


@inlined
def _argmax(values: Any) -> Any:
    """The lowest index of the largest value."""
    K = len(values)
    best, top, start = 0, values[0], 1
    if K < WIDE:
        for i in range(1, K):
            if values[i] > top:
                best, top = i, values[i]
        return best
    while start < K:
        hits = 1
        if start + BLOCK <= K:
            hits = 0
            for q in range(BLOCK):
                hits += 1 if values[start + q] > top else 0
        if hits > 0:
            for i in range(start, min(start + BLOCK, K)):
                if values[i] > top:
                    best, top = i, values[i]
        start += BLOCK
    return best


@inlined
def _review(
    x: Any, l: Any, lr: Any, v: Any, keep: Any, add: Any, drop: Any, eps: Any, zero: Any, arm: Any,
    optimal: Any, blocker: Any, index: Any, witness: Any, e: Any,
) -> Any:  # fmt: skip
    """After `arm` was sampled: OPT, blockers and witnessed indices. Returns the change of |OPT|."""
    D, K = x.shape
    wide = len(v) > 1
    change, after = 0, 0
    while after < K:
        if K >= WIDE and after % BLOCK == 0 and after + BLOCK <= K:
            hits = 0
            for q in range(BLOCK):
                j = after + q
                hits += 1 if optimal[j] | (witness[j] == arm) | (blocker[j] == arm) else 0
            if hits == 0:  # nothing to do for most blocks of arms
                after += BLOCK
                continue
        i = after
        after += 1
        if i == arm:
            continue
        if optimal[i]:
            s, clear = l[i] + l[arm], False
            for d in range(D):
                gap = x[d, i] - x[d, arm] + eps[d]
                row = d if wide else 0
                q = (keep[i] + (add[d] if wide else 0.0) + s) * (v[row, i] + v[row, arm])
                if gap > 0 and gap * gap > q * SLACK:
                    clear = True
                    break
            if not clear and _lower_rare(x, l, v, keep, add, i, arm, eps) <= 0.0:
                optimal[i] = False
                blocker[i] = witness[i] = arm
                index[i] = _upper_rare(x, l, lr, v, drop, i, arm, zero)
                change -= 1
            continue
        if witness[i] == arm:
            index[i] = _upper(x, l, lr, v, drop, i, arm, zero)
        if blocker[i] == arm and _lower(x, l, v, keep, add, i, arm, eps) > 0.0:
            j = _find_blocker(x, l, v, keep, add, eps, i, e)
            if j < 0:
                optimal[i] = True
                index[i] = -math.inf
                change += 1
            else:
                blocker[i] = j
    if optimal[arm]:
        j = _find_blocker(x, l, v, keep, add, eps, arm, e)
        if j >= 0:
            optimal[arm] = False
            blocker[arm] = witness[arm] = j
            index[arm] = _upper_rare(x, l, lr, v, drop, arm, j, zero)
            change -= 1
        return change
    index[arm] = _upper(x, l, lr, v, drop, arm, witness[arm], zero)
    if _lower(x, l, v, keep, add, arm, blocker[arm], eps) > 0.0:
        j = _find_blocker(x, l, v, keep, add, eps, arm, e)
        if j < 0:
            optimal[arm] = True
            index[arm] = -math.inf
            change += 1
        else:
            blocker[arm] = j
    return change


@kernel
def _covered(
    x: Any, l: Any, lr: Any, v: Any, drop: Any, zero: Any, eps2: Any, optimal: Any, i: Any
) -> Any:
    """g_i^{eps2} > 0: some j dominates i for certain, or does within eps2 and is in OPT."""
    for j in range(x.shape[1]):
        if j != i and _upper_rare(x, l, lr, v, drop, i, j, eps2 if optimal[j] else zero) < 0.0:
            return True
    return False


@kernel
def _recommend(program: Any, state: Any, r: Any, g: Any, by_k: Any, scratch: Any) -> None:
    """Write the answer of goal g: O(t), OPT(t), or the k arms with the largest lower index."""
    K = len(program.location)
    x, l, lr, v = state.means[r], state.l[r], state.rivals[r], state.v[r]
    optimal, answer = state.optimal[r], state.answer[r, g]
    zero, keep, add, drop = program.zero, program.keep, program.objective, program.drop
    _close(state, r, g)
    for i in range(K):
        answer[i] = optimal[i]
    if by_k:
        for i in range(K):
            scratch[i] = -math.inf
            if optimal[i]:
                scratch[i] = math.inf
                for j in range(K):
                    if j != i:
                        low = _lower_rare(x, l, v, keep, add, i, j, state.eps1[r])
                        scratch[i] = min(scratch[i], low)
        _first_k(scratch, program.k[g], answer)
    elif program.goal[g] != COVER:
        for i in range(K):
            answer[i] = True
            for j in range(K):
                if j != i and _upper_rare(x, l, lr, v, drop, i, j, zero) < 0.0:
                    answer[i] = False
                    break


@pasted
def _advance(program: Any, state: Any, r: Any, noise: Any, trace: Any) -> None:
    """Run r until `noise`, one row per sample, is used up or the run ends.

    trace  (n,) int64  written: the arm of each sample; (0,) for none
    """
    K, G = len(program.location), len(program.goal)
    x, l, lr, v = state.means[r], state.l[r], state.rivals[r], state.v[r]
    eps = state.eps1[r]
    counts, clock = state.counts[r], state.clock[r]
    optimal, blocker = state.optimal[r], state.blocker[r]
    index, witness, settled = state.ceiling[r], state.witness[r], state.settled[r]
    keep, add, drop, rival = program.keep, program.objective, program.drop, program.rival
    zero, m, e = program.zero, state.scratch[0], state.scratch[1]
    kind, location, spread = program.outcomes, program.location, program.spread
    data, starts, factor = program.data, program.starts, program.factor
    reference = program.reference
    column_l, column_v = program.column_l, program.column_v
    offset, size, opening = program.offset, program.size, program.opening
    sums, ss, inverse = state.sums[r], state.ss[r], state.inverse[r]
    start = len(opening)
    t, n_optimal = clock[TIME], clock[OPTIMAL]
    b, c = -1, -1
    for row in range(len(noise)):
        # sample
        if t < start:
            arm = opening[t]
        else:
            arm = _due(clock)
        if _position(counts[arm] + 1) >= size[arm]:
            clock[STATUS] = OUTGROWN
            break
        if t >= start:
            _taken(clock)
        if len(trace) > 0:
            trace[row] = arm
        _observe(
            kind, location, spread, data, starts, reference, arm, noise, row, counts, sums, ss,
        )  # fmt: skip
        t += 1
        clock[TIME] = t
        if t < start:
            if t >= program.max_samples:
                clock[STATUS] = OUT_OF_BUDGET
                break
            continue
        # learn
        if t == start:
            if not _rescale(program, state, r):
                clock[STATUS] = CONSTANT_OUTCOMES
                break
            for i in range(K):
                _refresh_arm(
                    i, counts, sums, ss, inverse, factor, rival, column_l, column_v, offset,
                    x, l, lr, v,
                )  # fmt: skip
            n_optimal = 0
            for i in range(K):
                blocker[i] = _find_blocker(x, l, v, keep, add, eps, i, e)
                optimal[i] = blocker[i] < 0
                n_optimal += 1 if optimal[i] else 0
                witness[i] = 1 if i == 0 else 0
                index[i] = -math.inf
                if not optimal[i]:
                    index[i] = _upper_rare(x, l, lr, v, drop, i, witness[i], zero)
        else:
            _refresh_arm(
                arm, counts, sums, ss, inverse, factor, rival, column_l, column_v, offset,
                x, l, lr, v,
            )  # fmt: skip
            n_optimal += _review(
                x, l, lr, v, keep, add, drop, eps, zero, arm, optimal, blocker, index, witness, e
            )
        clock[OPTIMAL] = n_optimal
        if clock[PENDING] >= 0:
            clock[FORMER] = arm
            continue
        if n_optimal > 0:
            _certify_optimal(optimal, settled)
        if t == start:
            _certify_dominated(x, l, lr, v, drop, zero, settled)
        else:
            _certify_arm(x, l, lr, v, drop, zero, arm, settled, m, e)
            if program.both:
                _certify_arm(
                    x, l, lr, v, drop, zero, clock[FORMER], settled, m, e
                )  # fmt: skip
        # decide: b is the argmax of the indices outside OPT, verified; c its contender
        verified = -1
        b = -1
        while n_optimal < K:
            b = _argmax(index)
            if b == verified:
                break
            top, at, _, c = _scan_row(
                x, l, lr, v, keep, add, drop, eps, zero, b, index[b], witness[b], blocker[b], m, e
            )
            witness[b] = at
            if c >= 0:
                blocker[b] = c
                verified = b
            if top == index[b]:
                break
            index[b] = top
        certain = b < 0 or index[b] < 0.0
        # stop
        running = 0
        failed = False
        for g in range(G):
            if state.stopped[r, g]:
                continue
            goal = program.goal[g]
            if goal == AT_MOST and n_optimal >= program.k[g]:
                _recommend(program, state, r, g, True, m)
            elif certain:
                _recommend(program, state, r, g, False, m)
            elif goal == COVER and not (failed and program.chain):
                i = state.uncovered[r, g]
                eps2 = state.eps2[r, g]
                if optimal[i] or _covered(x, l, lr, v, drop, zero, eps2, optimal, i):
                    i = -1
                    for j in range(K):
                        if not optimal[j] and not _covered(
                            x, l, lr, v, drop, zero, eps2, optimal, j
                        ):
                            i = j
                            break
                if i < 0:
                    _recommend(program, state, r, g, False, m)
                else:
                    state.uncovered[r, g] = i
                    failed = True
                    running += 1
            else:
                running += 1
        if running == 0:
            clock[STATUS] = FINISHED
            break
        if t + (2 if program.both else 1) > program.max_samples:
            clock[STATUS] = OUT_OF_BUDGET
            break
        if program.both:
            clock[NEXT] = b
            clock[PENDING] = c
        else:
            clock[NEXT] = b if counts[b] <= counts[c] else c


@entry
def advance(program: Any, state: Any, runs: Any, noise: Any, trace: Any) -> None:
    """Advance several runs: run runs[q] by noise[q], an array (samples, width).

    trace  (runs, samples) int64  written: the arms sampled; (runs, 0) for none
    """
    for q in range(len(runs)):
        _advance(program, state, runs[q], noise[q], trace[q])
