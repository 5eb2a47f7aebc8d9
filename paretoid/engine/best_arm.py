"""The loops of rules for one objective. Private; `paretoid.loop` says in NumPy what they do.

They use `EngineState.clock` as APE does and keep upper bounds in `EngineState.ceiling`.
"""

from __future__ import annotations

import math
from typing import Any

from paretoid.engine.answers import _due, _taken
from paretoid.engine.arms import _observe, _position
from paretoid.engine.cache import entry, pasted, sqrt
from paretoid.engine.program import (
    FINISHED,
    NEXT,
    OUT_OF_BUDGET,
    OUTGROWN,
    PENDING,
    STATUS,
    TIME,
)


@pasted
def _best_arm(program: Any, state: Any, r: Any, noise: Any, trace: Any, ugap: Any) -> None:
    """LUCB, or UGapEc, by one stream of noise."""
    K, G = len(program.location), len(program.goal)
    x, l, v, eps = state.means[r, 0], state.l[r], state.v[r, 0], state.eps1[r, 0]
    counts, clock, upper = state.counts[r], state.clock[r], state.ceiling[r]
    keep, drop = program.keep, program.drop
    column_l, column_v = program.column_l, program.column_v
    offset, size = program.offset, program.size
    kind, location, spread = program.outcomes, program.location, program.spread
    data, starts, factor = program.data, program.starts, program.factor
    reference = program.reference
    sums, ss, inverse = state.sums[r], state.ss[r], state.inverse[r, 0]
    most, pair = program.max_samples, 1 if ugap else 2
    t = clock[TIME]
    for row in range(len(noise)):
        if t < K:
            arm = t
        else:
            arm = _due(clock)
        if _position(counts[arm] + 1) >= size[arm]:
            clock[STATUS] = OUTGROWN
            break
        if t >= K:
            _taken(clock)
        if len(trace) > 0:
            trace[row] = arm
        _observe(
            kind, location, spread, data, starts, reference, arm, noise, row, counts, sums, ss,
        )  # fmt: skip
        t += 1
        clock[TIME] = t
        n = counts[arm]
        x[arm] = sums[0, arm] / float(n) * inverse
        at = offset[arm] + _position(n)
        l[arm] = column_l[at]
        v[arm] = column_v[at] * factor[arm, 0]
        upper[arm] = x[arm] + sqrt((drop[arm] + l[arm]) * v[arm])
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
                B = upper[rival] - (x[i] - sqrt((keep[i] + l[i]) * v[i]))
                if B < least:
                    best, least = i, B
            elif x[i] > height:
                best, height = i, x[i]
        rival = second if best == top else top
        if not ugap:
            least = upper[rival] - (x[best] - sqrt((keep[best] + l[best]) * v[best]))
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


@entry
def lucb(program: Any, state: Any, runs: Any, noise: Any, trace: Any) -> None:
    """Advance several runs; see `paretoid.engine.ape.advance`."""
    for q in range(len(runs)):
        _best_arm(program, state, runs[q], noise[q], trace[q], False)


@entry
def ugapec(program: Any, state: Any, runs: Any, noise: Any, trace: Any) -> None:
    """Advance several runs; see `paretoid.engine.ape.advance`."""
    for q in range(len(runs)):
        _best_arm(program, state, runs[q], noise[q], trace[q], True)
