"""`paretoid plan`: a published table in; arms, participants and assurance out."""

from __future__ import annotations

from typing import Annotated

import typer


def plan(
    context: typer.Context,
    trial: Annotated[
        str,
        typer.Argument(help="A bundled trial, or a CSV file with one row per arm and endpoint."),
    ] = "covboost-groupB",
    arms: Annotated[str | None, typer.Option(help="Columns that name an arm: COL,COL.")] = None,
    endpoints: Annotated[str | None, typer.Option(help="Endpoints: NAME,NAME, in order.")] = None,
    minimize: Annotated[str, typer.Option(help="Endpoints where less is better.")] = "",
    scale: Annotated[
        str | None, typer.Option(help="log-normal, normal or binary, for all rows.")
    ] = None,
    level: Annotated[float, typer.Option(help="Level of the published intervals.")] = 0.95,
    assumed_n: Annotated[int | None, typer.Option(help="n where none was reported.")] = None,
    variances: Annotated[str, typer.Option(help="pooled, partial or separate.")] = "partial",
    k: Annotated[int, typer.Option(help="Ask for k arms, besides all; 0: only all.")] = 2,
    fold: Annotated[
        float | None, typer.Option(help="Margin as a ratio of geometric means; default 1.5.")
    ] = None,
    eps1: Annotated[
        str | None, typer.Option(help="Margin in the endpoints' units (log if log-normal): X,X.")
    ] = None,
    delta: Annotated[float, typer.Option(help="Allowed probability of a wrong answer.")] = 0.1,
    draws: Annotated[int, typer.Option(help="Posterior draws to simulate.")] = 200,
    max_samples: Annotated[int, typer.Option(help="Participants a trial can have.")] = 3000,
    seed: Annotated[int, typer.Option(help="The same seed gives the same numbers.")] = 1,
    accept_problems: Annotated[
        bool, typer.Option("--accept-problems", help="Go on with a fit that did not converge.")
    ] = False,
    out: Annotated[str | None, typer.Option(help="Directory for all results as files.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress bars.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Plan an adaptive trial from a published summary: which arms, how many people, how sure.

    Example: paretoid plan covboost-groupB --k 2 --fold 1.5 --delta 0.1
    """
    import shutil
    import sys
    import warnings

    from paretoid.estimation.summary import TrialSummary

    if fold is not None and eps1 is not None:
        raise ValueError("--fold and --eps1 both set the margin; give one of them.")
    if k < 0:
        raise ValueError(f"--k {k} must not be negative: it is how many arms to ask for.")
    margin = _numbers(eps1)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        summary = _summary(
            trial, _names(arms), _names(endpoints), _names(minimize) or [], scale, level, assumed_n
        )
    for each in caught:
        typer.echo(f"paretoid: {each.message}", err=True)
    assert isinstance(summary, TrialSummary)
    if fold is None and margin is None and "log-normal" in summary.scales:
        fold = 1.5

    import paretoid as pt
    from paretoid import estimation
    from paretoid.commands.typed import typed
    from paretoid.estimation import report

    size = len(summary.arms)
    if k > size:
        raise ValueError(f"--k {k} is more than the {size} arms of {trial}; --k 0 asks for all.")
    slack = 0.0 if margin is None else margin[0] if len(margin) == 1 else margin
    goals: list[pt.Goal] = [pt.ParetoSet(slack)]
    if k:
        goals.append(pt.AtMost(k, slack))
    for goal in goals:
        goal.check(size, len(summary.endpoints))
    shown = not quiet and sys.stderr.isatty()
    if not quiet:
        typer.echo("paretoid: fitting; PyMC may have to compile first ...", err=True)
    fitted = estimation.fit(
        summary, variances, seed=seed, progress=shown, accept_problems=accept_problems
    )
    if not quiet:
        typer.echo("paretoid: simulating trials on posterior draws ...", err=True)
    planned = estimation.plan(
        fitted, goals, delta, fold=fold, draws=draws, max_samples=max_samples, seed=seed,
        progress=shown,
    )  # fmt: skip
    shares = estimation.pareto_probability(fitted, slack, fold=fold)
    if out is not None:
        written = report.write_all(
            fitted, shares, planned, out, command=typed(context), eps1=slack, fold=fold
        )
        typer.echo(f"paretoid: wrote {len(written)} files to {out}", err=True)
    if json:
        typer.echo(report.as_json(fitted, shares, planned))
    else:
        width = shutil.get_terminal_size().columns
        typer.echo(report.as_text(fitted, shares, planned, width))


def _summary(
    trial: str,
    arms: list[str] | None,
    endpoints: list[str] | None,
    minimize: list[str],
    scale: str | None,
    level: float,
    assumed_n: int | None,
) -> object:
    """A bundled trial by name, or a CSV file."""
    from dataclasses import replace
    from pathlib import Path

    from paretoid.estimation import TRIALS, TrialSummary, load_trial

    if trial in TRIALS:
        if arms or scale or level != 0.95:
            raise ValueError(
                f"{trial} is bundled, so --arms, --scale and --level have nothing to say about it."
            )
        summary = load_trial(trial, assumed_n=assumed_n)
        chosen = summary if endpoints is None else summary.select(endpoints)
        return replace(chosen, minimize=chosen.match(minimize, "minimize"))
    if not Path(trial).exists() and "." not in Path(trial).name:
        load_trial(trial)  # refuses with the names there are
    return TrialSummary.read_csv(
        trial, arms=arms, endpoints=endpoints, scale=scale, level=level, minimize=minimize,
        assumed_n=assumed_n,
    )  # fmt: skip


def _names(text: str | None) -> list[str] | None:
    return None if text is None else [part.strip() for part in text.split(",") if part.strip()]


def _numbers(text: str | None) -> list[float] | None:
    if text is None:
        return None
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise ValueError(
            f"--eps1 {text!r} must be a number, or one per endpoint with commas between."
        ) from None
