"""`paretoid trial`: a live experiment in a ledger file, from the command line.

Every command prints the head hash last; keep one elsewhere for `verify --head`.
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from paretoid.cli import ledger_files, site, sync
from paretoid.cli.conduct import Control, control_of
from paretoid.cli.entry import (
    Author,
    Group,
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
from paretoid.cli.terminal import check_stdout, note, width
from paretoid.cli.wording import in_command_words
from paretoid.text import counted, visible

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Run a real adaptive experiment, with a log of all of it.\n\n"
    "Example: paretoid trial new design.toml trial.db",
)


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

    \b
    Examples:
      paretoid trial new design.toml trial.db
      paretoid trial new design.toml trial.db --seed-file pharmacy/seed.json
    """
    from paretoid.explorer import Design, Explorer
    from paretoid.explorer.blinding import blind as mask
    from paretoid.report.methods import radius_label
    from paretoid.tables import read_toml

    data = read_toml(design)
    if control is not None:
        data = _with_control(data, control)
    try:
        checked = Design.from_dict(data)
    except ValueError as error:
        raise ValueError(f"{design}: {in_command_words(str(error), {}, design=True)}") from None
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
        goals = visible(", ".join(goal.label(checked.units) for goal in checked.goals))
        lines = [f"{checked.K} arms, {checked.D} objectives; {goals}; delta = {checked.delta}"]
        lines.append(visible(checked.ways))
        radius = radius_label(checked.radius, str(checked.radius))
        lines.append(f"{checked.rule}; {radius}: {checked.guarantee}")
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

    \b
    Examples:
      paretoid trial next trial.db -n 5
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

    \b
    Examples:
      paretoid trial record trial.db 17 IgG=3.1
      paretoid trial record trial.db 17 missing
      paretoid trial record trial.db --csv week3.csv

    An outcome may be missing because of the arm or of what happened before, but not because of any
    outcome of that participant, in this endpoint or another: record those as values.

    An outcome far outside what its endpoint has shown, a likely wrong unit and a duplicate are
    asked back first; --yes records them, with a note in the log.
    """
    from paretoid.explorer import Explorer
    from paretoid.explorer.files import read_outcomes
    from paretoid.explorer.status import labels
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
            asked_for = labels(explorer.design.goals, explorer.design.units)
            lines = [f"recorded {count}"] + [
                f"{visible(asked_for[g])}: {', '.join(map(visible, a)) or 'no arm'}"
                for g, a in given.items()
            ]
            show({"recorded": count, "answered": given, "head": explorer.head}, lines, json)


@app.command(context_settings={"ignore_unknown_options": True})
def correct(
    ledger: LedgerFile,
    id: Annotated[str, typer.Argument(help="The allocation's id.")],
    outcome: Outcomes = None,
    arm: Annotated[
        str | None, typer.Option(help="Instead of an outcome: the arm that was received.")
    ] = None,
    reason: Annotated[str, typer.Option(help="Why; it goes into the log.")] = "",
    author: Author = None,
    yes: Yes = False,
    json: Json = False,
) -> None:
    """Correct outcomes recorded before, or the arm; what was recorded stays in the log.

    \b
    Examples:
      paretoid trial correct trial.db 17 IgG=3.4 --reason "typing error"
      paretoid trial correct trial.db 17 --arm B --reason "kits swapped"
    """
    from paretoid.explorer import Explorer

    if (arm is None) == (not outcome):
        raise ValueError(
            "say what is right: OUTCOME..., for instance IgG=3.4, or --arm; each has a command of "
            "its own."
        )
    with Explorer.open(ledger, author=author) as explorer:
        if not reason.strip():
            raise ValueError("a correction needs --reason: it goes into the log.")
        words = outcome or []
        confirm(f"Correct {id} to {arm or ' '.join(words)}? Both stay in the log.", yes, json)
        if arm is None:
            explorer.correct(id, as_told(words), reason=reason)
        else:
            explorer.correct_arm(id, arm, reason=reason)
        with recorded(f"corrected {id}") as show:
            show({"corrected": id, "head": explorer.head}, [f"corrected {id}"], json)


@app.command()
def status(ledger: LedgerFile, json: Json = False) -> None:
    """What is certain, what waits, how many samples more to expect.

    Example: paretoid trial status trial.db
    """
    from paretoid.explorer import Explorer
    from paretoid.explorer.queue import Queue

    with Explorer.open(ledger) as explorer:
        standing = explorer.status()
        odd = [waiting.name for waiting in Queue.of(explorer).waiting.values()]
        lines = [standing.words(width(default=10_000))]
        if odd:
            lines.append(
                f"{counted(len(odd), 'odd outcome')} of sites not recorded yet: "
                f"`paretoid trial sync {shlex.quote(str(ledger))}` asks about them"
            )
        show({**standing.to_dict(), "odd": odd}, lines, json)


def _with_control(data: dict[str, Any], word: str) -> dict[str, Any]:
    """A design with the control that --control names, and perhaps its share."""
    scheme = data.get("randomise")
    if not isinstance(scheme, dict):
        raise ValueError(
            f"--control {word}: the protected share of a control is part of how arms are drawn, "
            f"and the design has no [randomise]. Add it, for instance with block = 6."
        )
    return {**data, "randomise": {**scheme, **control_of(word, data.get("arms", ()))}}


for command in (ledger_files.verify, ledger_files.backup, ledger_files.restore,
                ledger_files.export, ledger_files.report):  # fmt: skip
    app.command()(command)
app.command("add-site")(sync.add_site)
app.command("sync")(sync.sync)
app.command("codes")(sync.codes)
app.add_typer(site.app, name="site")
