"""What the commands of a live trial share: outcomes in words, questions, saying what was done."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from paretoid.cli.options import names_and_files
from paretoid.cli.terminal import Interrupted, NotShown, note, say, width
from paretoid.text import as_json as as_text
from paretoid.text import visible

Author = Annotated[str | None, typer.Option(help="Who does this; by default the user.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON and ask nothing.")]
SeedFile = Annotated[
    Path | None,
    typer.Option("--seed-file", help="Of a randomised trial: the secret that arms follow from."),
]
Group = Annotated[
    bool, typer.Option("--group", help="The group may write it too: mode 0660, not 0600.")
]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")]
Outcomes = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[OUTCOME]...",
        help="One number per objective in order, or NAME=NUMBER, or NAME=missing, or missing.",
    ),
]
LedgerFile = Annotated[
    Path,
    typer.Argument(
        metavar="TRIAL.DB",
        help="The ledger of the trial.",
        autocompletion=names_and_files(tuple, ".db"),
    ),
]


def as_told(words: list[str]) -> Any:
    """An outcome from words: "missing", numbers in order, or NAME=VALUE."""
    if words == ["missing"]:
        return "missing"
    named = ["=" in word for word in words]
    if not any(named):
        return list(words)
    if not all(named):
        raise ValueError(f"{' '.join(words)}: give NAME=NUMBER for every outcome, or for none.")
    pairs = [word.rsplit("=", 1) for word in words]
    if len({name for name, _ in pairs}) < len(pairs):
        raise ValueError(f"{' '.join(words)}: an objective comes twice.")
    return dict(pairs)


def asked_back(asked: Sequence[tuple[str, ...]], yes: bool, json: bool) -> list[str | None]:
    """Ask about what is not plausible; the notes that go into the log with what is recorded."""
    questions = [words for sentences in asked for words in sentences]
    for words in questions[:20]:
        note(visible(words))
    if len(questions) > 20:
        note(f"... and {len(questions) - 20} more")
    if questions and not yes:
        if json:
            raise ValueError(
                f"{questions[0]} Nothing was recorded; if it was measured so, pass --yes, and it "
                f"is recorded with a note."
            )
        confirm("Record it all the same, with a note in the log?", yes, json)
    return [
        f"asked back: {' '.join(sentences)} Confirmed." if sentences else None
        for sentences in asked
    ]


def confirm(question: str, yes: bool, json: bool) -> None:
    """Ask on stderr whether to go on; with --yes or --json nobody is asked."""
    if yes or json:
        return
    try:
        agreed = typer.confirm(question, err=True)
    except typer.Abort as ended:
        if isinstance(ended.__context__, EOFError):  # and not Ctrl-C
            raise ValueError("nobody is there to confirm; pass --yes to go on unasked.") from None
        raise
    if not agreed:
        raise typer.Abort


@contextmanager
def recorded(what: str) -> Iterator[Callable[[dict[str, Any], list[str], bool], None]]:
    """What shows the result of something done: failing to show it is not failing to do it."""
    say_so = f"{what}. That is done and must not be repeated"
    try:
        yield partial(show, vital=True)
    except KeyboardInterrupt:
        raise Interrupted(f"{say_so}.") from None
    except Exception as error:
        raise NotShown(f"{say_so}; only showing it failed: {error}") from error


def show(result: dict[str, Any], lines: list[str], as_json: bool, *, vital: bool = False) -> None:
    """Print what was done, as lines, with the head of the ledger last if there is one; or JSON."""
    if as_json:
        words = as_text(result)
    else:
        text = "\n".join(lines).split("\n")
        last = [f"head {result['head']}"] if "head" in result else []
        words = "\n".join([*map(_folded, text), *last])
    say(words, vital=vital)


def _folded(line: str) -> str:
    """A line that fits the terminal, or the variable COLUMNS; in a pipe as it is."""
    room = width(default=10_000)
    return line if len(line) <= room else textwrap.fill(line, room, subsequent_indent="  ")
