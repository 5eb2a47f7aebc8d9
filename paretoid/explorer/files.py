"""Outcomes in and out of files: a CSV of outcomes to record, the trial as CSV or netCDF."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from paretoid.explorer.design import COLUMNS
from paretoid.explorer.explorer import Allocation, Explorer
from paretoid.explorer.outcomes import known

if TYPE_CHECKING:
    import xarray as xr


def read_outcomes(path: str | os.PathLike[str], objectives: tuple[str, ...]) -> list[Any]:
    """Records for `Explorer.tell_many`: columns id, objectives, and perhaps arm (checked).

    An empty cell has not arrived yet; the word missing says that it never will. Spaces around
    cells are ignored. Cells are judged by `tell_many`, so that every bad row is listed.
    """
    try:
        with Path(path).open(newline="", encoding="utf-8-sig") as file:
            reader = csv.DictReader(file)
            columns = [name.strip() for name in reader.fieldnames or []]
            reader.fieldnames = columns
            rows = list(reader)
    except FileNotFoundError:
        raise ValueError(f"there is no file {path}.") from None
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ValueError(f"{path} cannot be read as CSV: {error}.") from None
    unknown = [name for name in columns if name not in ("id", "arm", *objectives)]
    if "id" not in columns or unknown or len(set(columns)) < len(columns):
        raise ValueError(
            f"{path} has the columns {', '.join(columns) or 'none'}; it needs id, may have arm, "
            f"and takes each of {', '.join(objectives)} once."
        )
    return [_record(row, objectives) for row in rows]


def _record(row: dict[Any, Any], objectives: tuple[str, ...]) -> tuple[Any, Any]:
    """(allocation, outcome) of one row, for `tell_many` to judge."""
    cells = {name: (value or "").strip() for name, value in row.items() if isinstance(name, str)}
    id = cells["id"]
    allocation = Allocation(id, cells["arm"]) if cells.get("arm") else id
    if None in row:
        return allocation, "has more cells than there are columns"
    return allocation, {name: cells[name] for name in objectives if cells.get(name)}


def allocations(explorer: Explorer) -> list[dict[str, Any]]:
    """One row per allocation, in order: id, arm, how it came about, outcomes."""
    state = explorer.replay()
    instead = {new: old for old, new in state.replaced.items()}
    rows = []
    for position, arm in enumerate(state.arms):
        kind = "unplanned" if position in state.unplanned else "asked"
        if position in state.replaced:
            kind = "overridden"
        elif position in instead:
            kind = f"instead of {state.id_of(instead[position])}"
        row: dict[str, Any] = {
            "id": state.id_of(position), "arm": state.design.arms[arm], "how": kind,
        }  # fmt: skip
        for d, name in enumerate(state.design.objectives):
            value = known(state, d, position)
            row[name] = "" if value is None else value
        rows.append(row)
    return rows


def as_dataset(explorer: Explorer) -> xr.Dataset:
    """The trial as a Dataset: outcome (allocation, objective), NaN where `state` is not told."""
    import xarray as xr

    from paretoid import __version__

    rows, design = allocations(explorer), explorer.design
    cells = [[row[name] for name in design.objectives] for row in rows]
    state = [["waiting" if c == "" else "missing" if c == "missing" else "told" for c in row]
             for row in cells]  # fmt: skip
    shape = (len(rows), design.D)
    values = [[float("nan") if isinstance(c, str) else float(c) for c in row] for row in cells]
    return xr.Dataset(
        {
            "outcome": (("allocation", "objective"), np.array(values, dtype=float).reshape(shape)),
            "state": (("allocation", "objective"), np.array(state, dtype=object).reshape(shape)),
            "arm": ("allocation", np.array([row["arm"] for row in rows], dtype=object)),
            "how": ("allocation", np.array([row["how"] for row in rows], dtype=object)),
        },
        coords={
            "allocation": np.array([str(row["id"]) for row in rows], dtype=object),
            "objective": list(design.objectives),
        },
        attrs={
            "design": json.dumps(design.to_dict()),
            "answers": json.dumps(explorer.answers),
            "guarantee": design.guarantee,
            "head": explorer.head,
            "paretoid": __version__,
        },
    )


def export(explorer: Explorer, path: str | os.PathLike[str], *, events: bool = False) -> int:
    """Write the trial to a new .csv or .nc file, or its log to a .csv; returns the rows."""
    target = Path(path)
    if target.suffix not in (".csv", ".nc") or (events and target.suffix != ".csv"):
        raise ValueError(f"{path} must end in .csv, or in .nc for netCDF (without the events).")
    if target.exists():
        raise ValueError(f"{path} exists already; choose another name.")
    if target.suffix == ".nc":
        data = as_dataset(explorer)
        _write(target, lambda: data.to_netcdf(target, engine="h5netcdf"))
        return int(data.sizes["allocation"])
    if events:
        head = ["seq", "time", "author", "kind", "body", "hash"]
        body: list[Any] = [list(row) for row in explorer.rows()]
    else:
        head = [*COLUMNS, *explorer.design.objectives]
        body = [list(row.values()) for row in allocations(explorer)]

    def lines() -> None:
        with target.open("x", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([head, *body])

    _write(target, lines)
    return len(body)


def _write(path: Path, write: Callable[[], Any]) -> None:
    """Write a whole file or none."""
    try:
        write()
    except OSError as error:
        path.unlink(missing_ok=True)
        raise ValueError(f"{path} cannot be written: {error.strerror}.") from None
