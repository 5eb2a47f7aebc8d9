"""Matplotlib figures as SVG that can stand in a page beside others."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SVG = "{http://www.w3.org/2000/svg}"
_LINK = "{http://www.w3.org/1999/xlink}href"
#: what XML cannot hold, though a name may: control characters and lone surrogates
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


@dataclass(frozen=True)
class SvgPicture:
    """A figure of a page.

    svg      an <svg> element, safe to stand in a page as it is
    caption  what it shows
    width    its natural width in CSS pixels
    """

    svg: str
    caption: str
    width: int


@contextmanager
def drawing() -> Iterator[None]:
    """Settings under which figures for a page are made: letters stay letters."""
    import matplotlib as mpl

    with mpl.rc_context({"svg.fonttype": "none"}), warnings.catch_warnings():
        # The reader's browser chooses the font; only the layout uses Matplotlib's.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        yield


def new_axes(height: float, width: float = 5.2, names: Sequence[str] = ()) -> Axes:
    """Axes of a figure whose letters can be read when a telephone shows all of it: 5.2 inches.

    Long `names` beside the axes make it wider: then the telephone scrolls.
    """
    from paretoid.plots.style import new_figure

    width += 0.08 * max(0, max(map(len, names), default=0) - 18)
    axes: Axes = new_figure(width, height).subplots()
    return axes


def picture(axes: Any, name: str, caption: str) -> SvgPicture:
    """The figure of `axes` as a `Picture` that refers to nothing outside; text stays text.

    Its ids start with `name`, which must differ between the figures of a page.
    """
    import matplotlib as mpl

    file = io.StringIO()
    with drawing(), mpl.rc_context({"svg.hashsalt": name}):
        axes.get_figure(root=True).savefig(file, format="svg", bbox_inches="tight", pad_inches=0.05)
    text = file.getvalue()
    root = ElementTree.fromstring(_NOT_XML.sub("\ufffd", text[text.index("<svg") :]))
    _strip(root)
    _rename(root, name)
    _, _, width, height = (float(part) for part in root.attrib["viewBox"].split())
    root.attrib = {"viewBox": f"0 0 {width:g} {height:g}", "role": "img", "aria-label": caption}
    ElementTree.register_namespace("", _SVG[1:-1])
    svg = ElementTree.tostring(root, encoding="unicode", short_empty_elements=False)
    # HTML knows <svg> without a namespace; one that stands there looks like an address.
    return SvgPicture(svg.replace(f' xmlns="{_SVG[1:-1]}"', "", 1), caption, round(width * 4 / 3))


def _strip(root: ElementTree.Element) -> None:
    """Leave out metadata and style sheets: the page has one, and theirs would reach all of it."""
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag in (f"{_SVG}metadata", f"{_SVG}style"):
                parent.remove(child)


def _rename(root: ElementTree.Element, name: str) -> None:
    """Ids that something points to get a prefix, others go."""
    used: set[str] = set()
    for element in root.iter():
        target = element.attrib.pop(_LINK, None)
        if target is not None:
            used.add(target[1:])
            element.set("href", f"#{name}-{target[1:]}")
        for key, value in element.attrib.items():
            if "url(#" in value:
                used.update(re.findall(r"url\(#([^)]+)\)", value))
                element.set(key, value.replace("url(#", f"url(#{name}-"))
    for element in root.iter():
        own = element.attrib.pop("id", None)
        if own in used:
            element.set("id", f"{name}-{own}")
