"""How every figure looks: lightness, markers and dashes first, hue second; no pyplot state."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from paretoid import text
from paretoid.theory.checks import WrongTypeError, check_choice, check_count, refusal

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Okabe and Ito's blue and orange, and a grey; lightness 46, 71 and 59 of 100
DARK, LIGHT, GREY = "#0072B2", "#E69F00", "0.55"

#: (colour, marker, dashes) of one series after another; neighbours differ in all three, and no two
#: series share marker and dashes
STYLES: list[tuple[str, str, Any]] = [
    ("#000000", "o", "-"),
    ("#0072B2", "s", "--"),
    ("#E69F00", "^", "-."),
    ("#777777", "D", ":"),
    ("#56B4E9", "v", (0, (8, 2))),
    ("#D55E00", "P", (0, (3, 1, 1, 1, 1, 1))),
    ("#000000", "X", (0, (1, 3))),
    ("#0072B2", "<", (0, (5, 1))),
]


def series(number: int, what: str) -> list[tuple[str, str, Any]]:
    """The styles of `number` series; more than there are styles cannot be told apart."""
    if number > len(STYLES):
        raise ValueError(
            f"{number} {what} are too many for one picture: {len(STYLES)} can be told apart. "
            f"Choose some, for example runs.isel(goal=[0, 1])."
        )
    return STYLES[:number]


def one_axes(ax: Any, width: float, height: float) -> Axes:
    """`ax`, checked; or the axes of a new figure that pyplot knows nothing of."""
    if ax is None:
        axes: Axes = new_figure(width, height).subplots()
        return axes
    from matplotlib.axes import Axes

    if not isinstance(ax, Axes):
        raise WrongTypeError(
            f"ax={ax!r} must be one Matplotlib Axes, or None for a figure of its own. Of several, "
            f"pass one: axes[0]."
        )
    return ax


def many_axes(
    axes: Any, rows: int, columns: int, width: float, height: float, **shared: Any
) -> np.ndarray[Any, Any]:
    """`axes` as a (rows, columns) array, checked; or those of a new figure, that large each."""
    if axes is None:
        figure = new_figure(width * columns, height * rows)
        drawn: np.ndarray[Any, Any] = figure.subplots(rows, columns, squeeze=False, **shared)
        return drawn
    from matplotlib.axes import Axes

    given = np.atleast_1d(np.asarray(axes, dtype=object))
    if given.size != rows * columns or not all(isinstance(panel, Axes) for panel in given.flat):
        raise refusal(all(isinstance(panel, Axes) for panel in given.flat))(
            f"axes must be {rows * columns} Matplotlib Axes, {rows} x {columns}, but "
            f"{given.size} came. Make them with figure.subplots({rows}, {columns}), or leave axes "
            f"out for a figure of its own."
        )
    return given.reshape(rows, columns)


def new_figure(width: float, height: float) -> Figure:
    """A figure that lays itself out; `savefig` writes it, nothing shows it or holds on to it."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def log_axis(ax: Axes, side: str) -> None:
    """Logarithmic, with plain round numbers; see `paretoid.plots.ticks`."""
    from paretoid.plots.ticks import log_axis

    log_axis(ax, side)


def grid(ax: Axes, axis: str = "both") -> None:
    """Thin lines behind the data, no box around it, and three numbers on every axis."""
    from paretoid.plots.ticks import enough

    enough(ax)
    ax.grid(True, axis=axis, color="0.9", linewidth=0.6)  # type: ignore[arg-type]
    ax.set_axisbelow(True)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)


def legend(ax: Axes, *, pad: float = 0.2) -> None:
    """A legend above the axes, where it hides nothing; as many columns as its words allow."""
    handles, labels = ax.get_legend_handles_labels()
    if labels:
        figure: Any = ax.get_figure(root=True)
        figure.draw_without_rendering()  # names beside the axes take room first
        room = int(ax.get_window_extent().width / figure.dpi * 13)
        whole = [wrapped(str(label), room - 6) for label in labels]
        ax.legend(
            handles, whole, loc="lower left", bbox_to_anchor=(0.0, 1.0),
            ncols=_columns([_widest(label) for label in whole], room), frameon=False,
            fontsize="small", borderaxespad=pad,
        )  # fmt: skip


def _widest(label: str) -> int:
    return max(map(len, label.split("\n")))


def _columns(lengths: list[int], room: int) -> int:
    """The most columns whose widest entries fit into `room` characters side by side."""
    for columns in range(min(len(lengths), 4), 1, -1):
        parts = np.array_split(lengths, columns)  # as Matplotlib fills them
        if sum(max(part) + 6 for part in parts) <= room:
            return columns
    return 1


def legend_above(panels: Any) -> None:
    """One legend for several panels: above the figure if it is theirs alone, else in the first.

    A label that several panels have stands there once. The figure grows by its lines, so that
    twenty names leave the panels as high as they were.
    """
    first = panels.flat[0]
    figure = first.get_figure(root=True)
    by_label: dict[str, Any] = {}
    for panel in panels.flat:
        for handle, label in zip(*panel.get_legend_handles_labels(), strict=True):
            by_label.setdefault(str(label), handle)
    handles, labels = list(by_label.values()), list(by_label)
    own = set(map(id, figure.axes)) <= set(map(id, panels.flat))
    if own and figure.get_layout_engine() is not None:
        room = int(figure.get_figwidth() * 13)
        whole = [wrapped(label, room - 6) for label in labels]
        columns = _columns([_widest(label) for label in whole], room)
        lines = -(-sum(label.count("\n") + 1 for label in whole) // columns)
        figure.set_figheight(figure.get_figheight() + 0.19 * (lines - 1))  # not from the panels
        figure.legend(
            handles, whole, loc="outside upper center", frameon=False, fontsize="small",
            ncols=columns,
        )  # fmt: skip
    else:
        first.legend(handles, labels, fontsize="x-small")


def wrapped(label: str, width: int) -> str:
    """A label over lines of at most `width` characters."""
    return "\n".join(textwrap.wrap(label, max(width, 12))) or label


def wrap(words: str, width: int) -> str:
    """`words` over lines of at most `width` characters, dollars kept from being mathematics."""
    return literal("\n".join(textwrap.wrap(words, max(width, 8))) or words)


def literal(words: str) -> str:
    r"""`words` as they stand: Matplotlib would read what is between two dollars as TeX.

    >>> literal("2 x $5 or $10")
    '2 x \\$5 or \\$10'
    """
    from matplotlib import rcParams

    return words.replace("$", r"\$") if rcParams["text.parse_math"] else words


def row_names(names: Sequence[str]) -> list[str]:
    """Names of rows, one line each."""
    return [literal(name) for name in text.short_names(names, 40)]


def note(figure: Any, sentence: str) -> None:
    """Write what a picture rests on below the figure, once however many panels say it."""
    if not sentence:
        return
    said = " ".join(figure.get_supxlabel().split())
    if sentence not in said:
        wide = int(figure.get_figwidth() * 14)
        figure.supxlabel(wrap(f"{said} {sentence}".strip(), wide), fontsize="x-small")


def positions(names: Sequence[str], chosen: Any, what: str) -> list[int]:
    """`chosen`, one or more names or positions, as positions.

    >>> positions(["A", "B", "C"], ["C", 0], "arm")
    [2, 0]
    """
    if isinstance(chosen, (str, int, np.integer)):
        chosen = [chosen]
    places = []
    for which in chosen:
        if isinstance(which, str):
            check_choice(which, tuple(names), name=what, why=f"those are the {what}s there are.")
            places.append(list(names).index(which))
        else:
            places.append(
                check_count(which, name=what, least=0, most=len(names) - 1, why="it is a position.")
            )
    if len(set(places)) < len(places):
        raise ValueError(f"{what}s={list(chosen)!r} repeats one; name each once.")
    return places
