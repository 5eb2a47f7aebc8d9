"""The quantities of every test of a run of APE, from its arms and its noise. Private.

For `run_once`: the loops themselves keep only what they need. Of the K x K tables a sample changes
one row and one column, so a test costs O(K D + K^2).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from paretoid.engine.arms import _lower_rare, _observe, _refresh_arm, _rescale, _upper_rare
from paretoid.engine.cache import entry, kernel, sqrt
from paretoid.engine.growing import _high, _low, _refresh
from paretoid.engine.program import Program, new_state
from paretoid.theory.checks import FloatArray, IntArray


def statistics(program: Program, arms: IntArray, noise: FloatArray) -> tuple[IntArray, FloatArray]:
    """(n, 4) b_t, c_t, |S(t)|, |OPT(t)| and (n, 3) Z1, Z2, min_j M+(b_t, j), after each sample.

    -1 and NaN where there is no test; b_t and c_t are -1 if all arms are in OPT.
    """
    K = len(program.location)
    whole = np.full((len(arms), 4), -1, dtype=np.int64)
    real = np.full((len(arms), 3), np.nan)
    state = new_state(program, 1)
    tables = np.zeros((K, K)), np.zeros((K, K)), np.zeros((K, K), dtype=np.bool_)
    growing = not program.size.any()
    _statistics(program, state, arms, noise, growing, whole, real, *tables)
    return whole, real


@kernel
def _entry(
    program: Any, x: Any, l: Any, lr: Any, v: Any, eps: Any, growing: Any, g: Any, i: Any, j: Any,
    upper: Any, lower: Any, below: Any,
) -> None:  # fmt: skip
    """M+(i, j), max_d (L_ij + eps1), and whether i is below j in every objective."""
    if growing:
        upper[i, j] = _high(x, v, g, i, j, program.zero)
        lower[i, j] = _low(x, v, g, i, j, eps)
    else:
        upper[i, j] = _upper_rare(x, l, lr, v, program.drop, i, j, program.zero)
        lower[i, j] = _lower_rare(x, l, v, program.keep, program.objective, i, j, eps)
    below[i, j] = True
    for d in range(len(x)):
        if x[d, i] >= x[d, j]:
            below[i, j] = False


@entry
def _statistics(
    program: Any, state: Any, arms: Any, noise: Any, growing: Any, whole: Any, real: Any,
    upper: Any, lower: Any, below: Any,
) -> None:  # fmt: skip
    K = len(program.location)
    x, l, lr, v = state.means[0], state.l[0], state.rivals[0], state.v[0]
    counts, sums, ss = state.counts[0], state.sums[0], state.ss[0]
    inverse, eps = state.inverse[0], state.eps1[0]
    kind, location, spread = program.outcomes, program.location, program.spread
    data, starts, factor = program.data, program.starts, program.factor
    reference = program.reference
    column_l, column_v, offset = program.column_l, program.column_v, program.offset
    start, g = len(program.opening), 0.0
    for row in range(len(arms)):
        arm, t = arms[row], row + 1
        _observe(
            kind, location, spread, data, starts, reference, arm, noise, row, counts, sums, ss,
        )  # fmt: skip
        if t == start:
            _rescale(program, state, 0)
        for i in range(K):
            if t < start or (t > start and i != arm):
                continue
            if growing:
                _refresh(state, program, 0, i)
            else:
                _refresh_arm(
                    i, counts, sums, ss, inverse, factor, program.rival, column_l, column_v,
                    offset, x, l, lr, v,
                )  # fmt: skip
        if t < start:
            continue
        if growing:
            g = sqrt(program.keep[0] + 4.0 * math.log(float(t)))
        for i in range(K):
            for j in range(K):
                if i != j and (growing or t == start or i == arm or j == arm):
                    _entry(
                        program, x, l, lr, v, eps, growing, g, i, j, upper, lower, below
                    )  # fmt: skip
        if program.both and (t - start) % 2 == 1:
            continue
        b, size_S, size_OPT = -1, 0, 0
        top_b, z1, z2 = -math.inf, math.inf, math.inf
        for i in range(K):
            h, top, inside = math.inf, math.inf, True
            for j in range(K):
                if i != j:
                    h, top = min(h, lower[i, j]), min(top, upper[i, j])
                    inside = inside and not below[i, j]
            if inside:
                size_S += 1
                z1 = min(z1, h)
            else:
                z2 = min(z2, max(-top, h))
            if h > 0.0:
                size_OPT += 1
            elif b < 0 or top > top_b:
                b, top_b = i, top
        c = -1
        for j in range(K):
            if b >= 0 and j != b and (c < 0 or lower[b, j] < lower[b, c]):
                c = j
        whole[row, 0], whole[row, 1], whole[row, 2], whole[row, 3] = b, c, size_S, size_OPT
        real[row, 0], real[row, 1] = z1, z2
        if b >= 0:
            real[row, 2] = top_b
