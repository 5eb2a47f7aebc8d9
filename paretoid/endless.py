"""Refuse problems that no number of samples, or no thinkable one, can settle."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from paretoid.bandits import Bandit
from paretoid.goals import Goal
from theory.radii import KaufmannKoolen, Mixture, PairwiseRadius, Radius, UnknownScale
from theory.sharp_bound import samples_to_separate

MOST_SAMPLES = 1e11


def refuse_endless(bandit: Bandit, goals: Sequence[Goal], radius: Radius, delta: float) -> None:
    """Raise if a goal's gap is zero, or so small that the sharp bound exceeds 1e11 samples.

    Gaps are in units of the largest scale of each objective. The bound is that of the radius
    itself where it depends on counts alone; `UnknownScale` is judged by the `Mixture` it tends
    to and `SingleArm` by `KaufmannKoolen`, both smaller: only hopeless problems are refused.
    """
    divisor = bandit.scale.max(axis=0)
    judge: PairwiseRadius = KaufmannKoolen()
    if isinstance(radius, UnknownScale):
        judge = Mixture(radius.rho, radius.union)
    elif isinstance(radius, PairwiseRadius):
        judge = radius
    for goal in goals:
        gaps = goal.gaps(bandit.oriented, divisor)
        needed = np.asarray(samples_to_separate(gaps, judge, bandit.K, bandit.D, delta))
        if needed.sum() <= MOST_SAMPLES:
            continue
        worst = np.flatnonzero(gaps == gaps.min())
        names = ", ".join(repr(bandit.arms[i]) for i in worst[:6])
        more = f" and {len(worst) - 6} more" if len(worst) > 6 else ""
        if gaps.min() <= 0:
            reason = "tie, so no number of samples can tell them apart"
        else:
            reason = (
                f"are only {gaps.min():.2g} standard deviations from changing place, which "
                f"could take {needed.sum():.1e} samples"
            )
        raise ValueError(
            f"{goal} may never stop: {names}{more} {reason}. Allow a slack (eps1 or eps2), ask "
            f"for fewer arms (AtMost), or pass max_samples= to run to a budget and see which "
            f"runs stopped."
        )
