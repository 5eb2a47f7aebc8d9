"""What commands print and write: tables for people, JSON for machines, files by their suffix.

Results go to stdout, everything else to stderr. On a terminal tables are Rich's; in a pipe they
are those of `paretoid.text`, as wide as they need to be. Nothing is cut off: where a table is too
wide for the terminal, every row becomes a short list.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from paretoid import text
from paretoid.tables import write_csv
from paretoid.writing import exists_already, make_folder, may_write, new_file, write_text

if TYPE_CHECKING:
    import xarray as xr

#: no table is made narrower than this, nor are names in it
_NARROWEST, _NAME = 40, 12


class Interrupted(Exception):  # noqa: N818 - no error, the user asked for it
    """Ctrl-C, with a sentence about what was kept; `paretoid.cli.main` prints it."""


class NotShown(Exception):  # noqa: N818 - what was asked for is done
    """Something was recorded and could then not be printed; exit code 4, never bad input."""


def _terminal(stream: TextIO | None) -> bool:
    """Is it a terminal? A stream that the caller has closed (>&-) is None."""
    return stream is not None and stream.isatty()


def say(words: str = "", *, vital: bool = False) -> None:
    """Print to stdout, what its encoding lacks as \\uXXXX.

    A reader that has left (`| head`) is no error, unless what is said is `vital`.
    """
    try:
        print(
            _encodable(text.visible(words, lines=True, styled=_terminal(sys.stdout)), sys.stdout),
            flush=True,
        )
    except OSError as error:
        with contextlib.suppress(OSError, ValueError, AttributeError):
            # What could not be written is not tried again at the end of the process.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if vital or not isinstance(error, BrokenPipeError):
            raise ValueError(f"stdout cannot be written to: {error.strerror}.") from None


def check_stdout() -> None:
    """Refuse to go on where nobody could be told the result."""
    if sys.stdout is None or sys.stdout.closed:
        raise ValueError(
            "stdout is closed, so nobody would learn the result; nothing was recorded. Send it "
            "to a terminal or a file."
        )


def _encodable(words: str, stream: TextIO | None) -> str:
    """`words` with \\uXXXX, as in JSON, for what the stream's encoding does not have."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    try:
        words.encode(encoding)
        return words
    except UnicodeEncodeError:
        return "".join(
            letter if letter.encode(encoding, "ignore") else json.dumps(letter)[1:-1]
            for letter in words
        )


def note(words: str, quiet: bool = False) -> None:
    """A line about progress or a mistake, on stderr; folded between words on a terminal."""
    if quiet or sys.stderr is None:
        return
    lines = text.visible(f"paretoid: {words}", lines=True).split("\n")
    if _terminal(sys.stderr):
        fold = textwrap.TextWrapper(width(), break_long_words=False, break_on_hyphens=False)
        lines = [part for line in lines for part in fold.wrap(line) or [""]]
    print("\n".join(lines), file=sys.stderr, flush=True)


def shows_progress(quiet: bool) -> bool:
    """True: stderr is a terminal and nobody asked for quiet, so a bar is drawn."""
    return not quiet and _terminal(sys.stderr)


def say_json(data: Any) -> None:
    """Print data as JSON to stdout."""
    say(text.as_json(data))


def width(default: int = 80) -> int:
    """Columns of the terminal, or of the variable COLUMNS; `default` in a pipe."""
    known = _terminal(sys.stdout) or os.environ.get("COLUMNS", "").isdigit()
    return max(shutil.get_terminal_size().columns, _NARROWEST) if known else default


def wrap(words: str, indent: str = "") -> str:
    """A paragraph that fits the terminal."""
    return textwrap.fill(words, width(), subsequent_indent=indent)


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], *, names: int = 1) -> str:
    """Rows under heads; the first `names` columns are text and may wrap, the others numbers.

    >>> print(table(["arm", "gap"], [["A", "0.5"], ["B", "12.25"]]))
    arm    gap
    A      0.5
    B    12.25
    """
    heads = [text.visible(head) for head in heads]
    rows = [[text.visible(cell) for cell in row] for row in rows]
    room = width(default=10_000)
    sizes = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    least = sum(min(size, _NAME) for size in sizes[:names]) + sum(sizes[names:])
    if not _terminal(sys.stdout) or least + 2 * (len(sizes) - 1) > room:
        return text.table(heads, rows, names=names, width=room)
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    console = Console(
        width=room, color_system=None if os.environ.get("NO_COLOR") else "auto",
        highlight=False, markup=False, emoji=False,
    )  # fmt: skip
    # Columns stand two apart: padding, and the box's own blank.
    made = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    for position, head in enumerate(heads):
        if position < names:
            made.add_column(head, overflow="fold")
        else:
            made.add_column(head, justify="right", no_wrap=True)
    for row in rows:
        made.add_row(*row)
    with console.capture() as caught:
        console.print(made)
    return "\n".join(line.rstrip() for line in caught.get().rstrip("\n").split("\n"))


def check_file(
    out: Path | None,
    suffixes: Sequence[str],
    *,
    force: bool,
    inputs: Sequence[str | Path] = (),
    option: str = "--out",
) -> Path | None:
    """Refuse a file that cannot be written, before the work is done.

    A file that exists needs `force`; what is read (`inputs`), and the files of a store, are never
    replaced.
    """
    if out is None:
        return None
    if out.is_dir():
        raise ValueError(
            f"{option} {out} is a directory; name a file in it, such as result{suffixes[0]}."
        )
    if out.suffix.lower() not in suffixes:
        raise ValueError(
            f"{option} {out} must end in {text.joined(suffixes, 'or')}: the end of the name says "
            f"how to write it."
        )
    if not out.parent.is_dir():
        raise ValueError(f"{option} {out}: there is no directory {out.parent}; make it first.")
    if not os.access(out if out.exists() else out.parent, os.W_OK):
        raise ValueError(f"{option} {out} may not be written to. Name another file.")
    _check_new(out, force, inputs, option)
    return out


def _check_new(out: Path, force: bool, inputs: Sequence[str | Path], option: str = "--out") -> None:
    from paretoid.runs.files import OWN

    for read in inputs:
        if out.exists() and Path(read).exists() and out.samefile(read):
            raise ValueError(
                f"{option} {out} is what is read here, and would be lost. Name another."
            )
    for store, name in ((out.parent, out.name), (out.parent.parent, out.parent.name)):
        if name in OWN and (store / OWN[0]).exists():
            raise ValueError(
                f"{option} {out} is where a campaign keeps its runs; nobody else writes there. "
                f"Name another file."
            )
    if not force and os.path.lexists(out):
        raise exists_already(out, "replace it with --force")
    may_write(out, force=force)


def check_folder(
    out: Path | None, names: Sequence[str], *, force: bool, inputs: Sequence[str | Path] = ()
) -> Path | None:
    """Make a directory for results, the files `names`, or refuse before the work is done."""
    if out is None:
        return None
    if out.exists() and not out.is_dir():
        raise ValueError(f"--out {out} is a file, and results need a directory. Name another.")
    try:
        make_folder(out)
    except OSError as error:
        raise ValueError(f"--out {out} cannot be made: {error.strerror}. Name another.") from None
    if not os.access(out, os.W_OK):
        raise ValueError(f"--out {out} may not be written to. Name another directory.")
    for name in names:
        _check_new(out / name, force, inputs)
    return out


def write(
    out: Path,
    *,
    data: Any,
    rows: Callable[[], tuple[Sequence[str], Sequence[Sequence[Any]]]],
    dataset: Callable[[], xr.Dataset] | None = None,
    force: bool = False,
) -> None:
    """A result as .json (data), .csv (heads and rows) or .nc (netCDF)."""
    suffix = out.suffix.lower()
    if suffix == ".json":
        write_text(out, text.as_json(data), force=force)
    elif suffix == ".nc" and dataset is not None:
        with new_file(out, force=force) as draft:
            dataset().to_netcdf(draft, engine="h5netcdf")
    else:
        write_csv(out, *rows(), force=force)
