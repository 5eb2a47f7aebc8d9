"""The trial that `fit` and `plan` start from: a bundled one, a CSV file, or a fit made before."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from paretoid.cli.options import words
from paretoid.cli.terminal import note, say_json

if TYPE_CHECKING:
    import xarray as xr

    from paretoid.estimation import TrialSummary

Eps1 = Annotated[
    str | None,
    typer.Option(metavar="X[,X...]", help="Margin in endpoints' units (logs if log-normal)."),
]
MaxSamples = Annotated[int, typer.Option(help="Participants a trial can have.")]
Arms = Annotated[
    str | None, typer.Option(metavar="COL,...", help="Columns of the CSV that name an arm.")
]
Endpoints = Annotated[
    str | None, typer.Option(metavar="NAME,...", help="Endpoints to use, in order.")
]
Minimize = Annotated[
    str | None, typer.Option(metavar="NAME,...", help="Endpoints where less is better.")
]
Scale = Annotated[
    str | None, typer.Option(metavar="SCALE", help="log-normal, normal or binary, for all rows.")
]
Level = Annotated[float, typer.Option(help="Level of published intervals.")]
AssumedN = Annotated[int | None, typer.Option(help="n where none was reported.")]
AssumedSd = Annotated[
    str | None,
    typer.Option(
        metavar="[NAME=]SD,...",
        help="sd where there is none (of logs if log-normal).",
    ),
]
Variances = Annotated[str, typer.Option(metavar="HOW", help="pooled, partial or separate.")]
Tune = Annotated[int, typer.Option(help="Tuning steps of each chain.")]
TargetAccept = Annotated[float, typer.Option(help="Nearer 1: smaller steps.")]
Cores = Annotated[int | None, typer.Option(help="Chains at a time; default: one a core.")]
AcceptProblems = Annotated[
    bool, typer.Option("--accept-problems", help="Go on with a fit that did not converge.")
]

#: defaults of the sampler's options
TUNE, TARGET_ACCEPT = 500, 0.9


def check_sampler(
    variances: str, seed: int, target_accept: float, cores: int | None, **counts: int
) -> None:
    """What the sampler would refuse, refused before it is started and by the option's name."""
    from paretoid.estimation.model import VARIANCES
    from paretoid.theory.checks import check_choice, check_count

    why = "it says what arms share about their spread."
    check_choice(variances, VARIANCES, name="--variances", why=why)
    check_count(seed, name="--seed", least=0, why="random numbers start from it.")
    if not 0 < target_accept < 1:
        raise ValueError(
            f"--target-accept={target_accept} must lie between 0 and 1: it sets the step size."
        )
    if cores is not None:
        check_count(cores, name="--cores", why="somebody has to do the work.")
    for name, value in counts.items():
        least = 2 if name == "chains" else 10
        why = "r_hat compares chains." if name == "chains" else "NUTS needs some to go by."
        check_count(value, name=f"--{name}", least=least, why=why)


def begin_fit(summary: TrialSummary, variances: str, quiet: bool) -> None:
    """Refuse a table that no model fits, and say that what comes next takes its time."""
    from paretoid.estimation.model import refuse_unidentified

    refuse_unidentified(summary, variances)
    note("fitting; PyMC may have to compile first ...", quiet)


def sample(summary: TrialSummary, variances: str, json: bool, **options: Any) -> Any:
    """The fit. If the sampler fails, that is said in a sentence, as JSON too, and ends with 1."""
    from paretoid import estimation

    try:
        return estimation.fit(summary, variances, **options)
    except estimation.FitError as error:
        note(str(error))
        if json:
            tried = [attempt.as_dict() for attempt in error.attempts]
            say_json({"error": str(error), "variances": variances, "attempts": tried})
        raise typer.Exit(1) from None


def sensitivity(fitted: Any, quiet: bool, **options: Any) -> xr.Dataset | None:
    """What tighter and wider priors would say; None, with the reason on stderr, if unknown."""
    from paretoid import estimation

    try:
        return estimation.sensitivity(fitted, **options)
    except (ValueError, estimation.FitError) as error:  # priors of one's own; a refit that failed
        note(f"Prior sensitivity was not computed: {error}", quiet)
        return None


def load_or_read(
    trial: str,
    arms: str | None,
    endpoints: str | None,
    minimize: str | None,
    maximize: str | None,
    scale: str | None,
    level: float,
    assumed_n: int | None,
    assumed_sd: str | None,
    *,
    fits: bool,
) -> tuple[Any, TrialSummary]:
    """(the fit that `trial` is, or None, and the trial); `fits`: options of a fit were given."""
    given = (arms, endpoints, minimize, maximize, scale, assumed_n, assumed_sd)
    if Path(trial).suffix.lower() != ".nc":
        return None, read_trial(trial, *given[:5], level, assumed_n, assumed_sd)
    if any(option is not None for option in given) or level != 0.95 or fits:
        raise ValueError(
            f"{trial} is a fit, so --arms, --endpoints, --minimize, --maximize, --scale, "
            f"--level, --assumed-n, --assumed-sd, --variances, --tune and --target-accept come too "
            f"late: they belong to `paretoid fit`."
        )
    from paretoid.estimation import load_fit
    from paretoid.estimation.model import trial_of

    fitted = load_fit(trial)
    return fitted, trial_of(fitted)


def read_trial(
    trial: str,
    arms: str | None,
    endpoints: str | None,
    minimize: str | None,
    maximize: str | None,
    scale: str | None,
    level: float,
    assumed_n: int | None,
    assumed_sd: str | None = None,
) -> TrialSummary:
    """A bundled trial by name, or a CSV or Excel file, with what is assumed of it."""
    summary = _as_published(trial, arms, endpoints, minimize, maximize, scale, level, assumed_n)
    return summary if assumed_sd is None else _assuming_sd(summary, assumed_sd)


def _assuming_sd(summary: TrialSummary, text: str) -> TrialSummary:
    """The trial with standard deviations in place of those that its endpoints lack."""
    given: dict[str, str] = {}
    for part in words(text):
        name, equals, value = part.rpartition("=")
        if not equals:
            silent = [
                endpoint
                for endpoint, known, kind in zip(
                    summary.endpoints, summary.known_spread.T, summary.scales, strict=True
                )
                if kind != "binary" and not known.any() and endpoint not in summary.assumed_variance
            ]
            if not silent:
                raise ValueError(
                    f"--assumed-sd {part} has no endpoint to stand in for: each has an interval or "
                    f"an sd in some arm. To overrule one write NAME={part}."
                )
            given |= dict.fromkeys(silent, value)
        else:
            given[summary.match([name.strip()], "--assumed-sd")[0]] = value
    variances = {}
    for endpoint, value in given.items():
        if summary.scales[summary.endpoints.index(endpoint)] == "binary":
            raise ValueError(
                f"--assumed-sd names {endpoint!r}, which is binary: its spread follows from its "
                f"share. Leave it out."
            )
        try:
            sd = float(value)
        except ValueError:
            sd = math.nan
        if not 0 < sd < math.inf:
            raise ValueError(
                f"--assumed-sd {value!r} must be a positive number: the standard deviation of one "
                f"outcome of {endpoint}, of its logarithm if the endpoint is log-normal."
            )
        variances[endpoint] = sd * sd
    return summary.assuming(variance=variances)


def _as_published(
    trial: str,
    arms: str | None,
    endpoints: str | None,
    minimize: str | None,
    maximize: str | None,
    scale: str | None,
    level: float,
    assumed_n: int | None,
) -> TrialSummary:
    from paretoid.directions import check_directions
    from paretoid.estimation import TRIALS, TrialSummary, load_trial

    if trial in TRIALS:
        if arms or scale or level != 0.95:
            raise ValueError(
                f"{trial} is bundled, so --arms, --scale and --level have nothing to say about it."
            )
        summary = load_trial(trial, assumed_n=assumed_n)
        chosen = summary.select(words(endpoints)) if words(endpoints) else summary
        less = chosen.match(words(minimize), "minimize")
        check_directions(chosen.endpoints, less, chosen.match(words(maximize), "maximize"), trial)
        return replace(chosen, minimize=less)
    path = Path(trial)
    if not path.exists() and "." not in path.name and path.name == trial:
        load_trial(trial)  # refuses with the names there are
    return TrialSummary.read_csv(
        trial, arms=words(arms) or None, endpoints=words(endpoints) or None, scale=scale,
        level=level, minimize=words(minimize), maximize=words(maximize), assumed_n=assumed_n,
    )  # fmt: skip
