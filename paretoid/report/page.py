"""A page: sections of sentences, tables, pictures and code, put into one HTML file.

Everything given here is text and is escaped by the template; pictures alone are markup.
"""

from __future__ import annotations

import base64
import hashlib
import math
import platform
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib import resources
from pathlib import Path
from typing import Any

from paretoid import text
from paretoid.report.figures import SvgPicture
from paretoid.versions import versions
from paretoid.writing import new_file


@dataclass(frozen=True)
class Cell:
    """What a table shows at one place, and what it is sorted by: a number, or the text."""

    text: str
    extra: str = ""
    key: float | None = None

    @property
    def order(self) -> str:
        """The key as JavaScript reads it; empty sorts last."""
        if self.key is None:
            return self.text
        return "" if math.isnan(self.key) else repr(float(self.key)).replace("inf", "Infinity")


@dataclass(frozen=True)
class TableBlock:
    """Rows under a caption; the first cell of a row names it."""

    caption: str
    heads: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    note: str = ""
    kind: str = field(default="table", init=False)

    def numeric(self, column: int) -> bool:
        """Does the column hold numbers? They are aligned to the right."""
        return any(row[column].key is not None for row in self.rows)


@dataclass(frozen=True)
class PictureBlock:
    """Pictures beside each other where there is room."""

    pictures: Sequence[SvgPicture]
    kind: str = field(default="pictures", init=False)


@dataclass(frozen=True)
class TextBlock:
    """A paragraph; `kind` may be "text", "code" or "warning"."""

    text: str
    kind: str = "text"


@dataclass(frozen=True)
class AnswerBlock:
    """The first thing to read: a question, the answer in large type, sentences after it."""

    question: str
    answer: str
    sentences: Sequence[str]
    kind: str = field(default="answer", init=False)


Block = TableBlock | PictureBlock | TextBlock | AnswerBlock


@dataclass(frozen=True)
class Section:
    """A heading and what stands under it."""

    title: str
    blocks: Sequence[Block]
    anchor: str


def render(title: str, subtitle: str, sections: Sequence[Section]) -> str:
    """The page as HTML. Its policy forbids the browser to load anything or run other scripts."""
    import jinja2

    script = resources.files("paretoid.report").joinpath("page.js").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("paretoid.report", "."),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("page.html").render(
        title=title, subtitle=subtitle, sections=sections, script=script, script_hash=digest
    )


def write_page(path: str | Path, html: str, *, force: bool = False, private: bool = False) -> Path:
    """`html` as a file; refuses, in a sentence, where none can be written.

    private   it has mode 0600: only its owner may read it
    """
    with new_file(path, force=force, private=private) as draft:
        draft.write_bytes(html.encode("utf-8", "replace"))
    return Path(path)


def samples(
    value: float,
    low: float = math.nan,
    high: float = math.nan,
    *,
    least: bool = False,
    limit: int | None = None,
) -> Cell:
    """A number of samples with its interval.

    least   the value is only a lower bound
    limit   an infinite number lies beyond this many

    >>> samples(1234.4, 1000.0, math.inf, limit=3000)
    Cell(text='1,234', extra='1,000 to > 3,000', key=1234.4)
    """
    form = text.count if limit is None else partial(text.at_most, limit=limit)
    extra = "" if math.isnan(low) or low == high == math.inf else text.interval(low, high, form)
    return Cell(("≥ " if least else "") + form(value), extra, value)


def percent(share: float, low: float = math.nan, high: float = math.nan) -> Cell:
    """A share with its interval.

    >>> percent(0.0, 0.0, 0.00031)
    Cell(text='0.0%', extra='0.0 to 0.031%', key=0.0)
    """
    return Cell(f"{share:.1%}", "" if math.isnan(low) else text.shares(low, high), share)


def plus_minus(value: float, error: float, percent: bool = False) -> Cell:
    """An estimate with its standard error.

    >>> plus_minus(32.94, 0.268)
    Cell(text='32.94', extra='± 0.27', key=32.94)
    """
    return Cell(*text.plus_minus(value, error, percent=percent), value)


def settings(caption: str, pairs: Sequence[tuple[str, Any]]) -> TableBlock:
    """Names and values, one per row."""
    return TableBlock(caption, ["setting", "value"], [[Cell(a), Cell(str(b))] for a, b in pairs])


def versions_table() -> TableBlock:
    """What wrote the report: versions and platform."""
    told = versions("numpy", "scipy", "numba", "xarray", "pymc", "pytensor", "arviz", "nutpie",
                    "matplotlib")  # fmt: skip
    rows = [("Python" if name == "python" else name, number) for name, number in told.items()]
    machine = ("platform", f"{platform.system()} {platform.machine()}")
    return settings("Versions that wrote this report", [*(row for row in rows if row[1]), machine])
