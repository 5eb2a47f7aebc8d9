"""The cells of an Excel sheet as text, with openpyxl (the extra `excel`)."""

from __future__ import annotations

import datetime
import io
import re
from typing import Any


def rows_of_sheet(data: bytes, name: str) -> tuple[list[list[str]], list[str]]:
    """(rows, notes): the text of every cell of the only sheet that is not empty, and what was done.

    Merged cells all get the value of their first, with a note. Numbers have the digits that Excel
    stores. Refused, all at once: several sheets, dates (Excel makes one of 1-2), formulas that
    nobody computed, and errors such as #DIV/0!.
    """
    try:
        import openpyxl
    except ImportError:
        raise ValueError(
            f"{name} is a spreadsheet, and reading one needs openpyxl: pip install "
            f"'paretoid[excel]', or export the sheet as CSV."
        ) from None
    try:
        book = openpyxl.load_workbook(io.BytesIO(data), data_only=True)
        typed = openpyxl.load_workbook(io.BytesIO(data), data_only=False)
    except Exception as error:  # openpyxl lets many kinds through, from zip files to XML
        raise ValueError(
            f"{name} looks like a spreadsheet and cannot be read as one ({error}). Save it again "
            f"as .xlsx, or export the sheet as CSV."
        ) from None
    sheets = [sheet for sheet in book.worksheets if any(any(row) for row in sheet.values)]
    if len(sheets) != 1:
        listed = ", ".join(repr(sheet.title) for sheet in sheets) or "nothing"
        raise ValueError(
            f"{name} must hold one table, and its sheets with content are: {listed}. Save the "
            f"sheet with the table in a file of its own."
        )
    sheet = sheets[0]
    notes, problems = [], []
    rows: list[list[str]] = []
    for cells, formulas in zip(sheet.iter_rows(), typed[sheet.title].iter_rows(), strict=True):
        row = []
        for cell, formula in zip(cells, formulas, strict=True):
            value = cell.value
            at = f"row {cell.row}, cell {cell.coordinate}:"
            if isinstance(value, (datetime.date, datetime.time)):
                problems.append(
                    f"{at} {value} is a date, perhaps made by Excel of something like 1-2; type it "
                    f"again in a cell with the format Text"
                )
            elif isinstance(value, str) and re.fullmatch(r"#[A-Z/0!?]+", value):
                problems.append(f"{at} {value} is an error of Excel")
            elif value is None and formula.data_type == "f":
                problems.append(
                    f"{at} {formula.value} was never computed; open and save it in Excel"
                )
            row.append(_text(value, str(cell.number_format)))
        rows.append(row)
    for area in sorted(sheet.merged_cells.ranges, key=str):
        text = rows[area.min_row - 1][area.min_col - 1]
        if not text:
            continue
        for r in range(area.min_row - 1, area.max_row):
            rows[r][area.min_col - 1 : area.max_col] = [text] * (area.max_col - area.min_col + 1)
        notes.append(f"the merged cells {area} were all read as {text!r}.")
    if problems:
        raise ValueError(f"{name} has problems:\n" + "\n".join(f"  {said}" for said in problems))
    return rows, notes


def _text(value: Any, shown: str) -> str:
    """The text of a value; a share shown as 30% is 30%, as the reader of the sheet sees it."""
    if value is None:
        return ""
    if isinstance(value, float):
        if "%" in shown:
            return f"{value * 100:.10g}%"
        text = repr(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
        # Three decimals might set apart thousands in text; in a typed number they do not.
        return text + "0" if re.fullmatch(r"-?\d+\.\d{3}", text) else text
    return str(value).strip()
