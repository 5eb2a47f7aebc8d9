"""Options and arguments that several commands share, and what the Tab key offers for them.

Each command takes those that mean something to it, always by the same name with the same sense.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated

import typer


def shell_names(names: Iterable[str], default: str = "") -> str:
    """Names of members as one types them in a shell, with commas between.

    >>> shell_names(["APE", "UniformElimination", "LUCBpp"], default="APE")
    'ape (default), uniform-elimination, lucbpp'
    """
    typed = {name: re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name).lower() for name in names}
    return ", ".join(f"{word} (default)" * (name == default) or word
                     for name, word in typed.items())  # fmt: skip


def names_and_files(
    names: Callable[[], Iterable[str]], *suffixes: str
) -> Callable[[str], list[str]]:
    """A completion: the names that fit, then files with these suffixes and directories."""

    def complete(incomplete: str) -> list[str]:
        offered = [name for name in names() if name.startswith(incomplete)]
        start = Path(incomplete)
        folder = start if incomplete.endswith("/") else start.parent
        begin = "" if incomplete.endswith("/") else start.name
        try:
            beside = sorted(folder.iterdir()) if suffixes else []
        except OSError:
            beside = []
        for path in beside:
            if not path.name.startswith(begin) or (path.name.startswith(".") and not begin):
                continue
            if path.is_dir():
                offered.append(f"{path}/")
            elif path.suffix.lower() in suffixes:
                offered.append(str(path))
        return offered

    return complete


def _instances() -> Iterable[str]:
    from paretoid.instances import INSTANCES

    return INSTANCES


def _trials() -> Iterable[str]:
    """Trials that a fit takes as they are: every cell says how many were measured."""
    import numpy as np

    from paretoid.estimation.datasets import TRIALS, load_trial

    return [name for name in TRIALS if np.isfinite(load_trial(name).counts).all()]


def _either() -> Iterable[str]:
    from paretoid.estimation.datasets import TRIALS

    return dict.fromkeys([*_instances(), *TRIALS])


Json = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress on stderr.")]
Seed = Annotated[int, typer.Option(help="The same seed gives the same numbers.")]
Delta = Annotated[float, typer.Option(help="Allowed probability of a wrong answer.")]
OutDir = Annotated[Path | None, typer.Option(metavar="DIR", help="Write all results as files.")]
OutFile = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Write results: .nc (netCDF), .csv or .json.")
]
Force = Annotated[bool, typer.Option("--force", help="Replace files that exist already.")]
Eps1 = Annotated[
    str,
    typer.Option(
        metavar="X[,X...]",
        help="Margin in the objectives' units, one or one each; being close in one objective is "
        "enough to be within it.",
    ),
]

MarginMeans = Annotated[
    str,
    typer.Option(
        metavar="any|all",
        help="any: an arm is within the margin if it is close in one endpoint. all: it is left out "
        "for one that is better by more than the margin somewhere and worse by more nowhere; for "
        "the whole set only.",
    ),
]

Limit = Annotated[
    list[str] | None,
    typer.Option(
        "--limit",
        metavar="'NAME<X'",
        help="Only arms that meet it, say fever<0.3 or effect>2, slack=0.1; in the "
        "endpoint's units (logs if log-normal). Not compared in domination, unless ',compared'.",
    ),
]

Instance = Annotated[
    str,
    typer.Argument(
        metavar="INSTANCE",
        help="A bundled instance (see `paretoid datasets`), or a CSV or TOML file.",
        autocompletion=names_and_files(_instances, ".csv", ".toml"),
    ),
]
Kind = Annotated[
    str | None, typer.Option(metavar="KIND", help="Of a CSV: gaussian (default) or bernoulli.")
]
Scale = Annotated[
    str | None,
    typer.Option(metavar="S[,S...]", help="Of a CSV: standard deviation; one, or one each."),
]
Less = Annotated[
    str | None, typer.Option(metavar="NAME,...", help="Of a CSV: objectives where less is better.")
]

More = Annotated[
    str | None,
    typer.Option("--maximize", metavar="NAME,...", help="Where more is better, against its name."),
]

Trial = Annotated[
    str,
    typer.Argument(
        metavar="TRIAL",
        help="A bundled trial (see `paretoid datasets`), or a table as a CSV or Excel file.",
        autocompletion=names_and_files(_trials, ".csv", ".xlsx"),
    ),
]
Dataset = Annotated[
    str | None,
    typer.Argument(help="Show this one.", autocompletion=names_and_files(_either)),
]


def numbers(text: str | None, option: str) -> float | list[float] | None:
    """One number, or a list of them with commas between.

    >>> numbers("0.5", "--eps1"), numbers("0.5, 1", "--eps1"), numbers(None, "--eps1")
    (0.5, [0.5, 1.0], None)
    """
    if text is None:
        return None
    try:
        values = [float(part) for part in text.split(",")]
    except ValueError:
        raise ValueError(
            f"{option} {text!r} must be a number, or several with commas between."
        ) from None
    return values[0] if len(values) == 1 else values


def words(text: str | None) -> list[str]:
    """The names in a text, which have commas between them."""
    return [part.strip() for part in (text or "").split(",") if part.strip()]
