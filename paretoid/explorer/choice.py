"""Which arms next, one or a batch, and how many samples more to expect.

A *round* is what a rule samples between two tests: one arm (`APE`, `UGapEc`), two (`pull="both"`,
`LUCB`), all of them (`RoundRobin`), all that are still active (`UniformElimination`). Asked one at
a time and told at once, a trial goes through the rounds of the engine and is tested where it is.
Rounds of several arms go on from batch to batch, and a batch may hold many.

The batch rule: the rounds of a batch are chosen one after another, each by the trial's rule on the
same means and variances, with every allocation whose outcome is still awaited, those of the batch
included, counted as if it had been observed. Its arm's intervals shrink, so APE's b_t and c_t, or
the pair of another rule, move on and the batch spreads over the arms that are in question. With
nothing awaited and n = 1 this is the rule itself.

A batch is handed out in an order shuffled by the seed, so that consecutive patients do not follow
the order of the arms; a single proposal involves no chance but the rule's own.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from paretoid.explorer.design import Design
from paretoid.loop import chosen, judged
from paretoid.registry import is_ours
from paretoid.rules import Rule
from paretoid.theory.checks import FloatArray
from paretoid.view import Lens, Samples, Standing, View, steered

#: `expected_samples` takes steps of this fraction of an arm's count, and this many at most
_STEP, _STEPS = 0.05, 20_000

#: a step costs K x K x D entries of a table and as much as `_OVERHEAD` besides; at most `_WORK`
#: are spent, which is two seconds of one core
_WORK, _OVERHEAD = 10_000_000, 2_000


@dataclass(frozen=True)
class Moment:
    """What a choice rests on.

    design, lens   of the trial
    samples        outcomes so far
    unit           (D,) what objectives are divided by; None while some interval is infinite
    awaited        (K, D) counts once everything awaited has arrived
    standing       what the rule has concluded for good
    memory         the rule's own
    rng            the rule's random numbers
    """

    design: Design
    lens: Lens
    samples: Samples
    unit: FloatArray | None
    awaited: FloatArray
    standing: Standing
    memory: dict[str, Any]
    rng: np.random.Generator

    def view(self, counts: FloatArray, standing: Standing, memory: dict[str, Any]) -> View:
        """The view with the same means and variances and other counts."""
        before = self.samples.counts
        growth = np.where(before > 1, (counts - 1) / np.maximum(before - 1, 1), 1.0)
        samples = replace(self.samples, counts=counts, ss=self.samples.ss * growth)
        time = int(counts.sum(axis=0).max())
        return self.lens.view(samples, time, self.unit, standing, memory)


@dataclass
class Batch:
    """The arms of a batch.

    arms     in order
    rest     what is left of the round begun
    ended    True: a round was completed in it
    memory   the rule's own, afterwards
    """

    arms: list[int] = field(default_factory=list)
    rest: list[int] = field(default_factory=list)
    ended: bool = False
    memory: dict[str, Any] = field(default_factory=dict)


def choose(
    moment: Moment, queue: list[int], n: int, seen: View | None = None, due: Sequence[int] = ()
) -> Batch:
    """The arms of the next n allocations.

    queue   what is left of the round begun
    seen    the view of the samples themselves, if at hand
    due     arms that come before the rule is asked: the rest of the burn-in
    """
    rule, counts = moment.design.rule, moment.awaited.copy()
    batch = Batch(rest=list(queue), memory=copy.deepcopy(moment.memory))
    for arm in due[:n]:
        batch.arms.append(arm)
        counts[arm] += 1
    while len(batch.arms) < n:
        if not batch.rest:
            if moment.unit is None:
                batch.rest = rule.opening(counts, moment.standing)
            else:
                view = seen if is_ours(rule) else None  # others' may write into its memory
                if view is None or (counts != moment.samples.counts).any():
                    view = moment.view(counts, moment.standing, batch.memory)
                batch.rest = chosen(rule, _steered(rule, view, moment.design), moment.rng)
        arm = batch.rest.pop(0)
        batch.arms.append(arm)
        counts[arm] += 1
        batch.ended = batch.ended or not batch.rest
    return batch


def _steered(rule: Rule, view: View, design: Design) -> View:
    """The view with the arms that the first open goal wants compared, if any goal wants that.

    If what is awaited would answer them all, the first goal says what to compare.
    """
    if not any(goal.steers for goal in design.goals):
        return view
    undecided = [goal for goal in design.goals if judged(rule, view, goal) is None]
    return steered(view, undecided or design.goals[:1])


def expected_samples(moment: Moment, goals: list[int]) -> dict[int, float]:
    """An estimate, for each goal (by position), of the allocations still to be made.

    What the rule would need if the estimated means and variances were the truth and every further
    outcome fell on its mean, in steps of 5% of an arm's count. No bound: early estimates of gaps
    are too rough for that. inf where the estimated means cannot be told apart; NaN while there
    are no intervals, or where so many arms are so close that the estimate would take minutes.
    """
    if moment.unit is None:
        return dict.fromkeys(goals, math.nan)
    design, standing = moment.design, moment.standing
    rule, memory = design.rule, copy.deepcopy(moment.memory)
    left, needed = list(goals), dict.fromkeys(goals, math.inf)
    counts, total = moment.awaited.copy(), 0
    steps = min(_STEPS, _WORK // (design.K**2 * design.D + _OVERHEAD) + 1)
    for _ in range(steps):
        view = moment.view(counts, standing, memory)
        answered = [g for g in left if judged(rule, view, design.goals[g]) is not None]
        needed |= dict.fromkeys(answered, float(total))
        left = [g for g in left if g not in answered]
        if not left or total > 10**9:
            break
        standing = standing.after(*rule.settle(view))
        view = steered(view, [design.goals[g] for g in left])
        for arm in chosen(rule, view.with_standing(standing), moment.rng):
            step = max(1, int(_STEP * counts[arm].min()))
            counts[arm] += step
            total += step
    else:
        if steps < _STEPS:
            needed |= dict.fromkeys(left, math.nan)
    return needed
