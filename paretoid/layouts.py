"""Tables in any of three layouts, as one row per arm and endpoint with plain columns.

long    a row per arm and endpoint: columns arm, endpoint, and numbers, also joined as "mean (SD)"
arms    a row per arm, a column per endpoint: arm, n, "IgG, GMT (95% CI)", "cured, n/N"; or
        several columns for each: arm, n, "IgG mean", "IgG SD", "pain mean", "pain SD"
rows    a row per endpoint, a column per arm: endpoint, "Drug A (n=40)", "Drug B"; n may be a row

What was read otherwise than as a plain number is said in notes, what was not read as well, and
what may mean several things is a problem with its row, never skipped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from paretoid.cells import (
    Statistic,
    check_percent,
    guess_statistic,
    read_heading,
    split_cell,
    split_heading,
    strip_marks,
)
from paretoid.tables import CsvTable, is_missing

#: columns of a long table, after which `TrialSummary.read_csv` asks
NUMBERS = ("n", "geometric_mean", "mean", "sd", "se", "ci_lower", "ci_upper", "events")
#: a key of rows that have a problem already, so that nothing else is said of them
FAILED = "failed"
#: columns that say which way is better
DIRECTIONS = ("better", "direction")
_WORDS = ("endpoint", "unit", "scale", "source", *DIRECTIONS)
_ENDPOINT = ("endpoint", "endpoints", "outcome", "outcomes", "")
_SIZES = re.compile(
    r"n|(?:no\.?|number)(?: of (?:participants|patients|subjects))?|participants|patients"
    r"|sample size"
)
_NO_ENDPOINT = re.compile(r"p|p[ _-]?values?|comments?|notes?|unit|scale|source")
_TOGETHER = ("total", "overall", "all", "all arms", "all patients", "all participants")
_SIZE_IN_NAME = re.compile(
    r"(?P<name>.*?\S)\s*[(\[,]?\s*\bn\s*=\s*(?P<n>[\d,. ]*\d)\s*[)\]]?", re.IGNORECASE
)


@dataclass
class Readings:
    """What was found on the way: notes for the reader, and problems with their rows."""

    notes: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    shown: set[str] = field(default_factory=set)
    marks: dict[int, str] = field(default_factory=dict)

    def say(self, heading: str, text: str, parts: Mapping[str, str]) -> None:
        """Note once for a heading how its cells were read, with one of them."""
        if heading not in self.shown:
            self.shown.add(heading)
            read = ", ".join(f"{name} {part}" for name, part in parts.items())
            self.notes.append(f"{heading!r} was read like this: {text!r} is {read}.")

    def bare(self, text: str, row: int) -> str:
        """The text without its footnote marks, which are kept for a note."""
        plain, marks = strip_marks(text)
        if marks and not is_missing(text):
            self.marks[row] = self.marks.get(row, "") + marks
        return plain

    def finish(self) -> None:
        """Say which marks were left out."""
        if self.marks:
            signs = " ".join(sorted(set("".join(self.marks.values()))))
            rows = ", ".join(map(str, sorted(self.marks)))
            self.notes.append(
                f"the footnote marks {signs} in row {rows} were left out; the notes they point to "
                f"were not taken into account."
            )


def as_long(
    table: CsvTable, arms: Sequence[str], level: float = 0.95, scale: str | None = None
) -> tuple[CsvTable, Readings]:
    """The table with one row per arm and endpoint and plain columns, and what was found.

    arms    columns that name an arm; level of the intervals; scale where all endpoints share one

    >>> from paretoid.tables import parse_table
    >>> text = 'arm,n,"pain, mean (SD)",cured\\nA,40,3.1 (1.5),12/40\\nB,41,2.0 (1.4),20/41\\n'
    >>> long, found = as_long(parse_table(text, "text"), ["arm"])
    >>> [(row["arm"], row["endpoint"], row["mean"], row["events"]) for _, row in long.rows[:2]]
    [('A', 'pain', '3.1', ''), ('A', 'cured', '', '12')]
    >>> found.notes[0]
    "'pain, mean (SD)' was read like this: '3.1 (1.5)' is mean 3.1, sd 1.5."
    """
    headings = {c: read_heading(h) for c, h in zip(table.columns, table.header, strict=True)}
    nameless = [c for c, (name, s) in headings.items() if s and not name and s.columns != ("n",)]
    readings = Readings(list(table.notes))
    named = bool(arms) and all(c in table.columns for c in arms)
    if "endpoint" in table.columns[1:] or nameless or len(table.columns) < 2:
        rows = _long_rows(table, arms, headings, level, readings)
    elif named and "endpoint" not in table.columns:
        rows = _arm_rows(table, arms, headings, level, scale, readings)
    elif not named and table.columns[0] in _ENDPOINT:
        rows = _endpoint_rows(table, level, scale, readings)
    else:
        rows = _long_rows(table, arms, headings, level, readings)
    readings.finish()
    columns = tuple(dict.fromkeys(column for _, row in rows for column in row))
    return replace(table, columns=columns, header=columns, rows=tuple(rows)), readings


Rows = list[tuple[int, Mapping[str, str]]]


def _long_rows(
    table: CsvTable,
    arms: Sequence[str],
    headings: Mapping[str, tuple[str, Statistic | None]],
    level: float,
    readings: Readings,
) -> Rows:
    titles = dict(zip(table.columns, table.header, strict=True))
    kept = [c for c in table.columns if c in _WORDS or c in arms]
    measured: dict[str, Statistic] = {}
    for column in table.columns:
        name, statistic = headings[column]
        if column not in kept and statistic is not None and not name:
            measured[column] = statistic
            _check_level(titles[column], statistic, level, readings)
    ignored = [titles[c] for c in table.columns if c not in kept and c not in measured]
    if ignored:
        readings.notes.append(f"columns that were not read: {', '.join(map(repr, ignored))}.")
    rows: Rows = []
    for number, row in table.rows:
        long = {
            c: readings.bare(row[c], number) if c in arms or c == "endpoint" else row[c]
            for c in kept
        }
        endpoint = long.get("endpoint", "")
        where = f"row {number} ({' + '.join(long[c] for c in arms if c in long)}, {endpoint})"
        if _SIZES.fullmatch(endpoint.lower()):
            readings.problems.append(
                f"row {number}: {endpoint!r} is a row of sample sizes, not an endpoint; write them "
                f"in a column n"
            )
            long[FAILED] = "yes"
        cells = [(titles[c], s, row[c]) for c, s in measured.items()]
        long |= _numbers(cells, table, number, where, readings)
        rows.append((number, {**dict.fromkeys(_columns_of(measured.values()), ""), **long}))
    return rows


def _arm_rows(
    table: CsvTable,
    arms: Sequence[str],
    headings: Mapping[str, tuple[str, Statistic | None]],
    level: float,
    scale: str | None,
    readings: Readings,
) -> Rows:
    """Rows of arms, columns of endpoints."""
    titles = dict(zip(table.columns, table.header, strict=True))
    headings = {**headings, **_side_by_side(titles, headings, arms, readings)}
    sizes = ""
    endpoints: dict[str, list[tuple[str, Statistic]]] = {}
    ignored = []
    for column in table.columns:
        name, statistic = headings[column]
        cells = [row[column] for _, row in table.rows]
        if column in arms:
            continue
        if statistic is not None and not name:
            sizes = column
        elif _NO_ENDPOINT.fullmatch(name.lower()) or not any(re.search(r"\d", c) for c in cells):
            ignored.append(titles[column])
        else:
            rows = f"rows {table.rows[0][0]} to {table.rows[-1][0]}"
            place = f"column {titles[column]!r} ({rows})"
            statistic = _decided(place, name, cells, statistic, level, scale, readings)
            endpoints.setdefault(name, [])
            if statistic is not None:
                endpoints[name].append((column, statistic))
    if ignored:
        readings.notes.append(f"columns that were not read: {', '.join(map(repr, ignored))}.")
    every = _columns_of(s for pairs in endpoints.values() for _, s in pairs)
    rows_out: Rows = []
    for number, row in table.rows:
        named = {c: readings.bare(row[c], number) for c in arms}
        arm = " + ".join(named.values())
        _refuse_together(arm, f"row {number}", readings)
        for endpoint, pairs in endpoints.items():
            cells_of = [(titles[c], s, row[c]) for c, s in pairs]
            if sizes:
                cells_of.insert(0, (titles[sizes], Statistic(("n",)), row[sizes]))
            where = f"row {number} ({arm}, {endpoint})"
            parts = _numbers(cells_of, table, number, where, readings)
            if not pairs:
                parts[FAILED] = "yes"
            rows_out.append(
                (number, {**dict.fromkeys(every, ""), **named, "endpoint": endpoint, **parts})
            )
    return rows_out


#: what a mean or a number of events needs beside it in a column of its own
_CENTRES = ("mean", "geometric_mean", "events")


def _side_by_side(
    titles: Mapping[str, str],
    headings: Mapping[str, tuple[str, Statistic | None]],
    arms: Sequence[str],
    readings: Readings,
) -> dict[str, tuple[str, Statistic | None]]:
    """Columns such as "IgG mean" and "IgG SD": of one endpoint, each with a statistic.

    "IgG mean" alone may be a name. It is read so where another column has the same name with
    another statistic, one of the two is a mean or a number of events, and nothing else is possible.
    """
    ways = {
        column: split_heading(titles[column])
        for column, (_, statistic) in headings.items()
        if statistic is None and column not in arms
    }
    parted = {c: (name, its) for c, (name, its) in headings.items() if its is not None and name}
    groups: dict[str, set[tuple[str, ...]]] = {}
    for name, its in [*parted.values(), *(way for possible in ways.values() for way in possible)]:
        groups.setdefault(name.casefold(), set()).add(its.columns)
    real = {
        key
        for key, every in groups.items()
        if len(every) > 1 and any(columns[0] in _CENTRES for columns in every)
    }
    spelled = {name.casefold(): name for name, _ in parted.values()}
    found: dict[str, tuple[str, Statistic | None]] = {}
    shown: dict[str, list[str]] = {}
    for column, possible in ways.items():
        fitting = [way for way in possible if way[0].casefold() in real]
        if not fitting:
            continue
        name, its = fitting[0]
        name = spelled.setdefault(name.casefold(), name)
        found[column] = (name, its)
        shown.setdefault(name, []).append(f"{titles[column]!r} is {its.words}")
        if len({(other.casefold(), its.columns) for other, its in fitting}) > 1:
            both = " or ".join(f"{its.words} of {other!r}" for other, its in fitting)
            readings.problems.append(
                f"column {titles[column]!r} may be {both}; put a comma between the name and the "
                f"statistic, as in '{name}, {its.words}'"
            )
    for name, read in shown.items():
        readings.notes.append(f"columns of {name!r} were read like this: {', '.join(read)}.")
    return found


def _alone(place: str, name: str, scale: str | None) -> str:
    """What is wrong with a heading such as "IgG SD" that has nothing beside it; "" if nothing.

    A mean that stands alone is what `scale` says that plain numbers are, under its whole name.
    """
    plain = {"normal": "mean", "log-normal": "geometric_mean"}.get(scale or "")
    for endpoint, its in split_heading(name):
        columns = its.columns
        if columns[0] in ("median", "events", "n") or columns == (plain,):
            continue
        center = "GMT" if columns[0] == "geometric_mean" else "mean"
        interval = center == "GMT" or columns[0].startswith("ci")
        spread = "CI" if interval else "SE" if columns[0] == "se" else "SD"
        return (
            f"{place}: it may be {its.words} of {endpoint!r}, with nothing beside it; have columns "
            f"'{endpoint}, {center}' and '{endpoint}, {spread}' in a row per arm, or both in a "
            f"cell under '{endpoint}, {center} ({spread})'; if {name!r} is the endpoint's name, "
            f"say what its numbers are, as in '{name}, mean'"
        )
    return ""


def _endpoint_rows(table: CsvTable, level: float, scale: str | None, readings: Readings) -> Rows:
    """Rows of endpoints, columns of arms."""
    first, *others = table.columns
    titles = dict(zip(table.columns, table.header, strict=True))
    arms: dict[str, str] = {}
    sizes: dict[str, str] = {}
    ignored = []
    ways = [column for column in others if column in DIRECTIONS]
    for column in others:
        if column in ways:
            continue
        if _NO_ENDPOINT.fullmatch(titles[column].lower()):
            ignored.append(titles[column])
            continue
        arms[column] = readings.bare(titles[column], 1)
        match = _SIZE_IN_NAME.fullmatch(arms[column])
        if match:
            arms[column], sizes[column] = match["name"], match["n"]
        _refuse_together(arms[column], f"column {titles[column]!r}", readings)
    if ignored:
        readings.notes.append(f"columns that were not read: {', '.join(map(repr, ignored))}.")
    if sizes:
        stated = ", ".join(f"{arms[c]}: {n}" for c, n in sizes.items())
        readings.notes.append(f"n was taken from the header: {stated}.")
    plain: list[tuple[int, str, Statistic | None, Mapping[str, str]]] = []
    for number, row in table.rows:
        name, statistic = read_heading(row[first])
        label = readings.bare(row[first], number)
        if (statistic == Statistic(("n",)) and not name) or _SIZES.fullmatch(label.lower()):
            clash = [c for c in arms if sizes.get(c, row[c]) != row[c]]
            if clash:
                readings.problems.append(
                    f"row {number}: n of {arms[clash[0]]} is {row[clash[0]]} here and "
                    f"{sizes[clash[0]]} elsewhere; keep one"
                )
            sizes |= {c: row[c] for c in arms}
            readings.notes.append(f"row {number}, {label!r}, was read as n of every endpoint.")
        elif all(is_missing(row[c]) for c in arms):
            readings.notes.append(f"row {number}, {label!r}, has no numbers: read as a heading.")
        elif not name:
            readings.problems.append(
                f"row {number}: {label!r} names no endpoint; write it before, as in 'pain, {label}'"
            )
        else:
            plain.append((number, name, statistic, row))
    rows_out: Rows = []
    for number, endpoint, statistic, row in plain:
        cells = [row[c] for c in arms]
        place = f"row {number} ({endpoint})"
        decided = _decided(place, endpoint, cells, statistic, level, scale, readings)
        for column, arm in arms.items():
            parts = {FAILED: "yes"}
            if decided is not None:
                n = (f"n of {arm}", Statistic(("n",)), sizes.get(column, ""))
                cell = (row[first], decided, row[column])
                where = f"row {number} ({arm}, {endpoint})"
                parts = _numbers([n, cell], table, number, where, readings)
            said = {"arm": arm, "endpoint": endpoint, **{way: row[way] for way in ways}}
            rows_out.append((number, {**said, **dict.fromkeys(NUMBERS, ""), **parts}))
    return rows_out


def _decided(
    place: str,
    name: str,
    cells: list[str],
    statistic: Statistic | None,
    level: float,
    scale: str | None,
    readings: Readings,
) -> Statistic | None:
    """The statistic of a column or row, by its heading or its cells; None after a problem."""
    if statistic is not None:
        _check_level(place, statistic, level, readings)
        return statistic
    guessed = guess_statistic(cells)
    if guessed is not None:
        return guessed
    filled = [cell for cell in cells if not is_missing(cell)]
    alone = _alone(place, name, scale)
    if alone:
        readings.problems.append(alone)
        return None
    if scale in ("normal", "log-normal") and all(re.fullmatch(r"[\s\d.,·-]+", c) for c in filled):
        return Statistic(("mean" if scale == "normal" else "geometric_mean",))
    example = f", such as {filled[0]!r}," if filled else ""
    counts = "".join(
        f", or '{endpoint}, events' if they count participants, n of them in a column"
        for endpoint, statistic in split_heading(name)
        if statistic.columns == ("events",)
    )
    readings.problems.append(
        f"{place}: the heading does not say what its numbers{example} are; write for instance "
        f"'{name}, mean (SD)', '{name}, mean ± SE', '{name}, GMT (95% CI)' or '{name}, n/N'{counts}"
    )
    return None


def _check_level(place: str, statistic: Statistic, level: float, readings: Readings) -> None:
    if statistic.level is not None and abs(statistic.level - level) > 1e-9:
        readings.problems.append(
            f"{place}: states {statistic.level:.4g} as the level of its intervals and level is "
            f"{level:g}; pass level={statistic.level:.4g} (--level {statistic.level:.4g})"
        )


def _refuse_together(arm: str, place: str, readings: Readings) -> None:
    if arm.lower() in _TOGETHER:
        readings.problems.append(
            f"{place}: {arm!r} seems to be all arms together, which is no arm; delete it, or give "
            f"the arm another name"
        )


def _columns_of(statistics: Iterable[Statistic]) -> list[str]:
    """Columns that these statistics fill, with those that any table may have."""
    filled = [column for statistic in statistics for column in statistic.columns]
    return [column for column in NUMBERS if column in filled or column == "n"]


def _numbers(
    cells: Sequence[tuple[str, Statistic, str]],
    table: CsvTable,
    number: int,
    where: str,
    readings: Readings,
) -> dict[str, str]:
    """Text of each number of a row's cells by column; what cannot be read becomes a problem."""
    before = len(readings.problems)
    parts: dict[str, str] = {}
    origin: dict[str, str] = {}
    for heading, statistic, text in cells:
        try:
            read = split_cell(text, statistic)
            for name, part in read.items():
                earlier = parts.get(name, part)
                if table.number(earlier)[0] != table.number(part)[0]:
                    raise ValueError(
                        f"says {name} {part}, and {origin[name]!r} says {earlier}; keep one"
                    )
                parts[name], origin[name] = part, heading
        except ValueError as error:
            readings.problems.append(f"{where}: {heading} {error}")
            continue
        readings.bare(text, number)
        if len(read) > 1 or (read and statistic.columns[0] not in read):
            readings.say(heading, text, read)
    if len(readings.problems) == before:
        try:
            check_percent(parts, table.number)
        except ValueError as error:
            readings.problems.append(f"{where}: {error}")
    parts.pop("percent", None)
    if len(readings.problems) > before:
        parts[FAILED] = "yes"
    return parts
