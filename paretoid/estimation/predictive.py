"""What a repetition of the trial would report, and how likely what was reported is.

Given mu, sigma and probability, the published numbers follow laws that SciPy has, so nothing is
compiled for them: sample means are Normal, sample variances Gamma, events Binomial, as in
`paretoid.estimation.build_model`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from paretoid.estimation.compat import group, import_pymc, quiet
from paretoid.estimation.model import Cells, Prior, build_model, trial_of
from paretoid.estimation.summary import TrialSummary
from paretoid.intervals import t_quantile
from paretoid.theory.checks import check_count

if TYPE_CHECKING:
    import xarray as xr


def replicate(trial: TrialSummary, posterior: xr.Dataset, seed: int) -> xr.Dataset:
    """One repetition of the trial per draw: sample_mean, sample_variance and events."""
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(1,)))
    laws = _laws(trial, posterior)
    return _dataset(
        trial,
        posterior,
        {name: (dims, law.rvs(random_state=rng)) for name, (dims, law, _) in laws.items()},
    )


def log_likelihood(trial: TrialSummary, posterior: xr.Dataset) -> xr.Dataset:
    """Log density of every published number at every draw, for `arviz.loo` and the like.

    A sample mean has a mu of its own, so leaving it out leaves its mu to the prior: expect large
    Pareto k for sample_mean.
    """
    densities = {}
    for name, (dims, law, seen) in _laws(trial, posterior).items():
        densities[name] = (dims, law.logpmf(seen) if name == "events" else law.logpdf(seen))
    return _dataset(trial, posterior, densities)


def _laws(
    trial: TrialSummary, posterior: xr.Dataset
) -> dict[str, tuple[tuple[str, ...], Any, Any]]:
    """Per published number: its dims, its distribution at every draw, what was reported."""
    from scipy.stats import binom, gamma, norm

    cells = Cells(trial)
    laws: dict[str, tuple[tuple[str, ...], Any, Any]] = {}
    both = (posterior.sizes["chain"], posterior.sizes["draw"])
    if cells.measured:
        mu = posterior["mu"].values.reshape(*both, -1)
        sigma = posterior["sigma"].values.reshape(*both, -1)
        n = cells.counts.ravel()
        laws["sample_mean"] = (("cell",), norm(mu, sigma / np.sqrt(n)), cells.mean.ravel())
    if len(cells.spread):
        half = (n[cells.spread] - 1) / 2
        law = gamma(half, scale=sigma[..., cells.spread] ** 2 / half)
        seen = cells.sd.ravel()[cells.spread] ** 2
        laws["sample_variance"] = (("cell_with_interval",), law, seen)
    if cells.binary:
        law = binom(cells.trials, posterior["probability"].values)
        laws["events"] = (("arm", "binary_endpoint"), law, cells.events)
    return laws


def _dataset(
    trial: TrialSummary,
    posterior: xr.Dataset,
    numbers: Mapping[str, tuple[tuple[str, ...], Any]],
) -> xr.Dataset:
    import xarray as xr

    coords = Cells(trial).coords
    used = {dim for dims, _ in numbers.values() for dim in dims}
    return xr.Dataset(
        {name: (("chain", "draw", *dims), values) for name, (dims, values) in numbers.items()},
        coords={
            "chain": posterior["chain"], "draw": posterior["draw"],
            **{dim: names for dim, names in coords.items() if dim in used},
        },
    )  # fmt: skip


def prior_check(
    trial: TrialSummary,
    variances: str = "partial",
    *,
    priors: Mapping[str, Prior] | None = None,
    prior_width: float = 1.0,
    draws: int = 500,
    seed: int = 1,
) -> xr.Dataset:
    """What the model expects a paper to report before seeing it, beside what was reported.

    The result is laid out as that of `posterior_check`. A prior that had to be surprised by the
    published numbers would show tail probabilities at 0 or 1:

    >>> from paretoid.estimation import load_trial
    >>> check = prior_check(load_trial("covboost-groupB"), draws=200)
    >>> bool(check.tail_probability.min() > 0) and bool(check.tail_probability.max() < 1)
    True
    """
    check_count(draws, name="draws", why="quantiles need draws.")
    pm = import_pymc()
    with quiet(), build_model(trial, variances, priors=priors, prior_width=prior_width):
        drawn = pm.sample_prior_predictive(draws, random_seed=seed)
    return _check(trial, group(drawn, "prior_predictive"))


def posterior_check(fit: Any, *, seed: int = 1) -> xr.Dataset:
    """Does the fitted model reproduce the published means and intervals?

    Dims arm, endpoint, statistic (mean, lower, upper), in the endpoint's unit: `reported`, the
    5%, 50% and 95% quantiles `expected` of what a repetition of the trial would report, and
    `tail_probability`, the share of repetitions at or below the reported value: near 0 or 1 the
    model does not reproduce that number. NaN where nothing was reported.

    >>> from paretoid.estimation import fit, load_trial
    >>> posterior = fit(load_trial("covboost-groupB"), "pooled", chains=2, cores=1)
    >>> means = posterior_check(posterior).tail_probability.sel(statistic="mean")
    >>> bool((abs(means - 0.5) < 0.2).all())    # every published mean is quite expected
    True
    """
    trial = trial_of(fit)
    return _check(trial, replicate(trial, group(fit, "posterior"), seed))


def _check(trial: TrialSummary, drawn: xr.Dataset) -> xr.Dataset:
    """Replicated means and variances turned into replicated intervals, beside the published."""
    import xarray as xr

    cells = Cells(trial)
    K, D = trial.mean.shape
    S = drawn.sizes["chain"] * drawn.sizes["draw"]
    replicated = np.full((S, K, D, 3), np.nan)
    reported = np.stack([trial.reported, trial.lower, trial.upper], axis=-1)
    m = cells.measured
    if m:
        mean = drawn["sample_mean"].values.reshape(S, K, len(m))
        half = np.full((S, K * len(m)), np.nan)
        if len(cells.spread):
            n = trial.counts[:, m].ravel()[cells.spread]
            s2 = drawn["sample_variance"].values.reshape(S, -1)
            half[:, cells.spread] = t_quantile(n, trial.level) * np.sqrt(s2 / n)
        half = half.reshape(mean.shape)
        for side, value in enumerate((mean, mean - half, mean + half)):
            log = np.array([trial.scales[d] == "log-normal" for d in m])
            replicated[:, :, m, side] = np.where(log, np.exp(np.where(log, value, 0.0)), value)
    if cells.binary:
        events = drawn["events"].values.reshape(S, K, -1)
        replicated[:, :, cells.binary, 0] = events / trial.n[:, cells.binary]
    share = (replicated <= reported).mean(axis=0)
    nothing = np.isnan(reported) | np.isnan(replicated).all(axis=0)
    dims = ("arm", "endpoint", "statistic")
    expected = np.full((3, K, D, 3), np.nan)
    expected[:, ~nothing] = np.quantile(replicated[:, ~nothing], [0.05, 0.5, 0.95], axis=0)
    return xr.Dataset(
        {
            "reported": (dims, reported),
            "expected": (("quantile", *dims), expected),
            "tail_probability": (dims, np.where(nothing, np.nan, share)),
        },
        coords={
            "arm": list(trial.arms), "endpoint": list(trial.endpoints),
            "statistic": ["mean", "lower", "upper"], "quantile": [0.05, 0.5, 0.95],
            "unit": ("endpoint", list(trial.units)),
        },
        attrs={"level": trial.level, "assumptions": " ".join(trial.assumptions)},
    )  # fmt: skip
