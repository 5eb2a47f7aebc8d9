"""Which comparison keeps a simulated trial from its answer, and what a planner can do about it.

A trial whose participants run out has arms that are neither certainly in the answer nor certainly
out of it. Which of them holds it up depends on the margin and the goal: two arms that nearly tie
are no trouble where a margin lets both in.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from paretoid.bandits import Bandit
from paretoid.goals import AtMost, Cover, Goal, PracticalSet
from paretoid.text import joined
from paretoid.theory.checks import BoolArray, FloatArray, IntArray, as_epsilon
from paretoid.units import PLAIN, Units
from paretoid.view import divisors

if TYPE_CHECKING:
    import xarray as xr

#: pairs that a sentence names
_NAMED = 3


def blocking_pair(bandit: Bandit, goal: Goal, settled: Any) -> tuple[int, int]:
    """The arm that keeps a trial from its answer, and the arm that may dominate it; -1: nobody.

    bandit      the draw that was simulated: its means are the truth
    settled     (K,) 1 for arms that the trial had shown to be in, -1 out, 0 neither

    Of the arms that are not settled it is the one that is hardest to settle. An arm is let in once
    every rival j is shown not to be better by more than eps1 everywhere, and left out once some j
    is shown to be better everywhere: it is as hard as the larger of

        min_j max_d (mu_i - mu_j + eps1)    and    max_j min_d (mu_j - mu_i)

    is small, in standard deviations. Without a margin one is minus the other; with one, an arm
    behind by half of it is the hardest. A `Cover` leaves an arm out, too, for one that is in and
    at most eps2 behind. `AtMost(k)` lacks some arms of k: it waits for the easiest of those that
    can be let in, and the last one of these holds it up; if there are too few, it has to settle
    all. Goals with limits and `PracticalSet` have gaps of their own, and no rival is named.

    Arms 0 and 1 nearly tie, arm 2 is 0.45 behind arm 1. Without a margin the tie is what takes
    longest; with a margin of 1 arms 0 and 1 are in, and arm 2 is halfway between in and out.

    >>> import paretoid as pt
    >>> tied = pt.GaussianBandit([[1.0, 0.0], [1.01, 0.5], [0.5, 0.05]])
    >>> blocking_pair(tied, pt.ParetoSet(), [0, 0, 0])
    (0, 1)
    >>> blocking_pair(tied, pt.ParetoSet(1.0), [0, 0, 0])
    (2, 1)
    """
    undecided = np.asarray(settled) == 0
    if not undecided.any():
        return -1, -1
    unit = divisors(bandit)
    if goal.steers:
        gaps = goal.bind(bandit.objectives, bandit.sign).gaps(bandit.oriented, unit)
        return int(np.where(undecided, gaps, np.inf).argmin()), -1
    mu = bandit.oriented / unit
    behind = mu[None, :, :] - mu[:, None, :]  # of i behind j
    keep = _off_diagonal((as_epsilon(goal.eps1, bandit.D) / unit - behind).max(axis=2), np.inf)
    credit = np.zeros_like(mu)
    if isinstance(goal, Cover):
        credit[np.asarray(settled) == 1] = as_epsilon(goal.eps2, bandit.D) / unit
    drop = _off_diagonal((behind + credit).min(axis=2), -np.inf)
    let_in, left_out = keep.min(axis=1), drop.max(axis=1)
    arm = _last_needed(goal, let_in, np.asarray(settled))
    if arm is None:
        arm = int(np.where(undecided, np.maximum(let_in, left_out), np.inf).argmin())
    return arm, int(keep[arm].argmin() if let_in[arm] > left_out[arm] else drop[arm].argmax())


def _last_needed(goal: Goal, let_in: FloatArray, settled: IntArray) -> int | None:
    """The arm with which `AtMost(k)` has its k; None: that many cannot be let in."""
    if not isinstance(goal, AtMost):
        return None
    possible = [int(i) for i in np.argsort(-let_in) if settled[i] == 0 and let_in[i] > 0]
    missing = goal.k - int((settled == 1).sum())
    return possible[missing - 1] if 1 <= missing <= len(possible) else None


def _off_diagonal(table: FloatArray, value: float) -> FloatArray:
    np.fill_diagonal(table, value)
    return table


def blocking_pairs(runs: xr.Dataset, bandits: Sequence[Bandit], goals: Sequence[Goal]) -> IntArray:
    """(goal, draw, 2) the pair of every trial that ended without an answer; -1 of the others."""
    pairs = np.full((len(goals), len(bandits), 2), -1)
    for g, goal in enumerate(goals):
        for s in np.flatnonzero(~runs.stopped.values[g]):
            pairs[g, s] = blocking_pair(bandits[int(s)], goal, runs.settled.values[g, s])
    return pairs


def ties_in_words(
    pairs: IntArray,
    stopped: BoolArray,
    goals: Sequence[Goal],
    arms: Sequence[str],
    max_samples: int,
    units: Units = PLAIN,
) -> str:
    """How many trials have no answer, which comparisons they are held up by, and the ways out."""
    said = []
    for goal, done, found in zip(goals, stopped, pairs, strict=True):
        left = int((~done).sum())
        if not left:
            continue
        said.append(
            f"For {goal.words(units)}: {left} of {len(done)} simulated trials had no answer by "
            f"{max_samples:,} participants{_named(found[~done], arms)}. Consider {advice(goal)}."
        )
    return " ".join(said)


def _named(pairs: IntArray, arms: Sequence[str]) -> str:
    """The pairs that come most often, with how often."""
    known = Counter((int(i), int(j)) for i, j in pairs if i >= 0)
    if not known:
        return ""
    listed = []
    for (i, j), often in known.most_common(_NAMED):
        rival = f" against {arms[j]}" if j >= 0 else ""
        listed.append(f"{arms[i]}{rival} ({often})")
    more = sum(known.values()) - sum(often for _, often in known.most_common(_NAMED))
    if more:
        listed.append(f"others ({more})")
    return f"; what held them up most: {'; '.join(listed)}"


def advice(goal: Goal) -> str:
    """What would make the question easier; never fewer arms than one.

    >>> from paretoid import ParetoSet
    >>> advice(AtMost(1)), advice(AtMost(2, 0.1))
    ('more participants or a margin', 'more participants, a larger margin or asking for one arm')
    >>> advice(ParetoSet())
    'more participants, a margin or asking for a few arms only'
    """
    ways = ["more participants"]
    if isinstance(goal, PracticalSet):
        ways.append("a larger margin")
    else:
        ways.append("a larger margin" if np.any(goal.eps1) else "a margin")
        if isinstance(goal, AtMost):
            if goal.k > 1:
                ways.append("asking for one arm" if goal.k == 2 else "asking for fewer arms")
        else:
            ways.append("asking for a few arms only")
    return joined(ways, "or")
