"""What a paper reports of a trial: per arm and endpoint a mean, its interval and a sample size."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from paretoid.directions import check_directions
from paretoid.estimation.summary_cells import SCALES, ReadCell, read_cell
from paretoid.estimation.summary_cells import spread_of_interval as spread_of_interval
from paretoid.layouts import DIRECTIONS, FAILED, as_long
from paretoid.tables import CsvTable, column_name, is_missing, read_journal_table, refuse
from paretoid.text import joined, meant, plain
from paretoid.theory.checks import (
    BoolArray,
    FloatArray,
    check_choice,
    check_count,
    check_name,
    check_positive,
    is_listed,
    is_real,
    refusal,
    shown,
)

#: arms are named by the first of these sets of columns that the file has
_ARM_COLUMNS = (("arm",), ("prime", "booster", "dose"))

#: words of the columns that say which way is better
_MORE = ("larger", "higher", "more", "max", "maximize")
_LESS = ("smaller", "lower", "less", "min", "minimize")


@dataclass(frozen=True, eq=False)
class TrialSummary:
    """K arms x D endpoints as published; tables are (K, D), NaN where nothing was reported.

    mean        of the outcome on its working scale: log for log-normal, events/n for binary
    sd          sample standard deviation on the working scale, from the interval or as reported
    n           participants behind each cell
    reported, lower, upper   the published mean and interval, in the endpoint's unit
    level       of the intervals
    scales      per endpoint "log-normal", "normal" or "binary"
    minimize    endpoints where less is better
    assumed_n   stands in where n was not reported; None: nothing is assumed
    assumed_variance   per endpoint, working scale, where no interval was reported
    readings    how cells were read that hold more than a plain number, and what was not read

    >>> from paretoid.estimation import load_trial
    >>> trial = load_trial("covboost-groupB")
    >>> trial
    TrialSummary(8 arms x 3 endpoints)
    >>> trial.match(["delta"])    # a part that one name alone has
    ('NT50 delta',)
    >>> two = trial.select(["IgG", "NT50 wild-type"])
    >>> two.endpoints, two.mean.shape
    (('IgG', 'NT50 wild-type'), (8, 2))
    >>> TrialSummary.from_json(two.to_json()).endpoints == two.endpoints
    True

    What a paper leaves out is assumed by name only, and said with every result:

    >>> trial.assumptions
    ()
    >>> assumed = trial.assuming(variance={"IgG": 0.7})
    >>> assumed.assumptions[0][:44]
    'The variance of IgG is assumed to be 0.7 in '
    >>> bool(trial.known_spread.all()), bool((trial.counts == trial.n).all())
    (True, True)
    """

    arms: tuple[str, ...]
    endpoints: tuple[str, ...]
    units: tuple[str, ...]
    scales: tuple[str, ...]
    mean: FloatArray
    sd: FloatArray
    n: FloatArray
    reported: FloatArray
    lower: FloatArray
    upper: FloatArray
    level: float = 0.95
    minimize: tuple[str, ...] = ()
    assumed_n: int | None = None
    assumed_variance: Mapping[str, float] = field(default_factory=dict)
    sources: tuple[str, ...] = ()
    readings: tuple[str, ...] = ()
    citation: str = ""
    provenance: str = ""

    def __post_init__(self) -> None:
        for what, names in (("arm", self.arms), ("endpoint", self.endpoints)):
            for name in names:
                check_name(name, what=what)

    @classmethod
    def read_csv(
        cls,
        path: str | Path,
        *,
        arms: Sequence[str] | str | None = None,
        endpoints: Sequence[str] | Mapping[str, str] | str | None = None,
        scale: str | None = None,
        level: float = 0.95,
        minimize: Iterable[str] | str = (),
        maximize: Iterable[str] | str = (),
        assumed_n: int | None = None,
        assumed_variance: Mapping[str, float] | None = None,
    ) -> TrialSummary:
        """Read a table of published summaries, a CSV file or (extra `excel`) an Excel sheet.

        The table has one row per arm and endpoint; or a row per arm and a column per endpoint; or
        a row per endpoint and a column per arm. In the latter two a heading says what the numbers
        are, as in "IgG, GMT (95% CI)", "pain, mean (SD)" or "cured, n/N"; see `paretoid.layouts`.

        arms        columns that name an arm, joined; default `arm`, or prime, booster, dose. A
                    dose "full" and an empty cell or "n/a" leave no trace in the name.
        endpoints   which, in this order, by name or a part of it that only one name has; a
                    mapping also renames. Default: all, in order of appearance.
        scale       "log-normal", "normal" or "binary" for all rows; else the column `scale`;
                    else by the columns filled in: geometric_mean, mean or events.
        level       of the intervals.
        minimize    endpoints where less is better. A column `better` (larger, smaller) or
                    `direction` (max, min) of the table says it too. Of all others more is better;
                    names that usually go the other way, such as toxicity, are asked about.
        maximize    endpoints where more is better whatever their name
        assumed_n   for cells without n; it is shown with every result.

        Columns: endpoint, n, and geometric_mean with ci_lower, ci_upper; or mean with sd, se or
        ci_lower, ci_upper; or events. Two may share a column that says so, such as "mean ± SD",
        "95% CI" or "n (%)"; `readings` tells how such cells were read. Optional: unit, scale,
        source. All problems are reported at once, with the row numbers that a spreadsheet shows.

        >>> import tempfile
        >>> lines = ["arm,endpoint,n,mean,sd", "A,pain,40,3.0,1.5", "B,pain,40,2.0,1.5"]
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder) / "mine.csv"
        ...     _ = path.write_text("\\n".join(lines))
        ...     trial = TrialSummary.read_csv(path, minimize=["pain"])
        >>> trial.arms, trial.scales, trial.mean.ravel()
        (('A', 'B'), ('normal',), array([3., 2.]))
        """
        table = read_journal_table(path)
        return summary_of([table], str(path), arms=arms, endpoints=endpoints, scale=scale,
                          level=level, minimize=minimize, maximize=maximize, assumed_n=assumed_n,
                          assumed_variance=assumed_variance)  # fmt: skip

    @property
    def known_spread(self) -> BoolArray:
        """(K, D) cells whose n and standard deviation were both reported."""
        return np.isfinite(self.n) & np.isfinite(self.sd)

    @property
    def counts(self) -> FloatArray:
        """(K, D) n, with `assumed_n` where none was reported."""
        stand_in = np.nan if self.assumed_n is None else float(self.assumed_n)
        return np.where(np.isfinite(self.n), self.n, stand_in)

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What was not reported and is assumed, in sentences; empty where nothing is."""
        said = []
        missing = int(np.isnan(self.n).sum())
        if self.assumed_n is not None and missing:
            said.append(
                f"n = {self.assumed_n} is assumed in {missing} of {self.n.size} cells, where the "
                f"source reports none."
            )
        for endpoint, variance in self.assumed_variance.items():
            silent = not self.known_spread[:, self.endpoints.index(endpoint)].any()
            why = "the source reports no interval" if silent else "not taken from the source"
            said.append(
                f"The variance of {endpoint} is assumed to be {variance:.8g} in every arm: {why}."
            )
        return tuple(said)

    def assuming(
        self, n: int | None = None, variance: Mapping[str, float] | None = None
    ) -> TrialSummary:
        """The same trial with a stand-in for n, or for the variance of endpoints, by name."""
        return replace(
            self,
            assumed_n=self.assumed_n if n is None else _check_assumed_n(n),
            assumed_variance={
                **self.assumed_variance,
                **_check_variance(variance or {}, self.endpoints),
            },
        )

    def match(self, names: Iterable[str], what: str = "endpoints") -> tuple[str, ...]:
        """Endpoints by name, or by a part of it that only one name has."""
        return tuple(_match(name, self.endpoints, what) for name in names)

    def select(self, endpoints: Iterable[str]) -> TrialSummary:
        """The same trial with these endpoints, in this order."""
        chosen = tuple(_choose(list(endpoints), self.endpoints, "the trial"))
        at = [self.endpoints.index(name) for name in chosen]
        tables = ("mean", "sd", "n", "reported", "lower", "upper")
        return replace(
            self,
            endpoints=chosen,
            units=tuple(self.units[d] for d in at),
            scales=tuple(self.scales[d] for d in at),
            minimize=tuple(name for name in self.minimize if name in chosen),
            assumed_variance={e: v for e, v in self.assumed_variance.items() if e in chosen},
            **{name: getattr(self, name)[:, at] for name in tables},
        )

    def to_json(self) -> str:
        """Everything as text, for the attributes of a netCDF file."""
        return json.dumps({field.name: plain(getattr(self, field.name)) for field in fields(self)})

    @classmethod
    def from_json(cls, text: str) -> TrialSummary:
        """The inverse of `to_json`."""
        try:
            values = json.loads(text)
            for name in ("mean", "sd", "n", "reported", "lower", "upper"):
                values[name] = np.array(values[name], dtype=np.float64)
            for name in ("arms", "endpoints", "units", "scales", "minimize", "sources", "readings"):
                values[name] = tuple(values.get(name, ()))  # older files have no readings
            trial = cls(**values)
            shape = (len(trial.arms), len(trial.endpoints))
            if not all(getattr(trial, name).shape == shape for name in ("mean", "sd", "n")):
                raise ValueError(f"its tables are not those of {shape[0]} arms")
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
            why = str(error) or type(error).__name__
            raise ValueError(f"the trial in this fit is damaged ({why}). Fit it again.") from error
        return trial

    def __repr__(self) -> str:
        return f"TrialSummary({len(self.arms)} arms x {len(self.endpoints)} endpoints)"


def summary_of(
    tables: Sequence[CsvTable],
    name: str,
    *,
    arms: Sequence[str] | str | None = None,
    endpoints: Sequence[str] | Mapping[str, str] | str | None = None,
    scale: str | None = None,
    level: float = 0.95,
    minimize: Iterable[str] | str = (),
    maximize: Iterable[str] | str = (),
    assumed_n: int | None = None,
    assumed_variance: Mapping[str, float] | None = None,
    keep: Iterable[str] | None = None,
) -> TrialSummary:
    """One trial from one or more tables of the same columns; `keep` picks arms by name."""
    if not isinstance(level, float) or not 0.5 <= level < 1:
        raise refusal(is_real(level))(
            f"level={shown(level)} must lie in [0.5, 1): it is the coverage the intervals claim. "
            f"For 99% intervals pass level=0.99."
        )
    if scale is not None:
        check_choice(scale, SCALES, name="scale", why="it is how the outcomes are distributed.")
    if assumed_n is not None:
        _check_assumed_n(assumed_n)
    readings = []
    long = []
    header = tables[0].header
    for table in tables:
        read, found = as_long(table, _named_by(table, arms), level, scale)
        long.append(read)
        readings.append(found)
    tables = long
    problems = [problem for found in readings for problem in found.problems]
    columns = _arm_columns(tables, arms, name, problems, header)
    rows = [(number, row, table) for table in tables for number, row in table.rows]
    names = list(dict.fromkeys(row["endpoint"] for _, row, _ in rows))
    chosen = _choose(endpoints, names, name)
    lopsided: list[str] = []
    cells: dict[tuple[str, str], ReadCell] = {}
    wanted = None if keep is None else set(keep)
    order: dict[str, None] = {}
    for number, row, table in rows:
        arm = _arm_name(row, columns)
        if wanted is not None and arm not in wanted:
            continue
        order.setdefault(arm)
        if row["endpoint"] not in chosen:
            continue
        where = f"row {number} ({arm}, {row['endpoint']})"
        if not arm or not row["endpoint"]:
            problems.append(f"row {number}: the arm or the endpoint has no name")
            continue
        key = (arm, chosen[row["endpoint"]])
        if key in cells:
            problems.append(f"{where}: the same arm and endpoint as row {cells[key].row}")
            continue
        if row.get(FAILED):
            cells[key] = ReadCell(number, row.get("unit", ""), row.get("source", ""))
            continue
        cells[key] = read_cell(row, number, where, table, scale, level, problems, lopsided)
    arm_names, endpoint_names = tuple(order), tuple(chosen.values())
    problems += [
        f"arm {arm}: no row for endpoint {endpoint}"
        for arm in arm_names
        for endpoint in endpoint_names
        if (arm, endpoint) not in cells
    ]
    for endpoint in endpoint_names:
        for what, kind in (("unit", "units"), ("scale", "scales")):
            seen: dict[str, int] = {}
            for (_, e), cell in cells.items():
                if e == endpoint and getattr(cell, what):
                    seen.setdefault(getattr(cell, what), cell.row)
            if len(seen) > 1:
                said = ", ".join(f"{value!r} (row {row})" for value, row in seen.items())
                problems.append(f"endpoint {endpoint}: different {kind}, {said}; convert to one")
    if len(arm_names) < 2:
        problems.append(
            f"there is one arm, {', '.join(arm_names) or 'without a name'}: an arm is optimal only "
            f"relative to another. Check which columns name the arms; these were used: "
            f"{', '.join(columns)}"
        )
    less = _less_is_better(rows, chosen, minimize, maximize, problems, name)
    refuse(name, problems)
    if lopsided:
        warnings.warn(
            f"{name}: intervals that lie lopsided about their mean, so perhaps the outcome is not "
            f"distributed as stated or a number was misread:\n  " + "\n  ".join(lopsided),
            stacklevel=3,
        )
    grid = [[cells[a, e] for e in endpoint_names] for a in arm_names]
    taken: dict[str, Any] = {what: np.array([[getattr(c, what) for c in row] for row in grid])
             for what in ("mean", "sd", "n", "reported", "lower", "upper")}  # fmt: skip
    return TrialSummary(
        arm_names,
        endpoint_names,
        tuple(next((row[d].unit for row in grid if row[d].unit), "")
              for d in range(len(endpoint_names))),
        tuple(grid[0][d].scale for d in range(len(endpoint_names))),
        **taken,
        level=level,
        minimize=less,
        assumed_n=assumed_n,
        assumed_variance=_check_variance(assumed_variance or {}, endpoint_names),
        sources=tuple(dict.fromkeys(c.source for row in grid for c in row if c.source)),
        readings=tuple(note for found in readings for note in found.notes),
    )  # fmt: skip


def _less_is_better(
    rows: list[tuple[int, Mapping[str, str], CsvTable]],
    chosen: Mapping[str, str],
    minimize: Iterable[str] | str,
    maximize: Iterable[str] | str,
    problems: list[str],
    name: str,
) -> tuple[str, ...]:
    """The endpoints where less is better: those of `minimize`, and those that the table says."""
    less, more = (
        [
            _match(endpoint, tuple(chosen.values()), what)
            for endpoint in ([named] if isinstance(named, str) else named)
        ]
        for what, named in (("minimize", minimize), ("maximize", maximize))
    )
    said: dict[str, tuple[bool, int]] = {}
    for number, row, _ in rows:
        endpoint = chosen.get(row["endpoint"])
        word = next((row[column] for column in DIRECTIONS if row.get(column)), "")
        if endpoint is None or not word:
            continue
        if word.strip().lower() not in _MORE + _LESS:
            problems.append(
                f"row {number}: {word!r} must be one of {', '.join(_MORE + _LESS)}: it says which "
                f"way {endpoint} is better"
            )
            continue
        fewer = word.strip().lower() in _LESS
        before, first = said.setdefault(endpoint, (fewer, number))
        if before != fewer:
            problems.append(f"row {number}: {word!r} contradicts row {first} ({endpoint})")
    for endpoint, (fewer, number) in said.items():
        if not fewer and endpoint in less:
            problems.append(
                f"row {number}: more of {endpoint} is better, and minimize names it; leave one out"
            )
        if fewer and endpoint in more:
            problems.append(
                f"row {number}: less of {endpoint} is better, and maximize names it; leave one out"
            )
        if fewer and endpoint not in less:
            less.append(endpoint)
    if not problems:
        larger = [endpoint for endpoint, (fewer, _) in said.items() if not fewer]
        check_directions(tuple(chosen.values()), less, [*more, *larger], name)
    return tuple(less)


def _named_by(table: CsvTable, arms: Any) -> tuple[str, ...]:
    """The columns that name an arm; none if the table has not those that are usual."""
    if arms is not None:
        return tuple(map(column_name, _headings(arms, table.header)))
    there = (names for names in _ARM_COLUMNS if names[0] in table.columns)
    return tuple(name for name in next(there, ()) if name in table.columns)


def _headings(arms: Any, header: Sequence[str]) -> list[str]:
    """The columns that name an arm, as they are asked for."""
    headings = [arms] if isinstance(arms, str) else list(arms) if is_listed(arms) else []
    if not headings or not all(isinstance(heading, str) for heading in headings):
        raise refusal(False)(
            f"arms={shown(arms)} must be the heading of a column, or several in a list: their "
            f"texts together name an arm. Its header has: {', '.join(header)}."
        )
    return headings


def _arm_columns(
    tables: Sequence[CsvTable],
    arms: Any,
    name: str,
    problems: list[str],
    header: Sequence[str],
) -> tuple[str, ...]:
    """The columns that name an arm; refused, with the header as printed, where some are missing."""
    columns = tables[0].columns
    missing = [c for c in ("endpoint",) if c not in columns]
    chosen = _named_by(tables[0], arms)
    if "endpoint" in missing and arms is None and not chosen:
        refuse(name, problems)
        raise ValueError(
            f"{name} names no arms: no column is called arm, nor endpoint. If a row is an arm, "
            f"name the column of the arms with arms=, for instance arms={header[0]!r}. Its header "
            f"has: {', '.join(header)}."
        )
    if arms is not None:
        missing += [c for c in _headings(arms, header) if column_name(c) not in columns]
    elif not chosen:
        missing.append("arm (or name the columns of the arms with arms=)")
    if not any(c in columns for c in ("geometric_mean", "mean", "events")):
        missing.append("geometric_mean, mean or events")
    if missing:
        refuse(name, problems)  # they may be the reason
        raise ValueError(
            f"{name} lacks the column {' and the column '.join(missing)}. Its header has: "
            f"{', '.join(header)}."
        )
    return chosen


def _arm_name(row: Mapping[str, str], columns: Sequence[str]) -> str:
    parts = [row[c] for c in columns if c != "dose" and not is_missing(row[c])]
    dose = row["dose"] if "dose" in columns else ""
    return " + ".join(parts) + ("" if is_missing(dose) or dose == "full" else f" {dose}")


def _choose(endpoints: Any, names: Sequence[str], name: str) -> dict[str, str]:
    """File name -> name to use, in the order asked for."""
    if endpoints is None:
        return {asked: asked for asked in names}
    if isinstance(endpoints, str):
        endpoints = [endpoints]
    chosen: dict[str, str] = {}
    for asked in endpoints:
        full = _match(asked, names, "endpoints")
        if full in chosen:
            raise ValueError(f"endpoints names {full!r} twice; each is one objective.")
        chosen[full] = endpoints[asked] if isinstance(endpoints, Mapping) else full
    if not chosen:
        raise ValueError(f"endpoints is empty; {name} has: {', '.join(names)}.")
    return chosen


def _match(asked: str, names: Sequence[str], what: str) -> str:
    """The one of `names` that is, or alone contains, `asked`."""
    if asked in names:
        return asked
    holding = [name for name in names if asked.lower() in name.lower()]
    if asked and len(holding) == 1:
        return holding[0]
    why = f"is no endpoint{meant(asked, names)}"
    if asked and holding:
        why = f"is part of several names, {joined(map(repr, holding))}; which one is it?"
    raise ValueError(f"{what}={shown(asked)} {why} There are: {', '.join(names)}.")


def _check_assumed_n(n: Any) -> int:
    return check_count(n, name="assumed_n", least=2, why="one participant shows no spread.")


def _check_variance(variances: Mapping[str, float], endpoints: Sequence[str]) -> dict[str, float]:
    checked = {}
    for name, variance in variances.items():
        checked[_match(name, endpoints, "assumed_variance")] = check_positive(
            variance, name=f"assumed_variance[{name!r}]",
            why="it is the variance of one outcome on its working scale (log for log-normal).",
        )  # fmt: skip
    return checked
