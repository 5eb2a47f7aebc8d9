"""What the width of the priors does to the answer: the same data under tighter and wider ones.

No new sampling where it can be helped: draws are weighted by the ratio of the two priors,
Pareto-smoothed, and drawn again by weight. Endpoints are independent a posteriori, so each is
weighted by its own prior ratio alone, which keeps the weights even. Where they are not even
enough, the model is fitted again.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from paretoid.estimation.again import trials_of
from paretoid.estimation.compat import add_groups, annotate, group, pareto_smoothed
from paretoid.estimation.margins import units_of
from paretoid.estimation.model import trial_of
from paretoid.estimation.predictive import log_likelihood, replicate
from paretoid.estimation.priors import DefaultPriors, check_width
from paretoid.estimation.probability import pareto_probability
from paretoid.estimation.sampling import fit as sample
from paretoid.intervals import quantile_interval
from paretoid.theory.checks import FloatArray
from paretoid.theory.limits import Limit

if TYPE_CHECKING:
    import xarray as xr

#: how many times as wide as in the fit the priors are, by name
WIDTHS = {"tighter": 0.5, "wider": 2.0}

#: Pareto k-hat above which weights are not to be trusted, as in `arviz.loo`
_LARGEST_K = 0.7

#: share of trials that must have stopped by N
ASSURANCE = 0.9

_BLOCKS = ("endpoint", "estimated_endpoint", "binary_endpoint")


def under_priors(
    fit: Any,
    widths: Mapping[str, float] | None = None,
    *,
    cores: int | None = None,
) -> dict[str, Any]:
    """The fit as it is ("as fitted"), and what it would be under other priors, by name.

    widths  how many times as wide as in the fit the priors are (see `build_model`); default
            0.5, called "tighter", and 2, called "wider"
    cores   for a fit that has to be made again

    Each is a fit that `plan`, `pareto_probability` and the plots take. Draws are reweighted by
    the ratio of the priors, with Pareto smoothing; where k-hat exceeds 0.7 or fewer than 100
    effective draws per chain remain, the model is sampled again. The attribute
    `paretoid_method` says which.

    >>> from paretoid.estimation import fit, load_trial
    >>> posterior = fit(load_trial("covboost-groupB"), "pooled", chains=2, cores=1)
    >>> posteriors = under_priors(posterior)
    >>> for name, other in posteriors.items():
    ...     print(name, other["posterior"].attrs["paretoid_prior_width"])
    tighter 0.5
    as fitted 1.0
    wider 2.0
    >>> posteriors["wider"]["posterior"].attrs["paretoid_method"]
    'reweighted'
    """
    chosen = {name: check_width(width) for name, width in (widths or WIDTHS).items()}
    attributes = _check(fit)
    now = float(attributes.get("paretoid_prior_width", 1.0))
    others = {name: _under(fit, now, now * width, cores) for name, width in chosen.items()}
    order = sorted([*chosen.items(), ("as fitted", 1.0)], key=lambda item: item[1])
    return {name: others.get(name, fit) for name, _ in order}


def sensitivity(
    fit: Any,
    eps1: Any = 0.0,
    *,
    fold: float | None = None,
    margin_means: str = "any",
    limits: Mapping[str, Limit] | None = None,
    widths: Mapping[str, float] | None = None,
    planned: xr.Dataset | None = None,
    cores: int | None = None,
) -> xr.Dataset:
    """Which arms are optimal, and how surely, under tighter and wider priors beside the fit's own.

    Dims prior, arm: optimal and near_optimal as in `pareto_probability`, and `answer`, the arms
    that are optimal with probability 1/2 or more. Per arm `changes`: it is in the answer under
    some of the priors only. Per prior how it was computed: width, method ("as fitted",
    "reweighted" or "refitted"), k_hat of the weights and effective_draws, each the worst of the
    endpoints.

    With `planned`, a plan made from this fit, also per prior and goal: samples_needed, the N for
    90% assurance of the same design, with the 95% interval of simulation error, _lower and
    _upper. Trials are simulated again on as many draws as the plan has.

    >>> from paretoid.estimation import fit, load_trial
    >>> posterior = fit(load_trial("covboost-groupB"), "pooled", chains=2, cores=1)
    >>> priors = sensitivity(posterior)
    >>> [str(name) for name in priors.prior.values]
    ['tighter', 'as fitted', 'wider']
    >>> [str(arm) for arm in priors.arm[priors.answer.sel(prior="wider").values].values]
    ['BNT/BNT + BNT', 'BNT/BNT + Ad26']
    >>> bool(priors.changes.any())    # the data outweigh any of the three
    False
    """
    import xarray as xr

    posteriors = under_priors(fit, widths, cores=cores)
    shares = [
        pareto_probability(other, eps1, fold=fold, margin_means=margin_means, limits=limits)
        for other in posteriors.values()
    ]
    names = xr.DataArray(list(posteriors), dims="prior", name="prior")
    result = xr.concat(
        [share[["optimal", "near_optimal"]] for share in shares], names, combine_attrs="override"
    )
    result["answer"] = result["optimal"] >= 0.5
    result["changes"] = result["answer"].any("prior") & ~result["answer"].all("prior")
    attributes = [group(other, "posterior").attrs for other in posteriors.values()]
    for name, default in (("prior_width", 1.0), ("method", "as fitted"), ("k_hat", math.nan)):
        values = [said.get(f"paretoid_{name}", default) for said in attributes]
        result[name] = ("prior", values)
    draws = shares[0].attrs["draws"]
    result["effective_draws"] = (
        "prior", [float(said.get("paretoid_effective_draws", draws)) for said in attributes]
    )  # fmt: skip
    if planned is not None:
        result = result.assign_coords(goal=planned["goal"].values).assign(
            _simulated(posteriors, planned)
        )
        result.attrs["max_samples"] = planned.attrs["max_samples"]
        result.attrs["plan_draws"] = planned.sizes["draw"]
        result.attrs["units"] = units_of(trial_of(fit)).to_json()
    return result


def _simulated(posteriors: Mapping[str, Any], planned: xr.Dataset) -> dict[str, Any]:
    """(prior, goal) N for 90% assurance with its interval, under the design of a plan."""
    from paretoid import simulate

    rows = []
    for name, posterior in posteriors.items():
        if name == "as fitted":
            runs = planned.transpose("goal", "draw", ...)
        else:
            again = trials_of(planned, posteriors["as fitted"], posterior)
            runs = simulate(**again, max_samples=int(planned.attrs["max_samples"]))
            runs = runs.isel(replication=0).transpose("goal", "instance", ...)
        times = np.where(runs["stopped"].values, runs["stopping_time"].values, np.inf)
        rows.append([quantile_interval(of_goal, ASSURANCE) for of_goal in times])
    table = np.array(rows)  # (prior, goal, 3)
    names = ("samples_needed", "samples_needed_lower", "samples_needed_upper")
    return {name: (("prior", "goal"), table[:, :, at]) for at, name in enumerate(names)}


def _check(fit: Any) -> Mapping[str, Any]:
    trial, posterior = trial_of(fit), group(fit, "posterior")
    if posterior.attrs["paretoid_priors"] != "default":
        raise ValueError(
            "this fit has priors of the user's own, so there is nothing to say how wide they are. "
            "Fit again with other priors= and compare."
        )
    measured = any(scale != "binary" for scale in trial.scales)
    estimated = set(trial.endpoints) - set(trial.assumed_variance)
    if measured and estimated and "log_sigma" not in posterior:
        raise ValueError(
            "this fit holds no draws of log_sigma, so other priors cannot be tried on it. Make it "
            "with paretoid.estimation.fit."
        )
    return posterior.attrs


def _under(fit: Any, now: float, width: float, cores: int | None) -> Any:
    """The fit with priors `width` times the default, from one with priors `now` times it."""
    trial, posterior = trial_of(fit), group(fit, "posterior")
    old, new = DefaultPriors.of(trial, now), DefaultPriors.of(trial, width)
    weights, k_hats = {}, []
    for endpoint in trial.endpoints:
        ratio = new.log_density(posterior, endpoint) - old.log_density(posterior, endpoint)
        weights[endpoint], k_hat = pareto_smoothed(ratio.ravel())
        k_hats.append(k_hat)
    effective = min(1 / float((weight**2).sum()) for weight in weights.values())
    said = {"paretoid_k_hat": max(k_hats), "paretoid_effective_draws": effective}
    if max(k_hats) > _LARGEST_K or effective < 100 * posterior.sizes["chain"]:
        return _refit(fit, width, cores)
    resampled = _resample(posterior, weights)
    resampled.attrs = posterior.attrs | {
        "paretoid_prior_width": width, "paretoid_method": "reweighted", **said,
    }  # fmt: skip
    result = copy.deepcopy(fit)
    seed = int(posterior.attrs.get("paretoid_seed", 1))
    add_groups(
        result, posterior=resampled, posterior_predictive=replicate(trial, resampled, seed),
        log_likelihood=log_likelihood(trial, resampled),
    )  # fmt: skip
    return result


def _refit(fit: Any, width: float, cores: int | None) -> Any:
    posterior = group(fit, "posterior")
    said = posterior.attrs
    result = sample(
        trial_of(fit), said["paretoid_variances"], prior_width=width,
        draws=posterior.sizes["draw"], chains=posterior.sizes["chain"], cores=cores,
        tune=int(said.get("paretoid_tune", 500)), seed=int(said.get("paretoid_seed", 1)),
        target_accept=float(said.get("paretoid_target_accept", 0.9)),
        sampler=said.get("paretoid_sampler", "pymc"),
    )  # fmt: skip
    annotate(result, {"paretoid_method": "refitted"})
    return result


def _resample(posterior: xr.Dataset, weights: Mapping[str, FloatArray]) -> xr.Dataset:
    """Every endpoint's draws taken as often as their weight says, in order, the rest left out.

    Systematic: draw i is the one in which the cumulated weight passes (i + 1/2)/S, so even
    weights change nothing and no random number is needed.
    """
    chains, draws = posterior.sizes["chain"], posterior.sizes["draw"]
    S = chains * draws
    taken = {
        name: np.minimum(np.searchsorted(np.cumsum(w), (np.arange(S) + 0.5) / S), S - 1)
        for name, w in weights.items()
    }
    result = posterior.copy(deep=True)
    for name, variable in result.data_vars.items():
        block = next((dim for dim in _BLOCKS if dim in variable.dims), None)
        if block is None:
            continue
        moved = variable.transpose("chain", "draw", block, ...)
        values = moved.values.reshape(S, *moved.shape[2:]).copy()
        for q, endpoint in enumerate(posterior[block].values):
            values[:, q] = values[taken[str(endpoint)], q]
        again = moved.copy(data=values.reshape(moved.shape))
        result[name] = again.transpose(*variable.dims)
    return result
