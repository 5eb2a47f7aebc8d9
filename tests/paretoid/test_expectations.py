"""Posterior means that do not hang on the seed, and the error of T*."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr
from scipy.integrate import quad
from scipy.stats import norm

from paretoid.bounds import Problem
from paretoid.estimation import load_trial, plug_in_bandit
from paretoid.estimation.draws import posterior_draws
from paretoid.estimation.expectations import jackknife_error, mean_given_the_rest
from paretoid.estimation.instances import plug_in_time_error
from paretoid.estimation.priors import DefaultPriors


def made_up(seed, priors="default", draws=100):
    """Draws as a perfect sampler makes them: sigma near the reported one, then mu given sigma."""
    trial = load_trial("covboost-groupB").select(["IgG", "NT50 delta"])
    rng = np.random.default_rng(seed)
    shape = (2, draws, *trial.mean.shape)
    sigma = trial.sd * np.exp(0.07 * rng.standard_normal(shape))
    told = DefaultPriors.of(trial)
    own, other = trial.counts / sigma**2, told.mu_width**-2
    centre = (own * trial.mean + other * told.centre) / (own + other)
    mu = centre + rng.standard_normal(shape) / np.sqrt(own + other)
    both = ("chain", "draw", "arm", "endpoint")
    posterior = xr.Dataset({"mu": (both, mu), "sigma": (both, sigma)})
    posterior.attrs = {
        "paretoid_trial": trial.to_json(), "paretoid_variances": "partial",
        "paretoid_priors": priors, "paretoid_problems": "",
    }  # fmt: skip
    return trial, xr.DataTree.from_dict({"posterior": posterior})


def test_the_mean_given_sigma_is_the_integral_over_the_posterior():
    trial, fit = made_up(1, draws=3)
    told = DefaultPriors.of(trial)
    sigma = posterior_draws(fit)[1][4, 2, 1]
    y, n = trial.mean[2, 1], trial.counts[2, 1]

    def density(mu, power):
        prior = norm.pdf(mu, told.centre[1], told.mu_width[1])
        return mu**power * prior * norm.pdf(y, mu, sigma / np.sqrt(n))

    ends = y - 1, y + 1  # 10 standard errors and more
    moments = [quad(density, *ends, args=(power,), epsabs=0)[0] for power in (0, 1)]
    # The integrator's own tolerance is a relative 1.5e-8.
    assert mean_given_the_rest(fit)[4, 2, 1] == pytest.approx(moments[1] / moments[0], rel=1e-7)


def test_t_star_of_the_fitted_means_hardly_moves_with_the_seed_and_the_rest_is_its_error():
    times = {"default": [], "the user's own": []}
    for seed in (1, 2):
        for priors, found in times.items():
            known = Problem.of(plug_in_bandit(made_up(seed, priors)[1]))
            found.append(known.time.time)
    moved = {priors: abs(np.log(found[0] / found[1])) for priors, found in times.items()}
    assert moved["default"] < 0.02
    assert moved["the user's own"] > 0.05  # plain averages of the same draws
    assert plug_in_time_error(made_up(1)[1]) < 0.01 < plug_in_time_error(made_up(1, "mine")[1])


def test_the_jackknife_of_an_average_is_the_error_of_the_average():
    parts = np.array([1.0, 4.0, 2.0, 8.0, 5.0])
    without = np.array([np.delete(parts, i).mean() for i in range(5)])
    assert jackknife_error(without) == pytest.approx(parts.std(ddof=1) / np.sqrt(5))
    assert np.isnan(jackknife_error(np.array([1.0, np.inf])))
