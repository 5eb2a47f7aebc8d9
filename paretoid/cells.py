"""One printed cell, such as 12·4 (9·9–14·9), and the heading that says what its numbers are.

The shape of a cell never says what it means: 12·4 ± 8·1 may hold a standard deviation, a standard
error or half an interval, and 12·4 (9·9–14·9) a confidence interval, a range or quartiles. The
heading does, as in "mean ± SD" or "GMT (95% CI)". So a heading is read first, and a cell by it;
where no heading says it, a cell is refused with the columns it should be split into. What comes
out is text again: `paretoid.tables.parse_number` alone decides what a number is.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from paretoid.tables import is_missing

#: signs that point to a note below the table; superscript digits may be powers and are no marks
MARKS = "*†‡§¶‖#ᵃᵇᶜᵈᵉᶠ"

_GEOMETRIC = r"geometric means?(?: titres?| titers?| concentrations?)?|gmts?|gmcs?"
_LEVEL = r"(?:(?P<level{}>\d{{2}}(?:[.·]\d+)?)\s*%\s*)?"
_DEVIATION = r"sd|s\.d\.?|std\.?(?: dev\.?)?|standard deviation"
_ERROR = r"sem?|s\.e\.?(?:m\.?)?|standard error"
_SPREAD = _LEVEL + rf"(?P<spread{{}}>{_DEVIATION}|{_ERROR}|ci|confidence interval)"
_BY_BRACKET = rf"[(\[]\s*{_SPREAD.format(1, 1)}\s*[)\]]"
_BY_SIGN = rf"(?:±|\+/-|,)\s*{_SPREAD.format(2, 2)}"
#: statistics of two numbers or more, which a heading may also hold in brackets or begin with
_SEVERAL = "|".join([
    rf"(?P<center>{_GEOMETRIC}|means?)\s*(?:{_BY_BRACKET}|{_BY_SIGN})",
    r"(?P<share>(?:n|no\.?|number|events)\s*\(\s*%\s*\))",
    r"(?P<ratio>(?:n|no\.?|events)\s*(?:/|of)\s*(?:n|total(?: no\.?)?)(?:\s*\(\s*%\s*\))?)",
])  # fmt: skip
_JOINT = rf"{_SEVERAL}|(?P<median>medians?\b.*)"
_ANY = "|".join([
    _JOINT,
    rf"(?P<single>{_GEOMETRIC}|means?|events|n|{_DEVIATION}|{_ERROR})",
    rf"(?P<end>{_LEVEL.format(4)}ci[ _](?:lower|upper)|(?:lower|upper) {_LEVEL.format(5)}ci)",
    rf"(?P<bounds>{_LEVEL.format(3)}(?:ci|confidence interval)s?)",
])  # fmt: skip
_NUMBER = r"[+\-−]?\d[\d.,·∙⋅'\u2009\u202f\u00a0 ]*(?:[eE][+-]?\d+)?"
_MARKED = rf"\s*[{re.escape(MARKS)}]*\s*"
_TO = r"\s*(?:–|—|\bto\b|;|,\s|-)\s*"


_ALONE = re.compile(_ANY, re.IGNORECASE)
_AFTER = re.compile(rf"(?P<name>.*?\S)\s*(?:[,;:]|\s[–—-]|\n)\s*(?:{_ANY})", re.IGNORECASE)
_JOINED = re.compile(rf"(?P<name>.*?[^\s.])[\s.]+(?:{_SEVERAL})", re.IGNORECASE)
_WITHIN = re.compile(rf"(?P<name>.*?\S)\s*[(\[]\s*(?:{_JOINT})\s*[)\]]", re.IGNORECASE)
_BEFORE = re.compile(rf"(?:{_JOINT})\s+(?:of\s+)?(?P<name>\S.*)", re.IGNORECASE)
#: a name and one statistic with nothing that parts them, which `split_heading` reads
_ENDING = re.compile(rf"(?P<name>.*?[^\s.])[\s.]+(?:{_ANY})", re.IGNORECASE)
_BRACKETED = re.compile(rf"(?P<name>.*?\S)\s*[(\[]\s*(?:{_ANY})\s*[)\]]", re.IGNORECASE)
_UNIT_LAST = re.compile(
    rf"(?P<name>.*?[^\s.])[\s.]+(?:{_ANY})\s*,?\s*(?P<unit>[(\[][^()\[\]]+[)\]])", re.IGNORECASE
)
_BEGINNING = re.compile(rf"(?:{_ANY})[\s.]+(?:of\s+)?(?P<name>\S.*)", re.IGNORECASE)


@dataclass(frozen=True)
class Statistic:
    """What the numbers of a column are, in their order: columns of `TrialSummary.read_csv`.

    columns     ("mean", "sd"), ("geometric_mean", "ci_lower", "ci_upper"), ("events", "n"), ...;
                ("events", "percent") for 12 (30%); ("median",) for what cannot be used
    level       of the interval, where the heading states it, as a share

    >>> Statistic(("mean", "sd")).words
    'mean, sd'
    >>> Statistic(("geometric_mean", "ci_lower", "ci_upper"), 0.9).words
    'geometric mean, 90% CI'
    """

    columns: tuple[str, ...]
    level: float | None = None

    @property
    def words(self) -> str:
        """What they are, as a heading says it."""
        level = "" if self.level is None else f"{100 * self.level:g}% "
        names = ", ".join(self.columns).replace("ci_lower, ci_upper", f"{level}CI")
        return names.replace("_", " ")


def read_heading(heading: str) -> tuple[str, Statistic | None]:
    """(name, statistic) of a heading: what is measured, and how it is summarised, if it says so.

    The name is empty where the whole heading is a statistic.

    >>> read_heading("IgG (EU/mL), GMT (95% CI)")
    ('IgG (EU/mL)', Statistic(columns=('geometric_mean', 'ci_lower', 'ci_upper'), level=0.95))
    >>> read_heading("mean ± SD")
    ('', Statistic(columns=('mean', 'sd'), level=None))
    >>> read_heading("pain")
    ('pain', None)
    """
    plain = strip_marks(" ".join(heading.replace("_", " ").split()))[0]
    match = _ALONE.fullmatch(plain)
    if match:
        return "", _statistic(match)
    for pattern in (_AFTER, _WITHIN, _BEFORE, _JOINED):
        match = pattern.fullmatch(plain)
        if match:
            return match["name"].strip(), _statistic(match)
    return plain, None


def split_heading(heading: str) -> list[tuple[str, Statistic]]:
    """How a heading may be a name and one statistic: "IgG SD", "SD of IgG", "IgG (SD)", "IgG.sd".

    No sign parts the two, so a name such as "mean arterial pressure" may be taken for it: only
    the other headings of a table can say whether it is. () where nothing in it is a statistic.

    >>> split_heading("mean arterial pressure SD")
    [('mean arterial pressure', Statistic(columns=('sd',), level=None)), \
('arterial pressure SD', Statistic(columns=('mean',), level=None))]
    >>> split_heading("arterial pressure")
    []
    """
    plain = strip_marks(" ".join(heading.replace("_", " ").split()))[0]
    readings = []
    for pattern in (_ENDING, _BRACKETED, _UNIT_LAST, _BEGINNING):
        match = pattern.fullmatch(plain)
        if match:
            unit = match.groupdict().get("unit")
            name = " ".join(part for part in (match["name"].strip(), unit) if part)
            readings.append((name, _statistic(match)))
    return readings


def _statistic(match: re.Match[str]) -> Statistic:
    said = {name: text.lower() for name, text in match.groupdict().items() if text is not None}
    stated = next((said[f"level{i}"] for i in range(1, 6) if f"level{i}" in said), None)
    level = float(stated.replace("·", ".")) / 100 if stated else None
    if "center" in said:
        center = "mean" if said["center"].startswith("mean") else "geometric_mean"
        spread = said.get("spread1") or said.get("spread2") or ""
        return Statistic((center, *_spread(spread)), level)
    if "single" in said:
        word = said["single"]
        if word in ("n", "events"):
            return Statistic((word,))
        if re.fullmatch(f"{_DEVIATION}|{_ERROR}", word):
            return Statistic(_spread(word))
        return Statistic(("mean" if word.startswith("mean") else "geometric_mean",))
    if "end" in said:
        return Statistic(("ci_lower" if "lower" in said["end"] else "ci_upper",), level)
    if "bounds" in said:
        return Statistic(("ci_lower", "ci_upper"), level)
    if "median" in said:
        return Statistic(("median",))
    return Statistic(("events", "percent") if "share" in said else ("events", "n"))


def _spread(word: str) -> tuple[str, ...]:
    if re.fullmatch(_DEVIATION, word):
        return ("sd",)
    return ("ci_lower", "ci_upper") if word in ("ci", "confidence interval") else ("se",)


def strip_marks(text: str) -> tuple[str, str]:
    """(text, marks) without the footnote marks at its end.

    >>> strip_marks("12·4†"), strip_marks("12·4 (8·1)*")
    (('12·4', '†'), ('12·4 (8·1)', '*'))
    """
    bare = text.rstrip().rstrip(MARKS + " ")
    if not bare:  # a cell of nothing but marks keeps them
        return text.strip(), ""
    return bare, text.rstrip()[len(bare) :].replace(" ", "")


_PAIR = re.compile(rf"(?P<a>{_NUMBER}){_MARKED}(?:±|\+/-)\s*(?P<b>{_NUMBER}){_MARKED}")
_BRACKET = re.compile(rf"(?P<a>{_NUMBER}){_MARKED}[(\[]\s*(?P<b>{_NUMBER})\s*[)\]]{_MARKED}")
_INTERVAL = re.compile(
    rf"(?P<a>{_NUMBER}){_MARKED}[,;]?\s*[(\[]\s*(?P<b>{_NUMBER}){_TO}(?P<c>{_NUMBER})\s*[)\]]{_MARKED}"
)
_BOUNDS = re.compile(rf"[(\[]?\s*(?P<a>{_NUMBER}){_TO}(?P<b>{_NUMBER})\s*[)\]]?{_MARKED}")
_PERCENT = re.compile(rf"(?P<a>\d+){_MARKED}[(\[]\s*(?P<b>\d+(?:[.·]\d+)?)\s*%?\s*[)\]]{_MARKED}")
_RATIO = re.compile(
    rf"(?P<a>\d+)\s*(?:/|of)\s*(?P<b>\d+){_MARKED}"
    rf"(?:[(\[]\s*(?P<c>\d+(?:[.·]\d+)?)\s*%?\s*[)\]]{_MARKED})?"
)
_LIMIT = re.compile(rf"[<>≤≥]\s*{_NUMBER}{_MARKED}")
_SUPERSCRIPT = re.compile(r".*[⁰¹²³⁴-⁹]\s*")

#: shapes for a statistic, by how many numbers it has and what the last are
_SHAPES: dict[tuple[str, ...], tuple[re.Pattern[str], ...]] = {
    ("sd",): (_PAIR, _BRACKET),
    ("se",): (_PAIR, _BRACKET),
    ("ci_lower", "ci_upper"): (_INTERVAL,),
    ("n",): (_RATIO,),
    ("percent",): (_PERCENT,),
}


def split_cell(text: str, statistic: Statistic) -> dict[str, str]:
    """Text of each number of a cell, by column; empty where the cell says that nothing is known.

    >>> split_cell("12·4 (9·9–14·9)", read_heading("GMT (95% CI)")[1])
    {'geometric_mean': '12·4', 'ci_lower': '9·9', 'ci_upper': '14·9'}
    >>> split_cell("20/41 (49%)", read_heading("n/N (%)")[1])
    {'events': '20', 'n': '41', 'percent': '49'}
    """
    cell = strip_marks(text)[0]
    if is_missing(cell):
        return {}
    columns = statistic.columns
    if columns == ("median",):
        raise ValueError(
            f"{text!r} is a median: no mean and spread follow from it without assuming a "
            f"distribution; give the mean and sd, or the geometric mean with its interval, from "
            f"the source's supplement"
        )
    if _LIMIT.fullmatch(cell):
        raise ValueError(
            f"{text!r} is a limit, not a value: what lies beyond it is not known; write the value "
            f"that the source used for it, or leave the endpoint out"
        )
    if _SUPERSCRIPT.fullmatch(cell):
        raise ValueError(
            f"{text!r} ends in a raised digit, which may be a power or point to a note; write the "
            f"number without it, powers as 1e5"
        )
    if columns == ("ci_lower", "ci_upper"):
        match = _BOUNDS.fullmatch(cell)
        if not match or not match["a"]:
            raise ValueError(
                f"{text!r} is no interval; write its ends in the columns ci_lower and ci_upper"
            )
        return {"ci_lower": match["a"].strip(), "ci_upper": match["b"].strip()}
    if len(columns) == 1:
        if columns == ("events",):
            ratio, share = _RATIO.fullmatch(cell), _PERCENT.fullmatch(cell)
            if ratio or share:
                return _counts(ratio, share)
        elif columns == ("n",):
            return {"n": re.sub(r"^\(?\s*n\s*=\s*(.*?)\)?$", r"\1", cell, flags=re.IGNORECASE)}
        _refuse_several(text, cell, columns[0])
        return {columns[0]: cell}
    for shape in _SHAPES[columns[1:]]:
        match = shape.fullmatch(cell)
        if match:
            names = (*columns, "percent") if shape is _RATIO else columns
            return _named(match, names)
    raise ValueError(
        f"{text!r} is not of the form that its heading announces; write {statistic.words} in "
        f"columns of their own"
    )


def _counts(ratio: re.Match[str] | None, share: re.Match[str] | None) -> dict[str, str]:
    """20/41, with or without a share, or 12 (30%)."""
    if ratio:
        return _named(ratio, ("events", "n", "percent"))
    return _named(share, ("events", "percent")) if share else {}


def _named(match: re.Match[str], names: tuple[str, ...]) -> dict[str, str]:
    parts = zip(names, match.groups(), strict=False)
    return {name: part.strip() for name, part in parts if part is not None}


def _refuse_several(text: str, cell: str, column: str) -> None:
    """Two numbers in a cell whose heading announces one: say how to split it."""
    split = {
        _PAIR: "the second may be a standard deviation, a standard error or half an interval; "
        "write it in the column sd or se, or both ends in ci_lower and ci_upper",
        _INTERVAL: "the brackets may hold a confidence interval, a range or quartiles; write the "
        "ends of a confidence interval in the columns ci_lower and ci_upper",
        _BRACKET: "the brackets may hold a standard deviation or a standard error; write it in the "
        "column sd or se",
        _PERCENT: "as a count and its share it belongs in the column events",
        _RATIO: "as events of n it belongs in the columns events and n",
        _BOUNDS: "an interval belongs in the columns ci_lower and ci_upper",
    }
    for shape, way_out in split.items():
        match = shape.fullmatch(cell)
        if match and all(group != "" for group in match.groups()):
            raise ValueError(f"{text!r} holds several numbers under {column}: {way_out}")


def guess_statistic(cells: list[str]) -> Statistic | None:
    """What cells under a heading without a statistic are, where their shape leaves no doubt.

    Only counts do: 20/41, unless the first number is 1 throughout, which is how titres are written,
    and 12 (30%), whose share is checked against n.

    >>> guess_statistic(["20/41", "1/40"])
    Statistic(columns=('events', 'n'), level=None)
    >>> guess_statistic(["1/40", "1/80"]) is None
    True
    """
    filled = [strip_marks(cell)[0] for cell in cells if not is_missing(cell)]
    ratios = [_RATIO.fullmatch(cell) for cell in filled]
    if filled and all(ratios) and any(match and match["a"] != "1" for match in ratios):
        return Statistic(("events", "n"))
    if filled and all(_PERCENT.fullmatch(cell) and "%" in cell for cell in filled):
        return Statistic(("events", "percent"))
    return None


def check_percent(parts: dict[str, str], number: Callable[[str], tuple[float, float]]) -> None:
    """Refuse a count whose printed share is not events / n; nothing to check without a share.

    >>> from paretoid.tables import parse_number
    >>> check_percent({"events": "12", "n": "40", "percent": "30"}, parse_number)
    """
    if "percent" not in parts:
        return
    if is_missing(parts.get("n", "")):
        raise ValueError(
            f"{parts['events']} ({parts['percent']}%) leaves n to a rounded share; give n in a "
            f"column of its own"
        )
    events, n = number(parts["events"])[0], number(parts["n"])[0]
    share, half = number(parts["percent"])
    if n <= 0 or abs(100 * events / n - share) > half * (1 + 1e-9):
        raise ValueError(
            f"{events:g} of n = {n:g} are not {parts['percent']}%; one of the three is misprinted, "
            f"or the share is of another number"
        )
