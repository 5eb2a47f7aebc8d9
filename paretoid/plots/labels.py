"""Names beside points without overlap: measured with the renderer, none silently left out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from paretoid.plots import style
from paretoid.text import short_names
from paretoid.theory.checks import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: distances from the point, in points, that are tried one after another
_REACH = (5.0, 9.0, 14.0, 20.0, 28.0, 38.0, 50.0, 64.0, 80.0)
#: directions in turn: right and left of the point first, they read best
_ANGLES = np.deg2rad([0, 180, 45, 135, -45, -135, 90, -90, 22, 158, -22, -158, 67, 113, -67, -113])


def label_points(
    ax: Axes, x: FloatArray, y: FloatArray, names: Sequence[str], *, bold: Any = None,
    size: float = 7.5, marker: float = 4.0, grow: bool = False,
) -> list[Any]:  # fmt: skip
    """Write `names` beside the points (x, y) so that no name covers a point or another name.

    Positions are found for the figure as it is now laid out, so call it last. Where the names
    find no room, the points are numbered and a key beside the axes says which number is whom.
    `bold` marks names, which choose their place first; `marker` is a point's radius; `grow` lets
    the figure become wider for the key. Returns the texts.
    """
    strong = np.zeros(len(names), dtype=bool) if bold is None else np.asarray(bold)
    written = [style.wrap(name, 30) for name in short_names(names, 80)]
    texts = _place(ax, x, y, written, strong, size, marker)
    if texts is not None:
        return texts
    numbers = [str(i + 1) for i in range(len(names))]
    _key(ax, numbers, names, strong, grow)
    for smaller in (size, 0.8 * size):
        texts = _place(ax, x, y, numbers, strong, smaller, marker)
        if texts is not None:
            return texts
    # Points closer than any number is wide: write each at its point, the key still tells them.
    return [
        ax.annotate(number, (x[i], y[i]), ha="center", va="center", fontsize=0.7 * size)
        for i, number in enumerate(numbers)
    ]


def _place(
    ax: Axes, x: FloatArray, y: FloatArray, names: list[str], bold: Any, size: float, marker: float
) -> list[Any] | None:
    """The texts, or None (and nothing drawn) if one of them finds no room."""
    figure: Any = ax.get_figure(root=True)
    figure.draw_without_rendering()
    points = ax.transData.transform(np.column_stack([x, y]))
    unit = figure.dpi / 72.0  # pixels a point
    inside = ax.get_window_extent().extents
    boxes = [np.array([*(p - marker * unit), *(p + marker * unit)]) for p in points]
    placed: list[Any] = [None] * len(names)
    drawn: list[Any] = []
    ways = np.empty((0, 2))  # points along the lines that lead to names
    for i in sorted(_crowded_first(points), key=lambda i: not bold[i]):
        text = ax.annotate(
            names[i], (x[i], y[i]), xytext=(0, 0), textcoords="offset points", fontsize=size,
            fontweight="bold" if bold[i] else "normal", ha="center", va="center", zorder=6,
        )  # fmt: skip
        text.set_in_layout(False)  # the layout that was measured stays
        drawn.append(text)
        half = _size(text, unit) / 2 + 0.8 * unit
        centre = _free(points[i], half, unit, inside, boxes, len(points), ways)
        if centre is None:
            for placed_text in drawn:
                placed_text.remove()
            return None
        boxes.append(np.array([*(centre - half), *(centre + half)]))
        shift = (centre - points[i]) / unit
        text.set_position((float(shift[0]), float(shift[1])))
        gap = np.maximum(np.abs(centre - points[i]) - half, 0)
        if np.hypot(*gap) > 9 * unit:  # far from its point: a line leads there
            line = ax.annotate(
                "", (x[i], y[i]), xytext=text.get_position(), textcoords="offset points",
                arrowprops={"arrowstyle": "-", "color": "0.5", "lw": 0.6, "shrinkA": 0,
                            "shrinkB": marker}, zorder=5,
            )  # fmt: skip
            line.set_in_layout(False)
            drawn.append(line)
            ways = np.vstack([ways, _way(points[i], centre)])
        # No outline around the letters: Matplotlib draws outlined text wider, off its centre.
        text.set_bbox({"facecolor": "white", "edgecolor": "none", "pad": 0.3, "alpha": 0.6})
        placed[i] = text
    return placed


def _crowded_first(points: FloatArray) -> list[int]:
    """Points with near neighbours choose first, while there is room."""
    apart = np.linalg.norm(points[:, None] - points[None], axis=2)
    return [int(i) for i in np.argsort(np.sort(apart, axis=1)[:, 1 : min(4, len(points))].sum(1))]


def _free(
    point: FloatArray, half: FloatArray, unit: float, inside: Any, boxes: list[FloatArray], n: int,
    ways: FloatArray,
) -> FloatArray | None:  # fmt: skip
    """The first centre of a box of half-size `half` near `point` that covers nothing.

    The first `n` boxes are points, the others names, and the way from the point must not lead
    across these; nor may the box lie on the `ways` of others.
    """
    taken = np.array(boxes)
    for reach in _REACH:
        for angle in _ANGLES:
            turn = np.array([np.cos(angle), np.sin(angle)])
            centre = point + turn * (reach * unit + half)
            low, high = centre - half, centre + half
            if (low < inside[:2]).any() or (high > inside[2:]).any():
                continue
            if ((low < taken[:, 2:]) & (high > taken[:, :2])).all(axis=1).any():
                continue
            if ((ways > low) & (ways < high)).all(axis=1).any():
                continue
            way, names = _way(point, centre), taken[n:, None]
            if not ((way > names[..., :2]) & (way < names[..., 2:])).all(axis=2).any():
                return np.asarray(centre)
    return None


def _way(point: FloatArray, centre: FloatArray) -> FloatArray:
    return np.asarray(point + np.linspace(0, 1, 24)[:, None] * (centre - point))


def _size(text: Any, unit: float) -> FloatArray:
    """Width and height in pixels: the larger of pixels and outlines.

    SVG and PDF have outlines, which are up to a tenth wider than the hinted letters of a PNG.
    """
    from matplotlib.textpath import TextPath

    pixels, font = text.get_window_extent(), text.get_fontproperties()
    outlines = [TextPath((0, 0), line, prop=font) for line in text.get_text().split("\n") if line]
    wide = max((outline.get_extents().width for outline in outlines), default=0.0)
    return np.array([max(pixels.width, wide * unit), pixels.height])


def _key(ax: Axes, numbers: list[str], names: Sequence[str], bold: Any, grow: bool) -> None:
    """Number and name of every point, right of the axes, in as many columns as they need."""
    from matplotlib.offsetbox import AnchoredOffsetbox, HPacker, TextArea, VPacker

    figure: Any = ax.get_figure(root=True)
    names = short_names(names, 60)
    rows = max(int(ax.get_window_extent().height / figure.dpi * 72 / 10.5), 1)
    if grow:
        wide = 0.055 * (max(map(len, names)) + 6)  # inches a column
        figure.set_figwidth(figure.get_figwidth() + wide * -(-len(names) // rows))
    columns: list[Any] = [
        VPacker(
            children=[
                TextArea(
                    f"{numbers[i]:>3}  {style.literal(names[i])}",
                    textprops={"fontsize": 6.5, "fontweight": "bold" if bold[i] else "normal"},
                )
                for i in range(first, min(first + rows, len(names)))
            ],
            pad=0,
            sep=1.5,
        )
        for first in range(0, len(names), rows)
    ]
    ax.add_artist(
        AnchoredOffsetbox(
            "upper left", child=HPacker(children=columns, pad=0, sep=10), frameon=False,
            bbox_to_anchor=(1.01, 1.0), bbox_transform=ax.transAxes, borderpad=0,
        )
    )  # fmt: skip


def spread(wanted: FloatArray, gap: float, low: float, high: float) -> FloatArray:
    """Positions near `wanted`, at least `gap` apart within [low, high], order kept.

    Least squares by pooling neighbours that collide; a smaller gap if there is no room.

    >>> spread(np.array([1.0, 1.0, 5.0]), 1.0, 0.0, 10.0)
    array([0.5, 1.5, 5. ])
    """
    n = len(wanted)
    gap = min(gap, (high - low) / max(n - 1, 1))
    order = np.argsort(wanted, kind="stable")
    # With u = position - rank * gap the constraint is that u does not decrease: isotonic means.
    u = np.clip(wanted[order] - gap * np.arange(n), low, high - gap * (n - 1))
    blocks: list[list[float]] = []  # [mean, size]
    for value in u:
        blocks.append([float(value), 1.0])
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            (a, m), (b, k) = blocks[-2], blocks[-1]
            blocks[-2:] = [[(a * m + b * k) / (m + k), m + k]]
    fitted = np.concatenate([np.full(int(size), mean) for mean, size in blocks])
    result = np.empty(n)
    result[order] = fitted + gap * np.arange(n)
    return result
