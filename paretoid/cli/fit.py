"""`paretoid fit`: a published table in, a posterior over instances out."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Any

import typer

from paretoid.cli import published
from paretoid.cli.options import Force, Json, More, Quiet, Seed, Trial
from paretoid.cli.terminal import (
    check_file,
    note,
    say,
    say_json,
    shows_progress,
    table,
    width,
    wrap,
    write,
)
from paretoid.text import interval, measure

Out = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Write it: .nc (the posterior, for `plan`), .csv or .json."),
]


def fit(
    trial: Trial = "covboost-groupB",
    arms: published.Arms = None,
    endpoints: published.Endpoints = None,
    minimize: published.Minimize = None,
    maximize: More = None,
    scale: published.Scale = None,
    level: published.Level = 0.95,
    assumed_n: published.AssumedN = None,
    assumed_sd: published.AssumedSd = None,
    variances: published.Variances = "partial",
    draws: Annotated[int, typer.Option(help="Draws of each chain.")] = 1000,
    tune: published.Tune = published.TUNE,
    chains: Annotated[int, typer.Option(help="Chains; r_hat compares them.")] = 4,
    target_accept: published.TargetAccept = published.TARGET_ACCEPT,
    cores: published.Cores = None,
    accept_problems: published.AcceptProblems = False,
    seed: Seed = 1,
    out: Out = None,
    force: Force = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Fit published summaries, with diagnostics (PyMC).

    Example: paretoid fit covboost-groupB --out fit.nc && paretoid plan fit.nc
    """
    check_file(out, (".nc", ".csv", ".json"), force=force, inputs=[trial])
    published.check_sampler(
        variances, seed, target_accept, cores, draws=draws, tune=tune, chains=chains
    )
    summary = published.read_trial(
        trial, arms, endpoints, minimize, maximize, scale, level, assumed_n, assumed_sd
    )
    from paretoid import estimation
    from paretoid.directions import directions
    from paretoid.report.prior_table import prior_dict, prior_text

    note(directions(summary.endpoints, summary.minimize), quiet)
    published.begin_fit(summary, variances, quiet)
    fitted = published.sample(
        summary, variances, json, draws=draws, tune=tune, chains=chains, cores=cores,
        target_accept=target_accept, seed=seed, accept_problems=accept_problems,
        progress=shows_progress(quiet),
    )  # fmt: skip
    data = describe(fitted)
    priors = published.sensitivity(fitted, quiet, cores=cores)
    if priors is not None:
        data["prior_sensitivity"] = prior_dict(priors)
    if out is not None:
        if out.suffix.lower() == ".nc":
            estimation.save_fit(fitted, out, force=force)
        else:
            write(out, data=data, rows=lambda: _rows(data), force=force)
        note(f"wrote {out}", quiet)
    if json:
        say_json(data)
    else:
        say(_text(data) + ("" if priors is None else f"\n\n{prior_text(priors, width())}"))


def describe(fitted: Any) -> dict[str, Any]:
    """Posterior means with 95% intervals per arm and endpoint, and how the sampler fared."""
    from paretoid.estimation.compat import group
    from paretoid.estimation.diagnostics import diagnose
    from paretoid.estimation.draws import posterior_draws
    from paretoid.estimation.model import trial_of
    from paretoid.estimation.sampling import attempts
    from paretoid.intervals import credible_interval

    trial = trial_of(fitted)
    posterior = group(fitted, "posterior")
    means, scales = posterior_draws(fitted)
    intervals = credible_interval(means)
    cells = []
    for i, arm in enumerate(trial.arms):
        for d, endpoint in enumerate(trial.endpoints):
            log = trial.scales[d] == "log-normal"
            ends = (float(table[i, d]) for table in intervals)
            median, lower, upper = (math.exp(end) if log else end for end in ends)
            cells.append(
                {
                    "arm": arm,
                    "endpoint": endpoint,
                    "unit": trial.units[d],
                    "scale": trial.scales[d],
                    "reported": trial.reported[i, d],
                    "median": median,
                    "lower": lower,
                    "upper": upper,
                    "sigma": None if trial.scales[d] == "binary" else float(scales[:, i, d].mean()),
                }
            )
    diagnostics = diagnose(fitted)
    return {
        "citation": trial.citation,
        "assumptions": list(trial.assumptions),
        "readings": list(trial.readings),
        "variances": posterior.attrs["paretoid_variances"],
        "chains": posterior.sizes["chain"],
        "draws": posterior.sizes["draw"],
        "diagnostics": {
            "divergent transitions": diagnostics.divergences,
            "largest r_hat": diagnostics.r_hat,
            "smallest effective size": diagnostics.ess,
        },
        "attempts": [attempt.as_dict() for attempt in attempts(fitted)],
        "problems": posterior.attrs["paretoid_problems"],
        "cells": cells,
    }


def _text(data: dict[str, Any]) -> str:
    cells = data["cells"]
    sentences = (data["citation"], *data["assumptions"], *data["readings"])
    lines = [wrap(sentence) for sentence in sentences if sentence]
    rows = []
    for cell in cells:
        sigma = "" if cell["sigma"] is None else f"{cell['sigma']:.2f}"
        rows.append(
            [cell["arm"], cell["endpoint"], measure(cell["reported"]), measure(cell["median"]),
             interval(cell["lower"], cell["upper"]), sigma]
        )  # fmt: skip
    heads = ["arm", "endpoint", "reported", "fitted", "95% interval", "sd"]
    lines += ["", table(heads, rows, names=2), ""]
    log = any(cell["scale"] == "log-normal" for cell in cells)
    lines.append(wrap("fitted: the posterior median of the true " + ("(geometric) " if log else "")
                      + "mean. sd: of one outcome" + (", in logs." if log else ".")))  # fmt: skip
    fared = [[name, measure(value)] for name, value in data["diagnostics"].items()]
    size = f"{data['chains']} chains x {data['draws']} draws"
    lines += ["", table([f"diagnostics, {size}", ""], fared), ""]
    problems = data["problems"]
    for attempt in data["attempts"][:-1]:
        lines.append(wrap(
            f"A first attempt ({attempt['tune']:,} tuning steps, target acceptance "
            f"{attempt['target_accept']:g}) had problems: {'; '.join(attempt['problems'])}. "
            f"These draws are from a second, with more tuning and smaller steps."
        ))  # fmt: skip
    lines.append(wrap(f"Problems that were accepted: {problems}." if problems else "No problems."))
    return "\n".join(lines).lstrip("\n")


def _rows(data: dict[str, Any]) -> tuple[list[str], list[list[Any]]]:
    heads = list(data["cells"][0])
    return heads, [["" if cell[h] is None else cell[h] for h in heads] for cell in data["cells"]]
