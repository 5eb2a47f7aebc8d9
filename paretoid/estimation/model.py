r"""The Bayesian model behind published summaries.

For arm i, endpoint d, on the endpoint's working scale (log for log-normal outcomes):

.. math::
    \bar x_{id} \sim N(\mu_{id}, \sigma_{id}^2/n_{id}), \qquad
    (n_{id}-1) s_{id}^2/\sigma_{id}^2 \sim \chi^2_{n_{id}-1}

which is exact for Gaussian outcomes: mean and variance of a sample are independent.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from paretoid.estimation.compat import group, import_pymc, quiet
from paretoid.estimation.priors import DefaultPriors
from paretoid.estimation.summary import TrialSummary
from paretoid.theory.checks import FloatArray, WrongTypeError, check_choice

if TYPE_CHECKING:
    import pymc as pm

VARIANCES = ("pooled", "partial", "separate")
PRIORS = ("mu", "log_sigma", "spread", "probability")
_WHY_VARIANCES = (
    "'pooled' is one sd per endpoint, 'partial' lets arms differ a little, 'separate' keeps every "
    "cell to itself."
)

#: a user's prior: called inside the model with the variable's name and dims, returns the variable
Prior = Callable[[str, tuple[str, ...]], Any]


def build_model(
    trial: TrialSummary,
    variances: str = "partial",
    *,
    priors: Mapping[str, Prior] | None = None,
    prior_width: float = 1.0,
) -> pm.Model:
    r"""The model of a trial summary, with dims arm, endpoint and cell.

    mu (arm, endpoint)      true mean on the working scale
        log-normal: Normal(mean of the reported log means, log 10): most arms within tenfold of
        the typical one, nearly all within a hundredfold
        normal: Normal(mean of the reported means, 10 sd), sd the larger of the reported sd and
        the spread of the reported means
    log_sigma (endpoint; arm, endpoint if separate)    log of the typical standard deviation
        log-normal: Normal(0, 1): outcomes of one arm vary by a factor e, give or take
        normal: Normal(log of the reported sd, 1)
    spread (endpoint)       how much the arms' log sd differ; partial only
        LogNormal(log 0.15, 0.7): by 15%, between 4% and 60%. Never 0: few arms say little
        about it, and `pooled` is there for equal variances.
    log_sd (arm, endpoint)  log of the arm's own standard deviation; partial only
        Normal(log_sigma, spread)
    probability (arm, binary_endpoint)     Beta(1, 1), with Binomial events
    sigma (arm, endpoint)   what the above amounts to

    NUTS walks in coordinates in which that is round, see `paretoid.estimation.coordinates`.

    A cell without n or interval contributes its mean alone: through the endpoint's one sigma
    under `pooled`, through what the other arms say about it under `partial`. `separate` has
    nothing to say about such a cell and refuses. An endpoint with an assumed variance has it
    fixed.

    `priors` maps mu, log_sigma, spread or probability to a function of (name, dims) that makes
    the variable, for instance `lambda name, dims: pm.Flat(name, dims=dims)`; it is sampled in
    coordinates of its own. The others are `prior_width` times as wide as stated above: 2 doubles
    the sd of mu and log_sigma and the median of spread, and makes Beta(1/2, 1/2).

    >>> from paretoid.estimation import load_trial
    >>> model = build_model(load_trial("covboost-groupB"), "pooled")
    >>> sorted(variable.name for variable in model.free_RVs)
    ['log_sigma', 'mu']
    >>> [name for name in model.coords if len(model.coords[name]) == 8]    # eight arms
    ['arm']
    """
    _check_trial(trial)
    check_choice(variances, VARIANCES, name="variances", why=_WHY_VARIANCES)
    pm = import_pymc()
    cells = Cells(trial)
    make = _check_priors(priors)
    refuse_unidentified(trial, variances)
    default = DefaultPriors.of(trial, prior_width)
    with quiet(), pm.Model(coords=cells.coords) as model:
        if cells.measured:
            _measured(pm, cells, variances, make, default)
        if cells.binary:
            _binary(pm, cells, make, default)
    return model


class Cells:
    """Which cells take part in what, their numbers, and the coordinates that name them.

    measured, binary    endpoints of the trial, by position
    fixed, free         measured endpoints, by position among them: variance assumed, estimated
    mean, counts, sd    (arm, measured endpoint); sd is NaN where it says nothing
    log_assumed         (measured endpoint) log of the assumed sd, 0 where it is estimated
    spread              flat positions of the cells whose sd is known
    events, trials      (arm, binary endpoint)
    """

    def __init__(self, trial: TrialSummary) -> None:
        self.measured = [d for d, s in enumerate(trial.scales) if s != "binary"]
        self.binary = [d for d, s in enumerate(trial.scales) if s == "binary"]
        m = self.measured
        # An endpoint with an assumed variance takes nothing from its own intervals.
        self.fixed = [q for q, d in enumerate(m) if trial.endpoints[d] in trial.assumed_variance]
        self.free = [q for q in range(len(m)) if q not in self.fixed]
        known = trial.known_spread[:, m].copy()
        known[:, self.fixed] = False
        self.spread = np.flatnonzero(known.ravel())
        self.mean, self.counts = trial.mean[:, m], trial.counts[:, m]
        self.sd = np.where(known, trial.sd[:, m], np.nan)
        self.log_assumed = np.zeros(len(m))
        for q in self.fixed:
            variance = trial.assumed_variance[trial.endpoints[m[q]]]
            self.log_assumed[q] = 0.5 * math.log(variance)
        self.trials = trial.n[:, self.binary].astype(np.int64)
        self.events = np.rint(trial.mean[:, self.binary] * self.trials).astype(np.int64)
        self.coords: dict[str, Any] = {"arm": list(trial.arms)}
        if m:
            names = [f"{a} | {trial.endpoints[d]}" for a in trial.arms for d in m]
            self.coords |= {
                "endpoint": [trial.endpoints[d] for d in m],
                "estimated_endpoint": [trial.endpoints[m[q]] for q in self.free],
                "cell": names,
                "cell_with_interval": [names[c] for c in self.spread],
            }
        if self.binary:
            self.coords["binary_endpoint"] = [trial.endpoints[d] for d in self.binary]

    @cached_property
    def log_sd_estimate(self) -> tuple[FloatArray, FloatArray]:
        """(arm, free) estimate of log sd from the cell alone, and its precision."""
        from paretoid.estimation.coordinates import log_sd_estimate

        return log_sd_estimate(self.sd[:, self.free], self.counts[:, self.free])


def _measured(
    pm: Any, cells: Cells, variances: str, make: Mapping[str, Prior], priors: DefaultPriors
) -> None:
    both = ("arm", "endpoint")
    log_sigma: Any = np.broadcast_to(cells.log_assumed, cells.mean.shape)
    if cells.free:
        estimated = _log_sd(pm, cells, variances, make, priors)
        columns = list(log_sigma.T)
        for at, q in enumerate(cells.free):
            columns[q] = estimated[:, at]
        log_sigma = pm.math.stack(columns, axis=1) if cells.fixed else estimated
    sigma = pm.Deterministic("sigma", pm.math.exp(log_sigma), dims=both)
    mu = make["mu"]("mu", both) if "mu" in make else _normal_told_sigma(pm, cells, priors, sigma)
    flat, counts = sigma.ravel(), cells.counts.ravel()
    pm.Normal(
        "sample_mean", mu.ravel(), flat / np.sqrt(counts), observed=cells.mean.ravel(), dims="cell"
    )
    if len(cells.spread):
        # (n-1) s^2/sigma^2 ~ chi^2_{n-1} is s^2 ~ Gamma((n-1)/2, rate (n-1)/(2 sigma^2))
        half = (counts[cells.spread] - 1) / 2
        pm.Gamma(
            "sample_variance", alpha=half, beta=half / flat[cells.spread] ** 2,
            observed=cells.sd.ravel()[cells.spread] ** 2, dims="cell_with_interval",
        )  # fmt: skip


def _log_sd(
    pm: Any, cells: Cells, variances: str, make: Mapping[str, Prior], priors: DefaultPriors
) -> Any:
    """(arm, estimated endpoint) log sd of every arm, with the variables behind it."""
    from paretoid.estimation.coordinates import fixed, log_sd_given_others

    cell, one = ("arm", "estimated_endpoint"), ("estimated_endpoint",)
    typical, width = priors.typical[cells.free], priors.log_sigma_width
    estimate, precision = cells.log_sd_estimate
    apart = log_sd_given_others(estimate, precision)
    if variances == "separate":
        if "log_sigma" in make:
            return make["log_sigma"]("log_sigma", cell)
        return pm.Normal("log_sigma", typical, width, dims=cell, default_transform=apart)
    if "log_sigma" in make:
        log_sigma = make["log_sigma"]("log_sigma", one)
    else:
        about = fixed(*_typical_log_sd(cells, variances, priors))
        log_sigma = pm.Normal("log_sigma", typical, width, dims=one, default_transform=about)
    if variances == "pooled":
        return log_sigma[None, :] + np.zeros((len(estimate), 1))
    if "spread" in make:
        spread = make["spread"]("spread", one)
    else:
        log_median = math.log(priors.spread_median)
        spread = pm.LogNormal("spread", log_median, priors.spread_width, dims=one)
    return pm.Normal("log_sd", log_sigma, spread, dims=cell, default_transform=apart)


def _typical_log_sd(
    cells: Cells, variances: str, priors: DefaultPriors
) -> tuple[FloatArray, FloatArray]:
    """(mean, sd) of what all arms and the prior say about log_sigma, nearly.

    The arms' log sds are taken to differ as much as the prior of the spread expects.
    """
    differ = priors.spread_median if variances == "partial" else 0.0
    typical, precision = priors.typical[cells.free], priors.log_sigma_width**-2
    estimate, own = cells.log_sd_estimate
    weight = own / (1 + own * differ**2)
    total = weight.sum(axis=0) + precision
    return ((weight * estimate).sum(axis=0) + typical * precision) / total, total**-0.5


def starting_point(
    trial: TrialSummary, variances: str = "partial", prior_width: float = 1.0
) -> dict[str, FloatArray]:
    """Where the middle of the posterior is, nearly: `initvals` for `pymc.sample`.

    The prior's own middle may be hundreds of posterior standard deviations away. The model
    itself carries no initial values, because `pymc.do` and `pymc.observe` take no such model.
    """
    cells, priors = Cells(trial), DefaultPriors.of(trial, prior_width)
    start: dict[str, FloatArray] = {}
    if cells.binary:
        start["probability"] = (cells.events + 1) / (cells.trials + 2)
    if cells.measured:
        start["mu"] = cells.mean
    if not cells.free:
        return start
    estimate, precision = cells.log_sd_estimate
    if variances == "separate":
        return start | {"log_sigma": estimate}
    middle, _ = _typical_log_sd(cells, variances, priors)
    start["log_sigma"] = middle
    if variances == "partial":
        of_others = priors.spread_median**-2
        start["log_sd"] = (precision * estimate + of_others * middle) / (precision + of_others)
    return start


def _normal_told_sigma(pm: Any, cells: Cells, priors: DefaultPriors, sigma: Any) -> Any:
    """mu ~ Normal(centre, width); sigma is handed over for its coordinates and for nothing else."""
    from paretoid.estimation.coordinates import mean_given_sigma

    return pm.CustomDist(
        "mu", priors.centre, priors.mu_width, sigma, class_name="Normal",
        logp=lambda value, centre, width, sigma: pm.logp(pm.Normal.dist(centre, width), value),
        random=_draw_normal, signature="(),(),()->()", dims=("arm", "endpoint"),
        default_transform=mean_given_sigma(cells.mean, cells.counts),
    )  # fmt: skip


def _draw_normal(centre: Any, width: Any, sigma: Any, rng: Any = None, size: Any = None) -> Any:
    return rng.normal(centre, width, size=size)


def _binary(pm: Any, cells: Cells, make: Mapping[str, Prior], priors: DefaultPriors) -> None:
    from paretoid.estimation.coordinates import logit_of_share

    dims = ("arm", "binary_endpoint")
    events, trials = cells.events, cells.trials
    if "probability" in make:
        p = make["probability"]("probability", dims)
    else:
        p = pm.Beta(
            "probability", priors.concentration, priors.concentration, dims=dims,
            default_transform=logit_of_share(events, trials),
        )  # fmt: skip
    pm.Binomial("events", trials, p, observed=events, dims=dims)


def refuse_unidentified(trial: TrialSummary, variances: str) -> None:
    """Refuse a trial whose table leaves open what a model of it needs: sizes, and variances.

    >>> from paretoid.estimation import load_trial
    >>> refuse_unidentified(load_trial("covboost-groupB"), "separate")
    >>> refuse_unidentified(load_trial("covboost"), "pooled")    # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    ValueError: 44 of 60 cells report no n, for instance ChAd/ChAd + ChAd, IgG: how much ...
    """
    cells = Cells(trial)
    m = cells.measured
    without = np.argwhere(np.isnan(trial.counts[:, m]))
    if len(without):
        i, q = without[0]
        raise ValueError(
            f"{len(without)} of {trial.n[:, m].size} cells report no n, for instance "
            f"{trial.arms[i]}, {trial.endpoints[m[q]]}: how much their means weigh depends on it. "
            f"Name a stand-in with assumed_n= (--assumed-n), or drop those arms or endpoints."
        )
    known = trial.known_spread[:, m]
    for q in cells.free:
        name = trial.endpoints[m[q]]
        if not known[:, q].any():
            raise ValueError(
                f"endpoint {name} has no arm with both n and an interval, so nothing tells its "
                f"variance. Name one with assumed_variance={{{name!r}: ...}} "
                f"(--assumed-sd '{name}=SD'), or drop the endpoint."
            )
        if variances == "separate" and not known[:, q].all():
            i = int(np.flatnonzero(~known[:, q])[0])
            raise ValueError(
                f"variances='separate' has no variance for {trial.arms[i]}, {name}: the cell "
                f"reports no n or no interval. Use 'pooled' or 'partial', which borrow one."
            )


def _check_trial(trial: Any) -> None:
    if not isinstance(trial, TrialSummary):
        raise WrongTypeError(
            f"trial is a {type(trial).__name__}; it must be a TrialSummary, from "
            f"TrialSummary.read_csv(path) or load_trial(name)."
        )


def _check_priors(priors: Mapping[str, Prior] | None) -> Mapping[str, Prior]:
    for name, prior in (priors or {}).items():
        check_choice(name, PRIORS, name="the name of a prior", why="those are the parameters.")
        if not callable(prior):
            raise WrongTypeError(
                f"priors[{name!r}]={prior!r} must be a function of (name, dims) that makes the "
                f"variable, for instance lambda name, dims: pm.Normal(name, 5, 2, dims=dims)."
            )
    return priors or {}


def trial_of(fit: Any) -> TrialSummary:
    """The trial summary a fit was made from."""
    attributes = group(fit, "posterior").attrs
    if "paretoid_trial" not in attributes:
        raise ValueError("this fit does not know its trial; make it with paretoid.estimation.fit.")
    return TrialSummary.from_json(attributes["paretoid_trial"])
