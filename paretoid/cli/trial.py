"""`paretoid trial`: a live experiment in a ledger file, from the command line.

Every command prints the head hash last; keep one elsewhere for `verify --head`.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Annotated, Any

import typer

from paretoid.cli import site, sync
from paretoid.cli.conduct import Control, control_of
from paretoid.cli.entry import (
    Author,
    Json,
    LedgerFile,
    Outcomes,
    SeedFile,
    Yes,
    as_told,
    asked_back,
    confirm,
    recorded,
    show,
)
from paretoid.cli.options import Force
from paretoid.cli.terminal import check_stdout, note, say_json
from paretoid.text import visible

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Run a real adaptive experiment, with a log of all of it.\n\n"
    "Example: paretoid trial new design.toml trial.db",
)

Group = Annotated[
    bool, typer.Option("--group", help="The group may write it too: mode 0660, not 0600.")
]


@app.command()
def new(
    design: Annotated[Path, typer.Argument(metavar="DESIGN.TOML", help="Arms, objectives, ...")],
    ledger: LedgerFile,
    blind: Annotated[
        Path | None, typer.Option(help="Mask the arms; write the key to this new file.")
    ] = None,
    seed_file: Annotated[
        Path | None,
        typer.Option(
            "--seed-file", help="Of a randomised trial: write its secret to this new file."
        ),
    ] = None,
    control: Control = None,
    group: Group = False,
    author: Author = None,
    json: Json = False,
) -> None:
    """Create a trial from a design; the design cannot be changed afterwards.

    A design: arms = ["a", "b"], objectives = ["IgG", "fever"], minimize = ["fever"], delta = 0.1,
    and if wished scale, outcomes (one word, or [outcomes] with response = "gaussian",
    harm = "binary", pain = [0, 10]), seed, [[goals]] with kind = "AtMost" and k = 2, [radius] and
    [rule] with kind = "UniformElimination", for instance; max_samples = 600 and [conduct] with
    look = 100 and burn_in = 5 say how it is meant to run. `paretoid plan --out DIR` writes one.

    [randomise] draws arms by chance: floor = 0.1, block = 6 (or [4, 6]), strata = ["north",
    "south"], control = "a". Its secret goes to --seed-file: keep that apart from the ledger, with
    those who hand out arms.

    Examples: paretoid trial new design.toml trial.db
              paretoid trial new design.toml trial.db --seed-file pharmacy/seed.json
    """
    from paretoid.explorer import Design, Explorer
    from paretoid.explorer.blinding import blind as mask
    from paretoid.tables import read_toml

    data = read_toml(design)
    if control is not None:
        data = _with_control(data, control)
    checked = Design.from_dict(data)
    if ledger.exists():
        raise ValueError(f"{ledger} exists already, and a ledger is never overwritten.")
    if blind is not None:
        masked, key = mask(checked.to_dict())
        checked = Design.from_dict(masked)
        key.save(blind)  # first: a masked trial without its key would be lost
    try:
        created = Explorer.from_design(
            checked, ledger, author=author, group=group, seed_file=seed_file
        )
    except BaseException:
        if blind is not None:  # the key of a trial that never was
            blind.unlink(missing_ok=True)
        raise
    with created as explorer, recorded(f"the trial is created in {ledger}") as show:
        result = {"design": checked.to_dict(), "head": explorer.head}
        goals = ", ".join(map(str, checked.goals))
        lines = [f"{checked.K} arms, {checked.D} objectives; {goals}; delta = {checked.delta}"]
        lines.append(f"{checked.rule}; {checked.radius}: {checked.radius.guarantee}")
        progress = explorer.status().progress
        lines += [] if progress is None else str(progress).split("\n")
        if blind is not None:
            lines.append(f"arms are masked; the key is in {blind}")
        if checked.randomise is not None:
            lines.append(f"randomised: {visible(str(checked.randomise))}")
            lines.append(f"the secret is in {seed_file}: keep it apart from {ledger}")
        show(result, lines, json)


@app.command("next")
def next_(
    ledger: LedgerFile,
    n: Annotated[int, typer.Option("-n", help="How many subjects to place.")] = 1,
    instead_of: Annotated[str | None, typer.Option(help="Override this allocation ...")] = None,
    arm: Annotated[str | None, typer.Option(help="... with this arm ...")] = None,
    reason: Annotated[str | None, typer.Option(help="... for this reason.")] = None,
    author: Author = None,
    request: Annotated[
        str | None,
        typer.Option(help="A word for this call; repeated with it, nobody is placed twice."),
    ] = None,
    seed_file: SeedFile = None,
    stratum: Annotated[
        str | None, typer.Option(help="Of a randomised trial: the subject's stratum, or site.")
    ] = None,
    yes: Yes = False,
    json: Json = False,
) -> None:
    """Place the next subjects, or override a placement by hand.

    Examples: paretoid trial next trial.db -n 5
              paretoid trial next trial.db --request "visit 17"
              paretoid trial next trial.db --seed-file pharmacy/seed.json --stratum north
    """
    from paretoid.explorer import Explorer

    check_stdout()
    with Explorer.open(ledger, author=author, seed_file=seed_file) as explorer:
        if instead_of is None:
            if arm is not None or reason is not None:
                raise ValueError("--arm and --reason override a placement; say --instead-of ID.")
            made = explorer.ask(n, request=request, stratum=stratum)
        else:
            drawn = request is not None or stratum is not None
            if arm is None or reason is None or n != 1 or drawn:
                raise ValueError(
                    "--instead-of ID needs --arm and --reason, and neither -n nor --request nor "
                    "--stratum."
                )
            confirm(f"Override allocation {instead_of} with {arm}? It stays in the log.", yes, json)
            made = [explorer.override(instead_of, arm, reason=reason)]
        placed = [{"id": a.id, "arm": a.arm} for a in made]
        lines = [f"{a.id}\t{visible(a.arm)}" for a in made]
        some = ", ".join(f"{a.id} ({visible(a.arm)})" for a in made[:20])
        some += ", ..." * (len(made) > 20)
        with recorded(
            f"allocations are made: {some}; take back those that nobody received with `paretoid "
            f"trial withdraw`, or repeat a command that had --request"
        ) as show:
            show({"allocations": placed, "head": explorer.head}, lines, json)


@app.command()
def withdraw(
    ledger: LedgerFile,
    ids: Annotated[list[str], typer.Argument(metavar="ID...", help="The allocations' ids.")],
    reason: Annotated[str, typer.Option(help="Why; it goes into the log.")] = "",
    author: Author = None,
    yes: Yes = False,
    json: Json = False,
) -> None:
    """Take back allocations that nobody received, so that later outcomes do not wait for them.

    Example: paretoid trial withdraw trial.db 17 18 --reason "never printed"
    """
    from paretoid.explorer import Explorer

    with Explorer.open(ledger, author=author) as explorer:
        if not reason.strip():
            raise ValueError("a withdrawal needs --reason: it goes into the log.")
        shown = ", ".join(ids)
        confirm(f"Withdraw {shown}? It cannot be undone, and stays in the log.", yes, json)
        explorer.withdraw(*ids, reason=reason)
        with recorded(f"{shown} withdrawn") as show:
            show({"withdrawn": ids, "head": explorer.head}, [f"withdrawn {shown}"], json)


@app.command(context_settings={"ignore_unknown_options": True})  # outcomes may be negative
def record(
    ledger: LedgerFile,
    id: Annotated[str | None, typer.Argument(help="The allocation's id.")] = None,
    outcome: Outcomes = None,
    csv: Annotated[
        Path | None, typer.Option(help="Record a file: columns id, objectives; all rows or none.")
    ] = None,
    unplanned: Annotated[
        str | None, typer.Option(metavar="ARM", help="A subject never asked for, on this arm.")
    ] = None,
    author: Author = None,
    yes: Yes = False,
    json: Json = False,
) -> None:
    """Record outcomes; what is not named has not arrived yet, `missing` never will.

    Examples: paretoid trial record trial.db 17 IgG=3.1
              paretoid trial record trial.db 17 missing
              paretoid trial record trial.db --csv week3.csv

    An outcome far outside what its endpoint has shown, a likely wrong unit and a duplicate are
    asked back first; --yes records them, with a note in the log.
    """
    from paretoid.explorer import Explorer
    from paretoid.explorer.files import read_outcomes
    from paretoid.tables import digest

    with Explorer.open(ledger, author=author) as explorer:
        before = explorer.answers
        if csv is not None:
            if id is not None or unplanned is not None:
                raise ValueError("--csv takes its ids and arms from the file; leave out the rest.")
            rows = read_outcomes(csv, explorer.design.objectives)
            if digest(csv) in explorer.design.informed_by:
                note(f"warning: {csv} informed the radius of this trial. Counted again, its data "
                     f"would break the guarantee: record new outcomes only.")  # fmt: skip
            asked = explorer.plausible_many(rows)
            notes = asked_back(asked, yes, json)
            confirm(f"Record {len(rows)} rows? They can be corrected, not erased.", yes, json)
            count = explorer.tell_many(rows, notes=notes)
        else:
            if id is None or not outcome:
                raise ValueError("say which allocation and what was measured: ID OUTCOME...")
            told = as_told(outcome)
            if told == "missing":
                confirm(f"Record that {id} has left? It cannot be erased.", yes, json)
            whose: dict[str, Any] = {"allocation": id}
            if unplanned is not None:
                whose = {"allocation": unplanned, "id": id, "unplanned": True}
            asked = [explorer.plausible(outcome=told, **whose)]
            explorer.tell(outcome=told, note=asked_back(asked, yes, json)[0], **whose)
            count = 1
        with recorded(f"recorded {count}") as show:
            answers = explorer.answers
            given = {g: a for g, a in answers.items() if a is not None and before[g] is None}
            lines = [f"recorded {count}"] + [
                f"{g}: {', '.join(map(visible, a))}" for g, a in given.items()
            ]
            show({"recorded": count, "answered": given, "head": explorer.head}, lines, json)


@app.command(context_settings={"ignore_unknown_options": True})
def correct(
    ledger: LedgerFile,
    id: Annotated[str, typer.Argument(help="The allocation's id.")],
    outcome: Outcomes = None,
    reason: Annotated[str, typer.Option(help="Why; it goes into the log.")] = "",
    author: Author = None,
    yes: Yes = False,
    json: Json = False,
) -> None:
    """Correct outcomes recorded before; the old ones stay in the log.

    Example: paretoid trial correct trial.db 17 IgG=3.4 --reason "typing error"
    """
    from paretoid.explorer import Explorer

    if not outcome:
        raise ValueError("say what the outcome is: OUTCOME..., for instance IgG=3.4.")
    with Explorer.open(ledger, author=author) as explorer:
        if not reason.strip():
            raise ValueError("a correction needs --reason: it goes into the log.")
        confirm(f"Correct {id} to {' '.join(outcome)}? Both stay in the log.", yes, json)
        explorer.correct(id, as_told(outcome), reason=reason)
        with recorded(f"corrected {id}") as show:
            show({"corrected": id, "head": explorer.head}, [f"corrected {id}"], json)


@app.command()
def status(ledger: LedgerFile, json: Json = False) -> None:
    """What is certain, what waits, how many samples more to expect.

    Example: paretoid trial status trial.db
    """
    from paretoid.explorer import Explorer

    with Explorer.open(ledger) as explorer:
        standing = explorer.status()
        show(standing.to_dict(), [str(standing)], json)


@app.command()
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

    Examples: paretoid trial verify trial.db --head HASH
              paretoid trial verify trial.db --seed-file pharmacy/seed.json
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


@app.command()
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


@app.command()
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


@app.command()
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


def _with_control(data: dict[str, Any], word: str) -> dict[str, Any]:
    """A design with the control that --control names, and perhaps its share."""
    scheme = data.get("randomise")
    if not isinstance(scheme, dict):
        raise ValueError(
            f"--control {word}: the protected share of a control is part of how arms are drawn, "
            f"and the design has no [randomise]. Add it, for instance with block = 6."
        )
    return {**data, "randomise": {**scheme, **control_of(word, data.get("arms", ()))}}


@app.command()
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


app.command("add-site")(sync.add_site)
app.command("sync")(sync.sync)
app.command("codes")(sync.codes)
app.add_typer(site.app, name="site")
