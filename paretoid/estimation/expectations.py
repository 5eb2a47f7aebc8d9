"""Posterior means of a fit with little Monte Carlo error, and what of that error remains.

A plan's T* goes with the inverse square of the smallest gap. Plain averages of 4,000 draws let it
move by a quarter from one seed to the next where two arms nearly tie.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from paretoid.estimation.compat import group
from paretoid.estimation.draws import posterior_draws
from paretoid.estimation.model import trial_of
from paretoid.estimation.priors import DefaultPriors
from paretoid.theory.checks import FloatArray

if TYPE_CHECKING:
    from paretoid.estimation.summary import TrialSummary

#: parts of every chain that are left out in turn, for the error of what is computed from all
BATCHES = 5


def mean_given_the_rest(fit: Any) -> FloatArray:
    r"""(S, K, D) expectation of the means at every draw, given the draw's standard deviations.

    .. math:: E[\mu \mid \sigma] = \frac{n \bar y / \sigma^2 + m / s^2}{n / \sigma^2 + 1 / s^2}

    for the prior Normal(m, s), and (events + c)/(n + 2 c) for the prior Beta(c, c). Their average
    estimates the posterior mean as the average of the draws does, with far less error (Rao and
    Blackwell). With priors of the user's own there is no such formula: the draws themselves.

    >>> from paretoid.estimation import fit, load_trial
    >>> trial = load_trial("covboost-groupB")
    >>> posterior = fit(trial, "pooled", chains=2, cores=1)
    >>> expected = mean_given_the_rest(posterior)
    >>> expected.shape[1:], bool((abs(expected.mean(axis=0) - trial.mean) < 0.01).all())
    ((8, 3), True)
    """
    trial, attributes = trial_of(fit), group(fit, "posterior").attrs
    means, scales = posterior_draws(fit)
    if attributes.get("paretoid_priors") != "default":
        return means
    priors = DefaultPriors.of(trial, float(attributes.get("paretoid_prior_width", 1.0)))
    expected = np.empty_like(means)
    measured = [d for d, scale in enumerate(trial.scales) if scale != "binary"]
    for q, d in enumerate(measured):
        own = trial.counts[:, d] / scales[:, :, d] ** 2
        other = priors.mu_width[q] ** -2
        total = own * trial.mean[:, d] + other * priors.centre[q]
        expected[:, :, d] = total / (own + other)
    for d in set(range(len(trial.scales))) - set(measured):
        expected[:, :, d] = _share(trial, d, priors.concentration)
    return expected


def _share(trial: TrialSummary, d: int, concentration: float) -> FloatArray:
    """(K,) the mean of Beta(events + c, n - events + c)."""
    n = trial.n[:, d]
    return np.asarray((trial.mean[:, d] * n + concentration) / (n + 2 * concentration))


def without_each_part(draws: FloatArray, chains: int) -> list[FloatArray]:
    """The draws without the first fifth of every chain, without the second, and so on.

    >>> parts = without_each_part(np.arange(10.0), chains=1)
    >>> len(parts), parts[0].tolist()
    (5, [2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0])
    """
    length = len(draws) // chains
    part = (np.arange(len(draws)) % length) * BATCHES // length
    return [draws[part != left_out] for left_out in range(min(BATCHES, length))]


def jackknife_error(values: FloatArray) -> float:
    """The standard error of what was computed from all, from its values without each part.

    For an average it is the error from the means of the parts, here 1 and 3 with average 2:

    >>> round(jackknife_error(np.array([3.0, 1.0])), 9)
    1.0
    """
    values = np.asarray(values, dtype=np.float64)
    if len(values) < 2 or not np.isfinite(values).all():
        return float("nan")
    return float(np.sqrt((len(values) - 1) * values.var()))
