"""Outcomes in and out of files: a CSV of outcomes to record, the trial as CSV or netCDF."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from paretoid.explorer.design import COLUMNS
from paretoid.explorer.explorer import Allocation, Explorer
from paretoid.explorer.outcomes import known
from paretoid.tables import read_table, refuse, write_csv
from paretoid.writing import new_file

if TYPE_CHECKING:
    import xarray as xr


def read_outcomes(path: str | os.PathLike[str], objectives: tuple[str, ...]) -> list[Any]:
    """Records for `Explorer.tell_many`: columns id, objectives, and perhaps arm (checked).

    Any CSV file that `paretoid.tables` reads. An empty cell has not arrived yet; the word missing
    says that it never will. Whether a record fits the trial is for `tell_many` to judge.
    """
    takes = f"id, may have arm, and takes each of {', '.join(objectives)} once"
    layout = f"a header that has {takes}, and a row for each allocation"
    table = read_table(os.fspath(path), layout, exact=True)
    if "id" not in table.columns or not set(table.columns) <= {"id", "arm", *objectives}:
        raise ValueError(f"{path} has the columns {', '.join(table.columns)}; it needs {takes}.")
    problems: list[str] = []
    records = []
    for number, row in table.rows:
        allocation = Allocation(row["id"], row["arm"]) if row.get("arm") else row["id"]
        told: dict[str, float | str] = {}
        for objective in objectives:
            cell = row.get(objective, "")
            try:
                if cell:
                    told[objective] = cell if cell == "missing" else table.number(cell)[0]
            except ValueError as error:
                problems.append(
                    f"row {number}, column {objective}: {error}. Leave the cell empty if the "
                    f"outcome has not arrived yet, and write missing if it never will"
                )
        records.append((allocation, told))
    refuse(str(path), problems)
    return records


def allocations(explorer: Explorer) -> list[dict[str, Any]]:
    """One row per allocation, in order: id, arm, how it came about, outcomes."""
    state = explorer.replay()
    withdrawn = set(state.withdrawn)
    instead = {new: old for old, new in state.replaced.items()}
    rows = []
    for position, arm in enumerate(state.arms):
        kind = "unplanned" if position in state.unplanned else "asked"
        if position in state.replaced:
            kind = "overridden"
        elif position in withdrawn:
            kind = "withdrawn"
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
    """Write the trial to a new .csv or .nc file, or its log to a .csv; returns the rows.

    The file is of mode 0600. A name that a spreadsheet would compute (=..., +..., @...) begins with
    an apostrophe in it.
    """
    target = Path(path)
    if target.suffix not in (".csv", ".nc") or (events and target.suffix != ".csv"):
        raise ValueError(f"{path} must end in .csv, or in .nc for netCDF (without the events).")
    if target.exists():
        raise ValueError(f"{path} exists already; choose another name.")
    if target.suffix == ".nc":
        data = as_dataset(explorer)
        with new_file(target, private=True) as draft:  # outcomes of patients are for their owner
            data.to_netcdf(draft, engine="h5netcdf")
        return int(data.sizes["allocation"])
    if events:
        head = ["seq", "time", "author", "kind", "body", "hash"]
        body: list[Any] = [list(row) for row in explorer.rows()]
    else:
        head = [*COLUMNS, *explorer.design.objectives]
        body = [list(row.values()) for row in allocations(explorer)]
    write_csv(target, head, body, private=True)
    return len(body)
