r"""The Bayesian model behind published summaries, its fit, and whether it reproduces the paper.

For arm i, endpoint d, on the endpoint's working scale (log for log-normal outcomes):

.. math::
    \bar x_{id} \sim N(\mu_{id}, \sigma_{id}^2/n_{id}), \qquad
    (n_{id}-1) s_{id}^2/\sigma_{id}^2 \sim \chi^2_{n_{id}-1}

which is exact for Gaussian outcomes: mean and variance of a sample are independent.
"""

from __future__ import annotations

import importlib.util
import math
import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from paretoid.estimation.compat import annotate, group, import_pymc, quiet, quiet_sampler
from paretoid.estimation.diagnostics import diagnose
from paretoid.estimation.summary import TrialSummary
from paretoid.intervals import t_quantile
from paretoid.theory.checks import FloatArray, check_choice, check_count

if TYPE_CHECKING:
    import pymc as pm
    import xarray as xr

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
        LogNormal(log 0.15, 0.7): by 15%, between 4% and 60%. Never 0: that keeps the geometry
        benign, and `pooled` is there for equal variances.
    deviation (arm, endpoint)    Normal(0, 1): log sigma = log_sigma + spread * deviation
    probability (arm, binary_endpoint)     Uniform(0, 1), with Binomial events
    sigma (arm, endpoint)   what the above amounts to

    A cell without n or interval contributes its mean alone: through the endpoint's one sigma
    under `pooled`, through what the other arms say about it under `partial`. `separate` has
    nothing to say about such a cell and refuses. An endpoint with an assumed variance has it
    fixed.

    `priors` maps mu, log_sigma, spread or probability to a function of (name, dims) that makes
    the variable, for instance `lambda name, dims: pm.Flat(name, dims=dims)`.

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
    cells = _Cells(trial)
    make = _check_priors(priors)
    with quiet(), pm.Model(coords=cells.coords) as model:
        if cells.measured:
            _measured(pm, trial, cells, variances, make)
        if cells.binary:
            b = cells.binary
            dims = ("arm", "binary_endpoint")
            p = (
                make["probability"]("probability", dims)
                if "probability" in make
                else pm.Uniform("probability", 0, 1, dims=dims)
            )
            events = np.rint(trial.mean[:, b] * trial.n[:, b]).astype(np.int64)
            pm.Binomial("events", trial.n[:, b].astype(np.int64), p, observed=events, dims=dims)
    return model


class _Cells:
    """Which cells take part in what, and the coordinates that name them."""

    def __init__(self, trial: TrialSummary) -> None:
        self.measured = [d for d, s in enumerate(trial.scales) if s != "binary"]
        self.binary = [d for d, s in enumerate(trial.scales) if s == "binary"]
        K, m = len(trial.arms), self.measured
        # An endpoint with an assumed variance takes nothing from its own intervals.
        self.fixed = [q for q, d in enumerate(m) if trial.endpoints[d] in trial.assumed_variance]
        self.free = [q for q in range(len(m)) if q not in self.fixed]
        known = trial.known_spread[:, m].copy()
        known[:, self.fixed] = False
        self.arm, self.endpoint = (a.ravel() for a in np.indices((K, len(m))))
        self.spread = np.flatnonzero(known.ravel())
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


def _measured(
    pm: Any, trial: TrialSummary, cells: _Cells, variances: str, make: Mapping[str, Prior]
) -> None:
    m, K = cells.measured, len(trial.arms)
    mean, counts, sd = trial.mean[:, m], trial.counts[:, m], trial.sd[:, m]
    _refuse_unidentified(trial, cells, variances)
    both = ("arm", "endpoint")
    centre, width, typical = _default_scales(trial, cells)
    mu = make["mu"]("mu", both) if "mu" in make else pm.Normal("mu", centre, width, dims=both)
    log_sigma = pm.math.zeros_like(mu)
    if cells.free:
        dims = ("arm", "estimated_endpoint") if variances == "separate" else ("estimated_endpoint",)
        log_typical = (
            make["log_sigma"]("log_sigma", dims)
            if "log_sigma" in make
            else pm.Normal("log_sigma", typical[cells.free], 1.0, dims=dims)
        )
        log_sd = log_typical
        if variances == "partial":
            one = ("estimated_endpoint",)
            spread = (
                make["spread"]("spread", one)
                if "spread" in make
                else pm.LogNormal("spread", math.log(0.15), 0.7, dims=one)
            )
            deviation = pm.Normal("deviation", 0, 1, dims=("arm", "estimated_endpoint"))
            log_sd = log_typical + spread * deviation
        place = np.zeros((len(cells.free), len(m)))  # estimated endpoints among all, by 0 and 1
        place[np.arange(len(cells.free)), cells.free] = 1.0
        full = log_sd if variances != "pooled" else log_sd[None, :] + np.zeros((K, 1))
        # A product and a sum, not a matrix product: PyTensor warns where it finds no BLAS.
        spaced = (full[:, :, None] * place).sum(axis=1)
        log_sigma = full if len(cells.free) == len(m) else spaced
    known = np.zeros(len(m))
    for q in cells.fixed:
        known[q] = 0.5 * math.log(trial.assumed_variance[trial.endpoints[m[q]]])
    if cells.fixed:
        log_sigma = log_sigma + known
    sigma = pm.Deterministic("sigma", pm.math.exp(log_sigma), dims=both)
    flat = sigma.ravel()
    pm.Normal(
        "sample_mean", mu.ravel(), flat / np.sqrt(counts.ravel()),
        observed=mean.ravel(), dims="cell",
    )  # fmt: skip
    if len(cells.spread):
        # (n-1) s^2/sigma^2 ~ chi^2_{n-1} is s^2 ~ Gamma((n-1)/2, rate (n-1)/(2 sigma^2))
        half = (counts.ravel()[cells.spread] - 1) / 2
        pm.Gamma(
            "sample_variance", alpha=half, beta=half / flat[cells.spread] ** 2,
            observed=sd.ravel()[cells.spread] ** 2, dims="cell_with_interval",
        )  # fmt: skip


def _default_scales(trial: TrialSummary, cells: _Cells) -> tuple[FloatArray, ...]:
    """Per measured endpoint: centre and width of the prior of mu, typical log sd."""
    centre, width, typical = [], [], []
    for d in cells.measured:
        centre.append(trial.mean[:, d].mean())
        if trial.scales[d] == "log-normal":
            width.append(math.log(10))
            typical.append(0.0)
            continue
        reported = trial.sd[np.isfinite(trial.sd[:, d]), d]
        assumed = trial.assumed_variance.get(trial.endpoints[d], 0.0)
        rms = math.sqrt((reported**2).mean()) if reported.size else math.sqrt(assumed)
        width.append(10 * max(rms, float(trial.mean[:, d].std())))
        typical.append(math.log(rms))
    return np.array(centre), np.array(width), np.array(typical)


def _refuse_unidentified(trial: TrialSummary, cells: _Cells, variances: str) -> None:
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
                f"variance. Name one with assumed_variance={{{name!r}: ...}}, or drop the endpoint."
            )
        if variances == "separate" and not known[:, q].all():
            i = int(np.flatnonzero(~known[:, q])[0])
            raise ValueError(
                f"variances='separate' has no variance for {trial.arms[i]}, {name}: the cell "
                f"reports no n or no interval. Use 'pooled' or 'partial', which borrow one."
            )


def _check_trial(trial: Any) -> None:
    if not isinstance(trial, TrialSummary):
        raise ValueError(
            f"trial is a {type(trial).__name__}; it must be a TrialSummary, from "
            f"TrialSummary.read_csv(path) or load_trial(name)."
        )


def _check_priors(priors: Mapping[str, Prior] | None) -> Mapping[str, Prior]:
    for name, prior in (priors or {}).items():
        check_choice(name, PRIORS, name="the name of a prior", why="those are the parameters.")
        if not callable(prior):
            raise ValueError(
                f"priors[{name!r}]={prior!r} must be a function of (name, dims) that makes the "
                f"variable, for instance lambda name, dims: pm.Normal(name, 5, 2, dims=dims)."
            )
    return priors or {}


class FitError(ValueError):
    """The sampler did not explore the posterior well enough to be believed.

    >>> from paretoid.estimation import load_trial
    >>> trial = load_trial("covboost-groupB")
    >>> try:
    ...     fit(trial, "pooled", draws=10, tune=10, chains=2, cores=1)
    ... except FitError as error:
    ...     print(str(error)[:28])
    the fit is not to be trusted
    """


def fit(
    trial: TrialSummary,
    variances: str = "partial",
    *,
    priors: Mapping[str, Prior] | None = None,
    draws: int = 1000,
    tune: int = 500,
    chains: int = 4,
    cores: int | None = None,
    seed: int = 1,
    target_accept: float = 0.9,
    accept_problems: bool = False,
    progress: bool = False,
) -> Any:
    """Sample the posterior with NUTS (nutpie if installed); returns ArviZ's own object.

    InferenceData under ArviZ 0.x, DataTree under ArviZ 1. Raises `FitError` on divergences,
    r_hat above 1.01 or fewer than 100 effective draws per chain, unless `accept_problems` is
    set: then they stand in the posterior's attribute `paretoid_problems`.

    >>> from paretoid.estimation import load_trial
    >>> trial = load_trial("covboost-groupB")
    >>> posterior = fit(trial, "pooled", chains=2, cores=1)
    >>> mu = posterior["posterior"]["mu"].mean(("chain", "draw"))
    >>> bool((abs(mu.values - trial.mean) < 0.05).all())    # the data outweigh the prior
    True
    """
    for name, value, least in (("draws", draws, 10), ("tune", tune, 10), ("chains", chains, 2)):
        why = "r_hat compares chains." if name == "chains" else "NUTS needs some to go by."
        check_count(value, name=name, least=least, why=why)
    if not 0 < target_accept < 1:
        raise ValueError(
            f"target_accept={target_accept!r} must lie between 0 and 1: it sets the step size. "
            f"The default is 0.9."
        )
    model = build_model(trial, variances, priors=priors)
    pm = import_pymc()
    cores = min(2, os.cpu_count() or 1, chains) if cores is None else cores
    check_count(cores, name="cores", why="somebody has to do the work.")
    nutpie = importlib.util.find_spec("nutpie") is not None
    shown = progress and not nutpie
    with quiet_sampler(), model, _Bar(shown, chains * (draws + tune)) as advance:
        extra: dict[str, Any] = {"nuts_sampler": "nutpie"}
        if not nutpie:
            starts = _starts(trial, model, chains, seed)
            extra = {"callback": advance, "init": "adapt_diag", "initvals": starts}
        result = pm.sample(
            draws, tune=tune, chains=chains, cores=cores, random_seed=seed,
            target_accept=target_accept, progressbar=False, compute_convergence_checks=False,
            **extra,
        )  # fmt: skip
    problems = diagnose(result).problems(chains)
    if problems and not accept_problems:
        raise FitError(
            "the fit is not to be trusted: "
            + "; ".join(problems)
            + ". Try more tuning (tune=2000) "
            "and smaller steps (target_accept=0.99), or variances='pooled'. To look at it anyway "
            "pass accept_problems=True."
        )
    annotate(result, {
        "paretoid_trial": trial.to_json(), "paretoid_variances": variances,
        "paretoid_priors": "the user's own" if priors else "default",
        "paretoid_problems": "; ".join(problems), "paretoid_seed": str(seed),
        "paretoid_tune": tune, "paretoid_target_accept": target_accept,
        "paretoid_sampler": "nutpie" if nutpie else "pymc",
    })  # fmt: skip
    return result


def _starts(trial: TrialSummary, model: Any, chains: int, seed: int) -> list[dict[str, Any]]:
    """One start per chain: mu about the reported means, two standard errors apart."""
    if "mu" not in model.named_vars:
        return [{} for _ in range(chains)]
    m = _Cells(trial).measured
    rng = np.random.default_rng(seed)
    _, _, typical = _default_scales(trial, _Cells(trial))
    error = np.exp(typical) / np.sqrt(trial.counts[:, m])
    mean = trial.mean[:, m]
    return [{"mu": mean + 2 * error * rng.standard_normal(mean.shape)} for _ in range(chains)]


class _Bar:
    """A bar on stderr fed by PyMC's callback; PyMC's own bars would go to stdout."""

    def __init__(self, shown: bool, total: int) -> None:
        self.shown, self.total = shown, total

    def __enter__(self) -> Callable[..., None]:
        if not self.shown:
            return lambda trace, draw: None
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
        from rich.progress import TimeRemainingColumn as Remaining

        self.progress = Progress(
            TextColumn("fit "), BarColumn(), MofNCompleteColumn(), Remaining(),
            TextColumn("draws"), console=Console(stderr=True),
        )  # fmt: skip
        self.progress.start()
        task = self.progress.add_task("fit", total=self.total)

        def advance(trace: Any, draw: Any) -> None:
            self.progress.update(task, advance=1)

        return advance

    def __exit__(self, *_: object) -> None:
        if self.shown:
            self.progress.stop()


def trial_of(fit: Any) -> TrialSummary:
    """The trial summary a fit was made from."""
    attributes = group(fit, "posterior").attrs
    if "paretoid_trial" not in attributes:
        raise ValueError("this fit does not know its trial; make it with paretoid.estimation.fit.")
    return TrialSummary.from_json(attributes["paretoid_trial"])


def prior_check(
    trial: TrialSummary,
    variances: str = "partial",
    *,
    priors: Mapping[str, Prior] | None = None,
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
    with quiet(), build_model(trial, variances, priors=priors) as model:
        drawn = pm.sample_prior_predictive(draws, random_seed=seed)
    return _check(trial, model, group(drawn, "prior_predictive"))


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
    pm = import_pymc()
    variances = group(fit, "posterior").attrs["paretoid_variances"]
    with quiet_sampler(), build_model(trial, variances) as model:
        drawn = pm.sample_posterior_predictive(fit, random_seed=seed, progressbar=False)
    return _check(trial, model, group(drawn, "posterior_predictive"))


def _check(trial: TrialSummary, model: Any, drawn: xr.Dataset) -> xr.Dataset:
    """Replicated means and variances turned into replicated intervals, beside the published."""
    import xarray as xr

    cells = _Cells(trial)
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
