"""Sites, from the statistician's side: make a folder, take in what was entered, list the codes."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from paretoid.cli.entry import Author, Json, LedgerFile, SeedFile, recorded, show
from paretoid.cli.terminal import check_stdout
from paretoid.text import counted, table, visible

if TYPE_CHECKING:
    from paretoid.explorer.queue import Waiting
    from paretoid.explorer.sync import Taken

ShowArms = Annotated[
    bool, typer.Option("--show-arms", help="The site sees arms; without it codes alone.")
]
Name = Annotated[
    str | None, typer.Option("--site", help="The site's name; by default that of the folder.")
]


def add_site(
    ledger: LedgerFile,
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="A new folder.")],
    site: Name = None,
    show_arms: ShowArms = False,
    group: Annotated[
        str | None, typer.Option(help="A group of the system that may work on the folder.")
    ] = None,
    json: Json = False,
) -> None:
    """Make the folder that a site works on, with `paretoid trial site`, in place of the ledger.

    The site sees its own entries and, with --show-arms, arms; never means, status, other sites.
    Blinded, as by default, participants go by random codes; `codes` says who is behind them. In a
    trial randomised by site the name is that of a stratum.

    Example: paretoid trial add-site trial.db sites/north --group trial-north
    """
    from paretoid.explorer import Explorer
    from paretoid.explorer.sync import add_site as make
    from paretoid.explorer.sync import choice

    with Explorer.open(ledger) as explorer:
        make(explorer, folder, site, show_arms=show_arms, group=group)
        with recorded(f"{folder} is made") as shown:
            sees = "arms" if show_arms else "codes"
            strata = choice(explorer, site or folder.absolute().name)
            result = {
                "folder": str(folder), "arms_shown": show_arms, "strata": list(strata),
                "head": explorer.head,
            }  # fmt: skip
            lines = [f"made {folder}; the site sees its own entries and {sees}"]
            if strata:
                names = ", ".join(map(visible, strata))
                lines.append(f"the site is no stratum of its own; it chooses from {names}")
            shown(result, lines, json)


def sync(
    ledger: LedgerFile,
    folders: Annotated[
        list[Path] | None, typer.Argument(metavar="[FOLDER...]", help="Of sites.")
    ] = None,
    site: Name = None,
    show_arms: ShowArms = False,
    accept: Annotated[
        list[str] | None,
        typer.Option("--accept", metavar="NAME", help="Take this odd outcome as it is."),
    ] = None,
    refuse: Annotated[
        list[str] | None,
        typer.Option("--refuse", metavar="NAME", help="Ask the site for this odd outcome again."),
    ] = None,
    seed_file: SeedFile = None,
    author: Author = None,
    json: Json = False,
) -> None:
    """Take what sites have entered into the ledger, and answer them.

    Twice is no harm: nothing is taken twice. What is refused is said to the site and here, with
    more of the reason. An outcome that is odd for the trial is not recorded: it waits, and is
    listed here, alone and each time, by a name. --accept NAME records it as it is, with a note in
    the log; --refuse NAME asks the site for it again; a correction by the site takes its place. The
    site sees what it would see of any outcome: a question would tell it something of the arm.

    \b
    Examples:
      paretoid trial sync trial.db sites/north
      paretoid trial sync trial.db sites/* --seed-file pharmacy/seed.json
      paretoid trial sync trial.db sites/north --accept 3fa9c21b
    """
    from paretoid.explorer import Explorer, LedgerError, queue
    from paretoid.explorer.sync import sync as take

    check_stdout()
    folders = folders or []
    if site is not None and len(folders) > 1:
        raise ValueError(f"--site {site} is the name of one folder; synchronise them one by one.")
    with Explorer.open(ledger, author=author, seed_file=seed_file) as explorer:
        done: list[Taken] = []
        problems: list[str] = []
        settled: dict[str, list[str]] = {"accepted": [], "refused": []}
        for how, option, names, settle in (
            ("accepted", "--accept", accept, queue.accept),
            ("refused", "--refuse", refuse, queue.refuse),
        ):
            for name in names or []:  # before the folders, so that the site is answered at once
                try:
                    settled[how].append(settle(explorer, name).name)
                except LedgerError:
                    raise
                except ValueError as problem:
                    problems.append(f"{option} {problem}")
        for folder in folders:  # one that cannot be read keeps none of the others waiting
            try:
                done.append(take(explorer, folder, site, show_arms=show_arms))
            except LedgerError:
                raise
            except ValueError as problem:
                problems.append(str(problem))
        with recorded("what the sites entered is taken") as shown:
            waiting = list(queue.Queue.of(explorer).waiting.values())
            result = {
                "sites": [asdict(taken) for taken in done], **settled,
                "waiting": [asdict(each) for each in waiting], "head": explorer.head,
            }  # fmt: skip
            lines = [f"{how} {name}" for how, names in settled.items() for name in names]
            lines += [line for taken in done for line in _lines(taken)]
            shown(result, [*lines, *_queue(waiting, ledger)], json)
    if problems:
        raise ValueError("\n".join(problems))


def codes(
    ledger: LedgerFile,
    site: Annotated[str | None, typer.Option("--site", help="Of this site alone.")] = None,
    key: Annotated[
        Path | None, typer.Option(help="Of a blinded trial: its key, to see arms by name.")
    ] = None,
    json: Json = False,
) -> None:
    """Which arm is behind which code: for those who prepare it, never for a site.

    Example: paretoid trial codes trial.db --site north
    """
    from paretoid.explorer import Explorer
    from paretoid.explorer.blinding import Key
    from paretoid.explorer.sync import codes as listed

    names = None if key is None else Key.load(key)
    with Explorer.open(ledger) as explorer:
        people = [p for p in listed(explorer) if site is None or p.site == site]
        rows: list[dict[str, Any]] = [
            {
                "site": person.site,
                "code": person.code,
                "arm": person.arm if names is None else names.arm(person.arm),
                "withdrawn": person.withdrawn,
            }
            for person in people
        ]
        cells = [
            [visible(row["site"]), row["code"], visible(row["arm"]), "withdrawn" * row["withdrawn"]]
            for row in rows
        ]
        lines = [table(["site", "code", "arm", ""], cells, names=4)] if cells else ["no codes yet"]
        show({"codes": rows, "head": explorer.head}, lines, json)


def _lines(taken: Taken) -> list[str]:
    """What a synchronisation did, for the statistician."""
    did = f"{taken.placed} placed, {taken.recorded} recorded, {len(taken.refused)} refused"
    lines = [f"{visible(taken.site)}: {did}"]
    for number, answer, why in taken.refused:
        reason = "" if why == answer else f" ({visible(why)})"
        lines.append(f"  line {number}: {visible(answer)}{reason}")
    if taken.torn:
        lines.append("  its file ends in the middle of a line, which waits for the rest")
    if taken.gone:
        gone = counted(taken.gone, "message")
        lines.append(f"  {gone} taken before can no longer be found in its file")
    if taken.remade:
        lines.append("  its answers were missing or damaged, and were made anew from the ledger")
    return lines


def _queue(waiting: list[Waiting], ledger: Path) -> list[str]:
    """The outcomes that wait for the statistician, with what is odd and what may be done."""
    if not waiting:
        return []
    command = f"paretoid trial sync {shlex.quote(str(ledger))}"
    lines = [f"odd, and not recorded: {counted(len(waiting), 'outcome')}; no site knows of this"]
    for each in waiting:
        note = f" The site notes: {visible(each.note)}" if each.note else ""
        lines.append(
            f"  {each.name}: {visible(each.site)} {each.code}: "
            f"{visible(' '.join(each.questions))}{note}"
        )
        lines.append(f"    as it is: {command} --accept {each.name}")
        lines.append(f"    ask again: {command} --refuse {each.name}")
    return lines
