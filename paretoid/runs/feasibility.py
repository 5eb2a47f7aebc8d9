"""How long will it take? Refuse problems that no thinkable number of samples can settle."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from paretoid.bandits import Bandit
from paretoid.goals import AtMost, Cover, Goal, ParetoSet
from paretoid.theory.checks import FloatArray
from paretoid.theory.radii import (
    KaufmannKoolen,
    Mixture,
    MixtureRadius,
    PairwiseRadius,
    Radius,
)
from paretoid.theory.sharp_bound import samples_to_separate

MOST_SAMPLES = 1e11


def refuse_endless(bandit: Bandit, goals: Sequence[Goal], radius: Radius, delta: float) -> None:
    """Raise if a goal's gap is zero, or so small that the sharp bound exceeds 1e11 samples.

    Gaps are in units of the largest scale of each objective. The bound is that of the radius
    itself where it depends on counts alone; `UnknownScale` and unequal shares are judged by the
    plain `Mixture` they are near, others by `KaufmannKoolen`: only hopeless problems are refused.
    """
    divisor = bandit.scale.max(axis=0)
    judge = _judge(radius)
    enough = _enough(judge, bandit.K, bandit.D, delta)
    settled = {  # no cover and no AtMost has smaller gaps than ParetoSet(eps1)
        eps1
        for eps1 in {goal.eps1 for goal in goals}
        if ParetoSet(eps1).gaps(bandit.oriented, divisor).min() > enough
    }
    for goal in goals:
        ours = isinstance(goal, (ParetoSet, Cover, AtMost)) and goal.limits is None
        if not (ours and goal.eps1 in settled):
            _refuse(bandit, goal, goal.gaps(bandit.oriented, divisor), judge, delta)


def _judge(radius: Radius) -> Mixture | KaufmannKoolen:
    """The radius whose sharp bound stands for that of `radius`."""
    if isinstance(radius, MixtureRadius):
        return Mixture(float(np.median(radius.rho)), radius.union, radius.sides)
    return radius if type(radius) is KaufmannKoolen else KaufmannKoolen()


def expected_samples(bandit: Bandit, goals: Sequence[Goal], radius: Radius, delta: float) -> float:
    """About the sharp bound on the samples of a stream that serves `goals`; inf for ties.

    Good enough to say which of two streams is longer: the bound of the hardest goal, its widths
    inverted by interpolation, which is within a few percent of `theory.sample_bound`.
    """

    def most(goal: Goal) -> float:
        return goal.k if isinstance(goal, AtMost) else np.inf

    gaps = max(goals, key=most).gaps(bandit.oriented, bandit.scale.max(axis=0))
    counts, widths = _widths(_judge(radius), bandit.K, bandit.D, delta)
    with np.errstate(divide="ignore"):
        needed = np.exp(np.interp(-np.log(gaps), -widths, counts))
    return float("inf") if gaps.min() <= 0 else float(needed.sum())


@lru_cache(maxsize=64)
def _widths(radius: PairwiseRadius, K: int, D: int, delta: float) -> tuple[FloatArray, FloatArray]:
    """(log n, log of beta_keep + beta_drop at n) for n = 1, 2, 4, ..."""
    n = 2.0 ** np.arange(50)
    width = np.zeros(len(n))
    for drop in (False, True):
        width += radius.half_width(n, n, K, D, delta, drop=drop)
    return np.log(n), np.log(width)


@lru_cache(maxsize=64)
def _enough(radius: PairwiseRadius, K: int, D: int, delta: float) -> float:
    """A gap that every arm resolves within 1e11 / K samples, so that no search is needed."""
    n = MOST_SAMPLES // K
    widths = (radius.half_width(n, n, K, D, delta, drop=drop) for drop in (False, True))
    return float(sum(widths))


def _refuse(
    bandit: Bandit, goal: Goal, gaps: FloatArray, judge: PairwiseRadius, delta: float
) -> None:
    needed = np.asarray(samples_to_separate(gaps, judge, bandit.K, bandit.D, delta)).sum()
    if needed <= MOST_SAMPLES:
        return
    worst = np.flatnonzero(gaps == gaps.min())
    names = ", ".join(repr(bandit.arms[i]) for i in worst[:6])
    more = f" and {len(worst) - 6} more" if len(worst) > 6 else ""
    if gaps.min() <= 0:
        reason = "tie, so no number of samples can tell them apart"
    else:
        reason = (
            f"are only {gaps.min():.2g} standard deviations from changing place, which could "
            f"take {needed:.1e} samples"
        )
    raise ValueError(
        f"{goal} may never stop: {names}{more} {reason}. Allow a slack (eps1, eps2, slack), ask "
        f"for fewer arms (AtMost), or pass max_samples= (--max-samples) to run to a budget and see "
        f"which runs stopped."
    )
