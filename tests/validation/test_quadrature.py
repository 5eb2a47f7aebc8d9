"""The integrated posterior against sums over a plain grid, written down without any cleverness."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from paretoid.validation.quadrature import Prior, posterior

PRIOR = Prior(centre=1.0, width=1.5, typical=-0.2, typical_width=0.8)
MEAN, COUNTS, SD = np.array([0.4, 2.5]), np.array([5.0, 12.0]), np.array([0.7, 1.6])
LOG_SD = np.linspace(-3.5, 3.5, 701)


def likelihood(arm):
    """Of mean and variance of one arm on the grid of its log sd, mu summed out over a grid too."""
    sigma, n = np.exp(LOG_SD), COUNTS[arm]
    mu = np.linspace(-14, 16, 3001)
    prior = stats.norm.pdf(mu, PRIOR.centre, PRIOR.width)
    about = stats.norm.pdf(MEAN[arm], mu, (sigma / np.sqrt(n))[:, None]) * prior
    step = mu[1] - mu[0]
    of_mean, mu_first, mu_second = (step * (about * mu**k).sum(axis=1) for k in (0, 1, 2))
    scaled = (n - 1) * SD[arm] ** 2 / sigma**2
    of_variance = stats.chi2.pdf(scaled, n - 1) * (n - 1) / sigma**2
    return of_variance * np.stack([of_mean, mu_first, mu_second])


def moments(weights):
    """(mean, sd) of log sd and of mu from (3, grid) weights: with 1, mu and mu^2."""
    total = weights[0].sum()
    x, x2 = ((weights[0] * LOG_SD**k).sum() / total for k in (1, 2))
    mu, mu2 = (weights[k].sum() / total for k in (1, 2))
    return np.array([x, np.sqrt(x2 - x**2), mu, np.sqrt(mu2 - mu**2)])


def of(exact, arm):
    parts = (exact.log_sd_mean, exact.log_sd_sd, exact.mu_mean, exact.mu_sd)
    return np.array([part[arm] for part in parts])


def test_separate_variances_agree_with_sums():
    exact = posterior(MEAN, COUNTS, SD, PRIOR, "separate")
    prior = stats.norm.pdf(LOG_SD, PRIOR.typical, PRIOR.typical_width)
    evidence = 0.0
    for arm in (0, 1):
        weights = likelihood(arm) * prior
        assert of(exact, arm) == pytest.approx(moments(weights), abs=2e-4)
        evidence += np.log(weights[0].sum() * (LOG_SD[1] - LOG_SD[0]))
    assert exact.log_evidence == pytest.approx(evidence, abs=1e-3)


def test_pooled_variances_agree_with_sums():
    exact = posterior(MEAN, COUNTS, SD, PRIOR, "pooled")
    prior = stats.norm.pdf(LOG_SD, PRIOR.typical, PRIOR.typical_width)
    both = [likelihood(arm) for arm in (0, 1)]
    for arm in (0, 1):
        weights = both[arm] * both[1 - arm][0] * prior
        assert of(exact, arm) == pytest.approx(moments(weights), abs=2e-4)
    total = (both[0][0] * both[1][0] * prior).sum() * (LOG_SD[1] - LOG_SD[0])
    assert exact.log_evidence == pytest.approx(np.log(total), abs=1e-3)


def test_partially_shared_variances_agree_with_sums():
    exact = posterior(MEAN, COUNTS, SD, PRIOR, "partial")
    log_tau = np.log(PRIOR.spread_median) + PRIOR.spread_width * np.linspace(-4.5, 5.5, 81)
    location = np.linspace(-3.5, 3.5, 141)
    log_tau_prior = stats.norm.pdf(log_tau, np.log(PRIOR.spread_median), PRIOR.spread_width)
    location_prior = stats.norm.pdf(location, PRIOR.typical, PRIOR.typical_width)
    step = LOG_SD[1] - LOG_SD[0]
    both = [likelihood(arm) for arm in (0, 1)]
    density, sums = np.zeros(len(log_tau)), np.zeros((2, 3, len(LOG_SD)))
    for at, (tau, weight) in enumerate(zip(np.exp(log_tau), log_tau_prior, strict=True)):
        # One cell of the grid is wider than a small tau: the share of the cell, not the density.
        edges = LOG_SD - step / 2, LOG_SD + step / 2
        below, above = (stats.norm.cdf(edge, location[:, None], tau) for edge in edges)
        given = (above - below) / step  # (location, log sd)
        alone = [step * given @ both[arm][0] for arm in (0, 1)]
        density[at] = weight * (alone[0] * alone[1] * location_prior).sum()
        for arm in (0, 1):
            sums[arm] += weight * both[arm] * ((alone[1 - arm] * location_prior) @ given)
    for arm in (0, 1):
        assert of(exact, arm) == pytest.approx(moments(sums[arm]), abs=1e-3)
    cumulated = np.cumsum(density) / density.sum()
    middles = log_tau + (log_tau[1] - log_tau[0]) / 2
    levels = np.array([0.05, 0.5, 0.95])
    quantiles = np.interp(levels, cumulated, middles)
    assert np.log(exact.spread_quantiles(levels)) == pytest.approx(quantiles, abs=5e-3)


def test_an_arm_without_a_standard_deviation_takes_it_from_the_others():
    # Its own interval says nothing: log sd is that of a new arm, wider than the arm that has one.
    sd = np.array([0.7, np.nan])
    exact = posterior(MEAN, np.array([200.0, 12.0]), sd, PRIOR, "partial")
    assert exact.log_sd_mean[1] == pytest.approx(exact.log_sd_mean[0], abs=0.03)
    assert exact.log_sd_sd[1] > exact.log_sd_sd[0] + 0.1
