"""From the bytes of a CSV file to rows of text and numbers, as journals and Excel print them.

Every table that somebody hands in is read here: published summaries, instances, outcomes of a
trial, and what ships with the package. Delimiter and encoding are found out.

Where columns are separated by something else than commas, the decimal sign may be a comma, as
Excel writes where people do, and the point may set apart thousands. Then 9,200 and 9.200 are each
9200 or 9.2, a thousandfold difference, and such a cell is refused. One kind of file tells: 9.200
is read as 9.2 where other cells show that points are decimal signs, as 84.6, 0.715 and 1,234.5 do,
and none shows a decimal comma, as 0,25 does. 9,200 is refused even beside 0,25: it may have been
copied from a journal, which prints 31,111 for thirty-one thousand. In a file with commas between
its columns a comma within a cell only ever sets apart thousands, and a point is the decimal sign.
"""

from __future__ import annotations

import csv
import hashlib
import io
import re
import tomllib
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from paretoid.text import meant
from paretoid.writing import new_file

_DELIMITERS = ",;\t|"
_BLANK = "[\\s'\u2009\u202f\u00a0]"
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?")
_SET_APART = re.compile(rf"[+-]?[1-9]\d{{0,2}}({_BLANK})\d{{3}}(\1\d{{3}})*([.,]\d+)?")
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")
_DECIMAL_POINT = re.compile(r"[+-]?(\d+|[1-9]\d{0,2}(,\d{3})+)\.\d+([eE][+-]?\d+)?")
#: a number whose only sign stands before exactly three digits, so that it may set apart thousands
_UNCLEAR = re.compile(r"[+-]?[1-9]\d{0,2}[.,]\d{3}")

#: what stands for "not reported"
_MISSING = ("", "na", "n/a", "nan", "-", "\u2013", "\u2014", "nr", "none")


@dataclass(frozen=True)
class CsvTable:
    """Rows of a CSV file with the number a spreadsheet shows beside each; the header is row 1.

    columns     keys of a row: the header in lower case, underscores for blanks, so that "CI lower"
                is ci_lower; or the header as printed, where that was asked for
    header      as printed
    points      the file shows that a point is its decimal sign
    notes       what was read in a way that the reader should know
    """

    columns: tuple[str, ...]
    header: tuple[str, ...]
    rows: tuple[tuple[int, Mapping[str, str]], ...]
    delimiter: str
    points: bool
    notes: tuple[str, ...] = ()

    def number(self, cell: str) -> tuple[float, float]:
        """(value, half a unit of its last printed digit) of a cell; see `parse_number`.

        >>> parse_table("arm;mean\\nA;9.200\\nB;8.75\\n", "text").number("9.200")
        (9.2, 0.0005)
        """
        return parse_number(cell, self.delimiter, points=self.points)


#: what spreadsheets compute instead of showing, by its beginning; or hidden behind apostrophes
_FORMULA = re.compile(r"'*[=+\-@\t\r]")

#: what a table of published summaries needs, shown where a file is empty
TRIAL_LAYOUT = (
    "a header and one row per arm and endpoint, for instance "
    "arm,endpoint,n,geometric_mean,ci_lower,ci_upper"
)


def read_table(path: str | Path, layout: str = TRIAL_LAYOUT, *, exact: bool = False) -> CsvTable:
    """The rows of a CSV file; delimiter and encoding are found out. See `parse_table`."""
    return parse_table(_decode(read_bytes(path), str(path)), str(path), layout, exact=exact)


def read_journal_table(path: str | Path) -> CsvTable:
    """A table as somebody copied it from a journal, a CSV file or an Excel sheet.

    Besides what `read_table` does, footnotes below the table are taken for such, with a note.
    """
    data, name = read_bytes(path), str(path)
    if data[:2] != b"PK":
        return parse_table(_decode(data, name), name, journal=True)
    from paretoid.sheets import rows_of_sheet

    rows, notes = rows_of_sheet(data, name)
    return _assemble(rows, name, ";", exact=False, journal=True, notes=notes)


def read_bundled(file: str) -> CsvTable:
    """A table that ships with the package, by the name of its file.

    >>> read_bundled("covboost_printed.csv").columns
    ('prime', 'booster', 'dose', 'endpoint', 'log_mean', 'source')
    """
    text = (files("paretoid") / "data" / file).read_text(encoding="utf-8")
    return parse_table(text, file)


def write_csv(
    path: Path,
    heads: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    force: bool = False,
    private: bool = False,
) -> None:
    """Heads and rows as a CSV file that `read_table` reads; see `new_file`.

    Text that a spreadsheet would compute begins with an apostrophe, which `read_table` takes off.
    """
    with (
        new_file(path, force=force, private=private) as draft,
        draft.open("w", newline="", encoding="utf-8") as file,
    ):
        csv.writer(file).writerows([map(_as_text, row) for row in [heads, *rows]])


def _as_text(cell: object) -> object:
    """A cell that no spreadsheet takes for a formula; numbers stay as they are.

    >>> _as_text("=1+1"), _as_text("-0.5"), _as_text(-0.5), _as_text("'=1+1")
    ("'=1+1", '-0.5', -0.5, "''=1+1")
    """
    if not isinstance(cell, str) or not _FORMULA.match(cell):
        return cell
    try:
        float(cell)
        return cell
    except ValueError:
        return f"'{cell}"


def _as_written(cell: str) -> str:
    """A cell without blanks around it and without the apostrophe of `_as_text`.

    >>> _as_written(" '=1+1 "), _as_written("''=1+1"), _as_written("'quoted'")
    ('=1+1', "'=1+1", "'quoted'")
    """
    plain = cell.strip()
    return plain[1:] if plain.startswith("'") and _FORMULA.match(plain[1:]) else plain


def digest(path: str | Path) -> str:
    """ "sha256:" and the digest of a file, by which a design names it; empty if there is none.

    >>> digest("nowhere.csv")
    ''
    """
    file = Path(path)
    if not str(path) or not file.is_file():
        return ""
    return f"sha256:{hashlib.sha256(file.read_bytes()).hexdigest()}"


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


def read_toml(path: str | Path) -> dict[str, Any]:
    """A TOML file's tables, or a sentence why there are none.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "mine.toml"
    >>> _ = file.write_text("delta = 0.1")
    >>> read_toml(file)
    {'delta': 0.1}
    """
    data = read_bytes(path)
    try:
        return tomllib.loads(data.decode("utf-8-sig"))
    except RecursionError:
        why = "its brackets are nested too deeply"
    except ValueError as error:  # also an integer of 5,000 digits
        why = str(error)
    raise ValueError(f"{path} is no TOML: {why}.")


def _near(file: Path) -> str:
    """A guess at the name that was meant, among the files beside it."""
    try:
        beside = [neighbour.name for neighbour in file.parent.iterdir()]
    except OSError:
        return "."
    return meant(file.name, beside)


def column_name(heading: str) -> str:
    """What a heading is looked up by, so that "CI lower" and "ci_lower" are one column.

    >>> column_name("CI lower")
    'ci_lower'
    """
    return heading.lower().replace(" ", "_")


def _decode(data: bytes, name: str) -> str:
    if data[:2] == b"PK" or data[:4] == b"\xd0\xcf\x11\xe0":
        raise ValueError(f"{name} is a spreadsheet file, not text. Export the sheet as CSV first.")
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        try:
            return data.decode("utf-16")
        except UnicodeDecodeError:
            raise ValueError(
                f"{name} begins as UTF-16 and does not go on as such: it may be cut short. Save it "
                f"again, as UTF-8."
            ) from None
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


def parse_table(
    text: str,
    name: str,
    layout: str = TRIAL_LAYOUT,
    *,
    exact: bool = False,
    journal: bool = False,
) -> CsvTable:
    """The rows of CSV text.

    layout  what the file needs, told where it is empty
    exact   rows are looked up by the header as printed, capitals and blanks kept
    journal a row that begins with a footnote mark and fills no other cell is a footnote

    >>> parse_table("Arm;n\\nA;12\\n", "text").rows
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
    records = _records(text, name, delimiter)
    return _assemble(records, name, delimiter, exact=exact, journal=journal, notes=[])


def _assemble(
    records: list[list[str]],
    name: str,
    delimiter: str,
    *,
    exact: bool,
    journal: bool,
    notes: list[str],
) -> CsvTable:
    """Header and rows of the cells of a file, problems refused at once."""
    columns: tuple[str, ...] = ()
    printed: tuple[str, ...] = ()
    rows: list[tuple[int, Mapping[str, str]]] = []
    problems = []
    for number, cells in enumerate(records, start=1):
        values = [_as_written(cell) for cell in cells]
        if not any(values):
            continue
        if not columns:
            printed = columns = tuple(values)
            if not exact:
                columns = tuple(map(column_name, values))
            repeated = sorted({c for c in columns if c and columns.count(c) > 1})
            if repeated:
                problems.append(f"row {number}: the header repeats {', '.join(repeated)}")
            continue
        if journal and _is_footnote(values, len(columns)):
            told = delimiter.join(value for value in values if value)
            notes.append(f"row {number} was taken for a footnote and not read: {told!r}.")
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
    signs = {_decimal_sign(cell) for _, row in rows for cell in row.values()}
    points = "." in signs and "," not in signs
    return CsvTable(columns, printed, tuple(rows), delimiter, points, tuple(notes))


def _is_footnote(values: list[str], columns: int) -> bool:
    """A row that starts with a mark or as notes do, and is no row of the table."""
    alone = not any(values[1:]) or len(values) != columns
    begins = re.match(r"[*†‡§¶‖#ᵃᵇᶜᵈᵉᶠ]|(?:notes?|data|values|abbreviations)\b", values[0], re.I)
    return alone and bool(begins)


def _records(text: str, name: str, delimiter: str) -> list[list[str]]:
    """The cells of every row, blank ones too."""
    lines = io.StringIO(text, newline="")
    try:
        return list(csv.reader(lines, delimiter=delimiter, skipinitialspace=True))
    except csv.Error as error:
        raise ValueError(
            f"{name} cannot be read as CSV: {error}. A double quote that is never closed makes one "
            f"cell of all that follows."
        ) from None


def _decimal_sign(cell: str) -> str:
    """The sign that a cell shows to be the decimal one, "." or ","; empty if it shows none."""
    plain = cell.replace("\u2212", "-")
    if _SET_APART.fullmatch(plain):
        plain = re.sub(_BLANK, "", plain)
    if _UNCLEAR.fullmatch(plain):
        return ""
    if _DECIMAL_COMMA.fullmatch(plain):
        return ","
    return "." if _DECIMAL_POINT.fullmatch(plain) else ""


def refuse(name: str, problems: list[str]) -> None:
    """Raise all problems at once, if there are any."""
    if problems:
        number = "a problem" if len(problems) == 1 else f"{len(problems)} problems"
        listed = "\n".join(f"  {problem}" for problem in problems)
        raise ValueError(f"{name} has {number}:\n{listed}")


def is_missing(text: str) -> bool:
    """True: the cell says that nothing was reported."""
    return text.strip().lower() in _MISSING


def parse_number(text: str, delimiter: str = ",", *, points: bool = False) -> tuple[float, float]:
    """(value, half a unit of its last printed digit), with the ways journals print numbers.

    Thousands may be set apart by commas, blanks or apostrophes, decimals by a point or a middle
    dot. Where the delimiter is no comma, a comma may be the decimal sign; `points` says that other
    cells of the file show the point to be it. What could be read in two ways, or is two numbers in
    one cell, is refused; `paretoid.tables` has the rule.

    >>> parse_number("31,111"), parse_number("84·6"), parse_number("0,25", ";")
    ((31111.0, 0.5), (84.6, 0.05), (0.25, 0.005))
    """
    plain = text.strip().replace("\u2212", "-")
    if delimiter != "," and _UNCLEAR.fullmatch(plain) and not (points and "." in plain):
        whole, decimal = plain.replace(",", "").replace(".", ""), plain.replace(",", ".")
        raise ValueError(
            f"{text!r} may be {whole} or {decimal}; write {whole}, or {decimal}0 with a further "
            f"digit"
        )
    for dot in "\u00b7\u2219\u22c5":
        plain = plain.replace(dot, ".")
    if _SET_APART.fullmatch(plain):
        plain = re.sub(_BLANK, "", plain)
    if "," in plain:
        grouped, decimal_comma = _THOUSANDS.fullmatch(plain), _DECIMAL_COMMA.fullmatch(plain)
        if delimiter != "," and decimal_comma and not grouped:
            plain = plain.replace(",", ".")
        elif grouped:
            plain = plain.replace(",", "")
        elif decimal_comma:
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
