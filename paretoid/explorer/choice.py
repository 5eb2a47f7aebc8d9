"""Which arms next, one or a batch, and how many samples more to expect.

The batch rule: the rounds of a batch (`paretoid.explorer.policy`) are chosen one after another,
each by the trial's rule on the same means and variances, with every allocation whose outcome is
still awaited, those of the batch included, counted as if it had been observed. Its arm's intervals
shrink, so APE's b_t and c_t, or the pair of another rule, move on and the batch spreads over the
arms that are in question. With nothing awaited and n = 1 this is the rule itself. Of two arms the
one with fewer outcomes, those awaited included, is proposed, unless the rule samples both.

A batch is handed out in an order shuffled by the seed, so that consecutive patients do not follow
the order of the arms; a single proposal involves no chance.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from paretoid.explorer.inference import Data, Picture
from paretoid.explorer.policy import Policy, Standing
from paretoid.theory.checks import FloatArray

#: `expected_samples` takes steps of this fraction of an arm's count, and this many at most
_STEP, _STEPS = 0.05, 20_000


class Batch(NamedTuple):
    """arms in order; rest: what is left of the round begun; ended: was a round completed?"""

    arms: list[int]
    rest: list[int]
    ended: bool


def as_if_observed(data: Data, counts: FloatArray) -> Data:
    """The same means and variances with other counts."""
    growth = (counts - 1) / np.maximum(data.counts - 1, 1)
    return Data(counts, data.means, data.ss * np.where(data.counts > 1, growth, 1.0))


def choose(
    policy: Policy,
    data: Data,
    divisor: FloatArray | None,
    awaited: FloatArray,
    standing: Standing,
    queue: list[int],
    n: int,
    seen: Picture | None = None,
) -> Batch:
    """The next n arms.

    divisor   None until intervals are finite
    awaited   (K, D) counts once everything awaited has arrived
    queue     what is left of the round begun
    seen      the picture of `data` itself, if at hand
    """
    counts, rest = awaited.copy(), list(queue)
    arms: list[int] = []
    ended = False
    while len(arms) < n:
        if not rest:
            view = None
            if divisor is not None:
                view = seen
                if view is None or (counts != data.counts).any():
                    view = policy.inference.picture(as_if_observed(data, counts), divisor)
            rest = policy.round(view, counts, standing)
        arm = rest.pop(0)
        arms.append(arm)
        counts[arm] += 1
        ended = ended or not rest
    return Batch(arms, rest, ended)


def expected_samples(
    policy: Policy,
    data: Data,
    divisor: FloatArray | None,
    awaited: FloatArray,
    standing: Standing,
    goals: list[int],
) -> dict[int, float]:
    """An estimate, for each goal (by position), of the allocations still to be made.

    What the rule would need if the estimated means and variances were the truth and every further
    outcome fell on its mean, in steps of 5% of an arm's count. No bound: early estimates of gaps
    are too rough for that. inf where the estimated means cannot be told apart; NaN while there
    are no intervals.
    """
    if divisor is None:
        return dict.fromkeys(goals, math.nan)
    left, found = list(goals), dict.fromkeys(goals, math.inf)
    counts, total = awaited.copy(), 0
    for _ in range(_STEPS):
        view = policy.inference.picture(as_if_observed(data, counts), divisor)
        test = policy.conclude(view, divisor, standing, left)
        standing = standing.after(test)
        found |= dict.fromkeys(test.answers, float(total))
        left = [g for g in left if g not in test.answers]
        if not left or total > 10**9:
            break
        for arm in policy.round(view, counts, standing):
            step = max(1, int(_STEP * counts[arm].min()))
            counts[arm] += step
            total += step
    return found
