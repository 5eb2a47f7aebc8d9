"""The ledger of a trial as a whole: verified, copied, restored, exported, put on a page."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Annotated

import typer

from paretoid.cli.entry import Group, Json, LedgerFile, SeedFile, recorded, show
from paretoid.cli.options import Force
from paretoid.cli.terminal import note, say_json


def verify(
    ledger: LedgerFile,
    head: Annotated[str | None, typer.Option(help="A head hash kept elsewhere.")] = None,
    seed_file: SeedFile = None,
    json: Json = False,
) -> None:
    """Check the whole log: hashes, sense, answers, snapshot; with --head also for a cut tail.

    With the seed file of a randomised trial also that every subject got the arm of the list.
    Exit code 0 says that it is sound, 1 that it is not, 2 that there was no ledger to check, or
    that the seed file is not the trial's.

    Example: paretoid trial verify trial.db --head HASH

    Example: paretoid trial verify trial.db --seed-file pharmacy/seed.json
    """
    from paretoid.explorer import Explorer, LedgerError
    from paretoid.explorer.events import as_head

    head = as_head(head)
    _refuse_other_files(ledger)
    try:
        with Explorer.open(ledger) as explorer, warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            last = explorer.verify(head, seed_file=seed_file)
            events = sum(1 for _ in explorer.rows())
            randomised = explorer.design.randomise is not None
    except LedgerError as problem:
        if json:
            say_json({"sound": False, "problem": str(problem)})
        else:
            note(str(problem))
        raise typer.Exit(1) from None
    notes = [str(warning.message) for warning in caught]
    lines = [f"{events} events, all sound"]
    if head is None:
        lines.append("a cut tail or a rewritten log shows only against a hash kept elsewhere")
    if seed_file is not None:
        lines.append("every arm that was drawn is the one that the secret's list says")
    elif randomised:
        lines.append("whether arms follow the secret's list shows only with --seed-file")
    lines += [f"note: {words}" for words in notes]
    result = {"events": events, "sound": True, "notes": notes, "head": last}
    if randomised:
        result["list_followed"] = True if seed_file is not None else None
    show(result, lines, json)


def backup(
    ledger: LedgerFile,
    copy: Annotated[Path, typer.Argument(help="A new file.")],
    json: Json = False,
) -> None:
    """Copy a ledger, whole and verified, while the trial goes on. Do not use cp.

    A ledger that is open is several files (TRIAL.DB-wal has what was recorded last), and cp of one
    of them is no copy. Exit code 1: the copy was not sound and was not kept.

    Example: paretoid trial backup trial.db monday.db
    """
    _copied(ledger, copy, "backup", json)


def restore(
    copy: Annotated[Path, typer.Argument(help="What `trial backup` wrote.")],
    ledger: Annotated[Path, typer.Argument(metavar="TRIAL.DB", help="A new file.")],
    head: Annotated[str | None, typer.Option(help="A head hash kept elsewhere.")] = None,
    group: Group = False,
    json: Json = False,
) -> None:
    """Make a ledger of a backup, verified; an existing file is never overwritten.

    What was recorded after the backup is not in it. Exit code 1: it was not sound; nothing is made.

    Example: paretoid trial restore monday.db trial.db --head HASH
    """
    _copied(copy, ledger, "ledger", json, head=head, group=group)


def _refuse_other_files(path: Path) -> None:
    """What is no ledger at all, or of a newer paretoid, is bad input; a damaged one is not."""
    from paretoid.explorer import LedgerError
    from paretoid.explorer.ledger import APPLICATION, Ledger, NewerFormatError
    from paretoid.explorer.place import begins_as_ledger

    try:
        Ledger(path).close()
    except NewerFormatError:
        raise
    except LedgerError:
        if not path.is_file() or not begins_as_ledger(path, APPLICATION):
            raise


def _copied(
    source: Path, target: Path, what: str, json: bool, *, head: str | None = None,
    group: bool = False,
) -> None:  # fmt: skip
    from paretoid.explorer import LedgerError
    from paretoid.explorer.backup import copy_ledger

    _refuse_other_files(source)
    if target.exists():
        raise ValueError(f"{target} exists already, and a ledger is never overwritten.")
    try:
        events, last = copy_ledger(source, target, head=head, group=group)
    except LedgerError as problem:
        note(f"no {what} was made. {problem}")
        raise typer.Exit(1) from None
    with recorded(f"{target} is written and verified") as show:
        result = {"file": str(target), "events": events, "head": last}
        show(result, [f"{events} events in {target}, all sound"], json)


def export(
    ledger: LedgerFile,
    file: Annotated[Path, typer.Argument(help="A new file, .csv or .nc (netCDF).")],
    events: Annotated[bool, typer.Option("--events", help="The log instead (CSV).")] = False,
    json: Json = False,
) -> None:
    """Write allocations and outcomes, or the log, to a file.

    Example: paretoid trial export trial.db outcomes.csv
    """
    from paretoid.explorer import Explorer
    from paretoid.explorer.files import export as write

    with Explorer.open(ledger) as explorer:
        rows = write(explorer, file, events=events)
        with recorded(f"{rows} rows written to {file}") as show:
            result = {"file": str(file), "rows": rows, "head": explorer.head}
            show(result, [f"{rows} rows in {file}"], json)


def report(
    ledger: LedgerFile,
    out: Annotated[Path, typer.Option(metavar="FILE.html", help="A new file, of mode 0600.")],
    force: Force = False,
    json: Json = False,
) -> None:
    """Write a page on a running or ended trial: flow of participants, verdicts, design, head.

    The log is verified first; exit code 1 says that it is not sound, and nothing is written. The
    ledger is only read. The page shows means by arm: it is not for those who enrol participants.

    Example: paretoid trial report trial.db --out report.html
    """
    from paretoid.explorer import Explorer, LedgerError
    from paretoid.report.page import write_page
    from paretoid.report.trial import page_and_head
    from paretoid.writing import may_write

    if out.suffix.lower() not in (".html", ".htm"):
        raise ValueError(f"--out {out} must end in .html: the report is a page.")
    may_write(out, force=force)
    if out.exists() and ledger.exists() and out.samefile(ledger):
        raise ValueError(f"--out {out} is the ledger itself, which is never replaced.")
    _refuse_other_files(ledger)
    try:
        with Explorer.open(ledger) as explorer:
            page, head = page_and_head(explorer)
    except LedgerError as problem:
        note(f"no report was written. {problem}")
        raise typer.Exit(1) from None
    write_page(out, page, force=force, private=True)
    show({"file": str(out), "head": head}, [f"wrote {out}"], json)
