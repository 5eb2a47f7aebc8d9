"""Operating characteristics: scenarios in rows, designs by their marks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from paretoid.labels import label_of
from paretoid.plots import style
from paretoid.theory.checks import check_count

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: characteristic, and what its axis says
_PANELS = (
    ("wrong", "wrong answers, share of trials"),
    ("correct", "right answers, share of trials"),
    ("mean_samples", "participants, mean"),
)


def operating(table: Any, goal: int = 0, *, axes: Any = None) -> np.ndarray[Any, Any]:
    """Wrong answers, right answers and participants of every design, scenario by scenario.

    table   of `operating_characteristics`
    goal    position of the goal to draw

    Bars are 95% intervals. Filled marks are proved designs, hollow ones are not; the dashed line
    is delta, which bounds the wrong answers of proved designs in every scenario. Returns the
    (1, 3) array of Axes.

    >>> import paretoid as pt
    >>> bandit = pt.GaussianBandit([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]], 0.5)
    >>> table = pt.operating_characteristics(
    ...     bandit, pt.ParetoSet(0.5), scenarios=["fitted", "boundary"],
    ...     designs=["uniform", "fixed"], runs=10, max_samples=500,
    ... )
    >>> [panel.get_xlabel() for panel in operating(table)[0]][0]
    'wrong answers, share of trials'
    """
    import xarray as xr

    from paretoid.operating.words import naive_sentence

    if not isinstance(table, xr.Dataset) or "on_dominated" not in table or "design" not in table:
        raise ValueError(
            f"{type(table).__name__} holds no operating characteristics: pass what "
            f"operating_characteristics returns. For a plan use plots.assurance."
        )
    goals = [str(name) for name in table.goal.values]
    goal = check_count(goal, name="goal", least=0, most=len(goals) - 1, why="it is a position.")
    names = [str(name) for name in table.scenario.values]
    designs = [str(name) for name in table.design.values]
    looks = style.series(len(designs), "designs")
    room = max(0.2 * len(designs), 0.6)
    if axes is None:
        figure = style.new_figure(10.5, 1.6 + room * len(names))
        panels = figure.subplots(1, 3, squeeze=False, sharey=True)
    else:
        panels = style.many_axes(axes, 1, 3, 3.5, 4.0)
    offsets = np.linspace(-0.36, 0.36, len(designs)) if len(designs) > 1 else np.zeros(1)
    for panel, (what, words) in zip(panels[0], _PANELS, strict=True):
        values = table[what].values[:, :, goal]
        for d, (color, marker, _) in enumerate(looks):
            filled = str(table.guarantee.values[d]) == "proved"
            _marks(panel, values[:, d], np.arange(len(names)) + offsets[d], color, marker,
                   filled, f"{designs[d]}, {table.guarantee.values[d]}")  # fmt: skip
        for row in range(1, len(names)):
            panel.axhline(row - 0.5, color="0.85", lw=0.8, zorder=0)
        panel.set_xlabel(words)
        style.grid(panel, "x")
        panel.set_xlim(left=0)
        if what == "wrong":
            delta = float(table.attrs["delta"])
            panel.axvline(delta, color="black", lw=1.1, ls="--", label=f"delta: {delta:g}")
            panel.set_xlim(0, max(1.15 * float(np.nanmax(values)), 1.5 * delta))
        elif what == "correct":
            panel.set_xlim(0, 1.03)
        else:
            panel.xaxis.set_major_formatter("{x:,.0f}")
            panel.xaxis.get_major_locator().set_params(nbins=4)
    panels[0, 0].set_yticks(range(len(names)), style.row_names(names))
    panels[0, 0].set_ylim(len(names) - 0.5, -0.5)
    for panel in panels[0]:
        panel.tick_params(axis="y", length=0, pad=8)
    style.legend_above(panels)
    note = (
        f"{label_of(goals[goal], table.attrs)}; {int(table.attrs['runs']):,} simulated trials "
        f"each, 95% intervals."
    )
    if "fixed" in designs:
        note += f" fixed: {int(table.fixed_samples.values[goal]):,} participants, equal allocation,"
        note += f" the naive answer. {naive_sentence(table.isel(goal=[goal]))}"
    style.note(panels[0, 0].get_figure(root=True), note)
    return panels


def _marks(
    panel: Axes, values: Any, heights: Any, color: str, marker: str, filled: bool, label: str
) -> None:
    """An estimate and its interval in every row."""
    estimate, low, high = values.T
    spread = np.array([estimate - np.fmax(low, 0), high - estimate])
    panel.errorbar(
        estimate, heights, xerr=np.where(np.isfinite(spread), np.maximum(spread, 0), 0),
        fmt=marker, color=color, mfc=color if filled else "white", ms=5.5, lw=1.2, mew=1.2,
        label=label, clip_on=False, zorder=3,
    )  # fmt: skip
