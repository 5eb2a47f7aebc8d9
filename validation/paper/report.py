"""The result table, on the terminal and as a CSV file."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

from paretoid import text
from paretoid.tables import write_csv
from paretoid.validation.paper.statistics import Row


def write_rows(rows: Sequence[Row], path: Path) -> Path:
    """Every row, every column but `shown`, full precision; what does not apply stays empty."""
    heads = [field.name for field in fields(Row) if field.name != "shown"]
    write_csv(path, heads, [[getattr(line, name) for name in heads] for line in rows], force=True)
    return path


def show(rows: Sequence[Row], title: str, *, width: int = 100) -> str:
    """The rows meant for the terminal, as a table that fits `width`, with the notes below."""
    heads, cells, notes = shown(rows)
    parts = [
        textwrap.fill(title, width),
        "",
        text.table(heads, cells, names=NAMES, width=width),
        *(textwrap.fill(note, width) for note in notes),
    ]
    return "\n".join(parts)


#: so many columns of the table are names, the others numbers
NAMES = 3


def shown(rows: Sequence[Row]) -> tuple[list[str], list[list[str]], list[str]]:
    """(heads, cells, notes) of the rows meant for the terminal."""
    heads = [
        "setting", "algorithm", "quantity", "runs", "mean [95%]", "median [95%]", "errors [95%]",
        "censored", "paper", "verdict",
    ]  # fmt: skip
    kept = [line for line in rows if line.shown]
    notes = sorted({line.note for line in kept if line.note})
    return heads, [_cells(line) for line in kept], ["; ".join(notes)] if notes else []


def _cells(line: Row) -> list[str]:
    rate = median = ""
    if line.error_rate is not None and line.error_low is not None and line.error_high is not None:
        rate = f"{line.errors}/{line.stopped} [{line.error_low:.2g}, {line.error_high:.2g}]"
    if line.median is not None:
        median = text.bracketed(line.median, line.median_low, line.median_high)
    return [
        line.setting,
        line.who,
        line.what,
        str(line.runs),
        text.bracketed(line.mean, line.low, line.high),
        median,
        rate,
        "" if line.censored is None else f"{line.censored:.2%}",
        "" if line.paper is None else text.measure(line.paper, 3),
        line.verdict,
    ]
