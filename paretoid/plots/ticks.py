"""Ticks: round numbers, at least three on an axis, and none over another."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.ticker import (
    FuncFormatter,
    Locator,
    MaxNLocator,
    NullFormatter,
    NullLocator,
)

from paretoid import text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: digits at which a decade has ticks, from coarse to fine
_WITHIN = ((1.0,), (1.0, 3.0), (1.0, 2.0, 5.0), (1.0, 1.5, 2.0, 3.0, 5.0, 7.0))

LEAST = 3


class LogTicks(Locator):
    """Ticks of a logarithmic axis, chosen for the room that it has when it is drawn.

    The finest grid of round numbers whose labels keep apart, with three ticks or more; where no
    three have room, the three that are farthest apart.
    """

    def __call__(self) -> Any:
        """The ticks of the axis as it is now."""
        assert self.axis is not None
        return self.tick_values(*self.axis.get_view_interval())

    def tick_values(self, vmin: float, vmax: float) -> Any:
        """The ticks between two ends."""
        low, high = sorted((vmin, vmax))
        low = max(low, np.finfo(float).tiny)
        best: list[float] = []
        fallback: list[float] = []
        for ticks in _grids(low, high):
            if len(ticks) >= LEAST and not fallback:
                fallback = ticks
            if self._fit(ticks, low, high) and len(ticks) > len(best):
                best = ticks
        if len(best) >= LEAST or not fallback:
            return np.array(best)
        logs = np.log(fallback)
        return np.array(
            max(
                ([fallback[i] for i in three] for three in combinations(range(len(fallback)), 3)),
                key=lambda three: min(np.diff(np.log(three))),
            )
            if len(logs) > LEAST
            else fallback
        )

    def _fit(self, ticks: list[float], low: float, high: float) -> bool:
        """Do the labels of neighbours keep apart?"""
        axis: Any = self.axis
        box = axis.axes.get_window_extent()
        figure = axis.axes.get_figure(root=True)
        flat = axis.axis_name == "x"
        inches = (box.width if flat else box.height) / figure.dpi
        size = axis.get_major_ticks(1)[0].label1.get_size() / 72
        for first, second in pairwise(ticks):
            letters = (len(_tick(first)) + len(_tick(second))) / 2
            needed = (0.66 * letters + 0.8) * size if flat else 1.6 * size
            if np.log(second / first) / np.log(high / low) * inches < needed:
                return False
        return True


def _grids(low: float, high: float) -> Iterator[list[float]]:
    """Round numbers between the ends, grid by grid, the coarse ones first."""
    first, last = int(np.floor(np.log10(low))), int(np.ceil(np.log10(high)))
    powers = range(first, last + 1)
    for step in (6, 5, 4, 3, 2):
        yield [10.0**p for p in powers if p % step == 0 and low <= 10.0**p <= high]
    for digits in _WITHIN:
        every = (digit * 10.0**p for p in powers for digit in digits)
        yield [value for value in every if low <= value <= high * (1 + 1e-12)]
    if high / low < 10**0.7:  # between two ticks of a linear axis
        for bins in (2, 3, 4, 5, 6, 8):
            ticks = MaxNLocator(bins, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high)
            yield [float(value) for value in ticks if low <= value <= high]


def log_axis(ax: Axes, side: str) -> None:
    """Logarithmic, with plain numbers: powers of ten would be small and in the way."""
    getattr(ax, f"set_{side}scale")("log")
    axis = getattr(ax, f"{side}axis")
    axis.set_major_locator(LogTicks())
    axis.set_major_formatter(FuncFormatter(lambda value, _: _tick(value)))
    axis.set_minor_locator(NullLocator())
    axis.set_minor_formatter(NullFormatter())


def enough(ax: Axes) -> None:
    """At least three numbers on the linear axes of `ax`; names of rows are left alone."""
    for axis in (ax.xaxis, ax.yaxis):
        locator = axis.get_major_locator()
        if isinstance(locator, MaxNLocator):
            locator.set_params(min_n_ticks=LEAST)


def _tick(value: float) -> str:
    """The number at a tick of a logarithmic axis, which is a round one."""
    return text.measure(value, 6)
