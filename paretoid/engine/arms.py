"""What changes when one arm is sampled, and the bounds on one pair of arms. Private.

Kernels shared by all compiled loops. They allocate nothing and, on the hot path, take arrays, never
the whole `Program` or `EngineState`.
"""

from __future__ import annotations

import math
from typing import Any

from paretoid.engine.cache import inlined, kernel, sqrt
from paretoid.engine.columns import EXACT, position
from paretoid.engine.program import AFFINE, LATENT, TABLE, THRESHOLD

SLACK = 1.0 + 1e-12  # far above the rounding of a product, far below any difference that matters
BLOCK = 32  # arms looked at together
FEW = 12  # below this many arms they are looked at one by one where sieves do not pay
WIDE = 24  # from this many arms on, margins are computed objective by objective (vectorised)

_position_beyond = kernel(position)


@inlined
def _position(n: Any) -> Any:
    """The entry of count n in a column."""
    if n < EXACT:
        return n
    return _position_beyond(n)


@kernel
def _within(data: Any, d: Any, latent: Any) -> Any:
    """The outcome of a Gaussian behind it: one of two values, or cut off at the ends of a range."""
    if data[2, d] > 0.0:
        return data[1, d] if latent > 0.0 else data[0, d]
    return min(max(latent, data[0, d]), data[1, d])


@inlined
def _observe(
    kind: Any, location: Any, spread: Any, data: Any, starts: Any, reference: Any, arm: Any,
    noise: Any, step: Any, counts: Any, sums: Any, ss: Any,
) -> None:  # fmt: skip
    """Draw one outcome of `arm` from row `step` of the noise; add it to counts, sums and ss.

    Outcomes are summed from `reference`: an offset that is large beside the noise takes no digits.
    """
    D = location.shape[1]
    n = counts[arm] + 1
    counts[arm] = n
    row = 0
    if kind == TABLE:
        size = starts[arm + 1] - starts[arm]
        row = starts[arm] + min(int(noise[step, 0] * size), size - 1)
    for d in range(D):
        if kind == AFFINE:
            x = location[arm, d] + spread[arm, d] * noise[step, d]
        elif kind == THRESHOLD:
            x = spread[arm, d] if noise[step, d] < location[arm, d] else 0.0
        elif kind == LATENT:
            x = _within(data, d, location[arm, d] + spread[arm, d] * noise[step, d])
        else:
            x = data[row, d]
        x -= reference[d]
        old = sums[d, arm]
        sums[d, arm] = old + x
        if len(ss) > 0 and n > 1:
            ss[d, arm] += (x - old / (n - 1)) * (x - (old + x) / n)


@kernel
def _pool_scale(counts: Any, ss: Any, factor: Any, inverse: Any) -> Any:
    """Unknown scales, after the first samples: one over the pooled sd. False: constant outcomes."""
    D, K = ss.shape
    for d in range(D):
        if factor[0, d] > 0.0:  # its scale is known
            continue
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
    if not program.unknown:
        return True
    if not _pool_scale(state.counts[r], state.ss[r], program.factor, state.inverse[r]):
        return False
    for d in range(len(program.eps1)):
        state.eps1[r, d] = program.eps1[d] * state.inverse[r, d]
        for g in range(len(program.goal)):
            state.eps2[r, g, d] = program.eps2[g, d] * state.inverse[r, d]
    return True


@kernel
def _refresh_wide(
    arm: Any, at: Any, ss: Any, inverse: Any, factor: Any, column_l: Any, column_v: Any, v: Any
) -> None:
    """v of an arm, by objective; its columns may be too: one after the other, as long as that of l.

    Apart from `_refresh_arm`, whose other case is slower by a quarter with this in its middle.
    """
    further = 0 if len(column_v) == len(column_l) else len(column_l)
    for d in range(len(v)):
        unit = column_v[at + d * further]
        if len(ss) > 0 and factor[arm, d] == 0.0:
            v[d, arm] = ss[d, arm] * unit * (inverse[d] * inverse[d])
        else:
            v[d, arm] = factor[arm, d] * unit


@inlined
def _refresh_arm(
    arm: Any, counts: Any, sums: Any, ss: Any, inverse: Any, factor: Any, rival: Any,
    column_l: Any, column_v: Any, offset: Any, x: Any, l: Any, lr: Any, v: Any,
) -> None:  # fmt: skip
    """Mean, l and v of an arm after its count or sums changed."""
    D = len(x)
    count = counts[arm]
    n = float(count)
    at = offset[arm] + _position(count)
    l[arm] = column_l[at]
    lr[arm] = column_l[at] + rival[arm]
    for d in range(D):
        x[d, arm] = sums[d, arm] / n * inverse[d]
    if len(v) == 1 and len(ss) == 0:
        v[0, arm] = column_v[at] * factor[arm, 0]
        return
    _refresh_wide(arm, at, ss, inverse, factor, column_l, column_v, v)


@inlined
def _upper(x: Any, l: Any, lr: Any, v: Any, C: Any, i: Any, j: Any, credit: Any) -> Any:
    """M+(i, j) - credit: the largest upper bound on mu_i - mu_j over objectives."""
    D, wide = len(x), len(v) > 1
    s = C[i] + (l[i] + lr[j])
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
def _lower(x: Any, l: Any, v: Any, C: Any, add: Any, i: Any, j: Any, eps: Any) -> Any:
    """max_d (L_ij^d + eps1^d); `add` is what an objective adds to C, used where v is wide."""
    D, wide = len(x), len(v) > 1
    s = l[i] + l[j]
    best = -math.inf
    if wide:
        for d in range(D):
            square = (C[i] + add[d] + s) * (v[d, i] + v[d, j])
            value = x[d, i] - x[d, j] + eps[d] - sqrt(square)
            if value > best:
                best = value
        return best
    for d in range(D):
        value = x[d, i] - x[d, j] + eps[d]
        if value > best:
            best = value
    return best - sqrt((C[i] + s) * (v[0, i] + v[0, j]))


# Called, not pasted, off the hot path: every paste costs a second of compilation.
_upper_rare = kernel(getattr(_upper, "py_func", _upper))  # NUMBA_DISABLE_JIT=1 leaves it as it is
_lower_rare = kernel(getattr(_lower, "py_func", _lower))
