"""`paretoid datasets`: what ships with the package."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from paretoid.cli.options import Dataset, Force, Json, Quiet
from paretoid.cli.terminal import check_file, note, say, say_json, table, wrap, write
from paretoid.text import interval, meant, measure

if TYPE_CHECKING:
    from paretoid.bandits import Bandit
    from paretoid.estimation import TrialSummary

Out = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Write it: .csv, .json, or .toml for an instance."),
]


def datasets(
    name: Dataset = None,
    kind: Annotated[
        str | None, typer.Option(help="instance or trial, where a name is both.")
    ] = None,
    out: Out = None,
    force: Force = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """List the bundled instances and trials, or show one.

    Instances are for `simulate` and `bounds`, published trials for `fit` and `plan`. What --out
    writes is a template for your own.

    Example: paretoid datasets

    Example: paretoid datasets covboost-groupB --out my-trial.csv
    """
    chosen = _find(name, kind)
    listing = {dataset: _described(*dataset) for dataset in chosen}
    if out is not None:
        _write(out, chosen, name, force)
        note(f"wrote {out}", quiet)
    if json:
        kinds = dict.fromkeys(kind for kind, _ in chosen)
        say_json({kind: {n: listing[k, n] for k, n in chosen if k == kind} for kind in kinds})
    else:
        say("\n\n".join(_text(*dataset, listing[dataset], name is not None) for dataset in chosen))


def _write(out: Path, chosen: list[tuple[str, str]], name: str | None, force: bool) -> None:
    """One dataset as a file that `simulate` and `bounds`, or `fit` and `plan`, read."""
    if name is None:
        raise ValueError("--out writes one of them: say its name first.")
    if len(chosen) > 1:
        raise ValueError(f"{name} is an instance and a trial: say --kind instance or --kind trial.")
    kind = chosen[0][0]
    suffixes = (".csv", ".json", ".toml") if kind == "instance" else (".csv", ".json")
    check_file(out, suffixes, force=force)
    if kind == "instance" and out.suffix.lower() != ".json":
        from paretoid.instances.files import write_instance

        write_instance(_bandit(name), out, force=force)
    else:
        write(out, data=_described(kind, name), rows=lambda: _trial_rows(_trial(name)), force=force)


def _find(name: str | None, kind: str | None) -> list[tuple[str, str]]:
    """(kind, name) of what was asked for."""
    from paretoid.estimation.datasets import TRIALS
    from paretoid.instances import INSTANCES
    from paretoid.theory.checks import check_choice

    if kind is not None:
        check_choice(kind, ("instance", "trial"), name="--kind", why="there are these two.")
    all_of_them = [*(("instance", known) for known in INSTANCES),
                   *(("trial", known) for known in TRIALS)]  # fmt: skip
    kept = [pair for pair in all_of_them if kind in (None, pair[0])]
    if name is None:
        return kept
    chosen = [pair for pair in kept if pair[1] == name]
    if not chosen:
        names = list(dict.fromkeys(known for _, known in kept))
        raise ValueError(f"no dataset {name!r}{meant(name, names)} There are: {', '.join(names)}.")
    return chosen


def _bandit(name: str) -> Bandit:
    from paretoid.instances import load_instance

    return load_instance(name)


def _trial(name: str) -> TrialSummary:
    from paretoid.estimation.datasets import load_trial

    return load_trial(name)


def _described(kind: str, name: str) -> dict[str, Any]:
    """Everything about one dataset, for machines."""
    from paretoid.estimation.datasets import TRIALS
    from paretoid.instances import INSTANCES, SOURCE

    if kind == "instance":
        bandit = _bandit(name)
        return {
            "description": INSTANCES[name],
            "source": SOURCE,
            "arms": list(bandit.arms),
            "objectives": list(bandit.objectives),
            "minimize": list(bandit.minimize),
            "outcomes": bandit.model,
            "means": bandit.means,
            "scale": bandit.scale,
        }
    trial = _trial(name)
    return {
        "description": TRIALS[name],
        "source": trial.citation,
        "provenance": trial.provenance,
        "arms": list(trial.arms),
        "endpoints": list(trial.endpoints),
        "units": list(trial.units),
        "scales": list(trial.scales),
        "minimize": list(trial.minimize),
        "level": trial.level,
        "n": trial.n,
        "reported": trial.reported,
        "lower": trial.lower,
        "upper": trial.upper,
    }


def _text(kind: str, name: str, data: dict[str, Any], whole: bool) -> str:
    """A few lines about one dataset; its table too if `whole`."""
    outcomes = data["objectives" if kind == "instance" else "endpoints"]
    lines = [f"{name} ({kind})"]
    sentences = (
        f"{len(data['arms'])} arms; {len(outcomes)} outcomes: {', '.join(outcomes)}",
        data["description"],
        data["source"],
    )
    lines += [wrap(f"  {sentence}", "  ") for sentence in sentences]
    if whole and kind == "instance":
        rows = [[arm, *map(measure, row)]
                for arm, row in zip(data["arms"], data["means"], strict=True)]  # fmt: skip
        rows.append(["(scale)", *map(measure, data["scale"][0])])
        lines += ["", table(["mean", *outcomes], rows)]
    elif whole:
        rows = [[arm, endpoint, _as_reported(data["n"][i, d]), _as_reported(data["reported"][i, d]),
                 interval(data["lower"][i, d], data["upper"][i, d], _as_reported)]
                for i, arm in enumerate(data["arms"])
                for d, endpoint in enumerate(outcomes)]  # fmt: skip
        level = f"{data['level']:.0%} interval"
        lines += ["", table(["arm", "endpoint", "n", "geom. mean", level], rows, names=2)]
    return "\n".join(lines)


def _trial_rows(trial: TrialSummary) -> tuple[list[str], list[list[str]]]:
    """A trial as the table that `plan` and `fit` read; what was not reported stays empty."""
    heads = ["arm", "endpoint", "unit", "scale", "n", "geometric_mean", "ci_lower", "ci_upper"]
    rows = []
    for i, arm in enumerate(trial.arms):
        for d, endpoint in enumerate(trial.endpoints):
            numbers = (trial.n[i, d], trial.reported[i, d], trial.lower[i, d], trial.upper[i, d])
            about = [arm, endpoint, trial.units[d], trial.scales[d]]
            rows.append([*about, *map(_as_reported, numbers)])
    return heads, rows


def _as_reported(value: float) -> str:
    """A published number with the digits it was published with; empty where there was none."""
    return "" if math.isnan(value) else f"{value:.10g}"
