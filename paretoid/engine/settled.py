"""What a run has certified about arms for good, kept up at every test. Private.

`EngineState.settled` has 1 for an arm that was certainly optimal, up to eps1, at some test; -1 for
one that was certainly dominated at some test and never optimal; else 0. `paretoid.loop` says so in
NumPy. A bound on a pair of arms changes when one of them is sampled, so after a sample one row and
one column are looked at, in O(K D), and only where nothing is certified yet; no arm that is better
somewhere is dominated, so hardly any square root is taken.
"""

from __future__ import annotations

from typing import Any

from paretoid.engine.arms import _lower_rare, _upper_rare
from paretoid.engine.cache import inlined, kernel


@inlined
def _below(x: Any, i: Any, j: Any) -> Any:
    """Is i below j in every objective? Else j does not dominate it, for certain or not."""
    below = True
    for d in range(len(x)):
        below = below and x[d, i] < x[d, j]
    return below


@kernel
def _dominated(x: Any, l: Any, lr: Any, v: Any, drop: Any, zero: Any, i: Any) -> Any:
    """Is i certainly dominated by some arm?"""
    for j in range(x.shape[1]):
        if j != i and _below(x, i, j) and _upper_rare(x, l, lr, v, drop, i, j, zero) < 0.0:
            return True
    return False


@inlined
def _certify_arm(
    x: Any, l: Any, lr: Any, v: Any, drop: Any, zero: Any, optimal: Any, arm: Any, settled: Any
) -> None:
    """After `arm` was sampled: what OPT, and its row and column of upper bounds, certify now."""
    K = x.shape[1]
    for i in range(K):
        if optimal[i]:
            settled[i] = 1
        elif settled[i] == 0 and i != arm:
            shown = _below(x, i, arm) and _upper_rare(x, l, lr, v, drop, i, arm, zero) < 0.0
            settled[i] = -1 if shown else 0
    if settled[arm] == 0 and _dominated(x, l, lr, v, drop, zero, arm):
        settled[arm] = -1


@kernel
def _certify_dominated(
    x: Any, l: Any, lr: Any, v: Any, drop: Any, zero: Any, optimal: Any, settled: Any
) -> None:
    """After many arms were sampled: what OPT and all upper bounds certify now."""
    K = x.shape[1]
    for i in range(K):
        if optimal[i]:
            settled[i] = 1
        elif settled[i] == 0 and _dominated(x, l, lr, v, drop, zero, i):
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
