"""Which arms next, one or a batch, and how many samples more to expect.

The batch rule: the arms of a batch are chosen one after another, each by APE on the same means
and variances, with every allocation whose outcome is still awaited, those of the batch included,
counted as if it had been observed. Its arm's intervals shrink, so b_t and c_t move on and the
batch spreads over the arms that are in question. With nothing awaited and n = 1 this is APE.
Of b_t and c_t the one with fewer outcomes, those awaited included, is proposed.

A batch is handed out in an order shuffled by the seed, so that consecutive patients do not follow
the order of the arms; a single proposal involves no chance.
"""

from __future__ import annotations

import math

import numpy as np

from paretoid.explorer.inference import Data, Inference, Picture
from theory._checks import FloatArray

#: `expected_samples` takes steps of this fraction of an arm's count, and this many at most
_STEP, _STEPS = 0.05, 20_000


def as_if_observed(data: Data, counts: FloatArray) -> Data:
    """The same means and variances with other counts."""
    growth = (counts - 1) / np.maximum(data.counts - 1, 1)
    return Data(counts, data.means, data.ss * np.where(data.counts > 1, growth, 1.0))


def choose(
    inference: Inference,
    data: Data,
    divisor: FloatArray | None,
    awaited: FloatArray,
    partner: int | None,
    n: int,
    seen: Picture | None = None,
) -> tuple[list[int], int | None]:
    """The next n arms and, under APE(pull="both"), the second arm of a pair begun.

    awaited   (K, D) counts once everything awaited has arrived
    divisor   None until intervals are finite: then the arm with fewest outcomes is next
    seen      the picture of `data` itself, if at hand

    The count of an arm is that of its scarcest objective; ties go to the lowest index.
    """
    both = inference.design.rule.both
    counts = awaited.copy()
    arms: list[int] = []
    for _ in range(n):
        if partner is not None:
            arm, partner = partner, None
        elif divisor is None:
            arm = int(np.argmin(counts.min(axis=1)))
        else:
            view = seen
            if view is None or (counts != data.counts).any():
                view = inference.picture(as_if_observed(data, counts), divisor)
            arm, partner = (view.b, view.c) if both else (less_sampled(view, counts), None)
        arms.append(arm)
        counts[arm] += 1
    return arms, partner


def less_sampled(view: Picture, counts: FloatArray) -> int:
    """b_t or c_t, whichever has the smaller count; b_t if equal."""
    return view.b if counts[view.b].min() <= counts[view.c].min() else view.c


def expected_samples(
    inference: Inference,
    data: Data,
    divisor: FloatArray | None,
    awaited: FloatArray,
    goals: list[int],
) -> dict[int, float]:
    """An estimate, for each goal (by position), of the allocations still to be made.

    What APE would need if the estimated means and variances were the truth and every further
    outcome fell on its mean, in steps of 5% of an arm's count. No bound: early estimates of gaps
    are too rough for that. inf where the estimated means cannot be told apart; NaN while there
    are no intervals.
    """
    if divisor is None:
        return dict.fromkeys(goals, math.nan)
    left, found = list(goals), dict.fromkeys(goals, math.inf)
    counts, total = awaited.copy(), 0
    for _ in range(_STEPS):
        view = inference.picture(as_if_observed(data, counts), divisor)
        for g in list(left):
            goal = inference.design.goals[g]
            eps2 = inference.scaled_eps(getattr(goal, "eps2", 0.0), divisor)
            if view.answer(goal, eps2) is not None:
                found[g] = float(total)
                left.remove(g)
        if not left or total > 10**9:
            break
        both = inference.design.rule.both
        for arm in (view.b, view.c) if both else (less_sampled(view, counts),):
            step = max(1, int(_STEP * counts[arm].min()))
            counts[arm] += step
            total += step
    return found
