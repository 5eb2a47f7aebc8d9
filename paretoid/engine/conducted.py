"""The loop of a conducted trial under APE. Private; `paretoid.runs.conducted` is the readable form.

Counts differ by endpoint, because outcomes arrive and are lost apart, so l and v do too. Between
looks the rule is asked with everything awaited counted as observed; an enrolment and the arrivals
since change few arms, and only their rows and columns of the two tables are computed again. A look
computes its own tables, of what has arrived, from nothing.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from paretoid.engine.answers import _first_k
from paretoid.engine.arms import _position
from paretoid.engine.cache import entry, inlined, kernel, sqrt
from paretoid.engine.limited import (
    _best_kept,
    _certify_weighed,
    _contest,
    _weigh,
    _widen,
)
from paretoid.engine.program import AFFINE, AT_MOST, COVER, LATENT, TABLE, THRESHOLD, Program
from paretoid.theory.checks import BoolArray, FloatArray, IntArray, SignArray


class Trial(NamedTuple):
    """Where one trial is, and what its goals came to."""

    arms: IntArray  # (N,) of the participants, in order
    values: FloatArray  # (N, D) their outcomes, oriented; NaN: lost
    reach: IntArray  # (D,) participants whose outcome is due
    counts: IntArray  # (D, K) known outcomes
    sums: FloatArray  # (D, K)
    ss: FloatArray  # (D, K)
    lost: IntArray  # (D, K) outcomes recorded as missing
    allocated: IntArray  # (K,)
    inverse: FloatArray  # (D,) one over the divisor; unknown scales: 1 until it is fixed
    fixed: BoolArray  # (D,)
    eps: FloatArray  # (D,) eps1 in units
    terms: FloatArray  # (4, D, K) means, l, l as a rival, v: of the tables
    upper: FloatArray  # (K, K) M+(i, j)
    lower: FloatArray  # (K, K) max_d (L_ij^d + eps1^d)
    h: FloatArray  # (K,) the smallest lower bound
    top: FloatArray  # (K,) the smallest upper bound
    weights: FloatArray  # (4, K) for allocations, and
    seen: FloatArray  # (4, K) at a look: see `paretoid.engine.limited`
    dirty: BoolArray  # (K,) changed since the tables for allocations were computed
    settled: SignArray  # (K,)
    stopped: BoolArray  # (G,)
    answer: BoolArray  # (G, K)
    pulls: IntArray  # (G, K)
    verdict: SignArray  # (G, K)
    analysed: IntArray  # (G,)
    look: IntArray  # (G,) participants enrolled at the look that ended a goal; N + 1: the last


def new_trial(program: Program, n: int) -> tuple[Trial, FloatArray, FloatArray, FloatArray]:
    """A trial of n participants that has not begun; and terms and tables for its looks."""
    K, D = program.location.shape
    G = len(program.goal)
    whole, real = np.zeros((D, K), dtype=np.int64), np.zeros((D, K))
    trial = Trial(
        arms=np.zeros(n, dtype=np.int64), values=np.zeros((n, D)),
        reach=np.zeros(D, dtype=np.int64), counts=whole, sums=real, ss=real.copy(),
        lost=whole.copy(), allocated=np.zeros(K, dtype=np.int64),
        inverse=1 / program.divisor, fixed=np.array(program.factor[0] > 0),
        eps=np.zeros(D), terms=np.zeros((4, D, K)),
        upper=np.full((K, K), np.inf), lower=np.full((K, K), np.inf), h=np.zeros(K),
        top=np.zeros(K), weights=np.zeros((4, K)), seen=np.zeros((4, K)),
        dirty=np.ones(K, dtype=np.bool_), settled=np.zeros(K, dtype=np.int8),
        stopped=np.zeros(G, dtype=np.bool_), answer=np.zeros((G, K), dtype=np.bool_),
        pulls=np.zeros((G, K), dtype=np.int64), verdict=np.zeros((G, K), dtype=np.int8),
        analysed=np.zeros(G, dtype=np.int64), look=np.zeros(G, dtype=np.int64),
    )  # fmt: skip
    tables = np.full((2, K, K), np.inf)
    return trial, np.zeros((4, D, K)), tables[0], tables[1]


@kernel
def _draw(program: Any, arm: Any, noise: Any, row: Any, values: Any) -> None:
    """The outcome of a participant of `arm` from a row of noise; as in `_observe`."""
    kind, at = program.outcomes, 0
    if kind == TABLE:
        size = program.starts[arm + 1] - program.starts[arm]
        at = program.starts[arm] + min(int(noise[row, 0] * size), size - 1)
    for d in range(program.location.shape[1]):
        if kind == AFFINE:
            values[row, d] = program.location[arm, d] + program.spread[arm, d] * noise[row, d]
        elif kind == THRESHOLD:
            success = noise[row, d] < program.location[arm, d]
            values[row, d] = program.spread[arm, d] if success else 0.0
        elif kind == LATENT:
            x = program.location[arm, d] + program.spread[arm, d] * noise[row, d]
            low, high = program.data[0, d], program.data[1, d]
            if program.data[2, d] > 0.0:
                values[row, d] = high if x > 0.0 else low
            else:
                values[row, d] = min(max(x, low), high)
        else:
            values[row, d] = program.data[at, d]


@kernel
def _arrive(program: Any, w: Any, first: Any, reach: Any, at: Any) -> None:
    """Outcomes due by now are known or missing; scales are fixed as soon as they can be."""
    D, K = w.counts.shape
    for d in range(D):
        came = w.reach[d] < reach[at, d]
        for j in range(w.reach[d], reach[at, d]):
            arm, value = w.arms[j], w.values[j, d]
            w.dirty[arm] = True
            if math.isnan(value):
                w.lost[d, arm] += 1
                continue
            n, old = w.counts[d, arm], w.sums[d, arm]
            w.counts[d, arm] = n + 1
            w.sums[d, arm] = old + value
            if n > 0:
                w.ss[d, arm] += (value - old / n) * (value - (old + value) / (n + 1))
        w.reach[d] = reach[at, d]
        if w.fixed[d] or not came:
            continue
        total, freedom, ready = 0.0, 0.0, True
        for i in range(K):
            ready = ready and w.counts[d, i] >= first[i] and w.ss[d, i] > 0.0
            total += w.ss[d, i]
            freedom += float(w.counts[d, i] - 1)
        if ready:
            w.fixed[d] = True
            w.inverse[d] = 1.0 / sqrt(total / freedom)


@inlined
def _awaited(w: Any, d: Any, arm: Any) -> Any:
    """Outcomes of an arm once everything awaited has arrived."""
    return w.allocated[arm] - w.lost[d, arm]


@kernel
def _fill_terms(program: Any, w: Any, arm: Any, awaited: Any, terms: Any) -> None:
    """Mean, l, l as a rival and v of an arm, by what has arrived or with what is awaited."""
    length = len(program.column_l)
    further = 0 if len(program.column_v) == length else length
    for d in range(len(w.counts)):
        n = w.counts[d, arm]
        m = _awaited(w, d, arm) if awaited else n
        at = program.offset[arm] + _position(m)
        terms[0, d, arm] = w.sums[d, arm] / float(max(n, 1)) * w.inverse[d]
        terms[1, d, arm] = program.column_l[at]
        terms[2, d, arm] = program.column_l[at] + program.rival[arm]
        unit = program.column_v[at + d * further] if m > 0 else math.inf
        if program.factor[arm, d] > 0.0:
            terms[3, d, arm] = math.inf if math.isinf(unit) else program.factor[arm, d] * unit
            continue
        growth = float(m - 1) / float(max(n - 1, 1)) if n > 1 else 1.0
        ss = w.ss[d, arm] * growth
        usable = not math.isinf(unit) and ss > 0.0
        terms[3, d, arm] = ss * unit * (w.inverse[d] * w.inverse[d]) if usable else math.inf


@inlined
def _entry(program: Any, terms: Any, eps: Any, i: Any, j: Any, upper: Any, lower: Any) -> None:
    """M+(i, j) and max_d (L_ij^d + eps1^d)."""
    high, low = -math.inf, -math.inf
    for d in range(terms.shape[1]):
        diff = terms[0, d, i] - terms[0, d, j]
        spread = terms[3, d, i] + terms[3, d, j]
        up = program.drop[i] + (terms[1, d, i] + terms[2, d, j])
        down = program.keep[i] + program.objective[d] + (terms[1, d, i] + terms[1, d, j])
        value = diff - program.zero[d] + sqrt(up * spread)
        high = value if value > high else high
        value = diff + eps[d] - sqrt(down * spread)
        low = value if value > low else low
    upper[i, j], lower[i, j] = high, low


@kernel
def _entries(program: Any, terms: Any, eps: Any, arm: Any, upper: Any, lower: Any) -> None:
    """Row and column of `arm`."""
    for j in range(terms.shape[2]):
        if j != arm:
            _entry(program, terms, eps, arm, j, upper, lower)
            _entry(program, terms, eps, j, arm, upper, lower)


@kernel
def _slack(program: Any, w: Any) -> None:
    """eps1 in units."""
    for d in range(len(w.eps)):
        if program.unknown:
            w.eps[d] = program.eps1[d] * w.inverse[d]
        else:
            w.eps[d] = program.eps1[d] / program.divisor[d]


@inlined
def _smallest(upper: Any, lower: Any, top: Any, h: Any) -> None:
    """The smallest upper and lower bounds of every row."""
    K = len(h)
    for i in range(K):
        high, low = math.inf, math.inf
        for j in range(K):
            high = upper[i, j] if upper[i, j] < high else high
            low = lower[i, j] if lower[i, j] < low else low
        top[i], h[i] = high, low


@kernel
def _own(program: Any, w: Any, i: Any, terms: Any, weights: Any) -> None:
    """What arm i has over its limits, if there are any."""
    limits = program.limits
    for q in range(len(limits.column)):
        d = limits.column[q]
        mean = w.sums[d, i] / float(max(w.counts[d, i], 1))
        _widen(limits, q, i, mean, w.inverse[d], terms[1, d, i], terms[3, d, i], weights)


@kernel
def _fewer(w: Any, b: Any, c: Any) -> Any:
    """The arm of b and c with fewer outcomes, those awaited included; b on ties."""
    n_b, n_c = _awaited(w, 0, b), _awaited(w, 0, c)
    for d in range(1, len(w.counts)):
        n_b, n_c = min(n_b, _awaited(w, d, b)), min(n_c, _awaited(w, d, c))
    return b if n_b <= n_c else c


@kernel
def _choose(program: Any, w: Any, first: Any) -> Any:
    """The arm of the next participant."""
    D, K = w.counts.shape
    ready = True
    for d in range(D):
        ready = ready and w.fixed[d]
        for i in range(K):
            ready = ready and w.counts[d, i] >= first[i]
            ready = ready and (program.factor[i, d] > 0.0 or w.ss[d, i] > 0.0)
    if not ready:
        for i in range(K):  # tables are computed when every interval is finite
            w.dirty[i] = True
        best, fewest = 0, -1
        for i in range(K):
            n = _awaited(w, 0, i)
            for d in range(1, D):
                n = min(n, _awaited(w, d, i))
            if fewest < 0 or n < fewest:
                best, fewest = i, n
        return best
    _slack(program, w)
    for i in range(K):
        if w.dirty[i]:
            _fill_terms(program, w, i, True, w.terms)
    for i in range(K):
        if w.dirty[i]:
            _entries(program, w.terms, w.eps, i, w.upper, w.lower)
            _own(program, w, i, w.terms, w.weights)
            w.dirty[i] = False
    if len(program.limits.column) > 0:
        _weigh(w.weights, w.upper, w.lower)
        b, c = _contest(w.weights, w.upper, w.lower)
        return _fewer(w, b, c)
    _smallest(w.upper, w.lower, w.top, w.h)
    b = -1
    for i in range(K):
        if w.h[i] <= 0.0 and (b < 0 or w.top[i] > w.top[b]):
            b = i
    if b < 0:
        b = 0
        for i in range(1, K):
            if w.h[i] < w.h[b]:
                b = i
    c = 1 if b == 0 else 0
    for j in range(K):
        if j != b and w.lower[b, j] < w.lower[b, c]:
            c = j
    return _fewer(w, b, c)


@kernel
def _covered(program: Any, w: Any, terms: Any, g: Any, h: Any, i: Any) -> Any:
    """Some j dominates i for certain, or does within eps2 and is in OPT; with limits only these."""
    D, K = w.counts.shape
    for j in range(K):
        if j == i or (len(program.limits.column) > 0 and not h[j] > 0.0):
            continue
        best = -math.inf
        for d in range(D):
            credit = program.zero[d]
            if h[j] > 0.0:
                slack = program.eps2[g, d]
                credit = slack * w.inverse[d] if program.unknown else slack / program.divisor[d]
            up = program.drop[i] + (terms[1, d, i] + terms[2, d, j])
            width = sqrt(up * (terms[3, d, i] + terms[3, d, j]))
            value = terms[0, d, i] - terms[0, d, j] - credit + width
            best = value if value > best else best
        if best < 0.0:
            return True
    return False


@kernel
def _judge_weighed(program: Any, w: Any, terms: Any, upper: Any, lower: Any) -> None:
    """The test of the only goal, where arms must meet limits."""
    goal, answer = program.goal[0], w.answer[0]
    settled = _weigh(w.seen, upper, lower)
    _certify_weighed(w.seen, w.settled)
    if w.stopped[0]:
        return
    if goal == AT_MOST and _best_kept(w.seen, program.k[0], answer):
        w.stopped[0] = True
        return
    if goal == COVER and not settled:
        settled, kept = True, w.seen[2]
        for i in range(len(kept)):
            fine = kept[i] > 0.0 or w.seen[3, i] > 0.0
            settled = settled and (fine or _covered(program, w, terms, 0, kept, i))
    if settled:
        w.stopped[0] = True
        for i in range(len(answer)):
            answer[i] = w.seen[2, i] > 0.0 if goal == COVER else not w.seen[3, i] > 0.0


@kernel
def _look(
    program: Any, w: Any, enrolled: Any, mark: Any, terms: Any, upper: Any, lower: Any
) -> Any:
    """Hold the tests on what has arrived; returns how many goals are open."""
    D, K = w.counts.shape
    G = len(program.goal)
    known = False
    for d in range(D):
        for i in range(K):
            known = known or w.counts[d, i] > 0
    if known:
        _slack(program, w)
        for i in range(K):
            _fill_terms(program, w, i, False, terms)
        for i in range(K):
            for j in range(K):
                if i != j:
                    _entry(program, terms, w.eps, i, j, upper, lower)
        if len(program.limits.column) > 0:
            for i in range(K):
                _own(program, w, i, terms, w.seen)
            _judge_weighed(program, w, terms, upper, lower)
    if known and len(program.limits.column) == 0:
        h, top = w.h, w.top  # not kept from one allocation to the next
        _smallest(upper, lower, top, h)
        certain, size = True, 0
        for i in range(K):
            if h[i] > 0.0:
                w.settled[i] = 1
                size += 1
            else:
                if top[i] < 0.0 and w.settled[i] == 0:
                    w.settled[i] = -1
                certain = certain and top[i] < 0.0 and not _inside(terms, i)
        for g in range(G):
            if w.stopped[g]:
                continue
            if program.goal[g] == AT_MOST and size >= program.k[g]:
                w.stopped[g] = True
                _first_k(h, program.k[g], w.answer[g])
            elif program.goal[g] == COVER:
                fine = True
                for i in range(K):
                    fine = fine and (h[i] > 0.0 or _covered(program, w, terms, g, h, i))
                if fine:
                    w.stopped[g] = True
                    for i in range(K):
                        w.answer[g, i] = h[i] > 0.0
            elif certain:
                w.stopped[g] = True
                for i in range(K):
                    w.answer[g, i] = not top[i] < 0.0 or _inside(terms, i)
    running = 0
    for g in range(G):
        running += 0 if w.stopped[g] else 1
        if w.look[g] == 0 and (w.stopped[g] or mark > len(w.arms)):
            _end(w, g, enrolled, mark)
    return running


@kernel
def _inside(terms: Any, i: Any) -> Any:
    """Is arm i in the empirical Pareto set: below no arm in every objective?"""
    _, D, K = terms.shape
    for j in range(K):
        below = j != i
        for d in range(D):
            below = below and terms[0, d, i] - terms[0, d, j] < 0.0
        if below:
            return False
    return True


@kernel
def _end(w: Any, g: Any, enrolled: Any, mark: Any) -> None:
    """What goal g came to at this look."""
    D, K = w.counts.shape
    w.look[g] = mark
    for i in range(K):
        w.pulls[g, i] = w.allocated[i]
        w.verdict[g, i] = w.settled[i]
    used = enrolled
    for d in range(D):
        used = min(used, w.reach[d])
    whole = 0
    for j in range(used):
        known = True
        for d in range(D):
            known = known and not math.isnan(w.values[j, d])
        whole += 1 if known else 0
    w.analysed[g] = whole


@entry
def conduct(
    program: Any, w: Any, first: Any, before: Any, after: Any, looks: Any, burn_in: Any,
    dropout: Any, missing: Any, noise: Any, losses: Any, terms: Any, upper: Any, lower: Any,
) -> None:  # fmt: skip
    """One trial to its end; arguments as in `paretoid.runs.conducted`.

    before, after   (N, D) int64    participants whose outcome is due; `after` has a last row, N
    noise           (N, width)      one row for each participant
    losses          (N, 1 + D) uniform, or (0, 1 + D) where nothing is lost
    """
    N, D = w.values.shape
    K = len(w.allocated)
    for i in range(N):
        _arrive(program, w, first, before, i)
        arm = i % K if i < burn_in * K else _choose(program, w, first)
        w.arms[i] = arm
        w.allocated[arm] += 1
        w.dirty[arm] = True
        _draw(program, arm, noise, i, w.values)
        if len(losses) > 0:
            for d in range(D):
                if losses[i, 0] < dropout[arm] or losses[i, 1 + d] < missing[d]:
                    w.values[i, d] = math.nan
        _arrive(program, w, first, after, i)
        if looks[i] and _look(program, w, i + 1, i + 1, terms, upper, lower) == 0:
            return
    _arrive(program, w, first, after, N)
    _look(program, w, N, N + 1, terms, upper, lower)
