"""Sampling the posterior: once, once more with smaller steps if need be, then a sentence."""

from __future__ import annotations

import importlib.util
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from paretoid.estimation.compat import add_groups, annotate, group, import_pymc, quiet_sampler, thin
from paretoid.estimation.diagnostics import Diagnostics, diagnose
from paretoid.estimation.model import Cells, Prior, build_model, starting_point
from paretoid.estimation.predictive import log_likelihood, replicate
from paretoid.estimation.priors import check_width
from paretoid.estimation.summary import TrialSummary
from paretoid.theory.checks import check_choice, check_count, shown

SAMPLERS = ("pymc", "nutpie")

#: fewer draws of a chain than this are too few, however small the steps
_ENOUGH = 100


@dataclass(frozen=True)
class Attempt:
    """One run of the sampler, and how it fared.

    tune, target_accept     its settings
    every                   only every so-many-th draw was kept
    diagnostics             None where it did not come to its end
    problems                why not to trust it, in words; empty: nothing speaks against it

    >>> Attempt(500, 0.9, 1, None, ("3 divergent transitions",)).said()
    '500 tuning steps, target acceptance 0.9: 3 divergent transitions'
    """

    tune: int
    target_accept: float
    every: int
    diagnostics: Diagnostics | None
    problems: tuple[str, ...] = ()

    def said(self) -> str:
        """Its settings and problems in a few words."""
        how = f"{self.tune:,} tuning steps, target acceptance {self.target_accept:g}"
        kept = f", 1 in {self.every} draws kept" if self.every > 1 else ""
        return f"{how}{kept}: {'; '.join(self.problems) or 'no problems'}"

    def as_dict(self) -> dict[str, Any]:
        """The same for machines."""
        return asdict(self)


class FitError(RuntimeError):
    """The sampler did not explore the posterior well enough to be believed, twice.

    attempts    what was tried, with diagnostics

    >>> from paretoid.estimation import load_trial
    >>> trial = load_trial("covboost-groupB")
    >>> try:
    ...     fit(trial, "pooled", draws=10, tune=10, chains=2, cores=1)
    ... except FitError as error:
    ...     print(str(error)[:28], len(error.attempts))
    the fit is not to be trusted 1
    """

    def __init__(self, message: str, attempts: Sequence[Attempt] = ()) -> None:
        super().__init__(message)
        self.attempts = tuple(attempts)


def fit(
    trial: TrialSummary,
    variances: str = "partial",
    *,
    priors: Mapping[str, Prior] | None = None,
    prior_width: float = 1.0,
    draws: int = 1000,
    tune: int = 500,
    chains: int = 4,
    cores: int | None = None,
    seed: int = 1,
    target_accept: float = 0.9,
    sampler: str = "pymc",
    retry: bool = True,
    accept_problems: bool = False,
    progress: bool = False,
) -> Any:
    """Sample the posterior with NUTS; returns ArviZ's own object.

    priors, prior_width     see `build_model`
    cores       processes at work; default: one per chain, as far as the machine has them
    sampler     "pymc", or "nutpie" if that is installed: another NUTS, written in Rust
    retry       if the first attempt has problems, make a second with more tuning (2,000 steps or
                more), smaller steps (target_accept 0.99 or more) and four times the draws, of
                which every fourth is kept: the less draws repeat each other, the less chains
                differ by chance

    InferenceData under ArviZ 0.x, DataTree under ArviZ 1, with the groups posterior,
    posterior_predictive (a repetition of the trial per draw), log_likelihood, sample_stats and
    observed_data. Raises `FitError` if both attempts have divergences, r_hat above 1.01 or fewer
    than 100 effective draws per chain, unless `accept_problems` is set: then the problems stand
    in the posterior's attribute `paretoid_problems`. What was tried stands there too, see
    `attempts`.

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
            f"target_accept={shown(target_accept)} must lie between 0 and 1: it sets the step "
            f"size. The default is 0.9."
        )
    check_sampler(sampler)
    cores = min(_processors(), chains) if cores is None else cores
    check_count(cores, name="cores", why="somebody has to do the work.")
    prior_width = check_width(prior_width)
    model = build_model(trial, variances, priors=priors, prior_width=prior_width)
    options: dict[str, Any] = {"draws": draws, "chains": chains, "cores": cores}
    options |= {"random_seed": seed, "nuts_sampler": sampler}
    if sampler == "pymc":
        options |= _starts(trial, variances, prior_width, set(priors or ()), chains, seed)
    made: list[Attempt] = []
    settings = (tune, float(target_accept), 1)
    while True:
        result, error = sample_once(model, options, *settings, progress)
        diagnostics = None if result is None else diagnose(result)
        problems = [error] if diagnostics is None else diagnostics.problems(chains)
        made.append(Attempt(*settings, diagnostics, tuple(problems)))
        if not problems or not retry or len(made) == 2 or draws < _ENOUGH:
            break
        settings = second_attempt(tune, target_accept)
    if result is None or (problems and not accept_problems):
        raise FitError(_refusal(made, draws), made)
    posterior = group(result, "posterior")
    add_groups(
        result,
        posterior_predictive=replicate(trial, posterior, seed),
        log_likelihood=log_likelihood(trial, posterior),
    )
    annotate(result, {
        "paretoid_trial": trial.to_json(), "paretoid_variances": variances,
        "paretoid_priors": "the user's own" if priors else "default",
        "paretoid_prior_width": prior_width,
        "paretoid_problems": "; ".join(problems), "paretoid_seed": str(seed),
        "paretoid_tune": tune, "paretoid_target_accept": float(target_accept),
        "paretoid_sampler": sampler,
        "paretoid_attempts": json.dumps([attempt.as_dict() for attempt in made]),
    })  # fmt: skip
    return result


def attempts(fit: Any) -> list[Attempt]:
    """What was tried to make a fit, the last attempt being the one it holds.

    Empty for fits of versions that did not keep it.

    >>> from paretoid.estimation import fit, load_trial
    >>> posterior = fit(load_trial("covboost-groupB"), "pooled", chains=2, cores=1)
    >>> [attempt.said() for attempt in attempts(posterior)]
    ['500 tuning steps, target acceptance 0.9: no problems']
    """
    made = []
    for entry in json.loads(group(fit, "posterior").attrs.get("paretoid_attempts", "[]")):
        numbers = entry["diagnostics"]
        diagnostics = None if numbers is None else Diagnostics(**numbers)
        changed = {"diagnostics": diagnostics, "problems": tuple(entry["problems"])}
        made.append(Attempt(**(entry | changed)))
    return made


def check_sampler(sampler: str) -> None:
    """A sampler that is known and installed, or an error with the way out."""
    check_choice(sampler, SAMPLERS, name="sampler", why="those run PyMC's models here.")
    if sampler == "nutpie" and importlib.util.find_spec("nutpie") is None:
        raise ValueError(
            "sampler='nutpie' is not installed: `pip install nutpie`, or use the default, 'pymc'."
        )


def second_attempt(tune: int, target_accept: float) -> tuple[int, float, int]:
    """Settings of the attempt after one with these: tune, target_accept, every."""
    return max(2 * tune, 2000), max(0.99, (1 + target_accept) / 2), 4


def _refusal(made: Sequence[Attempt], draws: int) -> str:
    tried = " Then ".join(attempt.said() + "." for attempt in made)
    if draws < _ENOUGH:
        way_out = f"{draws} draws of each chain are too few (draws=1000, --draws 1000)."
    else:
        tune, accept, _ = second_attempt(made[-1].tune, made[-1].target_accept)
        way_out = (
            f"Try more tuning (tune={tune}, --tune {tune}), smaller steps "
            f"(target_accept={accept:.4g}, --target-accept {accept:.4g}), or a simpler model "
            f"(variances='pooled', --variances pooled)."
        )
    return (
        f"the fit is not to be trusted. Tried: {tried} {way_out} To look at it anyway pass "
        f"accept_problems=True (--accept-problems)."
    )


def sample_once(
    model: Any,
    options: dict[str, Any],
    tune: int,
    target_accept: float,
    every: int,
    progress: bool = False,
) -> tuple[Any, str]:
    """(draws, "") or (None, why there are none).

    `options` are draws, chains, cores, random_seed, nuts_sampler and initvals of `pymc.sample`;
    `every` times as many draws are made and thinned.
    """
    pm = import_pymc()
    draws = options["draws"] * every
    ours = options["nuts_sampler"] == "pymc"
    try:
        total = options["chains"] * (draws + tune)
        with quiet_sampler(), model, _Bar(progress and ours, total) as advance:
            result = pm.sample(
                **(options | {"draws": draws}), tune=tune, target_accept=target_accept,
                progressbar=False, compute_convergence_checks=False,
                **({"callback": advance} if ours else {}),
            )  # fmt: skip
        if every > 1:
            thin(result, every)
        return result, ""
    except pm.exceptions.SamplingError as error:
        return None, " ".join(str(error).split())[:200]


def _processors() -> int:
    """Processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _starts(
    trial: TrialSummary, variances: str, prior_width: float, own: set[str], chains: int, seed: int
) -> dict[str, Any]:
    """Where chains start; `own` are the variables whose priors are the user's.

    Our coordinates are of size 1, and PyMC moves starts about by as much. A mu with a prior of
    the user's own has other coordinates: it starts two standard errors about the reported means.
    Of the user's other variables nobody but PyMC knows where to start.
    """
    start = starting_point(trial, variances, prior_width)
    if "mu" not in own:
        return {"initvals": {name: at for name, at in start.items() if name not in own}}
    cells = Cells(trial)
    rng = np.random.default_rng(seed)
    known = np.where(np.isfinite(cells.sd), cells.sd, np.exp(cells.log_assumed))
    error = known / np.sqrt(cells.counts)
    kept = {name: at for name, at in start.items() if name not in own}
    starts = [
        kept | {"mu": cells.mean + 2 * error * rng.standard_normal(error.shape)}
        for _ in range(chains)
    ]
    return {"init": "adapt_diag", "initvals": starts}


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
