"""One row of bounds: its smallest upper and lower bound, and who keeps an arm out of OPT. Private.

Square roots are avoided by comparing squares with a slack of 1e-12 and are taken only where the
comparison is that close or the value itself is wanted, so every decision is the one the exact
formula gives, bit for bit.
"""

from __future__ import annotations

import math
from typing import Any

from paretoid.engine.arms import BLOCK, FEW, SLACK, WIDE, _lower_rare, _upper_rare
from paretoid.engine.cache import inlined, kernel, sqrt


@kernel
def _margins_of(x: Any, i: Any, shift: Any, out: Any) -> None:
    """out[j] = max_d (x_i^d - x_j^d + shift^d)."""
    D, K = x.shape
    row, c, e = x[0], x[0, i], shift[0]
    for j in range(K):
        out[j] = c - row[j] + e
    for d in range(1, D):
        row, c, e = x[d], x[d, i], shift[d]
        for j in range(K):
            value = c - row[j] + e
            out[j] = value if value > out[j] else out[j]


@inlined
def _sieve_upper(
    x: Any, l: Any, lr: Any, v: Any, C: Any, i: Any, top: Any, start: Any, stop: Any, out: Any
) -> None:  # fmt: skip
    """out[j] < 0: M+(i, j) > top, for j = start, ..., stop - 1, where v differs by objective.

    Without square roots, because sqrt(b) > a is b > a |a|; one objective shows it. With the
    objectives on the outside all these arms are looked at together.
    """
    li, block, terms = l[i], out[start:stop], lr[start:stop]
    for j in range(len(block)):
        block[j] = math.inf
    for d in range(len(x)):
        means, spreads = x[d][start:stop], v[d][start:stop]
        mean, spread = x[d, i], v[d, i]
        for j in range(len(block)):
            gap = top - (mean - means[j])
            square = (C + (li + terms[j])) * (spread + spreads[j])
            value = gap * abs(gap) * SLACK - square
            block[j] = value if value < block[j] else block[j]


@inlined
def _sieve_lower(
    x: Any, l: Any, v: Any, C: Any, add: Any, eps: Any, i: Any, low: Any, start: Any, stop: Any,
    out: Any,
) -> None:  # fmt: skip
    """out[j] > 0: the lower bound of i against j is above `low`; see `_sieve_upper`."""
    li, block, terms = l[i], out[start:stop], l[start:stop]
    for j in range(len(block)):
        block[j] = -math.inf
    for d in range(len(x)):
        means, spreads, level = x[d][start:stop], v[d][start:stop], C + add[d]
        mean, spread, e = x[d, i], v[d, i], eps[d]
        for j in range(len(block)):
            gap = mean - means[j] + e - low
            square = (level + (li + terms[j])) * (spread + spreads[j])
            value = gap * abs(gap) - square * SLACK
            block[j] = value if value > block[j] else block[j]


@kernel
def _scan_wide(
    x: Any, l: Any, lr: Any, v: Any, keep: Any, add: Any, drop: Any, eps: Any, zero: Any, i: Any,
    top: Any, at: Any, guess: Any, m: Any, e: Any,
) -> Any:  # fmt: skip
    """`_scan_row` where v differs by objective; stops at a smaller M+, then without lower bounds.

    Its index has fallen, so another arm is likely to be asked for next.
    """
    D, K = x.shape
    low, low_at, known = math.inf, -1, top
    C_keep, C_drop = keep[i], drop[i]
    if K < FEW:
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
                square = (C_keep + add[d] + s) * (v[d, i] + v[d, j])
                if gap > 0 and gap * gap > square * SLACK:
                    skip = True
            if below:
                value = -math.inf
                s = C_drop + (l[i] + lr[j])
                for d in range(D):
                    u = x[d, i] - x[d, j] + sqrt(s * (v[d, i] + v[d, j]))
                    if u > value:
                        value = u
                if value < top or (value == top and j < at):
                    top, at = value, j
            if not skip:
                value = _lower_rare(x, l, v, keep, add, i, j, eps)
                if value < low:
                    low, low_at = value, j
        return top, at, low, low_at
    start = 0
    while start < K:
        stop = min(start + BLOCK, K)
        _sieve_upper(x, l, lr, v, C_drop, i, top, start, stop, m)
        for j in range(start, stop):
            if j != i and m[j] >= 0.0:
                value = _upper_rare(x, l, lr, v, drop, i, j, zero)
                if value < top or (value == top and j < at):
                    top, at = value, j
        start = stop
    if top < known:
        return top, at, low, -1
    low, low_at = _lower_rare(x, l, v, keep, add, i, guess, eps), guess
    start = 0
    while start < K:
        stop = min(start + BLOCK, K)
        _sieve_lower(x, l, v, C_keep, add, eps, i, low, start, stop, e)
        for j in range(start, stop):
            if j != i and e[j] <= 0.0:
                value = _lower_rare(x, l, v, keep, add, i, j, eps)
                if value < low or (value == low and j < low_at):
                    low, low_at = value, j
        start = stop
    return top, at, low, low_at


@inlined
def _scan_row(
    x: Any, l: Any, lr: Any, v: Any, keep: Any, add: Any, drop: Any, eps: Any, zero: Any, i: Any,
    top: Any, at: Any, guess: Any, m: Any, e: Any,
) -> Any:  # fmt: skip
    """Row i's (min M+, its j, min lower bound, its j), lowest j on ties.

    `top` = M+(i, at) is a known entry, `guess` a likely j of the lower bound; m and e are (K,)
    scratch. A last j of -1: the lower bounds were not looked at.
    """
    D, K = x.shape
    low, low_at = math.inf, -1
    C_keep, C_drop = keep[i], drop[i]
    if len(v) > 1:
        return _scan_wide(
            x, l, lr, v, keep, add, drop, eps, zero, i, top, at, guess, m, e
        )  # fmt: skip

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
            vv = vi + v[0, j]
            if margin < top:
                value = margin + sqrt((C_drop + (li + lr[j])) * vv)
                if value < top or (value == top and j < at):
                    top, at = value, j
            gap, square = lifted - low, (C_keep + (li + l[j])) * vv
            if gap <= 0 or gap * gap <= square * SLACK:
                value = lifted - sqrt(square)
                if value < low:
                    low, low_at = value, j
        return top, at, low, low_at

    _margins_of(x, i, zero, m)
    if slack:
        _margins_of(x, i, eps, e)
    else:
        e = m
    low, low_at = _lower_rare(x, l, v, keep, add, i, guess, eps), guess
    start = 0
    while start < K:
        hits = 1
        if start + BLOCK <= K:
            hits = 0
            for q in range(BLOCK):
                j = start + q
                gap = e[j] - low
                square = (C_keep + (li + l[j])) * (vi + v[0, j]) * SLACK
                hits += 1 if (m[j] < top) | (gap <= 0.0) | (gap * gap <= square) else 0
        if hits > 0:
            for j in range(start, min(start + BLOCK, K)):
                if j == i:
                    continue
                vv = vi + v[0, j]
                if m[j] < top:
                    value = m[j] + sqrt((C_drop + (li + lr[j])) * vv)
                    if value < top or (value == top and j < at):
                        top, at = value, j
                gap, square = e[j] - low, (C_keep + (li + l[j])) * vv
                if gap <= 0 or gap * gap <= square * SLACK:
                    value = e[j] - sqrt(square)
                    if value < low or (value == low and j < low_at):
                        low, low_at = value, j
        start += BLOCK
    return top, at, low, low_at


@kernel
def _find_blocker(x: Any, l: Any, v: Any, keep: Any, add: Any, eps: Any, i: Any, e: Any) -> Any:
    """The j with the smallest lower bound max_d (L_ij^d + eps1^d), or -1 if all are positive."""
    D, K = x.shape
    low, low_at = 0.0, -1
    C = keep[i]
    if K >= WIDE and len(v) == 1:
        _margins_of(x, i, eps, e)
        start = 0
        while start < K:
            hits = 1
            if start + BLOCK <= K:
                hits = 0
                for q in range(BLOCK):
                    j = start + q
                    gap = e[j] - low
                    square = (C + (l[i] + l[j])) * (v[0, i] + v[0, j]) * SLACK
                    hits += 1 if (gap <= 0.0) | (gap * gap <= square) else 0
            if hits > 0:
                for j in range(start, min(start + BLOCK, K)):
                    value = e[j] - sqrt((C + (l[i] + l[j])) * (v[0, i] + v[0, j]))
                    if j != i and (value < low or (value == low and low_at < 0)):
                        low, low_at = value, j
            start += BLOCK
        return low_at
    wide = len(v) > 1
    for j in range(K):
        if j == i:
            continue
        s, clear = l[i] + l[j], False
        for d in range(D):
            gap = x[d, i] - x[d, j] + eps[d] - low
            row = d if wide else 0
            q = (C + (add[d] if wide else 0.0) + s) * (v[row, i] + v[row, j])
            if gap > 0.0 and gap * gap > q * SLACK:
                clear = True
                break
        if not clear:
            value = _lower_rare(x, l, v, keep, add, i, j, eps)
            if value < low or (value == low and low_at < 0):
                low, low_at = value, j
    return low_at
