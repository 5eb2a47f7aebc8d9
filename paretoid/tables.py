"""From the bytes of a CSV file to rows of text and numbers, as journals and Excel print them."""

from __future__ import annotations

import csv
import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from paretoid.text import meant

_DELIMITERS = ",;\t|"
_BLANK = "[\\s'\u2009\u202f\u00a0]"
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?")
_SET_APART = re.compile(rf"[+-]?[1-9]\d{{0,2}}({_BLANK})\d{{3}}(\1\d{{3}})*([.,]\d+)?")
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")

#: what stands for "not reported"
_MISSING = ("", "na", "n/a", "nan", "-", "\u2013", "\u2014", "nr", "none")


@dataclass(frozen=True)
class Table:
    """Rows of a CSV file with the number a spreadsheet shows beside each; the header is row 1.

    columns     lower case, underscores for blanks, so that "CI lower" is ci_lower
    header      as printed
    """

    columns: tuple[str, ...]
    header: tuple[str, ...]
    rows: tuple[tuple[int, Mapping[str, str]], ...]
    delimiter: str


#: what a table of published summaries needs, shown where a file is empty
TRIAL_LAYOUT = (
    "a header and one row per arm and endpoint, for instance "
    "arm,endpoint,n,geometric_mean,ci_lower,ci_upper"
)


def read_table(path: str | Path, layout: str = TRIAL_LAYOUT) -> Table:
    """The rows of a CSV file; delimiter and encoding are found out."""
    return parse_table(_decode(read_bytes(path), str(path)), str(path), layout)


def read_bytes(path: str | Path) -> bytes:
    """A file's content, or a sentence why there is none."""
    file = Path(path)
    try:
        return file.read_bytes()
    except FileNotFoundError:
        raise ValueError(f"{path} is no file: nothing has that name{_near(file)}") from None
    except IsADirectoryError:
        raise ValueError(f"{path} is a directory; give a file in it.") from None
    except (OSError, ValueError) as error:  # ValueError: a zero byte in the name
        reason = getattr(error, "strerror", None) or error
        raise ValueError(f"{path} cannot be read: {reason}.") from None


def _near(file: Path) -> str:
    """A guess at the name that was meant, among the files beside it."""
    try:
        beside = [neighbour.name for neighbour in file.parent.iterdir()]
    except OSError:
        return "."
    return meant(file.name, beside)


def _decode(data: bytes, name: str) -> str:
    if data[:2] == b"PK" or data[:4] == b"\xd0\xcf\x11\xe0":
        raise ValueError(f"{name} is a spreadsheet file, not text. Export the sheet as CSV first.")
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16")
    if b"\0" in data:
        raise ValueError(f"{name} holds zero bytes, so it is no text file. Export it as CSV.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        warnings.warn(
            f"{name} is not UTF-8; it was read as Windows-1252. Look at the names of arms and "
            f"units, and save the file as UTF-8 if they look wrong.",
            stacklevel=5,
        )
        return data.decode("cp1252", errors="replace")


def parse_table(text: str, name: str, layout: str = TRIAL_LAYOUT) -> Table:
    """The rows of CSV text.

    >>> parse_table("arm;n\\nA;12\\n", "text").rows
    ((2, {'arm': 'A', 'n': '12'}),)
    """
    if not text.strip():
        raise ValueError(f"{name} is empty. It needs {layout}.")
    header = next(line for line in text.splitlines() if line.strip())
    delimiter = max(_DELIMITERS, key=header.count)
    if delimiter not in header:
        raise ValueError(
            f"{name} has one column, {header.strip()!r}: no comma, semicolon, tab or bar separates "
            f"its header. Save it as CSV with one of these."
        )
    lines = csv.reader(text.splitlines(), delimiter=delimiter, skipinitialspace=True)
    columns: tuple[str, ...] = ()
    printed: tuple[str, ...] = ()
    rows: list[tuple[int, Mapping[str, str]]] = []
    problems = []
    for cells in lines:
        number = lines.line_num
        values = [cell.strip() for cell in cells]
        if not any(values):
            continue
        if not columns:
            printed = tuple(values)
            columns = tuple(value.lower().replace(" ", "_") for value in values)
            repeated = sorted({c for c in columns if c and columns.count(c) > 1})
            if repeated:
                problems.append(f"row {number}: the header repeats {', '.join(repeated)}")
            continue
        if len(values) != len(columns):
            problems.append(
                f"row {number}: {len(values)} cells under {len(columns)} columns; put a name or "
                f"number that holds {delimiter!r} in double quotes"
            )
            continue
        rows.append((number, dict(zip(columns, values, strict=True))))
    if not rows and not problems:
        problems.append("row 2: there are no rows below the header")
    refuse(name, problems)
    return Table(columns, printed, tuple(rows), delimiter)


def refuse(name: str, problems: list[str]) -> None:
    """Raise all problems at once, if there are any."""
    if problems:
        number = "a problem" if len(problems) == 1 else f"{len(problems)} problems"
        listed = "\n".join(f"  {problem}" for problem in problems)
        raise ValueError(f"{name} has {number}:\n{listed}")


def is_missing(text: str) -> bool:
    """Does a cell say that nothing was reported?"""
    return text.strip().lower() in _MISSING


def parse_number(text: str, delimiter: str = ",") -> tuple[float, float]:
    """(value, half a unit of its last printed digit), with the ways journals print numbers.

    Thousands may be set apart by commas, blanks or apostrophes, decimals by a point or a middle
    dot. Where the delimiter is no comma, a comma may be the decimal sign. What could be read in two
    ways, or is two numbers in one cell, is refused.

    >>> parse_number("31,111"), parse_number("84·6"), parse_number("0,25", ";")
    ((31111.0, 0.5), (84.6, 0.05), (0.25, 0.005))
    """
    plain = text.strip().replace("\u00b7", ".").replace("\u2219", ".")
    plain = plain.replace("\u22c5", ".").replace("\u2212", "-")
    if _SET_APART.fullmatch(plain):
        plain = re.sub(_BLANK, "", plain)
    if "," in plain:
        grouped, decimal = _THOUSANDS.fullmatch(plain), _DECIMAL_COMMA.fullmatch(plain)
        if delimiter != "," and decimal and not grouped:
            plain = plain.replace(",", ".")
        elif delimiter != "," and grouped and "." not in plain and plain.count(",") == 1:
            raise ValueError(
                f"{text!r} may be {plain.replace(',', '')} or {plain.replace(',', '.')}; write "
                f"one of these"
            )
        elif grouped:
            plain = plain.replace(",", "")
        elif decimal:
            raise ValueError(
                f"{text!r} is no number where commas separate columns: there a comma only sets "
                f"apart groups of three digits; write {plain.replace(',', '.')} if it is the "
                f"decimal sign"
            )
    try:
        value = float(plain.replace("_", "no digit"))  # float() itself reads 1_0 as 10
    except ValueError:
        raise ValueError(f"{text!r} is no number{_why(plain)}") from None
    if value != value or value in (float("inf"), float("-inf")):
        raise ValueError(f"{text!r} is not finite")
    digits = plain.lower().split("e")[0]
    decimals = len(digits.split(".")[1]) if "." in digits else 0
    return value, 0.5 * 10.0**-decimals if "e" not in plain.lower() else 0.0


def _why(plain: str) -> str:
    """Why digits with something between them are no number."""
    if re.fullmatch(rf"[+-]?[\d.,]+({_BLANK}+[\d.,]+)+", plain):
        return ": blanks and apostrophes may only set apart groups of three digits, as in 31 111"
    return ""
