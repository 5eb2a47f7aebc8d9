"""The instances of a fit: bandits at posterior draws, and the plug-in one at posterior means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from paretoid.bandits import Bandit, BernoulliBandit, GaussianBandit, MixedBandit
from paretoid.bandits.kinds import Kind
from paretoid.bounds import Problem
from paretoid.estimation.compat import group
from paretoid.estimation.draws import posterior_draws
from paretoid.estimation.expectations import (
    jackknife_error,
    mean_given_the_rest,
    without_each_part,
)
from paretoid.estimation.model import trial_of
from paretoid.estimation.ranges import kinds_of, possible_draws
from paretoid.estimation.summary import TrialSummary
from paretoid.theory.characteristic_time import characteristic_time
from paretoid.theory.checks import FloatArray, check_count
from paretoid.theory.radii import Radius


class PlannedBandit(GaussianBandit):
    """Gaussian outcomes whose radius believes another scale than the one they are drawn with.

    scale   (K, D) what a known-scale radius uses
    noise   (K, D) the standard deviations of the outcomes
    """

    def __init__(self, means: Any, noise: FloatArray, scale: Any, **names: Any) -> None:
        super().__init__(means, scale, **names)
        self.noise = np.array(np.broadcast_to(noise, (self.K, self.D)))

    @property
    def _spread(self) -> FloatArray:
        return self.noise


def posterior_bandits(
    fit: Any, n: int, correlation: Any = None, ranges: Mapping[str, Any] | None = None
) -> list[Bandit]:
    """`n` instances, draws spread evenly over the posterior; log outcomes where log-normal.

    Gaussian with a scale per arm and endpoint, Bernoulli where all endpoints are binary, or a
    `MixedBandit` where some are. So it is where endpoints are correlated: `correlation` is that of
    the Gaussians behind the outcomes of one participant, a number or a matrix. `ranges`, by the
    names of normal endpoints, are ends that no outcome leaves; draws they exclude are left out.

    >>> from paretoid.estimation import fit, load_trial
    >>> trial = load_trial("covboost-groupB")
    >>> posterior = fit(trial, "pooled", chains=2, cores=1)
    >>> bandits = posterior_bandits(posterior, 3)
    >>> bandits[0].means.shape, bool((bandits[0].means != bandits[1].means).any())
    ((8, 3), True)
    """
    means, scales = posterior_draws(fit)
    trial = trial_of(fit)
    kinds = kinds_of(trial, ranges)
    possible = possible_draws(means, scales, kinds)
    n = check_count(n, name="n", most=len(possible), why="each instance is a posterior draw.")
    rows = possible[np.floor((np.arange(n) + 0.5) * len(possible) / n).astype(int)]
    return [bandit_of_trial(trial, means[r], scales[r], None, correlation, kinds) for r in rows]


def plug_in_bandit(
    fit: Any, correlation: Any = None, ranges: Mapping[str, Any] | None = None
) -> Bandit:
    """The instance at the posterior means, with root mean square scales.

    Means are averages of `expectations.mean_given_the_rest`, which hardly depend on the seed.

    >>> from paretoid.estimation import fit, load_trial
    >>> trial = load_trial("covboost-groupB")
    >>> posterior = fit(trial, "pooled", chains=2, cores=1)
    >>> bandit = plug_in_bandit(posterior)
    >>> bandit.objectives, bool((abs(bandit.means - trial.mean) < 0.05).all())
    (('IgG', 'NT50 wild-type', 'NT50 delta'), True)
    """
    means, scales = posterior_draws(fit)
    trial = trial_of(fit)
    kinds = kinds_of(trial, ranges)
    rows = possible_draws(means, scales, kinds)
    return _averaged(trial, mean_given_the_rest(fit)[rows], scales[rows], correlation, kinds)


def _averaged(
    trial: TrialSummary,
    means: FloatArray,
    scales: FloatArray,
    correlation: Any = None,
    kinds: tuple[Kind, ...] | None = None,
) -> Bandit:
    spread = np.sqrt((scales**2).mean(axis=0))
    return bandit_of_trial(trial, means.mean(axis=0), spread, None, correlation, kinds)


def plug_in_time_error(fit: Any) -> float:
    """The Monte Carlo standard error of T* at the posterior means, relative to it.

    From the same T*, to 0.1%, of the draws without a fifth of every chain at a time; NaN where
    arms tie.
    """
    trial, chains = trial_of(fit), group(fit, "posterior").sizes["chain"]
    means, scales = mean_given_the_rest(fit), posterior_draws(fit)[1]
    parts = zip(without_each_part(means, chains), without_each_part(scales, chains), strict=True)
    times = []
    for kept_means, kept_scales in parts:
        known = Problem.of(_averaged(trial, kept_means, kept_scales))
        made = characteristic_time(
            known.means, known.noise, outcomes=known.outcomes, tolerance=1e-3
        )
        times.append(made.time)
    return jackknife_error(np.log(times))


def bandit_of_trial(
    trial: TrialSummary,
    means: FloatArray,
    noise: FloatArray,
    scale: Any = None,
    correlation: Any = None,
    kinds: tuple[Kind, ...] | None = None,
) -> Bandit:
    """A bandit with the arms and endpoints of `trial`; known-scale radii are told `scale`."""
    names: dict[str, Any] = {
        "arms": trial.arms, "objectives": trial.endpoints, "minimize": trial.minimize,
    }  # fmt: skip
    kinds = kinds_of(trial) if kinds is None else kinds
    if correlation is not None or len(set(kinds)) > 1 or not isinstance(kinds[0], str):
        shared = 0.0 if correlation is None else correlation
        mixed = MixedBandit(means, kinds, sd=noise, correlation=shared, **names)
        return mixed.with_scale(scale)
    if kinds[0] == "binary":
        return BernoulliBandit(means, **names)
    return PlannedBandit(means, noise, noise if scale is None else scale, **names)


def tell_scales(
    bandits: Sequence[Bandit], fit: Any, radius: Radius, scale_quantile: float
) -> list[Bandit]:
    """The bandits, told the fit's quantile of every scale if the radius relies on scales."""
    first = bandits[0]
    if not isinstance(radius, Radius):  # simulate refuses what is none
        return list(bandits)
    if not (radius.known(first.D) & first.gaussian).any():
        return list(bandits)
    trial, shared = trial_of(fit), getattr(first, "correlation", None)
    stated = np.quantile(posterior_draws(fit)[1], scale_quantile, axis=0)
    kinds = getattr(first, "kinds", None)
    return [
        bandit_of_trial(trial, bandit.means, bandit.noise, stated, shared, kinds)  # type: ignore[attr-defined]
        for bandit in bandits
    ]
