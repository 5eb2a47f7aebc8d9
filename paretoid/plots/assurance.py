"""Participants against the probability that a planned trial has stopped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paretoid.labels import label_of
from paretoid.plots import style
from paretoid.plots.selection import Runs
from paretoid.plots.stopping import ecdf
from paretoid.summaries import VARIABLES
from paretoid.theory.checks import refusal

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def assurance(planned: Any, *, ax: Axes | None = None) -> Axes:
    """Share of posterior draws whose trial has stopped by N, goal by goal.

    planned     of `estimation.plan`

    The axis ends where the last trial does. Draws that ran out of `max_samples` keep the curve
    below 1, which then ends there in an open triangle. Bounds are left out: they hold for other
    radii or on an event, and lie where no trial is.

    >>> from paretoid import AtMost
    >>> from paretoid.estimation import fit, load_trial, plan
    >>> posterior = fit(load_trial("covboost-groupB"), "pooled", chains=2, cores=1)
    >>> planned = plan(posterior, AtMost(1), fold=1.5, draws=20, replications=5)
    >>> axes = assurance(planned)
    >>> len(axes.get_legend_handles_labels()[1]) >= 1
    True
    """
    import xarray as xr

    if not isinstance(planned, xr.Dataset) or "draw" not in planned.dims:
        raise refusal(isinstance(planned, xr.Dataset))(
            f"{type(planned).__name__} is no plan: pass what estimation.plan returns. For runs of "
            f"simulate use plots.stopping_times."
        )
    axes = style.one_axes(ax, 6.5, 4.6)
    limit = int(planned.attrs["max_samples"])
    names = [str(goal) for goal in planned.goal.values]
    table = _as_runs(planned, names)
    axes.set_xlim(0, 1.04 * float(table.time.max()))
    for g, (color, _, dashes) in enumerate(style.series(len(names), "goals")):
        ecdf(axes, table, g, color, dashes, label_of(names[g], planned.attrs))
    if axes.get_xlim()[1] > limit:
        axes.axvline(limit, color="0.2", lw=1, ls=(0, (1, 1)), label=f"limit: {limit:,}")
    for level in planned.assurance_level.values:
        axes.axhline(level, color="0.85", lw=0.8, zorder=0)
    axes.set_ylim(0, 1.02)
    axes.set_xlabel("participants N")
    axes.set_ylabel("P(stopped by N): assurance")
    axes.xaxis.set_major_formatter("{x:,.0f}")
    style.grid(axes)
    style.legend(axes)
    style.note(axes.get_figure(root=True), str(planned.attrs["assumptions"]))
    return axes


def _as_runs(planned: Any, names: list[str]) -> Runs:
    one = planned.transpose("goal", "draw", ...)
    arms = [str(arm) for arm in one.arm.values]
    return Runs(names, arms, *(one[name].values for name in VARIABLES))
