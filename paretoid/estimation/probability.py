"""How likely each arm is to be optimal, given a fit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from paretoid.estimation.compat import group
from paretoid.estimation.draws import posterior_draws
from paretoid.estimation.margins import fold_margin, units_of
from paretoid.estimation.model import trial_of
from paretoid.text import MARGINS
from paretoid.theory.checks import BoolArray, FloatArray, as_epsilon, check_choice
from paretoid.theory.limits import Limit, Limits
from paretoid.theory.practical import practical_set

if TYPE_CHECKING:
    import xarray as xr


def pareto_probability(
    fit: Any,
    eps1: Any = 0.0,
    *,
    fold: float | None = None,
    margin_means: str = "any",
    limits: Mapping[str, Limit] | None = None,
) -> xr.Dataset:
    """P(arm in S*) and P(arm in S*_eps1) per arm, with Monte Carlo standard errors.

    `margin_means="all"`: in place of S*_eps1 the arms that are not practically dominated, with
    eps1 for their margin (`theory.practical_set`).

    With `limits`, as `ParetoSet` has them, `feasible` is the probability that an arm meets all of
    them, and the others are those of being among the optimal arms of those that do, by the
    endpoints that are compared.

    The error comes from the means of twenty batches per chain, which sees autocorrelation, and
    is never below that of independent draws with one success and one failure added: a share of
    0 or 1 is no certainty.

    >>> from paretoid.estimation import fit, load_trial
    >>> trial = load_trial("covboost-groupB")
    >>> posterior = fit(trial, "pooled", chains=2, cores=1)
    >>> probability = pareto_probability(posterior, fold=1.5)
    >>> [str(arm) for arm in probability.arm[probability.optimal.values > 0.9].values]
    ['BNT/BNT + BNT']
    >>> bool((probability.near_optimal >= probability.optimal).all())    # a margin only adds arms
    True
    """
    import xarray as xr

    check_choice(margin_means, tuple(MARGINS), name="margin_means", why="see PracticalSet.")
    if limits and margin_means == "all":
        raise ValueError("limits have nothing to say about practical domination. Leave them out.")
    trial = trial_of(fit)
    if fold is not None:
        if np.any(np.asarray(eps1) != 0):
            raise ValueError("pass eps1= or fold=, not both: each sets the margin.")
        eps1 = fold_margin(trial, fold)
    sign = np.array([-1.0 if e in trial.minimize else 1.0 for e in trial.endpoints])
    means = posterior_draws(fit)[0] * sign
    S, K, D = means.shape
    epsilon = as_epsilon(eps1, D)
    feasible, compared = np.ones((S, K), dtype=np.bool_), np.ones(D, dtype=np.bool_)
    events: dict[str, BoolArray] = {}
    if limits:
        bounds = Limits(limits).bound(trial.endpoints, sign)
        compared = bounds.compared
        feasible = (bounds.lead(means.reshape(S * K, D)) >= 0).all(axis=1).reshape(S, K)
        events["feasible"] = feasible
    for name, slack in (("optimal", np.zeros_like(epsilon)), ("near_optimal", epsilon)):
        rivals = np.where(feasible[:, :, None], means, -np.inf)[:, :, compared]
        events[name] = feasible & _in_pareto_set(rivals, slack[compared])
    if margin_means == "all":
        events["near_optimal"] = np.array([practical_set(draw, epsilon) for draw in means])
    chains = group(fit, "posterior").sizes["chain"]
    shares: dict[str, Any] = {}
    for name, inside in events.items():
        shares[name] = ("arm", inside.mean(axis=0))
        shares[f"{name}_error"] = ("arm", _share_error(inside, chains))
    return xr.Dataset(
        shares,
        coords={"arm": list(trial.arms)},
        attrs={
            "eps1": np.where(compared, epsilon, 0.0),
            "margin_means": margin_means,
            "draws": len(means),
            "assumptions": " ".join(trial.assumptions),
            "units": units_of(trial).to_json(),
            "compared": [name for name, d in zip(trial.endpoints, compared, strict=True) if d],
            **({"limits": repr(dict(limits))} if limits else {}),
        },
    )


def _in_pareto_set(means: FloatArray, eps: FloatArray) -> BoolArray:
    """(S, K) `theory.pareto_set` of every draw at once: nobody strictly above mu_i + eps."""
    S, K, _ = means.shape
    inside = np.ones((S, K), dtype=bool)
    for i in range(K):
        above = np.all(means > means[:, i : i + 1] + eps, axis=2)
        inside[:, i] = ~np.any(above, axis=1)
    return inside


def _share_error(inside: BoolArray, chains: int) -> FloatArray:
    S, K = inside.shape
    size = max(S // chains // 20, 1)
    batches = inside.reshape(chains, -1, K)[:, : (S // chains // size) * size]
    means = batches.reshape(-1, size, K).mean(axis=1)
    smoothed = (inside.sum(axis=0) + 1) / (S + 2)
    batched = means.var(axis=0, ddof=1) / len(means)
    return np.asarray(np.sqrt(np.maximum(batched, smoothed * (1 - smoothed) / S)))
