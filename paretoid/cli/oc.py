"""`paretoid oc`: operating characteristics, what designs do in scenarios."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from paretoid.cli import conduct, published
from paretoid.cli.options import (
    Delta,
    Force,
    Json,
    Kind,
    MarginMeans,
    More,
    OutFile,
    Quiet,
    Seed,
    _instances,
    _trials,
    names_and_files,
    numbers,
)
from paretoid.cli.terminal import (
    check_file,
    note,
    say,
    say_json,
    shows_progress,
    table,
    wrap,
    write,
)

Source = Annotated[
    str | None,
    typer.Argument(
        metavar="TRIAL",
        help="A bundled trial, a table (CSV, Excel), or a fit (.nc); default covboost-groupB.",
        autocompletion=names_and_files(_trials, ".csv", ".xlsx", ".nc"),
    ),
]


def oc(
    trial: Source = None,
    fit: Annotated[
        str | None,
        typer.Option("--fit", metavar="FILE", help="A fit (.nc) of `paretoid fit`; same as TRIAL."),
    ] = None,
    instance: Annotated[
        str | None,
        typer.Option(
            "--instance",
            metavar="NAME|FILE",
            help="Plain means instead: a bundled instance, a TOML, or a CSV with --sd or --kind.",
            autocompletion=names_and_files(_instances, ".csv", ".toml"),
        ),
    ] = None,
    sd: Annotated[
        str | None,
        typer.Option(metavar="S[,S...]", help="Of a CSV of plain means: standard deviations."),
    ] = None,
    kind: Kind = None,
    scenario: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="fitted, equal, boundary, best (each arm in turn), best:ARM; default all four.",
        ),
    ] = None,
    scenarios: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Scenarios of your own, besides: a TOML file."),
    ] = None,
    design: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="informed, uniform, elimination, fixed, calibrated; default all."
        ),
    ] = None,
    k: Annotated[int, typer.Option(help="Ask for k arms; 0: for all.")] = 0,
    fold: Annotated[
        float | None,
        typer.Option(help="Margin as a ratio of geometric means; default 1.5 where log-normal."),
    ] = None,
    eps1: published.Eps1 = None,
    margin_means: MarginMeans = "any",
    delta: Delta = 0.1,
    max_samples: published.MaxSamples = 3000,
    fixed: Annotated[
        int | None,
        typer.Option(metavar="N", help="Of the fixed design; default: the proved one's mean."),
    ] = None,
    runs: Annotated[
        int, typer.Option("--runs", "-n", metavar="N", help="Trials of each scenario and design.")
    ] = 200,
    rate: conduct.Rate = None,
    delay: conduct.Delay = None,
    look: conduct.Look = None,
    dropout: conduct.Dropout = None,
    burn_in: conduct.BurnIn = 0,
    arms: published.Arms = None,
    endpoints: published.Endpoints = None,
    minimize: published.Minimize = None,
    maximize: More = None,
    scale: published.Scale = None,
    level: published.Level = 0.95,
    assumed_n: published.AssumedN = None,
    assumed_sd: published.AssumedSd = None,
    variances: published.Variances = "partial",
    cores: published.Cores = None,
    accept_problems: published.AcceptProblems = False,
    seed: Seed = 1,
    out: OutFile = None,
    picture: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw it: .png, .svg or .pdf.")
    ] = None,
    force: Force = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Compare designs in scenarios: how many, how often right.

    What a proof costs against a fixed trial, and where it earns it: as fitted, all arms equal, at
    the margin's boundary, each arm best in turn, and scenarios of your own.

    Example: paretoid oc covboost-groupB --scenario fitted --scenario boundary --runs 100
    """
    import numpy as np

    from paretoid.cli import members
    from paretoid.directions import directions
    from paretoid.estimation import fold_margin, plug_in_bandit
    from paretoid.estimation.instances import bandit_of_trial
    from paretoid.goals import AtMost
    from paretoid.operating import designs, operating_characteristics, words
    from paretoid.operating import scenarios as truths
    from paretoid.plots import operating
    from paretoid.text import joined
    from paretoid.writing import new_file

    read = [path for path in (trial, fit, instance, scenarios) if path is not None]
    check_file(out, (".nc", ".csv", ".json"), force=force, inputs=read)
    check_file(picture, (".png", ".svg", ".pdf"), force=force, inputs=read, option="--picture")
    believed = [option for option in (trial, fit, instance) if option is not None]
    if len(believed) > 1:
        raise ValueError(
            f"{joined(believed)} all say what is believed; give TRIAL, --fit or --instance."
        )
    if fold is not None and eps1 is not None:
        raise ValueError("--fold and --eps1 both set the margin; give one of them.")
    _check_numbers(k, runs, max_samples, fixed, delta, seed)
    margin = numbers(eps1, "--eps1")
    slack = 0.0 if margin is None else margin
    goal = AtMost(k, slack) if k and margin_means == "any" else members.whole_set(
        margin_means, slack, k
    )  # fmt: skip
    conducted = conduct.read(rate, delay, look, dropout, burn_in)
    designs.chosen(design, designs.unavailable([goal], conducted))
    names = list(scenario or truths.NAMES)
    source: Any
    if instance is not None:
        table_only = {
            "--fold": fold, "--arms": arms, "--endpoints": endpoints, "--scale": scale,
            "--assumed-n": assumed_n, "--assumed-sd": assumed_sd,
        }  # fmt: skip
        for option, value in table_only.items():
            if value is not None:
                raise ValueError(
                    f"{option} belongs to a published table, and --instance has plain means. "
                    f"Leave it out; --eps1 is the margin, --sd the standard deviation."
                )
        source = base = members.instance(instance, kind, sd, minimize, maximize)
    else:
        if sd is not None or kind is not None:
            raise ValueError("--sd and --kind belong to --instance with a CSV of plain means.")
        if fit is not None and Path(fit).suffix.lower() != ".nc":
            raise ValueError(f"--fit {fit} must be a file of `paretoid fit`, which ends in .nc.")
        published.check_sampler(variances, seed, published.TARGET_ACCEPT, cores)
        fitted, summary = published.load_or_read(
            fit or trial or "covboost-groupB", arms, endpoints, minimize, maximize, scale, level,
            assumed_n, assumed_sd, fits=variances != "partial",
        )  # fmt: skip
        if fold is None and margin is None and "log-normal" in summary.scales:
            fold = 1.5
        # What would be refused after the fit, which is slow, is refused now.
        truths.check_names(names, summary.arms)
        goal.check(len(summary.arms), len(summary.endpoints))
        if fold is not None:
            fold_margin(summary, fold)
        if conducted is not None:
            conducted.check(summary.arms, summary.endpoints, max_samples)
        if scenarios is not None:
            middle = np.full((len(summary.arms), len(summary.endpoints)), 0.5)
            truths.read_scenarios(scenarios, bandit_of_trial(summary, middle, middle))
        note(directions(summary.endpoints, summary.minimize), quiet)
        if fitted is None:
            published.begin_fit(summary, variances, quiet)
            fitted = published.sample(
                summary, variances, json, tune=published.TUNE, cores=cores, seed=seed,
                target_accept=published.TARGET_ACCEPT, progress=shows_progress(quiet),
                accept_problems=accept_problems,
            )  # fmt: skip
        source, base = fitted, plug_in_bandit(fitted)
    own = [] if scenarios is None else truths.read_scenarios(scenarios, base)
    note("simulating designs in scenarios ...", quiet)
    made = operating_characteristics(
        source, goal, delta, fold=fold, scenarios=[*names, *own], designs=design, runs=runs,
        max_samples=max_samples, fixed=fixed, conduct=conducted, seed=seed,
    )  # fmt: skip
    if out is not None:
        write(out, data=words.as_dict(made), rows=lambda: words.rows(made), dataset=lambda: made,
              force=force)  # fmt: skip
        note(f"wrote {out}", quiet)
    if picture is not None:
        with new_file(picture, force=force) as draft:
            figure = operating(made)[0, 0].get_figure(root=True)
            figure.savefig(draft, format=picture.suffix[1:].lower(), dpi=150)
        note(f"wrote {picture}", quiet)
    if json:
        say_json(words.as_dict(made))
    else:
        say(words.as_text(made, table, wrap))


def _check_numbers(
    k: int, runs: int, max_samples: int, fixed: int | None, delta: float, seed: int
) -> None:
    """What is wrong with a number is said before anything is read or fitted."""
    from paretoid.theory.checks import check_count, check_delta

    check_count(k, name="--k", least=0, why="it is how many arms to ask for; 0: all.")
    check_count(runs, name="--runs", least=2, why="shares and means are of so many trials.")
    check_count(max_samples, name="--max-samples", why="it is the size of a trial.")
    if fixed is not None:
        why = "it is the size of the fixed trial, and --max-samples bounds it."
        check_count(fixed, name="--fixed", most=max_samples, why=why)
    check_delta(delta)
    check_count(seed, name="--seed", least=0, why="random numbers start from it.")
