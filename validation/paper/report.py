"""The result table, on the terminal and as a CSV file."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path

from paretoid.cli.terminal import table, wrap
from paretoid.validation.paper.statistics import Row


def write_csv(rows: Sequence[Row], path: Path) -> Path:
    """Every row, every column, full precision."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [f.name for f in fields(Row) if f.name != "shown"])
        writer.writeheader()
        for line in rows:
            record = asdict(line)
            record.pop("shown")
            writer.writerow({k: "" if v is None else v for k, v in record.items()})
    return path


def show(rows: Sequence[Row], title: str) -> str:
    """The rows meant for the terminal, as a table that fits it, with the notes below."""
    heads = (
        "setting", "algorithm", "quantity", "runs", "mean [95%]", "median [95%]", "errors [95%]",
        "censored", "paper", "verdict",
    )  # fmt: skip
    shown = [line for line in rows if line.shown]
    parts = [wrap(title), "", table(heads, [_cells(line) for line in shown], names=3)]
    notes = sorted({line.note for line in shown if line.note})
    return "\n".join([*parts, *([wrap("; ".join(notes))] if notes else [])])


def _cells(line: Row) -> list[str]:
    rate = ""
    if line.error_rate is not None and line.error_low is not None and line.error_high is not None:
        rate = f"{line.errors}/{line.stopped} [{line.error_low:.2g}, {line.error_high:.2g}]"
    return [
        line.setting,
        line.who,
        line.what,
        str(line.runs),
        _interval(line.mean, line.low, line.high),
        "" if line.median is None else _interval(line.median, line.median_low, line.median_high),
        rate,
        "" if line.censored is None else f"{line.censored:.2%}",
        "" if line.paper is None else number(line.paper),
        line.verdict,
    ]


def _interval(value: float, low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return number(value)
    return f"{number(value)} [{number(low)}, {number(high)}]"


def number(value: float) -> str:
    """Counts without decimals, ratios with three digits.

    >>> number(150844.2), number(0.79124), number(3.0)
    ('150,844', '0.791', '3')
    """
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
