"""The engine's loop. Private; `paretoid._reference` says in NumPy what it computes.

A round costs O(K D). Two facts make it so:

* Any entry M+(i, j) is an upper bound of row i's minimum. One *witness* j per row is kept; the
  argmax over the witnessed values is checked by scanning that row alone, and taken again while
  the check lowers it (about once a round in practice). Only rows whose witness was sampled, and
  the sampled row, need a new value.
* An arm outside OPT stays there while one *blocker* j keeps its lower bound at or below zero; an
  arm inside can only leave by an entry of the arm just sampled.

Square roots are avoided by comparing squares with a slack of 1e-12 and are taken only where the
comparison is that close or the value itself is wanted, so every decision is the one the exact
formula gives, bit for bit. Arrays are objective-major, (D, K): row scans vectorise.
"""

from __future__ import annotations

import math
from typing import Any

from paretoid._compile import inlined, kernel, sqrt
from paretoid._program import (
    AT_MOST,
    BERNOULLI,
    CONSTANT_OUTCOMES,
    COVER,
    FINISHED,
    GAUSSIAN,
    KAUFMANN_KOOLEN,
    NEXT,
    OPTIMAL,
    OUT_OF_BUDGET,
    PENDING,
    RESAMPLED,
    STATUS,
    TIME,
    UNKNOWN_SCALE,
)

SLACK = 1.0 + 1e-12  # far above the rounding of a product, far below any difference that matters
BLOCK = 32  # arms looked at together
WIDE = 24  # from this many arms on, margins are computed objective by objective (vectorised)


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


@kernel
def _fill_tables(
    radius: Any, rho: Any, chi: Any, chi_ratio: Any, table_l: Any, table_v: Any
) -> None:
    """l(n) and v(n) for n = 1, 2, ...; index 0 is not used."""
    for n in range(1, len(table_l)):
        table_l[n] = _arm_l(radius, rho, float(n))
        table_v[n] = _arm_v(radius, rho, chi, chi_ratio, float(n))


@inlined
def _observe(
    kind: Any, location: Any, spread: Any, data: Any, starts: Any, arm: Any, noise: Any,
    step: Any, counts: Any, sums: Any, ss: Any,
) -> None:  # fmt: skip
    """Draw one outcome of `arm` from row `step` of the noise; add it to counts, sums and ss."""
    D = location.shape[1]
    n = counts[arm] + 1
    counts[arm] = n
    row = 0
    if kind == RESAMPLED:
        size = starts[arm + 1] - starts[arm]
        row = starts[arm] + min(int(noise[step, 0] * size), size - 1)
    for d in range(D):
        if kind == GAUSSIAN:
            x = location[arm, d] + spread[arm, d] * noise[step, d]
        elif kind == BERNOULLI:
            x = spread[arm, d] if noise[step, d] < location[arm, d] else 0.0
        else:
            x = data[row, d]
        old = sums[d, arm]
        sums[d, arm] = old + x
        if len(ss) > 0 and n > 1:
            ss[d, arm] += (x - old / (n - 1)) * (x - (old + x) / n)


@kernel
def _pool_scale(counts: Any, ss: Any, inverse: Any) -> Any:
    """Unknown scales, after the first samples: one over the pooled sd. False: constant outcomes."""
    D, K = ss.shape
    for d in range(D):
        total, freedom = 0.0, 0.0
        for i in range(K):
            if ss[d, i] <= 0.0:
                return False
            total += ss[d, i]
            freedom += float(counts[i] - 1)
        inverse[d] = 1.0 / sqrt(total / freedom)
    return True


@kernel
def _rescale(program: Any, state: Any, r: Any) -> Any:
    """`_pool_scale` and eps in its units, once per run. False: constant outcomes."""
    if program.radius != UNKNOWN_SCALE:
        return True
    if not _pool_scale(state.counts[r], state.ss[r], state.inverse[r]):
        return False
    for d in range(len(program.eps1)):
        state.eps1[r, d] = program.eps1[d] * state.inverse[r, d]
        for g in range(len(program.goal)):
            state.eps2[r, g, d] = program.eps2[g, d] * state.inverse[r, d]
    return True


@inlined
def _refresh_arm(
    arm: Any, counts: Any, sums: Any, ss: Any, inverse: Any, factor: Any, terms: Any,
    table_l: Any, table_v: Any, chi: Any, x: Any, l: Any, v: Any,
) -> None:  # fmt: skip
    """Mean, l and v of an arm after its count or sums changed; `terms` = radius, rho, ratio."""
    D = len(x)
    count = counts[arm]
    n = float(count)
    if count < len(table_l):
        l[arm] = table_l[count]
        unit = table_v[count]
    else:
        l[arm] = _arm_l(terms[0], terms[1], n)
        unit = _arm_v(terms[0], terms[1], chi, terms[2], n)
    for d in range(D):
        x[d, arm] = sums[d, arm] / n * inverse[d]
    if len(v) == 1 and len(ss) == 0:
        v[0, arm] = unit * factor[arm, 0]
        return
    for d in range(D):
        if len(ss) > 0:
            v[d, arm] = ss[d, arm] * unit * (inverse[d] * inverse[d])
        else:
            v[d, arm] = factor[arm, d] * unit


@inlined
def _upper(x: Any, l: Any, v: Any, C: Any, i: Any, j: Any, credit: Any) -> Any:
    """M+(i, j) - credit: the largest upper bound on mu_i - mu_j over objectives."""
    D, wide = len(x), len(v) > 1
    s = C + (l[i] + l[j])
    best = -math.inf
    if wide:
        for d in range(D):
            value = x[d, i] - x[d, j] - credit[d] + sqrt(s * (v[d, i] + v[d, j]))
            if value > best:
                best = value
        return best
    for d in range(D):
        value = x[d, i] - x[d, j] - credit[d]
        if value > best:
            best = value
    return best + sqrt(s * (v[0, i] + v[0, j]))


@inlined
def _lower(x: Any, l: Any, v: Any, C: Any, i: Any, j: Any, eps: Any) -> Any:
    """max_d (L_ij^d + eps1^d)."""
    D, wide = len(x), len(v) > 1
    s = C + (l[i] + l[j])
    best = -math.inf
    if wide:
        for d in range(D):
            value = x[d, i] - x[d, j] + eps[d] - sqrt(s * (v[d, i] + v[d, j]))
            if value > best:
                best = value
        return best
    for d in range(D):
        value = x[d, i] - x[d, j] + eps[d]
        if value > best:
            best = value
    return best - sqrt(s * (v[0, i] + v[0, j]))


# Called, not pasted, off the hot path: every paste costs a second of compilation.
_upper_rare = kernel(_upper.py_func)  # type: ignore[attr-defined]
_lower_rare = kernel(_lower.py_func)  # type: ignore[attr-defined]


@kernel
def _margins_of(x: Any, i: Any, sign: Any, shift: Any, out: Any) -> None:
    """out[j] = max_d (sign (x_i - x_j) + shift): row i (sign 1) or column i (sign -1)."""
    D, K = x.shape
    row, c, e = x[0], x[0, i], shift[0]
    if sign > 0:
        for j in range(K):
            out[j] = c - row[j] + e
    else:
        for j in range(K):
            out[j] = row[j] - c + e
    for d in range(1, D):
        row, c, e = x[d], x[d, i], shift[d]
        if sign > 0:
            for j in range(K):
                value = c - row[j] + e
                out[j] = value if value > out[j] else out[j]
        else:
            for j in range(K):
                value = row[j] - c + e
                out[j] = value if value > out[j] else out[j]


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
def _scan_row(
    x: Any, l: Any, v: Any, keep: Any, drop: Any, eps: Any, zero: Any, i: Any, top: Any, at: Any,
    guess: Any, m: Any, e: Any,
) -> Any:  # fmt: skip
    """Row i's (min M+, its j, min lower bound, its j), lowest j on ties.

    `top` = M+(i, at) is a known entry, `guess` a likely j of the lower bound; m and e are (K,)
    scratch.
    """
    D, K = x.shape
    low, low_at = math.inf, -1
    if len(v) > 1:
        for j in range(K):
            if j == i:
                continue
            s = l[i] + l[j]
            below, skip = True, False  # below: can M+(i, j) still be the minimum?
            for d in range(D):
                diff = x[d, i] - x[d, j]
                if diff >= top:
                    below = False
                gap = diff + eps[d] - low
                if gap > 0 and gap * gap > (keep + s) * (v[d, i] + v[d, j]) * SLACK:
                    skip = True
            if below:
                value = -math.inf
                for d in range(D):
                    u = x[d, i] - x[d, j] + sqrt((drop + s) * (v[d, i] + v[d, j]))
                    if u > value:
                        value = u
                if value < top or (value == top and j < at):
                    top, at = value, j
            if not skip:
                value = _lower_rare(x, l, v, keep, i, j, eps)
                if value < low:
                    low, low_at = value, j
        return top, at, low, low_at

    slack = False
    for d in range(D):
        slack = slack or eps[d] != 0.0
    li, vi = l[i], v[0, i]
    if K < WIDE:
        for j in range(K):
            if j == i:
                continue
            margin = x[0, i] - x[0, j]
            for d in range(1, D):
                diff = x[d, i] - x[d, j]
                if diff > margin:
                    margin = diff
            lifted = margin
            if slack:
                lifted = x[0, i] - x[0, j] + eps[0]
                for d in range(1, D):
                    diff = x[d, i] - x[d, j] + eps[d]
                    if diff > lifted:
                        lifted = diff
            s, vv = li + l[j], vi + v[0, j]
            if margin < top:
                value = margin + sqrt((drop + s) * vv)
                if value < top or (value == top and j < at):
                    top, at = value, j
            gap, square = lifted - low, (keep + s) * vv
            if gap <= 0 or gap * gap <= square * SLACK:
                value = lifted - sqrt(square)
                if value < low:
                    low, low_at = value, j
        return top, at, low, low_at

    _margins_of(x, i, 1, zero, m)
    if slack:
        _margins_of(x, i, 1, eps, e)
    else:
        e = m
    low, low_at = _lower_rare(x, l, v, keep, i, guess, eps), guess
    start = 0
    while start < K:
        hits = 1
        if start + BLOCK <= K:
            hits = 0
            for q in range(BLOCK):
                j = start + q
                gap = e[j] - low
                square = (keep + (li + l[j])) * (vi + v[0, j]) * SLACK
                hits += 1 if (m[j] < top) | (gap <= 0.0) | (gap * gap <= square) else 0
        if hits > 0:
            for j in range(start, min(start + BLOCK, K)):
                if j == i:
                    continue
                s, vv = li + l[j], vi + v[0, j]
                if m[j] < top:
                    value = m[j] + sqrt((drop + s) * vv)
                    if value < top or (value == top and j < at):
                        top, at = value, j
                gap, square = e[j] - low, (keep + s) * vv
                if gap <= 0 or gap * gap <= square * SLACK:
                    value = e[j] - sqrt(square)
                    if value < low or (value == low and j < low_at):
                        low, low_at = value, j
        start += BLOCK
    return top, at, low, low_at


@kernel
def _find_blocker(x: Any, l: Any, v: Any, keep: Any, eps: Any, i: Any, e: Any) -> Any:
    """The j with the smallest lower bound max_d (L_ij^d + eps1^d), or -1 if all are positive."""
    D, K = x.shape
    low, low_at = 0.0, -1
    if K >= WIDE and len(v) == 1:
        _margins_of(x, i, 1, eps, e)
        start = 0
        while start < K:
            hits = 1
            if start + BLOCK <= K:
                hits = 0
                for q in range(BLOCK):
                    j = start + q
                    gap = e[j] - low
                    square = (keep + (l[i] + l[j])) * (v[0, i] + v[0, j]) * SLACK
                    hits += 1 if (gap <= 0.0) | (gap * gap <= square) else 0
            if hits > 0:
                for j in range(start, min(start + BLOCK, K)):
                    value = e[j] - sqrt((keep + (l[i] + l[j])) * (v[0, i] + v[0, j]))
                    if j != i and (value < low or (value == low and low_at < 0)):
                        low, low_at = value, j
            start += BLOCK
        return low_at
    wide = len(v) > 1
    for j in range(K):
        if j == i:
            continue
        s, clear = keep + (l[i] + l[j]), False
        for d in range(D):
            gap = x[d, i] - x[d, j] + eps[d]
            q = s * (v[d if wide else 0, i] + v[d if wide else 0, j])
            if gap > 0.0 and gap * gap > q * SLACK:
                clear = True
                break
        if not clear:
            value = _lower_rare(x, l, v, keep, i, j, eps)
            if value < low or (value == low and low_at < 0):
                low, low_at = value, j
    return low_at


@inlined
def _review(
    x: Any, l: Any, v: Any, keep: Any, drop: Any, eps: Any, zero: Any, arm: Any,
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
            s, clear = keep + (l[i] + l[arm]), False
            for d in range(D):
                gap = x[d, i] - x[d, arm] + eps[d]
                q = s * (v[d if wide else 0, i] + v[d if wide else 0, arm])
                if gap > 0 and gap * gap > q * SLACK:
                    clear = True
                    break
            if not clear and _lower_rare(x, l, v, keep, i, arm, eps) <= 0.0:
                optimal[i] = False
                blocker[i] = witness[i] = arm
                index[i] = _upper_rare(x, l, v, drop, i, arm, zero)
                change -= 1
            continue
        if witness[i] == arm:
            index[i] = _upper(x, l, v, drop, i, arm, zero)
        if blocker[i] == arm and _lower(x, l, v, keep, i, arm, eps) > 0.0:
            j = _find_blocker(x, l, v, keep, eps, i, e)
            if j < 0:
                optimal[i] = True
                index[i] = -math.inf
                change += 1
            else:
                blocker[i] = j
    if optimal[arm]:
        j = _find_blocker(x, l, v, keep, eps, arm, e)
        if j >= 0:
            optimal[arm] = False
            blocker[arm] = witness[arm] = j
            index[arm] = _upper_rare(x, l, v, drop, arm, j, zero)
            change -= 1
        return change
    index[arm] = _upper(x, l, v, drop, arm, witness[arm], zero)
    if _lower(x, l, v, keep, arm, blocker[arm], eps) > 0.0:
        j = _find_blocker(x, l, v, keep, eps, arm, e)
        if j < 0:
            optimal[arm] = True
            index[arm] = -math.inf
            change += 1
        else:
            blocker[arm] = j
    return change


@kernel
def _covered(x: Any, l: Any, v: Any, drop: Any, zero: Any, eps2: Any, optimal: Any, i: Any) -> Any:
    """g_i^{eps2} > 0: some j dominates i for certain, or does within eps2 and is in OPT."""
    for j in range(x.shape[1]):
        if j != i and _upper_rare(x, l, v, drop, i, j, eps2 if optimal[j] else zero) < 0.0:
            return True
    return False


@kernel
def _recommend(program: Any, state: Any, r: Any, g: Any, by_k: Any, scratch: Any) -> None:
    """Write the answer of goal g: O(t), OPT(t), or the k arms with the largest lower index."""
    K = len(program.location)
    x, l, v = state.means[r], state.l[r], state.v[r]
    optimal, answer = state.optimal[r], state.answer[r, g]
    zero = program.zero
    state.stopped[r, g] = True
    state.time[r, g] = state.clock[r, TIME]
    for i in range(K):
        state.pulls[r, g, i] = state.counts[r, i]
        answer[i] = optimal[i]
    if by_k:
        for i in range(K):
            answer[i] = False
            scratch[i] = -math.inf
            if optimal[i]:
                scratch[i] = math.inf
                for j in range(K):
                    if j != i:
                        scratch[i] = min(
                            scratch[i], _lower_rare(x, l, v, program.keep, i, j, state.eps1[r])
                        )
        for _ in range(program.k[g]):
            best = -1
            for i in range(K):
                if not answer[i] and optimal[i] and (best < 0 or scratch[i] > scratch[best]):
                    best = i
            answer[best] = True
    elif program.goal[g] != COVER:
        for i in range(K):
            answer[i] = True
            for j in range(K):
                if j != i and _upper_rare(x, l, v, program.drop, i, j, zero) < 0.0:
                    answer[i] = False
                    break


@kernel
def _advance(program: Any, state: Any, r: Any, noise: Any) -> None:
    """Run r until `noise`, one row per sample, is used up or the run ends."""
    K, G = len(program.location), len(program.goal)
    x, l, v, eps = state.means[r], state.l[r], state.v[r], state.eps1[r]
    counts, clock = state.counts[r], state.clock[r]
    optimal, blocker = state.optimal[r], state.blocker[r]
    index, witness = state.ceiling[r], state.witness[r]
    keep, drop = program.keep, program.drop
    zero, m, e = program.zero, state.scratch[0], state.scratch[1]
    kind, location, spread = program.outcomes, program.location, program.spread
    data, starts, factor = program.data, program.starts, program.factor
    table_l, table_v, chi = program.table_l, program.table_v, program.chi
    terms = (program.radius, program.rho, program.chi_ratio)
    sums, ss, inverse = state.sums[r], state.ss[r], state.inverse[r]
    start = K * program.first
    t, n_optimal = clock[TIME], clock[OPTIMAL]
    b, c = -1, -1
    for row in range(len(noise)):
        # sample
        if t < start:
            arm = t % K
        elif clock[NEXT] >= 0:
            arm = clock[NEXT]
            clock[NEXT] = -1
        else:
            arm = clock[PENDING]
            clock[PENDING] = -1
        _observe(kind, location, spread, data, starts, arm, noise, row, counts, sums, ss)
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
                    i, counts, sums, ss, inverse, factor, terms, table_l, table_v, chi, x, l, v
                )
            n_optimal = 0
            for i in range(K):
                blocker[i] = _find_blocker(x, l, v, keep, eps, i, e)
                optimal[i] = blocker[i] < 0
                n_optimal += 1 if optimal[i] else 0
                witness[i] = 1 if i == 0 else 0
                index[i] = -math.inf
                if not optimal[i]:
                    index[i] = _upper_rare(x, l, v, drop, i, witness[i], zero)
        else:
            _refresh_arm(
                arm, counts, sums, ss, inverse, factor, terms, table_l, table_v, chi, x, l, v
            )
            n_optimal += _review(
                x, l, v, keep, drop, eps, zero, arm, optimal, blocker, index, witness, e
            )
        clock[OPTIMAL] = n_optimal
        if clock[PENDING] >= 0:
            continue
        # decide: b is the argmax of the indices outside OPT, verified; c its contender
        verified = -1
        b = -1
        while n_optimal < K:
            b = _argmax(index)
            if b == verified:
                break
            top, at, _, c = _scan_row(
                x, l, v, keep, drop, eps, zero, b, index[b], witness[b], blocker[b], m, e
            )
            witness[b] = at
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
                if optimal[i] or _covered(x, l, v, drop, zero, eps2, optimal, i):
                    i = -1
                    for j in range(K):
                        if not optimal[j] and not _covered(x, l, v, drop, zero, eps2, optimal, j):
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


@kernel
def advance(program: Any, state: Any, runs: Any, noise: Any) -> None:
    """Advance several runs: run runs[q] by noise[q], an array (samples, width)."""
    for q in range(len(runs)):
        _advance(program, state, runs[q], noise[q])
