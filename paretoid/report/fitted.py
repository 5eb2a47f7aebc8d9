"""What a fit says: its means beside the published ones, and its methods in sentences."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from paretoid.estimation.compat import group
from paretoid.estimation.diagnostics import diagnose
from paretoid.estimation.draws import posterior_draws
from paretoid.estimation.model import trial_of
from paretoid.estimation.sampling import attempts
from paretoid.intervals import credible_interval
from paretoid.report.page import Cell, TableBlock
from paretoid.report.plan_sentences import sources_words
from paretoid.text import interval, measure, objective

if TYPE_CHECKING:
    import xarray as xr

    from paretoid.estimation.summary import TrialSummary


def means_table(fit: Any) -> TableBlock:
    """Published and fitted means of every arm and endpoint, in its unit, with intervals."""
    trial = trial_of(fit)
    draws, _ = posterior_draws(fit)
    middle, low, high = credible_interval(draws)
    rows = []
    for i, arm in enumerate(trial.arms):
        cells = []
        for d, scale in enumerate(trial.scales):
            natural = np.exp if scale == "log-normal" else float
            value, least, most = (float(natural(x[i, d])) for x in (middle, low, high))
            reported = float(trial.reported[i, d])
            published = interval(trial.lower[i, d], trial.upper[i, d])
            cells.append(Cell(measure(reported), "" if published == "-" else published, reported))
            cells.append(Cell(measure(value), interval(least, most), value))
        rows.append([Cell(arm), *cells])
    heads = ["arm"]
    for endpoint, unit in zip(trial.endpoints, trial.units, strict=True):
        named = objective(endpoint, endpoint in trial.minimize, unit=unit)
        heads += [f"{named}: published", f"{named}: fitted"]
    return TableBlock(
        "Means per arm and endpoint", heads, rows,
        f"Published means with their {trial.level:.0%} intervals where reported (geometric means "
        "for log-normal endpoints); fitted: posterior medians with 95% credible intervals.",
    )  # fmt: skip


def fit_methods(fit: Any) -> list[str]:
    """Data, model with its priors, and computation: a paragraph each."""
    trial, posterior = trial_of(fit), group(fit, "posterior")
    return [_data(trial), _model(posterior, trial), _sampling(fit, posterior)]


def fit_call(posterior: xr.Dataset) -> str:
    """The call that made a fit; empty for a fit of a version that did not keep its settings."""
    said = posterior.attrs
    if "paretoid_seed" not in said:
        return ""
    priors = "" if said["paretoid_priors"] == "default" else "priors=..., "
    others = ""
    if said.get("paretoid_sampler", "pymc") != "pymc":
        others += f", sampler={said['paretoid_sampler']!r}"
    if said["paretoid_problems"]:
        others += ", accept_problems=True"
    priors += "" if _width(posterior) == 1 else f"prior_width={_width(posterior)!r}, "
    return (
        f"estimation.fit(trial, {said['paretoid_variances']!r}, {priors}"
        f"draws={posterior.sizes['draw']}, tune={int(said['paretoid_tune'])}, "
        f"chains={posterior.sizes['chain']}, seed={said['paretoid_seed']}, "
        f"target_accept={float(said['paretoid_target_accept'])!r}{others})"
    )


def _data(trial: TrialSummary) -> str:
    source = f" from {trial.citation.rstrip('.')}" if trial.citation else ""
    cited = sources_words(trial)
    kinds = ", ".join(f"{e} ({s})" for e, s in zip(trial.endpoints, trial.scales, strict=True))
    known = int(trial.known_spread.sum())
    told = (
        f"Data: published summaries{source}, {len(trial.arms)} arms by {len(trial.endpoints)} "
        f"endpoints: {kinds}. {known} of {trial.mean.size} cells report both a sample size and a "
        f"spread."
    )
    return " ".join(filter(None, [told, cited, *trial.assumptions, *trial.readings]))


def _model(posterior: xr.Dataset, trial: TrialSummary) -> str:
    said = ""
    if any(s != "binary" for s in trial.scales):
        said += (
            "Model: on the working scale (the logarithm, for log-normal endpoints) the sample mean "
            "of arm i and endpoint d is Normal(mu, sigma²/n) and its sample variance s² follows "
            "(n - 1)s²/sigma² ~ chi² with n - 1 degrees of freedom, independently, which is exact "
            "for Gaussian outcomes. Endpoints are taken as independent given their parameters: "
            "published summaries hold no correlations. "
        )
        said += {
            "pooled": "One sigma per endpoint serves all arms. ",
            "partial": "Arms share information on sigma: the log sigma of every arm is "
            "Normal(log_sigma, spread), per endpoint. ",
            "separate": "Every arm and endpoint has a sigma of its own. ",
        }[posterior.attrs["paretoid_variances"]]
    if "binary" in trial.scales:
        said += "Binary endpoints: events ~ Binomial(n, probability). "
    if posterior.attrs["paretoid_priors"] != "default":
        return said + "Priors: supplied by the user; they are not described here."
    priors = []
    if "log-normal" in trial.scales:
        priors.append(
            "log-normal endpoints: mu ~ Normal(average of the reported log means, log 10), "
            "log_sigma ~ Normal(0, 1)"
        )
    if "normal" in trial.scales:
        priors.append(
            "normal endpoints: mu ~ Normal(average of the reported means, 10 sd), log_sigma ~ "
            "Normal(log of the reported sd, 1)"
        )
    if posterior.attrs["paretoid_variances"] == "partial" and set(trial.scales) != {"binary"}:
        priors.append("spread ~ LogNormal(log 0.15, 0.7)")
    if "binary" in trial.scales:
        priors.append("probability ~ Uniform(0, 1)")
    times = _width(posterior)
    wider = "" if times == 1 else f", all of them made {times:g} times as wide (prior_width)"
    return said + f"Priors, weakly informative: {'; '.join(priors)}{wider}."


def _width(posterior: xr.Dataset) -> float:
    """How many times as wide as the default the priors are."""
    return float(posterior.attrs.get("paretoid_prior_width", 1.0))


def _sampling(fit: Any, posterior: xr.Dataset) -> str:
    said, fared = posterior.attrs, diagnose(fit)
    how = "after tuning"
    if "paretoid_seed" in said:
        how = (
            f"after {int(said['paretoid_tune']):,} of tuning, target acceptance "
            f"{float(said['paretoid_target_accept']):g}, seed {said['paretoid_seed']}, sampler "
            f"{said['paretoid_sampler']}"
        )
    for first, second in pairwise(attempts(fit)):  # none, or one
        how += (
            f". That first attempt had problems ({'; '.join(first.problems)}), so the draws are "
            f"those of a second: {second.tune:,} of tuning, target acceptance "
            f"{second.target_accept:g}, every {second.every}th draw kept"
        )
    return (
        f"Computation: Hamiltonian Monte Carlo (NUTS, PyMC), {posterior.sizes['chain']} chains of "
        f"{posterior.sizes['draw']:,} draws {how}; largest split R-hat "
        f"{fared.r_hat:.4f}, smallest bulk effective sample size {fared.ess:,.0f}, "
        f"{fared.divergences} divergent transitions."
    )
