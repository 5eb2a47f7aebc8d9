"""The loops of the baseline rules. Private; `paretoid.loop_baselines` says it in NumPy.

Uniform rules draw a whole round before they test, and in a round all arms have equal counts: where
the scale of an objective is common to the arms, one square root per round serves every pair.
Columns of `State.clock` mean: NEXT the position in the round, PENDING how many arms are active,
OPTIMAL how many are accepted; `State.witness` lists the active arms, `State.optimal` the accepted
ones. The rules for one objective use clock as APE does and keep upper bounds in `State.ceiling`.
"""

from __future__ import annotations

import math
from typing import Any

from paretoid.engine.ape import _covered, _recommend
from paretoid.engine.arms import (
    _arm_l,
    _arm_v,
    _lower_rare,
    _observe,
    _refresh_arm,
    _rescale,
    _upper_rare,
)
from paretoid.engine.cache import inlined, kernel, sqrt
from paretoid.engine.program import (
    AT_MOST,
    CONSTANT_OUTCOMES,
    COVER,
    FINISHED,
    ITERATED_LOGARITHM,
    NEXT,
    OPTIMAL,
    OUT_OF_BUDGET,
    PENDING,
    STATUS,
    TIME,
)

IN, FIRST, OUT = 0, 1, 2  # of an active arm in one test: undecided, in P1, dropped


@inlined
def _beta(l: Any, v: Any, C: Any, i: Any) -> Any:
    """The radius of every pair when all arms have the count and the scale of arm i."""
    return sqrt((C + (l[i] + l[i])) * (v[0, i] + v[0, i]))


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
    x: Any, l: Any, v: Any, keep: Any, drop: Any, eps: Any, zero: Any, common: Any, order: Any,
    active: Any, mark: Any,
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
                if p != q and _upper_rare(x, l, v, drop, i, order[q], zero) < 0.0:
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
                near = _lower_rare(x, l, v, keep, i, j, eps) >= 0.0
            if not near:
                break
        if near:
            mark[i] = FIRST
            changed = True
    return changed


@kernel
def _retire(
    x: Any, l: Any, v: Any, keep: Any, eps: Any, order: Any, active: Any, mark: Any, accepted: Any
) -> Any:
    """Move P2 to `accepted`, close up `order`; returns how many arms stay active."""
    kept = 0
    for p in range(active):
        j = order[p]
        if mark[j] == FIRST:
            needed = False  # may j still have to prove that some i is dominated?
            for q in range(active):
                i = order[q]
                if mark[i] == IN and _lower_rare(x, l, v, keep, i, j, eps) <= 0.0:
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
    x: Any, l: Any, v: Any, keep: Any, eps: Any, order: Any, active: Any, mark: Any, accepted: Any,
    k: Any, index: Any, answer: Any,
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
                index[i] = min(index[i], _lower_rare(x, l, v, keep, i, j, eps))
    while taken < k:
        best = -1
        for p in range(active):
            i = order[p]
            if mark[i] == FIRST and not answer[i] and (best < 0 or index[i] > index[best]):
                best = i
        answer[best] = True
        taken += 1


@kernel
def _uniform_elimination(program: Any, state: Any, r: Any, noise: Any) -> None:
    """Run r until `noise`, one row per sample, is used up or the run ends."""
    K, G = len(program.location), len(program.goal)
    x, l, v, eps = state.means[r], state.l[r], state.v[r], state.eps1[r]
    counts, clock = state.counts[r], state.clock[r]
    order, mark, accepted = state.witness[r], state.blocker[r], state.optimal[r]
    keep, drop, zero, common = program.keep, program.drop, program.zero, program.common
    kind, location, spread = program.outcomes, program.location, program.spread
    data, starts, factor = program.data, program.starts, program.factor
    table_l, table_v, chi = program.table_l, program.table_v, program.chi
    terms = (program.radius, program.rho, program.chi_ratio)
    sums, ss, inverse = state.sums[r], state.ss[r], state.inverse[r]
    first, most = program.first, program.max_samples
    t, position, active = clock[TIME], clock[NEXT], clock[PENDING]
    if active < 0:
        active = K
        for i in range(K):
            order[i] = i
    for row in range(len(noise)):
        arm = order[position]
        _observe(kind, location, spread, data, starts, arm, noise, row, counts, sums, ss)
        t += 1
        position += 1
        if position < active:
            if t >= most:
                clock[STATUS] = OUT_OF_BUDGET
                break
            continue
        position = 0
        count = counts[arm]
        if count >= first:
            if count == first and not _rescale(program, state, r):
                clock[STATUS] = CONSTANT_OUTCOMES
                break
            for p in range(active):
                _refresh_arm(
                    order[p], counts, sums, ss, inverse, factor, terms, table_l, table_v, chi,
                    x, l, v,
                )  # fmt: skip
            if _classify(x, l, v, keep, drop, eps, zero, common, order, active, mark):
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
                            x, l, v, keep, eps, order, active, mark, accepted, k, state.scratch[0],
                            state.answer[r, g],
                        )  # fmt: skip
                active = _retire(x, l, v, keep, eps, order, active, mark, accepted)
                settled = 0
                for i in range(K):
                    settled += 1 if accepted[i] else 0
                clock[OPTIMAL] = settled
                running = 0
                for g in range(G):
                    if active == 0 and not state.stopped[r, g]:
                        state.stopped[r, g] = True
                        state.time[r, g] = t
                        for i in range(K):
                            state.pulls[r, g, i] = counts[i]
                            state.answer[r, g, i] = accepted[i]
                    running += 0 if state.stopped[r, g] else 1
                if running == 0:
                    clock[STATUS] = FINISHED
                    break
        if t >= most:
            clock[STATUS] = OUT_OF_BUDGET
            break
    clock[TIME], clock[NEXT], clock[PENDING] = t, position, active


@kernel
def uniform_elimination(program: Any, state: Any, runs: Any, noise: Any) -> None:
    """Advance several runs: run runs[q] by noise[q], an array (samples, width)."""
    for q in range(len(runs)):
        _uniform_elimination(program, state, runs[q], noise[q])


@kernel
def _settle(
    x: Any, l: Any, v: Any, keep: Any, drop: Any, eps: Any, zero: Any, common: Any, optimal: Any,
    blocker: Any,
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
                out = _lower_rare(x, l, v, keep, i, j, eps) <= 0.0
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
                dominated = _upper_rare(x, l, v, drop, i, j, zero) < 0.0
            if dominated:
                break
        if not dominated:
            return size, False
    return size, True


@kernel
def _round_robin(program: Any, state: Any, r: Any, noise: Any) -> None:
    """Run r until `noise`, one row per sample, is used up or the run ends."""
    K, G = len(program.location), len(program.goal)
    x, l, v, eps = state.means[r], state.l[r], state.v[r], state.eps1[r]
    counts, clock = state.counts[r], state.clock[r]
    optimal, blocker = state.optimal[r], state.blocker[r]
    keep, drop, zero, common = program.keep, program.drop, program.zero, program.common
    kind, location, spread = program.outcomes, program.location, program.spread
    data, starts, factor = program.data, program.starts, program.factor
    table_l, table_v, chi = program.table_l, program.table_v, program.chi
    terms = (program.radius, program.rho, program.chi_ratio)
    sums, ss, inverse = state.sums[r], state.ss[r], state.inverse[r]
    first, most = program.first, program.max_samples
    t, arm = clock[TIME], clock[NEXT]
    for row in range(len(noise)):
        _observe(kind, location, spread, data, starts, arm, noise, row, counts, sums, ss)
        t += 1
        arm += 1
        if arm == K:
            arm = 0
        if arm == 0 and counts[K - 1] >= first:
            clock[TIME] = t
            if counts[K - 1] == first and not _rescale(program, state, r):
                clock[STATUS] = CONSTANT_OUTCOMES
                break
            for i in range(K):
                _refresh_arm(
                    i, counts, sums, ss, inverse, factor, terms, table_l, table_v, chi, x, l, v
                )
            size, certain = _settle(x, l, v, keep, drop, eps, zero, common, optimal, blocker)
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
                            x, l, v, drop, zero, state.eps2[r, g], optimal, i
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
    clock[TIME], clock[NEXT] = t, arm


@kernel
def round_robin(program: Any, state: Any, runs: Any, noise: Any) -> None:
    """Advance several runs: run runs[q] by noise[q], an array (samples, width)."""
    for q in range(len(runs)):
        _round_robin(program, state, runs[q], noise[q])


@kernel
def _stream_l(radius: Any, rho: Any, n: Any) -> Any:
    """l(n) of a radius on one arm; that of the mixture is the pairwise one's."""
    if radius == ITERATED_LOGARITHM:
        return 3.0 * math.log(1.0 + math.log(n))
    return _arm_l(radius, rho, n)


@kernel
def _stream_v(radius: Any, rho: Any, chi: Any, n: Any) -> Any:
    """v(n) of a radius on one arm with scale 1."""
    if radius == ITERATED_LOGARITHM:
        return 1.0 / n
    return _arm_v(radius, rho, chi, 1.0, n)


@kernel
def fill_stream_tables(radius: Any, rho: Any, chi: Any, table_l: Any, table_v: Any) -> None:
    """l(n) and v(n) for n = 1, 2, ...; index 0 is not used."""
    for n in range(1, len(table_l)):
        table_l[n] = _stream_l(radius, rho, float(n))
        table_v[n] = _stream_v(radius, rho, chi, float(n))


@kernel
def _best_arm(program: Any, state: Any, r: Any, noise: Any, ugap: Any) -> None:
    """LUCB, or UGapEc, by one stream of noise."""
    K, G = len(program.location), len(program.goal)
    x, l, v, eps = state.means[r, 0], state.l[r], state.v[r, 0], state.eps1[r, 0]
    counts, clock, upper = state.counts[r], state.clock[r], state.ceiling[r]
    keep, drop = program.keep, program.drop
    kind, location, spread = program.outcomes, program.location, program.spread
    data, starts, factor = program.data, program.starts, program.factor
    table_l, table_v = program.table_l, program.table_v
    sums, ss, inverse = state.sums[r], state.ss[r], state.inverse[r, 0]
    most, pair = program.max_samples, 1 if ugap else 2
    t = clock[TIME]
    for row in range(len(noise)):
        if t < K:
            arm = t
        elif clock[NEXT] >= 0:
            arm = clock[NEXT]
            clock[NEXT] = -1
        else:
            arm = clock[PENDING]
            clock[PENDING] = -1
        _observe(kind, location, spread, data, starts, arm, noise, row, counts, sums, ss)
        t += 1
        clock[TIME] = t
        n = counts[arm]
        x[arm] = sums[0, arm] / float(n) * inverse
        if n < len(table_l):
            l[arm] = table_l[n]
            v[arm] = table_v[n] * factor[arm, 0]
        else:
            l[arm] = _stream_l(program.radius, program.rho, float(n))
            v[arm] = _stream_v(program.radius, program.rho, program.chi, float(n)) * factor[arm, 0]
        upper[arm] = x[arm] + sqrt((drop + l[arm]) * v[arm])
        if t < K:
            if t >= most:
                clock[STATUS] = OUT_OF_BUDGET
                break
            continue
        if clock[PENDING] >= 0:
            continue
        # the largest upper bound, and the largest among the others
        top = 0
        for i in range(1, K):
            if upper[i] > upper[top]:
                top = i
        second = 1 if top == 0 else 0
        for i in range(K):
            if i != top and upper[i] > upper[second]:
                second = i
        best, least, height = 0, math.inf, -math.inf
        for i in range(K):
            if ugap:
                rival = second if i == top else top
                B = upper[rival] - (x[i] - sqrt((keep + l[i]) * v[i]))
                if B < least:
                    best, least = i, B
            elif x[i] > height:
                best, height = i, x[i]
        rival = second if best == top else top
        if not ugap:
            least = upper[rival] - (x[best] - sqrt((keep + l[best]) * v[best]))
        if least < eps:
            for g in range(G):
                state.stopped[r, g] = True
                state.time[r, g] = t
                for i in range(K):
                    state.pulls[r, g, i] = counts[i]
                state.answer[r, g, best] = True
            clock[STATUS] = FINISHED
            break
        if t + pair > most:
            clock[STATUS] = OUT_OF_BUDGET
            break
        if ugap:
            clock[NEXT] = best if counts[best] <= counts[rival] else rival
        else:
            clock[NEXT] = best
            clock[PENDING] = rival


@kernel
def lucb(program: Any, state: Any, runs: Any, noise: Any) -> None:
    """Advance several runs: run runs[q] by noise[q], an array (samples, width)."""
    for q in range(len(runs)):
        _best_arm(program, state, runs[q], noise[q], False)


@kernel
def ugapec(program: Any, state: Any, runs: Any, noise: Any) -> None:
    """Advance several runs: run runs[q] by noise[q], an array (samples, width)."""
    for q in range(len(runs)):
        _best_arm(program, state, runs[q], noise[q], True)
