"""Is a fit ever refused by chance, and is its posterior the right one?

    python -m paretoid.validation.fits [--quick] [--seeds N] [--workers N] [--only W] [--out FILE]

Fits every table below with many seeds of the sampler and counts: fits that needed the second
attempt, fits that were refused, the worst r_hat and effective sample size. One fit of each table
is held to the posterior computed by quadrature (`paretoid.validation.quadrature`): the largest
departure of a posterior mean, in posterior standard deviations, of mu and of log sd, and the
largest departure of the quantiles of the spread, in standard errors.

Tables: those bundled, and made-up ones of 2 to 40 arms, with tiny and huge samples, of one
endpoint, with events that nobody had, in units of millions and millionths, without intervals.
`--out FILE` keeps every fit's figures.
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from paretoid.estimation import (
    FitError,
    TrialSummary,
    attempts,
    build_model,
    fit,
    load_trial,
)
from paretoid.estimation.compat import convergence, group
from paretoid.estimation.diagnostics import diagnose
from paretoid.estimation.model import starting_point
from paretoid.estimation.sampling import Attempt, sample_once, second_attempt
from paretoid.theory.checks import FloatArray
from paretoid.validation.quadrature import EndpointPosterior, Prior, posterior
from paretoid.writing import write_text

#: tune, target_accept and every of a first attempt: the defaults of `fit`
_SETTINGS = (500, 0.9, 1)

#: fits sampled together
_TOGETHER = 13

LEVELS = np.array([0.05, 0.25, 0.5, 0.75, 0.95])


def made_up(
    arms: int,
    endpoints: int,
    n: tuple[int, int],
    seed: int,
    *,
    differ: float = 0.3,
    unit: float = 1.0,
    scale: str = "log-normal",
    silent: float = 0.0,
) -> TrialSummary:
    """A table such as a paper might print.

    n       smallest and largest sample size
    differ  sd of the arms' log standard deviations: 0.3 makes sds that differ by a third
    unit    standard deviation of an outcome
    silent  share of cells without an interval, the first arm apart

    >>> made_up(4, 2, (20, 50), 1)
    TrialSummary(4 arms x 2 endpoints)
    """
    rng = np.random.default_rng(seed)
    shape = (arms, endpoints)
    counts = rng.integers(n[0], n[1] + 1, shape)
    sigma = 0.9 * unit * np.exp(rng.normal(0, differ, shape))
    mean = rng.normal(5 * unit + rng.normal(0, unit, shape), sigma / np.sqrt(counts))
    sd = sigma * np.sqrt(rng.chisquare(counts - 1) / (counts - 1))
    quiet = rng.random(shape) < silent
    quiet[0] = False
    return _table(mean, np.where(quiet, np.nan, sd), counts, (scale,) * endpoints)


def rare_events(arms: int, endpoints: int, n: int, measured: int = 0) -> TrialSummary:
    """Binary endpoints, in some arms without an event, beside `measured` normal ones.

    >>> rare_events(3, 1, 40).mean[:, 0].min()
    np.float64(0.0)
    """
    rng = np.random.default_rng(arms)
    events = rng.integers(0, 4, (arms, endpoints))
    events[0] = 0
    other = made_up(arms, max(measured, 1), (n, n), 5, scale="normal")
    nothing = np.full((arms, endpoints), np.nan)
    return _table(
        np.column_stack([events / n, other.mean[:, :measured]]),
        np.column_stack([nothing, other.sd[:, :measured]]),
        np.full((arms, endpoints + measured), n),
        ("binary",) * endpoints + ("normal",) * measured,
    )


def _table(mean: Any, sd: Any, n: Any, scales: tuple[str, ...]) -> TrialSummary:
    K, D = mean.shape
    nothing = np.full((K, D), np.nan)
    log = np.array(scales) == "log-normal"
    with np.errstate(over="ignore"):
        reported = np.where(log, np.exp(mean), mean)
    return TrialSummary(
        tuple(f"arm {i + 1}" for i in range(K)), tuple(f"endpoint {d + 1}" for d in range(D)),
        ("",) * D, scales, mean, sd, np.asarray(n, dtype=np.float64), reported, nothing, nothing,
    )  # fmt: skip


Table = tuple[Callable[[], TrialSummary], tuple[str, ...]]
_ALL = ("partial", "pooled", "separate")

#: name: (how to make the table, variances to try)
TABLES: dict[str, Table] = {
    "covboost-groupB": (partial(load_trial, "covboost-groupB"), _ALL),
    "comcov2": (partial(load_trial, "comcov2"), _ALL),
    "covboost, n = 80 assumed": (partial(load_trial, "covboost", assumed_n=80), _ALL[:2]),
    "4 arms, 2 endpoints, sds 20% apart": (
        partial(made_up, 4, 2, (20, 50), 1, differ=0.2), _ALL),
    "4 arms, 2 endpoints, sds 30% apart": (partial(made_up, 4, 2, (20, 50), 2), _ALL[:1]),
    "4 arms, 3 endpoints, sds 40% apart": (
        partial(made_up, 4, 3, (20, 50), 3, differ=0.4), _ALL[:1]),
    "4 arms, 3 endpoints, sds 50% apart": (
        partial(made_up, 4, 3, (20, 50), 4, differ=0.5), _ALL[:1]),
    "4 arms, 3 endpoints, equal sds": (partial(made_up, 4, 3, (20, 50), 5, differ=0.0), _ALL[:1]),
    "2 arms, 1 endpoint": (partial(made_up, 2, 1, (20, 50), 6), _ALL[:1]),
    "3 arms, 2 endpoints": (partial(made_up, 3, 2, (20, 50), 7), _ALL[:1]),
    "40 arms, 3 endpoints": (partial(made_up, 40, 3, (20, 50), 8), _ALL[:1]),
    "2 arms, n = 2": (partial(made_up, 2, 1, (2, 2), 9), _ALL),
    "4 arms, n = 2": (partial(made_up, 4, 2, (2, 2), 10), _ALL[:1]),
    "2 arms, n = 3": (partial(made_up, 2, 1, (3, 3), 11), _ALL),
    "4 arms, n = 3 to 5": (partial(made_up, 4, 2, (3, 5), 12), _ALL),
    "40 arms, n = 3 to 5": (partial(made_up, 40, 2, (3, 5), 13), _ALL[:1]),
    "2 arms, n = 100,000": (partial(made_up, 2, 1, (100_000, 100_000), 14), _ALL[:1]),
    "4 arms, n = 100,000": (partial(made_up, 4, 3, (100_000, 100_000), 15), _ALL),
    "4 arms, n from 3 to 100,000": (partial(made_up, 4, 2, (3, 100_000), 16), _ALL[:1]),
    "4 arms, half without interval": (
        partial(made_up, 4, 2, (20, 50), 17, silent=0.5), _ALL[:2]),
    "4 arms, normal, in millions": (
        partial(made_up, 4, 2, (20, 50), 18, scale="normal", unit=1e6), _ALL[:1]),
    "4 arms, normal, in millionths": (
        partial(made_up, 4, 2, (20, 50), 19, scale="normal", unit=1e-6), _ALL[:1]),
    "4 arms, rare events": (partial(rare_events, 4, 2, 50), _ALL[:1]),
    "40 arms, rare events in 100,000": (partial(rare_events, 40, 1, 100_000), _ALL[:1]),
    "4 arms, rare events and a normal endpoint": (partial(rare_events, 4, 1, 30, 1), _ALL[:1]),
}  # fmt: skip


@dataclass(frozen=True)
class Fitted:
    """One fit, in numbers.

    attempts    1, or 2 if the first had problems
    refused     both had; `said` is the sentence
    r_hat, ess  of the last attempt
    mean_departure      largest |mean - exact mean| of mu and log sd, in exact sds; NaN: not seen
    spread_departure    largest departure of P(spread <= exact quantile), in standard errors
    """

    table: str
    variances: str
    seed: int
    attempts: int
    refused: bool
    said: str
    divergences: int
    r_hat: float
    ess: float
    seconds: float
    mean_departure: float = math.nan
    spread_departure: float = math.nan


def measure(table: str, variances: str, seeds: int) -> list[Fitted]:
    """Fit a table on one core, `seeds` times.

    The first is a call of `fit`, compared with the exact posterior. Compiling takes longer than
    sampling, and chains know nothing of each other: the chains of the others are sampled in one
    go, and judged in fours as `fit` would.
    """
    trial = TABLES[table][0]()
    start = time.perf_counter()
    said, departures = "", (math.nan, math.nan)
    try:
        fitted = fit(trial, variances, seed=0, cores=1)
        made = attempts(fitted)
        departures = departure(fitted, trial, variances)
    except FitError as error:
        made, said = list(error.attempts), str(error)
    results = [_fitted(table, variances, 0, made, said, start, departures)]
    model = build_model(trial, variances)
    for first in range(1, seeds, _TOGETHER):
        batch = range(first, min(first + _TOGETHER, seeds))
        results += _batch(model, starting_point(trial, variances), table, variances, batch)
    return results


def _batch(
    model: Any, initvals: dict[str, FloatArray], table: str, variances: str, seeds: range
) -> list[Fitted]:
    """One fit for each seed: the first attempts together, a second where there were problems."""
    import xarray as xr

    start = time.perf_counter()
    options = {"draws": 1000, "cores": 1, "nuts_sampler": "pymc", "initvals": initvals}
    together, error = sample_once(
        model, options | {"chains": 4 * len(seeds), "random_seed": seeds[0]}, *_SETTINGS
    )
    if together is None:
        raise RuntimeError(f"{table}, {variances}, seeds {seeds}: {error}")
    results = []
    for position, seed in enumerate(seeds):
        four = {"chain": slice(4 * position, 4 * position + 4)}
        parts = {name: group(together, name).isel(four) for name in ("posterior", "sample_stats")}
        diagnostics = diagnose(xr.DataTree.from_dict(parts))
        made = [Attempt(*_SETTINGS, diagnostics, tuple(diagnostics.problems(4)))]
        if made[0].problems:
            again = second_attempt(*_SETTINGS[:2])
            result, error = sample_once(model, options | {"chains": 4, "random_seed": seed}, *again)
            second = None if result is None else diagnose(result)
            problems = [error] if second is None else second.problems(4)
            made.append(Attempt(*again, second, tuple(problems)))
        results.append(_fitted(table, variances, seed, made, "", start, (math.nan, math.nan)))
    return results


def _fitted(
    table: str,
    variances: str,
    seed: int,
    made: Sequence[Attempt],
    said: str,
    start: float,
    departures: tuple[float, float],
) -> Fitted:
    last = made[-1].diagnostics
    said = said or "; ".join(made[0].problems)
    numbers = (0, math.nan, 0.0) if last is None else (last.divergences, last.r_hat, last.ess)
    return Fitted(
        table, variances, seed, len(made), bool(made[-1].problems), said, *numbers,
        time.perf_counter() - start, *departures,
    )  # fmt: skip


def exact(trial: TrialSummary, endpoint: int, variances: str) -> EndpointPosterior:
    """Quadrature for one measured endpoint, with the default priors as documented."""
    mean, sd = trial.mean[:, endpoint], trial.sd[:, endpoint]
    known = trial.known_spread[:, endpoint]
    if trial.scales[endpoint] == "log-normal":
        width, typical = math.log(10), 0.0
    else:
        rms = math.sqrt(float(np.mean(sd[np.isfinite(sd)] ** 2)))
        width, typical = 10 * max(rms, float(mean.std())), math.log(rms)
    prior = Prior(float(mean.mean()), width, typical)
    counts = trial.counts[:, endpoint]
    assumed = trial.assumed_variance.get(trial.endpoints[endpoint])
    if assumed is not None:  # sigma known: a prior without width, and no word from the data
        prior = Prior(prior.centre, width, math.log(assumed) / 2, 1e-9)
        return posterior(mean, counts, np.full(len(mean), np.nan), prior, "separate")
    return posterior(mean, counts, np.where(known, sd, np.nan), prior, variances)


def departure(fitted: Any, trial: TrialSummary, variances: str) -> tuple[float, float]:
    """(of means, in sds; of quantiles of the spread, in standard errors) from quadrature.

    For binary endpoints the exact posterior is Beta(events + 1, n - events + 1).
    """
    draws = group(fitted, "posterior")
    means, spreads = [], []
    for d, (name, scale) in enumerate(zip(trial.endpoints, trial.scales, strict=True)):
        if scale == "binary":
            events = np.rint(trial.mean[:, d] * trial.n[:, d])
            a, b = events + 1, trial.n[:, d] - events + 1
            sd = np.sqrt(a * b / (a + b + 1)) / (a + b)
            share = draws["probability"].sel(binary_endpoint=name).mean(("chain", "draw"))
            means.append(np.abs((share.values - a / (a + b)) / sd).max())
            continue
        right = exact(trial, d, variances)
        drawn = draws[["mu", "sigma"]].sel(endpoint=name)
        off = (drawn["mu"].mean(("chain", "draw")).values - right.mu_mean) / right.mu_sd
        means.append(np.abs(off).max())
        if name in trial.assumed_variance:
            continue
        log_sd = np.log(drawn["sigma"].values).mean(axis=(0, 1))
        means.append(np.abs((log_sd - right.log_sd_mean) / right.log_sd_sd).max())
        if variances == "partial":
            spread = draws[["spread"]].sel(estimated_endpoint=name)
            size = float(convergence(spread)[1]["spread"])
            spreads.append(quantile_departure(
                spread["spread"].values.ravel(), size, right.spread_quantiles(LEVELS)
            ))  # fmt: skip
    return float(max(means)), float(max(spreads, default=math.nan))


def quantile_departure(draws: FloatArray, effective: float, quantiles: FloatArray) -> float:
    """Largest distance of P(draw <= exact quantile) from its level, in standard errors.

    Half the effective size is used, because quantiles in the tails mix more slowly.

    >>> even = (np.arange(1000) + 0.5) / 1000
    >>> quantile_departure(even, 1000.0, LEVELS)
    0.0
    """
    shares = (draws[:, None] <= quantiles).mean(axis=0)
    error = np.sqrt(LEVELS * (1 - LEVELS) / (effective / 2))
    return float(np.max(np.abs(shares - LEVELS) / error))


def jobs(seeds: int, only: str = "") -> list[tuple[str, str, int]]:
    """What to fit and how often: `partial`, the default, with all seeds, the rest with a quarter.

    >>> len(jobs(40)), sum(seeds for _, _, seeds in jobs(40)), len(jobs(1, "comcov2"))
    (41, 1160, 3)
    """
    return [
        (table, variances, seeds if variances == "partial" else max(seeds // 4, 1))
        for table, (_, ways) in TABLES.items() if only in table
        for variances in ways
    ]  # fmt: skip


def report(results: Sequence[Fitted]) -> list[str]:
    """A Markdown table, one line per table and variances, and the total."""
    lines = [
        "| table | variances | fits | second attempts | refused | worst r_hat | smallest ESS | "
        "means, in sd | spread, in errors |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for table, variances in dict.fromkeys((r.table, r.variances) for r in results):
        these = [r for r in results if (r.table, r.variances) == (table, variances)]
        compared = [r for r in these if not math.isnan(r.mean_departure)]
        means = f"{max(r.mean_departure for r in compared):.3f}" if compared else "-"
        spreads = [r.spread_departure for r in compared if not math.isnan(r.spread_departure)]
        spread = f"{max(spreads):.1f}" if spreads else "-"
        lines.append(
            f"| {table} | {variances} | {len(these)} | {sum(r.attempts > 1 for r in these)} | "
            f"{sum(r.refused for r in these)} | {max(r.r_hat for r in these):.4f} | "
            f"{min(r.ess for r in these):,.0f} | {means} | {spread} |"
        )
    again, refused = sum(r.attempts > 1 for r in results), sum(r.refused for r in results)
    lines += ["", f"{len(results)} fits: {again} needed a second attempt, {refused} were refused."]
    return lines


def main(arguments: list[str] | None = None) -> int:
    """Run, print and write; 1 if a fit was refused."""
    parser = argparse.ArgumentParser(description="Are fits refused by chance, and are they right?")
    parser.add_argument("--quick", action="store_true", help="one seed of each table, few tables")
    parser.add_argument("--seeds", type=int, default=40, help="seeds of the sampler")
    parser.add_argument("--workers", type=int, default=2, help="fits at a time")
    parser.add_argument("--only", default="", help="tables whose name has this word")
    parser.add_argument("--out", type=Path, help="file for one line of JSON per fit")
    options = parser.parse_args(arguments)
    if options.seeds < 1 or options.workers < 1:
        parser.error("--seeds and --workers must be at least 1: nothing is measured by no fit.")
    todo = jobs(1 if options.quick else options.seeds, options.only)
    if not todo:
        parser.error(f"--only {options.only!r} is in no table's name; there are: "
                     f"{', '.join(TABLES)}.")  # fmt: skip
    if options.quick:
        todo = todo[::8]
    results: list[Fitted] = []
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(options.workers, mp_context=context) as pool:
        for fits in pool.map(measure, *zip(*todo, strict=True)):
            results += fits
            if options.out is not None:
                lines = [json.dumps(asdict(fitted)) for fitted in results]
                write_text(options.out, "\n".join(lines) + "\n", force=True)  # as far as it is
    print("\n".join(report(results)), flush=True)
    return int(any(result.refused for result in results))


if __name__ == "__main__":
    raise SystemExit(main())
