"""`paretoid plan`: a published table in; arms, participants and assurance out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from paretoid.cli import conduct, published
from paretoid.cli.options import (
    Delta,
    Force,
    Json,
    Limit,
    MarginMeans,
    More,
    OutDir,
    Quiet,
    Seed,
    _trials,
    names_and_files,
    numbers,
)
from paretoid.cli.terminal import check_folder, note, say, say_json, shows_progress, width
from paretoid.theory.checks import check_choice

if TYPE_CHECKING:
    from paretoid.estimation import TrialSummary
    from paretoid.goals import Goal

Start = Annotated[
    str,
    typer.Argument(
        metavar="TRIAL",
        help="A bundled trial (see `paretoid datasets`), a table as a CSV or Excel file, "
        "or a fit (.nc) saved by `paretoid fit`.",
        autocompletion=names_and_files(_trials, ".csv", ".xlsx", ".nc"),
    ),
]


def plan(
    context: typer.Context,
    trial: Start = "covboost-groupB",
    k: Annotated[
        int | None,
        typer.Option(
            help="Ask for k arms, besides all; 0: only all. Default 2; with --margin-means all 0."
        ),
    ] = None,
    fold: Annotated[
        float | None,
        typer.Option(help="Margin as a ratio of geometric means; default 1.5. See --margin-means."),
    ] = None,
    eps1: published.Eps1 = None,
    margin_means: MarginMeans = "any",
    limit: Limit = None,
    delta: Delta = 0.1,
    max_samples: published.MaxSamples = 3000,
    rate: conduct.Rate = None,
    delay: conduct.Delay = None,
    look: conduct.Look = None,
    dropout: conduct.Dropout = None,
    burn_in: conduct.BurnIn = 0,
    randomise: conduct.Randomise = None,
    floor: conduct.Floor = None,
    control: conduct.Control = None,
    strata: conduct.Strata = None,
    correlation: Annotated[
        str | None,
        typer.Option(
            metavar="X[;X,...]",
            help="Of endpoints in simulated trials: a number, or rows between semicolons.",
        ),
    ] = None,
    ranges: Annotated[
        str | None,
        typer.Option(
            "--range",
            metavar="NAME=LOW:HIGH,...",
            help="Normal endpoints that no outcome can leave, such as pain=0:10: their scale is "
            "half the range, and they need not be Gaussian.",
        ),
    ] = None,
    draws: Annotated[int, typer.Option(help="Posterior draws to simulate.")] = 200,
    arms: published.Arms = None,
    endpoints: published.Endpoints = None,
    minimize: published.Minimize = None,
    maximize: More = None,
    scale: published.Scale = None,
    level: published.Level = 0.95,
    assumed_n: published.AssumedN = None,
    assumed_sd: published.AssumedSd = None,
    shares: Annotated[
        str,
        typer.Option(
            help="How delta is shared: informed by published data, or uniform; the "
            "guarantee is the same.",
        ),
    ] = "informed",
    radius: Annotated[
        str | None,
        typer.Option(
            metavar="RADIUS",
            help="As in simulate; a name alone is tuned. Default by endpoints.",
        ),
    ] = None,
    variances: published.Variances = "partial",
    tune: published.Tune = published.TUNE,
    target_accept: published.TargetAccept = published.TARGET_ACCEPT,
    cores: published.Cores = None,
    accept_problems: published.AcceptProblems = False,
    seed: Seed = 1,
    oc: Annotated[
        Path | None,
        typer.Option(
            "--oc",
            metavar="FILE.nc",
            help="With --out: show what `paretoid oc --out FILE.nc` found in the reports too.",
        ),
    ] = None,
    out: OutDir = None,
    force: Force = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Plan an adaptive trial from published summaries.

    Which arms are worth keeping, how many participants it takes to know, how sure that is.

    Example: paretoid plan covboost-groupB --k 2 --fold 1.5 --delta 0.1

    As it will really run: --rate 5/day --delay 28d --look 100 --dropout 10% --max-samples 2000
    """
    if fold is not None and eps1 is not None:
        raise ValueError("--fold and --eps1 both set the margin; give one of them.")
    if k is None:
        k = 0 if margin_means == "all" else 2
    if k < 0:
        raise ValueError(f"--k {k} must not be negative: it is how many arms to ask for.")
    margin = numbers(eps1, "--eps1")
    check_choice(shares, ("informed", "uniform"), name="--shares", why="delta is shared out once.")
    if out is not None:
        from paretoid.report.plan_files import NAMES

        check_folder(out, NAMES, force=force, inputs=[trial, *([] if oc is None else [oc])])
    elif oc is not None:
        raise ValueError("--oc belongs to the reports of --out DIR; give that too.")
    published.check_sampler(variances, seed, target_accept, cores, tune=tune)
    usual = ("partial", published.TUNE, published.TARGET_ACCEPT)
    fitted, summary = published.load_or_read(
        trial, arms, endpoints, minimize, maximize, scale, level, assumed_n, assumed_sd,
        fits=(variances, tune, target_accept) != usual,
    )  # fmt: skip
    if fold is None and margin is None and "log-normal" in summary.scales:
        fold = 1.5

    import paretoid as pt
    from paretoid import estimation
    from paretoid.cli import members
    from paretoid.cli.command_line import command_as_typed
    from paretoid.directions import directions
    from paretoid.estimation.margins import units_of
    from paretoid.estimation.plan_radius import plan_radius
    from paretoid.estimation.ranges import kinds_of
    from paretoid.report import write_plan
    from paretoid.report.plan_text import as_dict, as_text
    from paretoid.runs.ahead import compiling_ahead
    from paretoid.theory.checks import check_count, check_delta

    size = len(summary.arms)
    if k > size:
        raise ValueError(f"--k {k} is more than the {size} arms of {trial}; --k 0 asks for all.")
    slack = 0.0 if margin is None else margin
    within = members.limits(limit)
    goals: list[pt.Goal] = [members.whole_set(margin_means, slack, k, limits=within)]
    if k:
        goals.append(pt.AtMost(k, slack, limits=within))
    for goal in goals:
        goal.check(size, len(summary.endpoints))
        goal.bind(summary.endpoints, [1.0] * len(summary.endpoints))
    scheme = conduct.scheme_of(randomise, floor, control, strata)
    conducted = conduct.read(rate, delay, look, dropout, burn_in, scheme)
    # The simulation comes last; what is wrong with it should be said before the long fit.
    check_delta(delta)
    operating = None
    if oc is not None:
        from paretoid.report.operating import read_operating

        operating = read_operating(oc, summary.arms, summary.endpoints, delta)
    check_count(draws, name="--draws", why="assurance is an average over posterior draws.")
    check_count(max_samples, name="--max-samples", why="it is the size of a trial.")
    if conducted is not None:
        conducted.check(summary.arms, summary.endpoints, max_samples)
    if fold is not None:
        estimation.fold_margin(summary, fold)
    shared = _correlation(correlation, len(summary.endpoints))
    within_ranges = _ranges(ranges, summary)
    chosen = _radius(radius, summary, within_ranges, goals)
    shown = shows_progress(quiet)
    note(directions(summary.endpoints, summary.minimize, within, units_of(summary)), quiet)
    if fitted is None:
        published.begin_fit(summary, variances, quiet)
        kinds = kinds_of(summary, within_ranges)
        kind = plan_radius(chosen, kinds, goals, calendar=conducted is not None)
        with compiling_ahead(goals, conducted, lambda words: note(words, quiet), kind):
            fitted = published.sample(
                summary, variances, json, tune=tune, target_accept=target_accept, cores=cores,
                seed=seed, progress=shown, accept_problems=accept_problems,
            )  # fmt: skip
    note("simulating trials on posterior draws ...", quiet)
    planned = estimation.plan(
        fitted, goals, delta, chosen, fold=fold, draws=draws, max_samples=max_samples, seed=seed,
        shares=shares, conduct=conducted, correlation=shared, ranges=within_ranges,
        progress=shown,
    )  # fmt: skip
    optimal = estimation.pareto_probability(
        fitted, slack, fold=fold, margin_means=margin_means, limits=within
    )
    priors = published.sensitivity(
        fitted, quiet, eps1=slack, fold=fold, margin_means=margin_means, limits=within,
        planned=planned, cores=cores,
    )  # fmt: skip
    if out is not None:
        written = write_plan(
            fitted,
            optimal,
            planned,
            out,
            command=command_as_typed(context),
            source=trial,
            priors=priors,
            operating=operating,
            force=force,
        )
        note(f"wrote {len(written)} files to {out}", quiet)
    if json:
        say_json(as_dict(fitted, optimal, planned, priors=priors))
    else:
        say(as_text(fitted, optimal, planned, width(), priors=priors))


def _ranges(text: str | None, summary: TrialSummary) -> dict[str, Any] | None:
    """--range as a table by endpoint, refused before the fit; None: not given."""
    if text is None:
        return None
    from paretoid.estimation.ranges import kinds_of

    given: dict[str, Any] = {}
    for part in text.split(","):
        name, _, ends = part.rpartition("=")
        low, colon, high = ends.partition(":")
        try:
            given[name.strip()] = float(low), float(high)
        except ValueError:
            colon = ""
        if not colon or not name.strip():
            raise ValueError(f"--range {part.strip()!r} must be NAME=LOW:HIGH, such as pain=0:10.")
    try:
        kinds_of(summary, given)
    except ValueError as error:
        raise ValueError(f"--range: {error}") from None
    return given


def _radius(
    text: str | None, summary: TrialSummary, ranges: dict[str, Any] | None, goals: Sequence[Goal]
) -> Any:
    """--radius as a radius, or as a kind that the plan tunes; refused before the fit."""
    if text is None:
        return None  # the plan's default
    from paretoid import registry
    from paretoid.estimation.plan_radius import TUNABLE, plan_radius
    from paretoid.estimation.ranges import kinds_of

    name, given = registry.split(text)
    kind = registry.type_of(name, "radius")
    radius: Any = registry.parse(text, "radius") if given or kind not in TUNABLE else kind
    try:
        return plan_radius(radius, kinds_of(summary, ranges), goals)
    except ValueError as error:
        raise ValueError(f"--radius {text}: {error}") from None


def _correlation(text: str | None, D: int) -> Any:
    """--correlation as a number or a matrix, refused before the fit; None: not given."""
    if text is None:
        return None
    from paretoid.bandits.mixed import as_correlation

    rows = [numbers(row, "--correlation") for row in text.split(";")]
    try:
        if len(rows) == 1 and not isinstance(rows[0], list):
            as_correlation(rows[0], D)
            return rows[0]
        return as_correlation(rows, D)
    except ValueError as error:
        raise ValueError(f"--correlation {text}: {error}") from None
