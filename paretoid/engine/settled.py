"""What a run has certified about arms for good, kept up at every test. Private.

`EngineState.settled` has 1 for an arm that was certainly optimal, up to eps1, at some test; -1 for
one that was certainly dominated at some test and never optimal; else 0. `paretoid.loop` says so in
NumPy. A bound on a pair of arms changes when one of them is sampled, so after a sample one row and
one column are looked at, in O(K D), and only where nothing is certified yet; squares are compared,
as in `paretoid.engine.rows`, so hardly any square root is taken.
"""

from __future__ import annotations

from typing import Any

from paretoid.engine.arms import BLOCK, FEW, SLACK, _lower_rare, _upper_rare
from paretoid.engine.cache import inlined, kernel


@inlined
def _beaten(x: Any, l: Any, lr: Any, v: Any, drop: Any, zero: Any, i: Any, j: Any) -> Any:
    """Is i certainly dominated by j? One objective that does not show it is enough for no."""
    s, wide = (drop[i] + (l[i] + lr[j])), len(v) > 1
    for d in range(len(x)):
        gap = x[d, j] - x[d, i]
        row = d if wide else 0
        if gap <= 0.0 or gap * gap * SLACK < s * (v[row, i] + v[row, j]):
            return False
    return _upper_rare(x, l, lr, v, drop, i, j, zero) < 0.0


@kernel
def _dominated(x: Any, l: Any, lr: Any, v: Any, drop: Any, zero: Any, i: Any) -> Any:
    """Is i certainly dominated by some arm?"""
    for j in range(x.shape[1]):  # noqa: SIM110 - generators do not compile
        if j != i and _beaten(x, l, lr, v, drop, zero, i, j):
            return True
    return False


@inlined
def _certify_optimal(optimal: Any, settled: Any) -> None:
    """What OPT certifies now."""
    for i in range(len(optimal)):
        settled[i] = 1 if optimal[i] else settled[i]


@inlined
def _hopeful(
    x: Any, l: Any, lr: Any, v: Any, drop: Any, arm: Any, settled: Any, start: Any, stop: Any,
    low: Any, high: Any,
) -> Any:  # fmt: skip
    """How many of the arms start, ..., stop - 1 and `arm` leave to look at.

    Sums and extremes without branches, which vectorise; low and high are (K,) scratch. Where v
    differs by objective, the first one is asked for a gap that is wide enough.
    """
    low, high, signs = low[start:stop], high[start:stop], settled[start:stop]
    first, here = x[0][start:stop], x[0, arm]
    for i in range(len(low)):
        low[i] = high[i] = here - first[i]
    for d in range(1, len(x)):
        row, there = x[d][start:stop], x[d, arm]
        for i in range(len(low)):
            gap = there - row[i]
            low[i] = gap if gap < low[i] else low[i]
            high[i] = gap if gap > high[i] else high[i]
    wide, mine, own, s, mine_s = (
        len(v) > 1, settled[arm] == 0, v[0, arm], lr[arm], drop[arm] + l[arm]
    )  # fmt: skip
    spreads, ls, rivals, drops = v[0][start:stop], l[start:stop], lr[start:stop], drop[start:stop]
    hits = 0
    for i in range(len(low)):
        under = (signs[i] == 0) & (low[i] > 0.0)
        over = mine & (high[i] < 0.0)
        gap = here - first[i]
        least, most = (gap if wide else low[i]), (gap if wide else high[i])
        spread = spreads[i] + own
        under = under & (least * least * SLACK >= (drops[i] + (ls[i] + s)) * spread)
        over = over & (most * most * SLACK >= (mine_s + rivals[i]) * spread)
        hits += 1 if under | over else 0
    return hits


@inlined
def _certify_pairs(
    x: Any, l: Any, lr: Any, v: Any, drop: Any, zero: Any, arm: Any, settled: Any, start: Any,
    stop: Any,
) -> None:  # fmt: skip
    """Which of the arms start, ..., stop - 1 does `arm` certainly dominate, or do dominate it?"""
    for i in range(start, stop):
        if settled[i] == 0 and _beaten(x, l, lr, v, drop, zero, i, arm):
            settled[i] = -1
        if settled[arm] == 0 and _beaten(x, l, lr, v, drop, zero, arm, i):
            settled[arm] = -1


@inlined
def _certify_arm(
    x: Any, l: Any, lr: Any, v: Any, drop: Any, zero: Any, arm: Any, settled: Any, low: Any,
    high: Any,
) -> None:  # fmt: skip
    """After `arm` was sampled: what its row and column of upper bounds certify now."""
    K = x.shape[1]
    if K < FEW:
        _certify_pairs(x, l, lr, v, drop, zero, arm, settled, 0, K)
        return
    for start in range(0, K, BLOCK):
        stop = min(start + BLOCK, K)
        if _hopeful(x, l, lr, v, drop, arm, settled, start, stop, low, high) > 0:
            _certify_pairs(x, l, lr, v, drop, zero, arm, settled, start, stop)


@kernel
def _certify_dominated(
    x: Any, l: Any, lr: Any, v: Any, drop: Any, zero: Any, settled: Any
) -> None:  # fmt: skip
    """After many arms were sampled: what all upper bounds certify now."""
    for i in range(x.shape[1]):
        if settled[i] == 0 and _dominated(x, l, lr, v, drop, zero, i):
            settled[i] = -1


@kernel
def _certify_all(
    x: Any, l: Any, lr: Any, v: Any, keep: Any, add: Any, drop: Any, eps: Any, zero: Any,
    guard: Any, settled: Any,
) -> None:  # fmt: skip
    """The same where no OPT is kept; `guard`, as floats, is what kept arms out of it last time."""
    K = x.shape[1]
    for i in range(K):
        if settled[i] == 1:
            continue
        inside = True
        for q in range(-1, K):
            j = int(guard[i]) if q < 0 else q
            if j != i and _lower_rare(x, l, v, keep, add, i, j, eps) <= 0.0:
                inside = False
                guard[i] = j
                break
        if inside:
            settled[i] = 1
        elif settled[i] == 0 and _dominated(x, l, lr, v, drop, zero, i):
            settled[i] = -1
