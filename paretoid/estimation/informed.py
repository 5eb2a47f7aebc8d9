"""A radius informed by published data or by a guess; the guarantee never leans on them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from paretoid.bandits import Bandit
from paretoid.design.informed import CEILING, SharedRadius
from paretoid.design.informed import informed as informed_by_bandits
from paretoid.estimation.instances import bandit_of_trial, posterior_bandits
from paretoid.estimation.margins import with_margin
from paretoid.estimation.summary import TrialSummary
from paretoid.goals import Goal
from paretoid.theory.checks import check_count

#: Posterior draws whose trials are simulated to learn what each arm needs.
DRAWS = 100


def informed(
    source: Any,
    goals: Goal | Sequence[Goal] | None = None,
    delta: float = 0.1,
    mix: float = 0.2,
    radius: Any = None,
    *,
    fold: float | None = None,
    draws: int = DRAWS,
    weights: Sequence[float] | None = None,
    max_samples: int = CEILING,
    seed: int = 1,
    quick: bool = False,
    executor: Any = None,
) -> SharedRadius:
    """A proved radius that needs fewer samples if `source` resembles the trial to come.

    source   a fit; a `TrialSummary`, such as a pilot's, whose means are drawn from their sampling
             distribution; a bandit or several, for an expert's guess
    fold     margin of the goals, see `fold_margin`
    draws    instances taken from a fit or a summary

    The other arguments are those of `paretoid.design.informed`. Data that inform the radius must
    not be counted again in the trial: shares and rho are proved only if fixed before its data.

    >>> from paretoid.estimation import load_trial
    >>> pilot = load_trial("covboost-groupB")
    >>> radius = informed(pilot, fold=1.5, draws=10, max_samples=2000)
    >>> len(radius.shares.arms), len(radius.rho), radius.guarantee
    (8, 8, 'proved')
    """
    count = check_count(draws, name="draws", why="expected counts are an average over draws.")
    if isinstance(source, Bandit) or _are_bandits(source):
        if fold is not None:
            raise ValueError("fold= belongs to a fit or a summary; give the goals their eps1.")
        bandits: Any = source
    elif isinstance(source, TrialSummary):
        bandits, goals = _sampled(source, count, seed), with_margin(goals, source, fold)
    else:
        bandits, goals = posterior_bandits(source, count), with_margin(goals, source, fold)
    return informed_by_bandits(
        bandits, goals, delta, mix, radius, weights=weights, max_samples=max_samples, seed=seed,
        quick=quick, executor=executor,
        replications=count if isinstance(source, Bandit) else 1,
    )  # fmt: skip


def _are_bandits(source: Any) -> bool:
    listed = isinstance(source, (list, tuple)) and len(source) > 0
    return listed and all(isinstance(bandit, Bandit) for bandit in source)


def _sampled(trial: TrialSummary, draws: int, seed: int) -> list[Bandit]:
    """Instances around the published means, as far away as their standard errors say."""
    sd = np.array(trial.sd)
    for endpoint, variance in trial.assumed_variance.items():
        column = sd[:, trial.endpoints.index(endpoint)]
        column[np.isnan(column)] = np.sqrt(variance)
    binary = np.array([scale == "binary" for scale in trial.scales])
    n = trial.counts
    unknown = [
        f"{trial.arms[i]}, {trial.endpoints[d]}"
        for i, d in np.argwhere(np.isnan(np.where(binary, 0.5, sd)) | np.isnan(n))
    ]
    if unknown:
        raise ValueError(
            f"the summary has no n or no spread for {'; '.join(unknown[:5])}: fit it first "
            f"(`estimation.fit`), which estimates it, and pass the fit."
        )
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(14,)))
    sampled = []
    for _ in range(draws):
        with np.errstate(invalid="ignore"):
            means = trial.mean + sd / np.sqrt(n) * rng.standard_normal(trial.mean.shape)
        if binary.any():
            events = trial.mean * n
            share = rng.beta(events + 0.5, n - events + 0.5)
            means = np.where(binary, share, means)
        spread = np.where(binary, 0.5, sd)
        sampled.append(bandit_of_trial(trial, means, spread))
    return sampled
