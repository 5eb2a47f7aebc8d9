"""Recruitment rate against the participants, or the days, that a planned trial needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from paretoid.conduct import rate_unit
from paretoid.labels import label_of
from paretoid.plots import style
from paretoid.theory.checks import check_choice, refusal

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def recruitment(planned: Any, *, of: str = "participants", ax: Axes | None = None) -> Axes:
    """N for 90% assurance (`of="participants"`) or mean days (`of="days"`) against the rate.

    planned     of `estimation.plan(..., conduct=)` with a rate and something that is late

    Faster recruitment ends sooner and takes more participants: more of them are placed before the
    outcomes of the others are known. A rate at which N is not reached within the limit has no mark.

    >>> from paretoid import AtMost, Conduct
    >>> from paretoid.estimation import fit, load_trial, plan
    >>> posterior = fit(load_trial("covboost-groupB"), "pooled", chains=2, cores=1)
    >>> late = Conduct(rate=5.0, delay=28.0, look=100)
    >>> planned = plan(posterior, AtMost(1), fold=1.5, draws=3, conduct=late, shares="uniform")
    >>> recruitment(planned).get_ylabel()
    'N for 90% assurance'
    """
    import xarray as xr

    check_choice(of, ("participants", "days"), name="of", why="both depend on the rate.")
    if not isinstance(planned, xr.Dataset) or "needed_by_rate" not in planned:
        raise refusal(isinstance(planned, xr.Dataset))(
            "there is no curve against the recruitment rate: pass what estimation.plan returns "
            "for a conduct with a rate and a delay."
        )
    axes = style.one_axes(ax, 6.5, 4.0)
    name = "needed_by_rate" if of == "participants" else "duration_by_rate"
    names = [label_of(str(goal), planned.attrs) for goal in planned.goal.values]
    for g, (color, marker, dashes) in enumerate(style.series(len(names), "goals")):
        values = planned[name].values[g]
        values = np.where(np.isfinite(values), values, np.nan)
        axes.plot(
            planned.rate.values, values, color=color, marker=marker, ls=dashes, label=names[g]
        )
    axes.set_xscale("log", base=2)
    rates = planned.rate.values
    days, unit = rate_unit(float(rates[len(rates) // 2]))  # of the planned rate
    axes.set_xticks(rates, [f"{rate * days:.3g}" for rate in rates])
    axes.set_ylim(bottom=0)
    if not np.isfinite(planned[name]).any():
        axes.set_yticks([])
        said = f"not reached within {planned.attrs['max_samples']:,} participants at any rate"
        axes.text(0.5, 0.5, said, transform=axes.transAxes, ha="center")
    axes.set_xlabel(f"participants enrolled {unit}")
    days_to = "days to the answer or the limit, mean"
    axes.set_ylabel("N for 90% assurance" if of == "participants" else days_to)
    axes.yaxis.set_major_formatter("{x:,.0f}")
    style.grid(axes)
    style.legend(axes)
    return axes
