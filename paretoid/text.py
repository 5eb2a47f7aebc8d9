"""Numbers, intervals, tables and names in words for people, and plain data for JSON.

Whatever a terminal, a page, a picture or a file says about a number is said by a function of this
module, so that one number looks the same everywhere. Nothing here knows where the text goes:
`paretoid.cli.terminal` prints it, `paretoid.report.page` puts it into a page.
"""

from __future__ import annotations

import json
import math
import re
import textwrap
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

# --- numbers --------------------------------------------------------------------------------------


def count(value: float) -> str:
    """A number of samples: whole, thousands set apart, and short where it is beyond all counting.

    >>> count(30657.4), count(3.25e9), count(math.inf), count(math.nan)
    ('30,657', '3.25e+09', 'infinite', '-')
    """
    if math.isnan(value):
        return "-"
    if math.isinf(value):
        return "infinite" if value > 0 else "-infinite"
    return f"{value:,.0f}" if abs(value) < 1e8 else f"{value:.3g}"


def measure(value: float, digits: int = 4) -> str:
    """A measured number to so many digits; from 1,000 on whole, as a `count`.

    >>> measure(20364.7), measure(113.24), measure(0.12345), measure(999.97), measure(0.79124, 3)
    ('20,365', '113.2', '0.1235', '1,000', '0.791')
    """
    value = value or 0.0  # a mean of zeros that was turned round is -0.0
    if not math.isfinite(value) or abs(float(f"{value:.{digits}g}")) >= 1000:
        return count(value)
    return f"{value:.{digits}g}"


def about(value: float) -> str:
    """A number of samples to three digits, for what is not known to more.

    >>> about(2254.7), about(39.94), about(1234567.0), about(math.inf)
    ('2,250', '39.9', '1,230,000', 'infinite')
    """
    return measure(float(f"{value:.3g}"), 3)


def at_most(value: float, limit: int, beyond: str = "> ") -> str:
    """A number of samples that is infinite where it lies beyond a limit.

    >>> at_most(1234.0, 3000), at_most(math.inf, 3000), at_most(math.inf, 3000, "more than ")
    ('1,234', '> 3,000', 'more than 3,000')
    """
    return f"{beyond}{limit:,}" if math.isinf(value) else count(value)


def interval(low: float, high: float, form: Callable[[float], str] = measure) -> str:
    """The ends of an interval; said once where they look the same, a dash where none is known.

    >>> interval(0.25, 1234.5), interval(-math.inf, math.inf), interval(7.0, 7.0)
    ('0.25 to 1,234', '-', '7')
    """
    if not (math.isfinite(low) or math.isfinite(high)):
        return "-" if math.isnan(low) or low != high else form(low)
    ends = form(low), form(high)
    return ends[0] if ends[0] == ends[1] else " to ".join(ends)


def shares(low: float, high: float) -> str:
    """An interval of shares in percent; a small end keeps two digits.

    >>> shares(0.0, 0.0362), shares(0.0, 0.00031), shares(math.nan, math.nan)
    ('0.0 to 3.6%', '0.0 to 0.031%', '-')
    """
    if math.isnan(low):
        return "-"
    ends = (100 * low, 100 * high)
    return " to ".join(f"{end:.2g}" if 0 < end < 0.1 else f"{end:.1f}" for end in ends) + "%"


def bracketed(value: float, low: float | None, high: float | None, digits: int = 3) -> str:
    """An estimate with its interval in brackets, where it has one.

    >>> bracketed(150844.2, 1e5, 2e5), bracketed(0.79124, None, None)
    ('150,844 [100,000, 200,000]', '0.791')
    """
    if low is None or high is None:
        return measure(value, digits)
    return f"{measure(value, digits)} [{measure(low, digits)}, {measure(high, digits)}]"


def plus_minus(value: float, error: float, *, percent: bool = False) -> tuple[str, str]:
    """An estimate and its standard error, to two digits of the error and two decimals at most.

    >>> plus_minus(32.94, 0.268), plus_minus(1.0, 0.000249, percent=True)
    (('32.94', '± 0.27'), ('100.00%', '± 0.02'))
    """
    unit, sign = (100, "%") if percent else (1, "")
    size = unit * error
    places = 1 - math.floor(math.log10(size)) if 0 < size < math.inf else 0
    places = min(max(places, 0), 2)
    said = "" if math.isnan(size) else f"± {size:,.{places}f}"
    return f"{unit * value:,.{places}f}{sign}", said


def clock(seconds: float) -> str:
    """A duration in hours, minutes and seconds.

    >>> clock(4000), clock(75), clock(3)
    ('1:06:40', '1:15', '0:03')
    """
    minutes, rest = divmod(max(0, round(seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


# --- names ----------------------------------------------------------------------------------------


def joined(words: Iterable[str], last: str = "and") -> str:
    """Words as a sentence lists them.

    >>> joined(["IgG"]), joined(["IgG", "IgA"]), joined(["a margin", "more arms", "k = 1"], "or")
    ('IgG', 'IgG and IgA', 'a margin, more arms or k = 1')
    """
    *most, final = words
    return f"{', '.join(most)} {last} {final}" if most else final


def settled(certain: Sequence[float], when: str, inside: str, sure: str) -> str:
    """How many arms are in, out and undecided, on average.

    inside   what arms are that are in
    sure     "surely", or "by the intervals" where no theorem says so

    >>> settled((2.0, 0.04, 1.96), "at 600 participants", "optimal", "surely")
    'at 600 participants 2.0 arms surely optimal, 0.04 surely out, 1.96 undecided of 4'
    """
    optimal, out, undecided = (f"{value:.3g}" if value % 1 else f"{value:.1f}"
                                     for value in certain)  # fmt: skip
    return (
        f"{when} {optimal} arms {sure} {inside}, {out} {sure} out, "
        f"{undecided} undecided of {sum(certain):.0f}"
    )


def counted(number: int, noun: str, several: str = "") -> str:
    """A number of things; `several` is the plural where it is not the noun with an s.

    >>> counted(1, "arm"), counted(2000, "arm"), counted(2, "radius", "radii")
    ('1 arm', '2,000 arms', '2 radii')
    """
    return f"{number:,} {noun if number == 1 else several or f'{noun}s'}"


def chosen(names: Iterable[str], mask: Iterable[bool]) -> str:
    """Those of `names` that a mask marks.

    >>> chosen(["A", "B", "C"], [True, False, True])
    'A, C'
    """
    return ", ".join(str(name) for name, inside in zip(names, mask, strict=True) if inside)


def meant(name: str, names: Collection[str]) -> str:
    """How a sentence about a name that is none goes on: with the one that may have been meant.

    Capitals do not matter.

    >>> "there is no arm 'vacine'" + meant("vacine", ["placebo", "vaccine"])
    "there is no arm 'vacine'; did you mean 'vaccine'?"
    >>> "there is no arm 'x'" + meant("x", ["placebo", "vaccine"])
    "there is no arm 'x'."
    """
    small = {known.lower(): known for known in names}
    near = get_close_matches(str(name).lower(), small, n=1, cutoff=0.5)
    return f"; did you mean {small[near[0]]!r}?" if near else "."


def short(text: str, width: int) -> str:
    """At most `width` characters, the middle left out: long names often differ at the end.

    >>> short("a strategy with a long name, dose 12", 20)
    'a strateg... dose 12'
    """
    if len(text) <= width:
        return text
    tail = (width - 3) // 2
    return text[: width - 3 - tail] + "..." + text[-tail:]


def short_names(names: Sequence[str], width: int) -> list[str]:
    """Names of at most `width` characters; those that became the same get their position.

    >>> short_names(["the one of them all", "the odd of them all", "A"], 12)
    ['the o... all (1)', 'the o... all (2)', 'A']
    """
    made = [short(name, width) for name in names]
    return [f"{name} ({i + 1})" if made.count(name) > 1 else name for i, name in enumerate(made)]


def objective(name: str, less: bool, *, unit: str = "", reversed_: bool = False) -> str:
    """An objective with its unit and which way is better; `reversed_`: its axis runs backwards.

    >>> objective("harm", True, unit="days", reversed_=True)
    'harm [days], less is better (axis reversed)'
    """
    said = name + (f" [{unit}]" if unit else "")
    if less:
        said += ", less is better" + (" (axis reversed)" if reversed_ else "")
    return said


#: what a margin means, in one sentence, wherever one is set or shown
MARGINS = {
    "any": "An arm is within the margin of optimal unless another arm is better by more than the "
    "margin in every endpoint at once: being close in one endpoint is enough.",
    "all": "An arm is left out for one that is better by more than the margin in some endpoint and "
    "worse by more than it in none; arms that beat each other in a circle are kept.",
}


def margin(eps: Any) -> str:
    """A slack in the objectives' units, said once where it is the same for all of them.

    >>> margin(0.5), margin((0.1, 0.1)), margin([0.1, 0.25])
    ('0.5', '0.1', '(0.1, 0.25)')
    """
    values = list(eps) if isinstance(eps, Iterable) else [eps]
    if len(set(values)) == 1:
        return f"{values[0]:g}"
    return "(" + ", ".join(f"{value:g}" for value in values) + ")"


def goal_label(goal: str) -> str:
    """A goal's name for people: six digits, equal margins said once, margins of 0 left out.

    >>> goal_label("AtMost(k=2, eps1=(0.40546510, 0.40546510))"), goal_label("ParetoSet(eps1=0)")
    ('AtMost(k=2, eps1=0.405465)', 'ParetoSet()')
    >>> goal_label("PracticalSet(margin=(0.5, 0.5), slack=(0.25, 0.125))")
    'PracticalSet(margin=0.5, slack=(0.25, 0.125))'
    """
    head, _, rest = goal.partition("(")
    said = []
    for part in re.split(r", (?=[a-z]\w*=)", rest.removesuffix(")")):
        name, _, value = part.partition("=")
        values = [_brief(number) for number in value.strip("(),").split(", ")]
        one = values[0] if len(set(values)) == 1 else f"({', '.join(values)})"
        if not (name.startswith("eps") and one == "0"):
            said.append(f"{name}={one}")
    return f"{head}({', '.join(said)})"


def _brief(number: str) -> str:
    """A number to six digits; what is none stays."""
    try:
        return f"{float(number):g}"
    except ValueError:
        return number


# --- tables ---------------------------------------------------------------------------------------


def table(
    heads: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    names: int = 1,
    width: int | None = None,
) -> str:
    """Rows under heads; the first `names` columns are text, the others numbers.

    Where that is wider than `width`, every row becomes a short list instead: nothing is cut off.
    Heads that are all empty are left out.

    >>> print(table(["arm", "gap"], [["A", "0.5"], ["B", "12.25"]]))
    arm    gap
    A      0.5
    B    12.25
    >>> print(table(["arm", "gap"], [["A", "0.5"], ["B", "12.25"]], width=9))
    A
      gap  0.5
    B
      gap  12.25
    """
    from rich.cells import cell_len  # some letters are two columns wide

    sizes = [max(map(cell_len, column)) for column in zip(heads, *rows, strict=True)]
    if width is not None and sum(sizes) + 2 * (len(sizes) - 1) > width:
        return stacked(heads, rows, names=names, width=width)
    lines = []
    for cells in [heads, *rows] if any(heads) else rows:
        padded = []
        for position, (cell, size) in enumerate(zip(cells, sizes, strict=True)):
            blanks = " " * (size - cell_len(cell))
            padded.append(cell + blanks if position < names else blanks + cell)
        lines.append("  ".join(padded).rstrip())
    return "\n".join(lines)


def stacked(
    heads: Sequence[str], rows: Sequence[Sequence[str]], *, names: int = 1, width: int
) -> str:
    """Each row as a list: its names, then one number a line; empty cells are left out.

    >>> print(stacked(["arm", "pulls", "gap"], [["A", "1,000", "0.5"]], width=40))
    A
      pulls  1,000
      gap    0.5
    """
    lines = []
    label = max(map(len, heads[names:]), default=0)
    for row in rows:
        lines += textwrap.wrap(", ".join(filter(None, row[:names])), width, subsequent_indent="  ")
        for head, cell in zip(heads[names:], row[names:], strict=True):
            if cell:
                lines.append(f"  {head:<{label}}  {cell}")
    return "\n".join(lines)


def markdown(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown.

    >>> print(markdown(["K", "us"], [["5", "0.1"]]))
    | K | us |
    |---|---|
    | 5 | 0.1 |
    """
    lines = [f"| {' | '.join(cells)} |" for cells in (heads, *rows)]
    return "\n".join([lines[0], "|" + "---|" * len(heads), *lines[1:]])


# --- data -----------------------------------------------------------------------------------------


def plain(value: Any) -> Any:
    """`value` as JSON can say it: NaN and infinity become null, arrays and tuples lists.

    >>> import numpy as np
    >>> plain({"a": np.array([1.0, np.inf]), "b": (np.int64(2), None)})
    {'a': [1.0, None], 'b': [2, None]}
    """
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if hasattr(value, "tolist"):  # NumPy's arrays and scalars
        return plain(value.tolist())
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, Path):
        return str(value)
    return value


def as_json(data: Any) -> str:
    """`plain(data)` as the text of a JSON file.

    >>> print(as_json({"time": math.inf}))
    {
      "time": null
    }
    """
    return json.dumps(plain(data), indent=2, ensure_ascii=False, allow_nan=False)


#: control characters, marks that reorder or hide text, and separators of lines
_HIDDEN = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f"
)


def visible(words: str, *, lines: bool = False, styled: bool = False) -> str:
    """`words` with escapes, bidi marks and other hidden characters written out, as in JSON.

    A name from somebody's file can then neither move the cursor, nor turn a line round, nor look
    like another line. `lines` keeps line breaks and tabs, `styled` the colours of a terminal.

    >>> print(visible("A\\x1b[2J\\u202eB"), visible("A\\nhead 0"))
    A\\u001b[2J\\u202eB A\\u000ahead 0
    """
    hidden = _HIDDEN if lines else _HIDDEN + "\t\n"
    pattern = f"(?!\x1b\\[[0-9;]*m)[{hidden}]" if styled else f"[{hidden}]"
    return re.sub(pattern, lambda found: _written_out(found[0]), words)


def _written_out(letter: str) -> str:
    units = letter.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))
