"""The `paretoid` command. Short on purpose: each command is a thin face of one function."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from paretoid.commands.plan import plan
from paretoid.commands.trial import app as trial

app = typer.Typer(
    add_completion=True,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Find the Pareto-optimal arms of a noisy multi-objective experiment, with a guarantee.",
)
app.command()(plan)
app.add_typer(trial, name="trial")


@app.callback()
def _root() -> None:
    """Keeps subcommands subcommands while there are few of them."""


@app.command()
def version() -> None:
    """Print the version."""
    import paretoid

    typer.echo(paretoid.__version__)


@app.command()
def demo(
    instance: Annotated[str, typer.Argument(help="A bundled instance.")] = "covboost",
    k: Annotated[int | None, typer.Option(help="Ask for at most k arms, besides all.")] = 2,
    eps1: Annotated[float, typer.Option(help="Slack, in the objectives' own units.")] = 0.0,
    delta: Annotated[float, typer.Option(help="Allowed probability of a wrong answer.")] = 0.1,
    replications: Annotated[int, typer.Option(help="How many simulated experiments.")] = 100,
    seed: Annotated[int, typer.Option(help="The same seed gives the same numbers.")] = 1,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress bar.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Simulate adaptive experiments on a bundled instance; say which arms and how many samples.

    Example: paretoid demo covboost --k 2 --delta 0.1
    """
    import paretoid as pt
    from paretoid.demo import as_json, as_text

    goals: list[pt.Goal] = [pt.ParetoSet(eps1)]
    if k is not None:
        goals.append(pt.AtMost(k, eps1))
    bandit = pt.load_instance(instance)
    runs = pt.simulate(
        bandit,
        goals,
        delta=delta,
        replications=replications,
        seed=seed,
        progress=not quiet and sys.stderr.isatty(),
    )
    typer.echo(as_json(runs) if json else as_text(runs, bandit))


@app.command()
def reproduce(
    name: Annotated[str, typer.Argument(help="Which experiment; see the list below.")],
    quick: Annotated[bool, typer.Option("--quick", help="About a minute.")] = False,
    replications: Annotated[int | None, typer.Option(help="Runs or instances.")] = None,
    out: Annotated[Path, typer.Option(help="Folder for the results.")] = Path("reproduced"),
    seed: Annotated[int, typer.Option(help="The same seed gives the same numbers.")] = 1,
) -> None:
    """Repeat an experiment of the paper beside its published figures.

    table1, covboost, cover-random, cover-fixed, slow-elimination, k-elimination, best-arm, large.

    Example: paretoid reproduce table1 --quick
    """
    from validation.paper import reproduce as repeat

    repeat(name, quick=quick, replications=replications, out=out, seed=seed)


@app.command()
def certify(
    quick: Annotated[bool, typer.Option("--quick", help="About a minute.")] = False,
    full: Annotated[bool, typer.Option("--full", help="Many more runs.")] = False,
    out: Annotated[Path, typer.Option(help="Folder for certificate.json and .md.")] = Path(),
    seed: Annotated[int, typer.Option(help="The same seed gives the same numbers.")] = 0,
) -> None:
    """Check that every proved guarantee holds on this machine; exit code 1 if one does not.

    Example: paretoid certify --quick --out results
    """
    from validation.certify import main as run

    flags = [flag for flag, on in (("--quick", quick), ("--full", full)) if on]
    raise SystemExit(run([*flags, "--seed", str(seed), "--out", str(out)]))


def main(arguments: Sequence[str] | None = None) -> None:
    """Entry point: bad input ends with one sentence on stderr and exit code 2."""
    try:
        app(arguments, prog_name="paretoid")
    except ValueError as error:
        typer.echo(f"paretoid: {error}", err=True)
        raise SystemExit(2) from None
    except BrokenPipeError:  # piped into head
        sys.stderr.close()
        raise SystemExit(0) from None
