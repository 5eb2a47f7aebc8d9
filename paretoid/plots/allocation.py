"""Where the samples went."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from paretoid.plots import style
from paretoid.plots.selection import Runs, read
from paretoid.summaries import Summary
from paretoid.text import counted, goal_label
from paretoid.theory.checks import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def pulls(runs: Any, *, ax: Axes | None = None) -> Axes:
    """Samples per arm: the mean over replications and the range of 90% of them, goal by goal.

    runs    a Dataset of `simulate` or of a campaign (one instance, radius and delta), or a `Run`

    A filled marker: the arm is in the answer of more than half of the runs that stopped. With one
    goal the share of runs that returned the arm stands at the right, of those that stopped.
    Censored runs, whose budget ran out, count with the samples they drew; the legend says how many
    there are. The axis is logarithmic where the arms differ more than twentyfold.

    >>> import paretoid as pt
    >>> bandit = pt.BernoulliBandit([[0.9, 0.2], [0.1, 0.8], [0.05, 0.1]])
    >>> axes = pulls(pt.simulate(bandit, replications=5, seed=1))
    >>> axes.get_xlabel()
    'samples per arm: mean, and 5% to 95% of runs'
    """
    table = read(runs)
    if not table.arms:
        raise ValueError("runs do not say how often each arm was sampled: there is no pulls.")
    K, G = len(table.arms), len(table.goals)
    styles = style.series(G, "goals")
    axes = style.one_axes(ax, 7.0, 1.4 + 0.22 * K + 0.09 * K * (G - 1))
    rows = np.arange(K)[::-1].astype(float)
    R = table.pulls.shape[1]
    for g, (color, marker, _) in enumerate(styles):
        y = rows + (0.0 if G == 1 else 0.25 - 0.5 * g / (G - 1))
        summary = table.summary(g)
        low, high = np.quantile(table.pulls[g], [0.05, 0.95], axis=0)
        inside = _returned(summary) > 0.5
        if R > 1:
            axes.hlines(y, low, high, color=color, lw=1.4, zorder=2)
        for filled in (True, False):
            these = inside == filled
            axes.plot(
                summary.pulls[these], y[these], marker, ms=6, mec=color, mew=1.1, ls="none",
                zorder=3, mfc=color if filled else "white",
                label=_label(table.goals[g], summary) if filled == inside.any() else None,
            )  # fmt: skip
    _scale(axes, table)
    axes.set_yticks(rows, style.row_names(table.arms))
    axes.set_ylim(-0.8, K - 0.2)
    axes.set_xlabel(
        "samples per arm: mean, and 5% to 95% of runs" if R > 1 else "samples per arm, one run"
    )
    style.grid(axes, "x")
    if G == 1 and table.stopped[0].any():
        _shares(axes, table, rows)
    axes.plot([], [], "o", ms=6, mfc="0.4", mec="0.4", label="filled: in the answer")
    style.legend(axes)
    return axes


def _returned(summary: Summary) -> FloatArray:
    """(K,) share of the stopped runs that returned each arm; 0 if none stopped."""
    return np.asarray(summary.returned / max(summary.stopped, 1))


def _label(goal: str, summary: Summary) -> str:
    said = ""
    if summary.censored:
        said = f": {summary.censored} of {summary.runs} censored"
    elif summary.runs > 1:
        said = f", {counted(summary.runs, 'run')}"
    return goal_label(goal) + said


def _scale(axes: Axes, table: Runs) -> None:
    least, most = int(table.pulls.min()), int(table.pulls.max())
    if least > 0 and most > 20 * least:
        axes.set_xlim(0.8 * least, 1.25 * most)
        style.log_axis(axes, "x")
    else:
        from matplotlib.ticker import StrMethodFormatter

        axes.set_xlim(0, 1.05 * max(most, 1))
        axes.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))


def _shares(axes: Axes, table: Runs, rows: Any) -> None:
    for y, share in zip(rows, _returned(table.summary(0)), strict=True):
        axes.annotate(
            f"{share:.0%}" if share else "-", (1.01, y), xycoords=("axes fraction", "data"),
            fontsize="x-small", va="center", fontweight="bold" if share > 0.5 else "normal",
        )  # fmt: skip
    axes.annotate(
        "returned", (1.01, 1.0), xycoords="axes fraction", fontsize="x-small", va="bottom"
    )
