"""`paretoid reproduce`: the paper's experiments beside its figures."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from paretoid.cli.options import Json, Quiet, Seed, names_and_files
from paretoid.cli.terminal import Interrupted, say, say_json, table, wrap
from paretoid.text import counted


def _experiments() -> Iterable[str]:
    from paretoid.validation.paper import EXPERIMENTS

    return EXPERIMENTS


def reproduce(
    name: Annotated[
        str | None,
        typer.Argument(
            help="Which experiment; leave out for the list.",
            autocompletion=names_and_files(_experiments),
        ),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="About a minute.")] = False,
    replications: Annotated[int | None, typer.Option(help="Runs or instances.")] = None,
    seed: Seed = 1,
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Raw results (.nc), table (.csv), picture (.png).")
    ] = Path("reproduced"),
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Repeat an experiment of the paper beside its published figures.

    After Ctrl-C the same command continues where it was.

    Example: paretoid reproduce table1 --quick
    """
    from dataclasses import asdict

    from paretoid.validation.paper import EXPERIMENTS
    from paretoid.validation.paper import reproduce as repeat

    if name is None:
        if json:
            say_json(EXPERIMENTS)
        else:
            say(table(["experiment", "what"], list(EXPERIMENTS.items()), names=2))
        return
    from rich.console import Console

    try:
        done = repeat(
            name, quick=quick, replications=replications, out=out, seed=seed,
            console=Console(stderr=True, quiet=quiet, soft_wrap=True),
        )  # fmt: skip
    except KeyboardInterrupt as stopped:
        raise Interrupted(str(stopped)) from None
    if json:
        say_json(
            {
                "experiment": name,
                "description": EXPERIMENTS[name],
                "runs": done.count,
                "seed": seed,
                "netcdf": done.netcdf,
                "csv": done.csv,
                "picture": done.picture,
                "rows": [asdict(row) for row in done.rows],
            }
        )
        return
    from paretoid.validation.paper.report import NAMES, shown

    heads, cells, notes = shown(done.rows)
    title = f"{name}: {EXPERIMENTS[name]} ({counted(done.count, 'run')}, seed {seed})"
    parts = [wrap(title), "", table(heads, cells, names=NAMES), *map(wrap, notes)]
    say("\n".join(parts))
