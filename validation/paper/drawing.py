"""Figures that survive a black-and-white printer: markers and lines first, colours second."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from paretoid.plots.style import grid
from paretoid.plots.style import new_figure as _figure
from paretoid.theory.checks import FloatArray
from paretoid.validation.paper.statistics import Row
from paretoid.writing import new_file

HATCHES = ["", "//", "..", "xx", "\\\\", "++"]


def new_figure(panels: int, *, width: float = 4.4, height: float = 3.6) -> tuple[Any, list[Any]]:
    """A figure with `panels` axes in a row, drawn without a display."""
    figure = _figure(width * panels, height)
    axes = figure.subplots(1, panels, squeeze=False)[0]
    for ax in axes:
        grid(ax, "y")
    return figure, list(axes)


def boxes(ax: Any, values: list[Any], labels: list[str]) -> None:
    """Box plots with hatches, the mean as a diamond."""
    drawn = ax.boxplot(
        values, tick_labels=labels, showmeans=True, patch_artist=True, widths=0.6,
        meanprops={"marker": "D", "markerfacecolor": "black", "markeredgecolor": "black",
                   "markersize": 4},
        medianprops={"color": "black"},
        flierprops={"marker": ".", "markersize": 2, "markeredgecolor": "#555555"},
    )  # fmt: skip
    for i, box in enumerate(drawn["boxes"]):
        box.set_facecolor("#e6e6e6" if i % 2 else "#ffffff")
        box.set_hatch(HATCHES[i % len(HATCHES)])
    ax.set_xlabel("box: quartiles, diamond: mean", fontsize=8)


def ends(lines: Sequence[Row]) -> tuple[FloatArray, FloatArray, FloatArray]:
    """(mean, low, high) of table rows; a row without an interval has none to draw."""
    mean = np.array([line.mean for line in lines])
    low = np.array([line.mean if line.low is None else line.low for line in lines])
    high = np.array([line.mean if line.high is None else line.high for line in lines])
    return mean, low, high


def save(figure: Any, path: Path) -> Path:
    """Write a PNG at a printable resolution."""
    with new_file(path, force=True) as draft:  # named by experiment, size and seed
        figure.savefig(draft, dpi=150)
    return path
