"""What a coarser cover saves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from paretoid.goals import Cover
from paretoid.plots import style
from paretoid.plots.selection import read
from paretoid.registry import goal_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def samples_against_eps2(runs: Any, *, ax: Axes | None = None) -> Axes:
    """Samples until an (eps1, eps2)-cover is found, against eps2; one line for each eps1.

    runs    a Dataset of `simulate` or of a campaign (one instance, radius and delta) with `Cover`
            goals; other goals in it are left out

    Lines are medians and whiskers 5% to 95% of all runs. Censored runs, whose budget ran
    out, count as infinite: a whisker that reaches the budget ends there, and a median beyond it is
    drawn at the budget as an open triangle. eps2 is in the objectives' own units, one number for
    all of them.

    >>> import paretoid as pt
    >>> bandit = pt.BernoulliBandit([[0.9, 0.2], [0.1, 0.8], [0.8, 0.3]])
    >>> goals = [pt.Cover(eps2=0.1), pt.Cover(eps2=0.3)]
    >>> axes = samples_against_eps2(pt.simulate(bandit, goals, replications=5, seed=1))
    >>> axes.get_xlabel(), axes.lines[0].get_xdata().tolist()
    ('eps2, in units of the objectives', [0.1, 0.3])
    """
    table = read(runs)
    points: dict[float, list[tuple[float, int]]] = {}
    for g, text in enumerate(table.goals):
        goal = goal_of(text)
        if isinstance(goal, Cover):
            points.setdefault(_one(goal.eps1, text), []).append((_one(goal.eps2, text), g))
    if not points:
        raise ValueError(
            f"there is no Cover among the goals {', '.join(table.goals)}. Simulate some, such as "
            f"goals=[Cover(eps2=e) for e in (0.0, 0.1, 0.2)]."
        )
    styles = style.series(len(points), "values of eps1")
    axes = style.one_axes(ax, 6.4, 4.2)
    R = table.stopped.shape[1]
    middle_of = (len(points) - 1) / 2
    for q, (eps1, mine) in enumerate(sorted(points.items())):
        color, marker, dashes = styles[q]
        beside = _beside(axes, 4.0 * (q - middle_of))  # in points: whiskers hide none
        mine.sort()
        x = np.array([eps2 for eps2, _ in mine])
        end = np.array([float(table.time[g].max()) for _, g in mine])
        low, middle, high = (
            np.array([table.quantile(g, q) for _, g in mine]) for q in (0.05, 0.5, 0.95)
        )
        over = ~np.isfinite(middle)
        shown = np.minimum(middle, end)
        axes.plot(
            x, shown, marker, color=color, ls=dashes, lw=1.6, ms=6, markevery=np.flatnonzero(~over),
            label=f"eps1 = {eps1:g}", zorder=3, transform=beside,
        )  # fmt: skip
        axes.plot(
            x[over], shown[over], "^", mfc="white", mec=color, ms=9, zorder=4, transform=beside
        )
        if R > 1:
            ends = np.minimum(low, end), np.minimum(high, end)
            axes.vlines(x, *ends, color=color, lw=1.2, transform=beside)
    used = [g for mine in points.values() for _, g in mine]
    times = table.time[used]
    eps2s = [eps2 for mine in points.values() for eps2, _ in mine]
    room = 0.05 * (max(eps2s) - min(eps2s)) or 0.05
    axes.set_xlim(min(eps2s) - room, max(eps2s) + room)
    axes.set_ylim(0.8 * max(times.min(), 1), 1.25 * max(times.max(), 2))
    style.log_axis(axes, "y")
    out = sum(table.summary(g).censored for g in used)
    if out:
        axes.plot([], [], "^", mfc="white", mec="0.3", ms=9, ls="none", label="median over budget")
        said = f"{out} of {len(used) * R} runs are censored: lower bounds."
        style.note(axes.get_figure(root=True), said)
    axes.set_xlabel("eps2, in units of the objectives")
    axes.set_ylabel("samples: median, 5% to 95% of runs" if R > 1 else "samples, one run")
    style.grid(axes)
    style.legend(axes)
    return axes


def _beside(axes: Axes, points: float) -> Any:
    """Data coordinates, shifted to the right by so many points."""
    from matplotlib.transforms import ScaledTranslation

    figure: Any = axes.get_figure(root=True)
    return axes.transData + ScaledTranslation(points / 72, 0, figure.dpi_scale_trans)


def _one(eps: Any, goal: str) -> float:
    values = set(np.atleast_1d(eps).tolist())
    if len(values) > 1:
        raise ValueError(
            f"{goal} has an epsilon that differs between objectives, which is no place on an "
            f"axis. Choose goals with the same number for all objectives."
        )
    return float(values.pop())
