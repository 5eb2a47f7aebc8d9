"""Stopping times with the bounds that speak about them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from paretoid.bandits import Bandit
from paretoid.plots import style
from paretoid.plots.bounds import BOUNDS, Drawn, applicable
from paretoid.plots.selection import Runs, problem, read
from paretoid.text import count, goal_label
from paretoid.theory.checks import FloatArray, check_choice

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes


def stopping_times(
    runs: Any,
    kind: str = "ecdf",
    *,
    bounds: Sequence[str] | str | None = None,
    bandit: Bandit | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Stopping times goal by goal on a log axis: shares stopped ("ecdf") or densities ("violin").

    runs     a Dataset of `simulate` or of a campaign (one instance, radius and delta), or a `Run`
    bounds   which to draw, of "sharp_bound", "theorem_1", "characteristic", "lower_bound"; each
             only for the goals its theorem speaks about (`paretoid.plots.bounds`). Default: all,
             if the problem is known. `()`: none
    bandit   the problem, where the runs do not carry its means and scale

    A run that ran out of budget is censored, its time a lower bound. The ecdf is of all runs, so
    it ends below 1 at the budget, with an open triangle; a violin is of the runs that stopped, its
    area their share, with the rest counted at the budget. Its line is the median and the bar the
    quartiles of all runs; those beyond the budget are not drawn.

    >>> import paretoid as pt
    >>> bandit = pt.BernoulliBandit([[0.9, 0.2], [0.1, 0.8], [0.05, 0.1]])
    >>> runs = pt.simulate(bandit, [pt.ParetoSet(), pt.AtMost(1)], replications=20, seed=1)
    >>> axes = stopping_times(runs, bandit=bandit)
    >>> axes.get_xlabel(), axes.get_xscale()
    ('samples', 'log')
    """
    check_choice(kind, ("ecdf", "violin"), name="kind", why="those are drawn.")
    table = read(runs)
    known = problem(runs, bandit)
    if known is None and bounds is not None and len(bounds):
        raise ValueError(
            f"bounds={bounds!r} need the problem, and the runs carry no means and scale. Pass "
            f"bandit=, the bandit that was simulated."
        )
    asked = tuple(BOUNDS) if bounds is None else bounds
    drawn = [] if known is None else applicable(table, known, asked)
    styles = style.series(len(table.goals), "goals")
    height = 4.4 if kind == "ecdf" else 1.8 + 0.75 * len(table.goals)
    axes = style.one_axes(ax, 7.0, height)
    axes.set_xlim(*_ends(table.time.ravel(), [bound.value for bound in drawn]))
    style.log_axis(axes, "x")
    for g, (color, _, dashes) in enumerate(styles):
        words = goal_label(table.goals[g])
        if kind == "ecdf":
            ecdf(axes, table, g, color, dashes, words)
        else:
            _violin(axes, table, g, color)
    _bounds(axes, table, drawn, kind)
    axes.set_xlabel("samples")
    style.grid(axes, "both" if kind == "ecdf" else "x")
    if kind == "ecdf":
        axes.set_ylim(0, 1.04)
        axes.set_ylabel("share of runs stopped")
    else:
        axes.set_yticks(
            range(len(table.goals)), [style.wrap(goal_label(g), 30) for g in table.goals]
        )
        axes.set_ylim(len(table.goals) - 0.45, -0.6)
        axes.plot([], [], "k|", ms=9, mew=2, label="median; bar: quartiles")
    style.legend(axes)
    return axes


def _ends(times: Any, bounds: Sequence[float]) -> tuple[float, float]:
    """The ends of the axis: the times take up half of it at least, whatever bounds there are."""
    low, high = 0.8 * max(float(times.min()), 0.5), 1.25 * max(float(times.max()), 1.0)
    room = max(np.log(high / low), np.log(2.0))  # for bounds, on both sides together
    for bound in sorted(bounds, key=lambda bound: max(low / bound, bound / high)):
        further = min(low, 0.8 * bound), max(high, 1.25 * bound)
        more = np.log(further[1] / further[0]) - np.log(high / low)
        if more <= room:
            low, high = further
            room -= more
    return low, high


def ecdf(axes: Axes, table: Runs, g: int, color: str, dashes: Any, words: str) -> None:
    """The share of all runs that have stopped by N; it ends, open, where the budget did."""
    times = table.times(g)
    done = int(np.isfinite(times).sum())
    out, R = len(times) - done, len(times)
    start = axes.get_xlim()[0]
    end = float(table.time[g].max())
    x = np.concatenate([[start], times[:done], [end]])
    y = np.concatenate([[0], np.arange(1, done + 1), [done]]) / R
    if out:
        words += f": {out} of {R} censored"
    axes.step(x, y, where="post", color=color, ls=dashes, lw=2, label=words)
    if out:
        axes.plot(
            end, done / R, ">", ms=7, mfc="white", mec=color, mew=1.3, clip_on=False, zorder=5
        )


def _violin(axes: Axes, table: Runs, g: int, color: str) -> None:
    times = table.times(g)
    stopped = times[np.isfinite(times)]
    R, out = len(times), len(times) - len(stopped)
    widest = 0.08
    if len(np.unique(stopped)) > 2:
        x, density = _density(np.log10(stopped))
        reach = 0.36 * density / density.max() * len(stopped) / R
        widest = max(widest, float(reach.max()))
        axes.fill_between(
            10**x, g - reach, g + reach, facecolor=_tint(color), edgecolor=color, lw=1.0, zorder=2
        )
    else:  # too few for a density: the runs themselves
        axes.plot(stopped, np.full(len(stopped), g), "o", ms=5, mfc="white", mec=color, zorder=3)
    if len(stopped):
        low, middle, high = (table.quantile(g, q) for q in (0.25, 0.5, 0.75))
        if np.isfinite(high) and R > 1:
            axes.hlines(g, low, high, color="black", lw=4, zorder=4)
        if np.isfinite(middle):
            axes.plot(middle, g, "|", color="black", ms=14, mew=2.2, zorder=5)
    if out:
        end = float(table.time[g].max())
        axes.plot(end, g, ">", ms=8, mfc="white", mec=color, mew=1.3, zorder=5, clip_on=False)
        axes.annotate(
            f"{out} of {R} censored", (end, g - widest - 0.04), ha="right", va="bottom",
            fontsize="x-small",
        )  # fmt: skip


def _tint(color: str) -> tuple[float, ...]:
    from matplotlib.colors import to_rgb

    return tuple(0.35 * part + 0.65 for part in to_rgb(color))


def _density(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """A Gaussian kernel density (Scott's width) between the smallest and the largest value."""
    from matplotlib.mlab import GaussianKDE

    x = np.linspace(values.min(), values.max(), 200)
    return x, np.asarray(GaussianKDE(values).evaluate(x))


def _bounds(axes: Axes, table: Runs, drawn: list[Drawn], kind: str) -> None:
    """A marker for each bound, on the goal's row or, with a thin line, at the goal's height."""
    styles = style.STYLES
    for bound in drawn:
        color, _, dashes = styles[bound.goal]
        height = 0.97 - 0.08 * bound.goal if kind == "ecdf" else float(bound.goal)
        if kind == "ecdf":
            axes.plot([bound.value] * 2, [0, height], color=color, ls=dashes, lw=0.9, zorder=1)
        axes.plot(
            bound.value, height, BOUNDS[bound.name][1], ms=7, mfc="white", mec=color, mew=1.4,
            zorder=6, ls="none",
        )  # fmt: skip
    low, high = axes.get_xlim()
    for name in BOUNDS:
        if any(bound.name == name for bound in drawn):
            label, marker = BOUNDS[name]
            away = {count(bound.value) for bound in drawn
                    if bound.name == name and not low <= bound.value <= high}  # fmt: skip
            if away:
                label += f"; beyond the axis: {', '.join(sorted(away))}"
            axes.plot([], [], marker, ms=7, mfc="white", mec="0.3", mew=1.4, label=label)
