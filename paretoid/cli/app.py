"""The `paretoid` command. Short on purpose: each command is a thin face of one function."""

from __future__ import annotations

import logging
import sys
import traceback
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any, NoReturn

import typer

from paretoid.cli.bounds import bounds
from paretoid.cli.certify import certify
from paretoid.cli.datasets import datasets
from paretoid.cli.fit import fit
from paretoid.cli.oc import oc
from paretoid.cli.options import Json
from paretoid.cli.plan import plan
from paretoid.cli.report import report
from paretoid.cli.reproduce import reproduce
from paretoid.cli.simulate import simulate
from paretoid.cli.terminal import Interrupted, NotShown, note, say, say_json, width
from paretoid.cli.trial import app as trial

#: what the number means with which a command ends
EXIT_CODES = {
    0: "fine",
    1: "a check failed",
    2: "bad input",
    3: "a mistake of paretoid's own",
    4: "recorded but not shown",
    130: "interrupted",
}
_CODES = ", ".join(f"{code} {meaning}" for code, meaning in EXIT_CODES.items())

app = typer.Typer(
    add_completion=True,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Find the Pareto-optimal arms of a noisy multi-objective experiment, with a guarantee.",
    epilog="Example: paretoid simulate covboost --k 2 --replications 20\n\n"
    f"Results go to stdout, progress to stderr. Exit codes: {_CODES}. `paretoid "
    "--install-completion` makes Tab complete commands, options and names.",
)
app.command()(plan)
app.command()(oc)
app.command()(fit)
app.command()(simulate)
app.command()(report)
app.command()(bounds)
app.command()(datasets)
app.add_typer(trial, name="trial")
app.command()(certify)
app.command()(reproduce)


def _print_version(asked: bool) -> None:
    if asked:
        import paretoid

        say(paretoid.__version__)
        raise typer.Exit


@app.callback()
def _root(
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the traceback of an error; also after a command.")
    ] = False,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and end."
        ),
    ] = False,
) -> None:
    """Keeps subcommands subcommands while there are few of them."""


@app.command()
def version(json: Json = False) -> None:
    """Print the version; with --json those of the libraries too.

    Example: paretoid version --json
    """
    import paretoid

    if not json:
        say(paretoid.__version__)
        return
    from paretoid.versions import versions

    say_json(versions("numpy", "scipy", "numba", "xarray", "pymc", "arviz", "dask"))


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Entry point: bad input ends with one sentence on stderr and exit code 2."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    end = words.index("--") if "--" in words else len(words)
    debug = "--debug" in words[:end]
    words = [word for word in words[:end] if word != "--debug"] + words[end:]

    def warned(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        if debug or issubclass(category, UserWarning):  # others are between programmers
            note(_in_words_of(words, str(message)))

    with warnings.catch_warnings(), _noted():
        warnings.showwarning = warned
        _run(words, debug)
    raise SystemExit(0)


class _Notes(logging.Handler):
    """What the library logs, as lines on stderr."""

    def emit(self, record: logging.LogRecord) -> None:
        """One line."""
        note(record.getMessage())


@contextmanager
def _noted() -> Iterator[None]:
    """Meanwhile what the library logs is printed as the command's own lines are, and only there."""
    log, handler = logging.getLogger("paretoid"), _Notes()
    before = log.level, log.propagate
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    log.propagate = False
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.level, log.propagate = before


def _run(words: list[str], debug: bool) -> None:
    """The command, and one sentence about how it failed."""
    try:
        # Click's help is never narrower than 50 columns unless told so.
        app(words, prog_name="paretoid", terminal_width=width() if width() < 52 else None)
    except SystemExit as ended:
        if ended.code == 130:
            note("interrupted.")
        raise
    except Exception as error:
        if debug:
            traceback.print_exc()
        raise SystemExit(_explain(error, debug, words)) from None


def _in_words_of(words: Sequence[str], message: str) -> str:
    """What the library says, in the options of the command that somebody typed."""
    from paretoid.cli.wording import command_of, in_command_words, options_of

    command, path = command_of(typer.main.get_command(app), words)
    return in_command_words(message, options_of(command), design=path[:1] == ["trial"])


def _explain(error: Exception, debug: bool, words: Sequence[str] = ()) -> int:
    """One sentence about what went wrong, on stderr; returns the exit code."""
    if isinstance(error, Interrupted):
        note(f"interrupted. {error}")
        return 130
    if isinstance(error, NotShown):
        note(_in_words_of(words, str(error)))
        return 4
    if isinstance(error, ValueError):
        note(_in_words_of(words, str(error)))
        return 2
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename is not None else ""
        note(f"{where}{error.strerror or error}.")
        return 2
    if isinstance(error, MemoryError):
        note("there is not enough memory for this; ask for less at a time.")
        return 2
    note(f"a mistake of paretoid's own, {type(error).__name__}: {error}")
    if not debug:
        note("please report it with what the same command prints with --debug.")
    return 3
