"""What commands print and write: tables for people, JSON for machines, files by their suffix.

Results go to stdout, everything else to stderr. On a terminal tables are Rich's; in a pipe they
are plain text as wide as they need to be. Nothing is cut off: where a table is too wide for the
terminal, every row becomes a short list.
"""

from __future__ import annotations

import csv
import json
import math
import os
import re
import shutil
import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    import xarray as xr

#: no table is made narrower than this, nor are names in it
_NARROWEST, _NAME = 40, 12


class Interrupted(Exception):  # noqa: N818 - no error, the user asked for it
    """Ctrl-C, with a sentence about what was kept; `paretoid.cli.main` prints it."""


def _terminal(stream: TextIO | None) -> bool:
    """Is it a terminal? A stream that the caller has closed (>&-) is None."""
    return stream is not None and stream.isatty()


def say(text: str = "") -> None:
    """Print to stdout. A reader that has left (`| head`) is no error."""
    try:
        print(_harmless(text, _terminal(sys.stdout)), flush=True)
    except BrokenPipeError:
        pass
    except OSError as error:
        raise ValueError(f"stdout cannot be written to: {error.strerror}.") from None


def _harmless(text: str, styled: bool) -> str:
    """Without the control characters that a name in somebody's file may hold; Rich's bold stays."""
    escape = r"\x1b(?!\[[0-9;]*m)" if styled else r"\x1b"
    return re.sub(rf"[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f-\x9f]|{escape}", "?", text)


def note(text: str, quiet: bool = False) -> None:
    """A line about progress or a mistake, on stderr; folded between words on a terminal."""
    if quiet or sys.stderr is None:
        return
    lines = _harmless(f"paretoid: {text}", False).split("\n")
    if _terminal(sys.stderr):
        fold = textwrap.TextWrapper(width(), break_long_words=False, break_on_hyphens=False)
        lines = [part for line in lines for part in fold.wrap(line) or [""]]
    print("\n".join(lines), file=sys.stderr, flush=True)


def shows_progress(quiet: bool) -> bool:
    """Is somebody looking at stderr who wants a bar?"""
    return not quiet and _terminal(sys.stderr)


def plain(value: Any) -> Any:
    """`value` as JSON can say it: NaN and infinity become null, arrays lists.

    >>> import numpy as np
    >>> plain({"a": np.array([1.0, np.inf]), "b": (np.int64(2), None)})
    {'a': [1.0, None], 'b': [2, None]}
    """
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if hasattr(value, "tolist"):  # NumPy arrays and scalars
        return plain(value.tolist())
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, Path):
        return str(value)
    return value


def as_json(data: Any) -> str:
    """`plain(data)` as text."""
    return json.dumps(plain(data), indent=2, ensure_ascii=False, allow_nan=False)


def say_json(data: Any) -> None:
    """Print JSON."""
    say(as_json(data))


def width(default: int = 80) -> int:
    """Columns of the terminal, or of the variable COLUMNS; `default` in a pipe."""
    known = _terminal(sys.stdout) or os.environ.get("COLUMNS", "").isdigit()
    return max(shutil.get_terminal_size().columns, _NARROWEST) if known else default


def wrap(text: str, indent: str = "") -> str:
    """A paragraph that fits the terminal."""
    return textwrap.fill(text, width(), subsequent_indent=indent)


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], *, names: int = 1) -> str:
    """Rows under heads; the first `names` columns are text and may wrap, the others numbers.

    >>> print(table(["arm", "gap"], [["A", "0.5"], ["B", "12.25"]]))
    arm    gap
    A      0.5
    B    12.25
    """
    heads = [_harmless(head, False) for head in heads]
    rows = [[_harmless(cell, False) for cell in row] for row in rows]
    room = width(default=10_000)
    sizes = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    least = sum(min(size, _NAME) for size in sizes[:names]) + sum(sizes[names:])
    if least + 2 * (len(sizes) - 1) > room:
        return _stacked(heads, rows, names, room)
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    terminal = _terminal(sys.stdout)
    colour = terminal and not os.environ.get("NO_COLOR")
    console = Console(
        width=room, color_system="auto" if colour else None, highlight=False, markup=False,
        emoji=False,
    )  # fmt: skip
    # Columns stand two apart: padding, and on a terminal the box's own blank.
    made = Table(
        box=SIMPLE_HEAD if terminal else None, pad_edge=False, show_edge=False,
        padding=(0, 1, 0, 0) if terminal else (0, 2, 0, 0),
    )  # fmt: skip
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


def _stacked(heads: Sequence[str], rows: Sequence[Sequence[str]], names: int, room: int) -> str:
    """Each row as a list: its names, then one number a line."""
    lines = []
    label = max(map(len, heads[names:]))
    for row in rows:
        lines += textwrap.wrap(", ".join(filter(None, row[:names])), room, subsequent_indent="  ")
        for head, cell in zip(heads[names:], row[names:], strict=True):
            if cell:
                lines.append(f"  {head:<{label}}  {cell}")
    return "\n".join(lines)


def number(value: float) -> str:
    """A number of samples: whole, with thousands set apart.

    >>> number(30657.4), number(math.inf), number(math.nan)
    ('30,657', 'infinite', '-')
    """
    if math.isnan(value):
        return "-"
    return "infinite" if math.isinf(value) else f"{value:,.0f}"


def figure(value: float) -> str:
    """A measured number: whole from 1,000 on, else four digits.

    >>> figure(20364.7), figure(113.24), figure(0.12345)
    ('20,365', '113.2', '0.1235')
    """
    return f"{value:.4g}" if abs(value) < 999.5 else number(value)


def check_file(out: Path | None, suffixes: Sequence[str]) -> Path | None:
    """Refuse a file that cannot be written, before the work is done."""
    if out is None:
        return None
    if out.is_dir():
        raise ValueError(
            f"--out {out} is a directory; name a file in it, such as result{suffixes[0]}."
        )
    if out.suffix.lower() not in suffixes:
        raise ValueError(
            f"--out {out} must end in {' or '.join(suffixes)}: the end of the name says how to "
            f"write it."
        )
    if not out.parent.is_dir():
        raise ValueError(f"--out {out}: there is no directory {out.parent}; make it first.")
    if not os.access(out if out.exists() else out.parent, os.W_OK):
        raise ValueError(f"--out {out} may not be written to. Name another file.")
    return out


def check_folder(out: Path | None) -> Path | None:
    """Make a directory for results, or refuse before the work is done."""
    if out is None:
        return None
    if out.exists() and not out.is_dir():
        raise ValueError(f"--out {out} is a file, and results need a directory. Name another.")
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(f"--out {out} cannot be made: {error.strerror}. Name another.") from None
    if not os.access(out, os.W_OK):
        raise ValueError(f"--out {out} may not be written to. Name another directory.")
    return out


def write(
    out: Path,
    *,
    data: Any,
    rows: Callable[[], tuple[Sequence[str], Sequence[Sequence[Any]]]],
    dataset: Callable[[], xr.Dataset] | None = None,
) -> None:
    """A result as .json (data), .csv (heads and rows) or .nc (netCDF)."""
    suffix = out.suffix.lower()
    if suffix == ".json":
        out.write_text(as_json(data) + "\n", encoding="utf-8")
    elif suffix == ".nc" and dataset is not None:
        dataset().to_netcdf(out, engine="h5netcdf")
    else:
        heads, cells = rows()
        with out.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(heads)
            writer.writerows(cells)
