"""`paretoid trial site`: what a site does, on its own folder and without the ledger."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from paretoid.cli.entry import (
    Author,
    Json,
    Outcomes,
    Yes,
    as_told,
    asked_back,
    confirm,
    recorded,
    show,
)
from paretoid.cli.terminal import check_stdout
from paretoid.text import counted, table, visible

if TYPE_CHECKING:
    from paretoid.explorer.site import Site

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="What a site does: ask for places, report outcomes, see its own entries.\n\n"
    "A site works on its folder, which `paretoid trial add-site` made, and needs no ledger. What "
    "it enters waits there until the statistician runs `paretoid trial sync`.\n\n"
    "Example: paretoid trial site enrol sites/north",
)

Folder = Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder of the site.")]
Code = Annotated[str, typer.Argument(help="The participant's code.")]
Reason = Annotated[str, typer.Option(help="Why; it goes into the log.")]

_WAITS = "it waits until the statistician synchronises"


@app.command()
def enrol(
    folder: Folder,
    n: Annotated[int, typer.Option("-n", help="For how many participants.")] = 1,
    stratum: Annotated[
        str | None, typer.Option(help="Where strata are not sites: the participant's.")
    ] = None,
    author: Author = None,
    json: Json = False,
) -> None:
    """Ask for places for the next participants; prints their codes.

    A code is for one participant. It has a place, and where arms are shown an arm, once the
    statistician has synchronised: see `list`.

    Example: paretoid trial site enrol sites/north -n 2
    """
    check_stdout()
    site = _site(folder, author)
    codes = site.enrol(n, stratum=stratum)
    with recorded(f"places are asked for, by the codes {', '.join(codes)}") as shown:
        shown({"codes": codes}, [*codes, f"asked for {counted(len(codes), 'place')}"], json)


@app.command(context_settings={"ignore_unknown_options": True})  # outcomes may be negative
def record(
    folder: Folder,
    code: Code,
    outcome: Outcomes = None,
    author: Author = None,
    yes: Yes = False,
    json: Json = False,
) -> None:
    """Report outcomes of a participant; what is not named has not arrived yet.

    Whether one is missing must not depend on any outcome of the participant, in any endpoint.

    An outcome far from those that this site has entered, a likely wrong unit and a duplicate are
    asked back first; --yes enters them, with a note in the log.

    \b
    Examples:
      paretoid trial site record sites/north K7QXM2PA IgG=3.1
      paretoid trial site record sites/north K7QXM2PA missing
    """
    site, told = _site(folder, author), _told(outcome)
    if told == "missing":
        confirm(f"Report that {code} has left? It cannot be erased.", yes, json)
    (said,) = asked_back([site.plausible(code, told)], yes, json)
    site.tell(code, told, note=said)
    with recorded(f"the outcome of {code} is entered") as shown:
        shown({"entered": code}, [f"entered {code}; {_WAITS}"], json)


@app.command(context_settings={"ignore_unknown_options": True})
def correct(
    folder: Folder,
    code: Code,
    outcome: Outcomes = None,
    reason: Reason = "",
    author: Author = None,
    yes: Yes = False,
    json: Json = False,
) -> None:
    """Correct outcomes entered before; the old ones stay in the log.

    Example: paretoid trial site correct sites/north K7QXM2PA IgG=3.4 --reason "typing error"
    """
    site, told = _site(folder, author), _told(outcome)
    confirm(f"Correct {code} to {' '.join(outcome or [])}? Both stay in the log.", yes, json)
    site.correct(code, told, reason=reason)
    with recorded(f"the correction of {code} is entered") as shown:
        shown({"entered": code}, [f"entered the correction of {code}; {_WAITS}"], json)


@app.command()
def withdraw(
    folder: Folder,
    code: Code,
    reason: Reason = "",
    author: Author = None,
    yes: Yes = False,
    json: Json = False,
) -> None:
    """Give back a place that nobody received; a participant who has left is `record missing`.

    Example: paretoid trial site withdraw sites/north K7QXM2PA --reason "did not come"
    """
    site = _site(folder, author)
    confirm(f"Give back {code}? It cannot be undone, and stays in the log.", yes, json)
    site.withdraw(code, reason=reason)
    with recorded(f"the withdrawal of {code} is entered") as shown:
        shown({"entered": code}, [f"entered the withdrawal of {code}; {_WAITS}"], json)


@app.command("list")
def list_(folder: Folder, json: Json = False) -> None:
    """The site's own participants and entries, with what became of them.

    Example: paretoid trial site list sites/north
    """
    site = _site(folder, None)
    people, entries = site.participants(), site.entries()
    unanswered = [entry for entry in entries if entry["answer"] == "waiting"]
    refused = [entry for entry in entries if entry["answer"] not in ("waiting", "taken")]
    lines = [visible(site.name)]
    if people:
        heads = ["code", "arm"] if "arm" in people[0] else ["code"]
        rows = [[visible(str(person[head])) for head in heads] + [_known(person)]
                for person in people]  # fmt: skip
        lines.append(table([*heads, "outcomes"], rows, names=len(heads) + 1))
    lines.append(f"{counted(len(people), 'participant')}")
    lines += [f"waiting: {_named(entry)}" for entry in unanswered]
    lines += [f"refused: {_named(entry)}: {visible(entry['answer'])}" for entry in refused]
    show({"site": site.name, "participants": people, "entries": entries}, lines, json)


def _site(folder: Path, author: str | None) -> Site:
    from paretoid.explorer.session import user
    from paretoid.explorer.site import Site

    return Site(folder, author=user() if author is None else author)


def _told(outcome: list[str] | None) -> Any:
    if not outcome:
        raise ValueError("say what was measured: OUTCOME..., for instance IgG=3.4.")
    return as_told(outcome)


def _known(person: dict[str, Any]) -> str:
    """What is known of a participant, in words."""
    if person["withdrawn"]:
        return "withdrawn"
    told = ", ".join(f"{name}={value}" for name, value in person["outcomes"].items())
    return visible(told) if told else "-"


def _named(entry: dict[str, Any]) -> str:
    return visible(f"{entry['what']} {entry['code']}".strip())
