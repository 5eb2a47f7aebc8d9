"""APE with bounds on differences of rates, for outcomes 0 or 1. Private.

`paretoid.loop` says in NumPy what it computes. A bound costs some microseconds, a thousand times
an ordinary radius, so as few as possible are computed:

* a bound stays until one of its arms is sampled; then it is forgotten, and computed when asked for;
* estimates lie between their bounds, so many comparisons are decided without any, and one
  objective often decides for all;
* witnesses and blockers are kept as in `paretoid.engine.ape`.

Bounds are in `EngineState.v`: those above in row (2 d) K + i, column j, those below in row
(2 d + 1) K + i; NaN where they are not known. The order of operations is that of `paretoid.view`.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from paretoid.engine.answers import _close, _due, _first_k, _taken
from paretoid.engine.arms import _observe
from paretoid.engine.cache import entry, kernel, pasted
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
from paretoid.engine.two_rates import _upper as _bound


class _Run(NamedTuple):
    """One run as these kernels see it: passing all of `Program` and `EngineState` around doubles
    the time of their compilation."""

    rates: Any
    keep: Any
    objective: Any
    drop: Any
    rival: Any
    zero: Any
    counts: Any
    sums: Any
    x: Any
    table: Any
    inverse: Any
    eps: Any


@kernel
def _compute(run: Any, i: Any, j: Any, d: Any, level: Any) -> Any:
    """The upper bound on m_i - m_j in objective d, at log(1/alpha) = level."""
    rates = run.rates
    n_i, n_j = float(run.counts[i]), float(run.counts[j])
    s_i, s_j = run.sums[d, i], run.sums[d, j]
    if rates.flipped[d]:  # minimised outcomes are 0 or -1, and the zeros are the successes
        s_i, s_j = s_i + n_i, s_j + n_j
    return _bound(
        s_i, n_i, rates.rho[i], rates.ones[i, d], rates.zeros[i, d],
        s_j, n_j, rates.rho[j], rates.ones[j, d], rates.zeros[j, d], level,
    )  # fmt: skip


@kernel
def _above(run: Any, i: Any, j: Any, d: Any) -> Any:
    """The half-width of the upper bound on the difference, in units of the tables."""
    x, table, row = run.x, run.table, 2 * d * len(run.counts) + i
    if math.isnan(table[row, j]):
        table[row, j] = _compute(run, i, j, d, (run.drop[i] + run.rival[j]) / 2)
    return table[row, j] * run.inverse[d] - (x[d, i] - x[d, j])


@kernel
def _below(run: Any, i: Any, j: Any, d: Any) -> Any:
    """The half-width of the lower bound on the difference, in units of the tables."""
    x, table, row = run.x, run.table, (2 * d + 1) * len(run.counts) + i
    if math.isnan(table[row, j]):
        table[row, j] = -_compute(run, j, i, d, (run.keep[i] + run.objective[d]) / 2)
    return x[d, i] - x[d, j] - table[row, j] * run.inverse[d]


@kernel
def _first(x: Any, i: Any, j: Any, shift: Any) -> Any:
    """The objective in which i looks best beside j: where it decides, no other is needed."""
    best, top = 0, -math.inf
    for d in range(len(x)):
        value = x[d, i] - x[d, j] + shift[d]
        if value > top:
            best, top = d, value
    return best


@kernel
def _high(run: Any, i: Any, j: Any, credit: Any, enough: Any) -> Any:
    """M+(i, j) - credit; or any number of at least `enough` if it is that large."""
    x, top = run.x, -math.inf
    for d in range(len(x)):
        top = max(top, x[d, i] - x[d, j] - credit[d])
    if top >= enough:  # upper bounds lie above the estimates
        return top
    top, first = -math.inf, _first(x, i, j, run.zero)
    for turn in range(-1, len(x)):
        d = first if turn < 0 else turn
        if turn == first:
            continue
        top = max(top, x[d, i] - x[d, j] - credit[d] + _above(run, i, j, d))
        if top >= enough:
            break
    return top


@kernel
def _low(run: Any, i: Any, j: Any, enough: Any) -> Any:
    """max_d (L_ij^d + eps1^d); or any number above `enough` if it is that large."""
    x, eps, best = run.x, run.eps, -math.inf
    first = _first(x, i, j, eps)
    for turn in range(-1, len(x)):
        d = first if turn < 0 else turn
        if turn == first:
            continue
        estimate = x[d, i] - x[d, j] + eps[d]
        if estimate > best:  # lower bounds lie below the estimates
            best = max(best, estimate - _below(run, i, j, d))
        if best > enough:
            break
    return best


@kernel
def _forget(table: Any, K: Any, arm: Any) -> None:
    """The bounds of `arm`, which was sampled, are no longer known."""
    for row in range(len(table)):
        table[row, arm] = math.nan
    for first in range(arm, len(table), K):
        for j in range(K):
            table[first, j] = math.nan


@kernel
def _blocked(run: Any, i: Any, j: Any) -> Any:
    """Does j keep i out of OPT? Estimates decide it where no objective favours i."""
    d = _first(run.x, i, j, run.eps)
    if run.x[d, i] - run.x[d, j] + run.eps[d] <= 0.0:
        return True
    return _low(run, i, j, 0.0) <= 0.0


@kernel
def _look(run: Any, optimal: Any, blocker: Any, i: Any) -> Any:
    """Is i in OPT? Written with its blocker; returns the change of |OPT|."""
    before, guess = optimal[i], blocker[i]
    at = -1
    if _blocked(run, i, guess):
        at = guess
    if at < 0:
        for j in range(len(optimal)):
            if j != i and j != guess and _blocked(run, i, j):
                at = j
                break
    optimal[i] = at < 0
    if at >= 0:
        blocker[i] = at
    return (1 if optimal[i] else 0) - (1 if before else 0)


@kernel
def _covered(run: Any, optimal: Any, eps2: Any, i: Any) -> Any:
    """Some j dominates i for certain, or does within eps2 and is in OPT."""
    for j in range(len(optimal)):
        if j != i and _high(run, i, j, eps2 if optimal[j] else run.zero, 0.0) < 0.0:
            return True
    return False


@kernel
def _certify(run: Any, settled: Any, arm: Any) -> None:
    """What the row and column of `arm` certify now."""
    for j in range(len(settled)):
        if j == arm:
            continue
        if settled[j] == 0 and _high(run, j, arm, run.zero, 0.0) < 0.0:
            settled[j] = -1
        if settled[arm] == 0 and _high(run, arm, j, run.zero, 0.0) < 0.0:
            settled[arm] = -1


@kernel
def _rank(run: Any, optimal: Any, k: Any, h: Any, answer: Any) -> None:
    """The k arms of OPT with the largest lower index are the answer."""
    for i in range(len(optimal)):
        h[i] = math.inf if optimal[i] else -math.inf
        for j in range(len(optimal)):
            if j != i and optimal[i]:
                h[i] = min(h[i], _low(run, i, j, h[i]))
    _first_k(h, k, answer)


@kernel
def _undominated(run: Any, answer: Any) -> None:
    """O(t), the arms that are not certainly dominated, is the answer."""
    for i in range(len(answer)):
        answer[i] = True
        for j in range(len(answer)):
            if j != i and _high(run, i, j, run.zero, 0.0) < 0.0:
                answer[i] = False
                break


@kernel
def _index(run: Any, witness: Any, b: Any, top: Any) -> Any:
    """min_j M+(b, j), at most `top`; its witness is written."""
    for j in range(len(witness)):
        if j != b and j != witness[b]:
            value = _high(run, b, j, run.zero, top)
            if value < top:
                top = value
                witness[b] = j
    return top


@kernel
def _contender(run: Any, b: Any, c: Any) -> Any:
    """c_t: argmin_j max_d (L_bj^d + eps1^d), the lowest index on ties; `c` is a guess."""
    low = _low(run, b, c, math.inf)
    for j in range(len(run.counts)):
        if j != b and j != c:
            value = _low(run, b, j, low)
            if value < low or (value == low and j < c):
                low, c = value, j
    return c


@pasted
def _advance(program: Any, state: Any, r: Any, noise: Any, trace: Any) -> None:
    """Run r until `noise`, one row per sample, is used up or the run ends."""
    K, D, G = len(program.location), len(program.zero), len(program.goal)
    x, table, inverse = state.means[r], state.v[r], state.inverse[r]
    counts, clock, optimal = state.counts[r], state.clock[r], state.optimal[r]
    blocker, witness, settled = state.blocker[r], state.witness[r], state.settled[r]
    index, sums, ss = state.ceiling[r], state.sums[r], state.ss[r]
    kind, location, spread = program.outcomes, program.location, program.spread
    data, starts, reference = program.data, program.starts, program.reference
    zero = program.zero
    run = _Run(
        program.rates, program.keep, program.objective, program.drop, program.rival, zero, counts,
        sums, x, table, inverse, state.eps1[r],
    )  # fmt: skip
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
        for d in range(D):
            x[d, arm] = sums[d, arm] / float(counts[arm]) * inverse[d]
        _forget(table, K, arm)
        if t < K:
            if t >= program.max_samples:
                clock[STATUS] = OUT_OF_BUDGET
                break
            continue
        if t == K:
            for i in range(K):
                blocker[i] = witness[i] = 1 if i == 0 else 0
                n_optimal += _look(run, optimal, blocker, i)
        else:
            n_optimal += _look(run, optimal, blocker, arm)
            for i in range(K):
                if i == arm:
                    continue
                if optimal[i]:
                    if _blocked(run, i, arm):
                        optimal[i] = False
                        blocker[i] = arm
                        n_optimal -= 1
                elif blocker[i] == arm:
                    n_optimal += _look(run, optimal, blocker, i)
        clock[OPTIMAL] = n_optimal
        if clock[PENDING] >= 0:
            clock[FORMER] = arm
            continue
        for i in range(K):
            if optimal[i]:
                settled[i] = 1
        if t == K:
            for i in range(K):
                _certify(run, settled, i)
        else:
            _certify(run, settled, arm)
            if program.both:
                _certify(run, settled, clock[FORMER])
        # decide: b is the argmax of the indices outside OPT, verified; c its contender
        b, c, verified = -1, -1, -1
        for i in range(K):
            index[i] = -math.inf
            if not optimal[i]:
                index[i] = _high(run, i, witness[i], zero, math.inf)
        while n_optimal < K:
            b = 0
            for i in range(1, K):
                if index[i] > index[b]:
                    b = i
            if b == verified:
                break
            top = _index(run, witness, b, index[b])
            if top == index[b]:
                break
            index[b] = top
            verified = b
        if b >= 0:
            c = _contender(run, b, blocker[b])
        certain = b < 0 or index[b] < 0.0
        # stop
        running = 0
        for g in range(G):
            if state.stopped[r, g]:
                continue
            goal = program.goal[g]
            by_k = goal == AT_MOST and n_optimal >= program.k[g]
            stop = by_k or certain
            if goal == COVER and not stop:
                i, eps2 = state.uncovered[r, g], state.eps2[r, g]
                stop = optimal[i] or _covered(run, optimal, eps2, i)
                if stop:
                    for j in range(K):
                        if not optimal[j] and not _covered(run, optimal, eps2, j):
                            state.uncovered[r, g] = j
                            stop = False
                            break
            if not stop:
                running += 1
                continue
            _close(state, r, g)
            for i in range(K):
                state.answer[r, g, i] = optimal[i]
            if by_k:
                _rank(run, optimal, program.k[g], state.scratch[0], state.answer[r, g])
            elif goal != COVER:
                _undominated(run, state.answer[r, g])
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
