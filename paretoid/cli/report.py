"""`paretoid report`: a stored campaign as one HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from paretoid.cli.command_line import command_as_typed
from paretoid.cli.options import Force, Json, Quiet, names_and_files
from paretoid.cli.terminal import check_file, note, say, say_json


def report(
    context: typer.Context,
    store: Annotated[
        Path,
        typer.Argument(
            metavar="STORE",
            help="Directory of a campaign, as simulate --store leaves it.",
            autocompletion=names_and_files(tuple, "/"),  # no file ends so: directories only
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE.html", help="Where to write it; default STORE/report.html."),
    ] = None,
    force: Force = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Write a stored campaign as one HTML file.

    Samples, errors beside delta, answers, methods. The file needs no network and no other file;
    its path is printed. With --json the numbers are printed instead, and the file is written only
    where --out asks for it.

    Example: paretoid simulate covboost --k 2 --store runs && paretoid report runs
    """
    check_file(out, (".html", ".htm"), force=force)
    from paretoid.report import campaign_report, read_store
    from paretoid.report.page import write_page
    from paretoid.report.stored import as_dict

    if not (store / "campaign.json").exists():
        raise ValueError(
            f"{str(store)!r} is no campaign: it has no campaign.json. Give the directory that "
            f"`paretoid simulate --store` (store= in Python) wrote to."
        )
    path = store / "report.html" if out is None else out
    if out is None and not json:
        check_file(path, (".html",), force=force)
    note(f"reading {store} ...", quiet)
    stored = read_store(store)
    if json:
        say_json(as_dict(stored))
    if out is None and json:
        return
    write_page(path, campaign_report(stored, command=command_as_typed(context)), force=force)
    if json:
        note(f"wrote {path}", quiet)
    else:
        say(str(path))
