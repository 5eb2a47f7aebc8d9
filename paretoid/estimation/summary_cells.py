"""One row of a table of published summaries: its numbers, checked, on the working scale."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from paretoid.intervals import t_quantile
from paretoid.layouts import NUMBERS
from paretoid.tables import CsvTable, is_missing
from paretoid.theory.checks import FloatArray

SCALES = ("log-normal", "normal", "binary")

#: an interval is called lopsided when its sides differ by more than this, rounding apart. Tuned:
#: an arithmetic mean +- 10% taken for log-normal has sides that differ by 10%.
_LOPSIDED = 0.1


def spread_of_interval(half_width: Any, n: Any, level: float = 0.95) -> FloatArray:
    r"""Sample standard deviation behind a t interval: s = sqrt(n) h / t_{n-1}.

    Papers seldom say whether they used t or the normal quantile; at n = 90 that changes s by 1%.

    >>> round(float(spread_of_interval(12.706 / np.sqrt(2), 2)), 3)    # t_1(0.975) = 12.706
    1.0
    """
    return np.asarray(np.sqrt(np.asarray(n, dtype=np.float64)) * half_width / t_quantile(n, level))


@dataclass
class ReadCell:
    """One row, read: see `TrialSummary` for the fields."""

    row: int
    unit: str
    source: str
    scale: str = ""
    mean: float = math.nan
    sd: float = math.nan
    n: float = math.nan
    reported: float = math.nan
    lower: float = math.nan
    upper: float = math.nan


def read_cell(
    row: Mapping[str, str],
    number: int,
    where: str,
    table: CsvTable,
    scale: str | None,
    level: float,
    problems: list[str],
    lopsided: list[str],
) -> ReadCell:
    """One row of a table, read; what is wrong with it goes to `problems`."""
    cell = ReadCell(number, row.get("unit", ""), row.get("source", ""))
    printed: dict[str, tuple[float, float]] = {}
    before = len(problems)
    for column in NUMBERS:
        text = row.get(column, "")
        if is_missing(text):
            continue
        try:
            printed[column] = table.number(text)
        except ValueError as error:
            problems.append(f"{where}: {column} {error}")
    cell.scale = scale or row.get("scale", "").lower().replace("lognormal", "log-normal")
    if not cell.scale:
        ways = (("geometric_mean", "log-normal"), ("events", "binary"), ("mean", "normal"))
        cell.scale = next((way for column, way in ways if row.get(column, "")), "log-normal")
    if cell.scale not in SCALES:
        problems.append(f"{where}: scale {cell.scale!r} is none of {', '.join(SCALES)}")
    if len(problems) > before:
        return cell
    value = {column: pair[0] for column, pair in printed.items()}
    if "n" in value:
        least = 1 if cell.scale == "binary" else 2
        if value["n"] < least or value["n"] != int(value["n"]):
            problems.append(
                f"{where}: n = {value['n']:g} must be a whole number of at least {least}, because "
                + ("nobody was observed" if least == 1 else "one participant shows no spread")
            )
            return cell
        cell.n = value["n"]
    if cell.scale == "binary":
        _read_binary(cell, value, where, problems)
    else:
        _read_measured(cell, printed, level, where, problems, lopsided)
    return cell


def _read_binary(
    cell: ReadCell, value: Mapping[str, float], where: str, problems: list[str]
) -> None:
    if "events" not in value or "n" not in value:
        problems.append(f"{where}: a binary endpoint needs events and n")
    elif not 0 <= value["events"] <= value["n"] or value["events"] != int(value["events"]):
        problems.append(
            f"{where}: events = {value['events']:g} must be a whole number between 0 and "
            f"n = {value['n']:g}"
        )
    else:
        cell.mean = cell.reported = value["events"] / value["n"]


def _read_measured(
    cell: ReadCell,
    printed: Mapping[str, tuple[float, float]],
    level: float,
    where: str,
    problems: list[str],
    lopsided: list[str],
) -> None:
    log = cell.scale == "log-normal"
    column = "geometric_mean" if log else "mean"
    if column not in printed:
        problems.append(f"{where}: a {cell.scale} endpoint needs {column}")
        return
    value = {name: pair[0] for name, pair in printed.items()}
    mean = cell.reported = value[column]
    if log and mean <= 0:
        problems.append(
            f"{where}: the geometric mean {mean:g} must be positive: it has a logarithm"
        )
        return
    for name in ("sd", "se"):
        if name in value and log:
            problems.append(
                f"{where}: {name} of a log-normal endpoint has no agreed meaning; give ci_lower "
                f"and ci_upper"
            )
            return
        if name in value and value[name] <= 0:
            problems.append(f"{where}: {name} = {value[name]:g} must be positive")
            return
    cell.mean = math.log(mean) if log else mean
    if ("ci_lower" in value) != ("ci_upper" in value):
        problems.append(f"{where}: one of ci_lower and ci_upper is missing")
        return
    if "ci_lower" in value:
        low, high = cell.lower, cell.upper = value["ci_lower"], value["ci_upper"]
        if low >= high:
            problems.append(f"{where}: the bounds {low:g} to {high:g} are in the wrong order")
            return
        if not low <= mean <= high:
            problems.append(f"{where}: the interval {low:g} to {high:g} does not contain {mean:g}")
            return
        if log and low <= 0:
            problems.append(
                f"{where}: the lower bound {low:g} of a geometric mean must be positive"
            )
            return
        below, above = (
            (math.log(mean / low), math.log(high / mean)) if log else (mean - low, high - mean)
        )
        rounding = sum(
            times * printed[name][1] / (value[name] if log else 1.0)
            for name, times in (("ci_lower", 1), (column, 2), ("ci_upper", 1))
        )
        if abs(above - below) > _LOPSIDED * (above + below) / 2 + rounding:
            lopsided.append(f"{where}: {mean:g} ({low:g} to {high:g})")
        if math.isfinite(cell.n):
            cell.sd = float(spread_of_interval((above + below) / 2, cell.n, level))
    if "sd" in value:
        cell.sd = value["sd"]
    elif "se" in value and math.isfinite(cell.n):
        cell.sd = value["se"] * math.sqrt(cell.n)
