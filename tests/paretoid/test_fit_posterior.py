"""The sampler against integration and against simulation-based calibration, for all variances.

All bundled tables, and others, are compared by `python -m paretoid.validation.fits`.
"""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from scipy import stats

from paretoid.estimation import TrialSummary, attempts, build_model, fit, load_trial, under_priors
from paretoid.estimation.compat import group, import_arviz, quiet
from paretoid.estimation.coordinates import log_sd_estimate
from paretoid.estimation.predictive import log_likelihood
from paretoid.estimation.priors import DefaultPriors
from paretoid.validation.fits import LEVELS, departure, quantile_departure, rare_events
from paretoid.validation.quadrature import Prior, posterior

VARIANCES = ["pooled", "partial", "separate"]


#: "separate" refuses "covboost", where cells lack intervals
FITTED = [("comcov2", variances) for variances in VARIANCES]
FITTED += [("covboost-groupB", variances) for variances in VARIANCES]
FITTED += [("covboost", variances) for variances in VARIANCES[:2]]


def bundled(table):
    return load_trial(table, assumed_n=80 if table == "covboost" else None)


@pytest.fixture(scope="module")
def fits():
    """Bundled tables fitted with every way of sharing variances, when asked for."""
    made = {}

    def of(variances, table="comcov2"):
        key = table, variances
        if key not in made:
            made[key] = fit(bundled(table), variances, draws=2500, chains=2, cores=1, seed=8)
        return made[key]

    return of


@pytest.mark.slow
@pytest.mark.parametrize(
    ("table", "variances"),
    [case if case == FITTED[0] else pytest.param(*case, marks=pytest.mark.slow) for case in FITTED],
)
def test_means_and_quantiles_are_those_of_integration(fits, table, variances):
    # At most 100 means with errors of about 0.0125 sd: a correct sampler departs by 0.05 once in
    # 160 seeds; 15 quantiles, 5 errors: once in 60,000.
    means, spread = departure(fits(variances, table), bundled(table), variances)
    assert means < 0.05
    assert variances != "partial" or spread < 5


def test_the_comparison_finds_a_posterior_that_is_only_a_little_wrong(fits):
    # The posterior under equal variances is not that under different ones.
    means, _ = departure(fits("pooled"), load_trial("comcov2"), "separate")
    assert means > 0.3


@pytest.mark.slow
def test_reweighted_draws_are_those_of_the_wider_and_the_tighter_prior(fits):
    # 12 means with errors of about 0.02 sd, 5 errors; spreads as above.
    trial, fitted = load_trial("comcov2"), fits("partial")
    mean, sd, n = trial.mean[:, 0], trial.sd[:, 0], trial.counts[:, 0]
    kept = group(fitted, "posterior")["spread"].sel(estimated_endpoint="IgG").values.ravel()
    for name, found in under_priors(fitted).items():
        draws = group(found, "posterior")
        assert draws.attrs.get("paretoid_method", "as fitted") != "refitted"
        width = draws.attrs["paretoid_prior_width"]
        prior = Prior(mean.mean(), width * math.log(10), 0.0, width, 0.15 * width, 0.7)
        right = posterior(mean, n, sd, prior, "partial")
        log_sd = np.log(draws["sigma"].sel(endpoint="IgG").values).mean(axis=(0, 1))
        assert np.abs((log_sd - right.log_sd_mean) / right.log_sd_sd).max() < 0.1
        mu = draws["mu"].sel(endpoint="IgG").values.mean(axis=(0, 1))
        assert np.abs((mu - right.mu_mean) / right.mu_sd).max() < 0.1
        quantiles, size = right.spread_quantiles(LEVELS), 1500.0  # of 5,000 draws, at the least
        spread = draws["spread"].sel(estimated_endpoint="IgG").values.ravel()
        assert quantile_departure(spread, size, quantiles) < 5
        if name != "as fitted":  # draws left as they were would be found out
            assert quantile_departure(kept, size, quantiles) > 6


def test_a_sampler_that_needed_no_second_attempt_says_so(fits):
    (attempt,) = attempts(fits("partial"))
    assert attempt.problems == ()
    assert attempt.diagnostics.divergences == 0
    assert attempt.every == 1
    assert attempt.diagnostics.r_hat < 1.01
    assert attempt.diagnostics.ess > 1000  # so far from 200 that seeds do not matter


@pytest.mark.slow
def test_events_that_nobody_had_leave_a_beta_posterior():
    # 8 means with errors of about 0.015 sd: 0.08 is exceeded once in 10^6 seeds.
    trial = rare_events(4, 2, 50)
    assert (trial.mean[0] == 0).all()
    found = fit(trial, chains=2, draws=2000, cores=1, seed=3)
    means, _ = departure(found, trial, "partial")
    assert means < 0.08
    draws = group(found, "posterior")["probability"].values[:, :, 0, 0].ravel()
    levels = np.array([0.05, 0.5, 0.95])
    exact = stats.beta.ppf(levels, 1, 51)
    # 1,000 effective draws at the least: five errors
    assert (np.abs((draws[:, None] <= exact).mean(axis=0) - levels) < 5 * 0.5 / 1000**0.5).all()


# --- what else a fit holds ------------------------------------------------------------------------


def test_log_likelihood_is_that_of_the_model(fits):
    # PyMC's own at the first draw of the sampler, untransformed.
    from pymc.model.transform.conditioning import remove_value_transforms

    trial, found = load_trial("comcov2"), fits("partial")
    first = group(found, "posterior").isel(chain=[0], draw=[0])
    ours = log_likelihood(trial, first)
    point = {name: first[name].values[0, 0] for name in ("mu", "log_sd")}
    with quiet():
        plain = remove_value_transforms(build_model(trial))
        laws = plain.logp(vars=[plain["sample_mean"], plain["sample_variance"]], sum=False)
        values = plain.compile_fn(laws, mode="FAST_COMPILE")(point)
    for name, exact in zip(("sample_mean", "sample_variance"), values, strict=True):
        assert np.allclose(ours[name].values[0, 0], exact, rtol=1e-10, atol=1e-10)


def test_arviz_computes_loo_and_finds_a_repetition_per_draw(fits):
    arviz, found = import_arviz(), fits("pooled")
    repeated = group(found, "posterior_predictive")
    assert repeated["sample_mean"].dims == ("chain", "draw", "cell")
    assert set(group(found, "observed_data").data_vars) == set(repeated.data_vars)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # k-hat above 0.7, which is ArviZ's to say
        loo = arviz.loo(found, var_name="sample_variance")
    (elpd,) = (getattr(loo, name) for name in ("elpd_loo", "elpd") if hasattr(loo, name))
    assert np.isfinite(elpd)


@pytest.mark.slow
def test_repetitions_scatter_as_mean_and_variance_of_a_sample_do(fits):
    # Divided by what the draw says: standard normal, and chi^2/(n-1). 18 cells, 5,000 draws.
    trial, found = load_trial("comcov2"), fits("separate")
    posterior, repeated = group(found, "posterior"), group(found, "posterior_predictive")
    mu, sigma = (posterior[name].values.reshape(-1, 18) for name in ("mu", "sigma"))
    n = trial.n.ravel()
    z = (repeated["sample_mean"].values.reshape(-1, 18) - mu) / (sigma / np.sqrt(n))
    u = repeated["sample_variance"].values.reshape(-1, 18) / sigma**2
    assert min(stats.kstest(z[:, c], "norm").pvalue for c in range(18)) > 1e-6
    chi2 = [stats.kstest(u[:, c] * (n[c] - 1), "chi2", (n[c] - 1,)).pvalue for c in range(18)]
    assert min(chi2) > 1e-6


# --- simulation-based calibration -----------------------------------------------------------------

TRIALS = 100


def calibrate(variances, monkeypatch, wrong=0):
    """Ranks of the truth among 99 draws, by parameter, in simulated trials of 3 arms.

    All in one model: endpoints are independent. In the last `wrong` of them sd stands where its
    square belongs.
    """
    rng = np.random.default_rng(11)
    shape = (3, TRIALS + wrong)
    mu = rng.normal(5, 2, shape)
    log_sigma = rng.normal(-1.0, 0.5, shape if variances == "separate" else shape[1])
    spread = rng.lognormal(math.log(0.15), 0.7, TRIALS + wrong)
    log_sd = np.broadcast_to(log_sigma, shape)
    if variances == "partial":
        log_sd = log_sd + spread * rng.standard_normal(shape)
    sigma = np.exp(log_sd)
    n = rng.integers(4, 60, shape)
    mean = rng.normal(mu, sigma / np.sqrt(n))
    sd = sigma * np.sqrt(rng.chisquare(n - 1) / (n - 1))
    sd[:, TRIALS:] = np.sqrt(sd[:, TRIALS:])
    nothing, D = np.full(shape, np.nan), shape[1]
    trial = TrialSummary(
        ("a", "b", "c"), tuple(f"e{d}" for d in range(D)), ("",) * D, ("normal",) * D,
        mean, sd, n.astype(float), mean, nothing, nothing,
    )  # fmt: skip
    known = DefaultPriors(np.full(D, 5.0), np.full(D, 2.0), np.full(D, -1.0), 0.5, 0.15, 0.7, 1.0)
    monkeypatch.setattr(DefaultPriors, "of", lambda trial, width=1.0: known)
    # r_hat over 800 parameters: some exceed 1.01 by chance with so few draws.
    found = fit(
        trial, variances, draws=250, tune=250, chains=2, cores=1, seed=5, accept_problems=True,
        retry=False,
    )  # fmt: skip
    posterior = group(found, "posterior")
    assert int(group(found, "sample_stats")["diverging"].sum()) == 0
    truth = {"mu": mu, "sigma": sigma, "log_sigma": log_sigma, "spread": spread}
    ranks = {}
    for name in truth if variances == "partial" else list(truth)[:3]:
        draws = posterior[name].values.reshape(-1, *truth[name].shape)
        thinned = draws[np.linspace(0, len(draws) - 1, 99).astype(int)]
        rank = (thinned < truth[name]).sum(axis=0)  # 0..99
        ranks[name] = rank if rank.ndim == 1 else rank[0]  # the arms of a trial share draws
    return ranks


def uniformity(ranks):
    """p-value of ten equal bins; 99 draws spaced 5 apart, so ranks are all but independent."""
    return stats.chisquare(np.bincount(ranks // 10, minlength=10)).pvalue


@pytest.mark.slow
@pytest.mark.parametrize("variances", VARIANCES)
def test_ranks_of_the_truth_are_uniform(variances, monkeypatch):
    # At most four p-values at 1e-5: a correct model fails once in 25,000 seeds.
    wrong = 40 if variances == "pooled" else 0
    found = calibrate(variances, monkeypatch, wrong)
    right = {name: uniformity(ranks[:TRIALS]) for name, ranks in found.items()}
    assert min(right.values()) > 1e-5, right
    if wrong:  # sd used as variance is found out
        assert uniformity(found["log_sigma"][TRIALS:]) < 1e-5


# --- coordinates ----------------------------------------------------------------------------------


def test_log_s_estimates_log_sigma_with_the_stated_precision():
    # Mean and variance of 200,000 log s: errors of 0.002 and 0.3%; five of them.
    rng = np.random.default_rng(2)
    for n in (2, 3, 10, 100):
        log_s = 0.5 * np.log(rng.chisquare(n - 1, 200_000) / (n - 1))
        estimate, precision = log_sd_estimate(np.exp(log_s), np.full(log_s.shape, float(n)))
        error = precision[0] ** -0.5
        assert abs(estimate.mean()) < 5 * error / 200_000**0.5
        assert estimate.std() == pytest.approx(error, rel=0.02)
    assert log_sd_estimate(np.array([np.nan]), np.array([9.0])) == (0.0, 0.0)


def test_coordinates_of_a_mean_are_standard_normal_whatever_sigma_is():
    # mu given sigma is conjugate, so the density in its coordinate falls by exactly z^2/2 a cell.
    trial = load_trial("comcov2")
    model = build_model(trial)
    with quiet():
        density = model.compile_logp(mode="FAST_COMPILE")
    start = model.initial_point()
    cells = start["mu_standardised__"].size
    for spread in (0.02, 0.5):
        for away in (-2.0, 0.0, 3.0):
            point = start | {
                "spread_log__": np.full(3, math.log(spread)),
                "log_sd_standardised__": np.full_like(start["log_sd_standardised__"], away),
            }
            at = [
                density(point | {"mu_standardised__": np.full((6, 3), z)}) for z in (0.0, 1.0, 2.0)
            ]
            assert at[0] - at[1] == pytest.approx(cells / 2, rel=1e-8)
            assert at[0] - at[2] == pytest.approx(cells * 2, rel=1e-8)
